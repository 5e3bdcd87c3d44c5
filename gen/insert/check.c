/* SPDX-License-Identifier: MIT */
/*
 * Reads the finished file and compares it with the input: what was not meant to change did
 * not, and what a loader needs holds. Shares with the writer the table of slots, and what a size,
 * an alignment or a tag of the new segment is.
 */
#include "gen/insert/internal.h"

#include <inttypes.h>
#include <string.h>

#include "base/num.h"
#include "gen/elf/window.h"
#include "gen/insert/undo.h"

/* True if the section is inside of the one that it takes the place of. */
static bool check_is_over_old(const struct image *input, const struct insert_plan *plan)
{
	const GElf_Phdr *old;

	if (plan->sframe_entry == INSERT_NONE)
		return false;
	old = &input->phdrs[plan->sframe_entry];
	return old->p_type == IMAGE_PT_GNU_SFRAME && plan->sframe_off == old->p_offset &&
	       plan->sframe_size <= old->p_filesz;
}

/*
 * Checks the plan against the changes that its method may make, apart from those that both make: the
 * ELF header's words for the two tables, and bytes behind the input's last. "slack" writes over an
 * old section or over padding, which a PT_LOAD then maps. "grow" adds a PT_LOAD, and what stands
 * behind the table makes room (check_grow.c), unless the table moves: then nothing else does. A table
 * that stays changes in place, and may lose entries (insert_check_spare). Everything else must stay.
 */
static bool check_plan(
    const struct image *input, const struct insert_plan *plan, struct err *err)
{
	const bool grow = plan->method == METHOD_GROW,
		   moves = insert_table_moves(input, plan);
	bool ok = grow == (plan->sframe_off >= input->size) &&
		  grow == (plan->segment_size > 0) &&
		  (grow ? plan->grown == INSERT_NONE : !moves && !plan->grow.n_sections);

	if (moves || insert_over_old(plan))
		ok &= !plan->grow.n_sections && plan->dropped[0] == INSERT_NONE &&
		      plan->table_load == INSERT_NONE;
	if (insert_over_old(plan))
		ok &= check_is_over_old(input, plan);
	if (!moves)
		ok &= !plan->add_phdr;
	return ok || err_set(err, ERR_INTERNAL, "the plan does more than %s may",
			 method_name(plan->method));
}

/* A walk through the input's bytes. The output must have the same ones, except in a few
 * ranges. */
struct walk {
	struct image_window input, output;
	size_t at; /* everything below has been dealt with */
	/* Ranges in which the two may differ, not compared so far: ascending. */
	struct insert_changes *skipped;
};

/* Compares up to off; the size bytes from there on may differ. */
static bool same_until(struct walk *walk, uint64_t off, uint64_t size)
{
	if (off < walk->at || !num_range_inside(off, size, walk->input.image->size) ||
	    !image_window_same(
		&walk->output, walk->at, &walk->input, walk->at, off - walk->at))
		return false;
	walk->at = (size_t)(off + size);
	if (size == 0)
		return true;
	if (walk->skipped->n == INSERT_MAX_RANGES)
		return false;
	walk->skipped->list[walk->skipped->n++] = (struct insert_range){off, size};
	return true;
}

/* Skips the bytes that "grow" changes; insert_check_grow compares their new contents. */
static bool same_grow(const struct insert_plan *plan, struct walk *walk)
{
	const struct insert_grow *grow = &plan->grow;

	return image_is_zero(walk->output.image, grow->shifted_end, grow->unused) &&
	       (grow->unused == grow->shifted_off ||
		   same_until(
		       walk, grow->shifted_off, grow->unused - grow->shifted_off)) &&
	       (!grow->dynamic_size ||
		   same_until(walk, grow->dynamic_off, grow->dynamic_size)) &&
	       (!grow->symbols_size ||
		   same_until(walk, grow->symbols_off, grow->symbols_size));
}

/*
 * Compares the whole file and not only its sections. Bytes between them may have a meaning
 * (notes without a section), and undo needs them.
 */
static bool check_bytes(
    const struct insert_plan *plan, struct walk *walk, struct err *err)
{
	const struct image *input = walk->input.image, *output = walk->output.image;
	uint64_t table = input->ehdr.e_phoff, table_size = insert_table_size(plan);
	bool edits = !insert_table_moves(input, plan);
	bool table_first = table < plan->sframe_off;
	GElf_Ehdr ehdr = output->ehdr;
	bool ok = output->size >= input->size && same_until(walk, 0, INSERT_EHDR_SIZE);

	ehdr.e_phoff = table;
	ehdr.e_shoff = input->ehdr.e_shoff;
	ehdr.e_phnum = input->ehdr.e_phnum;
	ehdr.e_shnum = input->ehdr.e_shnum;
	if (memcmp(&ehdr, &input->ehdr, sizeof(ehdr)) != 0)
		return err_set(err, ERR_INTERNAL,
		    "the output's ELF header differs in more than its tables");
	ok = ok && (!edits || !table_first || same_until(walk, table, table_size)) &&
	     (plan->method == METHOD_GROW
		     ? same_grow(plan, walk)
		     : same_until(walk, plan->sframe_off, plan->sframe_size)) &&
	     (!edits || table_first || same_until(walk, table, table_size));
	if (!ok || !same_until(walk, input->size, 0))
		return err_set(err, ERR_INTERNAL,
		    "an original byte differs in the output from offset 0x%zx on",
		    walk->at);
	return true;
}

/* Type, flags, address, offset and size. The bytes were compared with the whole file. */
static bool check_section(const struct image *input, const struct insert_plan *plan,
    const struct image *output, const struct insert_slots *slots, size_t i,
    struct err *err)
{
	const struct image_section *was = &input->sections[i], *is = &output->sections[i];
	GElf_Shdr hdr = is->hdr;

	if (i == slots->sframe_section ||
	    (i == slots->record_section && hdr.sh_offset == plan->record_off))
		return true;
	if (i == slots->names) {
		if (!was->data || !is->data || hdr.sh_size < was->hdr.sh_size ||
		    memcmp(was->data, is->data, (size_t)was->hdr.sh_size) != 0)
			return err_set(
			    err, ERR_INTERNAL, "the section name table lost names");
		hdr.sh_offset = was->hdr.sh_offset;
		hdr.sh_size = was->hdr.sh_size;
	}
	if (i <= plan->grow.n_sections) {
		hdr.sh_offset = was->hdr.sh_offset;
		hdr.sh_addr = was->hdr.sh_addr;
	}
	/* The last name of a table without a NUL may have become readable. */
	if (memcmp(&hdr, &was->hdr, sizeof(hdr)) != 0 ||
	    (*was->name && strcmp(was->name, is->name) != 0))
		return err_set(
		    err, ERR_INTERNAL, "section header %zu (%s) differs", i, was->name);
	return true;
}

/* New sections come behind the old, so that every index still means the same. */
static bool check_all_sections(const struct image *input, const struct insert_plan *plan,
    const struct image *output, const struct insert_slots *slots, struct err *err)
{
	if (output->n_sections != plan->n_sections)
		return err_set(err, ERR_INTERNAL, "%zu section headers instead of %zu",
		    output->n_sections, plan->n_sections);
	for (size_t i = 0; i < input->n_sections; i++)
		if (!check_section(input, plan, output, slots, i, err))
			return false;
	return true;
}

/* Checks an entry of the input that is in the output, too. */
static bool check_segment(const struct image *input, const struct insert_plan *plan,
    const struct image *output, size_t i, const GElf_Phdr *is)
{
	const GElf_Phdr *was = &input->phdrs[i];
	GElf_Phdr want = *was;

	if (i == plan->sframe_entry)
		return is->p_type == IMAGE_PT_GNU_SFRAME &&
		       insert_check_spare(input, plan, output, i);
	/* PT_PHDR is compared with the table itself later. */
	if (was->p_type == PT_PHDR && insert_table_changes(input, plan))
		return is->p_type == PT_PHDR;
	if (i == plan->grown) {
		want.p_filesz = want.p_memsz =
		    plan->sframe_off + plan->sframe_size - was->p_offset;
		if (was->p_flags != PF_R || was->p_filesz != was->p_memsz ||
		    want.p_filesz <= was->p_filesz)
			return false;
	}
	/* The PT_LOAD ended with the table or notes, and does so again. */
	if (i == plan->table_load) {
		uint64_t end = was->p_offset + was->p_filesz, last;

		last = plan->phdr_off + insert_table_size(plan);
		if (plan->grow.n_moves)
			last = plan->grow.block_end;
		want.p_filesz = want.p_memsz = last - was->p_offset;
		if (was->p_filesz != was->p_memsz || was->p_flags & PF_W ||
		    want.p_filesz < was->p_filesz ||
		    !image_is_zero(input, end, was->p_offset + want.p_filesz))
			return false;
	}
	if (plan->segment_size && was->p_type == PT_LOAD &&
	    was->p_align < INSERT_MIN_PAGE)
		want.p_align = INSERT_MIN_PAGE;
	return insert_grow_follow(input, plan, output, &want) &&
	       memcmp(&want, is, sizeof(want)) == 0;
}

/* The old program headers in their order, with the new PT_LOAD after the last of the old.
 */
static bool check_all_segments(const struct image *input, const struct insert_plan *plan,
    const struct image *output, const struct insert_slots *slots, struct err *err)
{
	bool add_load = plan->segment_size > 0;
	bool add_sframe = plan->sframe_entry == INSERT_NONE;
	size_t at = plan->add_phdr, wanted;

	wanted = input->n_phdrs + plan->add_phdr + add_load + add_sframe -
		 (plan->dropped[0] != INSERT_NONE) - (plan->dropped[1] != INSERT_NONE);
	if (output->n_phdrs != wanted)
		return err_set(err, ERR_INTERNAL, "%zu program headers instead of %zu",
		    output->n_phdrs, wanted);
	for (size_t i = 0; i < input->n_phdrs; i++) {
		bool gone = i == plan->dropped[0] || i == plan->dropped[1];
		bool ok =
		    gone ? insert_check_spare(input, plan, output, i)
			 : check_segment(input, plan, output, i, &output->phdrs[at++]);

		if (ok && i == slots->last_load && add_load)
			ok = output->phdrs[at].p_type == PT_LOAD &&
			     output->phdrs[at++].p_flags == PF_R;
		if (!ok)
			return err_set(
			    err, ERR_INTERNAL, "program header %zu differs", i);
	}
	return true;
}

static bool apart(
    uint64_t from, uint64_t to, uint64_t start, uint64_t size, uint64_t mask)
{
	return to <= (start & ~mask) || from >= ((start + size + mask) & ~mask);
}

/* No page of another segment may show the new bytes, nor RELRO reach over them. */
static bool check_padding(const struct image *input, const struct insert_plan *plan,
    const struct image *output, struct err *err)
{
	uint64_t mask = insert_segment_align(input, 0) - 1,
		 end = plan->sframe_addr + plan->sframe_size;
	const GElf_Phdr *old;
	bool ok = true;

	if (plan->grown == INSERT_NONE)
		return true;
	old = &input->phdrs[plan->grown];
	for (size_t i = 0; i < output->n_phdrs; i++) {
		const GElf_Phdr *phdr = &output->phdrs[i];

		if ((phdr->p_type != PT_LOAD && phdr->p_type != PT_GNU_RELRO) ||
		    (phdr->p_vaddr == old->p_vaddr && phdr->p_type == PT_LOAD) ||
		    !phdr->p_memsz)
			continue;
		ok &= apart(
		    old->p_vaddr + old->p_memsz, end, phdr->p_vaddr, phdr->p_memsz, mask);
		ok &= !phdr->p_filesz || apart(old->p_offset + old->p_filesz,
					     plan->sframe_off + plan->sframe_size,
					     phdr->p_offset, phdr->p_filesz, mask);
	}
	for (uint64_t i = old->p_offset + old->p_filesz;
	     i < plan->sframe_off + plan->sframe_size; i++)
		ok &= !input->bytes[i];
	return ok ||
	       err_set(err, ERR_INTERNAL, "the section is on a page of another segment");
}

/* Checks what the kernel and ld.so take for granted and do not check themselves. */
static bool check_loads(const struct image *output, struct err *err)
{
	uint64_t end = 0;

	for (size_t i = 0; i < output->n_phdrs; i++) {
		const GElf_Phdr *phdr = &output->phdrs[i];

		if (phdr->p_type != PT_LOAD)
			continue;
		if (phdr->p_vaddr < end)
			return err_set(err, ERR_INTERNAL,
			    "PT_LOAD %zu at 0x%" PRIx64 " starts below 0x%" PRIx64, i,
			    phdr->p_vaddr, end);
		if (phdr->p_align > 1 && (phdr->p_vaddr - phdr->p_offset) % phdr->p_align)
			return err_set(
			    err, ERR_INTERNAL, "PT_LOAD %zu is not congruent", i);
		if (phdr->p_filesz &&
		    !num_range_inside(phdr->p_offset, phdr->p_filesz, output->size))
			return err_set(
			    err, ERR_INTERNAL, "PT_LOAD %zu is not inside the file", i);
		end = phdr->p_vaddr + phdr->p_memsz;
	}
	return true;
}

/* The new segment has its pages in memory for itself: what it maps would hide what is there. */
static bool check_pages(
    const struct insert_plan *plan, const struct image *output, struct err *err)
{
	const uint64_t mask = insert_segment_align(output, 0) - 1;

	for (size_t i = 0; plan->segment_size && i < output->n_phdrs; i++) {
		const GElf_Phdr *phdr = &output->phdrs[i];

		if (phdr->p_type == PT_LOAD && phdr->p_vaddr != plan->segment_addr &&
		    !apart(plan->segment_addr, plan->segment_addr + plan->segment_size,
			phdr->p_vaddr, phdr->p_memsz, mask))
			return err_set(err, ERR_INTERNAL,
			    "PT_LOAD %zu is on a page of the new segment", i);
	}
	return true;
}

/* True if a PT_LOAD that has, of the flags in mask, just PF_R maps these file bytes to this address. */
static bool is_mapped(
    const struct image *image, uint64_t off, uint64_t addr, uint64_t size, uint32_t mask)
{
	for (size_t i = 0; i < image->n_phdrs; i++) {
		const GElf_Phdr *phdr = &image->phdrs[i];

		if (phdr->p_type == PT_LOAD && (phdr->p_flags & mask) == PF_R &&
		    addr >= phdr->p_vaddr &&
		    num_range_inside(addr - phdr->p_vaddr, size, phdr->p_filesz) &&
		    off - phdr->p_offset == addr - phdr->p_vaddr)
			return true;
	}
	return false;
}

/* glibc computes the load address of a program from PT_PHDR, so one that is off moves
 * everything. A table that stays as it is may be as odd as it was. */
static bool check_phdr_table(const struct image *input, const struct insert_plan *plan,
    const struct image *output, struct err *err)
{
	uint64_t size = output->n_phdrs * INSERT_PHDR_SIZE, off = output->ehdr.e_phoff;
	/* patchelf maps a table writable. There it may stay. */
	uint32_t mask = insert_table_moves(input, plan) ? PF_R | PF_W : PF_R;

	if (plan->add_phdr && output->phdrs[0].p_type != PT_PHDR)
		return err_set(
		    err, ERR_INTERNAL, "the new PT_PHDR is not the first program header");
	for (size_t i = 0; i < output->n_phdrs; i++) {
		const GElf_Phdr *phdr = &output->phdrs[i];

		if (phdr->p_type == PT_PHDR && insert_table_changes(input, plan) &&
		    (phdr->p_offset != off || phdr->p_filesz != size ||
			phdr->p_memsz != size || phdr->p_paddr != phdr->p_vaddr ||
			!is_mapped(output, off, phdr->p_vaddr, size, mask)))
			return err_set(
			    err, ERR_INTERNAL, "PT_PHDR does not match the moved table");
	}
	return true;
}

/* Kernels before 5.18 find the table of a program by the first PT_LOAD alone. */
static bool is_at_phdr(const struct image *image)
{
	uint64_t size = image->n_phdrs * INSERT_PHDR_SIZE, off = image->ehdr.e_phoff;

	for (size_t i = 0; i < image->n_phdrs; i++) {
		const GElf_Phdr *phdr = &image->phdrs[i];

		if (phdr->p_type == PT_LOAD)
			return is_mapped(image, off, off + phdr->p_vaddr - phdr->p_offset,
			    size, PF_R | PF_W);
	}
	return false;
}

/* strip and objcopy put a table that was moved where such kernels do not find it. There it may stay. */
static bool check_at_phdr(const struct image *input, const struct insert_plan *plan,
    const struct image *output, const struct insert_slots *slots, struct err *err)
{
	if (!insert_table_changes(input, plan) || slots->library || slots->kernel ||
	    (!insert_table_moves(input, plan) && !is_at_phdr(input)) ||
	    is_at_phdr(output))
		return true;
	return err_set(err, ERR_INTERNAL, "AT_PHDR does not point to the moved table");
}

/* Consumers find the section by segment, tools by section header: the two must say the
 * same. */
static bool check_sframe(
    const struct image *input, const struct image *output, struct err *err)
{
	const GElf_Phdr *found = NULL;
	const GElf_Shdr *hdr = NULL;
	size_t n_segments = 0, n_sections = 0;

	for (size_t i = 0; i < output->n_phdrs; i++) {
		if (output->phdrs[i].p_type != IMAGE_PT_GNU_SFRAME)
			continue;
		n_segments++;
		found = &output->phdrs[i];
	}
	for (size_t i = 1; i < output->n_sections; i++) {
		if (!image_is_sframe(&output->sections[i]))
			continue;
		n_sections++;
		hdr = &output->sections[i].hdr;
	}
	if (n_segments != 1 || n_sections != (input->n_sections > 0))
		return err_set(err, ERR_INTERNAL,
		    "%zu PT_GNU_SFRAME program headers and %zu sections", n_segments,
		    n_sections);
	if (found->p_filesz != found->p_memsz || found->p_vaddr % INSERT_SFRAME_ALIGN ||
	    !is_mapped(output, found->p_offset, found->p_vaddr, found->p_filesz,
		PF_R | PF_W | PF_X))
		return err_set(
		    err, ERR_INTERNAL, "PT_GNU_SFRAME is not in a read-only segment");
	if (hdr &&
	    (!(hdr->sh_flags & SHF_ALLOC) || hdr->sh_addr != found->p_vaddr ||
		hdr->sh_offset != found->p_offset || hdr->sh_size != found->p_filesz))
		return err_set(
		    err, ERR_INTERNAL, "PT_GNU_SFRAME does not cover the section");
	return true;
}

/* True if the two are the same in [from, to) after all. */
static bool same_where_skipped(struct walk *walk, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < walk->skipped->n; i++) {
		uint64_t first = walk->skipped->list[i].off,
			 last = first + walk->skipped->list[i].size;

		first = first > from ? first : from;
		last = last < to ? last : to;
		if (first < last && !image_window_same(&walk->output, first, &walk->input,
					first, last - first))
			return false;
	}
	return true;
}

/*
 * Finds the record the way a later removal will, from the file alone, and checks that every byte of the input
 * is either still there or in the record. Bytes that the walk has not skipped are there.
 */
static bool check_undo(struct walk *walk, struct err *err)
{
	const struct image *input = walk->input.image;
	struct image_patch range;
	struct undo undo;
	size_t pos = 0;
	uint64_t at = 0;
	bool found, ok;

	if (!undo_find(walk->output.image, &undo, &found, err))
		return err_prefix(err, "undo record");
	ok = found && undo.size == input->size;
	for (size_t i = 0; ok && i < undo.n_ranges; i++) {
		ok = undo_next(&undo, &pos, &range) && range.off >= at &&
		     num_range_inside(range.off, range.size, input->size) &&
		     same_where_skipped(walk, at, range.off);
		for (size_t k = 0; ok && k < range.size; k++)
			ok = input->bytes[range.off + k] ==
			     (range.data ? range.data[k] : 0);
		at = range.off + range.size;
	}
	if (!ok || !same_where_skipped(walk, at, input->size))
		return err_set(
		    err, ERR_INTERNAL, "the undo record does not give the original back");
	return true;
}

/* Ordered so that each check may rely on the ones before it. */
bool insert_check(const struct image *input, const struct insert_plan *plan,
    const struct image *output, struct insert_changes *changes, struct err *err)
{
	struct walk walk = {{.image = input}, {.image = output}, .skipped = changes};
	struct insert_slots slots;
	bool ok = insert_slots_find(input, &slots, err) && check_plan(input, plan, err) &&
		  check_bytes(plan, &walk, err) &&
		  check_all_sections(input, plan, output, &slots, err) &&
		  check_all_segments(input, plan, output, &slots, err) &&
		  insert_check_grow(input, plan, output, err) &&
		  check_loads(output, err) && check_pages(plan, output, err) &&
		  check_padding(input, plan, output, err) &&
		  check_phdr_table(input, plan, output, err) &&
		  check_at_phdr(input, plan, output, &slots, err) &&
		  check_sframe(input, output, err) && check_undo(&walk, err);

	image_window_free(&walk.input);
	image_window_free(&walk.output);
	/* A failure is this program's: the input is not to blame any more. */
	if (!ok && err->kind != ERR_NOMEM)
		err->kind = ERR_INTERNAL;
	return ok;
}
