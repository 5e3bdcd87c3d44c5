/* SPDX-License-Identifier: MIT */
/*
 * An ELF file, open: linked, or a relocatable object with addresses given to its sections.
 * Questions to which the two have different answers are here; all others are in gen/elf/image.h.
 */
#ifndef GEN_SOURCES_INPUT_H
#define GEN_SOURCES_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "cfi/section.h"
#include "gen/elf/image.h"

/* Opens path read-only and checks it: see image_load for what is refused. */
ATTR_MUST_CHECK bool image_open(const char *path, struct image *image, struct err *err);

/* As image_open, for an open descriptor, which stays the caller's. */
ATTR_MUST_CHECK bool image_open_fd(
    int fd, const char *name, struct image *image, struct err *err);

/* Does what image_open_fd does, for a file that nobody else writes to. */
ATTR_MUST_CHECK bool image_open_ours(
    int fd, const char *name, struct image *image, struct err *err);

/* Does what image_open does, for bytes in memory, which are borrowed and not written to. */
ATTR_MUST_CHECK bool image_open_memory(const void *bytes, size_t size, const char *name,
    struct image *image, struct err *err);

/*
 * As image_open, but sees an open image as it was before this program inserted a section:
 * only the first size bytes, with the patches put back. It may be closed before its
 * original.
 */
ATTR_MUST_CHECK bool image_open_original(const struct image *of, uint64_t size,
    const struct image_patch *patches, size_t n_patches, struct image *image,
    struct err *err);

void image_close(struct image *image); /* accepts a zeroed struct */

/* True if [addr, addr + len) is inside one executable segment, or in an object inside one
 * executable section. */
bool image_is_code(const struct image *image, uint64_t addr, uint64_t len);

/*
 * Finds .eh_frame: by section name (PROGBITS or SHT_X86_64_UNWIND), several as one, else, without section
 * headers, through PT_GNU_EH_FRAME's eh_frame_ptr up to the end of its segment. *found is
 * false when there is none or it is empty or NOBITS. ERR_MALFORMED when it is not inside
 * the file. hdr_size (may be NULL) gets the bytes of .eh_frame_hdr, 0 without one.
 */
ATTR_MUST_CHECK bool image_eh_frame(const struct image *image,
    struct cfi_section *section, bool *found, uint64_t *hdr_size, struct err *err);

/*
 * Finds an SFrame section: by section (type or name), else by PT_GNU_SFRAME. *data is
 * NULL when there is none.
 */
ATTR_MUST_CHECK bool image_sframe(const struct image *image, const uint8_t **data,
    size_t *size, uint64_t *addr, struct err *err);

#endif
