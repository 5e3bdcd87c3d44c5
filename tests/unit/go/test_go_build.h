/* SPDX-License-Identifier: MIT */
/* Go's tables, written by hand for each version: one record after the other. */
#ifndef TESTS_UNIT_GO_TEST_GO_BUILD_H
#define TESTS_UNIT_GO_TEST_GO_BUILD_H

#include <string.h>

#include "base/wr.h"
#include "gen/sources/go/go_cfi.h"

#define BUILD_TEXT UINT64_C(0x401000)

struct build_func {
	const char *name;
	uint64_t at;	       /* where it begins, from the text's start on */
	const uint8_t *levels; /* its table of SP, with the 0 at its end; NULL: none */
	uint8_t flags;
};

/* Where parts of the table are. */
struct build_places {
	size_t names, pcs, list, records;
};

static inline size_t build_string(struct wr *wr, const char *text)
{
	const size_t at = wr->size;

	wr_bytes(wr, text, strlen(text) + 1);
	return at;
}

static inline void build_header(struct wr *wr, uint32_t magic, uint8_t quantum, size_t n)
{
	wr_u32(wr, magic);
	wr_u16(wr, 0);
	wr_u8(wr, quantum);
	wr_u8(wr, 8);
	wr_u64(wr, n);
	wr_u64(wr, 0);
	if (magic != 0xfffffffa)
		wr_u64(wr, BUILD_TEXT);
}

static inline void build_record(struct wr *wr, uint32_t magic,
    const struct build_func *func, uint32_t name_at, uint32_t sp_at)
{
	if (magic == 0xfffffffa)
		wr_u64(wr, BUILD_TEXT + func->at);
	else
		wr_u32(wr, (uint32_t)func->at);
	wr_u32(wr, name_at);
	wr_zeros(wr, 8);
	wr_u32(wr, sp_at);
	wr_zeros(wr, magic == 0xfffffff1 ? 20 : 16);
	wr_u8(wr, 0);
	wr_u8(wr, func->flags);
	wr_u16(wr, 0);
}

/* n functions, of which the last one ends at end. wr is initialised here. */
static inline struct build_places build_table(struct wr *wr, uint32_t magic,
    uint8_t quantum, const struct build_func *funcs, size_t n, uint64_t end)
{
	const bool old = magic == 0xfffffffa;
	struct build_places places;
	uint32_t names[8], levels[8];
	size_t offsets;

	wr_init(wr, false);
	build_header(wr, magic, quantum, n);
	offsets = wr->size;
	wr_zeros(wr, 40);
	places.names = wr->size;
	for (size_t i = 0; i < n; i++)
		names[i] = (uint32_t)(build_string(wr, funcs[i].name) - places.names);
	places.pcs = wr->size;
	wr_u8(wr, 0);
	for (size_t i = 0; i < n; i++) {
		levels[i] = funcs[i].levels ? (uint32_t)(wr->size - places.pcs) : 0;
		if (funcs[i].levels)
			build_string(wr, (const char *)funcs[i].levels);
	}
	wr_zeros(wr, -wr->size % 8);
	places.list = wr->size;
	places.records = wr->size + (n + 1) * (old ? 16 : 8);
	for (size_t i = 0; i <= n; i++) {
		const uint64_t at = i < n ? funcs[i].at : end;
		const size_t record = places.records - places.list + i * 44;

		if (old) {
			wr_u64(wr, BUILD_TEXT + at);
			wr_u64(wr, record);
		} else {
			wr_u32(wr, (uint32_t)at);
			wr_u32(wr, (uint32_t)record);
		}
	}
	for (size_t i = 0; i < n; i++) {
		build_record(wr, magic, &funcs[i], names[i], levels[i]);
		wr_zeros(wr, places.records + (i + 1) * 44 - wr->size);
	}
	wr_patch_u64(wr, offsets, places.names);
	wr_patch_u64(wr, offsets + 8, places.names);
	wr_patch_u64(wr, offsets + 16, places.names);
	wr_patch_u64(wr, offsets + 24, places.pcs);
	wr_patch_u64(wr, offsets + 32, places.list);
	return places;
}

#endif
