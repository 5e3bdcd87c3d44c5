/* SPDX-License-Identifier: MIT */
/*
 * The last resort of the method "grow", for files in which nothing behind the program header
 * table can make room: the table itself moves, to a new read-only segment above everything,
 * which is
 *
 *     [gap, as large as the table][program header table][.sframe]
 *
 * and each part of that is there for a reason that was found by experiment:
 * - its file offset has the distance to its address that the first PT_LOAD has, because
 * kernels before 5.18 compute AT_PHDR as that distance plus e_phoff, and patchelf a
 * library's PT_PHDR likewise; where the .bss makes that hole too large only the former
 * forbids to go without;
 * - two pages between it and everything below, because BFD's strip moves the start of a
 * rewritten segment down by up to a page, which must not reach the .bss;
 * - the gap, because BFD puts its new table at the segment's start and the first section
 * behind it, and because llvm-objcopy takes a PT_LOAD that starts with the table for a
 * part of PT_PHDR;
 * - a section ".phdrs" over the table, because libelf zeroes what no section covers.
 *
 * A place in the first segment, where .dynsym was, will not do: strip and objcopy of BFD put the
 * table behind the ELF header again and shift the sections of its segment to make room.
 */
#include "gen/insert/internal.h"

#include "base/num.h"

/* Limit of the unused bytes that alignment and guard pages may leave, unless they are a
 * small part of the file. A larger hole means a large .bss, or a wide gap between
 * segments, and tools that copy files write it as zeros. */
#define MAX_HOLE (UINT64_C(1) << 20)
enum { HOLE_PART = 64 };

/*
 * At the first PT_LOAD's distance between offset and address. Where nothing reads AT_PHDR,
 * the segment goes right behind the file instead, where the hole would be too large.
 */
static enum obstacle table_place_segment(const struct image *image,
    const struct insert_slots *slots, struct insert_plan *plan, struct err *err)
{
	const GElf_Phdr *first = &image->phdrs[slots->first_load];
	uint64_t bias = first->p_vaddr - first->p_offset;
	/* Other segments can be aligned to more than the distance of the first one allows. */
	uint64_t page = insert_segment_align(image, 0),
		 align = insert_segment_align(image, bias), end, addr, off, hole, max;

	if (!insert_end_of_memory(image, &end, err))
		return OBSTACLE_NO_ROOM;
	if (!num_align_up(end, page, &addr) ||
	    __builtin_add_overflow(addr, page * INSERT_GUARD_PAGES, &addr) ||
	    !num_align_up(image->size, align, &off) || addr > insert_max_addr(slots))
		return OBSTACLE_NO_ROOM;
	/* Below the end of the file the address moves up, else the offset does. */
	hole =
	    addr - bias < off || addr - bias > INSERT_MAX_PLACE ? 0 : addr - bias - off;
	max = image->size / HOLE_PART > MAX_HOLE ? image->size / HOLE_PART : MAX_HOLE;
	if (slots->kernel)
		max = page * (INSERT_GUARD_PAGES + 1);
	if (hole <= max) {
		off += hole;
		addr = off + bias;
	} else if (!slots->library && !slots->kernel) {
		return OBSTACLE_HOLE;
	}
	if (addr < end || addr > insert_max_addr(slots))
		return OBSTACLE_NO_ROOM;
	plan->segment_addr = addr;
	plan->segment_off = off;
	plan->segment_align = align;
	return OBSTACLE_NONE;
}

enum obstacle insert_grow_table(const struct image *image,
    const struct insert_slots *slots, struct insert_plan *plan, struct err *err)
{
	enum obstacle obstacle = table_place_segment(image, slots, plan, err);
	uint64_t gap;

	if (obstacle != OBSTACLE_NONE)
		return obstacle;
	/* Without a PT_PHDR glibc looks for a library's table in its segments, and after
	 * BFD's strip finds the tail of the .bss. */
	plan->add_phdr = slots->library && !slots->has_phdr;
	plan->sframe_entry = slots->sframe_segment;
	plan->n_phdrs += 1 + plan->add_phdr + (slots->sframe_segment == INSERT_NONE);
	gap = insert_table_size(plan);
	plan->phdr_off = plan->segment_off + gap;
	plan->phdr_addr = plan->segment_addr + gap;
	plan->sframe_off = plan->phdr_off + gap;
	plan->sframe_addr = plan->phdr_addr + gap;
	if (__builtin_add_overflow(2 * gap, plan->sframe_size, &plan->segment_size) ||
	    plan->segment_size > insert_max_addr(slots) - plan->segment_addr ||
	    plan->segment_size > INSERT_MAX_PLACE - plan->segment_off)
		return OBSTACLE_TOO_LARGE;
	return OBSTACLE_NONE;
}
