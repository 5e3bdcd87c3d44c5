/* SPDX-License-Identifier: MIT */
/*
 * Bytes as the choices of which a sound model of a section is made. It is encoded in each version, decoded, and
 * looked up by the walker at the edges of each row: all three must say the same.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "include/eh2sframe-walk.h"
#include "sframe/check.h"
#include "sframe/cursor.h"
#include "sframe/encode.h"
#include "sframe/format.h"

const char *const fuzz_section = ".text";

#define ADDRESS UINT64_C(0x40000000)

enum { MAX_FUNCS = 64, MAX_ROWS = 40, MAX_BLOCKS = 4096 };

struct choices {
	const uint8_t *at, *end;
};

/* The next choice; 0 where there is no more. */
static uint32_t choose(struct choices *choices, uint32_t below)
{
	uint32_t value = 0;

	for (uint32_t left = below - 1; left; left >>= 8)
		value = value << 8 | (choices->at < choices->end ? *choices->at++ : 0);
	return value % below;
}

static int32_t choose_off(struct choices *choices)
{
	static const uint32_t bounds[] = {32, 256, 70000, UINT32_MAX};
	uint32_t bound = bounds[choose(choices, 4)];

	return (int32_t)(choose(choices, bound) - bound / 4) *
	       (bound < UINT32_MAX && choose(choices, 4) ? 8 : 1);
}

static int32_t choose_loc(struct choices *choices, uint8_t sp, struct sf_loc *loc)
{
	loc->kind = (uint8_t)choose(choices, 4);
	if (loc->kind >= SF_LOC_REG)
		loc->reg = choose(choices, 2) ? sp : (uint8_t)choose(choices, 33);
	return loc->kind == SF_LOC_NONE ? 0 : choose_off(choices);
}

/* Only rows that the version has words for. */
static void add_row(
    struct choices *choices, uint8_t version, uint32_t start, struct sf_section *section)
{
	static const uint8_t stack[] = {0, 31, 31, 7, 15};
	struct sf_row row = {.start = start};

	if (version == 3 && choose(choices, 16) == 0) {
		row.outermost = true;
	} else {
		row.cfa_off = choose_loc(choices, stack[section->abi], &row.cfa);
		row.ra_off = choose_loc(choices, stack[section->abi], &row.ra);
		row.fp_off = choose_loc(choices, stack[section->abi], &row.fp);
		row.ra_signed = choose(choices, 8) == 1;
	}
	if (sf_can_express(version, section->abi, &row) != SF_CAN)
		row = (struct sf_row){.start = start,
		    .cfa = {SF_LOC_REG, stack[section->abi]},
		    .cfa_off = 160};
	FUZZ_ASSERT(sf_section_add_row(section, &row), "no memory for %s", "a row");
}

static uint64_t add_func(
    struct choices *choices, uint8_t version, uint64_t start, struct sf_section *section)
{
	static const uint32_t bounds[] = {16, 256, 65540, 1 << 20};
	struct sf_func func = {.start = start + choose(choices, 20)}, *added;
	uint32_t below;

	func.size = 1 + choose(choices, bounds[choose(choices, 4)]);
	func.pcmask = choose(choices, 6) == 1;
	func.rep_size = func.pcmask ? (uint8_t)(1 + choose(choices, 32)) : 0;
	/* Version 1 has a function for each block. */
	if (func.pcmask && version == 1)
		func.size = 1 + func.size % MAX_BLOCKS;
	func.pauth_b =
	    section->abi <= SFRAME_ABI_AARCH64_ENDIAN_LITTLE && choose(choices, 4) == 1;
	func.signal_frame = version == 3 && choose(choices, 8) == 1;
	func.first_row = section->n_rows;
	below = func.pcmask && func.rep_size < func.size ? func.rep_size : func.size;
	FUZZ_ASSERT(
	    sf_section_add_func(section, &func), "no memory for %s", "a function");
	added = &section->funcs[section->n_funcs - 1];
	for (uint32_t at = 0; at < below && added->n_rows < MAX_ROWS;
	     at += 1 + choose(choices, below)) {
		add_row(choices, version, at, section);
		if (choose(choices, 3) == 0)
			break;
	}
	return func.start + func.size;
}

static bool same_loc(
    struct sf_loc loc, int32_t off, int8_t fixed, const struct eh2sframe_location *found)
{
	static const uint8_t places[] = {[SF_LOC_NONE] = EH2SFRAME_PLACE_SAME,
	    [SF_LOC_AT_CFA] = EH2SFRAME_PLACE_AT_CFA,
	    [SF_LOC_REG] = EH2SFRAME_PLACE_REGISTER,
	    [SF_LOC_AT_REG] = EH2SFRAME_PLACE_AT_REGISTER};

	if (loc.kind == SF_LOC_NONE && fixed)
		return found->place == EH2SFRAME_PLACE_AT_CFA && found->offset == fixed;
	return found->place == places[loc.kind] &&
	       (!loc.kind || (found->reg == loc.reg && found->offset == off));
}

static void check_walker(const struct eh2sframe_walk_section *walk,
    const struct sf_section *section, const struct sf_row *row, uint64_t pc)
{
	struct eh2sframe_rule rule;
	enum eh2sframe_walk_why why = eh2sframe_walk_look_up(walk, pc, &rule);

	FUZZ_ASSERT(
	    why == EH2SFRAME_WALK_WHY_GOES_ON, "0x%llx: %d", (unsigned long long)pc, why);
	FUZZ_ASSERT(row->outermost == !!(rule.flags & EH2SFRAME_FLAG_OUTERMOST),
	    "flags %u", rule.flags);
	if (row->outermost)
		return;
	FUZZ_ASSERT(same_loc(row->cfa, row->cfa_off, 0, &rule.cfa), "CFA at 0x%llx",
	    (unsigned long long)pc);
	FUZZ_ASSERT(same_loc(row->ra, row->ra_off, section->fixed_ra_off, &rule.ra),
	    "RA at 0x%llx", (unsigned long long)pc);
	FUZZ_ASSERT(same_loc(row->fp, row->fp_off, section->fixed_fp_off, &rule.fp),
	    "FP at 0x%llx", (unsigned long long)pc);
	FUZZ_ASSERT(row->ra_signed == !!(rule.flags & EH2SFRAME_FLAG_SIGNED), "flags %u",
	    rule.flags);
}

/* The row of the model at pc; NULL: none. */
static const struct sf_row *model_at(const struct sf_section *section, uint64_t pc)
{
	const struct sf_row *found = NULL;

	for (size_t i = 0; i < section->n_funcs; i++) {
		const struct sf_func *func = &section->funcs[i];
		uint64_t off = pc - func->start;

		if (pc < func->start || off >= func->size)
			continue;
		off = func->pcmask ? off % func->rep_size : off;
		for (uint32_t k = 0; k < func->n_rows; k++)
			if (section->rows[func->first_row + k].start <= off)
				found = &section->rows[func->first_row + k];
	}
	return found;
}

/* The header's offset of RA need not be said in a row, so a section does not say it. */
static bool same_row(const struct sf_section *section, const struct sf_row *row,
    const struct sf_row *found)
{
	struct sf_row said = *row;

	if (section->fixed_ra_off && said.ra.kind == SF_LOC_AT_CFA &&
	    said.ra_off == section->fixed_ra_off) {
		said.ra.kind = SF_LOC_NONE;
		said.ra_off = 0;
	}
	return sf_row_same(&said, found);
}

static void check_segments(const struct sf_section *section, const struct sf_view *view,
    const struct eh2sframe_walk_section *walk)
{
	enum { MOST = 3000 };
	uint64_t at = 0;
	struct sf_segment segment;
	struct sf_cursor cursor;
	struct err err = {0};
	size_t n = 0;

	FUZZ_ASSERT(sf_cursor_init(&cursor, view, &err), "%s", err.text);
	while (n++ < MOST && sf_cursor_next(&cursor, UINT64_MAX, &segment, &err)) {
		const struct sf_row *row = model_at(section, segment.start);

		FUZZ_ASSERT(row && same_row(section, row, segment.row), "row at 0x%llx",
		    (unsigned long long)segment.start);
		FUZZ_ASSERT(model_at(section, segment.end - 1) == row, "end 0x%llx",
		    (unsigned long long)segment.end);
		FUZZ_ASSERT(segment.start == at || !model_at(section, segment.start - 1),
		    "a gap before 0x%llx", (unsigned long long)segment.start);
		at = segment.end;
		if (walk) {
			check_walker(walk, section, row, segment.start);
			check_walker(walk, section, row, segment.end - 1);
		}
	}
	FUZZ_ASSERT(!cursor.failed, "%s", err.text);
	sf_cursor_deinit(&cursor);
}

static void check_version(const struct sf_section *section, uint8_t version, uint32_t how)
{
	const struct sf_encode_options options = {
	    .version = version, .pcrel = how & 1 && version > 1, .share = how & 2};
	struct eh2sframe_walk_section walk;
	struct sf_view view;
	struct err err = {0};
	struct wr out;

	wr_init(&out, section->big_endian);
	if (!sf_encode(section, &options, &out, NULL, &err)) {
		FUZZ_ASSERT(
		    err.kind == ERR_LIMIT, "kind %d: %s", (int)err.kind, err.text);
		wr_deinit(&out);
		return;
	}
	FUZZ_ASSERT(sf_place(section, &options, ADDRESS, &out, &err), "%s", err.text);
	FUZZ_ASSERT(
	    sf_view_open(out.data, out.size, ADDRESS, &view, &err), "%s", err.text);
	FUZZ_ASSERT(sf_check_all(&view, &err), "%s", err.text);
	FUZZ_ASSERT(
	    eh2sframe_walk_open(&walk, out.data, out.size, ADDRESS, 0, UINT64_MAX) ||
		section->n_funcs == 0,
	    "version %u: the walker does not open it", version);
	check_segments(section, &view, section->n_funcs ? &walk : NULL);
	wr_deinit(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct choices choices = {data, data + size};
	struct sf_section section = {
	    .abi = (uint8_t)(SFRAME_ABI_AARCH64_ENDIAN_BIG + choose(&choices, 4))};
	uint8_t version = (uint8_t)(1 + choose(&choices, 3));
	uint32_t how = choose(&choices, 4);
	uint64_t at = ADDRESS - 0x1000000;

	if (section.abi == SFRAME_ABI_S390X_ENDIAN_BIG && version == 1)
		version = 2;
	section.big_endian = section.abi == SFRAME_ABI_AARCH64_ENDIAN_BIG ||
			     section.abi == SFRAME_ABI_S390X_ENDIAN_BIG;
	section.fixed_ra_off = section.abi == SFRAME_ABI_AMD64_ENDIAN_LITTLE ? -8 : 0;
	while (choices.at < choices.end && section.n_funcs < MAX_FUNCS)
		at = add_func(&choices, version, at, &section);
	check_version(&section, version, how);
	sf_section_deinit(&section);
	return 0;
}
