/* SPDX-License-Identifier: MIT */
/* Each function becomes an FDE of one of three CIEs. */
#include "gen/sources/go/go_cfi.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "cfi/opcodes.h"
#include "cfi/records.h"

/* DWARF numbers of the column of the return address. */
enum { X86_64_RA = 16, AARCH64_RA = 30 };
/* Names of entries are shorter than this. */
enum { GO_ENTRY_NAME = 64 };
/* Limit of the bytes of names of functions without rows, as a multiple of the table's. */
enum { GO_NAMES_SHARE = 4 };
/* Functions named runtime.morestack, with and without a suffix, and trampolines to them. */
enum { GO_MORE_STACK = 16 };

/* The CIEs: an ordinary function, one without a caller, one without rows. */
enum cie {
	CIE_ROWS,
	CIE_TOP,
	CIE_LEFT,
	N_CIES,
};

struct maker {
	const struct go_table *table;
	const struct go_text *text;
	const struct code_abi *abi;
	struct go_cfi *cfi;
	size_t cies[N_CIES]; /* where they are */
	struct go_levels levels;
	struct go_rows rows;
	uint64_t more_stack[GO_MORE_STACK];
	size_t n_more_stack;
	uint64_t names; /* bytes of those that are kept */
};

bool go_cfi_can(enum code_machine machine)
{
	/* Go's frames on s390x are not those of the psABI. */
	return (machine == CODE_X86_64 || machine == CODE_AARCH64) &&
	       code_can_decode(machine);
}

const char *go_reason_text(enum go_reason why)
{
	static const char *const texts[GO_N_REASONS] = {
	    [GO_HAS_ROWS] = "it has rows",
	    [GO_OTHER_STACK] = "it changes to another stack",
	    [GO_SP_MOVES] = "SP moves in a way that Go's table does not tell",
	    [GO_MARKED] = "Go marks it as giving SP any value: it takes another stack, "
			  "or aligns SP",
	    [GO_SIGNAL] = "a signal leads to it, not a call",
	    [GO_RETURN_MOVED] = "the return address is not where calls put it",
	    [GO_WAYS_DIFFER] =
		"a jump leads to code that has the caller's registers elsewhere",
	    [GO_NOT_DECODED] = "it has bytes that are no known instruction",
	};

	return texts[why];
}

static bool name_begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

static bool name_is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (strcmp(name, *names) == 0)
			return true;
	return false;
}

/*
 * True for a function that a thread or a goroutine begins with. Go 1.16 does not mark them, and no release
 * marks the entries of programs. Those of libraries (_lib) are called.
 */
static bool is_top(const struct go_func *func)
{
	static const char *const names[] = {"runtime.goexit", "runtime.mstart",
	    "runtime.rt0_go", "runtime.sigtramp", "runtime.cgoSigtramp", NULL};
	const size_t length = strnlen(func->name, GO_ENTRY_NAME);

	if (func->flags & GO_FLAG_TOP || name_is_one_of(func->name, names))
		return true;
	return name_begins(func->name, "_rt0_") && length < GO_ENTRY_NAME &&
	       (length < 4 || strcmp(func->name + length - 4, "_lib") != 0);
}

/* Functions whose instructions do not show that they have no rows. */
static enum go_reason reason_by_name(
    const struct go_func *func, enum code_machine machine)
{
	/* Functions that handlers return to. */
	static const char *const returns[] = {
	    "runtime.sigreturn", "runtime.sigreturn__sigaction", NULL};
	/* AArch64: the handler stores the interrupted return address above SP, and goes on here. */
	static const char *const injected[] = {
	    "runtime.asyncPreempt", "runtime.sigpanic", NULL};

	/* The kernel gives the child another SP. */
	if (strcmp(func->name, "runtime.clone") == 0)
		return GO_OTHER_STACK;
	if (name_is_one_of(func->name, returns))
		return GO_SIGNAL;
	if (machine == CODE_AARCH64 && name_is_one_of(func->name, injected))
		return GO_SIGNAL;
	return GO_HAS_ROWS;
}

static void put_cie(struct maker *maker, enum cie which)
{
	const bool x86 = maker->text->machine == CODE_X86_64;
	const uint8_t ra = x86 ? X86_64_RA : AARCH64_RA;
	struct wr *wr = &maker->cfi->records;
	const size_t start = cfi_begin_cie(wr, "", ra);

	maker->cies[which] = start;
	if (which != CIE_LEFT) {
		wr_u8(wr, DW_CFA_def_cfa);
		cfi_put_uleb(wr, maker->abi->sp);
		cfi_put_uleb(wr, (uint64_t)-maker->abi->sp_off);
	}
	if (which == CIE_TOP) {
		wr_u8(wr, DW_CFA_undefined);
		cfi_put_uleb(wr, ra);
	} else if (x86) {
		wr_u8(wr, DW_CFA_offset_extended_sf);
		cfi_put_uleb(wr, ra);
		cfi_put_sleb(wr, maker->abi->ra_off);
	}
	cfi_end_record(wr, start);
}

static void put_rule(
    struct wr *wr, uint8_t reg, const struct go_rule *rule, const struct go_rule *before)
{
	if (rule->place == before->place && rule->off == before->off)
		return;
	switch ((enum go_place)rule->place) {
	case GO_IN_REGISTER:
		wr_u8(wr, DW_CFA_same_value);
		cfi_put_uleb(wr, reg);
		break;
	case GO_SAVED:
		wr_u8(wr, DW_CFA_offset_extended_sf);
		cfi_put_uleb(wr, reg);
		cfi_put_sleb(wr, rule->off);
		break;
	case GO_LOST:
		wr_u8(wr, DW_CFA_undefined);
		cfi_put_uleb(wr, reg);
		break;
	}
}

/* Writes the rows of the function, and a record without rows for the bytes behind them. */
static void put_rows(struct maker *maker, uint64_t start)
{
	const uint64_t end = maker->levels.end, rows_end = maker->rows.end;
	const bool x86 = maker->text->machine == CODE_X86_64;
	struct wr *wr = &maker->cfi->records;
	size_t at = cfi_begin_fde(wr, maker->cies[CIE_ROWS], start, rows_end - start);
	/* The row that the CIE gives. */
	struct go_row before = {.pc = start, .cfa_off = -maker->abi->sp_off};

	if (x86)
		before.ra = (struct go_rule){GO_SAVED, maker->abi->ra_off};
	for (size_t i = 0; i < maker->rows.n; i++) {
		const struct go_row *row = &maker->rows.list[i];

		if (row->pc != before.pc)
			cfi_put_advance(wr, row->pc - before.pc);
		if (row->cfa_off != before.cfa_off) {
			wr_u8(wr, DW_CFA_def_cfa_offset);
			cfi_put_uleb(wr, (uint64_t)row->cfa_off);
		}
		put_rule(wr, maker->abi->fp, &row->fp, &before.fp);
		put_rule(wr, x86 ? X86_64_RA : AARCH64_RA, &row->ra, &before.ra);
		before = *row;
	}
	cfi_end_record(wr, at);
	if (rows_end < end) {
		at = cfi_begin_fde(wr, maker->cies[CIE_LEFT], rows_end, end - rows_end);
		cfi_end_record(wr, at);
	}
}

static bool leave_out(struct maker *maker, const struct go_func *func, enum go_reason why)
{
	struct go_cfi *cfi = maker->cfi;
	const uint64_t size = maker->levels.end - func->start;
	const char *name = "";

	if (!vec_reserve(&cfi->left, &cfi->cap_left, cfi->n_left + 1))
		return false;
	/* All of them may have one long name, which a report would print each time. */
	if (maker->names / GO_NAMES_SHARE < maker->table->size) {
		name = func->name;
		maker->names += strlen(name) + 1;
	}
	cfi->left[cfi->n_left++] = (struct go_left){func->start, size, name, why};
	return true;
}

/* Classifies the function, whose code is at bytes, or NULL. False: out of memory. */
static bool look_at(struct maker *maker, const struct go_func *func, const uint8_t *bytes,
    enum cie *which, enum go_reason *why)
{
	const struct go_text *text = maker->text;
	const struct go_code code = {.machine = text->machine,
	    .bytes = bytes,
	    .levels = &maker->levels,
	    .start = func->start,
	    .more_stack = maker->more_stack,
	    .n_more_stack = maker->n_more_stack};

	*which = CIE_LEFT;
	*why = GO_HAS_ROWS;
	if (is_top(func)) {
		*which = CIE_TOP;
		return true;
	}
	*why = reason_by_name(func, text->machine);
	if (*why != GO_HAS_ROWS)
		return true;
	if (func->flags & GO_FLAG_SP_WRITE)
		*why = GO_MARKED;
	else if (!bytes)
		*why = GO_NOT_DECODED;
	if (*why != GO_HAS_ROWS)
		return true;
	if (!go_walk(&code, &maker->rows, why))
		return false;
	if (*why == GO_HAS_ROWS) {
		*which = CIE_ROWS;
	}
	return true;
}

static bool put_func(struct maker *maker, const struct go_func *func, struct err *err)
{
	const struct go_text *text = maker->text;
	const uint64_t size = maker->levels.end - func->start;
	struct wr *wr = &maker->cfi->records;
	const uint8_t *bytes = text->bytes(text->context, func->start, size);
	enum go_reason why;
	enum cie which;
	size_t at;

	if (!look_at(maker, func, bytes, &which, &why))
		return err_set_nomem(err);
	if (which == CIE_ROWS) {
		put_rows(maker, func->start);
	} else {
		at = cfi_begin_fde(wr, maker->cies[which], func->start, size);
		cfi_end_record(wr, at);
	}
	maker->cfi->n_funcs++;
	if (wr->failed || (which == CIE_LEFT && !leave_out(maker, func, why)))
		return err_set_nomem(err);
	/* The distance from an FDE to its CIE, and an index of rows, have 32 bits. */
	return wr->size <= INT32_MAX || err_set(err, ERR_LIMIT,
					    "%s: the Go table gives more than 2 GiB of "
					    "rows; divide the file",
					    maker->table->section);
}

/* Finds what asks for more stack. On x86-64 it is called as any other. */
static bool find_more_stack(struct maker *maker, struct err *err)
{
	const bool needed = maker->text->machine == CODE_AARCH64;

	for (size_t i = 0; needed && i < maker->table->n_funcs; i++) {
		struct go_func func;

		if (!go_table_func(maker->table, i, &func, err))
			return false;
		if (name_begins(func.name, "runtime.morestack") &&
		    maker->n_more_stack < GO_MORE_STACK)
			maker->more_stack[maker->n_more_stack++] = func.start;
	}
	return true;
}

/* All functions, in the order of the table. */
static bool put_funcs(struct maker *maker, struct err *err)
{
	uint64_t end = 0;

	for (size_t i = 0; i < maker->table->n_funcs; i++) {
		struct go_func func;

		if (!go_table_func(maker->table, i, &func, err))
			return false;
		if (func.start < end)
			return err_set(err, ERR_MALFORMED,
			    "the functions of the Go table do not ascend, %s+0x%zx; "
			    "rebuild the file",
			    maker->table->section, func.at);
		end = func.limit;
		/* C code that Go's linker put in has no table. Of several functions at one
		 * address, the last one has the code. */
		if (!func.sp_at || func.limit == func.start)
			continue;
		/* Without all of its code nothing else is known of it, and its table can be that of all others. */
		maker->levels.n = 0;
		maker->levels.end = func.limit;
		if (maker->text->bytes(
			maker->text->context, func.start, func.limit - func.start) &&
		    !go_table_levels(maker->table, &func, &maker->levels, err))
			return false;
		if (!put_func(maker, &func, err))
			return false;
	}
	return true;
}

bool go_cfi_make(const struct go_table *table, const struct go_text *text,
    struct go_cfi *cfi, struct err *err)
{
	struct maker maker = {
	    .table = table, .text = text, .abi = code_abi(text->machine), .cfi = cfi};
	bool ok;

	wr_init(&cfi->records, false);
	for (int i = 0; i < N_CIES; i++)
		put_cie(&maker, (enum cie)i);
	ok = find_more_stack(&maker, err) && put_funcs(&maker, err);
	free(maker.levels.list);
	free(maker.rows.list);
	free(maker.rows.jumps);
	if (!ok)
		go_cfi_deinit(cfi);
	return ok;
}

void go_cfi_deinit(struct go_cfi *cfi)
{
	wr_deinit(&cfi->records);
	free(cfi->left);
	*cfi = (struct go_cfi){0};
}
