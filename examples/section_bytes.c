/* SPDX-License-Identifier: MIT */
/*
 * section_bytes FILE ADDRESS OUT: the bytes of the .sframe section of a program that is in
 * memory. A tool that edits the program in other ways too can do the same: the library
 * writes no file here. Build it with:
 *     cc section_bytes.c $(pkg-config --cflags --libs libeh2sframe)
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <eh2sframe.h>

/* Reads a whole file; NULL when it cannot be read. */
static char *slurp(const char *path, size_t *size)
{
	FILE *in = fopen(path, "rb");
	char *bytes = NULL;
	long end;

	if (in && fseek(in, 0, SEEK_END) == 0 && (end = ftell(in)) >= 0) {
		*size = (size_t)end;
		bytes = malloc(*size + 1);
		rewind(in);
		if (bytes && fread(bytes, 1, *size, in) != *size)
			*size = 0;
	}
	if (in)
		fclose(in);
	return bytes;
}

int main(int argc, char **argv)
{
	struct eh2sframe_gap gap = {.struct_size = sizeof(gap)};
	struct eh2sframe_error error;
	struct eh2sframe_result *result;
	struct eh2sframe_file *file;
	size_t size, n;
	char *image;
	void *bytes;
	FILE *out;

	if (argc != 4 || !(image = slurp(argv[1], &size)))
		return EH2SFRAME_USAGE;
	file = eh2sframe_open_memory(image, size, argv[1], NULL, &error);
	result = file ? eh2sframe_convert(file, NULL, &error) : NULL;
	if (!result || !eh2sframe_result_section(
			   result, strtoull(argv[2], NULL, 0), &bytes, &n, &error)) {
		fprintf(stderr, "section_bytes: %s: %s\n", argv[1], error.text);
		return (int)error.status;
	}
	for (size_t i = 0; eh2sframe_result_gap(result, i, &gap); i++)
		printf("%s: no rows for 0x%" PRIx64 "..0x%" PRIx64 ": %s\n", argv[1],
		    gap.start, gap.end, gap.text);
	printf("%s: %s, %" PRIu64 " functions, %zu bytes\n", argv[1],
	    eh2sframe_file_machine(file),
	    eh2sframe_result_count(result, EH2SFRAME_COUNT_SECTION_FUNCTIONS), n);
	out = fopen(argv[3], "wb");
	if (!out || fwrite(bytes, 1, n, out) != n || fclose(out) != 0)
		return EH2SFRAME_IO;
	eh2sframe_free(bytes);
	/* A result refers to its file, so it goes first. */
	eh2sframe_result_free(result);
	eh2sframe_close(file);
	free(image);
	return EH2SFRAME_DONE;
}
