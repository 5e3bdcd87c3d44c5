/* SPDX-License-Identifier: MIT */
/*
 * Where functions start and end, by the FDEs of .eh_frame (LSB core, "Exception Frames"). They tell functions
 * apart whose names were stripped. What is damaged or unusual has no start.
 */
#include <stdlib.h>

#include "base/rd.h"
#include "base/search.h"
#include "base/vec.h"
#include "profile/symbols/naming_table.h"

/* DW_EH_PE_*: the low 4 bits are the format, the next 3 what is added. */
enum {
	STARTS_ABSOLUTE = 0x00,
	STARTS_UDATA2 = 0x02,
	STARTS_UDATA4 = 0x03,
	STARTS_UDATA8 = 0x04,
	STARTS_SDATA2 = 0x0a,
	STARTS_SDATA4 = 0x0b,
	STARTS_SDATA8 = 0x0c,
	STARTS_FORMAT = 0x0f,
	STARTS_RELATIVE = 0x10, /* to where the value stands */
	STARTS_OMITTED = 0xff,
};

struct starts_cie {
	uint64_t offset; /* for search_list_from; they ascend */
	uint8_t encoding;
};

struct starts {
	uint64_t address; /* of the section */
	struct starts_cie *cies;
	size_t n_cies, cap_cies;
};

static uint64_t starts_format(struct rd *rd, unsigned int format)
{
	switch (format) {
	case STARTS_ABSOLUTE:
	case STARTS_UDATA8:
	case STARTS_SDATA8:
		return rd_u64(rd);
	case STARTS_UDATA2:
		return rd_u16(rd);
	case STARTS_UDATA4:
		return rd_u32(rd);
	case STARTS_SDATA2:
		return (uint64_t)(int64_t)rd_s16(rd);
	case STARTS_SDATA4:
		return (uint64_t)(int64_t)rd_s32(rd);
	default:
		return rd_past_end(rd);
	}
}

/* The encoding of addresses in the FDEs of a CIE; STARTS_OMITTED when it is not known. */
static uint8_t starts_encoding(struct rd *rd)
{
	unsigned int version = rd_u8(rd);
	const char *augmentation = rd_cstr(rd);

	if ((version != 1 && version != 3) || !augmentation)
		return STARTS_OMITTED;
	rd_uleb(rd);
	rd_sleb(rd);
	if (version == 1)
		rd_u8(rd);
	else
		rd_uleb(rd);
	if (*augmentation == '\0')
		return STARTS_ABSOLUTE;
	if (*augmentation++ != 'z')
		return STARTS_OMITTED;
	rd_uleb(rd);
	for (; *augmentation; augmentation++) {
		if (*augmentation == 'R')
			return rd_u8(rd);
		if (*augmentation == 'L')
			rd_u8(rd);
		else if (*augmentation == 'P')
			starts_format(rd, rd_u8(rd) & STARTS_FORMAT);
		else if (*augmentation != 'S' && *augmentation != 'B')
			return STARTS_OMITTED;
	}
	return STARTS_ABSOLUTE;
}

static uint8_t starts_cie(const struct starts *starts, uint64_t offset)
{
	size_t at = search_list_from(starts->cies, starts->n_cies, offset, offset);

	return at < starts->n_cies && starts->cies[at].offset == offset
		   ? starts->cies[at].encoding
		   : STARTS_OMITTED;
}

static bool starts_fde(const struct starts *starts, struct rd *rd, uint8_t encoding,
    struct table *table, struct err *err)
{
	struct symbol start = {.name = ""};
	unsigned int how = encoding & ~(unsigned int)STARTS_FORMAT;
	uint64_t at = starts->address + rd->pos;

	if (how != 0 && how != STARTS_RELATIVE)
		return true;
	start.addr = starts_format(rd, encoding & STARTS_FORMAT);
	if (how == STARTS_RELATIVE)
		start.addr += at;
	/* It has the format of the address, and no sign. */
	start.size = starts_format(rd, encoding & STARTS_FORMAT & ~8U);
	if (rd->failed || start.addr == 0 || start.size == 0)
		return true;
	return symbols_add(&table->starts, &start) || err_set_nomem(err);
}

/* A record; rd is behind its size, and ends with it. */
static bool starts_record(struct starts *starts, uint64_t offset, struct rd *rd,
    struct table *table, struct err *err)
{
	uint64_t at = rd->pos, id = rd_u32(rd);

	if (rd->failed)
		return true;
	if (id != 0)
		return starts_fde(starts, rd, starts_cie(starts, at - id), table, err);
	if (!vec_reserve(&starts->cies, &starts->cap_cies, starts->n_cies + 1))
		return err_set_nomem(err);
	starts->cies[starts->n_cies++] =
	    (struct starts_cie){.offset = offset, .encoding = starts_encoding(rd)};
	return true;
}

bool table_add_starts(const uint8_t *bytes, size_t size, uint64_t address,
    bool big_endian, struct table *table, struct err *err)
{
	struct starts starts = {.address = address};
	bool ok = true;
	struct rd rd;

	rd_init(&rd, bytes, size, big_endian);
	while (ok && rd_has(&rd, 4)) {
		uint64_t offset = rd.pos, length = rd_u32(&rd);
		struct rd record = rd;

		/* A size of 64 bits is never below 2^32 - 16. */
		if (!rd_skip(&rd, length))
			break;
		record.size = rd.pos;
		if (length > 0)
			ok = starts_record(&starts, offset, &record, table, err);
	}
	free(starts.cies);
	symbols_sort(&table->starts);
	return ok;
}
