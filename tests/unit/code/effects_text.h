/* SPDX-License-Identifier: MIT */
/* The effects of an instruction as text, for tables of what is expected. */
#ifndef TESTS_UNIT_CODE_EFFECTS_TEXT_H
#define TESTS_UNIT_CODE_EFFECTS_TEXT_H

#include <stdio.h>
#include <string.h>

#include "code/insn.h"

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

#endif
