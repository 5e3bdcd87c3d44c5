/* SPDX-License-Identifier: MIT */
/* Rows in which FP leads to the caller. */
#include "tests/bench/compare/frame_pointer.h"

#include <stdio.h>

void formats_frame_pointer_begin(struct formats_result *result)
{
	*result = (struct formats_result){0};
	snprintf(result->name, sizeof(result->name), "frame-pointers");
}

enum formats_reason formats_frame_pointer(
    const struct formats_machine *machine, const struct formats_answer *answer)
{
	const struct cfi_rule *cfa = &answer->cfa, *ra = &answer->ra, *fp = &answer->fp;

	/* The chain ends with a 0, which the start-up code takes care of. */
	if (answer->outermost)
		return FORMATS_OUTERMOST;
	if (ra->kind != CFI_AT_CFA || fp->kind != CFI_AT_CFA || ra->off != fp->off + 8 ||
	    machine->isa == FORMATS_S390X)
		return FORMATS_NO_FRAME;
	if (cfa->kind != CFI_REG_PLUS || cfa->reg != machine->cfi.fp_reg)
		return FORMATS_FRAME_UNSAID;
	/* FP holds the address of the pair: CFA + fp->off is FP. */
	return cfa->off == -fp->off ? FORMATS_SAID : FORMATS_NO_FRAME;
}

void formats_frame_pointer_add(
    struct formats_result *result, const struct formats_func *func)
{
	const struct formats_machine *machine = &func->input->machine;
	struct formats_walk walk = formats_walk_begin(func);

	while (formats_walk_next(&walk)) {
		struct formats_answer answer;
		enum formats_reason why = formats_answer_read(
		    machine, func->signal_frame, &func->table->rows[walk.row], &answer);

		if (why == FORMATS_SAID)
			why = formats_frame_pointer(machine, &answer);
		formats_result_code(result, why, walk.to - walk.from);
	}
}
