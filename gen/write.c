/* SPDX-License-Identifier: MIT */
/* Writes what gen/write_plan.c planned: the body by copying, then the few new bytes. */
#include "gen/write_parts.h"

#include <unistd.h>

/* A number of fields of the original header, as they are. */
static void keep(struct wr *wr, const struct image *image, size_t from, size_t to)
{
	wr_bytes(wr, image->bytes + from, to - from);
}

/*
 * Field by field between runs of the original bytes, so that reserved and OS-specific
 * ones survive without being known here.
 */
void write_header(struct wr *wr, const struct image *image,
	const struct write_slots *slots, const struct write_plan *plan)
{
	/* Both counts were compared with their 16-bit limits when the slots were found.
	 */
	keep(wr, image, 0, WRITE_E_PHOFF);
	wr_u64(wr, plan->phdr_off);
	wr_u64(wr, plan->shdr_off);
	keep(wr, image, WRITE_E_PHOFF + 16, WRITE_E_PHNUM);
	wr_u16(wr, (uint16_t)slots->n_phdrs);
	keep(wr, image, WRITE_E_PHNUM + 2, WRITE_E_SHNUM);
	wr_u16(wr, (uint16_t)slots->n_sections);
	keep(wr, image, WRITE_E_SHNUM + 2, WRITE_EHDR_SIZE);
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

/*
 * Old entries keep their order and values, apart from the PT_PHDR that must follow the
 * table. The new PT_LOAD goes behind the last one, because loaders demand ascending
 * addresses; PT_GNU_SFRAME may stand anywhere and goes last.
 */
static void put_phdrs(struct wr *wr, const struct image *image,
	const struct write_slots *slots, const struct write_plan *plan)
{
	uint64_t gap = write_gap(slots);
	GElf_Phdr load = phdr_of(PT_LOAD, plan->segment_off, plan->segment_addr,
			  plan->segment_size, plan->segment_align),
		  sframe = phdr_of(IMAGE_PT_GNU_SFRAME, plan->sframe_off,
			  plan->sframe_addr, plan->sframe_size, WRITE_SFRAME_ALIGN),
		  table = phdr_of(PT_PHDR, plan->phdr_off, plan->segment_addr + gap, gap,
			  WRITE_PHDR_ALIGN);

	/* Before any PT_LOAD (gABI, "Program Header"). */
	if (slots->add_phdr)
		put_phdr(wr, &table);
	for (size_t i = 0; i < image->n_phdrs; i++) {
		GElf_Phdr phdr = image->phdrs[i];

		if (i == slots->sframe_segment) {
			phdr = sframe;
		} else if (phdr.p_type == PT_PHDR) {
			table.p_flags = phdr.p_flags;
			phdr = table;
		}
		put_phdr(wr, &phdr);
		if (i == slots->last_load)
			put_phdr(wr, &load);
	}
	if (slots->sframe_segment == WRITE_NONE)
		put_phdr(wr, &sframe);
}

/* Elf64_Shdr likewise. */
static void put_shdr(struct wr *wr, const GElf_Shdr *hdr)
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
		.sh_addralign = WRITE_SFRAME_ALIGN};
}

/*
 * The old headers, of which one changes: that of the name table, which leads to the grown
 * copy behind the segment (and that of an SFrame section that is being replaced).
 */
static void put_shdrs(struct wr *wr, const struct image *image,
	const struct write_slots *slots, const struct write_plan *plan)
{
	struct write_names names = write_names_place(image, slots);
	uint64_t gap = write_gap(slots);
	GElf_Shdr sframe = shdr_of(names.sframe, IMAGE_SHT_GNU_SFRAME, plan->sframe_off,
			  plan->sframe_addr, plan->sframe_size),
		  phdrs = shdr_of(names.phdrs, SHT_PROGBITS, plan->phdr_off,
			  plan->segment_addr + gap, gap);

	for (size_t i = 0; i < image->n_sections; i++) {
		GElf_Shdr hdr = image->sections[i].hdr;

		if (i == slots->names) {
			hdr.sh_offset = plan->strtab_off;
			hdr.sh_size = names.size;
		} else if (i == slots->sframe_section) {
			uint32_t name = hdr.sh_name;

			hdr = sframe;
			hdr.sh_name = name;
		}
		put_shdr(wr, &hdr);
	}
	if (!slots->n_sections)
		return;
	put_shdr(wr, &phdrs);
	if (slots->sframe_section == WRITE_NONE)
		put_shdr(wr, &sframe);
}

/* The grown name table and the section header table behind it. */
static void put_tail(struct wr *wr, const struct image *image,
	const struct write_slots *slots, const struct write_plan *plan)
{
	if (slots->names != WRITE_NONE) {
		const struct image_section *old = &image->sections[slots->names];

		wr_bytes(wr, old->data, (size_t)old->hdr.sh_size);
		wr_u8(wr, 0);
		wr_bytes(wr, ".phdrs", sizeof(".phdrs"));
		wr_bytes(wr, ".sframe", sizeof(".sframe"));
	}
	if (!slots->n_sections)
		return;
	wr_zeros(wr, (size_t)(plan->shdr_off - plan->segment_off - plan->segment_size) -
			     wr->size);
	put_shdrs(wr, image, slots, plan);
}

/*
 * The hash covers what undo relies on: the header and both tables as they are in the
 * output. Not the section's bytes and not the program's, which may be edited in place
 * without harm to the way back.
 */
static void put_record(struct wr *wr, const struct image *image,
	const struct write_plan *plan, const struct wr *parts, size_t n_parts)
{
	struct write_record record = {.old_size = image->size,
		.new_size = plan->file_size,
		.tail_off = plan->segment_off + plan->segment_size,
		.hash = WRITE_HASH_START};

	for (size_t i = 0; i < WRITE_EHDR_SIZE; i++)
		record.ehdr[i] = image->bytes[i];
	for (size_t i = 0; i < n_parts; i++)
		record.hash =
			write_record_hash(record.hash, parts[i].data, parts[i].size);
	write_record_encode(wr, &record);
}

enum { PART_EHDR, PART_PHDRS, PART_TAIL, N_PARTS };

/* The gap behind the record is never written: it is a hole, which reads as zeros. */
static bool write_parts(const struct image *image, const struct write_plan *plan,
	const struct wr *parts, const uint8_t *sframe, int fd, struct err *err)
{
	struct wr record;
	bool ok;

	wr_init(&record, image->big_endian);
	put_record(&record, image, plan, parts, N_PARTS);
	/* The header last: until then the file is the input with bytes behind it. */
	ok = record.failed
		     ? err_set_nomem(err)
		     : write_copy(image, image->size, fd, err) &&
			       write_at(fd, record.data, record.size, plan->segment_off,
				       err) &&
			       write_at(fd, parts[PART_PHDRS].data,
				       parts[PART_PHDRS].size, plan->phdr_off, err) &&
			       write_at(fd, sframe, (size_t)plan->sframe_size,
				       plan->sframe_off, err) &&
			       write_at(fd, parts[PART_TAIL].data, parts[PART_TAIL].size,
				       plan->segment_off + plan->segment_size, err) &&
			       write_at(fd, parts[PART_EHDR].data, parts[PART_EHDR].size,
				       0, err);
	wr_deinit(&record);
	return ok;
}

/* Everything small is made in memory first, so that running out of it leaves the file
 * untouched. */
bool write_image(const struct image *image, const struct write_plan *plan,
	const uint8_t *sframe, int fd, struct err *err)
{
	struct write_slots slots;
	struct wr parts[N_PARTS];
	bool ok = false;

	if (!write_slots_find(image, &slots, err))
		return false;
	for (size_t i = 0; i < N_PARTS; i++)
		wr_init(&parts[i], image->big_endian);
	write_header(&parts[PART_EHDR], image, &slots, plan);
	put_phdrs(&parts[PART_PHDRS], image, &slots, plan);
	put_tail(&parts[PART_TAIL], image, &slots, plan);
	if (parts[PART_EHDR].failed || parts[PART_PHDRS].failed ||
		parts[PART_TAIL].failed)
		err_set_nomem(err);
	else
		ok = write_parts(image, plan, parts, sframe, fd, err);
	for (size_t i = 0; i < N_PARTS; i++)
		wr_deinit(&parts[i]);
	return ok;
}
