/* SPDX-License-Identifier: MIT */
/* Which FDE owns which byte: compares cfi_ranges_read with counting byte by byte. */
#include <string.h>

#include "cfi/interp.h"
#include "cfi/opcodes.h"
#include "cfi/ranges.h"
#include "tests/unit/cfi/test_cfi_build.h"
#include "tests/unit/unit.h"

enum { SPACE = 64, MAX_FDES = 9 };

/* CIE 0 is of .eh_frame and CIE 1 of .debug_frame. */
static struct cfi_cie cies[] = {{.off = 0}, {.off = 1, .alike = 1, .debug = true}};

/* FDEs over addresses below SPACE; the program of each is the one byte at its number. */
struct scene {
	uint8_t programs[MAX_FDES];
	struct cfi_fde fdes[MAX_FDES];
	struct cfi_frames frames;
};

static void scene_add(struct scene *scene, uint64_t start, uint64_t end, uint8_t program)
{
	size_t i = scene->frames.n_fdes++;

	scene->programs[i] = program;
	scene->fdes[i] = (struct cfi_fde){
	    .pc = start, .range = end - start, .program_off = i, .program_len = 1};
	scene->frames.cies = cies;
	scene->frames.n_cies = 2;
	scene->frames.fdes = scene->fdes;
	scene->frames.section.data = scene->programs;
	scene->frames.section.size = MAX_FDES;
}

/* All FDEs that are added are of .debug_frame from now on. */
static void scene_add_debug(
    struct scene *scene, uint64_t start, uint64_t end, uint8_t program)
{
	scene_add(scene, start, end, program);
	scene->fdes[scene->frames.n_fdes - 1].cie = 1;
}

static bool scene_covers(const struct scene *scene, size_t fde, uint64_t pc)
{
	return pc >= scene->fdes[fde].pc &&
	       pc - scene->fdes[fde].pc < scene->fdes[fde].range;
}

/* True if two FDEs are the same word for word, without an address (DW_CFA_set_loc). */
static bool scene_same(const struct scene *scene, size_t a, size_t b)
{
	return scene->fdes[a].cie == scene->fdes[b].cie &&
	       scene->fdes[a].pc == scene->fdes[b].pc &&
	       scene->fdes[a].range == scene->fdes[b].range &&
	       scene->programs[a] == scene->programs[b] &&
	       (a == b || scene->programs[a] != DW_CFA_set_loc);
}

/* True if an FDE of the section covers pc. */
static bool scene_has(const struct scene *scene, uint32_t cie, uint64_t pc)
{
	bool has = false;

	for (size_t i = 0; i < scene->frames.n_fdes; i++)
		has |= scene->fdes[i].cie == cie && scene_covers(scene, i, pc);
	return has;
}

/* Checks the range at pc against the FDEs there, of .eh_frame if that has any. */
static void scene_check_at(
    const struct scene *scene, const struct cfi_range *range, uint64_t pc)
{
	const uint32_t cie = !scene_has(scene, 0, pc);
	size_t n = 0, speaker = 0;

	for (size_t i = 0; i < scene->frames.n_fdes; i++) {
		if (scene->fdes[i].cie != cie || !scene_covers(scene, i, pc))
			continue;
		if (n == 0 || !scene_same(scene, i, speaker))
			n++;
		speaker = i;
	}
	ck_assert_msg((n != 0) == (range != NULL), "at %d", (int)pc);
	if (!range)
		return;
	ck_assert_msg(range->overlapping == (n > 1), "at %d", (int)pc);
	ck_assert(range->fde < scene->frames.n_fdes);
	if (n == 1)
		ck_assert(scene_same(scene, range->fde, speaker));
	/* A part that .eh_frame cuts off an overlap keeps the overlap's first owner. */
	else if (!cie)
		ck_assert(scene_covers(scene, range->fde, range->start));
	else
		ck_assert_uint_eq(scene->fdes[range->fde].cie, cie);
}

/* How many FDEs of a section cover pc; equal ones count once. */
static size_t scene_count(const struct scene *scene, uint32_t cie, uint64_t pc)
{
	size_t n = 0;

	for (size_t i = 0; i < scene->frames.n_fdes; i++) {
		bool first = scene->fdes[i].cie == cie && scene_covers(scene, i, pc);

		for (size_t k = 0; first && k < i; k++)
			first = !scene_same(scene, i, k);
		n += first;
	}
	return n;
}

/* Code that both sections describe is in the list where neither contradicts itself. */
static void scene_check_shared(const struct scene *scene, const struct cfi_ranges *ranges)
{
	for (uint64_t pc = 0; pc < SPACE; pc++) {
		bool wanted =
		    scene_count(scene, 0, pc) == 1 && scene_count(scene, 1, pc) == 1;
		bool found = false;

		for (size_t i = 0; i < ranges->n_shared; i++)
			found |=
			    pc >= ranges->shared[i].start && pc < ranges->shared[i].end;
		ck_assert_msg(found == wanted, "at %d", (int)pc);
	}
}

static void scene_check(const struct scene *scene)
{
	struct cfi_ranges ranges;
	struct err err = {0};
	uint64_t bytes = 0;

	ck_assert(cfi_ranges_read(&scene->frames, &ranges, &err));
	for (size_t i = 0; i < ranges.n; i++) {
		ck_assert(ranges.list[i].start < ranges.list[i].end);
		ck_assert(i == 0 || ranges.list[i - 1].end <= ranges.list[i].start);
		bytes += ranges.list[i].end - ranges.list[i].start;
	}
	ck_assert_uint_eq(bytes, ranges.code_bytes);
	for (uint64_t pc = 0; pc < SPACE; pc++) {
		const struct cfi_range *at = NULL;

		for (size_t i = 0; i < ranges.n; i++)
			if (pc >= ranges.list[i].start && pc < ranges.list[i].end)
				at = &ranges.list[i];
		scene_check_at(scene, at, pc);
	}
	scene_check_shared(scene, &ranges);
	cfi_ranges_deinit(&ranges);
}

UNIT_LOOP(random_intervals, 1, 9)
{
	unsigned int seed = (unsigned int)_i;

	srand(seed);
	for (int i = 0; i < 300; i++) {
		struct scene scene = {0};
		int n = rand() % (MAX_FDES + 1), debug = rand() % (MAX_FDES + 1);

		for (int j = 0; j < n; j++) {
			uint64_t start = (uint64_t)rand() % (SPACE - 1);
			uint64_t size =
			    1 + (uint64_t)rand() % (rand() % 2 ? 8 : SPACE - start);

			if (size > SPACE - start)
				size = SPACE - start;
			(j < debug ? scene_add : scene_add_debug)(
			    &scene, start, start + size, (uint8_t)(rand() % 3));
		}
		scene_check(&scene);
	}
}

static const struct {
	const char *name;
	struct {
		uint64_t start, end;
		uint8_t program;
		bool debug;
	} fdes[3];
	size_t n_fdes;
	struct cfi_range wanted[5];
	size_t n, n_duplicates, n_overlapping;
} scenes[] = {
    {"none", {{0}}, 0, {{0}}, 0, 0, 0},
    {"neighbours out of order", {{10, 20, 0, false}, {0, 10, 0, false}}, 2,
	{{0, 10, 1, false}, {10, 20, 0, false}}, 2, 0, 0},
    {"duplicates are passed over",
	{{0, 10, 7, false}, {0, 10, 7, false}, {0, 10, 7, false}}, 3, {{0, 10, 0, false}},
	1, 2, 0},
    {"the same words, an address among them", {{0, 10, 1, false}, {0, 10, 1, false}}, 2,
	{{0, 10, 0, true}}, 1, 0, 2},
    {"same range, other words", {{0, 10, 1, false}, {0, 10, 2, false}}, 2,
	{{0, 10, 0, true}}, 1, 0, 2},
    {"one inside another", {{0, 30, 1, false}, {10, 20, 1, false}}, 2,
	{{0, 10, 0, false}, {10, 20, 0, true}, {20, 30, 0, false}}, 3, 0, 2},
    {"a chain", {{0, 10, 1, false}, {5, 20, 1, false}, {15, 30, 1, false}}, 3,
	{{0, 5, 0, false}, {5, 10, 0, true}, {10, 15, 1, false}, {15, 20, 1, true},
	    {20, 30, 2, false}},
	5, 0, 3},
    {".debug_frame fills", {{10, 20, 1, false}, {25, 30, 1, false}, {0, 30, 1, true}}, 3,
	{{0, 10, 2, false}, {10, 20, 0, false}, {20, 25, 2, false}, {25, 30, 1, false}},
	4, 0, 0},
};

UNIT_EACH(by_hand, scenes)
{
	struct scene scene = {0};
	struct cfi_ranges ranges;
	struct err err = {0};

	for (size_t i = 0; i < scenes[_i].n_fdes; i++)
		(scenes[_i].fdes[i].debug ? scene_add_debug : scene_add)(&scene,
		    scenes[_i].fdes[i].start, scenes[_i].fdes[i].end,
		    scenes[_i].fdes[i].program);
	scene_check(&scene);
	ck_assert(cfi_ranges_read(&scene.frames, &ranges, &err));
	ck_assert_msg(ranges.n == scenes[_i].n, "%s", scenes[_i].name);
	for (size_t i = 0; i < ranges.n; i++) {
		const struct cfi_range *got = &ranges.list[i],
				       *wanted = &scenes[_i].wanted[i];

		ck_assert_msg(got->start == wanted->start && got->end == wanted->end &&
				  got->fde == wanted->fde &&
				  got->overlapping == wanted->overlapping,
		    "%s: range %zu", scenes[_i].name, i);
	}
	ck_assert_uint_eq(ranges.n_duplicates, scenes[_i].n_duplicates);
	ck_assert_uint_eq(ranges.n_overlapping, scenes[_i].n_overlapping);
	cfi_ranges_deinit(&ranges);
}

/* A linker that joins no CIEs leaves equal FDEs with a CIE each. */
UNIT(duplicates_by_their_cies)
{
	static const uint8_t program[] = {0x41, 0x0e, 16};
	struct cfi_section section;
	struct cfi_ranges ranges;
	struct cfi_frames frames;
	struct err err = {0};
	struct wr wr;

	for (uint8_t other = 0; other < 2; other++) {
		size_t cie;

		wr_init(&wr, false);
		build_fde(&wr, build_cie(&wr), 16, program, sizeof(program));
		cie = build_cie(&wr);
		wr.data[cie + 4 + 15] = (uint8_t)(8 + 8 * other); /* CFA */
		build_fde(&wr, cie, 16, program, sizeof(program));
		wr_u32(&wr, 0);
		section = build_section(&wr);
		ck_assert(cfi_frames_read(&section, &frames, &err));
		ck_assert_uint_eq(frames.n_fdes, 2);
		ck_assert(cfi_ranges_read(&frames, &ranges, &err));
		ck_assert_uint_eq(ranges.n_duplicates, 1 - other);
		ck_assert_uint_eq(ranges.n_overlapping, 2 * other);
		cfi_ranges_deinit(&ranges);
		cfi_frames_deinit(&frames);
		wr_deinit(&wr);
	}
}

/* An FDE of .debug_frame that .eh_frame cuts into many parts gives the first ones only. */
UNIT(parts_of_one)
{
	enum { N = 2 * CFI_MAX_PARTS };
	static const uint8_t program[1];
	struct cfi_fde fdes[N + 1] = {0};
	struct cfi_frames frames = {.cies = cies,
	    .n_cies = 2,
	    .fdes = fdes,
	    .n_fdes = N + 1,
	    .section = {.data = program, .size = 1}};
	struct cfi_ranges ranges;
	struct err err = {0};
	size_t n = 0;

	for (size_t i = 0; i < N; i++)
		fdes[i] = (struct cfi_fde){.pc = 10 + 20 * i, .range = 10};
	fdes[N] = (struct cfi_fde){.range = 20 * N, .cie = 1};
	ck_assert(cfi_ranges_read(&frames, &ranges, &err));
	for (size_t i = 0; i < ranges.n; i++)
		n += ranges.list[i].fde == N;
	ck_assert_uint_eq(n, CFI_MAX_PARTS);
	ck_assert_uint_eq(ranges.n, N + CFI_MAX_PARTS);
	ck_assert_uint_eq(ranges.n_shared, N);
	cfi_ranges_deinit(&ranges);
}

/* Parts cover everything in order. Neighbouring ranges of an FDE are in the same part. */
UNIT_LOOP(parts, 0, 50)
{
	struct cfi_range list[40];
	struct cfi_ranges ranges = {.list = list};

	srand((unsigned int)_i);
	ranges.n = (size_t)rand() % 41;
	for (size_t i = 0; i < ranges.n; i++)
		list[i].fde = i && rand() % 3 ? list[i - 1].fde : (uint32_t)i;
	for (size_t n = 1; n < 50; n++) {
		size_t at = 0;

		for (size_t i = 0; i < n; i++) {
			size_t end = cfi_ranges_part_end(&ranges, i, n);

			ck_assert_uint_ge(end, at);
			ck_assert_uint_le(end, ranges.n);
			if (end && end < ranges.n)
				ck_assert_uint_ne(list[end - 1].fde, list[end].fde);
			at = end;
		}
		ck_assert_uint_eq(at, ranges.n);
	}
	ck_assert_uint_eq(cfi_ranges_n_parts(&ranges, 8), 1);
	ranges.n = 1 << 20;
	ck_assert_uint_eq(cfi_ranges_n_parts(&ranges, 8), 8);
	ck_assert_uint_eq(cfi_ranges_n_parts(&ranges, 1), 1);
	ck_assert_uint_eq(cfi_ranges_n_parts(&ranges, 0), 1);
}

/* The bound on operations grows with the code that an FDE has alone, and ends. */
UNIT(expr_ops)
{
	struct cfi_range list[] = {{0, 10, 0, false}, {10, 30, 0, true},
	    {30, 35, 0, false}, {35, 36, 1, true}, {36, 37, 2, false},
	    {37, UINT64_MAX, 3, false}};
	struct cfi_ranges ranges = {.list = list,
	    .n = sizeof(list) / sizeof(*list),
	    .shared = list,
	    .n_shared = 3};
	uint64_t none = cfi_ranges_expr_ops(&ranges, 3);
	uint64_t each = cfi_ranges_expr_ops(&ranges, 4) - none;

	ck_assert_uint_gt(none, 0);
	ck_assert_uint_gt(each, 0);
	ck_assert_uint_eq(cfi_ranges_expr_ops(&ranges, 0), none + 15 * each);
	ck_assert_uint_eq(cfi_ranges_expr_ops(&ranges, 5), CFI_MAX_EXPR_OPS);
	ck_assert_uint_eq(cfi_ranges_shared_ops(&ranges, 2), none + 5 * each);
	ranges.excess = 4;
	ck_assert_uint_eq(cfi_ranges_expr_ops(&ranges, 0), none + 3 * each);
}

/* More FDEs than are sorted by comparison, in any order, some of them twice. */
UNIT_LOOP(many, 0, 7)
{
	enum { N = 6000 };
	static struct cfi_fde fdes[N];
	static const uint8_t program[1];
	struct cfi_frames frames = {.cies = cies,
	    .n_cies = 2,
	    .fdes = fdes,
	    .n_fdes = N,
	    .section = {.data = program, .size = 1}};
	uint64_t spread = UINT64_C(1) << (4 + 7 * _i),
		 base = _i > 4 ? UINT64_C(1) << 62 : 0;
	size_t n_twice = 0;
	struct cfi_ranges ranges;
	struct err err = {0};

	srand((unsigned int)_i);
	for (size_t i = 0; i < N; i++) {
		bool twice = i && rand() % 50 == 0;

		fdes[i] = (struct cfi_fde){.pc = base + i * spread, .range = 16};
		if (twice)
			fdes[i].pc = fdes[i - 1].pc;
		n_twice += twice;
	}
	for (size_t i = N - 1; i > 0; i--) {
		size_t j = (size_t)rand() % (i + 1);
		struct cfi_fde fde = fdes[i];

		fdes[i] = fdes[j];
		fdes[j] = fde;
	}
	ck_assert(cfi_ranges_read(&frames, &ranges, &err));
	ck_assert_uint_eq(ranges.n, N - n_twice);
	ck_assert_uint_eq(ranges.n_duplicates, n_twice);
	for (size_t i = 0; i < ranges.n; i++) {
		ck_assert_uint_eq(ranges.list[i].start, fdes[ranges.list[i].fde].pc);
		ck_assert(!ranges.list[i].overlapping);
		ck_assert(i == 0 || ranges.list[i].start > ranges.list[i - 1].start);
	}
	/* The first of equal FDEs speaks: no other range's FDE is passed over for a later one. */
	for (size_t i = 0; i < N; i++) {
		size_t low = 0, high = ranges.n - 1;

		while (low < high) {
			size_t middle = low + (high - low) / 2;

			if (ranges.list[middle].start < fdes[i].pc)
				low = middle + 1;
			else
				high = middle;
		}
		ck_assert_uint_eq(ranges.list[low].start, fdes[i].pc);
		ck_assert_uint_le(ranges.list[low].fde, i);
	}
	cfi_ranges_deinit(&ranges);
}
