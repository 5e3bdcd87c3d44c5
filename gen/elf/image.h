/* SPDX-License-Identifier: MIT */
/*
 * An ELF file that is open for reading. Its bytes are mapped. libelf has read its tables,
 * and they are checked once, so that no caller meets a range outside the file.
 *
 * Others may write to the file meanwhile. What is parsed is copied before the first look at it (gen/elf/map.c), so it
 * stays as it was checked: headers, tables, names, notes, CFI, .sframe. All other bytes are code, constants and
 * data. They may differ at each look, so whoever reads them twice calls image_own before.
 */
#ifndef GEN_ELF_IMAGE_H
#define GEN_ELF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include <gelf.h>

#include "base/attr.h"
#include "base/err.h"
#include "cfi/section.h"

/* Not in Debian 12's elf.h under these names. */
enum {
	IMAGE_SHT_GNU_SFRAME = 0x6ffffff4,
	IMAGE_PT_GNU_SFRAME = 0x6474e554,
	IMAGE_SHT_X86_64_UNWIND = 0x70000001,
	IMAGE_SHT_RELR = 19,
	IMAGE_DT_RELR = 36,
};

/* Linux reads no program header table of more than 64 KiB. */
enum { IMAGE_MAX_PHDRS = 65536 / 56 };

struct image_section {
	GElf_Shdr hdr;
	const char *name; /* borrowed from bytes; "" when it is damaged */
	/* Bytes in the file, borrowed; NULL for SHT_NOBITS, SHT_NULL and when the range
	 * is not inside the file. That is an error only for a caller that needs them. */
	const uint8_t *data;
};

/* As many ranges as an undo record can have. */
#define IMAGE_MAX_RESTORED 8

struct object;

struct image {
	char *path;  /* as given */
	char *shown; /* the same for messages (base/plain.h) */
	int fd;	     /* -1: in memory; st then has the size only */
	struct stat st;
	const uint8_t *bytes;	   /* the whole file, mapped read-only */
	size_t size;		   /* bytes */
	struct image_pages *pages; /* for gen/elf/map.c; NULL: all bytes are memory */
	bool borrowed;		   /* bytes are the caller's own; fd is -1 */
	bool shared_fd;		   /* fd has its position in common with the caller's */
	/* Ranges where bytes differs from the file behind fd: image_open_original put the
	 * original bytes back in the mapping only. */
	struct image_range {
		uint64_t off;
		size_t size;
	} restored[IMAGE_MAX_RESTORED];
	size_t n_restored;
	Elf *elf;
	bool big_endian;
	GElf_Ehdr ehdr;
	GElf_Phdr *phdrs;
	size_t n_phdrs;
	size_t first_code; /* index of the first executable PT_LOAD; n_phdrs: none */
	/* Index as in the file; none when stripped of headers. */
	struct image_section *sections;
	size_t n_sections;
	size_t names; /* index of the section name table, as the header says; 0: none */
	/* More than one .eh_frame of a linked file, joined; data is NULL with one or none. */
	struct image_cfi {
		uint8_t *data;
		size_t size; /* bytes, and those of them that are between sections */
		size_t gaps;
		uint64_t addr;
	} cfi;
	struct object *object; /* gen/elf/object/object.h: of an ET_REL file; else NULL */
};

/* Bytes that stood in the original of an image; borrowed. */
struct image_patch {
	uint64_t off;
	size_t size;
	const uint8_t *data; /* size bytes, or NULL when all are zero */
};

/* Source of the bytes of an image: a path, a descriptor, or memory. All borrowed. */
struct image_from {
	const char *name;
	int fd;		      /* duplicated, unless ours; -1: name is the path */
	bool ours;	      /* nobody else writes to it */
	bool few;	      /* most of its bytes are not looked at: a debug file */
	const uint8_t *bytes; /* not NULL: these, of size */
	size_t size;
	/* Not NULL: as this image was before, with original_size bytes and these patches. */
	const struct image *original;
	uint64_t original_size;
	const struct image_patch *patches;
	size_t n_patches;
};

/*
 * Reads the tables and checks them: a regular file, ELF64 of version 1, tables inside the
 * file, a machine this program knows (gen/arch/arch.h) in a byte order that machine has,
 * not ET_CORE. ERR_IO, ERR_UNSUPPORTED or ERR_MALFORMED with a message that does not
 * repeat the path. gen/sources/ opens and closes images for all others.
 */
ATTR_MUST_CHECK bool image_load(
    const struct image_from *from, struct image *image, struct err *err);
void image_unload(struct image *image); /* accepts a zeroed struct */
/* Fails with ERR_MALFORMED when the sections with bytes, the PT_LOADs or the PT_NOTEs, each kind by itself, name
 * more than four times the bytes of the file. A part of image_load. */
ATTR_MUST_CHECK bool image_check_sums(const struct image *image, struct err *err);

/*
 * Copies bytes of the file, unless they are ours, so that they stay as they are. ERR_IO when the file has become
 * shorter. Pointers to the bytes remain, also those of other threads.
 */
ATTR_MUST_CHECK bool image_own(
    const struct image *image, const uint8_t *bytes, uint64_t size, struct err *err);
/* As image_own, for the executable segments, because callers read instructions several times. */
ATTR_MUST_CHECK bool image_own_code(const struct image *image, struct err *err);
/* Copies the bytes [off, off + size) of image->bytes, which are inside of it, without mapping pages that nobody has looked at: gen/elf/window.h.
 * ERR_IO. */
ATTR_MUST_CHECK bool image_read(
    const struct image *image, uint8_t *to, uint64_t off, size_t size, struct err *err);
/*
 * Tells windows to show a copy of the whole file in memory that nobody else writes to, which costs less than reading the file once more. Borrowed;
 * NULL: there is none any more. No other thread may use the image meanwhile.
 */
void image_use_copy(const struct image *image, const uint8_t *copy);
/* Returns the bytes of the whole file that stay as they are; NULL when there are none. */
const uint8_t *image_memory(const struct image *image);
/* False: somebody has written to the file since it was opened, so that what was read late is of another file than what was read first.
 * ERR_IO. */
bool image_is_unchanged(const struct image *image, struct err *err);
/* After a proof that failed, or a check of what was written: says so where the reason can be a change. Always false. */
bool image_blame_change(const struct image *image, struct err *err);
/*
 * For image_load: maps a file, unless it is shorter than an ELF header, and copies the header; copies what sections and
 * segments have that is parsed; undoes both.
 */
ATTR_MUST_CHECK bool image_map(
    const struct image_from *from, struct image *image, struct err *err);
void image_unmap(struct image *image);
ATTR_MUST_CHECK bool image_own_tables(const struct image *image, struct err *err);

/* Returns the first section of that name with bytes in the file, or NULL. */
const struct image_section *image_section_find(
    const struct image *image, const char *name);

/* True if a section of this name holds stubs of a PLT. */
bool image_is_plt_name(const char *name);

/* Returns the first program header of that type, or NULL. */
const GElf_Phdr *image_segment_find(const struct image *image, uint32_t type);

/* Fails with ERR_MALFORMED when section i has bytes that the file does not have: once the file grows, others
 * would become its. */
ATTR_MUST_CHECK bool image_section_inside(
    const struct image *image, size_t i, struct err *err);
/* The error of a section whose bytes are not all in the file; always false. */
bool image_section_cut(const struct image *image, size_t i, struct err *err);

/* True if the file bytes [off, end), which are inside of it, are zeros only. */
bool image_is_zero(const struct image *image, uint64_t off, uint64_t end);

/* Returns len file bytes that the loader maps at addr, or NULL when they are not all file bytes. */
const uint8_t *image_at_addr(const struct image *image, uint64_t addr, uint64_t len);

/* Returns the file bytes of a program header; NULL when they are not inside of the file. For reading the bytes of all
 * segments: by address, all could lead to those of one. */
const uint8_t *image_segment_bytes(const struct image *image, const GElf_Phdr *phdr);

/* Finds the first value of a DT_* tag in PT_DYNAMIC; false when there is none. */
ATTR_MUST_CHECK bool image_dynamic(
    const struct image *image, int64_t tag, uint64_t *value);

/*
 * Calls note with the address of each word that a section of type SHT_RELR (gABI, "Relative Relocations")
 * relocates: an even entry is an address, and an odd one says by bits which of the next 63 words are
 * meant. False as soon as note returns false.
 */
ATTR_MUST_CHECK bool image_relr_each(const struct image *image,
    const struct image_section *section, bool (*note)(void *context, uint64_t addr),
    void *context);

/* True if a section is an SFrame section: by type, or by name (binutils 2.40 gives no
 * type). */
bool image_is_sframe(const struct image_section *section);

/* Returns the segment with PF_X of a linked file that [addr, addr + len) lies inside;
 * NULL when there is none. */
const GElf_Phdr *image_code_segment(
    const struct image *image, uint64_t addr, uint64_t len);
/* True if a section is one of CFI: by name, and not empty; the second type
 * (SHT_X86_64_UNWIND) is what Clang gives it. */
bool image_is_eh_frame(const struct image_section *section);
/* True if it is the section of a linked file that a loader has, too. */
bool image_is_loaded_eh_frame(const struct image_section *section);
/* Fails with ERR_MALFORMED when the file does not hold all of section i, an .eh_frame,
 * and with ERR_UNSUPPORTED when it is compressed. */
ATTR_MUST_CHECK bool image_eh_frame_readable(
    const struct image *image, size_t i, struct err *err);
/* Fails with ERR_MALFORMED when a loader of the linked file has other bytes at the address: unwinders read those. */
ATTR_MUST_CHECK bool image_eh_frame_mapped(
    const struct image *image, size_t i, struct err *err);

/* The .debug_frame of a file, as it is there: as such, or compressed. */
struct image_debug_frame {
	size_t index; /* of the section */
	enum image_packing {
		IMAGE_PLAIN,
		IMAGE_ZLIB,
		IMAGE_ZSTD,
	} packing;
	const uint8_t *bytes; /* borrowed from the file */
	size_t stored;	      /* bytes in the file */
	size_t size;	      /* bytes of the section itself; 0 without such a section */
};

/* True if a section is .debug_frame or .zdebug_frame, with bytes in the file. */
bool image_is_debug_frame(const struct image_section *section);
/*
 * Reads the headers of section i, a .debug_frame. ERR_MALFORMED when the file does not hold all of
 * it, or it cannot be what it says; ERR_UNSUPPORTED for a compression that this build cannot read.
 */
ATTR_MUST_CHECK bool image_debug_frame_at(const struct image *image, size_t i,
    struct image_debug_frame *frame, struct err *err);
/* Writes frame->size bytes, decompressed. ERR_MALFORMED when they cannot be. */
ATTR_MUST_CHECK bool image_debug_frame_read(const struct image *image,
    const struct image_debug_frame *frame, uint8_t *to, struct err *err);

/* All .debug_frame sections of a file, one behind the other. */
struct image_debug_frames {
	size_t n;    /* sections */
	size_t size; /* bytes, decompressed; 0 without such a section */
};

/* Fails as image_debug_frame_at does. */
ATTR_MUST_CHECK bool image_debug_frames_find(
    const struct image *image, struct image_debug_frames *frames, struct err *err);
/*
 * Writes frames->size bytes, of a linked file: with several sections, offsets of CIEs count from the first
 * byte of all. ERR_MALFORMED when one cannot be decompressed, or the records of one of several do
 * not end with it.
 */
ATTR_MUST_CHECK bool image_debug_frames_read(const struct image *image,
    const struct image_debug_frames *frames, uint8_t *to, struct err *err);

/* True if the code of a linked file is elsewhere: a separate debug file. */
bool image_is_debug_only(const struct image *image);

/*
 * True if a linked file may be a program interpreter, as ld.so and musl's libc.so are. It has an entry point, needs
 * no other file, and is not marked as a PIE; a static PIE of old linkers has no mark either. Where the entry point
 * may be one that a linker gave, it has a name that debuggers look for.
 */
bool image_is_loader(const struct image *image);

/*
 * Joins the .eh_frame sections of a linked file that has several. ERR_MALFORMED or
 * ERR_UNSUPPORTED when they overlap, are too far apart, or a record passes its section.
 */
ATTR_MUST_CHECK bool image_join_eh_frames(struct image *image, struct err *err);

/* As image_eh_frame and image_sframe (gen/sources/input.h), for a linked file. */
ATTR_MUST_CHECK bool image_linked_eh_frame(const struct image *image,
    struct cfi_section *section, bool *found, uint64_t *hdr_size, struct err *err);
ATTR_MUST_CHECK bool image_linked_sframe(const struct image *image, const uint8_t **data,
    size_t *size, uint64_t *addr, struct err *err);

/* Finds how many bytes at the end of the file are a module's signature; 0: none.
 * ERR_MALFORMED when it says that it is larger than the file. */
ATTR_MUST_CHECK bool image_signature(
    const struct image *image, size_t *size, struct err *err);

/* The build-id of GNU, borrowed from the file. */
struct image_build_id {
	const uint8_t *bytes;
	size_t size;
};

/* Finds the build-id; false when the file has none. */
ATTR_MUST_CHECK bool image_build_id(const struct image *image, struct image_build_id *id);

/* Returns the address of the first code; UINT64_MAX: there is none. Without section headers, segments tell what is
 * code. */
uint64_t image_first_code(const struct image *image);

#endif
