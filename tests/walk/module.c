/* SPDX-License-Identifier: MIT */
/*
 * module EXTRA FILE...: rows that libeh2sframe makes for libeh2sframe-walk, by both shared libraries. The rule of
 * each row of a result is the one that the walker finds in the section. EXTRA has code that no section can
 * describe, so no rows are made, and nothing of them may stay. Files that a process has mapped. TAP.
 */
#include <elf.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "include/eh2sframe.h"

static int n_tests, n_failed;

static void check(bool ok, const char *what, const char *path)
{
	n_failed += !ok;
	printf("%s %d - %s: %s\n", ok ? "ok" : "not ok", ++n_tests, path, what);
}

static char *slurp(const char *path, size_t *size)
{
	FILE *in = fopen(path, "rb");
	char *bytes = NULL;

	if (in && fseek(in, 0, SEEK_END) == 0) {
		*size = (size_t)ftell(in);
		bytes = malloc(*size + 1);
		rewind(in);
		if (bytes && fread(bytes, 1, *size, in) != *size)
			*size = 0;
	}
	if (in)
		fclose(in);
	return bytes;
}

static bool same_location(
    const struct eh2sframe_location *a, const struct eh2sframe_location *b)
{
	return a->place == b->place && a->reg == b->reg && a->offset == b->offset;
}

static bool same_rule(const struct eh2sframe_rule *a, const struct eh2sframe_rule *b)
{
	static const uint8_t zeros[sizeof(a->reserved)];

	if (a->flags != b->flags || memcmp(a->reserved, zeros, sizeof(zeros)) != 0 ||
	    memcmp(b->reserved, zeros, sizeof(zeros)) != 0)
		return false;
	return a->flags & EH2SFRAME_FLAG_OUTERMOST ||
	       (same_location(&a->cfa, &b->cfa) && a->cfa_add == b->cfa_add &&
		   a->cfa_index == b->cfa_index && a->cfa_shift == b->cfa_shift &&
		   same_location(&a->ra, &b->ra) && same_location(&a->fp, &b->fp));
}

/* Compares each row of a result with what the walker finds in the section at its address. */
static size_t compare_rows(const struct eh2sframe_result *result,
    const struct eh2sframe_walk_section *section, size_t *n_wrong)
{
	struct eh2sframe_function function = {.struct_size = sizeof(function)};
	struct eh2sframe_row row = {.struct_size = sizeof(row)};
	struct eh2sframe_rule found;
	size_t n = 0;

	for (size_t i = 0; eh2sframe_result_function(result, i, &function); i++)
		for (size_t k = 0; eh2sframe_result_row(result, i, k, &row); k++, n++)
			if (eh2sframe_walk_look_up(section, function.start + row.start,
				&found) != EH2SFRAME_WALK_WHY_GOES_ON ||
			    !same_rule(&row.rule, &found))
				++*n_wrong;
	return n;
}

/* Compares the extra rules of a result with those of a module, and with what the walker finds. */
static bool compare_extra(const struct eh2sframe_result *result,
    const struct eh2sframe_walk_section *section,
    const struct eh2sframe_walk_module *module)
{
	struct eh2sframe_extra extra;
	struct eh2sframe_rule found;
	size_t n = 0;

	for (; eh2sframe_result_extra(result, n, &extra); n++)
		if (n >= module->n_extra || extra.start != module->extra[n].start ||
		    extra.end != module->extra[n].end ||
		    !same_rule(&extra.rule, &module->extra[n].rule) ||
		    eh2sframe_walk_look_up(section, extra.start, &found) !=
			EH2SFRAME_WALK_WHY_GOES_ON ||
		    !same_rule(&extra.rule, &found))
			return false;
	return n == module->n_extra;
}

static void test_file(const char *path)
{
	struct eh2sframe_walk_module module = {.struct_size = sizeof(module)};
	struct eh2sframe_options *options = eh2sframe_options_new();
	struct eh2sframe_result *result = NULL;
	struct eh2sframe_file *file = NULL;
	struct eh2sframe_walk_section section;
	struct eh2sframe_error error = {.status = EH2SFRAME_DONE};
	size_t n = 0, n_wrong = 0;

	if (options && eh2sframe_options_set(options, "format", "3", &error))
		file = eh2sframe_open_path(path, options, &error);
	check(file && eh2sframe_rows(file, &module, &error), "rows are made", path);
	result = file ? eh2sframe_convert(file, NULL, &error) : NULL;
	if (result && eh2sframe_walk_open(&section, module.bytes, module.size,
			  module.address, 0, UINT64_MAX)) {
		eh2sframe_walk_open_extra(&section, module.extra, module.n_extra, 0);
		n = compare_rows(result, &section, &n_wrong);
	}
	printf("# %zu rows, %zu extra rules %s\n", n, module.n_extra, error.text);
	check(n > 0 && n_wrong == 0, "the rules of its rows", path);
	check(n > 0 && compare_extra(result, &section, &module), "and the extra rules",
	    path);
	eh2sframe_result_free(result);
	eh2sframe_close(file);
	eh2sframe_options_free(options);
	eh2sframe_free((void *)(uintptr_t)module.bytes);
	eh2sframe_free((void *)(uintptr_t)module.extra);
}

/* True if the call fails with this reason, and leaves the module alone. */
static bool fails(const char *path, size_t struct_size, enum eh2sframe_status status)
{
	struct eh2sframe_walk_module module = {.struct_size = struct_size};
	const struct eh2sframe_walk_module before = module;
	struct eh2sframe_error error = {.status = EH2SFRAME_DONE};
	struct eh2sframe_file *file =
	    path ? eh2sframe_open_path(path, NULL, &error) : NULL;
	bool ok = (file || !path) && !eh2sframe_rows(file, &module, &error);

	eh2sframe_close(file);
	return ok && error.status == status &&
	       memcmp(&module, &before, sizeof(module)) == 0;
}

static void test_failure(const char *path)
{
	const size_t whole = sizeof(struct eh2sframe_walk_module);
	size_t used = 0;
	bool ok = fails(path, whole, EH2SFRAME_INPUT);

	check(ok, "a file that only an extra rule describes has no rows", path);
	check(fails(path, 8, EH2SFRAME_USAGE) && fails(NULL, whole, EH2SFRAME_USAGE),
	    "a small struct, and no file", path);
	check(!eh2sframe_rows_module(NULL, NULL), "no module", path);
	/* The allocator keeps some of what is freed. */
	for (int i = 0; i < 300; i++) {
		if (i == 200)
			used = mallinfo2().uordblks;
		ok &= fails(path, whole, EH2SFRAME_INPUT);
	}
	check(ok && mallinfo2().uordblks < used + 100 * sizeof(struct eh2sframe_extra),
	    "nothing of the rule stays", path);
}

/* Asks for the rows of a file, and says whether there are any. */
static bool has_rows(const char *path, const void *header, uint64_t bias)
{
	const Elf64_Ehdr *elf = header;
	struct eh2sframe_walk_module module = {.struct_size = sizeof(module),
	    .path = path,
	    .bias = bias,
	    .header = header,
	    .headers = (const char *)header + elf->e_phoff};
	bool made = eh2sframe_rows_module(NULL, &module);

	eh2sframe_free((void *)(uintptr_t)module.bytes);
	eh2sframe_free((void *)(uintptr_t)module.extra);
	return made;
}

static Elf64_Phdr *header_of(char *elf, uint32_t type)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)(void *)elf;
	Elf64_Phdr *phdr = (Elf64_Phdr *)(void *)(elf + header->e_phoff);

	for (size_t i = 0; i < header->e_phnum; i++)
		if (phdr[i].p_type == type)
			return &phdr[i];
	exit(99);
}

/* This program, as if it were mapped where it was read. Its notes are in its first segment. */
static void test_mapped(void)
{
	char path[] = "/tmp/walk-module.XXXXXX";
	int fd = mkstemp(path);
	size_t size = 0;
	char *elf = slurp("/proc/self/exe", &size);
	const Elf64_Phdr *load = header_of(elf, PT_LOAD);
	uint64_t bias = (uintptr_t)elf - load->p_vaddr;
	Elf64_Phdr *stack = header_of(elf, PT_GNU_STACK);
	char *note = elf + header_of(elf, PT_NOTE)->p_offset;
	uintptr_t vdso = getauxval(AT_SYSINFO_EHDR);

	/* No segment has this note, and nothing is at its address. */
	*stack = (Elf64_Phdr){
	    .p_type = PT_NOTE, .p_flags = PF_R, .p_vaddr = 0x7000000, .p_filesz = 16};
	if (fd < 0 || write(fd, elf, size) != (ssize_t)size)
		exit(99);
	check(has_rows(path, elf, bias), "a note that is not loaded is not read", path);
	stack->p_vaddr++;
	check(!has_rows(path, elf, bias), "other headers", path);
	stack->p_vaddr--;
	note[0]++;
	check(!has_rows(path, elf, bias), "another note", path);
	note[0]--;
	check(!has_rows("libc.so.6", elf, bias), "a path without a directory", path);
	check(!vdso || has_rows("linux-vdso.so.1", (const void *)vdso, vdso), "the vDSO",
	    path);
	close(fd);
	unlink(path);
	free(elf);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 99;
	test_failure(argv[1]);
	test_mapped();
	for (int i = 2; i < argc; i++)
		test_file(argv[i]);
	printf("1..%d\n", n_tests);
	return n_failed > 0;
}
