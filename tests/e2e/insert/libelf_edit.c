/* SPDX-License-Identifier: MIT */
/*
 * libelf_edit FILE: writes the file's first note again by libelf, or its first code where it has none, as programs do that
 * edit a section where it stands. Not a byte of a section changes. libelf makes zeros of bytes in front of it that no
 * section has.
 */
#include <err.h>
#include <fcntl.h>
#include <gelf.h>
#include <stddef.h>

int main(int argc, char **argv)
{
	Elf_Scn *section = NULL, *found = NULL;
	GElf_Shdr hdr;
	Elf *elf;
	int fd;

	if (argc != 2 || elf_version(EV_CURRENT) == EV_NONE)
		errx(2, "give a file");
	fd = open(argv[1], O_RDWR);
	elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_RDWR, NULL);
	if (!elf)
		errx(2, "%s cannot be opened", argv[1]);
	elf_flagelf(elf, ELF_C_SET, ELF_F_LAYOUT);
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &hdr))
			continue;
		if (!found && hdr.sh_flags & SHF_EXECINSTR)
			found = section;
		if (hdr.sh_type == SHT_NOTE) {
			found = section;
			break;
		}
	}
	if (!found || !elf_getdata(found, NULL))
		errx(1, "%s: neither a note nor code", argv[1]);
	elf_flagscn(found, ELF_C_SET, ELF_F_DIRTY);
	if (elf_update(elf, ELF_C_WRITE) < 0)
		errx(1, "%s: %s", argv[1], elf_errmsg(-1));
	elf_end(elf);
	return 0;
}
