/* SPDX-License-Identifier: MIT */
/* x86-64 instructions as their effects: bytes from an assembler, and what no bytes may do. */
#include "insn_x86_64_cases.h"
#include "tests/unit/code/effects_text.h"

#define DECODES code_can_decode(CODE_X86_64)

UNIT_LOOP(effects, 0, DECODES ? sizeof(cases) / sizeof(cases[0]) : 0)
{
	uint8_t code[15], length;
	const size_t size = unit_bytes(cases[_i].bytes, code, sizeof(code));
	const char *text = insn_text(CODE_X86_64, code, size, &length);

	ck_assert_msg(!strcmp(text, cases[_i].text), "%s: \"%s\", not \"%s\"",
	    cases[_i].name, text, cases[_i].text);
	ck_assert_uint_eq(length, strcmp(text, "none") ? size : 0);
}

/* The first bytes of an instruction are none. */
UNIT_LOOP(cut_off, 0, DECODES)
{
	const uint8_t lea[] = {0x48, 0x8d, 0xa4, 0x24, 0x80, 0xff, 0xff, 0xff};
	struct code_insn insn;

	for (uint64_t size = 1; size < sizeof(lea); size++)
		ck_assert(!code_insn_read(CODE_X86_64, lea, size, 0, &insn));
	ck_assert(code_insn_read(CODE_X86_64, lea, sizeof(lea), 0, &insn));
	ck_assert_uint_eq(insn.length, sizeof(lea));
}

/* Whatever the bytes are, what they give is well formed. */
UNIT_LOOP(total, 0, DECODES)
{
	/* Random bytes alone seldom have these at their start. */
	static const uint8_t starts[] = {0x0f, 0x48, 0x62, 0x66, 0x67, 0xc4, 0xc5, 0xf3};
	uint32_t random = 1;

	for (size_t i = 0; i < 200000; i++) {
		uint8_t code[15];
		struct code_insn insn;

		for (size_t k = 0; k < sizeof(code); k++) {
			random = random * 1664525 + 1013904223;
			code[k] = (uint8_t)(random >> 24);
		}
		if (i % 2)
			code[0] = starts[i / 2 % sizeof(starts)];
		if (!code_insn_read(CODE_X86_64, code, sizeof(code), i * 4, &insn)) {
			ck_assert(!insn.n_effects && !insn.control && !insn.length);
			continue;
		}
		check_insn(&insn, code, sizeof(code));
		ck_assert(
		    insn.condition == CODE_IF_OTHER || insn.control == CODE_BRANCHES);
		ck_assert(!((insn.writes | insn.unsure) >> 16));
	}
}

/* In a test's place where the decoder is not there. */
UNIT_LOOP(not_decoded, 0, !DECODES)
{
	fputs("# this build does not decode x86-64\n", stderr);
}
