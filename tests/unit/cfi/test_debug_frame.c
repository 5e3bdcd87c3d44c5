/* SPDX-License-Identifier: MIT */
/* .debug_frame as DWARF 2 to 5 have it: versions, sizes, both formats, what linkers write for
 * functions that they discard, and .eh_frame before it. */
#include "cfi/compare_debug_frame.h"
#include "cfi/frames.h"
#include "cfi/interp.h"
#include "cfi/ranges.h"
#include "tests/unit/cfi/test_cfi_build.h"
#include "tests/unit/unit.h"

/* push, at 1 byte from the start: CFA is rsp + 16 */
static const uint8_t push[] = {0x41, 0x0e, 16};

static struct err err;

/* Properties of the sections that are made up. */
struct shape {
	bool wide, big_endian;
	uint8_t version, addr_size, segment_size;
};

static void put_word(struct wr *wr, uint8_t size, uint64_t value)
{
	if (size == 8)
		wr_u64(wr, value);
	else if (size == 4)
		wr_u32(wr, (uint32_t)value);
	else if (size)
		wr_u8(wr, (uint8_t)value);
}

/* Begins a record; debug_end fills in its length. */
static size_t debug_begin(struct wr *wr, const struct shape *shape, uint64_t id)
{
	size_t off = wr->size;

	wr_u32(wr, shape->wide ? UINT32_MAX : 0);
	if (shape->wide)
		wr_u64(wr, 0);
	put_word(wr, shape->wide ? 8 : 4, id);
	return off;
}

static void debug_end(struct wr *wr, const struct shape *shape, size_t off)
{
	while (wr->size % 8)
		wr_u8(wr, 0);
	if (shape->wide)
		wr_patch_u64(wr, off + 4, wr->size - off - 12);
	else
		wr_patch_u32(wr, off, (uint32_t)(wr->size - off - 4));
}

/* A CIE with the usual rules of x86-64. */
static size_t debug_cie(struct wr *wr, const struct shape *shape, const char *letters)
{
	size_t off = debug_begin(wr, shape, UINT64_MAX);

	wr_u8(wr, shape->version);
	wr_bytes(wr, letters, strlen(letters) + 1);
	if (shape->version == 4) {
		wr_u8(wr, shape->addr_size);
		wr_u8(wr, shape->segment_size);
	}
	wr_bytes(wr, "\x01\x78\x10\x0c\x07\x08\x90\x01", 8);
	debug_end(wr, shape, off);
	return off;
}

/* cie counts from the start of the section. */
static void debug_fde(struct wr *wr, const struct shape *shape, uint64_t cie,
    uint64_t segment, uint64_t pc, uint64_t range)
{
	size_t off = debug_begin(wr, shape, cie);

	put_word(wr, shape->segment_size, segment);
	put_word(wr, shape->addr_size, pc);
	put_word(wr, shape->addr_size, range);
	wr_bytes(wr, push, sizeof(push));
	debug_end(wr, shape, off);
}

/* The numbers of sources; 0: .eh_frame. */
enum { GO = 1, DEBUG = 2 };

/* .debug_frame comes behind eh_size bytes of another source. */
static void build_parts(struct cfi_section *section, size_t eh_size, unsigned int source)
{
	section->parts[0] =
	    (struct cfi_part){.name = ".eh_frame", .size = eh_size, .source = source};
	section->parts[1] = (struct cfi_part){.name = ".debug_frame",
	    .off = eh_size,
	    .size = section->size - eh_size,
	    .source = DEBUG,
	    .debug = true};
	section->n_parts = 2;
}

static void debug_read(const struct wr *wr, size_t eh_size, struct cfi_frames *frames)
{
	struct cfi_section section = build_section(wr);

	build_parts(&section, eh_size, 0);
	section.big_endian = wr->big_endian;
	ck_assert_msg(cfi_frames_read(&section, frames, &err), "%s", err.text);
}

static const struct shape shapes[] = {
    {false, false, 1, 8, 0},
    {false, false, 3, 8, 0},
    {false, false, 4, 8, 0},
    {true, false, 3, 8, 0},
    {true, false, 4, 8, 0},
    {false, true, 1, 8, 0},
    {true, true, 4, 8, 0},
    {false, false, 4, 4, 0},
    {true, true, 4, 4, 0},
    {false, false, 4, 8, 4},
    {false, true, 4, 4, 8},
    {true, false, 4, 8, 1},
};

/* Each shape says the same of a function. */
UNIT_EACH(all_shapes, shapes)
{
	const struct shape *shape = &shapes[_i];
	struct cfi_frames frames;
	struct cfi_interp interp;
	struct wr wr;
	size_t cie;

	wr_init(&wr, shape->big_endian);
	cie = debug_cie(&wr, shape, "");
	debug_fde(&wr, shape, cie, 0, BUILD_CODE, 16);
	/* An FDE in another segment: no code of a flat address space. */
	if (shape->segment_size)
		debug_fde(&wr, shape, cie, 3, BUILD_CODE + 16, 16);
	debug_read(&wr, 0, &frames);
	ck_assert_uint_eq(frames.n_cies, 1);
	ck_assert_uint_eq(frames.n_fdes, 1);
	ck_assert_uint_eq(
	    frames.diag_counts[CFI_DIAG_BAD_FDE], shape->segment_size ? 1 : 0);
	ck_assert(frames.cies[0].debug && frames.cies[0].version == shape->version);
	ck_assert_uint_eq(frames.cies[0].addr_size, shape->addr_size);
	ck_assert_uint_eq(frames.fdes[0].pc, BUILD_CODE);
	ck_assert_uint_eq(frames.fdes[0].range, 16);
	cfi_interp_init(&interp, &frames, &build_machine);
	ck_assert_msg(cfi_interpret(&interp, &frames.fdes[0], &err), "%s", err.text);
	ck_assert_uint_eq(interp.table.n_rows, 2);
	ck_assert_int_eq(interp.table.rows[0].cfa.off, 8);
	ck_assert_uint_eq(interp.table.rows[1].pc, BUILD_CODE + 1);
	ck_assert_int_eq(interp.table.rows[1].cfa.off, 16);
	cfi_interp_deinit(&interp);
	cfi_frames_deinit(&frames);
	wr_deinit(&wr);
}

/* DW_CFA_set_loc has an address of the CIE's size, behind a segment. */
UNIT_EACH(set_loc, shapes)
{
	const struct shape *shape = &shapes[_i];
	struct cfi_frames frames;
	struct cfi_interp interp;
	struct wr wr;
	size_t cie, off;

	wr_init(&wr, shape->big_endian);
	cie = debug_cie(&wr, shape, "");
	off = debug_begin(&wr, shape, cie);
	put_word(&wr, shape->segment_size, 0);
	put_word(&wr, shape->addr_size, BUILD_CODE);
	put_word(&wr, shape->addr_size, 16);
	wr_u8(&wr, 0x01);
	put_word(&wr, shape->segment_size, 0);
	put_word(&wr, shape->addr_size, BUILD_CODE + 5);
	wr_bytes(&wr, "\x0e\x18", 2);
	debug_end(&wr, shape, off);
	debug_read(&wr, 0, &frames);
	cfi_interp_init(&interp, &frames, &build_machine);
	ck_assert_msg(cfi_interpret(&interp, &frames.fdes[0], &err), "%s", err.text);
	ck_assert_uint_eq(interp.table.n_rows, 2);
	ck_assert_uint_eq(interp.table.rows[1].pc, BUILD_CODE + 5);
	ck_assert_int_eq(interp.table.rows[1].cfa.off, 24);
	cfi_interp_deinit(&interp);
	cfi_frames_deinit(&frames);
	wr_deinit(&wr);
}

UNIT_EACH(tombstones, shapes)
{
	static const uint64_t starts[] = {0, UINT64_MAX, UINT64_MAX - 1};
	const struct shape *shape = &shapes[_i];
	struct cfi_frames frames;
	struct wr wr;
	size_t cie;

	wr_init(&wr, shape->big_endian);
	cie = debug_cie(&wr, shape, "");
	for (size_t i = 0; i < 3; i++)
		debug_fde(&wr, shape, cie, 0, starts[i], 16);
	debug_read(&wr, 0, &frames);
	ck_assert_uint_eq(frames.n_fdes, 0);
	ck_assert_uint_eq(frames.diag_counts[CFI_DIAG_DISCARDED], 3);
	cfi_frames_deinit(&frames);
	wr_deinit(&wr);
}

/* Each of these costs its CIE; a sound one after it is read. */
UNIT_LOOP(bad_cies, 0, 5)
{
	static const struct {
		struct shape shape;
		const char *letters;
	} bad[] = {
	    {{false, false, 2, 8, 0}, ""},
	    {{false, false, 5, 8, 0}, ""},
	    {{false, false, 4, 2, 0}, ""},
	    {{false, false, 4, 16, 0}, ""},
	    {{false, false, 1, 8, 0}, "unknown"},
	};
	const struct shape *good = &shapes[0];
	struct cfi_frames frames;
	struct wr wr;
	size_t cie;

	wr_init(&wr, false);
	cie = debug_cie(&wr, &bad[_i].shape, bad[_i].letters);
	debug_fde(&wr, good, cie, 0, BUILD_CODE, 16);
	cie = debug_cie(&wr, good, "S");
	debug_fde(&wr, good, cie, 0, BUILD_CODE, 16);
	debug_read(&wr, 0, &frames);
	ck_assert_uint_eq(frames.n_cies, 1);
	ck_assert_uint_eq(frames.n_fdes, 1);
	ck_assert(frames.cies[0].signal_frame);
	ck_assert_uint_eq(frames.diag_counts[CFI_DIAG_BAD_CIE], 2);
	cfi_frames_deinit(&frames);
	wr_deinit(&wr);
}

/* Pointers count from the start of their own section, and never lead into the other. */
/* The other section is little-endian, and its CIE has no segment. */
UNIT_LOOP(behind_eh_frame, 0, 5)
{
	const struct shape *shape = &shapes[_i];
	struct cfi_frames frames;
	struct cfi_ranges ranges;
	struct cfi_debug_diff agree;
	size_t eh_size, cie;
	uint64_t into;
	struct wr wr;

	wr_init(&wr, false);
	cie = build_cie(&wr);
	build_fde(&wr, cie, 16, push, sizeof(push));
	/* The CIE pointer of .eh_frame is a distance, and could lead forward. */
	eh_size = wr.size + 20;
	wr_u32(&wr, 16);
	wr_u32(&wr, (uint32_t)(wr.size - eh_size));
	wr_zeros(&wr, 12);
	ck_assert_uint_eq(wr.size, eh_size);
	debug_cie(&wr, shape, "");
	debug_fde(&wr, shape, 0, 0, BUILD_CODE, 48);
	/* The CIE pointer as .eh_frame has it, a distance. */
	debug_fde(&wr, shape, wr.size - eh_size, 0, BUILD_CODE + 48, 16);
	debug_read(&wr, eh_size, &frames);
	ck_assert_uint_eq(frames.n_cies, 2);
	ck_assert_uint_eq(frames.n_fdes, 2);
	ck_assert_uint_eq(frames.diag_counts[CFI_DIAG_BAD_CIE_PTR], 2);
	ck_assert(!cfi_fde_is_debug(&frames, &frames.fdes[0]));
	ck_assert(cfi_fde_is_debug(&frames, &frames.fdes[1]));
	ck_assert_str_eq(
	    cfi_section_at(&frames.section, frames.fdes[0].off, &into), ".eh_frame");
	ck_assert_uint_eq(into, frames.fdes[0].off);
	ck_assert_str_eq(
	    cfi_section_at(&frames.section, frames.cies[1].off, &into), ".debug_frame");
	ck_assert_uint_eq(into, 0);
	ck_assert(cfi_ranges_read(&frames, &ranges, &err));
	ck_assert_uint_eq(ranges.n, 2);
	ck_assert_uint_eq(ranges.list[1].start, BUILD_CODE + 16);
	ck_assert_uint_eq(ranges.n_shared, 1);
	ck_assert(
	    cfi_debug_diff_read(&frames, &ranges, &build_machine, 0, false, &agree));
	ck_assert_uint_eq(agree.bytes, 16);
	ck_assert_uint_eq(agree.kinds[CFI_DEBUG_DIFF_DIFFER].bytes, 0);
	cfi_ranges_deinit(&ranges);
	cfi_frames_deinit(&frames);
	wr_deinit(&wr);
}

/* A length that needs 64 bits, one beyond the section, and one without room for an id. */
UNIT_LOOP(bad_lengths, 0, 3)
{
	static const uint64_t lengths[] = {UINT64_C(1) << 33, UINT64_MAX, 7};
	const struct shape wide = {true, false, 4, 8, 0};
	struct cfi_frames frames;
	struct wr wr;

	wr_init(&wr, false);
	debug_cie(&wr, &wide, "");
	wr_patch_u64(&wr, 4, lengths[_i]);
	debug_read(&wr, 0, &frames);
	ck_assert_uint_eq(frames.n_cies, 0);
	ck_assert_uint_gt(
	    frames.diag_counts[CFI_DIAG_TRUNCATED] + frames.diag_counts[CFI_DIAG_DWARF64],
	    0);
	cfi_frames_deinit(&frames);
	wr_deinit(&wr);
}

/* The first address that differs, once for each FDE. */
UNIT_LOOP(differences, 0, 5)
{
	const struct shape *shape = &shapes[_i];
	struct cfi_frames frames;
	struct cfi_ranges ranges;
	struct cfi_debug_diff agree;
	size_t eh_size, cie;
	struct wr wr;

	wr_init(&wr, false);
	cie = build_cie(&wr);
	build_fde(&wr, cie, 8, push, sizeof(push));
	eh_size = wr.size;
	debug_cie(&wr, shape, "");
	cie = wr.size - eh_size;
	debug_fde(&wr, shape, 0, 0, BUILD_CODE, 16);
	/* Its only push is at another place. */
	for (size_t i = eh_size + cie; i + 2 < wr.size; i++)
		if (!memcmp(wr.data + i, push, sizeof(push)))
			wr.data[i] = 0x43;
	debug_read(&wr, eh_size, &frames);
	ck_assert(cfi_ranges_read(&frames, &ranges, &err));
	ck_assert(
	    cfi_debug_diff_read(&frames, &ranges, &build_machine, 0, false, &agree));
	ck_assert_uint_eq(agree.bytes, 8);
	ck_assert_uint_eq(agree.kinds[CFI_DEBUG_DIFF_DIFFER].bytes, 2);
	ck_assert_uint_eq(agree.kinds[CFI_DEBUG_DIFF_DIFFER].n, 1);
	ck_assert_uint_eq(agree.told[0].pc, BUILD_CODE + 1);
	ck_assert_uint_eq(agree.told[0].off, cie);
	cfi_ranges_deinit(&ranges);
	cfi_frames_deinit(&frames);
	wr_deinit(&wr);
}

/* Beside Go's table, what is known of Go's .debug_frame is counted apart. */
UNIT_LOOP(differences_of_go, 0, 5)
{
	/* CFA is rsp + 16, and rbp is at the CFA - 16; the other says that it is unchanged. */
	static const uint8_t saved[] = {0x41, 0x0e, 16, 0x86, 2};
	static const uint8_t no_caller[] = {0x07, 16};
	static const uint8_t other[] = {0x41, 0x0e, 24};
	const struct shape *shape = &shapes[_i];
	struct cfi_section section;
	struct cfi_frames frames;
	struct cfi_ranges ranges;
	struct cfi_debug_diff agree;
	size_t eh_size, cie;
	struct wr wr;

	wr_init(&wr, false);
	cie = build_cie(&wr);
	build_fde(&wr, cie, 16, saved, sizeof(saved));
	build_fde_at(&wr, cie, BUILD_CODE + 16, 16, no_caller, sizeof(no_caller));
	build_fde_at(&wr, cie, BUILD_CODE + 32, 16, other, sizeof(other));
	eh_size = wr.size;
	debug_cie(&wr, shape, "");
	for (uint64_t pc = 0; pc < 48; pc += 16)
		debug_fde(&wr, shape, 0, 0, BUILD_CODE + pc, 16);
	section = build_section(&wr);
	build_parts(&section, eh_size, GO);
	ck_assert_msg(cfi_frames_read(&section, &frames, &err), "%s", err.text);
	ck_assert(cfi_ranges_read(&frames, &ranges, &err));
	ck_assert(
	    cfi_debug_diff_read(&frames, &ranges, &build_machine, GO, true, &agree));
	ck_assert_uint_eq(agree.bytes, 48);
	ck_assert_uint_eq(agree.kinds[CFI_DEBUG_DIFF_FP].bytes, 15);
	ck_assert_uint_eq(agree.kinds[CFI_DEBUG_DIFF_FP].n, 1);
	ck_assert_uint_eq(agree.kinds[CFI_DEBUG_DIFF_NO_CALLER].bytes, 16);
	ck_assert_uint_eq(agree.kinds[CFI_DEBUG_DIFF_NO_CALLER].n, 1);
	ck_assert_uint_eq(agree.kinds[CFI_DEBUG_DIFF_DIFFER].bytes, 15);
	ck_assert_uint_eq(agree.kinds[CFI_DEBUG_DIFF_DIFFER].n, 1);
	ck_assert_uint_eq(agree.n_told, 1);
	ck_assert_uint_eq(agree.told[0].pc, BUILD_CODE + 33);
	/* .eh_frame has nothing to do with it. */
	ck_assert(
	    cfi_debug_diff_read(&frames, &ranges, &build_machine, 0, false, &agree));
	ck_assert_uint_eq(agree.bytes, 0);
	cfi_ranges_deinit(&ranges);
	cfi_frames_deinit(&frames);
	wr_deinit(&wr);
}
