# SPDX-License-Identifier: MIT
"""libsframe.py LIBRARY: answers of libsframe's look-up (sframe-api.h of binutils 2.40 and later). It is no walker, so
it is not asked for return addresses. The kit's README.md has the protocol."""
import ctypes
import sys

SP_FP = {1: (31, 29), 2: (31, 29), 3: (7, 6), 4: (15, 11)}
error = ctypes.c_int()
lib = ctypes.CDLL(sys.argv[1])
NEW = hasattr(lib, "sframe_decoder_get_funcdesc_v3")  # 2.46
lib.sframe_decode.restype = ctypes.c_void_p
lib.sframe_fre_get_ra_mangled_p.restype = ctypes.c_bool
lib.sframe_fre_get_base_reg_id.restype = ctypes.c_uint8
if NEW:
    lib.sframe_get_fre_udata.restype = ctypes.c_uint32
    lib.sframe_fre_get_ra_undefined_p.restype = ctypes.c_bool


def offset(name, decoder, row, flex):
    """None: the library says that it is not there."""
    get = getattr(lib, f"sframe_fre_get_{name}_offset")
    value = get(decoder, row, flex, ctypes.byref(error)) if NEW else get(decoder, row, ctypes.byref(error))
    return None if error.value else value


def function_at(decoder, section, at):
    """Both info bytes of the function, which the library does not give with a row; None before version 3."""
    size, start, info, info2, i = ctypes.c_uint32(), ctypes.c_int64(), ctypes.c_uint8(), ctypes.c_uint8(), 0
    while section[2] == 3 and not lib.sframe_decoder_get_funcdesc_v3(
            decoder, i, None, *map(ctypes.byref, (size, start, info, info2)), None):
        first = start.value
        if section[3] & 4:
            first += lib.sframe_decoder_get_offsetof_fde_start_addr(decoder, i, ctypes.byref(error))
        if first <= at < first + size.value:
            return info.value, info2.value & 31
        i += 1
    return None


def pair(row, i, value):
    control = lib.sframe_get_fre_udata(row, i, ctypes.byref(error))
    return f"{'rm'[control >> 1 & 1]}{control >> 3}{value:+}" if control & 1 else f"c{value:+}"


def flexible(decoder, row, fixed):
    control = lib.sframe_get_fre_udata(row, 2, ctypes.byref(error))
    told = not error.value
    ra = offset("ra", decoder, row, 1)
    rules = [pair(row, 0, offset("cfa", decoder, row, 1)), pair(row, 2, ra) if told and control else fixed]
    at = 4 if control or not told else 3
    lib.sframe_get_fre_udata(row, at, ctypes.byref(error))
    return rules + ["u" if error.value else pair(row, at, offset("fp", decoder, row, 1))]


def answer(decoder, section, at):
    row = ctypes.create_string_buffer(256)  # larger than the library's struct
    if lib.sframe_find_fre(decoder, (ctypes.c_int64 if NEW else ctypes.c_int32)(at), row):
        return "none"
    info, flex = function_at(decoder, section, at) or (None, 0)
    signal = " signal" if info is not None and info & 128 else ""
    if NEW and lib.sframe_fre_get_ra_undefined_p(decoder, row, ctypes.byref(error)):
        return "outermost" + signal
    sp, fp = SP_FP.get(section[4], (0, 0))
    if flex:
        fixed = lib.sframe_decoder_get_fixed_ra_offset(decoder)
        rules = flexible(decoder, row, f"c{ctypes.c_int8(fixed).value:+}" if fixed else "u")
    else:
        base = sp if lib.sframe_fre_get_base_reg_id(row, ctypes.byref(error)) else fp
        rules = [f"r{base}{offset('cfa', decoder, row, 0) or 0:+}"]
        for name in ("ra", "fp"):
            value = offset(name, decoder, row, 0)
            odd = section[4] == 4 and section[2] == 2 and value is not None and value & 1
            rules.append("u" if value is None or value == 0 and name == "ra" else f"r{value >> 1}+0" if odd else f"c{value:+}")
    signed = lib.sframe_fre_get_ra_mangled_p(decoder, row, ctypes.byref(error))
    return " ".join(rules) + (" ?" if signed and info is None else " signed-b" if signed and info & 32 else " signed" if signed else "") + signal


def main():
    (_, address, digits), *asks = [line.split() for line in sys.stdin]
    section = b"" if digits == "-" else bytes.fromhex(digits)
    held = ctypes.create_string_buffer(section, len(section) or 1)
    decoder = lib.sframe_decode(held, ctypes.c_size_t(len(section)), ctypes.byref(error))
    # It searches in sorted sections alone.
    if not decoder or not section[3] & 1:
        print("refuse")
        return
    for how, at in asks:
        print(answer(ctypes.c_void_p(decoder), section, int(at, 16) - int(address, 16)) if how == "pc" else "unknown", flush=True)


main()
