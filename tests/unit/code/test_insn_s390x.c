/* SPDX-License-Identifier: MIT */
/* s390x instructions as their effects: known ones, and whatever bytes there are. */
#include <stdlib.h>

#include "code/state.h"
#include "insn_s390x_cases.h"
#include "tests/unit/code/effects_text.h"

UNIT_EACH(knows, known)
{
	uint8_t length, shorter;
	const char *got = insn_text(CODE_S390X, known[_i].bytes, known[_i].size, &length);

	ck_assert_msg(strcmp(got, known[_i].expected) == 0, "%s: %s instead of %s",
	    known[_i].name, got, known[_i].expected);
	/* An instruction that is cut off is none. */
	for (uint8_t size = 1; size < length; size++)
		ck_assert_str_eq(
		    insn_text(CODE_S390X, known[_i].bytes, size, &shorter), "none");
}

/* Any bytes must give an instruction as long as the first two bits say, with registers that exist. */
UNIT(total)
{
	static const uint8_t sizes[4] = {2, 4, 4, 6};

	srandom(1);
	for (uint32_t round = 0; round < 1u << 17; round++) {
		uint8_t code[12];
		struct code_insn insn;

		for (size_t i = 0; i < sizeof(code); i++)
			code[i] = (uint8_t)(random() >> 8);
		code[0] = (uint8_t)round;
		code[1] = (uint8_t)(round >> 8);
		code[5] = (uint8_t)(round >> 9);
		if (!code_insn_read(CODE_S390X, code, sizeof(code), PC, &insn))
			continue;
		check_insn(&insn, code, sizeof(code));
		ck_assert_uint_eq(insn.length, sizes[code[0] >> 6]);
		ck_assert(insn.control == CODE_BRANCHES ||
			  insn.control == CODE_BRANCHES_TO ||
			  insn.condition == CODE_IF_OTHER);
		ck_assert(
		    (insn.via != CODE_NO_REG) ==
		    (insn.control == CODE_JUMPS_TO || insn.control == CODE_BRANCHES_TO ||
			insn.control == CODE_CALLS_TO || insn.control == CODE_RETURNS ||
			(insn.system && !insn.target)));
		ck_assert(insn.system == (code[0] == 0x0a));
		ck_assert(!insn.system || insn.target == code[1]);
	}
}

/* The instruction that is executed is not in sight. */
UNIT(executes)
{
	static const uint8_t exrl[] = {0xc6, 0x10, 0xff, 0xff, 0xff, 0x80};
	static const uint8_t mvc[] = {0xd2, 0x03, 0xf0, 0xa0, 0x20, 0x00};
	static const uint8_t clc[] = {0xd5, 0x03, 0xf0, 0xa0, 0x20, 0x00};
	static const uint8_t lgr[] = {0xb9, 0x04, 0x00, 0xf2, 0x07, 0x00};
	struct code_insn insn, other;

	ck_assert(code_insn_read(CODE_S390X, exrl, sizeof(exrl), PC, &insn));
	ck_assert(insn.executes);
	ck_assert_uint_eq(insn.target, PC - 0x100);
	ck_assert_uint_eq(insn.unsure, UINT32_MAX);
	other = insn;
	code_insn_execute(CODE_S390X, lgr, &other);
	ck_assert_uint_eq(other.unsure, UINT32_MAX);
	other = insn;
	code_insn_execute(CODE_S390X, clc, &other);
	ck_assert_uint_eq(other.unsure, 0);
	ck_assert_uint_eq(other.n_effects, 0);
	code_insn_execute(CODE_S390X, mvc, &insn);
	ck_assert_uint_eq(insn.unsure, 0);
	ck_assert_uint_eq(insn.n_effects, 1);
	ck_assert_uint_eq(insn.effects[0].kind, CODE_STORE);
	ck_assert_uint_eq(insn.effects[0].base, 15);
	ck_assert_uint_eq(insn.effects[0].width, 4);
}

/* The return address after it is saved at an offset from SP, a call, and a load from there. */
static struct code_value ra_after_call(uint8_t offset)
{
	const uint8_t code[] = {0xe3, 0xe0, 0xf0, offset, 0x00, 0x24, /* stg %r14 */
	    0xc0, 0xe5, 0x00, 0x00, 0x10, 0x00,			      /* brasl %r14 */
	    0xe3, 0xe0, 0xf0, offset, 0x00, 0x04};		      /* lg %r14 */
	const struct code_abi *abi = code_abi(CODE_S390X);
	struct code_state state;

	code_state_entry(abi, &state);
	for (size_t at = 0; at < sizeof(code); at += 6) {
		struct code_insn insn;

		ck_assert(code_insn_read(
		    CODE_S390X, code + at, sizeof(code) - at, PC + at, &insn));
		code_state_step(&state, abi, PC + at, &insn);
	}
	return state.regs[14];
}

/* A callee may have saved a register where its caller has made room, or nothing. */
UNIT(room_for_a_callee)
{
	ck_assert_uint_eq(ra_after_call(24).kind, CODE_UNKNOWN);
	ck_assert_uint_eq(ra_after_call(168).kind, CODE_RA);
}
