/* SPDX-License-Identifier: MIT */
/*
 * A program that has nothing of this project but eh2sframe-walk.c and its header: it walks a
 * stack of four frames that it makes up, by a section that is written here byte by byte.
 */
#include <stdio.h>
#include <string.h>

#include "eh2sframe-walk.h"

enum { ADDRESS = 0x100000, TEXT = 0x200000, STACK = 0x7000 };

/* Version 2, x86-64, starts from the section: three functions of 0x40 bytes. */
static const unsigned char section_bytes[] = {0xe2, 0xde, 2, 1, 3, 0, 0xf8, 0, 3, 0, 0, 0,
    3, 0, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 60, 0, 0, 0,
    /* 0x200000: one row */
    0x00, 0x00, 0x10, 0x00, 0x40, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,
    /* 0x200040: one row */
    0x40, 0x00, 0x10, 0x00, 0x40, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,
    /* 0x200080: the outermost frame */
    0x80, 0x00, 0x10, 0x00, 0x40, 0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,
    /* CFA = SP + 16 */
    0, 0x03, 16,
    /* CFA = FP + 16, FP at CFA - 16 */
    0, 0x04, 16, 0xf0, 0,
    /* no caller */
    0, 0x00};

static uint64_t stack[16];

static bool read_stack(void *context, uint64_t address, uint64_t *value)
{
	(void)context;
	if (address < STACK || address >= STACK + sizeof(stack) || address % 8 != 0)
		return false;
	*value = stack[(address - STACK) / 8];
	return true;
}

static enum eh2sframe_walk_why find_section(
    void *context, uint64_t pc, const struct eh2sframe_walk_section **section)
{
	*section = context;
	return pc >= TEXT && pc < TEXT + 0x1000 ? EH2SFRAME_WALK_WHY_GOES_ON
						: EH2SFRAME_WALK_WHY_NO_MODULE;
}

int main(void)
{
	static const uint64_t wanted[] = {
	    TEXT + 4, TEXT + 0x44, TEXT + 0x48, TEXT + 0x84};
	struct eh2sframe_walk_section section;
	struct eh2sframe_walk_space space = {.machine = EH2SFRAME_WALK_X86_64,
	    .read = read_stack,
	    .find = find_section,
	    .context = &section};
	struct eh2sframe_walk_frame frame = {.pc = TEXT + 4,
	    .sp = STACK,
	    .fp = STACK + 0x20,
	    .flags = EH2SFRAME_WALK_FRAME_EXACT};
	enum eh2sframe_walk_why why = EH2SFRAME_WALK_WHY_GOES_ON;
	size_t n = 0;

	if (!eh2sframe_walk_open(&section, section_bytes, sizeof(section_bytes), ADDRESS,
		TEXT, TEXT + 0x1000))
		return 2;
	stack[1] = wanted[1];
	stack[4] = STACK + 0x40;
	stack[5] = wanted[2];
	stack[9] = wanted[3];
	while (why == EH2SFRAME_WALK_WHY_GOES_ON && n < 4 && frame.pc == wanted[n]) {
		n++;
		why = eh2sframe_walk_step(&space, &frame);
	}
	printf("%zu frames, %s\n", n, eh2sframe_walk_why_text(why));
	return n == 4 && why == EH2SFRAME_WALK_WHY_OUTERMOST ? 0 : 1;
}
