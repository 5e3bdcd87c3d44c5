/* SPDX-License-Identifier: MIT */
/* Finding .eh_frame for the oracles; apart from the product's own image reader on
 * purpose. */
#include "tests/oracle/eh_file.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *name;
	int e_machine;
	struct cfi_machine machine;
} machines[] = {
    {"x86-64", EM_X86_64, {.sp_reg = 7, .fp_reg = 6, .pc_reg = 16}},
    {"aarch64", EM_AARCH64,
	{.sp_reg = 31, .fp_reg = 29, .pc_reg = 32, .aarch64_ra_state = true}},
    {"s390x", EM_S390, {.sp_reg = 15, .fp_reg = 11, .pc_reg = 65}},
};

bool eh_machine(const char *name, struct cfi_machine *machine)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		if (strcmp(machines[i].name, name) == 0) {
			*machine = machines[i].machine;
			return true;
		}
	}
	return false;
}

static bool known_machine(int e_machine, struct cfi_machine *machine)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		if (machines[i].e_machine == e_machine) {
			*machine = machines[i].machine;
			return true;
		}
	}
	return false;
}

/* The bytes of the section called name, if it has any. */
static bool find_section(Elf *elf, const char *name, struct cfi_section *section)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;
		const char *s;
		Elf_Data *data;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type == SHT_NOBITS)
			continue;
		s = elf_strptr(elf, names, shdr.sh_name);
		if (!s || strcmp(s, name) != 0)
			continue;
		data = elf_rawdata(scn, NULL);
		if (!data)
			return false;
		section->data = data->d_buf; /* NULL when the section is empty */
		section->size = data->d_size;
		section->addr = shdr.sh_addr;
		return true;
	}
	return false;
}

bool eh_file_open(const char *path, struct eh_file *file)
{
	GElf_Ehdr ehdr;
	Elf *elf;

	*file = (struct eh_file){.fd = open(path, O_RDONLY | O_CLOEXEC)};
	if (file->fd < 0)
		return false;
	elf_version(EV_CURRENT);
	elf = file->elf = elf_begin(file->fd, ELF_C_READ_MMAP, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &ehdr) &&
	    ehdr.e_ident[EI_CLASS] == ELFCLASS64 && ehdr.e_type != ET_REL &&
	    known_machine(ehdr.e_machine, &file->machine) &&
	    (find_section(elf, ".cfi_bytes", &file->section) ||
		find_section(elf, ".eh_frame", &file->section))) {
		file->e_machine = ehdr.e_machine;
		file->section.addr_size = 8;
		file->section.big_endian = ehdr.e_ident[EI_DATA] == ELFDATA2MSB;
		return true;
	}
	eh_file_close(file);
	return false;
}

void eh_file_close(struct eh_file *file)
{
	if (file->elf)
		elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	*file = (struct eh_file){.fd = -1};
}
