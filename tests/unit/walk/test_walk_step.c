/* SPDX-License-Identifier: MIT */
/* Steps by rules that the test gives, where random stacks (tests/walk/stacks.c) do not go. */
#include "tests/unit/unit.h"

#include "walk/step.h"

#define TEXT UINT64_C(0x1000)
#define STACK UINT64_C(0x7000)

static struct eh2sframe_extra extra;
static struct eh2sframe_walk_section section;
static uint64_t stack[32];

/* The memory ends with the stack. */
static bool read_stack(void *context, uint64_t address, uint64_t *value)
{
	(void)context;
	if (address < STACK || address >= STACK + sizeof(stack) || address % 8 != 0)
		return false;
	*value = stack[(address - STACK) / 8];
	return true;
}

/* Code from TEXT to 2 * TEXT is known. */
static enum eh2sframe_walk_why find(
    void *context, uint64_t pc, const struct eh2sframe_walk_section **found)
{
	(void)context;
	*found = &section;
	return pc / TEXT == 1 ? EH2SFRAME_WALK_WHY_GOES_ON : EH2SFRAME_WALK_WHY_NO_MODULE;
}

static struct eh2sframe_walk_space space = {
    .machine = EH2SFRAME_WALK_X86_64, .read = read_stack, .find = find};
static struct eh2sframe_walk_frame frame;

/* CFA = SP + 16, RA below it, FP as it is: for TEXT + 0x10 to TEXT + 0x20, without a row. */
static void setup(void)
{
	static const uint8_t empty[] = {0xe2, 0xde, 2, 1, 3, 0, 0xf8, 0, 0, 0, 0, 0, 0, 0,
	    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};

	ck_assert(
	    eh2sframe_walk_open(&section, empty, sizeof(empty), 0x100, TEXT, 2 * TEXT));
	extra = (struct eh2sframe_extra){.start = 0x10,
	    .end = 0x20,
	    .rule = {.cfa = {EH2SFRAME_PLACE_REGISTER, 7, 16},
		.ra = {EH2SFRAME_PLACE_AT_CFA, 0, -8}}};
	eh2sframe_walk_open_extra(&section, &extra, 1, TEXT);
	for (size_t i = 0; i < 32; i++)
		stack[i] = TEXT + i;
	space.machine = EH2SFRAME_WALK_X86_64;
	space.guess = false;
	space.cache = NULL;
	space.signature_mask = 0;
	frame = (struct eh2sframe_walk_frame){.pc = TEXT + 0x10,
	    .sp = STACK + 8,
	    .fp = STACK + 80,
	    .flags = EH2SFRAME_WALK_FRAME_EXACT};
}
UNIT_FIXTURE(setup, NULL)

static enum eh2sframe_walk_why step(void)
{
	return eh2sframe_walk_step(&space, &frame);
}

UNIT(extra_rules)
{
	struct eh2sframe_rule rule;

	ck_assert_int_eq(eh2sframe_walk_look_up(&section, TEXT + 0xf, &rule),
	    EH2SFRAME_WALK_WHY_NO_ROW);
	ck_assert_int_eq(eh2sframe_walk_look_up(&section, TEXT + 0x1f, &rule),
	    EH2SFRAME_WALK_WHY_GOES_ON);
	ck_assert_int_eq(eh2sframe_walk_look_up(&section, TEXT + 0x20, &rule),
	    EH2SFRAME_WALK_WHY_NO_ROW);
	ck_assert_int_eq(step(), EH2SFRAME_WALK_WHY_GOES_ON);
	ck_assert_uint_eq(frame.pc, TEXT + 2);
	ck_assert_uint_eq(frame.sp, STACK + 24);
	ck_assert_uint_eq(frame.fp, STACK + 80);
	ck_assert_uint_eq(frame.flags, 0);
	/* The text ends before the rule does. */
	walk_opening(&section)->text_end = TEXT + 0x18;
	ck_assert_int_eq(eh2sframe_walk_look_up(&section, TEXT + 0x18, &rule),
	    EH2SFRAME_WALK_WHY_NO_ROW);
}

UNIT(callers_are_looked_up_at_the_call)
{
	frame.flags = 0;
	ck_assert_int_eq(step(), EH2SFRAME_WALK_WHY_NO_ROW);
	frame.pc = TEXT + 0x20;
	ck_assert_int_eq(step(), EH2SFRAME_WALK_WHY_GOES_ON);
}

/* CFA = *(SP + 16) + 8, as OpenSSL's assembler has it. */
UNIT(a_cfa_from_memory_plus_a_constant)
{
	uint64_t entries[4][2] = {{0}};
	struct eh2sframe_walk_cache cache = {.entries = entries, .n_entries = 4};

	extra.rule.cfa.place = EH2SFRAME_PLACE_AT_REGISTER;
	extra.rule.cfa_add = 8;
	stack[3] = STACK + 96;
	space.cache = &cache;
	for (int i = 0; i < 2; i++) {
		frame.pc = TEXT + 0x11;
		frame.sp = STACK + 8;
		frame.flags = 0;
		ck_assert_int_eq(step(), EH2SFRAME_WALK_WHY_GOES_ON);
		ck_assert_uint_eq(frame.sp, STACK + 104);
		ck_assert_uint_eq(frame.pc, TEXT + 12);
		/* The second one comes out of the cache. */
		ck_assert_uint_ne(walk_cache_get(&cache, TEXT + 0x10), 0);
		extra.end = extra.start;
	}
	/* With another generation it does not. */
	cache.generation++;
	frame.pc = TEXT + 0x11;
	ck_assert_int_eq(step(), EH2SFRAME_WALK_WHY_NO_ROW);
	/* A rule of a section that can go away is not kept. */
	extra.end = 0x20;
	walk_opening(&section)->id = 0;
	frame.sp = STACK + 8;
	ck_assert_int_eq(step(), EH2SFRAME_WALK_WHY_GOES_ON);
	ck_assert_uint_eq(walk_cache_get(&cache, TEXT + 0x10), 0);
}

/* CFA = *(SP + 8 + R9 * 8) + 8, as OpenSSL's bn_mul_mont has it. */
UNIT(a_cfa_from_an_array)
{
	uint64_t registers[EH2SFRAME_WALK_N_REGISTERS] = {[9] = 2};
	uint64_t entries[4][2] = {{0}};
	struct eh2sframe_walk_cache cache = {.entries = entries, .n_entries = 4};
	struct eh2sframe_walk_frame before;

	extra.rule.cfa.place = EH2SFRAME_PLACE_AT_SUM;
	extra.rule.cfa.offset = 8;
	extra.rule.cfa_add = 8;
	extra.rule.cfa_index = 9;
	extra.rule.cfa_shift = 3;
	space.cache = &cache;
	frame.pc = TEXT + 0x10;
	frame.sp = STACK + 8;
	before = frame;
	ck_assert_int_eq(step(), EH2SFRAME_WALK_WHY_LOST_REGISTER);
	ck_assert_mem_eq(&frame, &before, sizeof(frame));
	frame.registers = registers;
	stack[4] = STACK + 96;
	ck_assert_int_eq(step(), EH2SFRAME_WALK_WHY_GOES_ON);
	ck_assert_uint_eq(frame.sp, STACK + 104);
	ck_assert_uint_eq(frame.pc, TEXT + 12);
	/* A word has no room for it. */
	ck_assert_uint_eq(walk_cache_get(&cache, TEXT + 0x10), 0);
}

UNIT(each_end_has_its_reason)
{
	struct eh2sframe_walk_frame before = frame;

	frame.pc = 3 * TEXT;
	ck_assert_int_eq(step(), EH2SFRAME_WALK_WHY_NO_MODULE);
	frame = before;
	frame.sp = STACK + sizeof(stack) - 8;
	ck_assert_int_eq(step(), EH2SFRAME_WALK_WHY_CUT_OFF);
	frame = before;
	extra.rule.cfa.offset = 0;
	ck_assert_int_eq(step(), EH2SFRAME_WALK_WHY_CONTRADICTION);
	extra.rule.cfa = (struct eh2sframe_location){EH2SFRAME_PLACE_REGISTER, 10, 0};
	ck_assert_int_eq(step(), EH2SFRAME_WALK_WHY_LOST_REGISTER);
	extra.rule.cfa = (struct eh2sframe_location){EH2SFRAME_PLACE_REGISTER, 6, 0};
	frame.flags |= EH2SFRAME_WALK_FRAME_NO_FP;
	ck_assert_int_eq(step(), EH2SFRAME_WALK_WHY_LOST_REGISTER);
	frame = before;
	/* A wrong row finds a 0, too, and a guess does not believe it either. */
	stack[9] = 0;
	for (int guess = 0; guess < 2; guess++) {
		space.guess = guess;
		ck_assert_int_eq(step(), EH2SFRAME_WALK_WHY_ZERO);
		ck_assert_mem_eq(&frame, &before, sizeof(frame));
	}
	space.guess = false;
	extra.rule.ra.offset = -96;
	ck_assert_int_eq(step(), EH2SFRAME_WALK_WHY_CONTRADICTION);
	extra.rule.flags = EH2SFRAME_FLAG_OUTERMOST;
	ck_assert_int_eq(step(), EH2SFRAME_WALK_WHY_OUTERMOST);
	ck_assert_mem_eq(&frame, &before, sizeof(frame));
	for (int why = 0; why <= EH2SFRAME_WALK_WHY_ZERO; why++)
		ck_assert_str_ne(eh2sframe_walk_why_text((enum eh2sframe_walk_why)why),
		    "unknown reason");
}

UNIT(a_lost_fp_is_marked)
{
	extra.rule.fp = (struct eh2sframe_location){EH2SFRAME_PLACE_AT_REGISTER, 3, 0};
	ck_assert_int_eq(step(), EH2SFRAME_WALK_WHY_GOES_ON);
	ck_assert_uint_eq(frame.flags, EH2SFRAME_WALK_FRAME_NO_FP);
}

UNIT(a_guess_is_marked)
{
	space.guess = true;
	frame.pc = TEXT + 0x80;
	stack[10] = STACK + 160;
	stack[11] = TEXT + 0x11;
	ck_assert_int_eq(step(), EH2SFRAME_WALK_WHY_GOES_ON);
	ck_assert_uint_eq(frame.pc, TEXT + 0x11);
	ck_assert_uint_eq(frame.sp, STACK + 96);
	ck_assert_uint_eq(frame.fp, STACK + 160);
	ck_assert_uint_eq(frame.flags, EH2SFRAME_WALK_FRAME_GUESSED);
	/* A rule follows: the next caller is no guess. */
	ck_assert_int_eq(step(), EH2SFRAME_WALK_WHY_GOES_ON);
	ck_assert_uint_eq(frame.flags, 0);
}

/* The caller of a chain's last frame keeps anything in the register, and has a row. */
UNIT(the_last_link_is_a_guess)
{
	struct eh2sframe_walk_frame before = frame;

	space.guess = true;
	before.pc = TEXT + 0x80;
	stack[10] = 1;
	for (int row = 0; row < 2; row++) {
		frame = before;
		stack[11] = TEXT + (row ? 0x11 : 0x81);
		ck_assert_int_eq(
		    step(), row ? EH2SFRAME_WALK_WHY_GOES_ON : EH2SFRAME_WALK_WHY_NO_ROW);
	}
	ck_assert_uint_eq(frame.pc, TEXT + 0x11);
	ck_assert_uint_eq(frame.sp, STACK + 96);
	ck_assert_uint_eq(
	    frame.flags, EH2SFRAME_WALK_FRAME_GUESSED | EH2SFRAME_WALK_FRAME_NO_FP);
}

UNIT(an_implausible_guess_is_none)
{
	struct eh2sframe_walk_frame before = frame;

	space.guess = true;
	before.pc = TEXT + 0x80;
	stack[10] = STACK + 160;
	for (int i = 0; i < 5; i++) {
		frame = before;
		stack[11] = i == 0 ? 5 * TEXT : TEXT;
		stack[10] = i == 1 ? STACK + 8 : STACK + 160;
		frame.fp = i == 2 ? STACK : i == 3 ? STACK + 84 : STACK + 80;
		frame.flags |= i == 4 ? EH2SFRAME_WALK_FRAME_NO_FP : 0;
		ck_assert_int_eq(step(), EH2SFRAME_WALK_WHY_NO_ROW);
	}
}

/* SP is not known of a guess on AArch64. */
UNIT(a_guess_leads_to_fp_alone)
{
	space.machine = EH2SFRAME_WALK_AARCH64;
	walk_opening(&section)->abi = WALK_ABI_AARCH64;
	space.guess = true;
	extra.rule.cfa.reg = 31;
	frame.flags = EH2SFRAME_WALK_FRAME_GUESSED | EH2SFRAME_WALK_FRAME_EXACT;
	stack[10] = 0;
	ck_assert_int_eq(step(), EH2SFRAME_WALK_WHY_GOES_ON);
	ck_assert_uint_eq(frame.pc, TEXT + 11);
	ck_assert_uint_eq(frame.flags, EH2SFRAME_WALK_FRAME_GUESSED);
}

UNIT(a_signature_is_removed)
{
	space.machine = EH2SFRAME_WALK_AARCH64;
	walk_opening(&section)->abi = WALK_ABI_AARCH64;
	extra.rule.cfa = (struct eh2sframe_location){EH2SFRAME_PLACE_REGISTER, 31, 0};
	extra.rule.ra.place = EH2SFRAME_PLACE_SAME;
	space.signature_mask = UINT64_C(0x007f000000000000);
	frame.ra = UINT64_C(0x0051000000001234);
	frame.flags |= EH2SFRAME_WALK_FRAME_RA;
	ck_assert_int_eq(step(), EH2SFRAME_WALK_WHY_GOES_ON);
	ck_assert_uint_eq(frame.pc, 0x1234);
	/* RA in its register is of a first frame alone. */
	frame.pc = TEXT + 0x11;
	ck_assert_int_eq(step(), EH2SFRAME_WALK_WHY_CONTRADICTION);
	extra.rule.cfa.offset = 16;
	ck_assert_int_eq(step(), EH2SFRAME_WALK_WHY_LOST_REGISTER);
	/* An address of a kernel keeps its ones. */
	ck_assert_uint_eq(
	    walk_plain_address(UINT64_C(0xff91000000001234), space.signature_mask),
	    UINT64_C(0xffff000000001234));
}

/* A function of s390x saves RA in its caller's frame before it has one of its own: the
 * caller's SP is the same then. Only a frame that was interrupted can be there. */
UNIT(registers_are_saved_in_the_callers_frame)
{
	space.machine = EH2SFRAME_WALK_S390X;
	walk_opening(&section)->abi = WALK_ABI_S390X;
	extra.rule.cfa = (struct eh2sframe_location){EH2SFRAME_PLACE_REGISTER, 15, 160};
	extra.rule.ra.offset = -48;
	extra.rule.fp = (struct eh2sframe_location){EH2SFRAME_PLACE_AT_CFA, 0, -72};
	stack[15] = 0x1234;
	stack[12] = 0x5678;
	frame.flags = EH2SFRAME_WALK_FRAME_EXACT;
	ck_assert_int_eq(step(), EH2SFRAME_WALK_WHY_GOES_ON);
	ck_assert_uint_eq(frame.pc, 0x1234);
	ck_assert_uint_eq(frame.sp, STACK + 8);
	ck_assert_uint_eq(frame.fp, 0x5678);
	ck_assert(!(frame.flags & EH2SFRAME_WALK_FRAME_EXACT));
	/* A frame that has called another one has memory of its own. */
	frame.pc = TEXT + 0x11;
	ck_assert_int_eq(step(), EH2SFRAME_WALK_WHY_CONTRADICTION);
	frame.pc = TEXT + 0x10;
	frame.flags = EH2SFRAME_WALK_FRAME_EXACT;
	extra.rule.cfa.offset = 152;
	ck_assert_int_eq(step(), EH2SFRAME_WALK_WHY_CONTRADICTION);
}

/* Offsets at the limits of a word, and behind them. */
UNIT(words_hold_what_fits)
{
	static const int32_t cfa[] = {
	    0, -1, (1 << 21) - 1, -(1 << 21), 1 << 21, INT32_MIN};
	static const int32_t saved[] = {
	    0, -8, INT16_MAX, INT16_MIN, INT16_MAX + 1, INT32_MAX};
	struct eh2sframe_rule rule = extra.rule, got;
	uint64_t word;

	for (int i = 0; i < 6; i++) {
		for (int j = 0; j < 6; j++) {
			rule.cfa.offset = cfa[i];
			rule.ra.offset = saved[j];
			rule.fp = (struct eh2sframe_location){
			    EH2SFRAME_PLACE_AT_CFA, 0, saved[5]};
			ck_assert(!walk_pack(EH2SFRAME_WALK_X86_64, &rule, &word));
			rule.fp.offset = saved[j];
			ck_assert(walk_pack(EH2SFRAME_WALK_X86_64, &rule, &word) ==
				  (i < 4 && j < 4));
			if (i >= 4 || j >= 4)
				continue;
			got = walk_unpack(EH2SFRAME_WALK_X86_64, word);
			ck_assert_int_eq(got.cfa.offset, cfa[i]);
			ck_assert_int_eq(got.ra.offset, saved[j]);
			ck_assert_int_eq(got.fp.offset, saved[j]);
		}
	}
}
