/* SPDX-License-Identifier: MIT */
/* The three header tables of the output, for every method alike: what changes in them is in
 * the plan. */
#include "gen/insert/internal.h"

/* A number of fields of the original header, as they are. */
static void put_original(struct wr *wr, const struct image *image, size_t from, size_t to)
{
	wr_bytes(wr, image->bytes + from, to - from);
}

/*
 * Writes field by field between runs of the original bytes, so that reserved and
 * OS-specific fields survive without being known here.
 */
void insert_put_header(
    struct wr *wr, const struct image *image, const struct insert_plan *plan)
{
	/* Both counts were compared with their 16-bit limits when the slots were found.
	 */
	put_original(wr, image, 0, INSERT_E_PHOFF);
	wr_u64(wr, plan->phdr_off);
	wr_u64(wr, plan->shdr_off);
	put_original(wr, image, INSERT_E_PHOFF + 16, INSERT_E_PHNUM);
	wr_u16(wr, (uint16_t)plan->n_phdrs);
	put_original(wr, image, INSERT_E_PHNUM + 2, INSERT_E_SHNUM);
	wr_u16(wr, (uint16_t)plan->n_sections);
	put_original(wr, image, INSERT_E_SHNUM + 2, INSERT_EHDR_SIZE);
}

/* Elf64_Phdr in the order of the gABI; wr swaps for big-endian files. */
static void put_phdr(struct wr *wr, const GElf_Phdr *phdr)
{
	wr_u32(wr, phdr->p_type);
	wr_u32(wr, phdr->p_flags);
	wr_u64(wr, phdr->p_offset);
	wr_u64(wr, phdr->p_vaddr);
	wr_u64(wr, phdr->p_paddr);
	wr_u64(wr, phdr->p_filesz);
	wr_u64(wr, phdr->p_memsz);
	wr_u64(wr, phdr->p_align);
}

/* All the new entries are read-only and all file bytes: none has memory beyond its file
 * size. */
static GElf_Phdr phdr_of(
    uint32_t type, uint64_t off, uint64_t addr, uint64_t size, uint64_t align)
{
	return (GElf_Phdr){.p_type = type,
	    .p_flags = PF_R,
	    .p_offset = off,
	    .p_vaddr = addr,
	    .p_paddr = addr,
	    .p_filesz = size,
	    .p_memsz = size,
	    .p_align = align};
}

/* The PT_LOAD in whose padding the section is ends with it. */
static void put_extended_load(GElf_Phdr *phdr, const struct insert_plan *plan)
{
	phdr->p_filesz = plan->sframe_off + plan->sframe_size - phdr->p_offset;
	phdr->p_memsz = phdr->p_filesz;
}

/*
 * ld -N aligns a PT_LOAD by less than a page, and relies on the size of the headers in front of it.
 * With a table of another size, strip moves its bytes to an offset that the kernel maps elsewhere.
 * By its offset and address the PT_LOAD is aligned to pages already (gen/insert/refuse.c).
 */
static bool aligns_to_page(const struct insert_plan *plan, const GElf_Phdr *phdr)
{
	return plan->segment_size && phdr->p_type == PT_LOAD &&
	       phdr->p_align < INSERT_MIN_PAGE;
}

/*
 * Old entries keep their order and values, apart from the PT_PHDR that must follow the
 * table, a PT_LOAD that grows, one that gives its place, and the alignment of ld -N. The
 * new PT_LOAD goes behind the last one, because loaders demand ascending addresses;
 * PT_GNU_SFRAME may stand anywhere and goes last unless an entry became it.
 */
void insert_put_phdrs(struct wr *wr, const struct image *image,
    const struct insert_slots *slots, const struct insert_plan *plan)
{
	GElf_Phdr load = phdr_of(PT_LOAD, plan->segment_off, plan->segment_addr,
		      plan->segment_size, plan->segment_align),
		  sframe = phdr_of(IMAGE_PT_GNU_SFRAME, plan->sframe_off,
		      plan->sframe_addr, plan->sframe_size, INSERT_SFRAME_ALIGN),
		  table = phdr_of(PT_PHDR, plan->phdr_off, plan->phdr_addr,
		      insert_table_size(plan), INSERT_PHDR_ALIGN);
	uint64_t addr;

	/* Loaders that use physical addresses, as for a kernel, find it there, too. */
	load.p_paddr += insert_physical(image, slots);
	sframe.p_paddr += insert_physical(image, slots);
	/* Before any PT_LOAD (gABI, "Program Header"). */
	if (plan->add_phdr)
		put_phdr(wr, &table);
	for (size_t i = 0; i < image->n_phdrs; i++) {
		GElf_Phdr phdr = image->phdrs[i];
		uint64_t kept = insert_grow_kept(&plan->grow, &phdr);

		if (i == plan->sframe_entry) {
			phdr = sframe;
		} else if (i == plan->grown) {
			put_extended_load(&phdr, plan);
		} else if (i == plan->table_load) {
			phdr.p_filesz = insert_table_load_end(plan) - phdr.p_offset;
			phdr.p_memsz = phdr.p_filesz;
		} else if (phdr.p_type == PT_PHDR && insert_table_changes(image, plan)) {
			table.p_flags = phdr.p_flags;
			table.p_align = phdr.p_align;
			phdr = table;
		} else if (phdr.p_filesz && insert_grow_moves(plan, phdr.p_offset,
						&phdr.p_offset, &addr)) {
			phdr.p_paddr += addr - phdr.p_vaddr;
			phdr.p_vaddr = addr;
			phdr.p_memsz = phdr.p_filesz = kept;
		}
		if (aligns_to_page(plan, &phdr))
			phdr.p_align = INSERT_MIN_PAGE;
		if (i != plan->dropped[0] && i != plan->dropped[1])
			put_phdr(wr, &phdr);
		if (i == slots->last_load && plan->segment_size)
			put_phdr(wr, &load);
	}
	if (plan->sframe_entry == INSERT_NONE)
		put_phdr(wr, &sframe);
}

/* Elf64_Shdr likewise. */
void insert_put_shdr(struct wr *wr, const GElf_Shdr *hdr)
{
	wr_u32(wr, hdr->sh_name);
	wr_u32(wr, hdr->sh_type);
	wr_u64(wr, hdr->sh_flags);
	wr_u64(wr, hdr->sh_addr);
	wr_u64(wr, hdr->sh_offset);
	wr_u64(wr, hdr->sh_size);
	wr_u32(wr, hdr->sh_link);
	wr_u32(wr, hdr->sh_info);
	wr_u64(wr, hdr->sh_addralign);
	wr_u64(wr, hdr->sh_entsize);
}

/*
 * libelf zeroes what no section covers, and patchelf 0.14 takes it for space that it can
 * give to .dynamic, in a segment that is not writable.
 */
struct insert_range insert_owned(
    const struct image *image, const struct insert_plan *plan)
{
	uint64_t off = plan->grow.unused, end = plan->grow.block_end;

	if (insert_table_moves(image, plan))
		return (struct insert_range){plan->phdr_off, insert_table_size(plan)};
	return (struct insert_range){off, end - off};
}

static GElf_Shdr shdr_of(
    uint64_t name, uint32_t type, uint64_t off, uint64_t addr, uint64_t size)
{
	/* Name tables are not that long: one of 4 GiB would not be a section name table.
	 */
	return (GElf_Shdr){.sh_name = (uint32_t)name,
	    .sh_type = type,
	    .sh_flags = SHF_ALLOC,
	    .sh_addr = addr,
	    .sh_offset = off,
	    .sh_size = size,
	    .sh_addralign = INSERT_SFRAME_ALIGN};
}

/*
 * The old headers, of which one changes: that of the name table, which leads to the grown copy behind all
 * (and those of an SFrame section and a record that are replaced). The new ones come last, whatever their
 * addresses, so that no section changes its number. The undo record has a header because some tools keep only
 * the bytes of sections: a record that survives such a tool shows that the file was changed.
 */
void insert_put_shdrs(struct wr *wr, const struct image *image,
    const struct insert_slots *slots, const struct insert_plan *plan)
{
	struct insert_names names = insert_names_place(image, slots);
	struct insert_range owned = insert_owned(image, plan);
	GElf_Shdr sframe = shdr_of(names.sframe, IMAGE_SHT_GNU_SFRAME, plan->sframe_off,
		      plan->sframe_addr, plan->sframe_size),
		  phdrs = shdr_of(names.phdrs, SHT_PROGBITS, owned.off,
		      insert_table_moves(image, plan) ? plan->phdr_addr
						      : owned.off + plan->grow.bias,
		      owned.size),
		  undo = shdr_of(
		      names.undo, SHT_PROGBITS, plan->record_off, 0, plan->record_size);

	undo.sh_flags = 0;
	for (size_t i = 0; i < image->n_sections; i++) {
		GElf_Shdr hdr = image->sections[i].hdr;

		if (i == slots->names) {
			hdr.sh_offset = plan->strtab_off;
			hdr.sh_size = names.size;
		} else if (i == slots->sframe_section) {
			uint32_t name = hdr.sh_name;

			hdr = sframe;
			hdr.sh_name = name;
		} else if (i == slots->record_section) {
			undo.sh_name = hdr.sh_name;
			hdr = undo;
		} else if (hdr.sh_type != SHT_NULL) {
			insert_grow_moves(
			    plan, hdr.sh_offset, &hdr.sh_offset, &hdr.sh_addr);
		}
		insert_put_shdr(wr, &hdr);
	}
	if (!image->n_sections)
		return;
	if (owned.size)
		insert_put_shdr(wr, &phdrs);
	if (slots->sframe_section == INSERT_NONE)
		insert_put_shdr(wr, &sframe);
	if (slots->record_section == INSERT_NONE)
		insert_put_shdr(wr, &undo);
}
