/* SPDX-License-Identifier: MIT */
/*
 * CFI in memory. The .eh_frame of a file, alone, must give the rows that the file gives: the same functions but
 * for those of PLTs, which have no CFI. And bad CFI must be refused.
 */
#include <elf.h>
#include <endian.h>
#include <inttypes.h>
#include <string.h>

#include "tests/lib/lib.h"

static uint64_t u64_of(const void *at, bool big)
{
	uint64_t value;

	memcpy(&value, at, 8);
	return big ? be64toh(value) : le64toh(value);
}

static uint32_t u32_of(const void *at, bool big)
{
	uint32_t value;

	memcpy(&value, at, 4);
	return big ? be32toh(value) : le32toh(value);
}

static uint16_t u16_of(const void *at, bool big)
{
	uint16_t value;

	memcpy(&value, at, 2);
	return big ? be16toh(value) : le16toh(value);
}

/* The CFI of a linked file that has one .eh_frame with a section header. */
static bool frames_of(const struct bytes *file, struct eh2sframe_frames *frames)
{
	const char *data = file->data;
	bool big = data[EI_DATA] == ELFDATA2MSB;
	const Elf64_Ehdr *ehdr = (const void *)data;
	const char *table = data + u64_of(&ehdr->e_shoff, big);
	size_t n = u16_of(&ehdr->e_shnum, big), names = u16_of(&ehdr->e_shstrndx, big);
	const char *strings = data + u64_of(table + names * sizeof(Elf64_Shdr) +
						offsetof(Elf64_Shdr, sh_offset),
					 big);

	*frames = (struct eh2sframe_frames){.struct_size = sizeof(*frames),
	    .machine = u16_of(&ehdr->e_machine, big),
	    .big_endian = big};
	for (size_t i = 0; i < n; i++) {
		const Elf64_Shdr *shdr = (const void *)(table + i * sizeof(*shdr));

		if (strcmp(strings + u32_of(&shdr->sh_name, big), ".eh_frame") != 0)
			continue;
		frames->bytes = data + u64_of(&shdr->sh_offset, big);
		frames->size = u64_of(&shdr->sh_size, big);
		frames->address = u64_of(&shdr->sh_addr, big);
	}
	return u16_of(&ehdr->e_type, big) != ET_REL && frames->size > 0;
}

static bool same_rows(const struct eh2sframe_result *one, size_t i,
    const struct eh2sframe_result *other, size_t j, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		struct eh2sframe_row a, b;

		memset(&a, 0, sizeof(a));
		memset(&b, 0, sizeof(b));
		a.struct_size = b.struct_size = sizeof(a);
		if (!eh2sframe_result_row(one, i, k, &a) ||
		    !eh2sframe_result_row(other, j, k, &b) ||
		    memcmp(&a, &b, sizeof(a)) != 0)
			return false;
	}
	return true;
}

/* How many functions of alone are in whole, too, with the same rows; all must be. */
static size_t n_same(
    const struct eh2sframe_result *alone, const struct eh2sframe_result *whole, bool *all)
{
	struct eh2sframe_function a, b;
	size_t n = 0, j = 0;

	*all = true;
	a.struct_size = b.struct_size = sizeof(a);
	for (size_t i = 0; eh2sframe_result_function(alone, i, &a); i++) {
		while (eh2sframe_result_function(whole, j, &b) && b.start < a.start)
			j++;
		if (!eh2sframe_result_function(whole, j, &b) || b.start != a.start ||
		    b.size != a.size || b.n_rows != a.n_rows ||
		    !same_rows(alone, i, whole, j, a.n_rows))
			*all = false;
		else
			n++;
	}
	return n;
}

/* Without instructions there is nothing that a check could say. */
static void test_no_code(const struct eh2sframe_frames *frames)
{
	struct eh2sframe_options *options = options_of("code=refuse");
	struct eh2sframe_error error = {0}, late = {0};
	struct eh2sframe_file *file =
	    eh2sframe_open_frames(frames, "no code", options, &error);
	struct eh2sframe_result *result;
	struct eh2sframe_check *made;

	made = file ? eh2sframe_check_file(file, &error) : NULL;
	check(file && !made && error.status == EH2SFRAME_INPUT &&
		  strstr(error.text, "no bytes for the code"),
	    "CFI in memory: a check of the code says that there is none: %s", error.text);
	result = file ? eh2sframe_convert(file, NULL, &late) : NULL;
	check(!result && late.status == EH2SFRAME_INPUT,
	    "CFI in memory: code=refuse is refused: %s", late.text);
	eh2sframe_result_free(result);
	eh2sframe_close(file);
	eh2sframe_options_free(options);
}

/* Statuses of what cannot be converted. */
static void test_bad_frames(const struct eh2sframe_frames *good)
{
	static const uint8_t garbage[32] = {28, 0, 0, 0, 9, 9, 9, 9};
	struct eh2sframe_frames bad[7];
	const enum eh2sframe_status wanted[7] = {EH2SFRAME_USAGE, EH2SFRAME_INPUT,
	    EH2SFRAME_USAGE, EH2SFRAME_NOTHING, EH2SFRAME_INPUT, EH2SFRAME_USAGE,
	    EH2SFRAME_USAGE};
	struct {
		struct eh2sframe_frames frames;
		uint64_t more[2];
	} later = {.frames = *good};
	struct eh2sframe_error error;
	struct eh2sframe_file *opened;
	size_t n_right = 0;

	later.frames.struct_size = sizeof(later);
	opened = eh2sframe_open_frames(&later.frames, "later", NULL, &error);
	later.more[1] = 1;
	check(opened && !eh2sframe_open_frames(&later.frames, "later", NULL, &error) &&
		  error.status == EH2SFRAME_USAGE,
	    "a struct of a later version, which may ask for nothing more");
	eh2sframe_close(opened);
	for (size_t i = 0; i < 7; i++) {
		bad[i] = *good;
		bad[i].text_start = bad[i].text_end = 0;
	}
	bad[0].struct_size = 8;
	bad[1].machine = EM_386;
	bad[2].text_start = bad[2].text_end = 4096;
	bad[3].size = 0;
	bad[4].bytes = garbage;
	bad[4].size = sizeof(garbage);
	bad[5].bytes = NULL;
	bad[6].big_endian = 7;
	for (size_t i = 0; i < 7; i++) {
		struct eh2sframe_file *file =
		    eh2sframe_open_frames(&bad[i], "bad", NULL, &error);

		n_right += !file && error.status == wanted[i] && error.text[0] != '\0';
		if (file || error.status != wanted[i])
			printf("# case %zu: %s\n", i, file ? "opened" : error.text);
		eh2sframe_close(file);
	}
	check(n_right == 7, "CFI in memory that is none is refused: %zu of 7", n_right);
}

void test_frames(const char *path)
{
	/* A reader of which no row depends on the code. */
	struct eh2sframe_options *options = options_of("for=binutils-2.45 optimize=none");
	struct eh2sframe_result *alone = NULL, *whole = NULL;
	struct eh2sframe_file *made, *file;
	struct bytes bytes = file_read(path), section = {0};
	struct eh2sframe_frames frames;
	struct eh2sframe_error error = {0};
	uint64_t start = 0, end = 0;
	char *copy;
	bool all, proven;
	size_t n;

	if (!frames_of(&bytes, &frames)) {
		check(true, "%s # SKIP a relocatable object", path);
		goto out;
	}
	/* The library keeps a copy. */
	copy = malloc(frames.size);
	memcpy(copy, frames.bytes, frames.size);
	frames.bytes = copy;
	made = eh2sframe_open_frames(&frames, "frames", options, &error);
	memset(copy, 0, frames.size);
	alone = made ? eh2sframe_convert(made, NULL, &error) : NULL;
	file = eh2sframe_open_path(path, options, NULL);
	whole = file ? eh2sframe_convert(file, NULL, NULL) : NULL;
	n = alone && whole ? n_same(alone, whole, &all) : 0;
	check(n > 0 && all, "%s: CFI alone gives the same rows, %zu functions %s", path,
	    n, error.text);
	proven = n > 0 && eh2sframe_file_text(made, &start, &end) && start < end &&
		 eh2sframe_result_section(
		     alone, end + 4096, (void **)&section.data, &section.size, &error) &&
		 section.size > 28;
	check(proven, "%s: a section for 0x%" PRIx64 " to 0x%" PRIx64 ", proven %s", path,
	    start, end, error.text);
	/* The addresses of the code bound what has rows. */
	eh2sframe_result_free(alone);
	eh2sframe_close(made);
	free(copy);
	frames_of(&bytes, &frames);
	frames.text_start = start + (end - start) / 2;
	frames.text_end = end;
	made = eh2sframe_open_frames(&frames, "frames", options, &error);
	alone = made ? eh2sframe_convert(made, NULL, &error) : NULL;
	check(alone && n_same(alone, whole, &all) < n && all,
	    "%s: the second half of the code has fewer functions %s", path, error.text);
	test_bad_frames(&frames);
	test_no_code(&frames);
	eh2sframe_result_free(alone);
	eh2sframe_result_free(whole);
	eh2sframe_close(made);
	eh2sframe_close(file);
	eh2sframe_free(section.data);
out:
	bytes_free(&bytes);
	eh2sframe_options_free(options);
}
