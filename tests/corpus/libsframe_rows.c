/* SPDX-License-Identifier: MIT */
/*
 * libsframe_rows FILE: rows of a section, from standard input (row_lines.h), beside what libsframe's sframe_find_fre of
 * binutils 2.46 or later answers for the first and the last byte of each. Debian ships the library without its header,
 * so what is called is declared here.
 */
#include <elf.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/corpus/row_lines.h"

struct sframe_decoder_ctx;
/* Larger than the library's struct, which has 32 bytes in 2.47. */
struct sframe_frame_row_entry {
	uint64_t room[16];
};
struct sframe_decoder_ctx *sframe_decode(const char *bytes, size_t size, int *error);
void sframe_decoder_free(struct sframe_decoder_ctx **ctx);
const char *sframe_errmsg(int error);
int8_t sframe_decoder_get_fixed_ra_offset(struct sframe_decoder_ctx *ctx);
int sframe_find_fre(
    struct sframe_decoder_ctx *ctx, int64_t pc, struct sframe_frame_row_entry *row);
uint8_t sframe_fre_get_base_reg_id(struct sframe_frame_row_entry *row, int *error);
int32_t sframe_fre_get_cfa_offset(struct sframe_decoder_ctx *ctx,
    struct sframe_frame_row_entry *row, uint32_t type, int *error);
int32_t sframe_fre_get_fp_offset(struct sframe_decoder_ctx *ctx,
    struct sframe_frame_row_entry *row, uint32_t type, int *error);
int32_t sframe_fre_get_ra_offset(struct sframe_decoder_ctx *ctx,
    struct sframe_frame_row_entry *row, uint32_t type, int *error);

/* The section with its surroundings, and the library's view of it. */
struct witness {
	const uint8_t *bytes;
	size_t size;
	uint64_t address; /* of the section */
	unsigned sp, fp;  /* DWARF numbers */
	bool swapped;	  /* the file has the other byte order */
	struct sframe_decoder_ctx *ctx;
};

static uint64_t number(const struct witness *w, size_t at, size_t size)
{
	uint64_t value = 0;

	for (size_t i = 0; i < size; i++)
		value |= (uint64_t)w->bytes[at + (w->swapped ? size - 1 - i : i)]
			 << 8 * i;
	return value;
}

/* The section .sframe of an ELF file that another tool has checked. */
static bool section_find(struct witness *w, size_t *offset, size_t *size)
{
	size_t at, n, names;

	at = number(w, offsetof(Elf64_Ehdr, e_shoff), 8);
	n = number(w, offsetof(Elf64_Ehdr, e_shnum), 2);
	names = number(w, offsetof(Elf64_Ehdr, e_shstrndx), 2);
	names = number(
	    w, at + names * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_offset), 8);
	for (size_t i = 0; i < n; i++, at += sizeof(Elf64_Shdr)) {
		size_t name = names + number(w, at, 4);

		if (strcmp((const char *)w->bytes + name, ".sframe") != 0)
			continue;
		w->address = number(w, at + offsetof(Elf64_Shdr, sh_addr), 8);
		*offset = number(w, at + offsetof(Elf64_Shdr, sh_offset), 8);
		*size = number(w, at + offsetof(Elf64_Shdr, sh_size), 8);
		return *offset <= w->size && *size <= w->size - *offset;
	}
	return false;
}

static bool witness_open(const char *path, struct witness *w)
{
	size_t offset, size;
	struct stat st;
	int fd = open(path, O_RDONLY), error = 0;

	if (fd < 0 || fstat(fd, &st) != 0 || (size_t)st.st_size < sizeof(Elf64_Ehdr))
		return false;
	w->size = (size_t)st.st_size;
	w->bytes = mmap(NULL, w->size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (w->bytes == MAP_FAILED)
		return false;
	w->swapped = w->bytes[EI_DATA] == ELFDATA2MSB;
	switch (number(w, offsetof(Elf64_Ehdr, e_machine), 2)) {
	case EM_X86_64:
		w->sp = 7, w->fp = 6;
		break;
	case EM_AARCH64:
		w->sp = 31, w->fp = 29;
		break;
	case EM_S390:
		w->sp = 15, w->fp = 11;
		break;
	default:
		return false;
	}
	if (!section_find(w, &offset, &size))
		return false;
	w->ctx = sframe_decode((const char *)w->bytes + offset, size, &error);
	if (!w->ctx)
		fprintf(stderr, "libsframe_rows: %s\n", sframe_errmsg(error));
	return w->ctx != NULL;
}

/* An offset that is not there is an error to the library. */
static struct line_rule saved(int error, int32_t offset)
{
	struct line_rule rule = {LINE_UNSAVED, 0, 0};

	if (!error) {
		rule.kind = LINE_AT_CFA;
		rule.offset = offset;
	}
	return rule;
}

static void ask(const struct witness *w, const struct row_line *row, uint64_t pc,
    struct row_counts *counts)
{
	struct sframe_frame_row_entry entry;
	struct row_line found = *row;
	int error = 0;
	int32_t offset;

	counts->asked++;
	if (sframe_find_fre(w->ctx, (int64_t)(pc - w->address), &entry) != 0) {
		counts->differ++;
		printf("%llx: no row\n", (unsigned long long)pc);
		return;
	}
	found.cfa.reg = sframe_fre_get_base_reg_id(&entry, &error) ? w->sp : w->fp;
	found.cfa.kind = LINE_REGISTER;
	found.cfa.offset = sframe_fre_get_cfa_offset(w->ctx, &entry, 0, &error);
	if (error)
		found.cfa.kind = LINE_UNSAVED;
	/* A place in a register has its number there, times 2, plus 1. */
	error = 0;
	offset = sframe_fre_get_fp_offset(w->ctx, &entry, 0, &error);
	if (row->fp.kind != LINE_REGISTER)
		found.fp = saved(error, offset);
	error = 0;
	offset = sframe_fre_get_ra_offset(w->ctx, &entry, 0, &error);
	/* The word 0 stands for no place, where a word for FP follows. */
	if (row->ra.kind != LINE_REGISTER)
		found.ra = saved(error || offset == 0, offset);
	row_line_compare(row, pc, &found, counts);
}

int main(int argc, char **argv)
{
	struct row_counts counts = {0};
	struct witness w;
	struct row_line row;

	if (argc != 2 || !witness_open(argv[1], &w)) {
		fprintf(stderr,
		    "libsframe_rows: give a linked file with a section .sframe\n");
		return 2;
	}
	while (row_line_read(stdin, &row)) {
		ask(&w, &row, row.start, &counts);
		if (row.end - 1 > row.start)
			ask(&w, &row, row.end - 1, &counts);
	}
	if (!feof(stdin)) {
		fprintf(stderr, "libsframe_rows: a line is no row\n");
		return 2;
	}
	sframe_decoder_free(&w.ctx);
	return row_counts_print(&counts);
}
