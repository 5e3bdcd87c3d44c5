/* SPDX-License-Identifier: MIT */
/* How much executable code there is, and what the shares of it are. */
#include <elf.h>
#include <math.h>

#include "gen/rows/coverage.h"
#include "gen/rows/last_calls.h"
#include "gen/rows/padding.h"
#include "gen/rows/plt.h"
#include "tests/unit/sframe/test_sframe_fixture.h"

enum { TEXT = 0x1000, INIT = 0x2000, SIZE = 32 };

/* Two sections of code and one of data; the ranges and functions of a test. */
struct file {
	uint8_t text[SIZE], init[SIZE];
	struct image_section sections[3];
	struct image image;
	struct cfi_range list[8];
	struct cfi_ranges ranges;
	struct sf_section model;
	struct coverage coverage;
};

static struct image_section section(uint64_t addr, uint64_t flags, const uint8_t *data)
{
	return (struct image_section){
	    .hdr = {.sh_addr = addr, .sh_size = SIZE, .sh_flags = flags}, .data = data};
}

/* All bytes are returns, which are code. */
static void file_make(struct file *file)
{
	*file = (struct file){.image = {.n_sections = 3}, .model = {.n_funcs = 0}};
	memset(file->text, 0xc3, SIZE);
	memset(file->init, 0xc3, SIZE);
	/* Not in the order of addresses. */
	file->sections[0] = section(INIT, SHF_ALLOC | SHF_EXECINSTR, file->init);
	file->sections[1] = section(TEXT + 2 * SIZE, SHF_ALLOC, file->text);
	file->sections[2] = section(TEXT, SHF_ALLOC | SHF_EXECINSTR, file->text);
	file->image.sections = file->sections;
	file->ranges.list = file->list;
}

static void range(struct file *file, uint64_t start, uint64_t end)
{
	file->list[file->ranges.n++] = (struct cfi_range){start, end, 0, false};
}

static uint64_t counted(struct file *file)
{
	struct err err = {0};
	uint64_t bytes;

	ck_assert(coverage_text(&file->image, arch_find(EM_X86_64, false), &file->ranges,
	    &file->model, &file->coverage, &err));
	sf_section_deinit(&file->model);
	bytes = file->coverage.text_bytes;
	coverage_deinit(&file->coverage);
	return bytes;
}

UNIT(no_padding)
{
	struct file file;

	file_make(&file);
	ck_assert_uint_eq(counted(&file), 2 * SIZE);
	file_make(&file);
	range(&file, TEXT + 4, TEXT + 8);
	ck_assert_uint_eq(counted(&file), 2 * SIZE);
}

/* Behind code with CFI, before it, and all of what is between two functions. */
UNIT(padding_between)
{
	struct file file;

	file_make(&file);
	memset(file.text, 0, 3);	 /* the section's begin: 3 */
	memset(file.text + 8, 0x90, 2);	 /* after the first range: 2, then code */
	memset(file.text + 14, 0xcc, 2); /* before the second one: 2 */
	memset(file.text + 20, 0x90, 4); /* between the second and a function: 4 */
	memset(file.text + 28, 0, 4);	 /* the section's end: 4 */
	range(&file, TEXT + 4, TEXT + 8);
	range(&file, TEXT + 16, TEXT + 20);
	fixture_func(&file.model, TEXT + 24, 2);
	ck_assert_uint_eq(counted(&file), 2 * SIZE - 3 - 2 - 2 - 4 - 4);
}

/* In the middle of code without CFI nobody knows; inside of code with CFI it is code. */
UNIT(not_padding)
{
	struct file file;

	file_make(&file);
	memset(file.text + 4, 0x90, 8);
	memset(file.init, 0x90, SIZE);
	range(&file, TEXT + 16, TEXT + 20);
	range(&file, INIT, INIT + SIZE);
	ck_assert_uint_eq(counted(&file), 2 * SIZE);
}

/* "nopl 0x0(%rax,%rax,1)" ends with zeros, and leads to the end as a whole. */
UNIT(whole_fillers)
{
	static const uint8_t nop[] = {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00};
	const struct arch *arch = arch_find(EM_X86_64, false);
	uint8_t code[16];

	memset(code, 0xc3, sizeof(code));
	memcpy(code + 10, nop, sizeof(nop));
	ck_assert_uint_eq(padding_back(arch, code, sizeof(code)), sizeof(nop));
	ck_assert_uint_eq(padding_front(arch, code, sizeof(code)), 0);
	memcpy(code, nop, sizeof(nop));
	ck_assert_uint_eq(padding_front(arch, code, sizeof(code)), sizeof(nop));
	arch = arch_find(EM_AARCH64, false);
	/* Two of the four bytes of a word are no filler. */
	memset(code, 0xc3, sizeof(code));
	memset(code + 10, 0, 6);
	ck_assert_uint_eq(padding_back(arch, code, sizeof(code)), 4);
}

/* Sections that overlap are counted once; a range may lie in both. */
UNIT(overlapping_sections)
{
	struct file file;

	file_make(&file);
	file.sections[0].hdr.sh_addr = TEXT + SIZE / 2;
	range(&file, TEXT + SIZE / 4, TEXT + SIZE);
	ck_assert_uint_eq(counted(&file), SIZE + SIZE / 2);
	file_make(&file);
	file.sections[0].hdr.sh_addr = UINT64_MAX - 4;
	range(&file, TEXT, UINT64_MAX);
	ck_assert_uint_eq(counted(&file), SIZE);
}

/* No section headers: executable segments. */
UNIT(segments)
{
	GElf_Phdr phdrs[] = {
	    {.p_type = PT_LOAD, .p_flags = PF_R, .p_vaddr = 0x8000, .p_filesz = 8},
	    {.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_vaddr = TEXT,
		.p_filesz = SIZE}};
	struct file file;

	file_make(&file);
	memset(file.text, 0, 4);
	file.image = (struct image){.phdrs = phdrs,
	    .n_phdrs = 2,
	    .first_code = 1,
	    .bytes = file.text,
	    .size = SIZE};
	range(&file, TEXT + 8, TEXT + 16);
	ck_assert_uint_eq(counted(&file), SIZE - 4);
}

/* Rows outside of the sections count all the same. */
UNIT(never_above_all)
{
	struct file file;

	file_make(&file);
	file.coverage.covered_bytes = 3 * SIZE;
	file.coverage.code_bytes = 3 * SIZE + 1; /* one byte is refused */
	ck_assert_uint_eq(counted(&file), 3 * SIZE + 1);
}

/* A function of 5 bytes that calls, with a row; a call's bytes end at TEXT + end. */
static void calls_at(struct file *file, uint64_t end)
{
	const struct sf_row row = fixture_cfa(0, AMD64_SP, 16);

	file->text[end - 5] = 0xe8;
	memset(file->text + end - 4, 0, 4); /* leads to the next instruction */
	range(file, TEXT + end - 5, TEXT + end);
	file->list[file->ranges.n - 1].fde = (uint32_t)end;
	fixture_func(&file->model, TEXT + end - 5, 5);
	ck_assert(sf_section_add_row(&file->model, &row));
}

/* Behind filler alone, and not behind code, at the section's end, or where a function begins that has another row. */
UNIT(last_calls)
{
	const struct sf_row other = fixture_cfa(0, AMD64_SP, 8);
	GElf_Phdr phdrs[] = {{.p_type = PT_LOAD,
	    .p_flags = PF_X,
	    .p_vaddr = TEXT,
	    .p_filesz = SIZE,
	    .p_memsz = SIZE + 1}}; /* where the last call leads */
	struct err err = {0};
	struct file file;

	file_make(&file);
	file.image.phdrs = phdrs;
	file.image.n_phdrs = 1;
	file.image.bytes = file.text;
	file.image.size = SIZE;
	memset(file.text + 5, 0x90, 3); /* filler up to the next function */
	calls_at(&file, 5);
	calls_at(&file, 13); /* filler, and then code */
	file.text[13] = 0x90;
	calls_at(&file, 21);
	range(&file, TEXT + 21, TEXT + 23);
	fixture_func(&file.model, TEXT + 21, 2);
	ck_assert(sf_section_add_row(&file.model, &other));
	calls_at(&file, SIZE);
	ck_assert(coverage_text(&file.image, arch_find(EM_X86_64, false), &file.ranges,
	    &file.model, &file.coverage, &err));
	last_calls_reach(arch_find(EM_X86_64, false), &file.coverage, &file.model);
	last_calls_count(&file.model, &file.coverage);
	ck_assert_uint_eq(file.model.funcs[0].size, 6);
	for (size_t i = 1; i < file.model.n_funcs; i++)
		ck_assert_uint_eq(file.model.funcs[i].size, i == 3 ? 2 : 5);
	ck_assert_uint_eq(file.coverage.calls_with_row, 1);
	ck_assert_uint_eq(file.coverage.calls_misread, 3);
	ck_assert_uint_eq(file.coverage.calls[0].end, TEXT + 13);
	ck_assert_uint_eq(file.coverage.calls[1].start, TEXT + 16);
	ck_assert_uint_eq(file.coverage.calls[2].end, TEXT + SIZE);
	sf_section_deinit(&file.model);
	coverage_deinit(&file.coverage);
}

/* A header's size means nothing without bytes in the file. */
UNIT(plt_without_bytes)
{
	const struct sf_row row = fixture_cfa(0, AMD64_SP, 16);
	struct file file;

	file_make(&file);
	file.sections[2].name = ".plt.sec";
	file.sections[2].hdr.sh_entsize = 16;
	file.sections[2].data = NULL;
	fixture_func(&file.model, TEXT, SIZE);
	ck_assert(sf_section_add_row(&file.model, &row));
	file.sections[0].name = file.sections[1].name = "";
	plt_mark_repeated(&file.image, &file.model);
	ck_assert(!file.model.funcs[0].pcmask);
	file.sections[2].data = file.text;
	plt_mark_repeated(&file.image, &file.model);
	ck_assert(file.model.funcs[0].pcmask);
	sf_section_deinit(&file.model);
}

/* Words of both lists by name: what the psABIs' compilers end functions in. */
UNIT(call_bytes)
{
	static const struct {
		uint16_t machine;
		uint8_t size, bytes[7];
		bool calls;
	} cases[] = {
	    {EM_X86_64, 5, {0xe8, 1, 2, 3, 4}, true},
	    {EM_X86_64, 6, {0xff, 0x15, 1, 2, 3, 4}, true},
	    {EM_X86_64, 2, {0xff, 0xd0}, true}, {EM_X86_64, 2, {0xff, 0xe0}, false},
	    {EM_X86_64, 4, {0xff, 0x54, 0x24, 8}, true},
	    {EM_X86_64, 5, {0xe9, 1, 2, 3, 4}, false},
	    {EM_AARCH64, 4, {0x01, 0, 0, 0x94}, true},	     /* bl */
	    {EM_AARCH64, 4, {0x01, 0, 0, 0x14}, false},	     /* b */
	    {EM_AARCH64, 4, {0x60, 0, 0x3f, 0xd6}, true},    /* blr x3 */
	    {EM_AARCH64, 4, {0x60, 0, 0x1f, 0xd6}, false},   /* br x3 */
	    {EM_AARCH64, 4, {0x7f, 0x08, 0x3f, 0xd6}, true}, /* blraaz x3 */
	    {EM_AARCH64, 4, {0x71, 0x0c, 0x3f, 0xd7}, true}, /* blrab x3, x17 */
	    {EM_S390, 6, {0xc0, 0xe5, 0, 0, 1, 0}, true},    /* brasl %r14 */
	    {EM_S390, 6, {0xc0, 0xf4, 0, 0, 1, 0}, false},   /* jg */
	    {EM_S390, 2, {0x0d, 0xe1}, true},		     /* basr %r14,%r1 */
	    {EM_S390, 2, {0x07, 0xfe}, false},		     /* br %r14 */
	};

	GElf_Phdr code = {.p_type = PT_LOAD, .p_flags = PF_X, .p_memsz = 0x4030301};
	const struct image image = {.phdrs = &code, .n_phdrs = 1};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct arch *arch =
		    arch_find(cases[i].machine, cases[i].machine == EM_S390);

		ck_assert_msg(last_call_is(&image, arch, cases[i].bytes, cases[i].size,
				  0xff) == cases[i].calls,
		    "case %zu", i);
		ck_assert(!last_call_is(&image, arch, cases[i].bytes, 1, 0xff));
	}
	/* A displacement that leads to no code is none. */
	ck_assert(
	    !last_call_is(&image, arch_find(EM_X86_64, false), cases[0].bytes, 5, 0x100));
}
UNIT(shares)
{
	const struct coverage none = {0}, some = {.code_bytes = 110,
					      .covered_bytes = 50,
					      .template_bytes = 25,
					      .outermost_bytes = 10,
					      .text_bytes = 160};

	ck_assert(isnan(coverage_percent(&none, COVERAGE_OF_CFI)));
	ck_assert(isnan(coverage_percent(&none, COVERAGE_OF_TEXT)));
	ck_assert(coverage_percent(&some, COVERAGE_OF_CFI) == 50.0);
	ck_assert(coverage_percent(&some, COVERAGE_OF_TEXT) == 50.0);
}
