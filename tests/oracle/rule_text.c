/* SPDX-License-Identifier: MIT */
/* Rules as words; see rule_text.h. */
#include "tests/oracle/rule_text.h"

#include <inttypes.h>

static void rule_print(FILE *out, const char *name, const struct cfi_rule *rule)
{
	fprintf(out, " %s=", name);
	switch ((enum cfi_rule_kind)rule->kind) {
	case CFI_UNSPECIFIED:
		fputc('-', out);
		break;
	case CFI_UNDEFINED:
		fputc('u', out);
		break;
	case CFI_SAME:
		fputc('s', out);
		break;
	case CFI_AT_CFA:
		fprintf(out, "c%+" PRId64, rule->off);
		break;
	case CFI_CFA_PLUS:
		fprintf(out, "v%+" PRId64, rule->off);
		break;
	case CFI_REG_PLUS:
		fprintf(out, "r%u%+" PRId64, rule->reg, rule->off);
		break;
	case CFI_AT_REG:
		fprintf(out, "*(r%u%+" PRId64 ")", rule->reg, rule->off);
		if (rule->add)
			fprintf(out, "%+" PRId32, rule->add);
		break;
	case CFI_AT_SUM:
		fprintf(out, "*(r%u+(r%u<<%u)%+" PRId64 ")", rule->reg,
		    cfi_rule_index(rule), cfi_rule_shift(rule), rule->off);
		if (rule->add)
			fprintf(out, "%+" PRId32, rule->add);
		break;
	case CFI_CONST:
		fprintf(out, "=%" PRId64, rule->off);
		break;
	case CFI_OPAQUE:
		fputc('?', out);
		break;
	}
}

void row_print(FILE *out, const struct cfi_row *row)
{
	rule_print(out, "cfa", &row->cfa);
	rule_print(out, "sp", &row->sp);
	rule_print(out, "fp", &row->fp);
	rule_print(out, "ra", &row->ra);
	if (row->ra_signed)
		fputs(" signed", out);
	if (row->ra_signed_with_pc)
		fputs(" with-pc", out);
	fputc('\n', out);
}
