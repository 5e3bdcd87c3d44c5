/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a file: mapped, and copied where they are parsed. A copy replaces pages of the mapping, so pointers to
 * them stay, and all reads give the same, whoever writes to the file. Writing to pages of a private mapping would
 * not do: the kernel drops them when the file becomes shorter, and then shows what is written there.
 */
#include "gen/elf/image.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/newfile.h"
#include "base/num.h"
#include "base/plain.h"
#include "base/regular.h"

/* States of a page. */
enum { OWN_MAPPED, OWN_WANTED, OWN_OURS };
/* Limit of pages between two wanted ones that are copied with them, which costs less than another call. */
enum { OWN_GAP = 16 };
/* Bytes of a huge page, on the machines that this runs on mostly. */
#define OWN_HUGE ((size_t)2 << 20)
/* Files up to this size are copied as a whole, which costs less than a call for each part. */
enum { MAP_SMALL = 8 << 20 };

struct image_pages {
	/* One thread can prove the rows of a file while another compares its bytes. */
	pthread_mutex_t lock;
	size_t page, n;	     /* bytes of a page; pages */
	const uint8_t *copy; /* image_use_copy; or NULL */
	uint8_t states[];
};

static bool own_read(
    const struct image *image, uint8_t *to, size_t off, size_t size, struct err *err)
{
	const ssize_t n = regular_read(image->fd, to, size, off);

	if (n < 0)
		return err_set_errno(err, "cannot read");
	return (size_t)n == size ||
	       err_set(err, ERR_IO,
		   "shrank while it was read; run again when no program changes it");
}

/* Returns the size of the memory for a copy of a whole file. */
static size_t own_whole(size_t size)
{
	const size_t unit =
	    size < OWN_HUGE / 2 ? (size_t)sysconf(_SC_PAGESIZE) : OWN_HUGE;

	return (size + unit - 1) / unit * unit;
}

/*
 * Returns memory for a copy, or MAP_FAILED; size is one of pages. Where it is large it has huge pages, as far as there are some: it
 * begins at a place of one where the copy's final place does, so that they can be moved there.
 */
static uint8_t *own_room(const uint8_t *to, size_t size)
{
	const size_t spare = size < OWN_HUGE ? 0 : OWN_HUGE;
	uint8_t *room = mmap(NULL, size + spare, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | (spare ? 0 : MAP_POPULATE), -1, 0);
	size_t before;

	if (room == MAP_FAILED || !spare)
		return room;
	before = (size_t)(to - room) % spare;
	if (before)
		munmap(room, before);
	munmap(room + before + size, spare - before);
	/* Only hints. */
	madvise(room + before, size, MADV_HUGEPAGE);
	madvise(room + before, size, MADV_POPULATE_WRITE);
	return room + before;
}

/* Copies the pages [first, end), none of which is ours. Other threads see them as they were, or as they are then. */
static bool own_run(const struct image *image, size_t first, size_t end, struct err *err)
{
	const size_t page = image->pages->page, off = first * page,
		     size = (end - first) * page;
	uint8_t *to = (uint8_t *)(uintptr_t)image->bytes + off;
	uint8_t *copy = own_room(to, size);
	bool ok;

	if (copy == MAP_FAILED)
		return err_set_errno(err, "cannot map");
	ok = own_read(
	    image, copy, off, size < image->size - off ? size : image->size - off, err);
	if (ok && (mprotect(copy, size, PROT_READ) < 0 ||
		      mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to) ==
			  MAP_FAILED))
		ok = err_set_errno(err, "cannot map");
	if (ok)
		memset(image->pages->states + first, OWN_OURS, end - first);
	else
		munmap(copy, size);
	return ok;
}

/* Returns where the run of pages that begins at first ends. */
static size_t own_run_end(const struct image_pages *pages, size_t first)
{
	size_t last = first + 1;

	for (size_t i = last; i < pages->n && i - last < OWN_GAP; i++) {
		if (pages->states[i] == OWN_OURS)
			break;
		if (pages->states[i] == OWN_WANTED)
			last = i + 1;
	}
	return last;
}

static void own_want(const struct image *image, uint64_t off, uint64_t size)
{
	struct image_pages *pages = image->pages;

	if (!pages || !size || !num_range_inside(off, size, image->size))
		return;
	for (size_t i = (size_t)off / pages->page;
	     i <= (size_t)(off + size - 1) / pages->page; i++)
		if (pages->states[i] == OWN_MAPPED)
			pages->states[i] = OWN_WANTED;
}

/* Copies those pages of [i, n) that are wanted. */
static bool own_wanted(const struct image *image, size_t i, size_t n, struct err *err)
{
	struct image_pages *pages = image->pages;

	for (; i < n; i++) {
		const uint8_t *wanted = memchr(pages->states + i, OWN_WANTED, n - i);
		size_t end;

		if (!wanted)
			break;
		i = (size_t)(wanted - pages->states);
		end = own_run_end(pages, i);
		if (!own_run(image, i, end, err))
			return false;
		i = end - 1;
	}
	return true;
}

bool image_own(
    const struct image *image, const uint8_t *bytes, uint64_t size, struct err *err)
{
	struct image_pages *pages = image->pages;
	const uint64_t off = (uint64_t)(bytes - image->bytes);
	bool ok;

	if (!pages || !size || !num_range_inside(off, size, image->size))
		return true;
	pthread_mutex_lock(&pages->lock);
	own_want(image, off, size);
	ok = own_wanted(image, (size_t)off / pages->page,
	    (size_t)(off + size - 1) / pages->page + 1, err);
	pthread_mutex_unlock(&pages->lock);
	return ok;
}

void image_use_copy(const struct image *image, const uint8_t *copy)
{
	if (image->pages)
		image->pages->copy = copy;
}

const uint8_t *image_memory(const struct image *image)
{
	return image->pages ? image->pages->copy : image->bytes;
}

bool image_read(
    const struct image *image, uint8_t *to, uint64_t off, size_t size, struct err *err)
{
	struct image_pages *pages = image->pages;

	for (size_t n = size; size; to += n, off += n, size -= n) {
		bool ours = true;

		if (pages) {
			size_t i = (size_t)off / pages->page;

			pthread_mutex_lock(&pages->lock);
			ours = pages->states[i] == OWN_OURS;
			n = pages->page - (size_t)off % pages->page;
			while (n < size && (pages->states[++i] == OWN_OURS) == ours)
				n += pages->page;
			pthread_mutex_unlock(&pages->lock);
			n = n < size ? n : size;
		}
		if (ours)
			memcpy(to, image->bytes + off, n);
		else if (!own_read(image, to, (size_t)off, n, err))
			return false;
	}
	return true;
}

bool image_own_code(const struct image *image, struct err *err)
{
	bool ok = true;

	for (size_t i = 0; ok && i < image->n_phdrs; i++) {
		const GElf_Phdr *phdr = &image->phdrs[i];

		if (phdr->p_type == PT_LOAD && phdr->p_flags & PF_X &&
		    num_range_inside(phdr->p_offset, phdr->p_filesz, image->size))
			ok = image_own(
			    image, image->bytes + phdr->p_offset, phdr->p_filesz, err);
	}
	return ok;
}

/* The mapping is private, so the file does not see what it was before. */
static bool restore_original(
    struct image *image, const struct image_from *from, struct err *err)
{
	uint8_t *map = (uint8_t *)(uintptr_t)image->bytes;

	for (size_t i = 0; i < from->n_patches; i++) {
		const struct image_patch *patch = &from->patches[i];

		if (i >= IMAGE_MAX_RESTORED ||
		    !num_range_inside(patch->off, patch->size, image->size))
			return err_set(err, ERR_MALFORMED,
			    "range %zu of the undo record is outside of the original "
			    "file",
			    i);
		if (!image_own(image, map + patch->off, patch->size, err))
			return false;
	}
	if (mprotect(map, image->size, PROT_READ | PROT_WRITE) < 0)
		return err_set_errno(err, "cannot map");
	for (size_t i = 0; i < from->n_patches; i++) {
		const struct image_patch *patch = &from->patches[i];
		uint8_t *at = map + patch->off;

		if (patch->data)
			memcpy(at, patch->data, patch->size);
		else
			memset(at, 0, patch->size);
		image->restored[image->n_restored++] =
		    (struct image_range){patch->off, patch->size};
	}
	return mprotect(map, image->size, PROT_READ) == 0 ||
	       err_set_errno(err, "cannot map");
}

/* Holes are read as zeros, and cost as much as bytes. A descriptor of the caller has its position in common. */
static bool check_holes(
    const struct image_from *from, const struct image *image, struct err *err)
{
	return from->ours || !regular_is_hollow(image->fd, &image->st, from->fd < 0) ||
	       err_set(
		   err, ERR_LIMIT, "0x%jx " REGULAR_HOLLOW, (uintmax_t)image->st.st_size);
}

/* The name may be of a link in another file (.gnu_debuglink): it can be any device. */
static bool open_file(const struct image_from *from, struct image *image, struct err *err)
{
	/* A second descriptor would take an error of the first one's writes with it when it is closed. */
	if (from->ours)
		return fstat(from->fd, &image->st) == 0 ||
		       err_set_errno(err, "cannot stat");
	image->fd = from->fd < 0 ? regular_open(from->name, &image->st)
				 : regular_copy(from->fd, &image->st);
	if (image->fd >= 0)
		return true;
	if (errno)
		return err_set_errno(err, "cannot open");
	if (S_ISDIR(image->st.st_mode))
		return err_set(err, ERR_UNSUPPORTED,
		    "a directory; eh2sframe tree takes all files below one");
	return err_set(
	    err, ERR_UNSUPPORTED, "not a regular file; name a file that has the bytes");
}

/* A copy of a small file, or of the image in memory that this one is the original of. */
static bool map_copy(const struct image_from *from, struct image *image, struct err *err)
{
	uint8_t *map = own_room(NULL, own_whole(image->size));

	if (map == MAP_FAILED)
		return err_set_errno(err, "cannot map");
	image->bytes = map;
	if (image->fd >= 0)
		return own_read(image, map, 0, image->size, err);
	memcpy(map, from->original->bytes, image->size);
	return true;
}

/*
 * The mapping is private and read-only: a file replaced by rename while it is being read
 * stays whole here, because the old inode is what is mapped. Of a file that is ours alone, nothing is copied.
 */
static bool map_file(const struct image_from *from, struct image *image, struct err *err)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE),
		     n = (image->size - 1) / page + 1;
	struct image_pages *pages = calloc(1, sizeof(*pages) + n);
	void *map;

	if (!pages || pthread_mutex_init(&pages->lock, NULL)) {
		free(pages);
		return err_set_nomem(err);
	}
	pages->page = page;
	pages->n = n;
	image->pages = pages;
	map = mmap(NULL, image->size, PROT_READ, MAP_PRIVATE,
	    from->ours ? from->fd : image->fd, 0);
	if (map == MAP_FAILED)
		return err_set_errno(err, "cannot map");
	image->bytes = map;
	if (from->ours) {
		memset(pages->states, OWN_OURS, n);
		pages->copy = map;
	}
	return image_own(image, map, sizeof(Elf64_Ehdr), err);
}

bool image_map(const struct image_from *from, struct image *image, struct err *err)
{
	image->borrowed = from->bytes;
	image->bytes = from->bytes;
	image->size = from->size;
	image->st.st_size = (off_t)from->size;
	image->path = strdup(from->name);
	image->shown = plain_dup(from->name);
	if (!image->path || !image->shown)
		return err_set_nomem(err);
	if (!from->size && !open_file(from, image, err))
		return false;
	if (!from->size && !from->original && !check_holes(from, image, err))
		return false;
	if (from->original_size > (uint64_t)image->st.st_size)
		return err_set(err, ERR_IO,
		    "shrank while it was read; run again when no program changes it");
	if (from->original)
		image->st.st_size = (off_t)from->original_size;
	if (image->st.st_size < (off_t)sizeof(Elf64_Ehdr))
		return true;
	if (!num_size((uint64_t)image->st.st_size, &image->size))
		return err_set(err, ERR_LIMIT, "too large to map");
	if (image->bytes)
		return true;
	return (from->ours || (image->fd >= 0 && (image->size > MAP_SMALL || from->few))
		       ? map_file(from, image, err)
		       : map_copy(from, image, err)) &&
	       (!from->original || restore_original(image, from, err));
}

void image_unmap(struct image *image)
{
	if (image->bytes && !image->borrowed)
		munmap((void *)(uintptr_t)image->bytes,
		    image->pages ? image->size : own_whole(image->size));
	if (image->pages)
		pthread_mutex_destroy(&image->pages->lock);
	free(image->pages);
}

static bool map_time_differs(const struct timespec *was, const struct timespec *is)
{
	return is->tv_sec != was->tv_sec || is->tv_nsec != was->tv_nsec;
}

bool image_is_unchanged(const struct image *image, struct err *err)
{
	struct stat st;

	/* Not by ctime: what was made of a file may take its place while a user of the library has it open. Nor by its size, where the
	 * original is shorter than the file that has it. */
	return image->fd < 0 ||
	       (fstat(image->fd, &st) == 0 &&
		   !map_time_differs(&image->st.st_mtim, &st.st_mtim)) ||
	       err_set(err, ERR_IO, NEWFILE_CHANGED);
}

bool image_blame_change(const struct image *image, struct err *err)
{
	struct stat st;

	if (image->fd >= 0 && err->kind != ERR_NOMEM && err->kind != ERR_IO &&
	    (fstat(image->fd, &st) < 0 ||
		map_time_differs(&image->st.st_ctim, &st.st_ctim)))
		err_set(err, ERR_IO, NEWFILE_CHANGED);
	return false;
}

/* True if a section is copied at once. Symbols of a debug file are not: they are copied
 * when functions are named by them. */
static bool own_is_wanted(
    const struct image *image, const struct image_section *section, bool debug_only)
{
	static const char *const names[] = {".comment", ".eh2sframe", ".gnu_debuglink"};
	const uint32_t type = section->hdr.sh_type;

	if (debug_only && (type == SHT_SYMTAB || type == SHT_STRTAB))
		return section == &image->sections[image->names];
	if (type != SHT_PROGBITS || image_is_eh_frame(section) ||
	    image_is_debug_frame(section) || image_is_sframe(section))
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(section->name, names[i]) == 0)
			return true;
	return false;
}

bool image_own_tables(const struct image *image, struct err *err)
{
	/* Objects read their symbols at once. */
	const bool debug_only =
	    image->ehdr.e_type != ET_REL && image_is_debug_only(image);

	for (size_t i = 0; i < image->n_sections; i++) {
		const struct image_section *section = &image->sections[i];

		if (section->data && own_is_wanted(image, section, debug_only))
			own_want(image, section->hdr.sh_offset, section->hdr.sh_size);
	}
	for (size_t i = 0; i < image->n_phdrs; i++) {
		const GElf_Phdr *phdr = &image->phdrs[i];

		if (phdr->p_type == PT_DYNAMIC || phdr->p_type == PT_INTERP ||
		    phdr->p_type == PT_NOTE || phdr->p_type == PT_GNU_EH_FRAME ||
		    phdr->p_type == IMAGE_PT_GNU_SFRAME)
			own_want(image, phdr->p_offset, phdr->p_filesz);
	}
	return !image->pages || own_wanted(image, 0, image->pages->n, err);
}
