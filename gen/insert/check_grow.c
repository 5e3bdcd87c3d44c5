/* SPDX-License-Identifier: MIT */
/*
 * The check of what the method "grow" moved: each section has its bytes at the new place,
 * the loader maps them there, and tags and symbols lead to it. By the tables of the
 * output as libelf reads them; the plan only says which sections and bytes may differ.
 */
#include "gen/insert/internal.h"

#include <string.h>

#include "base/num.h"

/* Core dumps have the first page of a file, and tools look for these there. */
static bool must_shift(const struct image_section *section)
{
	return section->hdr.sh_type == SHT_NOTE &&
	       (strcmp(section->name, ".note.gnu.build-id") == 0 ||
		   strcmp(section->name, ".note.package") == 0 ||
		   strcmp(section->name, ".note.go.buildid") == 0);
}

/* Checks that a section is behind the grown table and in the first page, or in the new
 * segment behind .sframe. */
static bool check_place(const struct insert_plan *plan,
    const struct image_section *before, const GElf_Shdr *after)
{
	const struct insert_grow *grow = &plan->grow;
	uint64_t end = after->sh_offset + after->sh_size;

	if (after->sh_offset >= plan->segment_off)
		return !must_shift(before) &&
		       after->sh_offset >= plan->sframe_off + plan->sframe_size &&
		       end <= plan->segment_off + plan->segment_size &&
		       after->sh_addr - plan->segment_addr ==
			   after->sh_offset - plan->segment_off;
	return after->sh_offset >= plan->phdr_off + insert_table_size(plan) &&
	       end <= INSERT_MIN_PAGE && end <= grow->block_end &&
	       after->sh_addr == after->sh_offset + grow->bias;
}

/* Checks that nothing stands on top of anything else. */
static bool check_apart(
    const struct insert_plan *plan, const struct image *output, size_t i)
{
	const GElf_Shdr *self = &output->sections[i].hdr;

	for (size_t k = 1; k < i; k++) {
		const GElf_Shdr *hdr = &output->sections[k].hdr;

		if (hdr->sh_offset < self->sh_offset + self->sh_size &&
		    self->sh_offset < hdr->sh_offset + hdr->sh_size)
			return false;
	}
	return i <= plan->grow.n_sections;
}

/* True if a PT_NOTE was cut behind the build-id: the notes that follow may move elsewhere. */
static bool is_cut(const GElf_Phdr *phdr, const struct image_section *before,
    const GElf_Shdr *after, uint64_t by)
{
	return phdr->p_type == PT_NOTE && !must_shift(before) &&
	       after->sh_offset - before->hdr.sh_offset != by;
}

bool insert_grow_follow(const struct image *input, const struct insert_plan *plan,
    const struct image *output, GElf_Phdr *phdr)
{
	uint64_t by = 0, addr_by = 0;
	size_t n = 0;

	for (size_t i = 1; i <= plan->grow.n_sections; i++) {
		const GElf_Shdr *was = &input->sections[i].hdr,
				*is = &output->sections[i].hdr;

		/* A damaged entry may begin behind it and wrap. */
		if (phdr->p_type == PT_LOAD || was->sh_offset < phdr->p_offset ||
		    !num_range_inside(
			was->sh_offset - phdr->p_offset, was->sh_size, phdr->p_filesz))
			continue;
		if (n && is_cut(phdr, &input->sections[i], is, by)) {
			phdr->p_memsz = phdr->p_filesz = was->sh_offset - phdr->p_offset;
			break;
		}
		if (n++ && (is->sh_offset - was->sh_offset != by ||
			       is->sh_addr - was->sh_addr != addr_by))
			return false;
		by = is->sh_offset - was->sh_offset;
		addr_by = is->sh_addr - was->sh_addr;
	}
	phdr->p_offset += by;
	phdr->p_vaddr += addr_by;
	phdr->p_paddr += addr_by;
	return true;
}

/* Compares a moved section's bytes, in the file and as the loader maps them. */
static bool check_moved(const struct image *input, const struct insert_plan *plan,
    const struct image *output, size_t i)
{
	const struct image_section *before = &input->sections[i];
	const struct image_section *after = &output->sections[i];
	size_t size = (size_t)before->hdr.sh_size;

	return before->data && after->data && check_place(plan, before, &after->hdr) &&
	       check_apart(plan, output, i) &&
	       (after->hdr.sh_addr - before->hdr.sh_addr) % INSERT_SFRAME_ALIGN == 0 &&
	       memcmp(before->data, after->data, size) == 0 &&
	       image_at_addr(output, after->hdr.sh_addr, size) == after->data;
}

/* The value of the same tag in the input, or the address of the section it led to. */
static uint64_t wanted_value(const struct image *input, const struct insert_plan *plan,
    const struct image *output, const GElf_Dyn *dyn)
{
	for (size_t i = 1; i <= plan->grow.n_sections; i++) {
		const GElf_Shdr *hdr = &input->sections[i].hdr;

		if (insert_grow_tag(hdr->sh_type) != DT_NULL &&
		    insert_grow_tag(hdr->sh_type) == dyn->d_tag)
			return output->sections[i].hdr.sh_addr;
	}
	return dyn->d_un.d_val;
}

/* False if a tag says that a section that moved has more bytes than moved with it. */
static bool check_tag_size(
    const struct image *input, const struct insert_plan *plan, const GElf_Dyn *dyn)
{
	for (size_t i = 1; i <= plan->grow.n_sections; i++) {
		const GElf_Shdr *hdr = &input->sections[i].hdr;

		if (insert_grow_size_tag(hdr->sh_type) == dyn->d_tag &&
		    dyn->d_un.d_val > hdr->sh_size)
			return false;
	}
	return true;
}

static Elf_Data *data_at(const struct image *image, uint64_t off)
{
	for (Elf_Scn *scn = elf_nextscn(image->elf, NULL); scn;
	     scn = elf_nextscn(image->elf, scn)) {
		GElf_Shdr hdr;

		if (gelf_getshdr(scn, &hdr) && hdr.sh_type == SHT_DYNAMIC &&
		    hdr.sh_offset == off)
			return elf_getdata(scn, NULL);
	}
	return NULL;
}

static bool check_tags(
    const struct image *input, const struct insert_plan *plan, const struct image *output)
{
	Elf_Data *before = data_at(input, plan->grow.dynamic_off),
		 *after = data_at(output, plan->grow.dynamic_off);
	GElf_Dyn was, is;
	bool live = true;

	if (!before || !after || before->d_size != after->d_size)
		return false;
	for (int i = 0; gelf_getdyn(before, i, &was); i++) {
		live &= was.d_tag != DT_NULL;
		if (!gelf_getdyn(after, i, &is) || is.d_tag != was.d_tag ||
		    (live && !check_tag_size(input, plan, &was)) ||
		    is.d_un.d_val !=
			(live ? wanted_value(input, plan, output, &was) : was.d_un.d_val))
			return false;
	}
	return !live;
}

/* Every symbol of a section that moved is as far from its start as it was. */
static bool check_symbol(const struct image *input, const struct insert_plan *plan,
    const struct image *output, const GElf_Sym *was, GElf_Sym is)
{
	const GElf_Shdr *hdr = &input->sections[was->st_shndx].hdr;

	if (was->st_shndx && was->st_shndx <= plan->grow.n_sections &&
	    was->st_value - hdr->sh_addr <= hdr->sh_size)
		is.st_value -= output->sections[was->st_shndx].hdr.sh_addr - hdr->sh_addr;
	return memcmp(was, &is, sizeof(is)) == 0;
}

static bool check_symbols(
    const struct image *input, const struct insert_plan *plan, const struct image *output)
{
	Elf_Data *before, *after;
	GElf_Sym was, is;

	if (!plan->grow.symbols_size)
		return true;
	before = elf_getdata(elf_getscn(input->elf, plan->grow.symtab), NULL);
	after = elf_getdata(elf_getscn(output->elf, plan->grow.symtab), NULL);
	if (!before || !after || before->d_size != after->d_size)
		return false;
	for (int i = 0; gelf_getsym(before, i, &was); i++)
		if (!gelf_getsym(after, i, &is) ||
		    (was.st_shndx < input->n_sections
			    ? !check_symbol(input, plan, output, &was, is)
			    : memcmp(&was, &is, sizeof(is)) != 0))
			return false;
	return true;
}

bool insert_check_grow(const struct image *input, const struct insert_plan *plan,
    const struct image *output, struct err *err)
{
	if (!plan->grow.n_sections)
		return true;
	for (size_t i = 1; i <= plan->grow.n_sections; i++)
		if (!check_moved(input, plan, output, i))
			return err_set(err, ERR_INTERNAL,
			    "section %zu (%s) is not complete at its new place", i,
			    input->sections[i].name);
	if (plan->grow.dynamic_size && !check_tags(input, plan, output))
		return err_set(err, ERR_INTERNAL,
		    "the dynamic section does not point to what moved");
	return check_symbols(input, plan, output) ||
	       err_set(err, ERR_INTERNAL,
		   "a symbol still points to the old place of what moved");
}

/* The note that names the least kernel, by its bytes, in a program without a loader. */
static bool check_is_abi_tag(const struct image *image, const GElf_Phdr *phdr)
{
	static const char heads[2][17] = {
	    "\4\0\0\0\20\0\0\0\1\0\0\0GNU", "\0\0\0\4\0\0\0\20\0\0\0\1GNU"};

	return phdr->p_type == PT_NOTE && image->ehdr.e_type == ET_EXEC &&
	       !image_segment_find(image, PT_INTERP) &&
	       !image_segment_find(image, PT_DYNAMIC) && phdr->p_filesz == 32 &&
	       num_range_inside(phdr->p_offset, 32, image->size) &&
	       !memcmp(image->bytes + phdr->p_offset, heads[image->big_endian], 16);
}

/* An entry may go if it means nothing, repeats a PT_GNU_PROPERTY of the output, or is read by nobody. */
bool insert_check_spare(const struct image *input, const struct insert_plan *plan,
    const struct image *output, size_t n)
{
	GElf_Phdr old = input->phdrs[n];

	if (old.p_type == PT_NULL || old.p_type == IMAGE_PT_GNU_SFRAME ||
	    check_is_abi_tag(input, &old))
		return true;
	if (!insert_grow_follow(input, plan, output, &old))
		return false;
	for (size_t i = 0; old.p_type == PT_NOTE && i < output->n_phdrs; i++) {
		GElf_Phdr same = output->phdrs[i];

		if (same.p_type == PT_GNU_PROPERTY && same.p_offset == old.p_offset &&
		    same.p_vaddr == old.p_vaddr && same.p_filesz == old.p_filesz)
			return true;
	}
	return false;
}
