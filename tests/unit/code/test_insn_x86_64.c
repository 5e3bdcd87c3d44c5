/* SPDX-License-Identifier: MIT */
/* x86-64 instructions as their effects: bytes from an assembler, and what no bytes may do. */
#include <stdio.h>
#include <string.h>

#include "code/insn.h"
#include "insn_x86_64_cases.h"
#include "tests/unit/code/effects_text.h"
#include "unit.h"

#define DECODES code_can_decode(CODE_X86_64)

/* Bytes from pairs of digits. */
static size_t bytes_of(const char *text, uint8_t code[15])
{
	size_t n = strlen(text) / 2;

	ck_assert_uint_le(n, 15);
	for (size_t i = 0; i < n; i++) {
		unsigned int byte;

		ck_assert_int_eq(sscanf(text + 2 * i, "%2x", &byte), 1);
		code[i] = (uint8_t)byte;
	}
	return n;
}

static const char *insn_text(const char *bytes)
{
	static char text[1024];
	uint8_t code[15];
	const size_t size = bytes_of(bytes, code);
	struct code_insn insn;
	FILE *out;
	size_t n;

	if (!code_insn_read(CODE_X86_64, code, size, PC, &insn))
		return "none";
	ck_assert_uint_eq(insn.length, size);
	memset(text, 0, sizeof(text));
	out = fmemopen(text, sizeof(text), "w");
	ck_assert_ptr_nonnull(out);
	for (size_t i = 0; i < insn.n_effects; i++)
		effect_text(out, &insn.effects[i]);
	if (insn.writes)
		fprintf(out, "writes %#x; ", (unsigned int)insn.writes);
	if (insn.unsure)
		fprintf(out, "unsure %#x; ", (unsigned int)insn.unsure);
	control_text(out, &insn);
	fprintf(out, "%s%s", insn.ends_compare ? "flags; " : "",
	    insn.filler ? "filler; " : "");
	fclose(out);
	n = strlen(text);
	text[n < 2 ? 0 : n - 2] = 0;
	return text;
}

UNIT_LOOP(effects, 0, DECODES ? sizeof(cases) / sizeof(cases[0]) : 0)
{
	const char *text = insn_text(cases[_i].bytes);

	ck_assert_msg(!strcmp(text, cases[_i].text), "%s: \"%s\", not \"%s\"",
	    cases[_i].name, text, cases[_i].text);
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

static bool is_reg(uint8_t reg, bool or_none)
{
	return reg <= CODE_SCRATCH || (or_none && reg == CODE_NO_REG);
}

static void check_effect(const struct code_effect *effect, const char *name)
{
	const bool none = effect->kind == CODE_STORE;
	const uint8_t width = effect->width;

	ck_assert_msg(is_reg(effect->dst, none) && is_reg(effect->base, true) &&
			  is_reg(effect->index, true) && effect->index_bits &&
			  effect->index_bits <= 64 && effect->shift < 64,
	    "%s", name);
	if (effect->kind == CODE_LOAD || (none && effect->dst != CODE_NO_REG))
		ck_assert_msg(
		    width == 1 || width == 2 || width == 4 || width == 8, "%s", name);
	else if (effect->kind <= CODE_ALIGN)
		ck_assert_msg(width == 4 || width == 8, "%s", name);
	if (effect->kind == CODE_ALIGN)
		ck_assert_msg(effect->off < 0 && !(-(uint64_t)effect->off &
						     (-(uint64_t)effect->off - 1)),
		    "%s", name);
	if (effect->kind == CODE_BOUND)
		ck_assert_msg(effect->off >= 0, "%s", name);
}

static void check_insn(const struct code_insn *insn, const char *name)
{
	uint64_t told = 0;

	ck_assert_msg(insn->n_effects <= CODE_MAX_EFFECTS, "%s", name);
	ck_assert_msg(insn->length && insn->length <= 15, "%s", name);
	ck_assert_msg(insn->control <= CODE_STOPS, "%s", name);
	ck_assert_msg(insn->condition == CODE_IF_OTHER || insn->control == CODE_BRANCHES,
	    "%s", name);
	ck_assert_msg(!((insn->writes | insn->unsure) >> 16), "%s", name);
	for (size_t i = 0; i < insn->n_effects; i++) {
		const struct code_effect *effect = &insn->effects[i];

		check_effect(effect, name);
		if (effect->kind != CODE_STORE && effect->kind != CODE_COMPARE)
			told |= UINT64_C(1) << effect->dst;
	}
	/* Or what an effect tells would be lost again. */
	ck_assert_msg(!(told & insn->writes), "%s", name);
}

/* Whatever the bytes are, what they give is well formed. */
UNIT_LOOP(total, 0, DECODES)
{
	/* Random bytes alone seldom have these at their start. */
	static const uint8_t starts[] = {0x0f, 0x48, 0x62, 0x66, 0x67, 0xc4, 0xc5, 0xf3};
	uint32_t random = 1;

	for (size_t i = 0; i < 200000; i++) {
		uint8_t code[15];
		char name[sizeof(code) * 2 + 1];
		struct code_insn insn;

		for (size_t k = 0; k < sizeof(code); k++) {
			random = random * 1664525 + 1013904223;
			code[k] = (uint8_t)(random >> 24);
		}
		if (i % 2)
			code[0] = starts[i / 2 % sizeof(starts)];
		for (size_t k = 0; k < sizeof(code); k++)
			snprintf(name + 2 * k, 3, "%02x", (unsigned int)code[k]);
		if (code_insn_read(CODE_X86_64, code, sizeof(code), i * 4, &insn))
			check_insn(&insn, name);
		else
			ck_assert_msg(!insn.n_effects && !insn.control && !insn.length,
			    "%s is refused, and told in part", name);
	}
}

/* In a test's place where the decoder is not there. */
UNIT_LOOP(not_decoded, 0, !DECODES)
{
	fputs("# this build does not decode x86-64\n", stderr);
}
