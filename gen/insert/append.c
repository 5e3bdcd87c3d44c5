/* SPDX-License-Identifier: MIT */
/*
 * The method "append", for files that nothing else serves: the program header table moves
 * to a new read-only segment above everything, which is
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
 */
#include "gen/insert/internal.h"

#include <inttypes.h>

#include "base/num.h"

/* Besides what alignment and guard pages need, and where it is not a small part of the
 * file. A larger one is a large .bss, or a wide gap between segments, and tools that copy files write
 * it as zeros. */
#define MAX_HOLE (UINT64_C(1) << 20)
enum { HOLE_PART = 64 };

static enum obstacle no_room(uint64_t end, struct err *err)
{
	err_set(
	    err, ERR_LIMIT, "no room above the highest address in use, 0x%" PRIx64, end);
	return OBSTACLE_NO_ROOM;
}

static enum obstacle no_hole(const struct image *image, uint64_t hole, struct err *err)
{
	err_set(err, ERR_LIMIT,
	    "the method append does not apply: the program headers would stand after a "
	    "large .bss or wide gaps between segments, and make the file 0x%" PRIx64
	    " bytes longer; %s",
	    hole,
	    image->ehdr.e_type == ET_EXEC
		? "link it with GNU ld, or as a PIE (-pie, -static-pie)"
		: "convert it before another tool changes its headers");
	return OBSTACLE_HOLE;
}

/*
 * At the first PT_LOAD's distance between offset and address. Where nothing reads AT_PHDR,
 * the segment goes right behind the file instead, where the hole would be too large.
 */
static enum obstacle append_place_segment(const struct image *image,
    const struct insert_slots *slots, struct insert_plan *plan, struct err *err)
{
	const GElf_Phdr *first = &image->phdrs[slots->first_load];
	uint64_t bias = first->p_vaddr - first->p_offset;
	uint64_t align = insert_segment_align(image, bias), end, addr, off, hole, max;

	if (!insert_end_of_memory(image, &end, err))
		return OBSTACLE_NO_ROOM;
	if (!num_align_up(end, align, &addr) ||
	    __builtin_add_overflow(addr, align * INSERT_GUARD_PAGES, &addr) ||
	    !num_align_up(image->size, align, &off) || addr > insert_max_addr(slots))
		return no_room(end, err);
	/* Below the end of the file the address moves up, else the offset does. */
	hole =
	    addr - bias < off || addr - bias > INSERT_MAX_PLACE ? 0 : addr - bias - off;
	max = image->size / HOLE_PART > MAX_HOLE ? image->size / HOLE_PART : MAX_HOLE;
	max = slots->kernel ? 0 : max + align * (INSERT_GUARD_PAGES + 1);
	if (hole <= max) {
		off += hole;
		addr = off + bias;
	} else if (!slots->library && !slots->kernel) {
		return no_hole(image, hole, err);
	}
	if (addr < end || addr > insert_max_addr(slots))
		return no_room(end, err);
	plan->segment_addr = addr;
	plan->segment_off = off;
	plan->segment_align = align;
	return OBSTACLE_NONE;
}

/*
 * GNU strip 2.44 removes a PT_LOAD without table and sections, and counts its entry when
 * it places the sections of the segment in which the table is now: they are then mapped at
 * addresses which are not theirs.
 */
static bool only_table(const struct image *image, const GElf_Phdr *load)
{
	for (size_t i = 1; i < image->n_sections; i++) {
		const GElf_Shdr *hdr = &image->sections[i].hdr;

		if (hdr->sh_flags & SHF_ALLOC && hdr->sh_addr >= load->p_vaddr &&
		    hdr->sh_addr - load->p_vaddr < load->p_memsz)
			return false;
	}
	return image->n_sections > 0;
}

enum obstacle insert_plan_append(const struct image *image,
    const struct insert_slots *slots, struct insert_plan *plan, struct err *err)
{
	enum obstacle obstacle = append_place_segment(image, slots, plan, err);
	uint64_t gap, into;

	if (obstacle != OBSTACLE_NONE)
		return obstacle;
	if (slots->room == 2 && only_table(image, &image->phdrs[slots->first_load]))
		return OBSTACLE_EMPTIED;
	/* Without a PT_PHDR glibc looks for a library's table in its segments, and after
	 * BFD's strip finds the tail of the .bss. */
	plan->add_phdr = slots->library && !slots->has_phdr;
	plan->sframe_entry = slots->sframe_segment;
	plan->n_phdrs += 1 + plan->add_phdr + (slots->sframe_segment == INSERT_NONE);
	gap = insert_table_size(plan);
	into = (2 * gap + INSERT_SFRAME_ALIGN - 1) & ~(uint64_t)(INSERT_SFRAME_ALIGN - 1);
	plan->phdr_off = plan->segment_off + gap;
	plan->phdr_addr = plan->segment_addr + gap;
	plan->sframe_off = plan->segment_off + into;
	plan->sframe_addr = plan->segment_addr + into;
	if (__builtin_add_overflow(into, plan->sframe_size, &plan->segment_size) ||
	    plan->segment_size > insert_max_addr(slots) - plan->segment_addr ||
	    plan->segment_size > INSERT_MAX_PLACE - plan->segment_off) {
		err_set(err, ERR_LIMIT, "a section of 0x%" PRIx64 " bytes is too large",
		    plan->sframe_size);
		return OBSTACLE_TOO_LARGE;
	}
	return OBSTACLE_NONE;
}
