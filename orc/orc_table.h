/* SPDX-License-Identifier: MIT */
/*
 * The two sections of ORC as one table: .orc_unwind_ip has for each entry the signed distance of 32
 * bits from itself to the code from which on the entry of .orc_unwind holds. What reads the file is not
 * known here.
 */
#ifndef ORC_ORC_TABLE_H
#define ORC_ORC_TABLE_H

#include <stddef.h>

#include "base/attr.h"
#include "base/err.h"
#include "orc/orc_entry.h"

enum { ORC_IP_BYTES = 4, ORC_HEADER_BYTES = 20 };

/* Borrowed; data is NULL where the file has none. */
struct orc_bytes {
	const uint8_t *data;
	size_t size;
};

struct orc_input {
	struct orc_bytes ips;	  /* .orc_unwind_ip, with relocations applied */
	uint64_t ips_addr;	  /* its address */
	struct orc_bytes entries; /* .orc_unwind */
	struct orc_bytes header;  /* .orc_header: a hash of the layout's source text */
	/* The version of Linux, where the file says it; else 0. */
	unsigned int major, minor;
};

/* Where an entry begins to hold. */
struct orc_place {
	uint64_t pc;
	size_t entry; /* its number in .orc_unwind */
};

struct orc_table {
	struct orc_input input;
	enum orc_layout layout;
	bool sp_indirect_known;	  /* what ORC_SP_INDIRECT means in this version */
	struct orc_place *places; /* owned; ascending, one for each address */
	size_t n;
};

/* The layout's name: "Linux 6.4", the first version with it. */
const char *orc_layout_name(enum orc_layout layout);
/* ERR_UNSUPPORTED for an unknown layout, ERR_MALFORMED, ERR_NOMEM. */
ATTR_MUST_CHECK bool orc_table_read(
    const struct orc_input *input, struct orc_table *table, struct err *err);
void orc_table_deinit(struct orc_table *table); /* accepts a zeroed struct */
/* The entry of place number i. */
void orc_table_entry(const struct orc_table *table, size_t i, struct orc_entry *entry);

#endif
