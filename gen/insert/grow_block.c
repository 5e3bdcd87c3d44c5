/* SPDX-License-Identifier: MIT */
/*
 * Chooses the sections that move to make room for a grown program header table:
 *
 *     before  table | .interp, notes             | .gnu.hash, .dynsym | ...
 *     after   table, grown | build-id            | (unused)           | ... | segment
 *
 * In a library or PIE the unused bytes begin with a gap: patchelf adds entries to the table,
 * and moves what is there only as far as sections stand in the order of their headers.
 *
 * A unit is one section, or several that one program header names together. A unit either
 * shifts, which means it stays in the first page, or it moves into the new segment.
 * Only sections move whose contents only loaders and debuggers look at, by tables
 * that are corrected too. Hash tables and dynamic symbols leave the page first. What only
 * program headers name follows where that is not possible: patchelf 0.18 overwrites the
 * first page of a file whose first section is elsewhere. At last a PT_NOTE keeps the
 * build-id alone: no loader reads the notes behind it in a static program.
 */
#include "gen/insert/internal.h"

#include <string.h>

#include "base/num.h"

/* Sections are compared with each other. Linkers put fewer than ten there. */
enum { MAX_ALIGN = 8, MAX_SECTIONS = 64 };

enum kind {
	KIND_FIXED,   /* may not move */
	KIND_SHIFTS,  /* stays in the first page: tools look for it in core dumps */
	KIND_NAMED,   /* only program headers lead to it */
	KIND_DYNAMIC, /* the dynamic section leads to it */
};

struct unit {
	uint64_t off, size;
	enum kind kind;
	bool to_segment;
	bool cut; /* to the segment in any case: a PT_NOTE ends before it that did not */
};

struct block {
	struct unit units[INSERT_MAX_MOVES];
	size_t n;
	uint64_t start, end;   /* the table's end, and that of the last unit */
	uint64_t by;	       /* bytes that the table grows by */
	uint64_t gap;	       /* free bytes behind that, where a unit leaves the block */
	bool named_to_segment; /* KIND_NAMED may go there, too */
	bool cut_notes;	       /* ... out of the PT_NOTE of what shifts */
	bool load_grows;       /* the PT_LOAD of the table, into the padding behind it */
};

int64_t insert_grow_tag(uint32_t type)
{
	switch (type) {
	case SHT_GNU_HASH:
		return DT_GNU_HASH;
	case SHT_HASH:
		return DT_HASH;
	case SHT_DYNSYM:
		return DT_SYMTAB;
	case SHT_STRTAB:
		return DT_STRTAB;
	case SHT_RELA:
		return DT_RELA;
	default:
		return DT_NULL;
	}
}

int64_t insert_grow_size_tag(uint32_t type)
{
	return type == SHT_RELA ? DT_RELASZ : type == SHT_STRTAB ? DT_STRSZ : DT_NULL;
}

/* Only notes of these names are known not to be read by the program itself. */
static enum kind note_kind(const char *name)
{
	static const char *const shifted[] = {
	    ".note.gnu.build-id", ".note.package", ".note.go.buildid"};
	static const char *const named[] = {
	    ".note.gnu.property", ".note.ABI-tag", ".note.dlopen"};

	for (size_t i = 0; i < sizeof(shifted) / sizeof(shifted[0]); i++)
		if (strcmp(name, shifted[i]) == 0)
			return KIND_SHIFTS;
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
		if (strcmp(name, named[i]) == 0)
			return KIND_NAMED;
	return KIND_FIXED;
}

/*
 * A program that no loader but the kernel's sees: it relocates itself by its tags alone,
 * and no other reader has a use for its names and its .note.ABI-tag. Old versions of
 * ldconfig look for the names of a library in its first segment only.
 */
static bool is_static(const struct image *image)
{
	uint64_t value;

	if (image_segment_find(image, PT_INTERP) ||
	    image_dynamic(image, DT_NEEDED, &value) ||
	    image_dynamic(image, DT_SONAME, &value))
		return false;
	return image->ehdr.e_type == ET_EXEC ||
	       (image_dynamic(image, DT_FLAGS_1, &value) && value & DF_1_PIE);
}

static enum kind unit_kind(const struct image *image, const struct image_section *section)
{
	uint64_t symbols;

	if (section->hdr.sh_type == SHT_NOTE)
		return note_kind(section->name);
	/* Without a dynamic section the code itself leads to relocations. */
	if (section->hdr.sh_type == SHT_STRTAB || section->hdr.sh_type == SHT_RELA)
		return is_static(image) && image_dynamic(image, DT_SYMTAB, &symbols)
			   ? KIND_DYNAMIC
			   : KIND_FIXED;
	if (insert_grow_tag(section->hdr.sh_type) != DT_NULL)
		return KIND_DYNAMIC;
	for (size_t i = 0; i < image->n_phdrs; i++)
		if (section->hdr.sh_type == SHT_PROGBITS &&
		    image->phdrs[i].p_type == PT_INTERP &&
		    image->phdrs[i].p_offset == section->hdr.sh_offset)
			return KIND_NAMED;
	return KIND_FIXED;
}

/* True if one program header names the last unit and the section together. */
static bool joins(
    const struct image *image, const struct unit *last, const GElf_Shdr *hdr)
{
	for (size_t i = 0; i < image->n_phdrs; i++) {
		const GElf_Phdr *phdr = &image->phdrs[i];

		if (phdr->p_type == PT_NOTE &&
		    num_range_inside(
			last->off - phdr->p_offset, last->size, phdr->p_filesz) &&
		    num_range_inside(
			hdr->sh_offset - phdr->p_offset, hdr->sh_size, phdr->p_filesz))
			return true;
	}
	return false;
}

/* Adds section number i behind the last unit; false when it may not move. */
static bool add_section(const struct image *image, size_t i, struct block *block)
{
	const struct image_section *section = &image->sections[i];
	const GElf_Shdr *hdr = &section->hdr;
	enum kind kind = unit_kind(image, section);
	struct unit *last = block->n ? &block->units[block->n - 1] : NULL;
	bool joined = last && joins(image, last, hdr);
	bool cut =
	    joined && block->cut_notes && kind == KIND_NAMED && last->kind == KIND_SHIFTS;

	if (kind == KIND_FIXED || !section->data || hdr->sh_offset < block->end ||
	    !hdr->sh_size || (hdr->sh_flags & ~(uint64_t)SHF_INFO_LINK) != SHF_ALLOC ||
	    hdr->sh_addralign > MAX_ALIGN ||
	    !image_is_zero(image, block->end, hdr->sh_offset))
		return false;
	block->end = hdr->sh_offset + hdr->sh_size;
	if (joined && !cut) {
		if (kind == KIND_DYNAMIC || last->kind == KIND_DYNAMIC ||
		    (last->cut && kind != KIND_NAMED))
			return false;
		last->size = block->end - last->off;
		last->kind = kind < last->kind ? kind : last->kind;
		return true;
	}
	if (block->n == INSERT_MAX_MOVES)
		return false;
	block->units[block->n++] = (struct unit){
	    .off = hdr->sh_offset, .size = hdr->sh_size, .kind = kind, .cut = cut};
	return true;
}

/* Returns the lowest place from at on that keeps the unit's alignment. */
static uint64_t place_of(const struct unit *unit, uint64_t at)
{
	return at + ((unit->off - at) & (MAX_ALIGN - 1));
}

/* Goes over a unit, from where the one before it ends. */
static uint64_t block_pass(const struct block *block, size_t i, uint64_t at)
{
	const struct unit *unit = &block->units[i];
	uint64_t free_to = block->start + block->by + block->gap;

	if (unit->to_segment)
		return at > free_to ? at : free_to;
	return place_of(unit, at) + unit->size;
}

/* Returns the end of the last unit that shifts. */
static uint64_t block_shifted_end(const struct block *block)
{
	uint64_t at = block->start + block->by;

	for (size_t i = 0; i < block->n; i++)
		at = block_pass(block, i, at);
	return at;
}

/* Moves as few units to the segment as make the room; false when all that may move are not enough. */
static bool choose_to_segment(struct block *block)
{
	for (size_t i = 0; i < block->n; i++)
		block->units[i].to_segment =
		    block->units[i].kind == KIND_DYNAMIC ||
		    (block->named_to_segment && block->units[i].kind == KIND_NAMED);
	if (block_shifted_end(block) > block->end)
		return false;
	for (size_t i = 0; i < block->n; i++) {
		if (!block->units[i].to_segment || block->units[i].kind != KIND_NAMED ||
		    block->units[i].cut)
			continue;
		block->units[i].to_segment = false;
		block->units[i].to_segment = block_shifted_end(block) > block->end;
	}
	return true;
}

/* Lets the units that shift use the padding behind the PT_LOAD, if the block reaches to its end. */
static bool block_pads(
    const struct image *image, const struct insert_slots *slots, struct block *block)
{
	const GElf_Phdr *load = &image->phdrs[slots->first_load];
	uint64_t end = block_shifted_end(block);

	if (block->end != load->p_offset + load->p_filesz || load->p_flags & PF_W ||
	    load->p_filesz != load->p_memsz ||
	    !insert_is_padding(image, slots->first_load, end - block->end))
		return false;
	block->end = end;
	block->load_grows = true;
	return true;
}

static bool find_block(const struct image *image, const struct insert_slots *slots,
    struct block *block, size_t *n_sections)
{
	for (size_t i = 1; i < image->n_sections && i <= MAX_SECTIONS; i++) {
		if (!add_section(image, i, block))
			return false;
		*n_sections = i;
		/* A unit is whole only when the section behind it is not part of it. */
		if (i + 1 < image->n_sections && joins(image, &block->units[block->n - 1],
						     &image->sections[i + 1].hdr))
			continue;
		if (choose_to_segment(block) || block_pads(image, slots, block))
			return true;
	}
	return false;
}

/* The section comes first in the new segment. LLVM's tools take a segment that starts where
 * PT_INTERP does for a part of that. */
static bool set_moves(
    const struct block *block, uint64_t sframe_size, struct insert_grow *grow)
{
	uint64_t segment;

	if (sframe_size > INSERT_MAX_PLACE - block->end ||
	    !num_align_up(sframe_size, MAX_ALIGN, &segment))
		return false;

	grow->block_off = block->start;
	grow->block_end = block->end;
	grow->shifted_off = grow->shifted_end = grow->unused = block->start + block->by;
	for (size_t i = 0; i < block->n; i++) {
		const struct unit *unit = &block->units[i];
		struct insert_move *move = &grow->moves[grow->n_moves++];

		move->off = unit->off;
		move->size = unit->size;
		move->to_segment = unit->to_segment;
		move->cut = unit->cut;
		move->to = place_of(unit, unit->to_segment ? segment : grow->unused);
		grow->unused = block_pass(block, i, grow->unused);
		if (unit->to_segment)
			segment = grow->segment_end = move->to + move->size;
		else
			grow->shifted_end = grow->unused;
		grow->moves_dynamic |= unit->kind == KIND_DYNAMIC;
	}
	/* The section .phdrs begins there, with this alignment. */
	grow->unused += -grow->unused & (INSERT_SFRAME_ALIGN - 1);
	if (grow->unused > block->end)
		grow->unused = block->end;
	return true;
}

bool insert_grow_moves(
    const struct insert_plan *plan, uint64_t off, uint64_t *new_off, uint64_t *new_addr)
{
	for (size_t i = 0; i < plan->grow.n_moves; i++) {
		const struct insert_move *move = &plan->grow.moves[i];
		uint64_t into = off - move->off;

		if (into >= move->size)
			continue;
		*new_off = move->to + into + (move->to_segment ? plan->segment_off : 0);
		*new_addr = move->to + into +
			    (move->to_segment ? plan->segment_addr : plan->grow.bias);
		return true;
	}
	return false;
}

uint64_t insert_grow_kept(const struct insert_grow *grow, const GElf_Phdr *phdr)
{
	for (size_t i = 0; phdr->p_type == PT_NOTE && i < grow->n_moves; i++) {
		const struct insert_move *move = &grow->moves[i];
		uint64_t into = move->off - phdr->p_offset;

		if (move->cut && into &&
		    num_range_inside(into, move->size, phdr->p_filesz))
			return into;
	}
	return phdr->p_filesz;
}

/* True if the program header is inside of one unit, with which it moves. A damaged one may not have all of any section. */
static bool in_unit(
    const struct image *image, const struct insert_grow *grow, const GElf_Phdr *phdr)
{
	uint64_t kept = insert_grow_kept(grow, phdr);
	bool inside = false, whole = false;

	for (size_t i = 0; i < grow->n_moves; i++)
		inside |= num_range_inside(
		    phdr->p_offset - grow->moves[i].off, kept, grow->moves[i].size);
	for (size_t i = 1; i <= grow->n_sections; i++)
		whole |=
		    num_range_inside(image->sections[i].hdr.sh_offset - phdr->p_offset,
			image->sections[i].hdr.sh_size, kept);
	return inside && whole && phdr->p_type != PT_LOAD &&
	       phdr->p_vaddr == phdr->p_offset + grow->bias &&
	       phdr->p_filesz == phdr->p_memsz;
}

/*
 * Table and block are in the first PT_LOAD, at the file's start; every other segment is
 * apart from the block or moves with a unit.
 */
static enum obstacle block_segments_obstacle(const struct image *image,
    const struct insert_slots *slots, bool load_grows, struct insert_grow *grow)
{
	const GElf_Phdr *load = &image->phdrs[slots->first_load];

	if (load->p_offset || (!load_grows && load->p_filesz < grow->block_end) ||
	    (load->p_flags & (PF_R | PF_W)) != PF_R ||
	    grow->shifted_end > INSERT_MIN_PAGE)
		return OBSTACLE_GROW_TABLE;
	grow->bias = load->p_vaddr;
	for (size_t i = 0; i < image->n_phdrs; i++) {
		const GElf_Phdr *phdr = &image->phdrs[i];
		uint64_t end;

		/* Only a PT_LOAD is known to be inside of the file. */
		if (__builtin_add_overflow(phdr->p_offset, phdr->p_filesz, &end))
			end = UINT64_MAX;
		if (i != slots->first_load && phdr->p_filesz &&
		    !in_unit(image, grow, phdr) && phdr->p_offset < grow->block_end &&
		    grow->block_off < end)
			return OBSTACLE_GROW_SEGMENT;
	}
	return OBSTACLE_NONE;
}

/* Addresses must be those that the segment gives, and no other section may reach into the
 * block. */
static bool block_sections_fit(const struct image *image, const struct insert_grow *grow)
{
	for (size_t i = 1; i < image->n_sections; i++) {
		const GElf_Shdr *hdr = &image->sections[i].hdr;
		/* mold gives .bss and the like the offset 0. */
		bool no_bytes =
		    hdr->sh_type == SHT_NULL ||
		    (hdr->sh_type == SHT_NOBITS && hdr->sh_offset < grow->block_off);

		if (i <= grow->n_sections ? hdr->sh_addr != hdr->sh_offset + grow->bias
					  : hdr->sh_offset < grow->block_end && !no_bytes)
			return false;
	}
	return true;
}

/*
 * The readers of hash tables and symbols are known for what a loader loads, for the loader
 * itself (it has a DT_SONAME) and for a static PIE: they use the dynamic section. Kernels
 * and firmware may have readers of their own.
 */
static bool is_dynamic(const struct image *image, const struct insert_slots *slots)
{
	uint64_t value;

	if (!image_dynamic(image, DT_SYMTAB, &value))
		return false;
	return image_segment_find(image, PT_INTERP) || slots->library ||
	       image_dynamic(image, DT_SONAME, &value) ||
	       (image_dynamic(image, DT_FLAGS_1, &value) && value & DF_1_PIE);
}

static enum obstacle plan_block(const struct image *image,
    const struct insert_slots *slots, struct block block, struct insert_plan *plan)
{
	struct insert_grow *grow = &plan->grow;
	enum obstacle obstacle;

	*grow = (struct insert_grow){0};
	if (!find_block(image, slots, &block, &grow->n_sections))
		return OBSTACLE_GROW_BLOCK;
	if (!set_moves(&block, plan->sframe_size, grow))
		return OBSTACLE_TOO_LARGE;
	if (grow->moves_dynamic && !is_dynamic(image, slots))
		return OBSTACLE_GROW_KIND;
	obstacle = block_segments_obstacle(image, slots, block.load_grows, grow);
	if (obstacle != OBSTACLE_NONE)
		return obstacle;
	if (!block_sections_fit(image, grow))
		return OBSTACLE_GROW_BLOCK;
	plan->table_load = block.load_grows ? slots->first_load : INSERT_NONE;
	return insert_grow_refs(image, grow);
}

/* Entries that patchelf adds to the table: a PT_LOAD, and a PT_NOTE for each note that shares one. */
static uint64_t patchelf_gap(const struct image *image)
{
	size_t notes = 0, named = 0;

	if (image->ehdr.e_type != ET_DYN)
		return 0;
	for (size_t i = 1; i < image->n_sections; i++)
		notes += image->sections[i].hdr.sh_type == SHT_NOTE;
	for (size_t i = 0; i < image->n_phdrs; i++)
		named += image->phdrs[i].p_type == PT_NOTE;
	return (1 + (notes > named ? notes - named : 0)) * INSERT_PHDR_SIZE;
}

enum obstacle insert_grow_block(const struct image *image,
    const struct insert_slots *slots, size_t added, struct insert_plan *plan)
{
	uint64_t end = image->ehdr.e_phoff + image->n_phdrs * INSERT_PHDR_SIZE;
	struct block block = {.start = end, .end = end, .by = added * INSERT_PHDR_SIZE};
	enum obstacle obstacle = OBSTACLE_NONE;

	if (!image->n_sections)
		return OBSTACLE_GROW_SECTIONS;
	if (image->ehdr.e_phoff != INSERT_EHDR_SIZE || !slots->phdr_right)
		return OBSTACLE_GROW_TABLE;
	for (int try = 0; try < (is_static(image) ? 6 : 4); try++) {
		enum obstacle now;

		block.gap = try % 2 ? 0 : patchelf_gap(image);
		block.named_to_segment = try > 1;
		block.cut_notes = try > 3;
		now = plan_block(image, slots, block, plan);
		if (now == OBSTACLE_NONE)
			return now;
		/* The first attempt without a gap has the reason to report. */
		if (try == 1)
			obstacle = now;
	}
	return obstacle;
}
