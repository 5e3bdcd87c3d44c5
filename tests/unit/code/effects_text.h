/* SPDX-License-Identifier: MIT */
/* The effects of an instruction as text, for tables of what is expected. */
#ifndef TESTS_UNIT_CODE_EFFECTS_TEXT_H
#define TESTS_UNIT_CODE_EFFECTS_TEXT_H

#include <stdio.h>
#include <string.h>

#include "code/code.h"
#include "code/insn.h"
#include "tests/unit/unit.h"

/* Registers by number; s is the scratch register, ? is any value. */
static const char *reg_text(uint8_t reg)
{
	static char texts[4][4];
	static size_t n;

	n = (n + 1) % 4;
	snprintf(texts[n], sizeof(texts[n]), "%u", (unsigned int)reg);
	return reg == CODE_NO_REG ? "?" : reg == CODE_SCRATCH ? "s" : texts[n];
}

/* "1+2:32s<<3+16": base, index, and of which bits. */
static void sum_text(FILE *out, const struct code_effect *effect)
{
	const char *plus = effect->kind == CODE_SUBTRACT ? "-" : "+";

	if (effect->base != CODE_NO_REG)
		fprintf(out, "%s", reg_text(effect->base));
	if (effect->index != CODE_NO_REG) {
		fprintf(out, "%s%s", plus, reg_text(effect->index));
		if (effect->index_bits != 64)
			fprintf(out, ":%u%s", (unsigned int)effect->index_bits,
			    effect->index_signed ? "s" : "");
		if (effect->shift)
			fprintf(out, "<<%u", (unsigned int)effect->shift);
	}
	if (effect->off || (effect->base & effect->index) == CODE_NO_REG)
		fprintf(out, "%+lld", (long long)effect->off);
}

static void effect_text(FILE *out, const struct code_effect *effect)
{
	const char *dst = reg_text(effect->dst);

	switch ((enum code_effect_kind)effect->kind) {
	case CODE_SET:
	case CODE_SUBTRACT:
		fprintf(out, "%s=", dst);
		sum_text(out, effect);
		break;
	case CODE_ALIGN:
		fprintf(out, "%s=%s&%lld", dst, reg_text(effect->base),
		    (long long)effect->off);
		break;
	case CODE_BOUND:
		fprintf(out, "%s<=%lld", dst, (long long)effect->off);
		break;
	case CODE_LOAD:
		fprintf(out, "%s=%s[", dst, effect->load_signed ? "signed" : "");
		sum_text(out, effect);
		fputc(']', out);
		break;
	case CODE_STORE:
		fputc('[', out);
		sum_text(out, effect);
		fprintf(out, "]=%s", dst);
		break;
	case CODE_COMPARE:
		fprintf(out, "compare %s,", dst);
		if (effect->index != CODE_NO_REG)
			fprintf(out, "x%s", reg_text(effect->index));
		else
			fprintf(out, "%lld", (long long)effect->off);
		break;
	case CODE_SIGN:
	case CODE_AUTHENTICATE:
		fprintf(out, "%s %s by %s", effect->kind == CODE_SIGN ? "sign" : "auth",
		    dst, reg_text(effect->base));
		break;
	}
	if (effect->width != 8)
		fprintf(out, " w%u", (unsigned int)effect->width);
	fputs("; ", out);
}

enum { PC = 0x10000 };

static void control_text(FILE *out, const struct code_insn *insn)
{
	static const char *const controls[] = {"", "jump", "branch", "jump to",
	    "branch to", "call", "call to", "return", "stop"};
	static const char *const conditions[] = {
	    "", " =", " !=", " >", " >=", " <", " <="};

	if (insn->control == CODE_CONTINUES)
		return;
	fprintf(out, "%s%s", controls[insn->control], conditions[insn->condition]);
	if (insn->via != CODE_NO_REG)
		fprintf(out, " %s", reg_text(insn->via));
	else if (insn->target)
		fprintf(out, " %+lld", (long long)(insn->target - PC));
	fputs("; ", out);
}

/* All that is told of the instruction, "none" where it is none. Its length is 0 then. */
static const char *insn_text(
    enum code_machine machine, const void *code, size_t size, uint8_t *length)
{
	static char text[1024];
	struct code_insn insn;
	FILE *out;
	size_t n;

	*length = 0;
	if (!code_insn_read(machine, code, size, PC, &insn))
		return "none";
	*length = insn.length;
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

/* Any bytes must give a well-formed answer. */
static void check_insn(const struct code_insn *insn, const void *code, size_t size)
{
	char name[31] = "";
	uint64_t told = 0;

	for (size_t i = 0; i < size && i < 15; i++)
		snprintf(name + 2 * i, 3, "%02x", ((const uint8_t *)code)[i]);
	ck_assert_msg(insn->n_effects <= CODE_MAX_EFFECTS, "%s", name);
	ck_assert_msg(insn->length && insn->length <= 15, "%s", name);
	ck_assert_msg(insn->control <= CODE_STOPS, "%s", name);
	for (size_t i = 0; i < insn->n_effects; i++) {
		const struct code_effect *effect = &insn->effects[i];

		check_effect(effect, name);
		if (effect->kind != CODE_STORE && effect->kind != CODE_COMPARE)
			told |= UINT64_C(1) << effect->dst;
	}
	/* Or what an effect tells would be lost again. */
	ck_assert_msg(!(told & insn->writes), "%s", name);
}

#endif
