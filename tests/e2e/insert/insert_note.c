/* SPDX-License-Identifier: MIT */
/* Linked with a program or library: a note of its own among the first sections, as Firefox has them. The
 * code finds it by its address, and it leads to itself by a distance, so it may not move. */
#include <stdint.h>
#include <string.h>
#include <unistd.h>

extern const char own_note[] __attribute__((visibility("hidden")));
__asm__("	.pushsection .note.own, \"a\", %note\n"
	"	.balign 4\n"
	"	.long 4, 4, 1\n"
	"	.hidden own_note\n"
	"	.globl own_note\n"
	"own_note:\n"
	"	.asciz \"own\"\n"
	"	.long own_code - .\n"
	"	.popsection");

__attribute__((constructor, used)) static void own_code(void)
{
	int32_t distance;

	memcpy(&distance, own_note + 4, sizeof(distance));
	if (memcmp(own_note, "own", 4) != 0 ||
	    own_note + 4 + distance != (const char *)own_code)
		_exit(99);
}
