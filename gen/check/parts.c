/* SPDX-License-Identifier: MIT */
/* The parts of a function: where their rows are from, and where functions begin. */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/vec.h"
#include "gen/check/unit.h"

struct validate_part *validate_part_at(struct validate_worker *worker, uint64_t pc)
{
	const size_t i = search_list_above(worker->code, worker->n_parts, start, pc);

	if (i && pc < worker->code[i - 1].end)
		return &worker->parts[i - 1];
	return NULL;
}

const struct cfi_row *validate_row_in(
    const struct validate_worker *worker, struct validate_part *part, uint64_t pc)
{
	const struct cfi_row *rows = &worker->rows[part->row];

	/* Most questions are about the row of the last one, or the next. */
	if (pc < rows[part->at].pc ||
	    (part->at + 2 < part->n_rows && pc >= rows[part->at + 2].pc))
		part->at = search_list_above(rows, part->n_rows, pc, pc) - 1;
	else if (part->at + 1 < part->n_rows && pc >= rows[part->at + 1].pc)
		part->at++;
	return &rows[part->at];
}

/* The rows of a range among those of its FDE. */
struct part_rows {
	const struct cfi_row *list;
	size_t n;
};

static struct part_rows part_rows_of(
    const struct cfi_table *table, const struct cfi_range *range)
{
	const size_t after =
	    search_list_above(table->rows, table->n_rows, pc, range->start);
	const size_t first = after ? after - 1 : 0;

	return (struct part_rows){&table->rows[first],
	    search_list_from(table->rows, table->n_rows, pc, range->end) - first};
}

/* True if a row finds the return address in the two words from the CFA on, where a stub of a PLT has put it. */
static bool part_is_resolver(
    const struct validate_worker *worker, const struct part_rows *rows)
{
	const struct code_abi *abi = code_abi(worker->input->arch->code);

	for (size_t i = 0; i < rows->n; i++)
		if (rows->list[i].ra.kind == CFI_AT_CFA && rows->list[i].ra.off >= 0 &&
		    rows->list[i].ra.off < 16 && rows->list[i].cfa.kind == CFI_REG_PLUS &&
		    rows->list[i].cfa.reg == abi->sp)
			return true;
	return false;
}

/* True if a function begins where the row does: nothing has been saved yet. */
static bool part_is_entry(const struct validate_worker *worker, const struct cfi_row *row)
{
	return validate_row(worker->input->arch, row, &worker->entry).verdict ==
	       VALIDATE_AGREES;
}

/* Returns the row of the first instruction that does something. GCC has a nop before a landing pad that would
 * be the first byte of a part: control never comes to the nop, and the pad's row tells what begins there. */
static const struct cfi_row *part_first_row(const struct validate_worker *worker,
    const struct part_rows *rows, const struct code_range *code)
{
	uint64_t pc = code->start;
	struct code_insn insn;
	size_t i;

	while (pc < code->end &&
	       code_insn_read(worker->input->arch->code, code->bytes + (pc - code->start),
		   code->readable - (pc - code->start), pc, &insn) &&
	       insn.filler && insn.control == CODE_CONTINUES)
		pc += insn.length;
	i = search_list_above(rows->list, rows->n, pc, pc);
	return &rows->list[i ? i - 1 : 0];
}

/* The FDE that the range belongs to; NULL: none. */
static const struct cfi_fde *part_fde(
    const struct validate_worker *worker, const struct cfi_range *range)
{
	return range->fde == VALIDATE_NO_FDE ? NULL
					     : &worker->input->frames.fdes[range->fde];
}

/* True if no row can be asked for: the range is not one function's, or its frame is special. */
static bool part_is_special(
    const struct validate_worker *worker, const struct cfi_range *range)
{
	const struct cfi_fde *fde = part_fde(worker, range);
	const struct cfi_cie *cie = fde ? &worker->input->frames.cies[fde->cie] : NULL;

	return range->overlapping ||
	       (cie && (cie->signal_frame || cie->ra_reg != worker->input->arch->ra_reg));
}

/* Interprets an FDE into interp->table. */
static bool part_interpret(struct validate_worker *worker, struct cfi_interp *interp,
    uint32_t index, struct err *err)
{
	const struct cfi_range *range = &worker->input->ranges.list[index];

	interp->max_expr_ops = cfi_ranges_expr_ops(&worker->input->ranges, index);
	if (!cfi_interpret(interp, part_fde(worker, range), err))
		return false;
	/* A row without a rule for the CFA says nothing. */
	for (size_t i = 0; i < interp->table.n_rows; i++)
		interp->table.rows[i].doubtful |=
		    interp->table.rows[i].cfa.kind == CFI_UNSPECIFIED;
	return true;
}

/* Reads the rows of a range into interp->table, with all others of its FDE. */
static bool part_read_rows(struct validate_worker *worker, struct cfi_interp *interp,
    uint32_t index, struct err *err)
{
	const uint32_t fde = worker->input->ranges.list[index].fde;

	if (worker->source)
		return worker->source->read(
			   worker->source->context, index, &interp->table) ||
		       err_set_nomem(err);
	if (interp != &worker->interp)
		return part_interpret(worker, interp, index, err);
	/* An FDE can be divided into as many ranges as it has rows. */
	if (worker->interpreted != fde) {
		worker->readable = part_interpret(worker, interp, index, err);
		worker->interpreted = err->kind == ERR_NOMEM ? VALIDATE_NO_FDE : fde;
	}
	return worker->readable;
}

/* Adds the landing pads of the range's FDE, once for all its neighbours in the unit.
 * Where arguments are pushed, SP there is not as at the call. */
static bool part_add_landings(struct validate_worker *worker, uint32_t index)
{
	const struct cfi_range *list = worker->input->ranges.list, *range = &list[index];
	/* Only functions of a section are divided, and then looked at as a whole. */
	const size_t last = worker->source
				? validate_landings_last(&worker->input->ranges, index)
				: index + (size_t)1;

	return worker->interp.table.args_size ||
	       (worker->n_parts &&
		   list[worker->parts[worker->n_parts - 1].range].fde == range->fde) ||
	       validate_landings_add(
		   worker->image, worker->input, index, last, &worker->landings);
}

bool validate_is_fragment(const struct validate_worker *worker, uint64_t start)
{
	return validate_refs_have(worker->all_framed, start) &&
	       !validate_refs_have(worker->all_bare, start) &&
	       !validate_refs_have(worker->refs, start) &&
	       !validate_refs_have(worker->calls, start) &&
	       !validate_is_exported(worker->callees, start);
}

/* True if a function begins where the part does. Called code is a function whatever its first row says. */
static bool part_is_function(const struct validate_worker *worker,
    const struct validate_part *part, const struct part_rows *rows,
    const struct code_range *code)
{
	if (part->resolver || part->fragment)
		return false;
	return (part_is_entry(worker, &rows->list[0]) &&
		   part_is_entry(worker, part_first_row(worker, rows, code))) ||
	       validate_refs_have(worker->calls, code->start);
}

/* Code that is called in the middle of the range, where the row is an entry's, is entered there, too. */
static bool part_add_called(struct validate_worker *worker, const struct part_rows *rows,
    const struct code_range *code)
{
	const struct validate_refs *calls = worker->calls;

	for (size_t i = calls ? validate_refs_from(calls, code->start + 1) : 0;
	     calls && i < calls->n && calls->list[i] < code->end; i++) {
		const size_t row =
		    search_list_above(rows->list, rows->n, pc, calls->list[i]);

		if (!part_is_entry(worker, &rows->list[row ? row - 1 : 0]))
			continue;
		if (!vec_reserve(
			&worker->entries, &worker->cap_entries, worker->n_entries + 1))
			return false;
		worker->entries[worker->n_entries++] = calls->list[i];
	}
	return true;
}

static bool part_add_rows(
    struct validate_worker *worker, uint32_t index, const struct code_range *code)
{
	const struct cfi_range *range = &worker->input->ranges.list[index];
	struct validate_range *result = &worker->result->ranges[index];
	const struct part_rows rows = part_rows_of(&worker->interp.table, range);
	struct validate_part *part;

	if (!vec_reserve(&worker->parts, &worker->cap_parts, worker->n_parts + 1) ||
	    !vec_reserve(&worker->code, &worker->cap_code, worker->n_parts + 1) ||
	    !vec_reserve(&worker->entries, &worker->cap_entries, worker->n_entries + 1) ||
	    !vec_reserve(&worker->rows, &worker->cap_rows, worker->n_rows + rows.n) ||
	    !part_add_landings(worker, index))
		return false;
	result->rowless = true;
	for (size_t i = 0; i < rows.n; i++)
		result->rowless &= rows.list[i].doubtful;
	result->looked_at = !result->rowless;
	worker->rowless &= result->rowless;
	part = &worker->parts[worker->n_parts];
	*part = (struct validate_part){.range = index,
	    .row = worker->n_rows,
	    .n_rows = rows.n,
	    .go = validate_is_go(worker, part_fde(worker, range)),
	    .fragment = validate_is_fragment(worker, range->start),
	    .framed = validate_refs_have(worker->all_framed, range->start),
	    .resolver = part_is_resolver(worker, &rows) &&
			!validate_refs_have(worker->calls, range->start)};
	worker->code[worker->n_parts++] = *code;
	memcpy(&worker->rows[worker->n_rows], rows.list, rows.n * sizeof(*rows.list));
	worker->n_rows += rows.n;
	part->entry = part_is_function(worker, part, &rows, code);
	if (part->entry)
		worker->entries[worker->n_entries++] = range->start;
	return !part->entry || part_add_called(worker, &rows, code);
}

bool validate_add_part(struct validate_worker *worker, uint32_t index)
{
	const struct cfi_range *range = &worker->input->ranges.list[index];
	const struct cfi_table *table = &worker->interp.table;
	const GElf_Phdr *segment =
	    image_code_segment(worker->image, range->start, range->end - range->start);
	uint64_t readable =
	    segment ? segment->p_vaddr + segment->p_filesz - range->start : 0;
	const struct code_range code = {range->start, range->end,
	    image_at_addr(worker->image, range->start, readable), readable};
	struct err broken = {0};

	worker->result->ranges[index] = (struct validate_range){.round = worker->round};
	if (!code.bytes || readable < range->end - range->start ||
	    part_is_special(worker, range))
		return true;
	if (!part_read_rows(worker, &worker->interp, index, &broken))
		return broken.kind != ERR_NOMEM;
	/* Rows that follow from the address are a PLT's. */
	if (table->pc_dependent || !table->n_rows)
		return true;
	if (worker->trial && worker->trial->rows) {
		worker->trial->rows(worker->trial->context, index, &worker->interp.table);
		worker->interpreted = VALIDATE_NO_FDE;
	}
	return part_add_rows(worker, index, &code);
}

size_t validate_range_at(const struct validate_worker *worker, uint64_t pc)
{
	const struct cfi_ranges *ranges = &worker->input->ranges;
	size_t i = search_list_above(ranges->list, ranges->n, start, pc);

	return i && pc < ranges->list[i - 1].end ? i - 1 : SIZE_MAX;
}

/* Reads the rows of a range once, because many jumps can lead there, and keeps only where functions begin. */
static void part_find_turns(struct validate_worker *worker, uint32_t index)
{
	const struct cfi_range *range = &worker->input->ranges.list[index];
	const struct cfi_fde *fde = part_fde(worker, range);
	const struct cfi_table *table = &worker->other.table;
	struct validate_turns *turns = &worker->turns[index];
	struct part_rows rows = {0};
	struct err broken = {0};
	bool begins = false;

	if (part_read_rows(worker, &worker->other, index, &broken))
		rows = part_rows_of(table, range);
	turns->list = malloc((rows.n + 2) * sizeof(*turns->list));
	worker->nomem |= !turns->list || broken.kind == ERR_NOMEM;
	if (!turns->list || !rows.n)
		return;
	/* Without a row, the CFI says where functions begin. */
	if (rows.list[0].doubtful && fde && fde->pc == range->start) {
		turns->list[turns->n++] = range->start;
		turns->list[turns->n++] = range->start + 1;
	}
	for (const struct cfi_row *row = rows.list; row < rows.list + rows.n; row++) {
		if (begins == (!row->doubtful &&
				  (table->pc_dependent || part_is_entry(worker, row))))
			continue;
		begins = !begins;
		turns->list[turns->n++] = row->pc;
	}
}

bool validate_begins_function(struct validate_worker *worker, size_t index, uint64_t pc)
{
	const struct cfi_fde *fde = part_fde(worker, &worker->input->ranges.list[index]);
	const struct validate_turns *turns = &worker->turns[index];

	if (!worker->source && fde->program_len > VALIDATE_MAX_ASKED)
		return fde->pc == pc;
	if (!turns->list)
		part_find_turns(worker, (uint32_t)index);
	return search_above(turns->list, sizeof(*turns->list), turns->n, pc) & 1;
}
