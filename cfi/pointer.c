/* SPDX-License-Identifier: MIT */
/* Encoded pointers: first the stored value by its format, then the base by its
 * application. */
#include "cfi/pointer.h"

static uint64_t pointer_mask(const struct cfi_section *sec)
{
	return sec->addr_size == 4 ? UINT32_MAX : UINT64_MAX;
}

/* The stored value, signed formats extended to 64 bits; false for a format that does not
 * exist. */
static bool read_format(
    struct rd *rd, const struct cfi_section *sec, uint8_t encoding, uint64_t *value)
{
	bool narrow = sec->addr_size == 4;

	switch (encoding & DW_EH_PE_format_mask) {
	case DW_EH_PE_absptr:
		*value = narrow ? rd_u32(rd) : rd_u64(rd);
		return true;
	case DW_EH_PE_signed:
		*value = narrow ? (uint64_t)rd_s32(rd) : rd_u64(rd);
		return true;
	case DW_EH_PE_uleb128:
		*value = rd_uleb(rd);
		return true;
	case DW_EH_PE_udata2:
		*value = rd_u16(rd);
		return true;
	case DW_EH_PE_udata4:
		*value = rd_u32(rd);
		return true;
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		*value = rd_u64(rd);
		return true;
	case DW_EH_PE_sleb128:
		*value = (uint64_t)rd_sleb(rd);
		return true;
	case DW_EH_PE_sdata2:
		*value = (uint64_t)rd_s16(rd);
		return true;
	case DW_EH_PE_sdata4:
		*value = (uint64_t)rd_s32(rd);
		return true;
	default:
		return false;
	}
}

/* Finds the base that the encoding adds to the stored value, which starts at offset pos;
 * false when the base is not known. */
static bool pointer_base(const struct cfi_section *sec, uint8_t encoding, size_t pos,
    uint64_t func_addr, uint64_t *base)
{
	switch (encoding & DW_EH_PE_application_mask) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_aligned:
		*base = 0;
		return true;
	case DW_EH_PE_pcrel:
		*base = sec->addr + pos;
		return true;
	case DW_EH_PE_textrel:
		return false;
	case DW_EH_PE_datarel:
		*base = sec->data_base;
		return sec->has_data_base;
	default: /* funcrel: pointer_application_exists() left no other */
		*base = func_addr;
		return true;
	}
}

/* DW_EH_PE_aligned is defined for the native pointer format alone. */
static bool pointer_application_exists(uint8_t encoding)
{
	if (encoding == DW_EH_PE_omit)
		return false;
	if ((encoding & DW_EH_PE_application_mask) == DW_EH_PE_aligned)
		return encoding == DW_EH_PE_aligned;
	return (encoding & DW_EH_PE_application_mask) <= DW_EH_PE_funcrel;
}

struct cfi_pointer cfi_pointer_read(
    struct rd *rd, const struct cfi_section *sec, uint8_t encoding, uint64_t func_addr)
{
	struct cfi_pointer ptr = {.status = CFI_POINTER_BAD};
	uint64_t value, base;
	size_t pos;

	if (!pointer_application_exists(encoding))
		return ptr;
	/* Aligned by address, so the padding depends on where the section is loaded. */
	if (encoding == DW_EH_PE_aligned)
		rd_skip(rd, -(sec->addr + rd->pos) & (sec->addr_size - 1u));
	pos = rd->pos;
	if (!read_format(rd, sec, encoding, &value) || rd->failed)
		return ptr;
	if ((value & pointer_mask(sec)) == 0) {
		ptr.status = CFI_POINTER_NULL;
		return ptr;
	}
	if (!pointer_base(sec, encoding, pos, func_addr, &base)) {
		ptr.status = CFI_POINTER_UNRESOLVED;
		return ptr;
	}
	/* Modulo the address space by design: pcrel values are distances of either sign.
	 */
	ptr.value = (base + value) & pointer_mask(sec);
	ptr.status =
	    encoding & DW_EH_PE_indirect ? CFI_POINTER_UNRESOLVED : CFI_POINTER_OK;
	return ptr;
}

struct cfi_pointer cfi_pointer_read_size(
    struct rd *rd, const struct cfi_section *sec, uint8_t encoding)
{
	struct cfi_pointer ptr = {.status = CFI_POINTER_BAD};
	uint64_t value;

	if (encoding == DW_EH_PE_omit || !read_format(rd, sec, encoding, &value) ||
	    rd->failed)
		return ptr;
	ptr.value = value;
	ptr.status = value ? CFI_POINTER_OK : CFI_POINTER_NULL;
	return ptr;
}
