/* SPDX-License-Identifier: MIT */
/*
 * Instructions that the pass over Go's functions takes by their brief form leave the state that
 * code_insn_read and go_state_step give: of all operation codes, with random operands, in random states.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "go/go_state.h"
#include "tests/unit/unit.h"

enum { CODE_SIZE = 512, BEFORE = 32, ROUNDS = 600000, START = 0x10000 };
enum { FUNC_SIZE = BEFORE + CODE_SIZE };

static uint64_t seed;
static unsigned int n_taken, n_told;

static uint32_t random_below(uint32_t n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((seed >> 33) % n);
}

static void put_x86(uint8_t *code)
{
	static const uint8_t prefixes[] = {0x66, 0xf2, 0xf3, 0x64};
	static const uint8_t usual[] = {0x89, 0x8b, 0x8d, 0x01, 0x29, 0x31, 0x83, 0x81,
	    0xc7, 0xb8, 0x75, 0xe8, 0x90, 0x88, 0xff, 0xeb, 0xe9, 0xc3, 0x55};
	uint8_t *at = code;

	for (int i = 0; i < 32; i++)
		code[i] = (uint8_t)random_below(256);
	if (!random_below(4))
		*at++ = prefixes[random_below(4)];
	if (random_below(3))
		*at++ = (uint8_t)(0x40 + random_below(16));
	if (!random_below(3))
		*at++ = 0x0f;
	*at++ = (uint8_t)(random_below(2) ? usual[random_below(sizeof(usual))]
					  : random_below(256));
	/* Memory at SP with a small distance. */
	if (random_below(2)) {
		*at = (uint8_t)(0x44 | (*at & 0x38));
		at[1] = 0x24;
		at[2] = (uint8_t)random_below(48);
	}
}

static void put_a64(uint8_t *code)
{
	static const uint32_t classes[] = {0x10000000, 0x11000000, 0x12000000, 0x12800000,
	    0x13000000, 0x0a000000, 0x0b000000, 0x1a000000, 0x1b000000, 0x39000000,
	    0x38000000, 0x38200800, 0x28000000, 0x29000000, 0x14000000, 0x94000000,
	    0x54000000, 0x34000000, 0x36000000, 0x1e200000, 0x0e002c00, 0xd65f03c0,
	    0xd503201f, 0xd63f0000, 0x2c000000, 0x3d000000};
	uint32_t word = classes[random_below(sizeof(classes) / 4)];

	word |= random_below(UINT32_MAX) & (word >> 30 ? 0x000003ff : 0xe0ffffff);
	if (!random_below(3))
		word = (word & ~UINT32_C(0x3e0)) | 31 << 5;
	if (!random_below(4))
		word = (word & ~UINT32_C(31)) | (29 + random_below(3));
	/* A small offset. */
	if (random_below(2))
		word &= ~UINT32_C(0x3f0000);
	if (!random_below(8))
		word = random_below(UINT32_MAX) * 2 + random_below(2);
	for (int i = 0; i < 4; i++)
		code[i] = (uint8_t)(word >> i * 8);
}

static struct go_saved random_saved(uint8_t reg, uint8_t below)
{
	struct go_saved saved = {.reg = reg, .below = below};

	saved.clean = random_below(2);
	saved.touched = random_below(2);
	saved.has_slot = random_below(2);
	saved.no_slot = !random_below(8);
	if (saved.has_slot)
		saved.slot = -8 * (int64_t)(1 + random_below(8));
	return saved;
}

static struct go_state random_state(const struct go_code *code)
{
	const struct code_abi *abi = code_abi(code->machine);
	const bool a64 = abi->ra != CODE_NO_REG;
	struct go_state state = {.code = code,
	    .abi = abi,
	    .pc = START + BEFORE,
	    .end = START + FUNC_SIZE,
	    .split_pc = UINT64_MAX,
	    .behind_call = random_below(2)};

	state.sp = abi->sp_off - code->levels->list[0].below;
	state.fp = random_saved(abi->fp, a64 ? 8 : 0);
	state.ra = random_saved(abi->ra, 0);
	for (uint8_t reg = 0; reg < 32; reg++)
		if (!random_below(3))
			go_state_set_reg(&state, reg,
			    random_below(2)
				? (struct go_value){GO_CFA,
				      -8 * (int64_t)random_below(12)}
				: (struct go_value){GO_CONST, START + random_below(256)});
	return state;
}

static bool same_saved(const struct go_saved *a, const struct go_saved *b)
{
	return a->clean == b->clean && a->touched == b->touched &&
	       a->changed == b->changed && a->has_slot == b->has_slot &&
	       a->hit == b->hit && (!a->has_slot || a->slot == b->slot);
}

static bool same_state(const struct go_state *a, const struct go_state *b)
{
	const uint64_t scratch = UINT64_C(1) << CODE_SCRATCH;

	if ((a->known | scratch) != (b->known | scratch) || a->why != b->why ||
	    a->data_start != b->data_start || a->data_end != b->data_end)
		return false;
	for (uint8_t reg = 0; reg < CODE_SCRATCH; reg++)
		if (a->known >> reg & 1 && (a->regs[reg].kind != b->regs[reg].kind ||
					       a->regs[reg].off != b->regs[reg].off))
			return false;
	return same_saved(&a->fp, &b->fp) &&
	       (a->ra.reg == CODE_NO_REG || same_saved(&a->ra, &b->ra));
}

static void complain(const char *what, const uint8_t *code)
{
	char text[3 * 16 + 1] = "";

	for (int i = 0; i < 16; i++)
		snprintf(text + 3 * i, 4, " %02x", code[i]);
	ck_abort_msg("%s:%s", what, text);
}

/* The instruction changes SP or a rule, goes elsewhere, or is as its brief form says. */
static void check_taken(
    const struct go_state *before, const struct go_state *quick, const uint8_t *code)
{
	const struct go_code *func = before->code;
	struct go_state slow = *before;
	struct code_insn insn;
	bool call;

	if (!code_insn_read(
		func->machine, code, before->end - before->pc, before->pc, &insn) ||
	    before->pc + insn.length != quick->pc)
		complain("another length", code);
	call = insn.control == CODE_CALLS || insn.control == CODE_CALLS_TO;
	if (!call && insn.control != CODE_CONTINUES && insn.control != CODE_BRANCHES)
		complain("it goes elsewhere", code);
	go_state_step(&slow, &insn);
	if (!same_state(&slow, quick))
		complain("another state", code);
	if (go_state_reg(&slow, slow.abi->sp).kind != GO_CFA ||
	    go_state_reg(&slow, slow.abi->sp).off != before->sp)
		complain("it moves SP", code);
	/* The return address of AArch64 changes when it is saved only. */
	if (go_state_has_slot(&slow, &slow.fp) !=
		go_state_has_slot(before, &before->fp) ||
	    (call && slow.ra.reg != CODE_NO_REG &&
		!go_state_has_slot(before, &before->ra)))
		complain("it changes a rule", code);
	if (quick->behind_call != (call || (before->behind_call && insn.filler)))
		complain("behind a call", code);
	if (insn.control == CODE_BRANCHES && insn.target >= START &&
	    insn.target < before->end) {
		if (go_levels_at(func->levels, insn.target) !=
		    func->levels->list[0].below)
			complain("a branch to another level", code);
		if (quick->reached != insn.target)
			complain("a branch is not noted", code);
	} else if (quick->reached) {
		complain("no branch, but noted", code);
	}
}

/* What is told of the instruction that was not taken. */
static void check_told(
    const struct go_state *before, const struct code_insn *told, const uint8_t *code)
{
	struct go_state one = *before, other = *before;
	struct code_insn insn;
	bool calls;

	if (!code_insn_read(
		before->code->machine, code, before->end - before->pc, before->pc, &insn))
		complain("none is told", code);
	calls = insn.control == CODE_CALLS || insn.control == CODE_CALLS_TO;
	if (insn.length != told->length || insn.control != told->control ||
	    insn.filler != told->filler ||
	    (insn.target != told->target &&
		(insn.control == CODE_JUMPS || insn.control == CODE_BRANCHES ||
		    insn.control == CODE_CALLS)))
		complain("told otherwise", code);
	go_state_step(&one, told);
	go_state_step(&other, &insn);
	if (!same_state(&one, &other))
		complain("told to another state", code);
	/* Quiet is what needs no new row. */
	if (!calls && code_insn_is_quiet(told, one.abi) &&
	    !code_insn_is_quiet(&insn, one.abi) && !same_saved(&before->fp, &other.fp))
		complain("told to be quiet", code);
}

static void one_round(enum code_machine machine)
{
	uint8_t bytes[BEFORE + CODE_SIZE] = {0};
	struct go_level list[3] = {
	    {START, 0}, {START + BEFORE + 32, 0}, {START + 256, 0}};
	const struct go_levels levels = {list, 3, 3, START + FUNC_SIZE};
	const struct go_code code = {machine, bytes, &levels, START};
	struct go_state before, quick;
	struct code_insn told;
	bool is_told;

	list[0].below = list[2].below = 8 * (int64_t)random_below(8);
	list[1].below = list[0].below + 8;
	if (machine == CODE_X86_64)
		put_x86(bytes + BEFORE);
	else
		put_a64(bytes + BEFORE);
	before = random_state(&code);
	/* One instruction: what follows is at the end of the function or of its level. */
	if (random_below(2))
		list[1].pc = before.pc + 1 + random_below(12);
	else if (random_below(2))
		before.end = before.pc + 1 + random_below(12);
	go_state_begin(&before);
	quick = before;
	is_told = go_quick_step_or_tell(&quick, &told);
	if (quick.pc != before.pc) {
		n_taken++;
		check_taken(&before, &quick, bytes + BEFORE);
	} else if (is_told) {
		n_told++;
		check_told(&before, &told, bytes + BEFORE);
	}
}

static void rounds(enum code_machine machine)
{
	seed = 1;
	n_taken = n_told = 0;
	for (int i = 0; i < ROUNDS; i++)
		one_round(machine);
	ck_assert_uint_gt(n_taken, ROUNDS / 8);
	ck_assert_uint_gt(n_told, ROUNDS / 20);
}

START_TEST(x86_64)
{
	if (code_can_decode(CODE_X86_64))
		rounds(CODE_X86_64);
}
END_TEST

START_TEST(aarch64)
{
	rounds(CODE_AARCH64);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("go_quick");
	TCase *tcase = tcase_create("go_quick");

	tcase_add_test(tcase, x86_64);
	tcase_add_test(tcase, aarch64);
	suite_add_tcase(suite, tcase);
	return unit_main(suite);
}
