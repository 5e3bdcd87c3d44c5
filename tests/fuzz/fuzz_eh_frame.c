/* SPDX-License-Identifier: MIT */
/* The bytes of an .eh_frame section: as CFI, and as a list of functions. */
#include "tests/fuzz/frames.h"
#include "tests/fuzz/fuzz.h"

#include "profile/symbols/naming_table.h"

const char *const fuzz_section = ".eh_frame";

static void check_starts(const uint8_t *data, size_t size, bool big_endian)
{
	struct table table = {0};
	struct err err = {0};
	const struct symbol *list;

	FUZZ_ASSERT(table_add_starts(data, size, 0x4000, big_endian, &table, &err), "%s",
	    err.text);
	list = table.starts.list;
	for (size_t i = 0; i < table.starts.n; i++) {
		FUZZ_ASSERT(list[i].size, "start %zu", i);
		FUZZ_ASSERT(!i || list[i - 1].addr <= list[i].addr, "start %zu", i);
	}
	table_free(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	frames_fuzz(data, size, 0);
	check_starts(data, size, false);
	check_starts(data, size, true);
	return 0;
}
