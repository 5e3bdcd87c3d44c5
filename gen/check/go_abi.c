/* SPDX-License-Identifier: MIT */
/* Promises of Go's ABI for AArch64 beyond the psABI. */
#include <string.h>

#include "base/search.h"
#include "gen/check/unit.h"

enum {
	/* Go keeps the frame pointer in the 8 bytes below SP, and callees leave them alone. So a
	 * function's frame pointer at its entry is 8 below the CFA. */
	GO_FP_BELOW = 8,
	/* Register in which a function that asks for more stack puts its own return address. */
	GO_LINK = 3,
	GO_MAX_STUB = 4, /* instructions */
};

bool validate_is_go(const struct validate_worker *worker, const struct cfi_fde *fde)
{
	return worker->input->arch->code == CODE_AARCH64 && fde &&
	       cfi_fde_source(&worker->input->frames, fde) == SOURCE_GO;
}

/* True for runtime.morestack, which gives the goroutine a larger stack and goes back with the
 * return address that it got. */
static bool is_more_stack(const struct validate_worker *worker, uint64_t target)
{
	const struct go_cfi *go = &worker->input->sources.go.cfi;
	const size_t i = search_list_above(go->left, go->n_left, start, target);

	return i && go->left[i - 1].start == target &&
	       strcmp(go->left[i - 1].name, "runtime.morestack") == 0;
}

/* Returns where an entry with few instructions goes on: runtime.morestack_noctxt sets a register first. */
static uint64_t goes_on_at(const struct validate_worker *worker, uint64_t target)
{
	struct code_insn insn;
	uint64_t pc = target;

	for (int i = 0; i < GO_MAX_STUB && validate_read_insn(worker->callees, pc, &insn);
	     i++) {
		if (insn.control != CODE_CONTINUES)
			return insn.control == CODE_JUMPS ? insn.target : target;
		pc += insn.length;
	}
	return target;
}

void validate_go_keeps(struct validate_worker *worker, uint64_t pc,
    const struct code_insn *call, const struct code_state *before,
    struct code_state *after)
{
	const struct validate_part *part = validate_part_at(worker, pc);
	const struct code_abi *abi = code_abi(worker->input->arch->code);
	const struct code_value slot =
	    code_value_plus(before->regs[abi->sp], -GO_FP_BELOW);

	if (!part || !part->go)
		return;
	if (slot.kind == CODE_CFA)
		code_state_set_memory(after, slot, code_state_memory(before, slot));
	if (call->control == CODE_CALLS &&
	    is_more_stack(worker, goes_on_at(worker, call->target)))
		after->regs[abi->ra] = before->regs[GO_LINK];
}

struct validate_answer validate_part_row(const struct validate_worker *worker,
    const struct validate_part *part, const struct cfi_row *row,
    const struct code_state *state)
{
	const struct validate_answer answer =
	    validate_row(worker->input->arch, row, state);
	struct cfi_row rest = *row;

	if (!part->go || answer.column != VALIDATE_FP || answer.found.kind != CODE_CFA ||
	    answer.found.off != -GO_FP_BELOW)
		return answer;
	rest.fp.kind = CFI_UNDEFINED;
	return validate_row(worker->input->arch, &rest, state);
}
