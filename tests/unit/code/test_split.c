/* SPDX-License-Identifier: MIT */
/* Executable bytes as instructions, data and padding: by hand, at random, and of real
 * libraries. */
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "code/code.h"
#include "unit.h"

static const enum code_machine machines[] = {CODE_X86_64, CODE_AARCH64, CODE_S390X};
enum { N_MACHINES = sizeof(machines) / sizeof(machines[0]) };

/* Parts as text: "code 0+8, data 8+16". */
static const char *split_text(
    enum code_machine machine, const void *code, size_t size, uint64_t addr)
{
	static const char *const names[] = {"code", "data", "padding"};
	static char text[512];
	struct code_parts parts = {0};
	size_t n = 0;

	ck_assert(code_split(machine, code, size, addr, &parts));
	text[0] = 0;
	for (size_t i = 0; i < parts.n; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s %u+%u",
		    i ? ", " : "", names[parts.list[i].kind],
		    (unsigned int)parts.list[i].start, (unsigned int)parts.list[i].size);
	code_parts_deinit(&parts);
	return text;
}

/* push %rbp; mov %rsp,%rbp; pop %rbp; ret */
#define FUNCTION "\x55\x48\x89\xe5\x5d\xc3"
#define NOP_10 "\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00"

UNIT(x86_64)
{
	static const char function[] = FUNCTION, padded[] = FUNCTION NOP_10 FUNCTION;
	static const char stops[] = FUNCTION "\xcc\xcc" FUNCTION;
	char table[256 + 6];

	if (!code_can_decode(CODE_X86_64)) {
		fputs("# this build does not decode x86-64\n", stderr);
		return;
	}
	ck_assert_str_eq(split_text(CODE_X86_64, function, 6, 0x1000), "code 0+6");
	ck_assert_str_eq(split_text(CODE_X86_64, padded, 22, 0x1000),
	    "code 0+6, padding 6+10, code 16+6");
	ck_assert_str_eq(split_text(CODE_X86_64, stops, 14, 0x1000),
	    "code 0+6, padding 6+2, code 8+6");
	/* Zydis 4.0 does not know the instruction (AVX-IFMA). */
	ck_assert_str_eq(
	    split_text(CODE_X86_64, "\xc4\xe2\xf5\xb4\x5c\x24\x08\xc3", 8, 0x1000),
	    "code 0+8");
	/* It goes on behind its end. */
	ck_assert_str_eq(split_text(CODE_X86_64, function, 5, 0x1000), "code 0+5");
	/* An instruction that is cut off is none. */
	ck_assert_str_eq(split_text(CODE_X86_64, function, 3, 0x1000), "data 0+3");
	/* Text, and zeros, which decode as additions. */
	memset(table, 0, sizeof(table));
	strcpy(table, "AES for x86_64, CRYPTOGAMS by somebody");
	memcpy(table + 256, function, 6);
	ck_assert_str_eq(split_text(CODE_X86_64, table, 256, 0x1000), "data 0+256");
	/* A few bytes of code behind data are not enough to believe in. */
	ck_assert_str_eq(
	    split_text(CODE_X86_64, table, sizeof(table), 0x1000), "data 0+262");
	ck_assert_str_eq(split_text(CODE_X86_64, table, 0, 0x1000), "");
}

UNIT(aarch64)
{
	/* stp x29, x30, [sp, -16]!; ret; nop; a word that is not allocated. */
	static const char code[] = "\xfd\x7b\xbf\xa9\xc0\x03\x5f\xd6\x1f\x20\x03\xd5"
				   "\x01\x00\x00\x00";

	ck_assert_str_eq(split_text(CODE_AARCH64, code, 8, 0), "code 0+8");
	ck_assert_str_eq(split_text(CODE_AARCH64, code, 12, 0), "code 0+8, padding 8+4");
	ck_assert_str_eq(
	    split_text(CODE_AARCH64, code, 16, 0), "code 0+8, padding 8+4, data 12+4");
	ck_assert_str_eq(split_text(CODE_AARCH64, code, 3, 0), "data 0+3");
	/* Groups 1 and 3 have no instructions, and of group 0 only SME has. */
	ck_assert_str_eq(split_text(CODE_AARCH64, "\0\0\0\2", 4, 4), "data 0+4");
	ck_assert_str_eq(split_text(CODE_AARCH64, "\0\0\0\6", 4, 4), "data 0+4");
	ck_assert_str_eq(split_text(CODE_AARCH64, "\0\0\0\x80", 4, 4), "code 0+4");
}

UNIT(s390x)
{
	/* stmg %r14,%r15,112(%r15); br %r14; nopr; zeros. */
	static const char code[] = "\xeb\xef\xf0\x70\x00\x24\x07\xfe\x07\x07\0\0\0\0";

	ck_assert_str_eq(split_text(CODE_S390X, code, 8, 0), "code 0+8");
	ck_assert_str_eq(split_text(CODE_S390X, code, 10, 0), "code 0+8, padding 8+2");
	ck_assert_str_eq(
	    split_text(CODE_S390X, code, 14, 0), "code 0+8, padding 8+2, data 10+4");
	ck_assert_str_eq(split_text(CODE_S390X, code, 5, 0), "data 0+5");
}

/* Whatever the bytes are, the parts follow each other from start to end. */
UNIT_LOOP(total, 0, N_MACHINES)
{
	const enum code_machine machine = machines[_i];

	srandom(1);
	for (size_t round = 0; round < 2000 && code_can_decode(machine); round++) {
		size_t size = (size_t)random() % 400, at = 0;
		uint8_t *code = malloc(size + !size);
		struct code_parts parts = {0};

		ck_assert_ptr_nonnull(code);
		for (size_t i = 0; i < size; i++)
			code[i] = (uint8_t)(random() >> 8);
		ck_assert(code_split(machine, code, size, round, &parts));
		for (size_t i = 0; i < parts.n; i++) {
			ck_assert_uint_eq(parts.list[i].start, at);
			ck_assert_uint_gt(parts.list[i].size, 0);
			ck_assert(!i || parts.list[i].kind != parts.list[i - 1].kind);
			at += parts.list[i].size;
		}
		ck_assert_uint_eq(at, size);
		code_parts_deinit(&parts);
		free(code);
	}
}

/* How much of a section is of one kind, in per cent; -1 without the file. */
static double share(const char *path, const char *section, enum code_kind kind)
{
	int fd = open(path, O_RDONLY);
	Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	struct code_parts parts = {0};
	size_t names, bytes = 0, all = 0;
	Elf_Scn *scn = NULL;
	GElf_Ehdr ehdr;
	GElf_Shdr shdr;

	if (!elf || !gelf_getehdr(elf, &ehdr) || elf_getshdrstrndx(elf, &names)) {
		if (fd >= 0)
			close(fd);
		return -1.0;
	}
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		const Elf_Data *data = elf_rawdata(scn, NULL);

		if (!gelf_getshdr(scn, &shdr) || !data ||
		    strcmp(elf_strptr(elf, names, shdr.sh_name), section) != 0)
			continue;
		ck_assert(code_split(ehdr.e_machine == EM_X86_64    ? CODE_X86_64
				     : ehdr.e_machine == EM_AARCH64 ? CODE_AARCH64
								    : CODE_S390X,
		    data->d_buf, data->d_size, shdr.sh_addr, &parts));
		all += data->d_size;
	}
	for (size_t i = 0; i < parts.n; i++)
		if (parts.list[i].kind == kind ||
		    (kind == CODE_KIND_CODE && parts.list[i].kind == CODE_KIND_PADDING))
			bytes += parts.list[i].size;
	code_parts_deinit(&parts);
	elf_end(elf);
	close(fd);
	ck_assert_uint_gt(all, 100000);
	return 100.0 * (double)bytes / (double)all;
}

/* All that a compiler put into .text is code, and nothing that it put into .rodata. */
UNIT_LOOP(libraries, 0, N_MACHINES)
{
	static const char *const paths[] = {"/usr/lib/x86_64-linux-gnu/libc.so.6",
	    "/usr/aarch64-linux-gnu/lib/libc.so.6", "/usr/s390x-linux-gnu/lib/libc.so.6"};
	double text, rodata;

	if (!code_can_decode(machines[_i]))
		return;
	elf_version(EV_CURRENT);
	text = share(paths[_i], ".text", CODE_KIND_CODE);
	rodata = share(paths[_i], ".rodata", CODE_KIND_DATA);
	fprintf(stderr, "# %s: %.2f%% of .text is code, %.2f%% of .rodata is data\n",
	    paths[_i], text, rodata);
	ck_assert(text < 0 || text > 99.0);
	ck_assert(rodata < 0 || rodata > 90.0);
}
