/* SPDX-License-Identifier: MIT */
/* Makes ORC tables of entries. */
#ifndef TEST_ORC_BUILD_H
#define TEST_ORC_BUILD_H

#include <string.h>

#include "base/wr.h"
#include "orc/orc_table.h"

enum { BUILD_IPS = 0x5000, BUILD_TEXT = 0x1000 };

/* An entry, and its place from BUILD_TEXT on. */
struct build_entry {
	int at;
	struct orc_entry entry;
};

struct build {
	struct wr ips, entries;
};

static const uint8_t build_hash_6_4[ORC_HEADER_BYTES] = {0xfe, 0x5d, 0x32, 0xbf, 0x58,
    0x1b, 0xd6, 0x3b, 0x2c, 0xa9, 0xa5, 0xc6, 0x5b, 0xa5, 0xa6, 0x25, 0xea, 0xb3, 0xfe,
    0x24};
static const uint8_t build_hash_7_1[ORC_HEADER_BYTES] = {0x13, 0x7c, 0x36, 0xad, 0x76,
    0x27, 0xc4, 0xdd, 0x55, 0x93, 0x21, 0x76, 0xbb, 0x0e, 0xcd, 0xbd, 0x50, 0x41, 0xfc,
    0x82};

/* A kernel with the layout; its version or its hash says which. */
static inline struct orc_input build_table(struct build *build, enum orc_layout layout,
    const struct build_entry *entries, size_t n)
{
	struct orc_input input = {.ips_addr = BUILD_IPS};

	wr_init(&build->ips, false);
	wr_init(&build->entries, false);
	for (size_t i = 0; i < n; i++) {
		uint8_t bytes[ORC_ENTRY_BYTES];

		wr_u32(&build->ips,
		    (uint32_t)(BUILD_TEXT + entries[i].at - (BUILD_IPS + (int)i * 4)));
		orc_write(layout, &entries[i].entry, bytes);
		wr_bytes(&build->entries, bytes, sizeof(bytes));
	}
	input.ips = (struct orc_bytes){build->ips.data, build->ips.size};
	input.entries = (struct orc_bytes){build->entries.data, build->entries.size};
	if (layout >= ORC_6_4)
		input.header = (struct orc_bytes){
		    layout == ORC_6_4 ? build_hash_6_4 : build_hash_7_1,
		    ORC_HEADER_BYTES};
	input.major = 6;
	input.minor = layout == ORC_6_3 ? 3 : 1;
	return input;
}

static inline void build_free(struct build *build)
{
	wr_deinit(&build->ips);
	wr_deinit(&build->entries);
}

#endif
