/* SPDX-License-Identifier: MIT */
/* Finds the functions of an object that can be described as a whole, and leaves out the others. */
#include <stdlib.h>

#include "base/search.h"
#include "gen/object/write.h"

/* State of one FDE. */
struct whole {
	uint64_t covered; /* bytes of code with rows */
	enum refusal why; /* of its first gap; REFUSE_NOTHING: there is none */
	bool periodic;	  /* rules over the PC, which only linkers write */
	bool counted;	  /* as dropped */
};

/* Returns the FDE that covers pc; there is one. */
static uint32_t whole_fde(const struct cfi_ranges *ranges, uint64_t pc)
{
	return ranges->list[search_list_above(ranges->list, ranges->n, end, pc)].fde;
}

/* Goes from the last gap to the first, so that the first one's reason stays. */
static void whole_survey(const struct cfi_input *input, const struct sf_section *model,
    const struct coverage *coverage, struct whole *wholes)
{
	for (size_t i = 0; i < input->frames.n_fdes; i++)
		wholes[i].why = REFUSE_NOTHING;
	for (size_t i = coverage->n_gaps; i-- > 0;)
		wholes[whole_fde(&input->ranges, coverage->gaps[i].start)].why =
		    coverage->gaps[i].why;
	for (size_t i = 0; i < model->n_funcs; i++) {
		const struct sf_func *func = &model->funcs[i];
		struct whole *whole = &wholes[whole_fde(&input->ranges, func->start)];

		whole->covered += func->size;
		whole->periodic |= func->pcmask;
	}
}

/* Settles a function that has rows for a part of its code, once for each of its pieces.
 */
static bool whole_drop(struct coverage *coverage, const struct sf_func *func,
    const struct cfi_fde *fde, struct whole *whole)
{
	enum refusal why = whole->why;

	/* Without a gap of its own: two FDEs cover the code, and the gap went to the other one. */
	if (why == REFUSE_NOTHING)
		why = whole->periodic ? REFUSE_CFA_EXPRESSION : REFUSE_OVERLAP;
	if (!whole->counted) {
		coverage->n_functions--;
		if (whole->why == REFUSE_NOTHING) {
			coverage->n_refused++;
			coverage->refused[why].functions++;
		}
	}
	whole->counted = true;
	coverage->refused[why].bytes += func->size;
	coverage->covered_bytes -= func->size;
	return coverage_add_gap(coverage, &(const struct coverage_gap){func->start,
					      func->start + func->size, fde->pc, why});
}

/* Sorts the gaps, and joins neighbours with one reason, which needs no memory. */
static bool whole_join_gaps(struct coverage *coverage)
{
	size_t n = coverage->n_gaps;
	bool ok = true;

	if (n)
		qsort(coverage->gaps, n, sizeof(*coverage->gaps), search_order);
	coverage->n_gaps = 0;
	for (size_t i = 0; ok && i < n; i++) {
		const struct coverage_gap gap = coverage->gaps[i];

		ok = coverage_add_gap(coverage, &gap);
	}
	return ok;
}

/* Works in place and in order: functions that stay move up. */
bool object_keep_whole(const struct cfi_input *input, struct sf_section *model,
    struct coverage *coverage, uint64_t *dropped, struct err *err)
{
	const struct cfi_frames *frames = &input->frames;
	struct whole *wholes = calloc(frames->n_fdes, sizeof(*wholes));
	size_t n = 0;
	bool ok = true;

	*dropped = 0;
	if (!wholes)
		return err_set_nomem(err);
	whole_survey(input, model, coverage, wholes);
	for (size_t i = 0; ok && i < model->n_funcs; i++) {
		const struct sf_func func = model->funcs[i];
		uint32_t index = whole_fde(&input->ranges, func.start);
		struct whole *whole = &wholes[index];

		if (whole->covered == frames->fdes[index].range && !whole->periodic) {
			model->funcs[n++] = func;
			continue;
		}
		*dropped += func.size;
		ok = whole_drop(coverage, &func, &frames->fdes[index], whole);
	}
	free(wholes);
	if (!ok || !whole_join_gaps(coverage))
		return err_set_nomem(err);
	model->n_funcs = n;
	return true;
}
