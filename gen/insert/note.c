/* SPDX-License-Identifier: MIT */
/*
 * The rung "note": a new segment at the end of the file, as in "append", but both of its
 * program headers in places of the old table that can be spared. The table does not move,
 * so neither AT_PHDR nor core dumps change, and no hole is needed.
 */
#include "gen/insert/internal.h"

#include "base/num.h"

/* Spare entries first, the bytes behind the table last: PT_PHDR then stays as it is. */
size_t write_take_spares(const struct write_slots *slots, struct write_plan *plan)
{
	size_t wanted = slots->sframe_segment == WRITE_NONE ? 2 : 1, next = 0;

	plan->sframe_entry = slots->sframe_segment;
	if (wanted == 2 && next < slots->n_spare)
		plan->sframe_entry = slots->spare[next++];
	if (next < slots->n_spare)
		plan->dropped = slots->spare[next++];
	return wanted - next;
}

bool write_take_room(const struct write_slots *slots, size_t n, struct write_plan *plan)
{
	if (n > slots->room)
		return false;
	plan->n_phdrs += n;
	/* The PT_LOAD has room of its own, or ends with the table and grows. */
	if (n > slots->room_inside)
		plan->table_load = slots->table_load;
	return true;
}

/*
 * Above everything, behind guard pages for the sake of BFD's strip (gen/insert/append.c),
 * and at an address congruent to the end of the file, which saves the padding.
 */
enum obstacle write_place_above(const struct image *image, uint64_t before,
	struct write_plan *plan, struct err *err)
{
	uint64_t align = write_segment_align(image, 0), end, off, addr;

	if (!write_end_of_memory(image, &end, err) ||
		!num_align_up(image->size, WRITE_SFRAME_ALIGN, &off) ||
		!num_align_up(before, WRITE_SFRAME_ALIGN, &before) ||
		!num_align_up(end, align, &addr) ||
		__builtin_add_overflow(addr, align * WRITE_GUARD_PAGES, &addr) ||
		addr > WRITE_MAX_PLACE || off > WRITE_MAX_PLACE)
		return OBSTACLE_NO_ROOM;
	addr += off & (align - 1);
	if (before > image->size || plan->sframe_size > WRITE_MAX_PLACE - addr - before ||
		plan->sframe_size > WRITE_MAX_PLACE - off - before)
		return OBSTACLE_TOO_LARGE;
	plan->segment_addr = addr;
	plan->segment_off = off;
	plan->sframe_addr = addr + before;
	plan->sframe_off = off + before;
	plan->segment_size = before + plan->sframe_size;
	plan->segment_align = align;
	return OBSTACLE_NONE;
}

enum obstacle write_plan_note(const struct image *image, const struct write_slots *slots,
	struct write_plan *plan, struct err *err)
{
	size_t added;

	if (!slots->editable)
		return OBSTACLE_TABLE;
	added = write_take_spares(slots, plan);
	if (!write_take_room(slots, added, plan))
		return slots->n_spare + slots->room ? OBSTACLE_ONE_SLOT
						    : OBSTACLE_NO_SLOT;
	return write_place_above(image, 0, plan, err);
}
