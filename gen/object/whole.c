/* SPDX-License-Identifier: MIT */
/* Which functions of an object are described: those that can be as a whole. */
#include <stdlib.h>

#include "base/search.h"
#include "base/vec.h"
#include "gen/object/object_write.h"

/* Of one FDE. */
struct whole {
	uint64_t covered; /* bytes of code with rows */
	enum refusal why; /* of its first gap; REFUSE_NOTHING: there is none */
	bool periodic;	  /* rules over the PC, which only linkers write */
	bool counted;	  /* as dropped */
};

/* The FDE that covers pc; there is one. */
static uint32_t whole_fde(const struct cfi_ranges *ranges, uint64_t pc)
{
	return ranges->list[search_list_above(ranges->list, ranges->n, end, pc)].fde;
}

/* From the last gap to the first, so that the first one's reason stays. */
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

	/* Two FDEs cover it, and the gap went to the other one. */
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
	if (!vec_reserve(&coverage->gaps, &coverage->cap_gaps, coverage->n_gaps + 1))
		return false;
	coverage->gaps[coverage->n_gaps++] =
	    (struct coverage_gap){func->start, func->start + func->size, fde->pc, why};
	return true;
}

static int gap_compare(const void *a, const void *b)
{
	const struct coverage_gap *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Gaps that go on where one ends, for the same reason, are one. */
static void whole_join_gaps(struct coverage *coverage)
{
	size_t n = 0;

	if (coverage->n_gaps == 0)
		return;
	qsort(coverage->gaps, coverage->n_gaps, sizeof(*coverage->gaps), gap_compare);
	for (size_t i = 1; i < coverage->n_gaps; i++) {
		struct coverage_gap *last = &coverage->gaps[n], *gap = &coverage->gaps[i];

		if (gap->start == last->end && gap->why == last->why &&
		    gap->fde_pc == last->fde_pc)
			last->end = gap->end;
		else
			coverage->gaps[++n] = *gap;
	}
	coverage->n_gaps = n + 1;
}

/* In place, and in order: what stays moves up. */
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
	if (!ok)
		return err_set_nomem(err);
	model->n_funcs = n;
	whole_join_gaps(coverage);
	return true;
}
