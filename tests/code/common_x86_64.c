/* SPDX-License-Identifier: MIT */
/*
 * common_x86_64 [FILE...]: the reader of common x86-64 instructions and Zydis say the same of
 * each instruction that the former reads. First of all operation codes, with their prefixes and
 * operands; then of all places in the files' executable segments, whether an instruction begins
 * there or not. Prints how many both read.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/machines/x86_64.h"

static uint64_t n_common, n_read;
static unsigned int n_wrong;

static bool read_by(
    bool zydis, const uint8_t *code, uint64_t size, struct code_insn *insn)
{
	struct x86_insn x = {.pc = 0x400000, .insn = insn};

	/* Members that a reader leaves unset must not matter. */
	memset(&x.decoded, 0xa5, sizeof(x.decoded));
	memset(x.operands, 0xa5, sizeof(x.operands));
	memset(insn, 0, sizeof(*insn));
	insn->via = CODE_NO_REG;
	return zydis ? code_x86_read_any(code, size, &x)
		     : code_x86_read_common(code, size, &x);
}

static bool effects_same(const struct code_effect *a, const struct code_effect *b)
{
	return a->off == b->off && a->kind == b->kind && a->dst == b->dst &&
	       a->base == b->base && a->index == b->index && a->shift == b->shift &&
	       a->index_bits == b->index_bits && a->index_signed == b->index_signed &&
	       a->width == b->width && a->load_signed == b->load_signed;
}

static bool insns_same(const struct code_insn *a, const struct code_insn *b)
{
	if (a->target != b->target || a->writes != b->writes || a->unsure != b->unsure ||
	    a->length != b->length || a->control != b->control ||
	    a->condition != b->condition || a->via != b->via || a->filler != b->filler ||
	    a->ends_compare != b->ends_compare || a->n_effects != b->n_effects)
		return false;
	for (size_t i = 0; i < a->n_effects; i++)
		if (!effects_same(&a->effects[i], &b->effects[i]))
			return false;
	return true;
}

static void compare(const uint8_t *code, uint64_t size)
{
	struct code_insn common, any;

	n_read++;
	if (!read_by(false, code, size, &common))
		return;
	n_common++;
	if (read_by(true, code, size, &any) && insns_same(&common, &any))
		return;
	if (++n_wrong > 20)
		return;
	printf("differs:");
	for (size_t i = 0; i < 15 && i < size; i++)
		printf(" %02x", code[i]);
	printf("; lengths %u and %u\n", common.length, any.length);
}

/* All operation codes of both maps, with all bytes behind them, and some operands. */
static void compare_codes(void)
{
	static const uint8_t prefixes[] = {0, 0x66, 0xf2, 0xf3, 0x64};
	static const uint8_t rexes[] = {0, 0x40, 0x41, 0x42, 0x44, 0x48, 0x4f};
	static const uint8_t tails[][13] = {{0x24, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60,
						0x70, 0x11, 0x22, 0x33, 0x44, 0x55},
	    {0xa5, 0xff, 0x80, 0xfe, 0xff, 0xff, 0x80, 0xff, 0x80, 0xff, 0x99, 0x80,
		0xff},
	    {0}};

	for (size_t prefix = 0; prefix < sizeof(prefixes); prefix++)
		for (size_t rex = 0; rex < sizeof(rexes); rex++)
			for (unsigned int opcode = 0; opcode < 512; opcode++)
				for (unsigned int i = 0; i < 256 * 3; i++) {
					uint8_t code[32];
					size_t n = 0;

					if (prefixes[prefix])
						code[n++] = prefixes[prefix];
					if (rexes[rex])
						code[n++] = rexes[rex];
					if (opcode >= 256)
						code[n++] = 0x0f;
					code[n++] = (uint8_t)opcode;
					code[n++] = (uint8_t)(i / 3);
					memcpy(code + n, tails[i % 3], sizeof(tails[0]));
					n += sizeof(tails[0]);
					compare(code, n);
					/* The end of the code can be near. */
					if (i % 3 == 2)
						compare(code, n - 8);
				}
}

static void compare_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *bytes;
	Elf64_Ehdr header;
	long size;

	if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0 ||
	    fseek(file, 0, SEEK_SET) || !(bytes = malloc((size_t)size + 1)) ||
	    fread(bytes, 1, (size_t)size, file) != (size_t)size) {
		perror(path);
		exit(2);
	}
	(void)fclose(file);
	memcpy(&header, bytes, (size_t)size < sizeof(header) ? 0 : sizeof(header));
	for (size_t i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr segment;

		if (header.e_phoff + (i + 1) * sizeof(segment) > (size_t)size)
			break;
		memcpy(&segment, bytes + header.e_phoff + i * sizeof(segment),
		    sizeof(segment));
		if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X) ||
		    segment.p_offset > (size_t)size ||
		    segment.p_filesz > (size_t)size - segment.p_offset)
			continue;
		for (uint64_t at = 0; at < segment.p_filesz; at++)
			compare(bytes + segment.p_offset + at, segment.p_filesz - at);
	}
	free(bytes);
}

int main(int argc, char **argv)
{
	compare_codes();
	for (int i = 1; i < argc; i++)
		compare_file(argv[i]);
	printf("%llu places, %llu common instructions, %u differ\n",
	    (unsigned long long)n_read, (unsigned long long)n_common, n_wrong);
	return n_wrong != 0;
}
