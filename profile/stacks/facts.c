/* SPDX-License-Identifier: MIT */
#include "profile/stacks/facts.h"

#include <gelf.h>
#include <string.h>

#include "base/num.h"

/* Notes of a mapped file are small. */
enum { FACTS_MAX_NOTES = 1 << 20 };

static void facts_note(Elf *elf, const GElf_Phdr *phdr, struct facts *facts)
{
	Elf_Data *data;
	GElf_Nhdr note;
	size_t at = 0, next, name, content;

	if (phdr->p_filesz > FACTS_MAX_NOTES)
		return;
	data = elf_getdata_rawchunk(elf, (int64_t)phdr->p_offset, phdr->p_filesz,
	    phdr->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	while (data && (next = gelf_getnote(data, at, &note, &name, &content)) > at) {
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    note.n_descsz <= PROFILE_BUILD_ID_MAX &&
		    memcmp((const char *)data->d_buf + name, "GNU", 4) == 0) {
			facts->build_id_size = note.n_descsz;
			memcpy(facts->build_id, (const char *)data->d_buf + content,
			    note.n_descsz);
		}
		at = next;
	}
}

static bool facts_read_elf(Elf *elf, struct facts *facts, struct err *err)
{
	GElf_Ehdr ehdr;
	GElf_Phdr phdr;
	size_t n;

	memset(facts, 0, sizeof(*facts));
	if (!elf || elf_kind(elf) != ELF_K_ELF || gelf_getclass(elf) != ELFCLASS64 ||
	    !gelf_getehdr(elf, &ehdr) || elf_getphdrnum(elf, &n) != 0)
		return err_set(err, ERR_UNSUPPORTED, "it is not a 64-bit ELF file");
	facts->entry = ehdr.e_entry;
	for (size_t i = 0; i < n && gelf_getphdr(elf, (int)i, &phdr); i++) {
		if (phdr.p_type == PT_NOTE && facts->build_id_size == 0)
			facts_note(elf, &phdr, facts);
		if (phdr.p_type != PT_LOAD || phdr.p_memsz > UINT64_MAX - phdr.p_vaddr)
			continue;
		if (phdr.p_vaddr + phdr.p_memsz > facts->end)
			facts->end = phdr.p_vaddr + phdr.p_memsz;
		if (phdr.p_flags & PF_X && facts->n_parts < FACTS_MAX_PARTS)
			facts->parts[facts->n_parts++] =
			    (struct facts_part){.offset = phdr.p_offset,
				.size = phdr.p_filesz,
				.address = phdr.p_vaddr};
	}
	return true;
}

bool facts_read(int fd, struct facts *facts, struct err *err)
{
	Elf *elf;
	bool ok;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	ok = facts_read_elf(elf, facts, err);
	elf_end(elf);
	return ok;
}

bool facts_read_memory(
    const uint8_t *bytes, size_t size, struct facts *facts, struct err *err)
{
	Elf *elf;
	bool ok;

	elf_version(EV_CURRENT);
	/* It is opened for reading alone, so the bytes do not change. */
	elf = elf_memory((char *)(uintptr_t)bytes, size);
	ok = facts_read_elf(elf, facts, err);
	elf_end(elf);
	return ok;
}

bool facts_address(const struct facts *facts, uint64_t offset, uint64_t *address)
{
	for (size_t i = 0; i < facts->n_parts; i++) {
		const struct facts_part *part = &facts->parts[i];

		/* A mapping starts and ends with a page, a part anywhere. */
		if (offset < (part->offset & ~UINT64_C(0xfff)) ||
		    offset >= ((part->offset + part->size) | UINT64_C(0xfff)))
			continue;
		*address = part->address + (offset - part->offset);
		return true;
	}
	return false;
}
