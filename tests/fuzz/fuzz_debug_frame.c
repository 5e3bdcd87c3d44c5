/* SPDX-License-Identifier: MIT */
/* The bytes of a .debug_frame section, alone and behind an .eh_frame that covers some of the
 * same code. */
#include "tests/fuzz/frames.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

const char *const fuzz_section = ".debug_frame";

/* A CIE and an FDE of .eh_frame, little-endian; the FDE describes 32 bytes from PC on. */
static const uint8_t before[] = {16, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78, 16, 0x0c, 7, 8,
    0x90, 1, 0, 0, 24, 0, 0, 0, 24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32, 0, 0, 0, 0, 0, 0,
    0, 0x41, 0x0e, 16, 0};
enum { PC = 28 };

/* Gives the FDE the start of the first one behind the CIE of .debug_frame. */
static void aim(uint8_t *eh_frame, const uint8_t *data, size_t size)
{
	size_t at;

	if (size < 4)
		return;
	at = 4 + (data[0] | (size_t)data[1] << 8) + 8;
	if (at < size && size - at >= 8)
		memcpy(eh_frame + PC, data + at, 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *both = malloc(sizeof(before) + size);

	FUZZ_ASSERT(both, "no memory");
	frames_fuzz(data, size, size);
	memcpy(both, before, sizeof(before));
	if (size)
		memcpy(both + sizeof(before), data, size);
	aim(both, data, size);
	frames_fuzz(both, sizeof(before) + size, size);
	free(both);
	return 0;
}
