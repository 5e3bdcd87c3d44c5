/* SPDX-License-Identifier: MIT */
/* Entries of a group that functions begin at. */
#include <stdlib.h>

#include "base/search.h"
#include "base/vec.h"
#include "gen/check/derive/function.h"

/* So many weak entries of a group are looked at; a group with more is full of labels. */
enum { CONFIRM_MAX = 64 };

static bool confirm_end(void *context, const struct code_place *place)
{
	derive_unit_at_end(context, place);
	return true;
}

static bool confirm_place(void *context, const struct code_place *place)
{
	struct derive_worker *worker = context;
	const struct cfi_row none = {0};

	worker->nomem |= !derived_add(
	    &worker->good, 0, place->pc, place->pc + place->insn->length, &none);
	return !worker->nomem;
}

static void confirm_forget(struct derive_worker *worker)
{
	worker->odd = worker->unsure = worker->comes_back = worker->hands_over =
	    worker->limited = worker->spoils = false;
}

/* Whether a way from the entry comes back, and none with another SP. */
static bool confirm_alone(struct derive_worker *worker, uint64_t entry, bool *good)
{
	struct err err = {0};

	confirm_forget(worker);
	if (!derive_unit_paths(worker, &entry, 1, confirm_end, &err))
		return false;
	*good = !worker->odd && !worker->limited && !worker->spoils &&
		!code_paths_is_broken(worker->paths) &&
		(worker->comes_back || worker->hands_over);
	return true;
}

bool derive_confirm(struct derive_worker *worker)
{
	struct err err = {0};
	size_t n = 0, looked_at = 0;
	bool ok = true;

	worker->choosy = false;
	if (worker->n_entries < 2)
		return true;
	if (!vec_reserve(
		&worker->good_entries, &worker->cap_good_entries, worker->n_entries))
		return false;
	for (size_t i = 0; ok && i < worker->n_entries; i++) {
		const uint64_t entry = worker->entries[i];
		size_t at = derive_piece_at(worker->groups, entry);
		bool good = worker->groups->pieces[at].doubt < DERIVE_WEAK;

		if (!good && looked_at++ < CONFIRM_MAX)
			ok = confirm_alone(worker, entry, &good);
		if (good)
			worker->good_entries[n++] = entry;
	}
	worker->choosy = n < worker->n_entries;
	worker->good.n = 0;
	if (ok && worker->choosy && n)
		ok = derive_unit_paths(
		    worker, worker->good_entries, n, confirm_place, &err);
	if (worker->good.n)
		qsort(worker->good.list, worker->good.n, sizeof(*worker->good.list),
		    search_order);
	confirm_forget(worker);
	return ok && !worker->nomem;
}

bool derive_is_good(const struct derive_worker *worker, uint64_t pc)
{
	const struct derived *good = &worker->good;
	size_t i;

	if (!worker->choosy)
		return true;
	i = search_list_above(good->list, good->n, end, pc);
	return i < good->n && good->list[i].start <= pc;
}
