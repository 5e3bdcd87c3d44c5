/* SPDX-License-Identifier: MIT */
/*
 * AArch64: "Loads and Stores" of C4.1. A load into a vector register says nothing, and a store from
 * one says which bytes it changes. Base registers with number 31 are SP.
 */
#include "code/machines/insn_aarch64.h"

/* Where an access is: base + (index << shift) + off. Without an index, the rest of it is 0. */
struct a64_place {
	int64_t off;
	uint8_t base, index, shift, index_bits;
	bool index_signed;
};

static struct a64_place a64_at(uint8_t base, int64_t off)
{
	return (struct a64_place){
	    .off = off, .base = base, .index = CODE_NO_REG, .index_bits = 64};
}

static struct code_effect *a64_access(const struct a64 *a, enum code_effect_kind kind,
    uint8_t reg, const struct a64_place *place, uint32_t width)
{
	struct code_effect *effect = code_effect_add(a->insn, kind, reg);

	effect->off = place->off;
	effect->base = place->base;
	effect->index = place->index;
	effect->shift = place->shift;
	effect->index_bits = place->index_bits;
	effect->index_signed = place->index_signed;
	effect->width = (uint8_t)width;
	return effect;
}

static void a64_store(
    const struct a64 *a, uint8_t reg, const struct a64_place *place, uint32_t width)
{
	a64_access(a, CODE_STORE, reg, place, width);
}

enum a64_fill {
	A64_ZEROS,
	A64_SIGN,    /* to 64 bits */
	A64_SIGN_32, /* to 32 bits, and zeros above them */
};

static void a64_load(const struct a64 *a, uint8_t reg, const struct a64_place *place,
    uint32_t width, enum a64_fill fill)
{
	if (reg == CODE_NO_REG)
		return;
	a64_access(a, CODE_LOAD, reg, place, width)->load_signed = fill != A64_ZEROS;
	if (fill == A64_SIGN_32)
		code_a64_set(a, reg, reg, 0, 4);
}

/* One register of the classes that have size, V and opc: a store, a load or a prefetch. */
static bool a64_single(const struct a64 *a, const struct a64_place *place)
{
	const uint32_t size = code_a64_bits(a, 30, 2), opc = code_a64_bits(a, 22, 2);
	const uint8_t reg = code_a64_reg(a, 0);

	if (code_a64_bit(a, 26)) {
		if (opc > 1 && size)
			return false;
		if (!(opc & 1))
			a64_store(a, CODE_NO_REG, place, opc ? 16 : 1u << size);
		return true;
	}
	if (size == 3 && opc > 1) /* prfm */
		return opc == 2;
	if (size == 2 && opc == 3)
		return false;
	if (!opc)
		a64_store(a, reg, place, 1u << size);
	else
		a64_load(a, reg, place, 1u << size,
		    opc == 1   ? A64_ZEROS
		    : opc == 2 ? A64_SIGN
			       : A64_SIGN_32);
	return true;
}

/* The logarithm of the bytes that an offset counts in. */
static uint32_t a64_scale(const struct a64 *a)
{
	return code_a64_bit(a, 26) && code_a64_bit(a, 23) ? 4 : code_a64_bits(a, 30, 2);
}

/* Load/store register (unsigned immediate). */
static bool a64_single_immediate(const struct a64 *a)
{
	const struct a64_place place = a64_at(
	    code_a64_reg_sp(a, 5), (int64_t)code_a64_bits(a, 10, 12) << a64_scale(a));

	return a64_single(a, &place);
}

/* (unscaled immediate), (unprivileged), and those of LRCPC with the same fields. */
static bool a64_single_unscaled(const struct a64 *a)
{
	const struct a64_place place =
	    a64_at(code_a64_reg_sp(a, 5), code_a64_signed(a, 12, 9));

	return a64_single(a, &place);
}

/* True if a register that is loaded or stored is also the base that moves: unpredictable. */
static bool a64_moves_own_base(const struct a64 *a)
{
	const uint8_t base = code_a64_reg(a, 5);

	return !code_a64_bit(a, 26) && base != CODE_NO_REG && base == code_a64_reg(a, 0);
}

/* Stores any value: a processor may store a register that is also the base. */
static bool a64_store_own_base(
    const struct a64 *a, const struct a64_place *place, uint32_t width)
{
	a64_store(a, CODE_NO_REG, place, width);
	return code_a64_write(a, place->base);
}

/* (immediate post-indexed) and (immediate pre-indexed). */
static bool a64_single_indexed(const struct a64 *a)
{
	const uint8_t base = code_a64_reg_sp(a, 5);
	const int64_t off = code_a64_signed(a, 12, 9);
	const struct a64_place place = a64_at(base, 0);
	const struct a64_place own = a64_at(base, code_a64_bit(a, 11) ? off : 0);

	if (a64_moves_own_base(a))
		return code_a64_bits(a, 22, 2)
			   ? code_a64_write(a, base)
			   : a64_store_own_base(a, &own, 1u << code_a64_bits(a, 30, 2));
	if (code_a64_bits(a, 30, 2) == 3 && !code_a64_bit(a, 26) && code_a64_bit(a, 23))
		return false;
	if (code_a64_bit(a, 11))
		code_a64_set(a, base, base, off, 8);
	if (!a64_single(a, &place))
		return false;
	if (!code_a64_bit(a, 11))
		code_a64_set(a, base, base, off, 8);
	return true;
}

/* (register offset). */
static bool a64_single_register(const struct a64 *a)
{
	struct a64_place place = a64_at(code_a64_reg_sp(a, 5), 0);

	if (!code_a64_bit(a, 14))
		return false;
	place.index = code_a64_reg(a, 16);
	if (place.index != CODE_NO_REG) {
		place.shift = (uint8_t)(code_a64_bit(a, 12) ? a64_scale(a) : 0);
		place.index_bits = code_a64_bit(a, 13) ? 64 : 32;
		place.index_signed = code_a64_bit(a, 15);
	}
	return a64_single(a, &place);
}

/* Load register (literal). */
static bool a64_literal(const struct a64 *a)
{
	const uint32_t opc = code_a64_bits(a, 30, 2);
	const struct a64_place place = a64_at(
	    CODE_NO_REG, (int64_t)(a->pc + (uint64_t)(code_a64_signed(a, 5, 19) * 4)));

	if (code_a64_bit(a, 26))
		return opc != 3;
	if (opc != 3)
		a64_load(a, code_a64_reg(a, 0), &place, opc == 1 ? 8 : 4,
		    opc == 2 ? A64_SIGN : A64_ZEROS);
	return true;
}

/* (pac): the address is the base after its signature is taken away. */
static bool a64_load_signed(const struct a64 *a)
{
	if (code_a64_bit(a, 11))
		code_a64_write(a, code_a64_reg_sp(a, 5));
	return code_a64_write(a, code_a64_reg(a, 0));
}

/* A store of a value that the decoder does not compute. */
static void a64_store_other(const struct a64 *a, uint32_t width)
{
	const struct a64_place place = a64_at(code_a64_reg_sp(a, 5), 0);

	a64_store(a, CODE_NO_REG, &place, width);
}

/* Atomic memory operations: they load into Rt, and store. */
static bool a64_atomic(const struct a64 *a)
{
	const uint32_t size = code_a64_bits(a, 30, 2), kind = code_a64_bits(a, 12, 4);
	const struct a64_place place = a64_at(code_a64_reg_sp(a, 5), 0);
	const uint32_t first = code_a64_bits(a, 0, 5);

	if (code_a64_bit(a, 26)) { /* of floating point */
		a64_store_other(a, 8);
		return true;
	}
	if (kind == 12) { /* ldapr */
		a64_load(a, code_a64_reg(a, 0), &place, 1u << size, A64_ZEROS);
		return true;
	}
	if (kind == 13) { /* ld64b */
		a->insn->writes = (uint32_t)(UINT64_C(0xff) << first) & 0x7fffffff;
		return true;
	}
	if (kind > 8 && size == 3 && !code_a64_bits(a, 22, 2)) {
		/* st64b has no status, and 31 where others have its register. */
		a64_store_other(a, 64);
		return code_a64_write(a, code_a64_reg(a, 16));
	}
	a64_store_other(a, 1u << size);
	return kind < 12 && code_a64_write(a, code_a64_reg(a, 0));
}

/* Two registers next to each other. The one that is the base must be loaded last. Twice the same one is
 * unpredictable. */
static void a64_load_pair(const struct a64 *a, const struct a64_place *place,
    uint32_t width, enum a64_fill fill)
{
	const uint8_t one = code_a64_reg(a, 0), two = code_a64_reg(a, 10);
	struct a64_place second = *place;

	if (one == two) {
		code_a64_write(a, one);
		return;
	}
	second.off += width;
	if (one != place->base)
		a64_load(a, one, place, width, fill);
	a64_load(a, two, &second, width, fill);
	if (one == place->base)
		a64_load(a, one, place, width, fill);
}

static void a64_store_pair(
    const struct a64 *a, const struct a64_place *place, uint32_t width)
{
	struct a64_place second = *place;

	second.off += width;
	a64_store(a, code_a64_reg(a, 0), place, width);
	a64_store(a, code_a64_reg(a, 10), &second, width);
}

/* The registers of a pair, at the place. opc has the width. */
static bool a64_pair_access(const struct a64 *a, const struct a64_place *place)
{
	const uint32_t opc = code_a64_bits(a, 30, 2);
	const bool load = code_a64_bit(a, 22);

	if (code_a64_bit(a, 26)) {
		if (!load)
			a64_store(a, CODE_NO_REG, place, opc == 3 ? 32 : 8u << opc);
		return true;
	}
	if (opc == 1 && !code_a64_bits(a, 23, 2))
		return false;
	if (!load)
		a64_store_pair(a, place, opc ? 8 : 4); /* 1: stgp, 3: sttp */
	else
		a64_load_pair(a, place, opc > 1 ? 8 : 4, opc == 1 ? A64_SIGN : A64_ZEROS);
	return true;
}

/* Load/store register pair, and no-allocate pair. */
static bool a64_pair(const struct a64 *a)
{
	const uint32_t opc = code_a64_bits(a, 30, 2), how = code_a64_bits(a, 23, 2);
	const uint8_t base = code_a64_reg_sp(a, 5);
	const bool vector = code_a64_bit(a, 26), load = code_a64_bit(a, 22);
	uint32_t scale = opc < 2 ? 2 : 3;
	struct a64_place place;
	int64_t off;

	if (vector)
		scale = opc == 3 ? 4 : 2 + opc;
	else if (opc == 1 && !load)
		scale = 4;
	off = code_a64_signed(a, 15, 7) * ((int64_t)1 << scale);
	place = a64_at(base, how & 1 ? 0 : off);
	if (how & 1 && !vector && base != A64_SP &&
	    (base == code_a64_reg(a, 0) || base == code_a64_reg(a, 10))) {
		place.off = how == 3 ? off : 0;
		if (!load)
			return a64_store_own_base(a, &place, opc ? 16 : 8);
		code_a64_write(a, base);
		code_a64_write(a, code_a64_reg(a, 0));
		return code_a64_write(a, code_a64_reg(a, 10));
	}
	if (how == 3)
		code_a64_set(a, base, base, off, 8);
	if (!a64_pair_access(a, &place))
		return false;
	if (how == 1)
		code_a64_set(a, base, base, off, 8);
	return true;
}

/*
 * Load/store exclusive and ordered, and compare and swap. The store may fail, so the value in
 * memory is not told.
 */
static bool a64_exclusive(const struct a64 *a)
{
	const uint32_t width = 1u << code_a64_bits(a, 30, 2);
	const uint32_t kind = code_a64_bits(a, 21, 3); /* o2, L, o1 */
	const struct a64_place place = a64_at(code_a64_reg_sp(a, 5), 0);
	const uint8_t status = code_a64_reg(a, 16);
	/* casp's registers are even ones and the next; 31 is the zero register. */
	const uint32_t pair = 3u << code_a64_bits(a, 16, 5) & 0x7fffffff;

	switch (kind) {
	case 0: /* stxr */
		a64_store_other(a, width);
		return code_a64_write(a, status);
	case 2: /* ldxr */
	case 6: /* ldar */
		a64_load(a, code_a64_reg(a, 0), &place, width, A64_ZEROS);
		return true;
	case 4: /* stlr */
		a64_store(a, code_a64_reg(a, 0), &place, width);
		return true;
	case 1:
	case 3:
		if (!code_a64_bit(a, 31)) { /* casp */
			a64_store_other(a, 8 * width);
			a->insn->writes = pair;
			return !code_a64_bit(a, 16);
		}
		if (kind == 3) { /* ldxp */
			a64_load_pair(a, &place, width, A64_ZEROS);
			return true;
		}
		a64_store_other(a, 2 * width); /* stxp */
		return code_a64_write(a, status);
	default: /* cas */
		a64_store_other(a, width);
		return code_a64_write(a, status);
	}
}

/* Advanced SIMD load/store multiple structures: the opcode has the number of registers. */
static bool a64_structures(const struct a64 *a)
{
	static const uint8_t registers[16] = {
	    [0] = 4, [2] = 4, [4] = 3, [6] = 3, [7] = 1, [8] = 2, [10] = 2};
	const uint32_t n = registers[code_a64_bits(a, 12, 4)];
	const uint8_t base = code_a64_reg_sp(a, 5), by = code_a64_reg(a, 16);
	const uint32_t width = n * (code_a64_bit(a, 30) ? 16 : 8);

	if (!n)
		return false;
	if (!code_a64_bit(a, 22))
		a64_store_other(a, width);
	if (!code_a64_bit(a, 23))
		return true;
	code_a64_set(a, base, base, by == CODE_NO_REG ? width : 0, 8);
	a->insn->effects[a->insn->n_effects - 1].index = by;
	return true;
}

/* Load/store single structure: one element of each of 1 to 4 registers. */
static bool a64_structure(const struct a64 *a)
{
	const uint32_t opcode = code_a64_bits(a, 13, 3);
	const uint32_t n = 1 + (opcode & 1) * 2 + code_a64_bits(a, 21, 1);
	const uint8_t base = code_a64_reg_sp(a, 5), by = code_a64_reg(a, 16);
	uint32_t scale = opcode >> 1;

	if (scale == 3)
		scale = code_a64_bits(a, 10, 2);
	else if (scale == 2 && code_a64_bit(a, 10))
		scale = 3;
	if (!code_a64_bit(a, 22))
		a64_store_other(a, n << scale);
	if (!code_a64_bit(a, 23))
		return true;
	code_a64_set(a, base, base, by == CODE_NO_REG ? n << scale : 0, 8);
	a->insn->effects[a->insn->n_effects - 1].index = by;
	return true;
}

/* Load/store memory tags. stz2g and the like clear the memory as well. */
static bool a64_tags(const struct a64 *a)
{
	const uint32_t opc = code_a64_bits(a, 22, 2), how = code_a64_bits(a, 10, 2);
	const uint8_t base = code_a64_reg_sp(a, 5);
	const int64_t off = code_a64_signed(a, 12, 9) * 16;
	const struct a64_place place = a64_at(base, how == 2 ? off : 0);

	if (!how) /* ldg; stzgm clears an unknown size */
		return opc &&
		       code_a64_write(a, opc & 1 ? code_a64_reg(a, 0) : CODE_NO_REG);
	if (how == 3)
		code_a64_set(a, base, base, off, 8);
	if (opc & 1)
		a64_store(a, CODE_NO_REG, &place, opc == 3 ? 32 : 16);
	if (how == 1)
		code_a64_set(a, base, base, off, 8);
	return true;
}

/*
 * Memory copy and memory set: addresses and a count change. How much is stored is not known; it is
 * said to be as much as can be said.
 */
static bool a64_copy(const struct a64 *a)
{
	const struct a64_place place = a64_at(code_a64_reg_sp(a, 0), 0);

	if (code_a64_reg(a, 0) == CODE_NO_REG)
		return false;
	a64_store(a, CODE_NO_REG, &place, UINT8_MAX);
	code_a64_write(a, code_a64_reg(a, 0));
	code_a64_write(a, code_a64_reg(a, 5));
	if (code_a64_bits(a, 22, 2) != 3) /* of a set, Rs is the value */
		code_a64_write(a, code_a64_reg(a, 16));
	return true;
}

/*
 * Newer instructions that no compiler uses for frames, as 128-bit atomics: any register
 * that a field could name, with the next one, may change.
 */
static bool a64_newer(const struct a64 *a)
{
	const uint32_t fields[] = {
	    code_a64_bits(a, 0, 5), code_a64_bits(a, 10, 5), code_a64_bits(a, 16, 5)};

	a64_store_other(a, 32);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		a->insn->unsure |= 3u << fields[i] & 0x7fffffff;
	a->insn->unsure |= 1u << code_a64_bits(a, 5, 5);
	a->insn->ends_compare = true; /* rcwcas */
	return true;
}

bool code_a64_memory(const struct a64 *a)
{
	static const struct a64_row rows[] = {
	    {0x3b000000, 0x39000000, a64_single_immediate},
	    {0x3a000000, 0x28000000, a64_pair},
	    {0x3b200400, 0x38000400, a64_single_indexed},
	    {0x3b200c00, 0x38000000, a64_single_unscaled},
	    {0x3f200c00, 0x38000800, a64_single_unscaled}, /* unprivileged */
	    {0x3b200c00, 0x38200800, a64_single_register},
	    {0x3b200c00, 0x38200000, a64_atomic},
	    {0xff200400, 0xf8200400, a64_load_signed},
	    {0x3b000000, 0x18000000, a64_literal},
	    {0x3f000000, 0x08000000, a64_exclusive},
	    {0xbfbf0000, 0x0c000000, a64_structures},
	    {0xbfa00000, 0x0c800000, a64_structures},
	    {0xbf9f0000, 0x0d000000, a64_structure},
	    {0xbf9e0000, 0x0d000000, a64_newer}, /* stl1, ldap1 */
	    {0xbf800000, 0x0d800000, a64_structure}, {0xff200000, 0xd9200000, a64_tags},
	    {0xfb200c00, 0x19000400, a64_copy},
	    {0x3f200c00, 0x19000000, a64_single_unscaled}, /* ldapur, stlur */
	    {0x3f200c00, 0x1d000800, a64_single_unscaled}, /* of vector registers */
	    {0x3f000000, 0x19000000, a64_newer},
	    {0x3f000000, 0x09000000, a64_newer}, /* unprivileged exclusives */
	};

	return code_a64_by_rows(a, rows, sizeof(rows) / sizeof(rows[0]));
}
