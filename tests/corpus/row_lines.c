/* SPDX-License-Identifier: MIT */
#include "tests/corpus/row_lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SHOWN 20u

static struct line_rule rule_read(const char *word)
{
	struct line_rule rule = {LINE_ANY, 0, 0};
	unsigned reg;
	int64_t offset;
	int used = 0;

	if (strcmp(word, "u") == 0) {
		rule.kind = LINE_UNSAVED;
	} else if (sscanf(word, "c%" SCNd64 "%n", &offset, &used) == 1 && !word[used]) {
		rule.kind = LINE_AT_CFA;
		rule.offset = offset;
	} else if (sscanf(word, "r%u%" SCNd64 "%n", &reg, &offset, &used) == 2 &&
		   !word[used]) {
		rule.kind = LINE_REGISTER;
		rule.reg = reg;
		rule.offset = offset;
	}
	return rule;
}

bool row_line_read(FILE *in, struct row_line *row)
{
	char words[3][40];

	if (fscanf(in, "%" SCNx64 " %" SCNx64 " %39s %39s %39s", &row->start, &row->end,
		words[0], words[1], words[2]) != 5)
		return false;
	row->cfa = rule_read(words[0]);
	row->fp = rule_read(words[1]);
	row->ra = rule_read(words[2]);
	return row->start < row->end;
}

bool line_rule_agrees(const struct line_rule *a, const struct line_rule *b)
{
	if (a->kind == LINE_ANY || b->kind == LINE_ANY)
		return true;
	return a->kind == b->kind && a->reg == b->reg && a->offset == b->offset;
}

void line_rule_print(const struct line_rule *rule)
{
	static const char *const words[] = {"any", "u", "r", "c"};

	printf(" %s", words[rule->kind]);
	if (rule->kind == LINE_REGISTER)
		printf("%u", rule->reg);
	if (rule->kind == LINE_REGISTER || rule->kind == LINE_AT_CFA)
		printf("%+" PRId64, rule->offset);
}

void row_line_compare(const struct row_line *row, uint64_t pc,
    const struct row_line *witness, struct row_counts *counts)
{
	if (line_rule_agrees(&row->cfa, &witness->cfa) &&
	    line_rule_agrees(&row->fp, &witness->fp) &&
	    line_rule_agrees(&row->ra, &witness->ra)) {
		counts->agree++;
		return;
	}
	if (counts->differ++ >= MAX_SHOWN)
		return;
	printf("%" PRIx64 ": section", pc);
	line_rule_print(&row->cfa);
	line_rule_print(&row->fp);
	line_rule_print(&row->ra);
	printf(", witness");
	line_rule_print(&witness->cfa);
	line_rule_print(&witness->fp);
	line_rule_print(&witness->ra);
	printf("\n");
}

int row_counts_print(const struct row_counts *counts)
{
	printf("%lu asked, %lu agree, %lu none, %lu differ\n", counts->asked,
	    counts->agree, counts->none, counts->differ);
	return counts->differ ? EXIT_FAILURE : EXIT_SUCCESS;
}
