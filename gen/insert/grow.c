/* SPDX-License-Identifier: MIT */
/*
 * The method "grow": the section goes into a new segment at the end of the file, and the
 * program header table grows where it stands. A core dump has the first page of a file at
 * most, so table and build-id stay there.
 *
 * Entries come, in this order, from spare entries of the table, from free bytes behind it,
 * and from what stands behind it and can move (gen/insert/grow_block.c). Where all of them are
 * not enough, the table moves (gen/insert/grow_table.c).
 */
#include "gen/insert/internal.h"

#include "base/num.h"

/*
 * Uses spare entries; returns how many more are needed. The new entries come behind those that stay, because
 * LLVM's tools take a segment that starts where an earlier entry does for a part of that entry.
 */
static size_t take_spares(const struct insert_slots *slots, struct insert_plan *plan)
{
	size_t n = 0;

	if (slots->sframe_segment != INSERT_NONE)
		plan->dropped[n++] = slots->sframe_segment;
	for (size_t i = 0; n < 2 && i < slots->n_spare; i++)
		plan->dropped[n++] = slots->spare[i];
	plan->n_phdrs += 2 - n;
	return 2 - n;
}

/*
 * Places the new segment at the end of the file, and in memory above everything, on the
 * page behind the .bss: glibc's _dl_find_object knows all segments of a program only when
 * no page is free between them. The address is congruent to the end of the file, which
 * saves a hole. The table can be in the last segment, which then grows.
 */
static enum obstacle grow_place_segment(const struct image *image,
    const struct insert_slots *slots, struct insert_plan *plan, struct err *err)
{
	uint64_t align = insert_segment_align(image, 0), end, off, addr;
	uint64_t max = insert_max_addr(slots);
	uint64_t size =
	    plan->grow.segment_end ? plan->grow.segment_end : plan->sframe_size;

	if (!insert_end_of_memory(image, &end, err))
		return OBSTACLE_NO_ROOM;
	if (plan->table_load != INSERT_NONE) {
		const GElf_Phdr *load = &image->phdrs[plan->table_load];
		uint64_t grown =
		    load->p_vaddr + (insert_table_load_end(plan) - load->p_offset);

		end = grown > end ? grown : end;
	}
	if (!num_align_up(image->size, INSERT_SFRAME_ALIGN, &off) ||
	    !num_align_up(end, align, &addr) || addr > max - align ||
	    off > INSERT_MAX_PLACE)
		return OBSTACLE_NO_ROOM;
	addr += off & (align - 1);
	if (size > max - addr || size > INSERT_MAX_PLACE - off)
		return OBSTACLE_TOO_LARGE;
	plan->segment_addr = plan->sframe_addr = addr;
	plan->segment_off = plan->sframe_off = off;
	plan->segment_size = size;
	plan->segment_align = align;
	return OBSTACLE_NONE;
}

static enum obstacle grow_in_place(const struct image *image,
    const struct insert_slots *slots, struct insert_plan *plan, struct err *err)
{
	enum obstacle obstacle;
	size_t added;

	if (!slots->editable)
		return OBSTACLE_TABLE;
	added = take_spares(slots, plan);
	if (!insert_take_room(slots, added, plan)) {
		obstacle = insert_grow_block(image, slots, added, plan);
		if (obstacle != OBSTACLE_NONE)
			return obstacle;
	}
	return grow_place_segment(image, slots, plan, err);
}

enum obstacle insert_plan_grow(const struct image *image,
    const struct insert_slots *slots, struct insert_plan *plan, struct err *err)
{
	enum obstacle obstacle = grow_in_place(image, slots, plan, err);

	if (obstacle == OBSTACLE_NONE)
		return obstacle;
	/* Forgets the failed attempt. */
	*err = (struct err){0};
	insert_plan_start(image, METHOD_GROW, plan);
	plan->table_moves_for = obstacle;
	return insert_grow_table(image, slots, plan, err);
}
