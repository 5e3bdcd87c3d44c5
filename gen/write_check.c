/* SPDX-License-Identifier: MIT */
/*
 * Looks at the finished file as a stranger would, and compares it with the input: what
 * was not meant to change did not, and what a loader needs holds. Shares no code with the
 * writer but the table of slots.
 */
#include "gen/write_parts.h"

#include <inttypes.h>
#include <string.h>

#include "base/num.h"
#include "gen/undo.h"

/*
 * The whole file and not only its sections: what stands between them (padding, notes
 * without a section) is somebody's, too, and undo needs it.
 */
static bool check_bytes(
	const struct image *input, const struct image *output, struct err *err)
{
	GElf_Ehdr ehdr = output->ehdr;

	ehdr.e_phoff = input->ehdr.e_phoff;
	ehdr.e_shoff = input->ehdr.e_shoff;
	ehdr.e_phnum = input->ehdr.e_phnum;
	ehdr.e_shnum = input->ehdr.e_shnum;
	if (memcmp(&ehdr, &input->ehdr, sizeof(ehdr)) != 0)
		return err_set(err, ERR_INTERNAL,
			"the output's ELF header differs in more than its "
			"tables");
	if (output->size < input->size ||
		memcmp(output->bytes + WRITE_EHDR_SIZE, input->bytes + WRITE_EHDR_SIZE,
			input->size - WRITE_EHDR_SIZE) != 0)
		return err_set(
			err, ERR_INTERNAL, "an original byte differs in the output");
	return true;
}

/* Type, flags, address, offset and size. The bytes were compared with the whole file. */
static bool check_section(const struct image *input, const struct image *output,
	const struct write_slots *slots, size_t i, struct err *err)
{
	const struct image_section *old = &input->sections[i],
				   *new = &output->sections[i];
	GElf_Shdr hdr = new->hdr;

	if (i == slots->sframe_section)
		return true;
	if (i == slots->names) {
		if (!old->data || !new->data || hdr.sh_size < old->hdr.sh_size ||
			memcmp(old->data, new->data, (size_t)old->hdr.sh_size) != 0)
			return err_set(
				err, ERR_INTERNAL, "the section name table lost names");
		hdr.sh_offset = old->hdr.sh_offset;
		hdr.sh_size = old->hdr.sh_size;
	}
	/* A name that was unreadable may have become readable in the grown table. */
	if (memcmp(&hdr, &old->hdr, sizeof(hdr)) != 0 ||
		(*old->name && strcmp(old->name, new->name) != 0))
		return err_set(err, ERR_INTERNAL, "section header %zu (%s) differs", i,
			old->name);
	return true;
}

/* New sections come behind the old, so that every index (sh_link, st_shndx) still means
 * the same. */
static bool check_sections(const struct image *input, const struct image *output,
	const struct write_slots *slots, struct err *err)
{
	if (output->n_sections != slots->n_sections)
		return err_set(err, ERR_INTERNAL, "%zu section headers instead of %zu",
			output->n_sections, slots->n_sections);
	for (size_t i = 0; i < input->n_sections; i++)
		if (!check_section(input, output, slots, i, err))
			return false;
	return true;
}

/* The old program headers in their order, with the new PT_LOAD after the last of the old.
 */
static bool check_segments(const struct image *input, const struct image *output,
	const struct write_slots *slots, struct err *err)
{
	if (output->n_phdrs != slots->n_phdrs)
		return err_set(err, ERR_INTERNAL, "%zu program headers instead of %zu",
			output->n_phdrs, slots->n_phdrs);
	for (size_t i = 0; i < input->n_phdrs; i++) {
		const GElf_Phdr *old = &input->phdrs[i];
		const GElf_Phdr *new =
			&output->phdrs[i + slots->add_phdr + (i > slots->last_load)];

		if (old->p_type != new->p_type ||
			(old->p_type != PT_PHDR && i != slots->sframe_segment &&
				memcmp(old, new, sizeof(*old)) != 0))
			return err_set(
				err, ERR_INTERNAL, "program header %zu differs", i);
	}
	return true;
}

/* What the kernel and ld.so take for granted and do not check themselves. */
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
		if (!num_range_inside(phdr->p_offset, phdr->p_filesz, output->size))
			return err_set(err, ERR_INTERNAL,
				"PT_LOAD %zu is not inside the file", i);
		end = phdr->p_vaddr + phdr->p_memsz;
	}
	return true;
}

/* Whether a read-only PT_LOAD maps these file bytes to this address. */
static bool is_mapped(
	const struct image *image, uint64_t off, uint64_t addr, uint64_t size)
{
	for (size_t i = 0; i < image->n_phdrs; i++) {
		const GElf_Phdr *phdr = &image->phdrs[i];

		if (phdr->p_type == PT_LOAD && phdr->p_flags == PF_R &&
			addr >= phdr->p_vaddr &&
			num_range_inside(addr - phdr->p_vaddr, size, phdr->p_filesz) &&
			off - phdr->p_offset == addr - phdr->p_vaddr)
			return true;
	}
	return false;
}

/* glibc computes the load address of a program from PT_PHDR, so one that is off moves
 * everything. */
static bool check_phdr_table(
	const struct image *output, const struct write_slots *slots, struct err *err)
{
	uint64_t size = output->n_phdrs * WRITE_PHDR_SIZE, off = output->ehdr.e_phoff;

	if (slots->add_phdr && output->phdrs[0].p_type != PT_PHDR)
		return err_set(err, ERR_INTERNAL, "the new PT_PHDR is not in front");
	for (size_t i = 0; i < output->n_phdrs; i++) {
		const GElf_Phdr *phdr = &output->phdrs[i];

		if (phdr->p_type == PT_PHDR &&
			(phdr->p_offset != off || phdr->p_filesz != size ||
				phdr->p_memsz != size || phdr->p_paddr != phdr->p_vaddr ||
				!is_mapped(output, off, phdr->p_vaddr, size)))
			return err_set(err, ERR_INTERNAL,
				"PT_PHDR does not match the moved table");
	}
	return true;
}

/* Kernels before 5.18 find the table of a program by the first PT_LOAD alone. */
static bool check_at_phdr(
	const struct image *output, const struct write_slots *slots, struct err *err)
{
	uint64_t size = output->n_phdrs * WRITE_PHDR_SIZE, off = output->ehdr.e_phoff;

	for (size_t i = 0; i < output->n_phdrs; i++) {
		const GElf_Phdr *phdr = &output->phdrs[i];

		if (phdr->p_type != PT_LOAD)
			continue;
		if (slots->library || is_mapped(output, off,
					      off + phdr->p_vaddr - phdr->p_offset, size))
			return true;
		break;
	}
	return err_set(
		err, ERR_INTERNAL, "the moved table is not where AT_PHDR will say");
}

/* Consumers find the section by segment, tools by section header: the two must say the
 * same. */
static bool check_sframe(
	const struct image *output, const struct write_slots *slots, struct err *err)
{
	const GElf_Phdr *found = NULL;
	size_t i = slots->sframe_section;

	for (size_t k = 0; k < output->n_phdrs; k++) {
		if (output->phdrs[k].p_type != IMAGE_PT_GNU_SFRAME)
			continue;
		if (found)
			return err_set(
				err, ERR_INTERNAL, "two PT_GNU_SFRAME program headers");
		found = &output->phdrs[k];
	}
	if (!found || found->p_filesz != found->p_memsz ||
		found->p_vaddr % WRITE_SFRAME_ALIGN ||
		!is_mapped(output, found->p_offset, found->p_vaddr, found->p_filesz))
		return err_set(
			err, ERR_INTERNAL, "PT_GNU_SFRAME is not in a read-only segment");
	if (!output->n_sections)
		return true;
	if (i == WRITE_NONE)
		i = output->n_sections - 1;
	if (!image_is_sframe(&output->sections[i]) ||
		!(output->sections[i].hdr.sh_flags & SHF_ALLOC) ||
		output->sections[i].hdr.sh_addr != found->p_vaddr ||
		output->sections[i].hdr.sh_offset != found->p_offset ||
		output->sections[i].hdr.sh_size != found->p_filesz)
		return err_set(
			err, ERR_INTERNAL, "PT_GNU_SFRAME does not cover the section");
	return true;
}

/* Found the way a later --remove will find it, from the file alone. */
static bool check_undo(
	const struct image *input, const struct image *output, struct err *err)
{
	struct undo undo;
	bool found;

	if (!undo_find(output, &undo, &found, err))
		return err_prefix(err, "undo record");
	if (!found || undo.size != input->size ||
		memcmp(undo.ehdr, input->bytes, sizeof(undo.ehdr)) != 0)
		return err_set(err, ERR_INTERNAL, "the undo record does not lead back");
	return true;
}

/* Ordered so that each check may rely on the ones before it. */
bool write_check(const struct image *input, const struct image *output, struct err *err)
{
	struct write_slots slots;
	bool ok = write_slots_find(input, &slots, err) &&
		  check_bytes(input, output, err) &&
		  check_sections(input, output, &slots, err) &&
		  check_segments(input, output, &slots, err) &&
		  check_loads(output, err) && check_phdr_table(output, &slots, err) &&
		  check_at_phdr(output, &slots, err) &&
		  check_sframe(output, &slots, err) && check_undo(input, output, err);

	/* Whatever it was, the input is not to blame any more. */
	if (!ok && err->kind != ERR_NOMEM)
		err->kind = ERR_INTERNAL;
	return ok;
}
