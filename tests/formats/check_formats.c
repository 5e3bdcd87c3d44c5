/* SPDX-License-Identifier: MIT */
/*
 * check_formats FILE...: every PC of real files through the decoders of tests/bench/compare, as TAP.
 * check_formats --unwind FILE OUT: writes the bytes of __unwind_info to OUT. Prints the
 * base address, then each function's address, its encoding and its data's address, as the
 * encoder has them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/compare/file.h"
#include "tests/formats/round_trip.h"

static bool check_trip(const char *path, int number)
{
	struct formats_file file;
	struct round_trip trip = {0};
	struct err err = {0};
	bool ok = formats_file_open(&file, path, &err) &&
		  round_trip(&file.input, &trip, stdout);

	if (!ok)
		printf("# %s\n", err.text);
	ok = ok && trip.n_wrong == 0 && trip.pcs > 0;
	printf("%sok %d - %s: %" PRIu64 " answers\n", ok ? "" : "not ", number, path,
	    trip.pcs);
	formats_file_close(&file);
	return ok;
}

static bool check_write(const char *out, const struct formats_unwind *unwind)
{
	FILE *file = fopen(out, "wb");
	bool ok;

	if (!file)
		return false;
	ok =
	    fwrite(unwind->bytes.data, 1, unwind->bytes.size, file) == unwind->bytes.size;
	return fclose(file) == 0 && ok;
}

static bool check_unwind(const char *path, const char *out)
{
	struct formats_compare compare;
	struct formats_file file;
	struct err err = {0};
	bool ok = formats_file_open(&file, path, &err);

	if (!ok) {
		fprintf(stderr, "%s: %s\n", path, err.text);
		formats_file_close(&file);
		return false;
	}
	ok = formats_compare_begin(&compare, &file.input);
	for (size_t i = 0; ok && i < file.cfi.ranges.n; i++)
		ok = formats_compare_fde(&compare, i, i + 1);
	ok = ok && formats_compare_end(&compare) && check_write(out, &compare.unwind);
	printf("%#" PRIx64 "\n", file.input.base);
	for (size_t i = 0; ok && i < compare.unwind.n; i++)
		printf("%#" PRIx64 " %#" PRIx32 " %#" PRIx64 "\n",
		    compare.unwind.entries[i].pc, compare.unwind.entries[i].encoding,
		    compare.unwind.entries[i].lsda);
	formats_compare_deinit(&compare);
	formats_file_close(&file);
	return ok;
}

int main(int argc, char **argv)
{
	bool ok = true;

	if (argc == 4 && !strcmp(argv[1], "--unwind"))
		return check_unwind(argv[2], argv[3]) ? EXIT_SUCCESS : EXIT_FAILURE;
	for (int i = 1; i < argc; i++)
		ok &= check_trip(argv[i], i);
	printf("1..%d\n", argc - 1);
	return ok && argc > 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
