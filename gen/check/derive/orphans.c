/* SPDX-License-Identifier: MIT */
#include "gen/check/derive/orphans.h"

#include <stdlib.h>

#include "base/search.h"
#include "code/code.h"

/* Assemblers and compilers align functions to this many bytes at least. */
enum { ORPHAN_ALIGN = 16 };

struct orphans {
	enum code_machine machine;
	const struct derive_starts *dropped;
	struct derive_starts *starts;
	size_t n_before;
	struct code_parts parts;
};

static bool orphans_note(struct orphans *orphans, uint64_t addr)
{
	const struct derive_starts *dropped = orphans->dropped;
	size_t i = search_list_from(dropped->list, dropped->n, addr, addr);

	if (i < dropped->n && dropped->list[i].addr == addr)
		return true;
	return derive_starts_add(orphans->starts, addr, DERIVE_ORPHAN);
}

/* A part that is code: each aligned instruction behind one that never goes on. */
static bool orphans_in_code(struct orphans *orphans, const uint8_t *bytes, uint64_t size,
    uint64_t addr, bool behind_end)
{
	uint64_t at = 0;

	while (at < size) {
		uint8_t length;
		enum code_flow flow =
		    code_decode(orphans->machine, bytes + at, size - at, &length);

		if (flow == CODE_INVALID)
			return true;
		if (behind_end && flow != CODE_FILLER &&
		    (addr + at) % ORPHAN_ALIGN == 0 && !orphans_note(orphans, addr + at))
			return false;
		behind_end = flow == CODE_END || (behind_end && flow == CODE_FILLER);
		at += length;
	}
	return true;
}

/* A stretch that was not seen. behind_end: control does not come from the code in front of it. */
static bool orphans_in(struct orphans *orphans, const uint8_t *bytes, uint64_t size,
    uint64_t addr, bool behind_end)
{
	orphans->parts.n = 0;
	if (!code_split(orphans->machine, bytes, size, addr, &orphans->parts))
		return false;
	for (size_t i = 0; i < orphans->parts.n; i++) {
		const struct code_part *part = &orphans->parts.list[i];

		if (part->kind == CODE_KIND_CODE &&
		    !orphans_in_code(orphans, bytes + part->start, part->size,
			addr + part->start, behind_end || part->start > 0))
			return false;
	}
	return true;
}

static bool orphans_in_gap(
    struct orphans *orphans, const struct derive_gap *gap, const struct derived *seen)
{
	uint64_t at = gap->start;
	size_t i = search_list_above(seen->list, seen->n, end, at);
	bool behind_end = true;

	while (at < gap->end) {
		uint64_t next = i < seen->n ? seen->list[i].start : gap->end;

		if (next > gap->end)
			next = gap->end;
		if (next > at && !orphans_in(orphans, gap->bytes + (at - gap->start),
				     next - at, at, behind_end))
			return false;
		if (i == seen->n)
			break;
		if (seen->list[i].end > at)
			at = seen->list[i].end;
		behind_end = cfi_row_same(&seen->list[i].row, &derive_seen_end);
		i++;
	}
	return true;
}

bool derive_orphans_add(enum code_machine machine, const struct derive_gaps *gaps,
    struct derived *seen, const struct derive_starts *dropped,
    struct derive_starts *starts, bool *any)
{
	struct orphans orphans = {.machine = machine,
	    .dropped = dropped,
	    .starts = starts,
	    .n_before = starts->n};
	bool ok = true;

	if (seen->n)
		qsort(seen->list, seen->n, sizeof(*seen->list), search_order);
	for (size_t i = 0; ok && i < gaps->n; i++)
		ok = orphans_in_gap(&orphans, &gaps->list[i], seen);
	*any = starts->n > orphans.n_before;
	derive_starts_sort(starts);
	code_parts_deinit(&orphans.parts);
	return ok;
}
