/* SPDX-License-Identifier: MIT */
/* Names the parts of an ELF file, and says how much each is worth damaging. */
#include "tests/fuzz/driver/edit.h"

#include <elf.h>
#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"

/* A part that is in the file; the first one is the file. */
static void add(struct map *map, const char *prefix, const char *name, uint64_t off,
    uint64_t size, unsigned int weight)
{
	struct region *region = &map->list[map->n];

	if (!size || map->n == EDIT_REGIONS ||
	    (map->n && !num_range_inside(off, size, map->list[0].size)))
		return;
	snprintf(region->name, sizeof(region->name), "%s%s", prefix, name);
	for (char *p = region->name; *p; p++)
		if (*p == ' ' || *p == ';' || *p == '+')
			*p = '_';
	region->off = (size_t)off;
	region->size = (size_t)size;
	region->weight = weight;
	map->weights += weight;
	map->n++;
}

/* Sections that the program reads most are damaged most. */
static unsigned int weight_of(const char *name)
{
	static const struct {
		const char *name;
		unsigned int weight;
	} known[] = {
	    {".eh_frame", 240},
	    {".eh_frame_hdr", 40},
	    {".sframe", 200},
	    {".rela.eh_frame", 150},
	    {".rela.sframe", 100},
	    {".group", 10},
	    {".phdrs", 20},
	    {".dynamic", 20},
	    {".symtab", 20},
	    {".dynsym", 20},
	    {".strtab", 10},
	    {".dynstr", 10},
	    {".shstrtab", 10},
	    {".plt", 20},
	    {".plt.sec", 20},
	    {".plt.got", 20},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(name, known[i].name))
			return known[i].weight;
	return 1;
}

/* The members that are used here, in the host's byte order, which is little. */
static Elf64_Ehdr read_ehdr(const uint8_t *data)
{
	Elf64_Ehdr ehdr;

	memcpy(&ehdr, data, sizeof(ehdr));
	if (ehdr.e_ident[EI_DATA] == ELFDATA2MSB) {
		ehdr.e_phoff = be64toh(ehdr.e_phoff);
		ehdr.e_shoff = be64toh(ehdr.e_shoff);
		ehdr.e_phnum = be16toh(ehdr.e_phnum);
		ehdr.e_shnum = be16toh(ehdr.e_shnum);
		ehdr.e_shstrndx = be16toh(ehdr.e_shstrndx);
	}
	return ehdr;
}

static Elf64_Shdr read_shdr(const uint8_t *data, uint64_t off)
{
	Elf64_Shdr shdr;

	memcpy(&shdr, data + off, sizeof(shdr));
	if (data[EI_DATA] == ELFDATA2MSB) {
		shdr.sh_name = be32toh(shdr.sh_name);
		shdr.sh_type = be32toh(shdr.sh_type);
		shdr.sh_offset = be64toh(shdr.sh_offset);
		shdr.sh_size = be64toh(shdr.sh_size);
	}
	return shdr;
}

static void add_section(
    struct map *map, const uint8_t *data, uint64_t off, const Elf64_Shdr *names)
{
	unsigned int weight;
	const char *name;
	Elf64_Shdr shdr = read_shdr(data, off);

	if (shdr.sh_name >= names->sh_size)
		return;
	name = (const char *)data + names->sh_offset + shdr.sh_name;
	weight = weight_of(name);
	add(map, "shdr:", name, off, sizeof(shdr), weight > 1 ? 20 : 4);
	if (shdr.sh_type != SHT_NOBITS && *name)
		add(map, "", name, shdr.sh_offset, shdr.sh_size, weight);
}

/* The section headers and what they describe. */
static void add_sections(
    struct map *map, const uint8_t *data, size_t size, const Elf64_Ehdr *ehdr)
{
	uint64_t off = ehdr->e_shoff + ehdr->e_shstrndx * sizeof(Elf64_Shdr);
	Elf64_Shdr names;

	if (!num_range_inside(off, sizeof(names), size))
		return;
	names = read_shdr(data, off);
	if (!names.sh_size || !num_range_inside(names.sh_offset, names.sh_size, size) ||
	    data[names.sh_offset + names.sh_size - 1])
		return;
	for (unsigned int i = 0; i < ehdr->e_shnum; i++) {
		off = ehdr->e_shoff + i * sizeof(names);
		if (num_range_inside(off, sizeof(names), size))
			add_section(map, data, off, &names);
	}
}

void map_read(const uint8_t *data, size_t size, struct map *map)
{
	Elf64_Ehdr ehdr;
	char text[16];

	*map = (struct map){.n = 0};
	add(map, "", "file", 0, size, 40);
	if (size < sizeof(ehdr) || memcmp(data, ELFMAG, SELFMAG) != 0)
		return;
	ehdr = read_ehdr(data);
	add(map, "", "ehdr", 0, sizeof(ehdr), 60);
	for (unsigned int i = 0; i < ehdr.e_phnum; i++) {
		snprintf(text, sizeof(text), "%u", i);
		add(map, "phdr:", text, ehdr.e_phoff + i * sizeof(Elf64_Phdr),
		    sizeof(Elf64_Phdr), 14);
	}
	/* The end of the undo record (gen/insert/internal.h), where the file has one. */
	if (ehdr.e_shoff > sizeof(ehdr) + 72)
		add(map, "", "undo", ehdr.e_shoff - 72, 72, 60);
	if (ehdr.e_shnum)
		add_sections(map, data, size, &ehdr);
}
