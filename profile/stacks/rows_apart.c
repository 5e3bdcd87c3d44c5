/* SPDX-License-Identifier: MIT */
#include "profile/stacks/file_rows.h"

#include <string.h>

#include "base/sandbox/apart.h"

/* The answer of the process: this, the section, the rules, the symbols, whose names are where they begin in the text, and the
 * text. */
struct rows_answer {
	struct err err; /* kind ERR_NONE: it went well */
	struct facts facts;
	uint64_t size, address, n_extra, n_symbols, n_text, keeps_names;
};

struct rows_work {
	const struct rows_file *file;
	struct rows_place places[ROWS_PLACES];
};

/* In the process. */
static void rows_work_open(void *context)
{
	struct rows_work *work = context;

	rows_places_open(work->file, work->places);
}

static bool rows_work(void *context, int out)
{
	const struct rows_work *work = context;
	struct rows_answer answer = {0};
	struct rows rows = {0};

	if (!rows_make_here(work->file, work->places, &rows, &answer.err) &&
	    answer.err.kind == ERR_NONE)
		answer.err.kind = ERR_UNSUPPORTED;
	for (size_t i = 0; i < rows.symbols.n; i++)
		rows.symbols.list[i].name =
		    (char *)(uintptr_t)(rows.symbols.list[i].name - rows.names);
	answer.facts = rows.facts;
	answer.size = rows.size;
	answer.address = rows.address;
	answer.n_extra = rows.n_extra;
	answer.n_symbols = rows.symbols.n;
	answer.n_text = rows.n_names;
	answer.keeps_names = rows.keeps_names;
	return apart_write(out, &answer, sizeof(answer)) &&
	       apart_write(out, rows.section, rows.size) &&
	       apart_write(out, rows.extra, rows.n_extra * sizeof(*rows.extra)) &&
	       apart_write(
		   out, rows.symbols.list, rows.symbols.n * sizeof(*rows.symbols.list)) &&
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

static bool rows_check_symbols(struct rows *rows)
{
	struct symbol *list = rows->symbols.list;

	if (rows->n_names && (!rows->names || rows->names[rows->n_names - 1]))
		return false;
	for (size_t i = 0; i < rows->symbols.n; i++) {
		uintptr_t name = (uintptr_t)list[i].name;

		/* In their order, as the one that is shown is the last of its address. */
		if (name >= rows->n_names || (i && list[i].addr < list[i - 1].addr))
			return false;
		list[i].name = rows->names + name;
	}
	return true;
}

/* Takes what is behind the answer. false: it is nonsense, or memory runs out. */
static bool rows_take(
    const struct rows_answer *answer, const uint8_t *at, uint64_t left, struct rows *rows)
{
	uint64_t extra_size, symbols_size;

	if (answer->n_extra > left || answer->n_symbols > left || answer->size > left ||
	    answer->n_text > left)
		return false;
	extra_size = answer->n_extra * sizeof(*rows->extra);
	symbols_size = answer->n_symbols * sizeof(*rows->symbols.list);
	if (answer->size + extra_size + symbols_size + answer->n_text != left)
		return false;
	rows->size = answer->size;
	rows->address = answer->address;
	rows->n_extra = answer->n_extra;
	rows->section = apart_take(&at, answer->size);
	rows->extra = apart_take(&at, extra_size);
	rows->symbols.list = apart_take(&at, symbols_size);
	rows->symbols.n = rows->symbols.cap = answer->n_symbols;
	rows->names = apart_take(&at, answer->n_text);
	rows->n_names = answer->n_text;
	return !rows->section == !answer->size && !rows->extra == !extra_size &&
	       !rows->symbols.list == !symbols_size && rows_check_extra(rows) &&
	       rows_check_symbols(rows);
}

/* bytes: of the whole answer, which nobody writes to any more. */
static bool rows_read_answer(
    const uint8_t *bytes, uint64_t size, struct rows *rows, struct err *err)
{
	struct rows_answer answer;

	memcpy(&answer, bytes, sizeof(answer));
	answer.err.text[sizeof(answer.err.text) - 1] = '\0';
	if (answer.facts.n_parts <= FACTS_MAX_PARTS &&
	    answer.facts.build_id_size <= PROFILE_BUILD_ID_MAX) {
		/* Its tables may be right where its CFI is not. */
		rows->facts = answer.facts;
		rows->keeps_names = answer.keeps_names != 0;
		if (answer.err.kind != ERR_NONE)
			return err_set(err,
			    answer.err.kind == ERR_NOMEM ? ERR_LIMIT : ERR_UNSUPPORTED,
			    "%s", answer.err.text);
		if (rows_take(
			&answer, bytes + sizeof(answer), size - sizeof(answer), rows))
			return true;
	}
	/* A walk must not find rules that were refused. */
	rows_free(rows);
	return err_set(err, ERR_INTERNAL,
	    "the process that read the file answered nonsense; report this with the "
	    "file");
}

bool rows_make_apart(const struct rows_file *file, const struct apart_limits *limits,
    struct rows *rows, struct spent_work *spent, struct err *err)
{
	struct rows_work work = {.file = file};
	const struct apart_job job = {.open = rows_work_open,
	    .work = rows_work,
	    .context = &work,
	    .limits = *limits,
	    .least = sizeof(struct rows_answer)};
	struct apart_answer answer = {0};
	bool ok = apart_run(&job, &answer, err) &&
		  rows_read_answer(answer.bytes, answer.size, rows, err);

	*spent =
	    (struct spent_work){answer.ns, !ok && err->kind == ERR_LIMIT, answer.left};
	apart_free(&answer);
	return ok;
}
