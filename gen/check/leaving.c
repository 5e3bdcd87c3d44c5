/* SPDX-License-Identifier: MIT */
/* Places at which a function is left: what its callers learn from them, and what they say of its rows. */
#include <stdlib.h>

#include "gen/check/unit.h"

/* Returns the range of the function that the instruction hands over to; SIZE_MAX: none. */
static size_t leaves_for(struct validate_worker *worker, const struct code_insn *insn)
{
	size_t to;

	if ((insn->control != CODE_JUMPS && insn->control != CODE_BRANCHES) ||
	    validate_is_fragment(worker, insn->target) ||
	    validate_part_at(worker, insn->target))
		return SIZE_MAX;
	to = validate_range_at(worker, insn->target);
	return to != SIZE_MAX && validate_begins_function(worker, to, insn->target)
		   ? to
		   : SIZE_MAX;
}

/* True if the function may be left by the address in a register. */
static bool leaves_by_register(const struct code_abi *abi, const struct code_place *place)
{
	const uint8_t control = place->insn->control;

	return (control == CODE_JUMPS_TO || control == CODE_BRANCHES_TO) &&
	       (callee_is_bare(abi, place->state) ||
		   place->state->regs[place->insn->via].kind == CODE_RA);
}

/* Registers that callers may rely on: all that the psABI says, unless the function has set up a frame for them. */
static uint32_t kept_by_abi(const struct code_abi *abi, const struct code_state *after)
{
	uint32_t kept = UINT32_MAX;

	for (uint8_t i = 0; i < CODE_SCRATCH; i++)
		if (i != abi->sp &&
		    (after->regs[i].kind == CODE_CFA || after->regs[i].kind == CODE_MADE))
			kept &= ~(UINT32_C(1) << i);
	return kept | abi->clobbered;
}

/* Adds a way's end to the effect of the function. */
static void note_effect(struct validate_worker *worker, const struct code_place *place,
    const struct code_state *after, bool described, size_t to)
{
	const struct code_abi *abi = code_abi(worker->input->arch->code);
	const bool returns =
	    place->insn->control == CODE_RETURNS ||
	    (to == SIZE_MAX && place->state->regs[place->insn->via].kind == CODE_RA);
	const struct callee_effect *target =
	    to != SIZE_MAX && worker->effects ? &worker->effects[to] : NULL;
	struct callee_effect end = returns ? callee_return(abi, place, after, described)
					   : callee_jump(abi, after, target);

	end.kept = kept_by_abi(abi, after);
	callee_add(&worker->effect, &end);
	if (place->insn->control != CODE_RETURNS)
		return;
	worker->comes_back |= end.how == CALLEE_RETURNS && end.surely;
	worker->returns_oddly |= end.how != CALLEE_RETURNS || !end.surely;
}

/* True if SP is elsewhere than the ABI has it, behind a return or at the first byte of another function. */
static bool leaves_oddly(const struct code_abi *abi, const struct code_place *place,
    const struct code_state *after)
{
	const struct code_value sp = after->regs[abi->sp];
	const int64_t wanted =
	    place->insn->control == CODE_RETURNS ? abi->sp_exit_off : abi->sp_off;

	return sp.kind != CODE_UNKNOWN && (sp.kind != CODE_CFA || sp.off != wanted);
}

void validate_note_end(struct validate_worker *worker, const struct validate_part *part,
    const struct cfi_row *row, const struct code_place *place,
    struct validate_answer answer)
{
	const struct arch *arch = worker->input->arch;
	const struct code_abi *abi = code_abi(arch->code);
	const size_t to = leaves_for(worker, place->insn);
	const bool leaves = to != SIZE_MAX || place->insn->control == CODE_RETURNS;
	const struct callee_effect odd = {.how = CALLEE_ODD, .kept = UINT32_MAX};
	struct code_state after;
	bool described, oddly;

	if (!leaves && !leaves_by_register(abi, place)) {
		/* Control goes to another function's part, which returns in this one's name. */
		if (place->insn->control == CODE_JUMPS && abi->ra == CODE_NO_REG &&
		    !validate_part_at(worker, place->insn->target) &&
		    callee_has_return_address(abi, place->state) &&
		    !callee_is_bare(abi, place->state))
			callee_add(&worker->effect, &odd);
		return;
	}
	worker->nomem |= !validate_note_use(worker, part, to);
	memcpy(&after, place->state, sizeof(after));
	code_state_step(&after, abi, place->pc, place->insn);
	oddly = leaves && leaves_oddly(abi, place, &after);
	if (oddly)
		worker->result->ranges[part->range].reviews |= VALIDATE_REVIEW_RETURN;
	if (place->seeded) {
		worker->seen.seeded_well |= callee_is_bare(abi, place->state);
		worker->seen.seeded_oddly |= oddly;
		if (oddly)
			callee_add(&worker->effect, &odd);
		return;
	}
	described = validate_is_bare(arch, row, &worker->entry);
	note_effect(worker, place, &after, described, to);
	worker->seen.doubted |= leaves && described &&
				answer.verdict == VALIDATE_CONTRADICTS &&
				answer.column == VALIDATE_CFA;
}

/*
 * True if states that came from rows may contradict others. A row that is wrong itself leads to an end that
 * is none, unless the state is from behind a call that may not return, or from an FDE that is no function.
 */
static bool seeds_count(const struct validate_worker *worker)
{
	uint8_t reviews = 0;

	for (size_t i = 0; i < worker->n_parts; i++)
		reviews |= worker->result->ranges[worker->parts[i].range].reviews;
	return worker->n_entries && worker->seen.seeded_well &&
	       !worker->seen.seeded_oddly && !(reviews & VALIDATE_REVIEW_CALL);
}

/* Takes back faults that are not certain: all, or those of states that came from rows. */
static void take_back(struct validate_worker *worker, size_t first, bool all)
{
	size_t n = first;

	for (size_t i = first; i < worker->n_faults; i++) {
		const struct validate_fault *fault = &worker->faults[i];
		struct validate_range *result = &worker->result->ranges[fault->range];

		if (!all && !fault->seeded) {
			worker->faults[n++] = *fault;
			continue;
		}
		result->state = VALIDATE_OPEN;
		if (!result->first_open || result->first_open > fault->start)
			result->first_open = fault->start;
	}
	worker->n_faults = n;
	for (size_t i = first; i < n; i++)
		worker->result->ranges[worker->faults[i].range].state = VALIDATE_WRONG;
}

void validate_end_unit(struct validate_worker *worker, size_t n_faults)
{
	struct callee_effect effect = worker->effect;

	/* Behind a call the stack may be another one than was expected. */
	if (worker->seen.unsure && worker->seen.doubted)
		take_back(worker, n_faults, true);
	else if (!seeds_count(worker))
		take_back(worker, n_faults, false);
	if (effect.how == CALLEE_NEVER && code_paths_is_broken(worker->paths))
		effect.how = CALLEE_MAY;
	for (size_t i = 0; i < worker->n_parts; i++)
		if (worker->parts[i].entry)
			worker->result->ranges[worker->parts[i].range].effect = effect;
}

enum { NEWS_OF_STACK = 1, NEWS_OF_RETURN = 2 };

/* Returns the changes that callers of the function depend on. */
static uint8_t news_of(
    const struct callee_effect *old, const struct callee_effect *effect)
{
	uint8_t news = 0;

	if (callee_same(old, effect))
		return 0;
	if (old->how >= CALLEE_POPS || effect->how >= CALLEE_POPS ||
	    old->written != effect->written ||
	    (effect->how >= CALLEE_RETURNS && effect->kept != UINT32_MAX &&
		effect->kept != old->kept))
		news |= NEWS_OF_STACK;
	if (effect->surely)
		news |= NEWS_OF_RETURN;
	return news;
}

bool validate_publish(const struct validate_worker *workers, size_t n_workers,
    struct callee_effect *effects, bool settle, uint8_t *changed, bool *any)
{
	const struct validate_result *result = workers[0].result;
	uint8_t *news = calloc(result->n_ranges + 1, 1);
	const bool ok = news;

	for (size_t i = 0; news && i < result->n_ranges; i++) {
		struct callee_effect effect = result->ranges[i].effect;

		/* Forgets of an effect that still changes along with others what changes. */
		if (settle) {
			if (effects[i].how != effect.how ||
			    effects[i].pops != effect.pops ||
			    effects[i].surely != effect.surely)
				effect.how = CALLEE_ODD;
			callee_add(&effect, &effects[i]);
		}
		news[i] = news_of(&effects[i], &effect);
		effects[i] = effect;
	}
	for (size_t w = 0; news && w < n_workers; w++)
		for (size_t i = 0; i < workers[w].n_uses; i++) {
			const struct validate_link *use = &workers[w].uses[i];

			if (news[use->to] & NEWS_OF_STACK ||
			    (result->ranges[use->from].doubts && news[use->to]))
				changed[use->from] = *any = true;
		}
	free(news);
	return ok;
}
