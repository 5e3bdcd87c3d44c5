/* SPDX-License-Identifier: MIT */
/*
 * The rung "note": a new segment at the end of the file, as in "append", but both of its
 * program headers in places of the old table that can be spared. The table does not move,
 * so neither AT_PHDR nor core dumps change, and no hole is needed.
 */
#include "gen/write_parts.h"

#include "base/num.h"

/* Spare entries first, the bytes behind the table last: PT_PHDR then stays as it is. */
static bool take_slots(const struct write_slots *slots, struct write_plan *plan)
{
	size_t wanted = slots->sframe_segment == WRITE_NONE ? 2 : 1, next = 0;

	if (slots->n_spare + slots->room < wanted)
		return false;
	plan->sframe_entry = slots->sframe_segment;
	if (wanted == 2 && next < slots->n_spare)
		plan->sframe_entry = slots->spare[next++];
	if (next < slots->n_spare)
		plan->dropped = slots->spare[next++];
	plan->n_phdrs += wanted - next;
	return true;
}

/*
 * Above everything, behind guard pages for the sake of BFD's strip (gen/write_append.c),
 * and at an address congruent to the end of the file, which saves the padding.
 */
enum obstacle write_plan_note(const struct image *image, const struct write_slots *slots,
	struct write_plan *plan, struct err *err)
{
	uint64_t align = write_segment_align(image, 0), end, off, addr;

	if (!slots->editable)
		return OBSTACLE_TABLE;
	if (!take_slots(slots, plan))
		return slots->n_spare + slots->room ? OBSTACLE_ONE_SLOT
						    : OBSTACLE_NO_SLOT;
	if (!write_end_of_memory(image, &end, err) ||
		!num_align_up(image->size, WRITE_SFRAME_ALIGN, &off) ||
		!num_align_up(end, align, &addr) ||
		__builtin_add_overflow(addr, align * WRITE_GUARD_PAGES, &addr) ||
		addr > WRITE_MAX_PLACE || off > WRITE_MAX_PLACE)
		return OBSTACLE_NO_ROOM;
	addr += off & (align - 1);
	if (plan->sframe_size > WRITE_MAX_PLACE - addr ||
		plan->sframe_size > WRITE_MAX_PLACE - off)
		return OBSTACLE_TOO_LARGE;
	plan->segment_addr = plan->sframe_addr = addr;
	plan->segment_off = plan->sframe_off = off;
	plan->segment_size = plan->sframe_size;
	plan->segment_align = align;
	return OBSTACLE_NONE;
}
