/* SPDX-License-Identifier: MIT */
/* What the file of an image has that its memory has not. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "gen/memory/memory_rebuild.h"

enum { EHDR_SIZE = 64, DISK_PAGE = 4096 };

/* A part ".." leads out of root. The kernel writes no such name, so it is of a core that lies. */
static bool disk_leads_up(const char *name)
{
	for (; name; name = strchr(name, '/')) {
		name += strspn(name, "/");
		if (strncmp(name, "..", 2) == 0 && (name[2] == '/' || name[2] == '\0'))
			return true;
	}
	return false;
}

/* The path of the image's file below root, without the mark of one that is gone. */
static bool disk_path(struct memory_rebuild *rebuild, const char *root, struct err *err)
{
	static const char deleted[] = " (deleted)";
	const char *name = rebuild->of->file;
	size_t length = name ? strlen(name) : 0, mark = sizeof(deleted) - 1;

	if (!name || *name != '/' || !root)
		return true;
	if (length > mark && strcmp(name + length - mark, deleted) == 0)
		length -= mark;
	if (asprintf(&rebuild->path, "%s%.*s", root, (int)length, name) >= 0)
		return true;
	rebuild->path = NULL;
	return err_set_nomem(err);
}

/* The same headers: the file was neither stripped nor rewritten since. */
static bool disk_is_whole(const struct memory_rebuild *rebuild)
{
	const struct memory_headers *headers = &rebuild->headers;
	const struct image *disk = &rebuild->disk, *head = &headers->head;
	const GElf_Ehdr *ehdr = &disk->ehdr;

	return ehdr->e_phoff == headers->phoff && ehdr->e_shoff == headers->shoff &&
	       ehdr->e_shnum == headers->shnum && ehdr->e_shstrndx == headers->shstrndx &&
	       ehdr->e_type == head->ehdr.e_type && disk->n_phdrs == head->n_phdrs &&
	       memcmp(disk->bytes + headers->phoff, headers->bytes.data + EHDR_SIZE,
		   disk->n_phdrs * sizeof(Elf64_Phdr)) == 0;
}

/* Whether the file is of the same build as the bytes that are known. */
static bool disk_same_build(struct memory_rebuild *rebuild, struct err *why)
{
	const struct image_from from = {.name = rebuild->path,
	    .fd = -1,
	    .bytes = rebuild->map,
	    .size = rebuild->size};
	struct image_build_id id, other;
	bool (*find)(const struct image *, struct image_build_id *) = image_build_id;
	struct image known;
	bool same;

	if (!image_load(&from, &known, why))
		return false;
	/* Both of the same kind: memory can lack the one that the file has, too. */
	if (!find(&known, &id))
		find = image_go_build_id;
	if (!find(&known, &id))
		same = err_set(why, ERR_UNSUPPORTED,
		    "its build cannot be compared, because the memory has no build-id");
	else
		same = (find(&rebuild->disk, &other) && other.size == id.size &&
			   memcmp(other.bytes, id.bytes, id.size) == 0 &&
			   rebuild->disk.ehdr.e_machine == known.ehdr.e_machine) ||
		       err_set(why, ERR_UNSUPPORTED,
			   "it is of another build: its build-id differs");
	image_unload(&known);
	return same;
}

bool memory_disk_open(struct memory_rebuild *rebuild, const char *root, struct err *err)
{
	struct image_from from = {.fd = -1};

	if (!disk_path(rebuild, root, err))
		return false;
	if (!rebuild->path)
		return err_set(&rebuild->why, ERR_UNSUPPORTED, "it is of no file") ||
		       true;
	if (disk_leads_up(rebuild->path + strlen(root)))
		return err_set(&rebuild->why, ERR_UNSUPPORTED,
			   "its name has a part \"..\", which no mapped file's has") ||
		       true;
	from.name = rebuild->path;
	if (image_load(&from, &rebuild->disk, &rebuild->why) &&
	    disk_same_build(rebuild, &rebuild->why)) {
		rebuild->whole = disk_is_whole(rebuild);
		if (rebuild->whole || rebuild->n_holes)
			return true;
		err_set(&rebuild->why, ERR_UNSUPPORTED,
		    "its headers differ: it was rewritten since");
	}
	image_unload(&rebuild->disk);
	if (rebuild->why.kind != ERR_NOMEM)
		return true;
	*err = rebuild->why;
	return false;
}

bool memory_disk_fill(struct memory_rebuild *rebuild, struct err *err)
{
	for (size_t i = 0; i < rebuild->n_holes; i++) {
		const struct memory_hole *hole = &rebuild->holes[i];
		const uint8_t *bytes = NULL;

		if (rebuild->why.kind)
			return err_set(err, ERR_UNSUPPORTED,
			    "%.150s has no bytes at 0x%" PRIx64 " (0x%" PRIx64
			    " bytes of the image are missing), and %.150s cannot give "
			    "them: %.100s; --sysroot names the folder of the files",
			    rebuild->memory->shown, hole->addr + rebuild->headers.bias,
			    hole->size, rebuild->path ? rebuild->path : "a file",
			    rebuild->why.text);
		bytes = image_at_addr(&rebuild->disk, hole->addr, hole->size);
		if (!bytes)
			return err_set(err, ERR_UNSUPPORTED,
			    "%.150s has no bytes at 0x%" PRIx64 " (0x%" PRIx64
			    " bytes of the image are missing), and %.150s has other "
			    "segments: it was rewritten since; --sysroot names the "
			    "folder of the original files",
			    rebuild->memory->shown, hole->addr + rebuild->headers.bias,
			    hole->size, rebuild->path);
		memcpy(rebuild->map + hole->offset, bytes, hole->size);
		rebuild->rest += hole->size;
	}
	return true;
}

/* Pages that differ: breakpoints, patches of the code. Others stay those of the file. */
static void disk_patch(uint8_t *to, const uint8_t *from, uint64_t size)
{
	for (uint64_t at = 0; at < size; at += DISK_PAGE) {
		uint64_t n = size - at < DISK_PAGE ? size - at : DISK_PAGE;

		if (memcmp(to + at, from + at, n) != 0)
			memcpy(to + at, from + at, n);
	}
}

/* Of a segment, how many bytes memory does not have. */
static uint64_t disk_missing(const struct memory_rebuild *rebuild, const GElf_Phdr *phdr)
{
	uint64_t size = 0;

	for (size_t i = 0; i < rebuild->n_holes; i++)
		if (rebuild->holes[i].addr >= phdr->p_vaddr &&
		    rebuild->holes[i].addr - phdr->p_vaddr < phdr->p_filesz)
			size += rebuild->holes[i].size;
	return size;
}

bool memory_disk_whole(struct memory_rebuild *rebuild, struct err *err)
{
	const struct image *head = &rebuild->headers.head, *disk = &rebuild->disk;
	uint8_t *map =
	    mmap(NULL, disk->size, PROT_READ | PROT_WRITE, MAP_PRIVATE, disk->fd, 0);

	if (map == MAP_FAILED)
		return err_set_errno(err, "cannot map %.200s", rebuild->path);
	rebuild->memory_bytes = 0;
	for (size_t i = 0; i < head->n_phdrs; i++) {
		const GElf_Phdr *phdr = &head->phdrs[i];

		if (phdr->p_type != PT_LOAD || phdr->p_flags & PF_W ||
		    phdr->p_offset > disk->size ||
		    phdr->p_filesz > disk->size - phdr->p_offset)
			continue;
		disk_patch(
		    map + phdr->p_offset, rebuild->map + phdr->p_offset, phdr->p_filesz);
		rebuild->memory_bytes += phdr->p_filesz - disk_missing(rebuild, phdr);
	}
	/* There it says where its section headers are. */
	memcpy(map, disk->bytes, EHDR_SIZE);
	munmap(rebuild->map, rebuild->size);
	rebuild->map = map;
	rebuild->size = disk->size;
	rebuild->rest = disk->size - rebuild->memory_bytes;
	return true;
}
