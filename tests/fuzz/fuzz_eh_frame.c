/* SPDX-License-Identifier: MIT */
/* The bytes of an .eh_frame section. */
#include "tests/fuzz/frames.h"
#include "tests/fuzz/fuzz.h"

const char *const fuzz_section = ".eh_frame";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	frames_fuzz(data, size, 0);
	return 0;
}
