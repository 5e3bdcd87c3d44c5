/* SPDX-License-Identifier: MIT */
/*
 * Reasons that keep two equal functions apart: refused, overlapping or excluded code, the
 * border of an executable segment, a PLT without CFI.
 */
#include <elf.h>

#include "gen/rows/optimize.h"
#include "tests/unit/sframe/test_sframe_fixture.h"

enum {
	BASE = 0x4000,
	SIZE = 0x10,
	GAP = 8,
	SECOND = BASE + SIZE + GAP,
	SEGMENT = 0x1000,
	BEFORE = 0x100, /* bytes of the segment */
};

static const struct options share = {.format = 2, .share = true, .jobs = 1};
static const struct options size = {
    .format = 2, .share = true, .optimize_size = true, .jobs = 1};

/*
 * Two functions of one row each, GAP bytes apart, and all that the stages know of the
 * file.
 */
struct file {
	GElf_Phdr phdrs[3];
	uint8_t code[SEGMENT]; /* zeros, which are padding */
	struct image image;
	struct cfi_range list[2];
	struct cfi_ranges ranges;
	struct coverage coverage;
	struct sf_section model;
};

static GElf_Phdr segment(uint64_t addr, uint64_t bytes, uint32_t flags)
{
	return (GElf_Phdr){.p_type = PT_LOAD,
	    .p_flags = flags,
	    .p_vaddr = addr,
	    .p_memsz = bytes,
	    .p_filesz = bytes};
}

static void file_make(struct file *file)
{
	*file = (struct file){
	    .list = {{BASE, BASE + SIZE, 0, false}, {SECOND, SECOND + SIZE, 1, false}}};
	file->phdrs[0] = segment(BASE - BEFORE, SEGMENT, PF_R | PF_X);
	file->image = (struct image){.phdrs = file->phdrs,
	    .n_phdrs = 1,
	    .bytes = file->code,
	    .size = SEGMENT,
	    .ehdr = {.e_machine = EM_X86_64}};
	file->ranges = (struct cfi_ranges){.list = file->list, .n = 2};
	file->model = fixture_section(SFRAME_ABI_AMD64_ENDIAN_LITTLE);
	for (uint64_t i = 0; i < 2; i++) {
		fixture_func(&file->model, file->list[i].start, SIZE);
		fixture_row(&file->model, fixture_cfa(0, AMD64_SP, 8));
	}
}

/* The functions that are left, in each way to optimise. */
static size_t optimized(struct file *file)
{
	const struct options *const all[] = {&share, &size};
	struct sf_func before[2];
	size_t n = 0;

	memcpy(before, file->model.funcs, sizeof(before));
	for (size_t i = 0; i < 2; i++) {
		const struct optimize_input input = {
		    &file->image, all[i], &file->ranges, &file->coverage};
		struct sf_compact_stats stats;
		struct err err = {0};

		file->model.n_funcs = 0;
		for (size_t j = 0; j < 2; j++) {
			ck_assert(sf_section_add_func(&file->model, &before[j]));
			file->model.funcs[j] = before[j];
		}
		ck_assert(optimize_model(&input, &file->model, &stats, &err));
		ck_assert(i == 0 || n == file->model.n_funcs);
		n = file->model.n_funcs;
		ck_assert_uint_eq(stats.padding_bytes, n == 1 ? GAP : 0);
	}
	sf_section_deinit(&file->model);
	coverage_deinit(&file->coverage);
	return n;
}

UNIT(nothing_between)
{
	struct file file;

	file_make(&file);
	ck_assert_uint_eq(optimized(&file), 1);
}

/* A return, with nothing around it: code that has no CFI. */
UNIT(code_between)
{
	for (uint64_t at = BASE + SIZE; at < SECOND; at++) {
		struct file file;

		file_make(&file);
		file.code[at - BASE + BEFORE] = 0xc3;
		ck_assert_uint_eq(optimized(&file), 2);
	}
}

/* Code in between keeps them apart, at any place and for any reason. */
UNIT(refused)
{
	for (uint64_t at = BASE + SIZE; at < SECOND; at++) {
		const struct coverage_gap gap = {
		    at, at + 1, at, (enum refusal)(at % N_REFUSALS)};
		struct file file;

		file_make(&file);
		ck_assert(coverage_add_gap(&file.coverage, &gap));
		ck_assert_uint_eq(optimized(&file), 2);
	}
}

UNIT(refused_elsewhere)
{
	static const struct coverage_gap gaps[] = {
	    {BASE - 8, BASE, BASE - 8, REFUSE_NO_CFA},
	    {SECOND + SIZE, SECOND + SIZE + 8, SECOND + SIZE, REFUSE_NO_CFA}};
	struct file file;

	file_make(&file);
	ck_assert(coverage_add_gap(&file.coverage, &gaps[0]));
	ck_assert(coverage_add_gap(&file.coverage, &gaps[1]));
	ck_assert_uint_eq(optimized(&file), 1);
}

/*
 * The first segment ends, or a second one begins, between the functions. Segments of data
 * do not matter.
 */
UNIT(segments)
{
	for (uint64_t at = BASE + SIZE; at <= SECOND; at++) {
		for (int what = 0; what < 3; what++) {
			struct file file;

			file_make(&file);
			file.image.n_phdrs = 2;
			file.phdrs[1] = segment(at, SEGMENT, what ? PF_R | PF_X : PF_R);
			if (what == 2) {
				file.phdrs[0].p_memsz = at - file.phdrs[0].p_vaddr;
				file.phdrs[1].p_vaddr = BASE + 0x10000;
			}
			ck_assert_uint_eq(optimized(&file), what ? 2 : 1);
		}
	}
}

/* One of the two is in a PLT without CFI, so there is no range. */
UNIT(templates)
{
	for (size_t i = 0; i < 2; i++) {
		struct file file;

		file_make(&file);
		file.coverage.template_bytes = SIZE;
		file.ranges.n = 1;
		file.list[0] = file.list[i];
		ck_assert_uint_eq(optimized(&file), 2);
		file_make(&file);
		file.coverage.template_bytes = SIZE;
		ck_assert_uint_eq(optimized(&file), 1);
	}
}
