/* SPDX-License-Identifier: MIT */
/*
 * Finds a separate debug file, as debuggers do (GDB, "Debugging Information in Separate
 * Files"), and makes sure that it is of the same build and layout.
 */
#include "gen/sources/debug_file.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "base/rd.h"
#include "gen/elf/window.h"

/* A build-id longer than a path is none. */
enum { MAX_BUILD_ID = 64 };

/* Puts the debug file's name before what is wrong with it. */
static bool debug_blame(const char *path, struct err *err)
{
	return err->kind == ERR_NOMEM ? false : err_prefix(err, "%.200s", path);
}

static bool same_build(
    const struct image *image, const struct image *other, struct err *err)
{
	struct image_build_id id = {0}, other_id = {0};
	const bool has = image_build_id(image, &id);

	if (has != image_build_id(other, &other_id))
		return err_set(err, ERR_UNSUPPORTED,
		    "%s has no build-id, so it may be of another build; build both with "
		    "--build-id",
		    has ? "the debug file" : "the program");
	return (id.size == other_id.size &&
		   (!has || memcmp(id.bytes, other_id.bytes, id.size) == 0)) ||
	       err_set(
		   err, ERR_UNSUPPORTED, "it is of another build: its build-id differs");
}

/* The executable section at or after *i; NULL when there is none. */
static const struct image_section *next_code(const struct image *image, size_t *i)
{
	for (; *i < image->n_sections; ++*i) {
		const GElf_Shdr *hdr = &image->sections[*i].hdr;

		if (hdr->sh_flags & SHF_ALLOC && hdr->sh_flags & SHF_EXECINSTR &&
		    hdr->sh_size)
			return &image->sections[(*i)++];
	}
	return NULL;
}

/* As next_code, for segments. */
static const GElf_Phdr *next_code_segment(const struct image *image, size_t *i)
{
	for (; *i < image->n_phdrs; ++*i)
		if (image->phdrs[*i].p_type == PT_LOAD && image->phdrs[*i].p_flags & PF_X)
			return &image->phdrs[(*i)++];
	return NULL;
}

/* Compares the segments: a file without section headers has been stripped of them, and the segments stay. */
static bool same_segments(
    const struct image *image, const struct image *other, struct err *err)
{
	size_t i = 0, k = 0;
	const GElf_Phdr *a, *b;

	do {
		a = next_code_segment(image, &i);
		b = next_code_segment(other, &k);
		if (!a != !b ||
		    (a && (a->p_vaddr != b->p_vaddr || a->p_memsz != b->p_memsz)))
			return err_set(err, ERR_UNSUPPORTED,
			    "its executable segments are at other addresses");
	} while (a);
	return true;
}

/* An unstripped file has the code itself, which differs in another build that has no build-id. */
static bool same_bytes(const struct image *image, const struct image_section *a,
    const struct image *other, const struct image_section *b)
{
	struct image_window x = {.image = image}, y = {.image = other};
	/* A debug file leaves code out. */
	bool same =
	    !a->data || !b->data ||
	    image_window_same(&x, a->hdr.sh_offset, &y, b->hdr.sh_offset, a->hdr.sh_size);

	image_window_free(&x);
	image_window_free(&y);
	return same;
}

/* Compares the places of code, because prelink and other tools move it. */
static bool same_code(
    const struct image *image, const struct image *other, struct err *err)
{
	const struct image_section *a, *b;
	struct image_build_id id;
	const bool has_id = image_build_id(image, &id);
	size_t i = 0, k = 0;

	if (!image->n_sections || !other->n_sections)
		return same_segments(image, other, err);
	do {
		a = next_code(image, &i);
		b = next_code(other, &k);
		if (!a != !b || (a && (a->hdr.sh_addr != b->hdr.sh_addr ||
					  a->hdr.sh_size != b->hdr.sh_size)))
			return err_set(err, ERR_UNSUPPORTED,
			    "%.60s is at another address or of another size there",
			    a ? a->name : b->name);
		if (a && !has_id && !same_bytes(image, a, other, b))
			return err_set(err, ERR_UNSUPPORTED,
			    "it is of another build: %.60s differs", a->name);
	} while (a);
	return true;
}

/* Reads the name and the checksum in .gnu_debuglink: a string, zeros up to 4 bytes, a word. */
static const char *debug_link(const struct image *image, uint32_t *crc)
{
	const struct image_section *section = image_section_find(image, ".gnu_debuglink");
	const char *name;
	struct rd rd;

	if (!section || section->hdr.sh_type == SHT_NOBITS)
		return NULL;
	rd_init(&rd, section->data, (size_t)section->hdr.sh_size, image->big_endian);
	name = rd_cstr(&rd);
	if (!name)
		return NULL;
	rd_skip(&rd, (4 - rd.pos % 4) % 4);
	*crc = rd_u32(&rd);
	return rd.failed || !*name || strchr(name, '/') ? NULL : name;
}

/* Without a build-id, the checksum says whether it is the right one, where there is one. */
static bool debug_checksum(
    const struct image *image, const struct image *debug, struct err *err)
{
	struct image_window window = {.image = debug};
	struct image_build_id id;
	uint32_t wanted;
	uLong crc = 0;
	bool ok = true;

	if (image_build_id(image, &id) || !debug_link(image, &wanted))
		return true;
	for (size_t at = 0, n; ok && at < debug->size; at += n) {
		const uint8_t *bytes;

		n = debug->size - at;
		bytes = image_window_some(&window, at, &n, err);
		ok = bytes;
		crc = ok ? crc32_z(crc, bytes, n) : 0;
	}
	image_window_free(&window);
	return ok && (crc == wanted ||
			 err_set(err, ERR_UNSUPPORTED,
			     "it is of another build: the checksum in .gnu_debuglink "
			     "differs"));
}

static bool debug_matches(
    const struct image *image, const struct image *other, struct err *err)
{
	if (other->ehdr.e_machine != image->ehdr.e_machine ||
	    other->big_endian != image->big_endian ||
	    other->ehdr.e_type != image->ehdr.e_type)
		return err_set(err, ERR_UNSUPPORTED,
		    "it is of another machine, or another kind of file");
	return same_build(image, other, err) && debug_checksum(image, other, err) &&
	       same_code(image, other, err);
}

/* Opens a debug file that there is, and looks whether it is the right one. */
static bool debug_load(
    const struct image *image, const char *path, struct debug_file *file, struct err *err)
{
	const struct image_from from = {.name = path, .fd = -1, .few = true};

	if (!image_load(&from, &file->separate, err))
		return debug_blame(path, err);
	file->image = &file->separate;
	return (debug_matches(image, &file->separate, err) &&
		   image_debug_frames_find(&file->separate, &file->frames, err)) ||
	       debug_blame(path, err);
}

/* Looks for DIR/.build-id/NN/NNNN.debug. */
static bool path_by_id(const struct image *image, const char *dir, char path[PATH_MAX])
{
	char hex[2 * MAX_BUILD_ID + 1];
	struct image_build_id id;
	int n;

	if (!image_build_id(image, &id) || id.size < 2 || id.size > MAX_BUILD_ID)
		return false;
	for (size_t i = 0; i < id.size; i++)
		snprintf(hex + 2 * i, 3, "%02x", id.bytes[i]);
	n = snprintf(path, PATH_MAX, "%s/.build-id/%.2s/%s.debug", dir, hex, hex + 2);
	return n < PATH_MAX && access(path, F_OK) == 0;
}

/* Finds where the file is, by its descriptor if the kernel tells: the name may be from elsewhere. */
static char *image_place(const struct image *image)
{
	char link[sizeof("/proc/self/fd/") + 3 * sizeof(int)];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", image->fd);
	return realpath(
	    image->fd < 0 || access(link, F_OK) != 0 ? image->path : link, NULL);
}

/* Looks for DIR/FOLDER/NAME, where FOLDER has the file; or DIR/NAME. */
static bool path_by_link(
    const struct image *image, const char *dir, const char *name, char path[PATH_MAX])
{
	char *folder = image_place(image), *slash;
	int n = PATH_MAX;

	slash = folder ? strrchr(folder, '/') : NULL;
	if (slash) {
		*slash = '\0';
		n = snprintf(path, PATH_MAX, "%s%s/%s", dir, folder, name);
	}
	free(folder);
	if (n < PATH_MAX && access(path, F_OK) == 0)
		return true;
	n = snprintf(path, PATH_MAX, "%s/%s", dir, name);
	return n < PATH_MAX && access(path, F_OK) == 0;
}

static bool debug_search(
    const struct image *image, const char *dir, struct debug_file *file, struct err *err)
{
	char path[PATH_MAX];
	const char *name;
	uint32_t crc;

	if (path_by_id(image, dir, path))
		return debug_load(image, path, file, err);
	name = debug_link(image, &crc);
	return !name || !path_by_link(image, dir, name, path) ||
	       debug_load(image, path, file, err);
}

bool debug_file_open(const struct image *image, const char *name, const char *dir,
    struct debug_file *file, struct err *err)
{
	*file = (struct debug_file){.image = image};
	file->separate.fd = -1;
	if (name)
		return debug_load(image, name, file, err) &&
		       (file->frames.size || err_set(err, ERR_UNSUPPORTED,
						 "%.200s: it has no .debug_frame", name));
	/* The code of a debug file is elsewhere, and is not converted. */
	if (image_is_debug_only(image))
		return true;
	if (!image_debug_frames_find(image, &file->frames, err))
		return false;
	return file->frames.size || !dir || debug_search(image, dir, file, err);
}

void debug_file_close(struct debug_file *file)
{
	if (file->separate.path)
		image_unload(&file->separate);
	*file = (struct debug_file){0};
	file->separate.fd = -1;
}
