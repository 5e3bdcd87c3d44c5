/* SPDX-License-Identifier: MIT */
#include "profile/stacks/rows_apart.h"

#include <stdlib.h>
#include <string.h>

#include "base/sandbox/apart.h"

/* What the process answers: this, the section, the rules, the symbols, and the text of their names. */
struct rows_answer {
	struct err err; /* kind ERR_NONE: it went well */
	uint64_t size, address, n_extra, n_symbols, n_text, dynamic;
};

struct rows_symbol {
	uint64_t addr, size;
	uint32_t name, rank; /* name: where it begins in the text */
};

struct rows_work {
	const char *path;
	bool names;
};

static bool rows_write_symbols(int fd, const struct rows *rows)
{
	for (size_t i = 0; i < rows->symbols.n; i++) {
		const struct symbol *symbol = &rows->symbols.list[i];
		const struct rows_symbol one = {symbol->addr, symbol->size,
		    (uint32_t)(symbol->name - rows->names), symbol->rank};

		if (!apart_write(fd, &one, sizeof(one)))
			return false;
	}
	return true;
}

/* In the process. */
static bool rows_work(void *context, int out)
{
	const struct rows_work *work = context;
	struct rows_answer answer = {0};
	struct rows rows = {0};

	if (!rows_make_here(
		APART_FIRST_FILE, work->path, work->names, &rows, &answer.err) &&
	    answer.err.kind == ERR_NONE)
		answer.err.kind = ERR_UNSUPPORTED;
	answer.size = rows.size;
	answer.address = rows.address;
	answer.n_extra = rows.n_extra;
	answer.n_symbols = rows.symbols.n;
	answer.n_text = rows.n_names;
	answer.dynamic = rows.symbols.dynamic;
	return apart_write(out, &answer, sizeof(answer)) &&
	       apart_write(out, rows.section, rows.size) &&
	       apart_write(out, rows.extra, rows.n_extra * sizeof(*rows.extra)) &&
	       rows_write_symbols(out, &rows) &&
	       apart_write(out, rows.names, rows.n_names);
}

static bool rows_check_location(const struct eh2sframe_location *location)
{
	return location->place <= EH2SFRAME_PLACE_AT_SUM &&
	       location->reg < EH2SFRAME_WALK_N_REGISTERS;
}

static bool rows_check_extra(const struct rows *rows)
{
	for (size_t i = 0; i < rows->n_extra; i++) {
		const struct eh2sframe_rule *rule = &rows->extra[i].rule;

		if (!rows_check_location(&rule->cfa) || !rows_check_location(&rule->ra) ||
		    !rows_check_location(&rule->fp) ||
		    rule->cfa_index >= EH2SFRAME_WALK_N_REGISTERS || rule->cfa_shift > 63)
			return false;
	}
	return true;
}

static bool rows_take_symbols(
    const struct rows_answer *answer, const struct rows_symbol *from, struct rows *rows)
{
	rows->n_names = answer->n_text;
	rows->symbols.dynamic = answer->dynamic != 0;
	if (answer->n_text && (!rows->names || rows->names[answer->n_text - 1]))
		return false;
	for (size_t i = 0; i < answer->n_symbols; i++) {
		const struct symbol symbol = {.addr = from[i].addr,
		    .size = from[i].size,
		    .name = rows->names + from[i].name,
		    .rank = (uint8_t)from[i].rank};

		/* In their order, as the one that is shown is the last of its address. */
		if (from[i].name >= answer->n_text ||
		    (i && from[i].addr < from[i - 1].addr) ||
		    !symbols_add(&rows->symbols, &symbol))
			return false;
	}
	return true;
}

/* bytes: of the whole answer, which nobody writes to any more. */
static bool rows_read_answer(
    const uint8_t *bytes, uint64_t size, struct rows *rows, struct err *err)
{
	struct rows_answer answer;
	const uint8_t *at = bytes + sizeof(answer);
	struct rows_symbol *symbols;
	uint64_t left = size - sizeof(answer), extra_size, symbols_size;
	bool ok;

	memcpy(&answer, bytes, sizeof(answer));
	answer.err.text[sizeof(answer.err.text) - 1] = '\0';
	if (answer.err.kind != ERR_NONE)
		return err_set(err,
		    answer.err.kind == ERR_NOMEM ? ERR_LIMIT : ERR_UNSUPPORTED, "%s",
		    answer.err.text);
	if (answer.n_extra > left || answer.n_symbols > left)
		return err_set(err, ERR_INTERNAL, "an answer that is no answer");
	extra_size = answer.n_extra * sizeof(*rows->extra);
	symbols_size = answer.n_symbols * sizeof(*symbols);
	if (answer.size > left || answer.n_text > left ||
	    answer.size + extra_size + symbols_size + answer.n_text != left)
		return err_set(err, ERR_INTERNAL, "an answer that is no answer");
	rows->size = answer.size;
	rows->address = answer.address;
	rows->n_extra = answer.n_extra;
	rows->section = apart_take(&at, answer.size);
	rows->extra = apart_take(&at, extra_size);
	symbols = apart_take(&at, symbols_size);
	rows->names = apart_take(&at, answer.n_text);
	ok = !rows->section == !answer.size && !rows->extra == !extra_size &&
	     !symbols == !symbols_size && rows_check_extra(rows) &&
	     rows_take_symbols(&answer, symbols, rows);
	free(symbols);
	/* A walk must not find rules that were refused. */
	if (!ok)
		rows_free(rows);
	return ok || err_set(err, ERR_INTERNAL, "an answer that is no answer");
}

bool rows_make_apart(int fd, const char *path, bool names,
    const struct apart_limits *limits, struct rows *rows, struct err *err)
{
	struct rows_work work = {path, names};
	struct apart_answer answer = {0};
	bool ok = apart_run(&fd, 1, rows_work, &work, limits, sizeof(struct rows_answer),
		      &answer, err) &&
		  rows_read_answer(answer.bytes, answer.size, rows, err);

	apart_free(&answer);
	return ok;
}
