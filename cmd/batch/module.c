/* SPDX-License-Identifier: MIT */
/* Kernel modules among relocatable objects, and their signatures. */
#include "cmd/batch/module.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/rd.h"
#include "base/regular.h"

/* Names of sections beyond that are not those of a module. */
enum { MOST_NAMES = 16 << 20 };

/* Linux, kernel/module/main.c: the loader looks for the section of this name. */
static const char module_name[] = ".gnu.linkonce.this_module";
/* Linux, Documentation/admin-guide/module-signing.rst: a signed file ends so. */
static const char signature_mark[] = "~Module signature appended~\n";

struct module_file {
	int fd;
	uint64_t size;
	bool big_endian;
};

static bool module_read(
    const struct module_file *file, uint64_t off, void *to, uint64_t size)
{
	return num_range_inside(off, size, file->size) &&
	       regular_read(file->fd, to, (size_t)size, off) == (ssize_t)size;
}

/* Finds where section i is, and which section its sh_link names. */
static bool module_section(const struct module_file *file, uint64_t shoff, uint32_t i,
    uint64_t *off, uint64_t *size, uint32_t *link)
{
	uint8_t bytes[sizeof(Elf64_Shdr)];
	struct rd rd;

	if (shoff > file->size ||
	    !module_read(file, shoff + i * sizeof(bytes), bytes, sizeof(bytes)))
		return false;
	rd_init(&rd, bytes, sizeof(bytes), file->big_endian);
	rd_seek(&rd, offsetof(Elf64_Shdr, sh_offset));
	*off = rd_u64(&rd);
	*size = rd_u64(&rd);
	*link = rd_u32(&rd);
	return !rd.failed;
}

/* True if the table of the sections' names has the one that only a module has. */
static bool module_has_name(const struct module_file *file, uint64_t off, uint64_t size)
{
	char *names = size && size <= MOST_NAMES ? malloc((size_t)size) : NULL;
	bool found = names && module_read(file, off, names, size) &&
		     memmem(names, (size_t)size, module_name, sizeof(module_name));

	free(names);
	return found;
}

static bool module_is(struct module_file *file)
{
	uint8_t header[sizeof(Elf64_Ehdr)];
	uint64_t shoff, off, size;
	uint32_t names, link;
	struct rd rd;

	if (!module_read(file, 0, header, sizeof(header)))
		return false;
	file->big_endian = header[EI_DATA] == ELFDATA2MSB;
	rd_init(&rd, header, sizeof(header), file->big_endian);
	rd_seek(&rd, offsetof(Elf64_Ehdr, e_shoff));
	shoff = rd_u64(&rd);
	rd_seek(&rd, offsetof(Elf64_Ehdr, e_shstrndx));
	names = rd_u16(&rd);
	/* gABI: what does not fit is in the first header. */
	if (names == SHN_XINDEX && module_section(file, shoff, 0, &off, &size, &link))
		names = link;
	return module_section(file, shoff, names, &off, &size, &link) &&
	       module_has_name(file, off, size);
}

static bool module_is_signed(const struct module_file *file)
{
	char end[sizeof(signature_mark) - 1];

	return file->size >= sizeof(end) &&
	       module_read(file, file->size - sizeof(end), end, sizeof(end)) &&
	       memcmp(end, signature_mark, sizeof(end)) == 0;
}

const char *batch_module_skip(const struct args *args, int fd, const struct stat *st)
{
	struct module_file file = {.fd = fd, .size = (uint64_t)st->st_size};

	if (!module_is(&file))
		return args->objects && !args->linked_only ? NULL : "relocatable";
	if (args->verb == VERB_REPORT)
		return args->linked_only ? "kernel-module" : NULL;
	if (args->verb != VERB_CONVERT)
		return NULL;
	if (!args->modules || args->linked_only)
		return "kernel-module";
	return !args->drop_signatures && module_is_signed(&file) ? "signed-module" : NULL;
}

bool batch_module_is_packed(const char *base)
{
	static const char *const ends[] = {".ko.gz", ".ko.xz", ".ko.zst"};
	size_t length = strlen(base);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (length > strlen(ends[i]) &&
		    strcmp(base + length - strlen(ends[i]), ends[i]) == 0)
			return true;
	return false;
}
