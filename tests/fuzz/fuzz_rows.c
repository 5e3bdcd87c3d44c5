/* SPDX-License-Identifier: MIT */
/*
 * Bytes as the choices of which sound CFI is made (tests/prop): through the whole line, and the row of each PC
 * beside what the CFI was made to mean. The first byte chooses machine and version.
 */
#include "tests/fuzz/fuzz.h"
#include "tests/prop/prop_rows.h"

const char *const fuzz_section = ".text";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct program p;

	if (size == 0)
		return 0;
	p.small = true;
	p.choices = data + 1;
	p.n_choices = size - 1;
	prop_rows_one(&p, data[0]);
	return 0;
}
