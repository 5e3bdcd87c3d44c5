/* SPDX-License-Identifier: MIT */
/* Decides which rows of the code are safe to write. */
#include "gen/check/judge.h"
#include "gen/check/unit.h"

/* Ways in which a row finds a value: a bit for each column and way. */
enum {
	REPAIR_CFA_SP = 1,
	REPAIR_CFA_FP = 2,
	REPAIR_CFA_OTHER = 4,  /* by another register */
	REPAIR_CFA_MEMORY = 8, /* as a word above SP */
	REPAIR_RA_KEPT = 16,   /* as at entry */
	REPAIR_RA_FRAME = 32,  /* relative to the CFA */
	REPAIR_RA_SIGNED = 64,
	REPAIR_FP_KEPT = 128,
	REPAIR_FP_FRAME = 256,
	REPAIR_FP_SP = 512, /* above SP, which was aligned */
	REPAIR_FP_OTHER = 1024,
	REPAIR_OTHER = 2048, /* none of these */
};

/* Tests step a row of each of these kinds (tests/oracle/step_repair.py reads the list); others are not written. */
static const uint16_t stepped[] = {
    [CODE_X86_64] = REPAIR_CFA_SP | REPAIR_CFA_FP | REPAIR_CFA_OTHER | REPAIR_CFA_MEMORY |
		    REPAIR_RA_KEPT | REPAIR_RA_FRAME | REPAIR_FP_KEPT | REPAIR_FP_FRAME |
		    REPAIR_FP_SP | REPAIR_FP_OTHER,
    [CODE_AARCH64] = REPAIR_CFA_SP | REPAIR_CFA_FP | REPAIR_RA_KEPT | REPAIR_RA_FRAME |
		     REPAIR_RA_SIGNED | REPAIR_FP_KEPT | REPAIR_FP_FRAME,
    [CODE_S390X] = REPAIR_CFA_SP | REPAIR_CFA_FP | REPAIR_CFA_OTHER | REPAIR_RA_KEPT |
		   REPAIR_RA_FRAME | REPAIR_FP_KEPT | REPAIR_FP_FRAME | REPAIR_FP_OTHER,
};

static uint16_t cfa_kind(const struct code_abi *abi, const struct cfi_rule *rule)
{
	if (rule->kind == CFI_AT_REG)
		return rule->reg == abi->sp ? REPAIR_CFA_MEMORY : REPAIR_OTHER;
	if (rule->kind != CFI_REG_PLUS)
		return REPAIR_OTHER;
	return rule->reg == abi->sp   ? REPAIR_CFA_SP
	       : rule->reg == abi->fp ? REPAIR_CFA_FP
				      : REPAIR_CFA_OTHER;
}

static uint16_t ra_kind(const struct code_abi *abi, const struct cfi_row *row)
{
	const uint16_t more = row->ra_signed ? REPAIR_RA_SIGNED : 0;

	if (row->ra.kind == CFI_UNSPECIFIED ||
	    (row->ra.kind == CFI_AT_CFA && abi->ra == CODE_NO_REG &&
		row->ra.off == abi->ra_off))
		return REPAIR_RA_KEPT | more;
	return (row->ra.kind == CFI_AT_CFA ? REPAIR_RA_FRAME : REPAIR_OTHER) | more;
}

static uint16_t fp_kind(const struct code_abi *abi, const struct cfi_rule *rule)
{
	if (rule->kind == CFI_UNSPECIFIED)
		return REPAIR_FP_KEPT;
	if (rule->kind == CFI_AT_CFA)
		return REPAIR_FP_FRAME;
	if (rule->kind == CFI_AT_REG && rule->reg == abi->sp)
		return REPAIR_FP_SP;
	return rule->kind == CFI_REG_PLUS ? REPAIR_FP_OTHER : REPAIR_OTHER;
}

/* True if tests have stepped rows that find their values in the ways of this one. */
static bool kind_is_stepped(const struct arch *arch, const struct cfi_row *row)
{
	const struct code_abi *abi = code_abi(arch->code);
	const uint16_t kinds = (uint16_t)(cfa_kind(abi, &row->cfa) | ra_kind(abi, row) |
					  fp_kind(abi, &row->fp));

	return (kinds & ~stepped[arch->code]) == 0;
}

/* ---- what the ends of ways need ---- */

/* Notes how ways end at the place, which is the last one that was noted. */
static void repair_note_end(
    struct validate_worker *worker, const struct code_place *place)
{
	const struct code_abi *abi = worker->needs.abi;
	const struct code_insn *insn = place->insn;
	const bool via =
	    insn->control == CODE_JUMPS_TO || insn->control == CODE_BRANCHES_TO;
	const bool leaves = needs_edges_from(&worker->outs, place->pc) < worker->outs.n;
	struct code_state after;

	if (insn->control == CODE_RETURNS)
		needs_note_end(&worker->needs,
		    abi->ra == CODE_NO_REG ? need_of_slot(place->state->regs[abi->sp])
					   : need_of_reg(abi->ra));
	if (!leaves && !via)
		return;
	memcpy(&after, place->state, sizeof(after));
	code_state_step(&after, abi, place->pc, insn);
	if (via && after.regs[insn->via].kind == CODE_RA)
		needs_note_end(&worker->needs, need_of_reg(insn->via));
	else if (leaves ||
		 needs_edges_from(&worker->edges, place->pc) == worker->edges.n) {
		if (callee_has_return_address(abi, &after))
			needs_note_end(&worker->needs,
			    abi->ra == CODE_NO_REG ? need_of_slot(after.regs[abi->sp])
						   : need_of_reg(abi->ra));
		else
			needs_note_doubt(&worker->needs);
	}
}

static bool repair_note(void *context, const struct code_place *place)
{
	struct validate_worker *worker = context;

	needs_note(&worker->needs, place, !place->ends);
	repair_note_end(worker, place);
	return true;
}

/* Finds out once for the look at hand what its ends need. */
static bool repair_has_needs(struct validate_worker *worker)
{
	if (worker->seen.asked_needs)
		return worker->seen.has_needs;
	worker->seen.asked_needs = true;
	needs_edges_sort(&worker->edges);
	needs_edges_sort(&worker->outs);
	needs_begin(&worker->needs, code_abi(worker->input->arch->code));
	(void)code_paths_visit(worker->paths, repair_note, worker);
	worker->seen.has_needs = needs_spread(&worker->needs, &worker->edges);
	worker->nomem |= worker->needs.nomem;
	return worker->seen.has_needs;
}

bool validate_repair(
    struct validate_worker *worker, const struct code_place *place, struct cfi_row *row)
{
	const struct arch *arch = worker->input->arch;
	const struct code_abi *abi = code_abi(arch->code);
	const struct need *list;
	struct code_state state;

	if (place->seeded || code_paths_is_disputed(worker->paths) ||
	    !repair_has_needs(worker))
		return false;
	list = needs_at(&worker->needs, place->pc);
	memcpy(&state, place->state, sizeof(state));
	return list &&
	       (list[NEED_SP].kind == NEED_NOTHING ? needs_apply_none(abi, &state)
						   : needs_apply(abi, list, &state)) &&
	       validate_row_of(arch, &state, row) && kind_is_stepped(arch, row);
}
