/* SPDX-License-Identifier: MIT */
/* s390x instructions as their effects: known ones, and whatever bytes there are. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/code.h"
#include "code/insn.h"
#include "unit.h"
#include "insn_s390x_cases.h"

enum { PC = 0x1000 };

static char text[2048];

static void __attribute__((format(printf, 1, 2))) put(const char *format, ...)
{
	size_t at = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + at, sizeof(text) - at, format, args);
	va_end(args);
}

static void put_register(unsigned int reg)
{
	static const uint8_t fpr[16] = {
	    0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15};

	if (reg < 16)
		put("r%u", reg);
	else if (reg < 32)
		put("f%u", (unsigned int)fpr[reg - 16]);
	else
		put(reg == CODE_SCRATCH ? "t" : "?");
}

/* base, index and offset, as in "r1+u32:r2<<3-8". */
static void put_sum(const struct code_effect *effect, char sign)
{
	const char *plus = "";

	if (effect->base != CODE_NO_REG) {
		put_register(effect->base);
		plus = "+";
	}
	if (effect->index != CODE_NO_REG) {
		put("%s", sign == '-' ? "-" : plus);
		if (effect->index_bits != 64)
			put("%c%u:", effect->index_signed ? 's' : 'u',
			    (unsigned int)effect->index_bits);
		put_register(effect->index);
		if (effect->shift)
			put("<<%u", (unsigned int)effect->shift);
		plus = "+";
	}
	if (effect->off || !*plus)
		put("%s%#llx", effect->off < 0 ? "-" : plus,
		    effect->off < 0 ? -(unsigned long long)effect->off
				    : (unsigned long long)effect->off);
}

static void put_effect(const struct code_effect *effect)
{
	const unsigned int width = effect->width;

	if (effect->kind == CODE_STORE) {
		put("%u[", width);
		put_sum(effect, '+');
		put("]=");
		put_register(effect->dst);
	} else {
		put_register(effect->dst);
	}
	switch ((enum code_effect_kind)effect->kind) {
	case CODE_SET:
	case CODE_SUBTRACT:
		put("=");
		put_sum(effect, effect->kind == CODE_SET ? '+' : '-');
		break;
	case CODE_ALIGN:
		put("=");
		put_register(effect->base);
		put("&-%#llx", -(unsigned long long)effect->off);
		break;
	case CODE_BOUND:
		put("<=%#llx", (unsigned long long)effect->off);
		break;
	case CODE_LOAD:
		put("=%s%u[", effect->load_signed ? "s" : "", width);
		put_sum(effect, '+');
		put("]");
		break;
	case CODE_COMPARE:
		put("?%u:", width);
		put_sum(effect, '+');
		break;
	case CODE_STORE:
	case CODE_SIGN:
	case CODE_AUTHENTICATE:
		break;
	}
	put("; ");
}

static void put_control(const struct code_insn *insn)
{
	static const char *const controls[] = {[CODE_JUMPS] = "jumps",
	    [CODE_BRANCHES] = "branches",
	    [CODE_JUMPS_TO] = "jumps",
	    [CODE_BRANCHES_TO] = "branches",
	    [CODE_CALLS] = "calls",
	    [CODE_CALLS_TO] = "calls",
	    [CODE_RETURNS] = "returns",
	    [CODE_STOPS] = "stops"};
	static const char *const conditions[] = {
	    "", " ==", " !=", " >", " >=", " <", " <="};

	if (insn->control == CODE_CONTINUES)
		return;
	put("%s", controls[insn->control]);
	if (insn->via != CODE_NO_REG) {
		put(" ");
		put_register(insn->via);
	} else if (insn->control != CODE_STOPS) {
		put(" %#llx", (unsigned long long)insn->target);
	}
	put("%s; ", conditions[insn->condition]);
}

static void put_mask(const char *name, uint32_t mask)
{
	if (!mask)
		return;
	put("%s", name);
	if (mask == UINT32_MAX)
		put(" all");
	for (unsigned int reg = 0; reg < 32 && mask != UINT32_MAX; reg++)
		if (mask >> reg & 1) {
			put(" ");
			put_register(reg);
		}
	put("; ");
}

static const char *insn_text(const void *code, size_t size, uint8_t *length)
{
	struct code_insn insn;

	text[0] = 0;
	*length = 0;
	if (!code_insn_read(CODE_S390X, code, size, PC, &insn))
		return "none";
	*length = insn.length;
	ck_assert_uint_le(insn.n_effects, CODE_MAX_EFFECTS);
	for (uint8_t i = 0; i < insn.n_effects; i++)
		put_effect(&insn.effects[i]);
	put_mask("writes", insn.writes);
	put_mask("unsure", insn.unsure);
	put_control(&insn);
	if (insn.ends_compare)
		put("cc; ");
	if (insn.filler)
		put("filler; ");
	if (text[0])
		text[strlen(text) - 2] = 0;
	return text;
}

enum { N_KNOWN = sizeof(known) / sizeof(known[0]) };

UNIT_LOOP(knows, 0, N_KNOWN)
{
	uint8_t length, shorter;
	const char *got = insn_text(known[_i].bytes, known[_i].size, &length);

	ck_assert_msg(strcmp(got, known[_i].expected) == 0, "%s: %s instead of %s",
	    known[_i].name, got, known[_i].expected);
	/* An instruction that is cut off is none. */
	for (uint8_t size = 1; size < length; size++)
		ck_assert_str_eq(insn_text(known[_i].bytes, size, &shorter), "none");
}

/* Of any bytes: as long as the first two bits say, and it names what there is. */
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
		ck_assert_uint_eq(insn.length, sizes[code[0] >> 6]);
		ck_assert_uint_le(insn.n_effects, CODE_MAX_EFFECTS);
		ck_assert_uint_le(insn.control, CODE_STOPS);
		ck_assert(insn.control == CODE_BRANCHES ||
			  insn.control == CODE_BRANCHES_TO ||
			  insn.condition == CODE_IF_OTHER);
		ck_assert(
		    (insn.via != CODE_NO_REG) ==
		    (insn.control == CODE_JUMPS_TO || insn.control == CODE_BRANCHES_TO ||
			insn.control == CODE_CALLS_TO || insn.control == CODE_RETURNS));
		for (uint8_t i = 0; i < insn.n_effects; i++) {
			const struct code_effect *effect = &insn.effects[i];

			ck_assert(
			    effect->dst < CODE_N_REGS ||
			    (effect->kind == CODE_STORE && effect->dst == CODE_NO_REG));
			ck_assert(
			    effect->base < CODE_N_REGS || effect->base == CODE_NO_REG);
			ck_assert(
			    effect->index < CODE_N_REGS || effect->index == CODE_NO_REG);
			ck_assert_uint_gt(effect->width, 0);
			ck_assert_uint_lt(effect->shift, 64);
			ck_assert(effect->index_bits >= 1 && effect->index_bits <= 64);
			ck_assert(effect->kind != CODE_BOUND || effect->off >= 0);
		}
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
