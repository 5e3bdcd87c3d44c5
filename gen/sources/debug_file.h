/* SPDX-License-Identifier: MIT */
/* Finds the .debug_frame of a file: in the file, or in a separate debug file. */
#ifndef GEN_SOURCES_DEBUG_FILE_H
#define GEN_SOURCES_DEBUG_FILE_H

#include "base/attr.h"
#include "base/err.h"
#include "gen/elf/image.h"

struct debug_file {
	const struct image *image; /* that has the section: the file, or separate */
	struct image separate;	   /* the debug file; without a path if there is none */
	struct image_debug_frames frames; /* size 0: there is no .debug_frame */
};

/*
 * Finds .debug_frame for a linked image: in the debug file called name; without a name in the image
 * itself, or else in a debug file below dir, by build-id or .gnu_debuglink. name and dir may be NULL.
 * A file that is found but cannot be used, or has a name and no .debug_frame, is a failure:
 * ERR_NOMEM, or why the source is left out. If nothing is found, *file has no frame.
 */
ATTR_MUST_CHECK bool debug_file_open(const struct image *image, const char *name,
    const char *dir, struct debug_file *file, struct err *err);
void debug_file_close(struct debug_file *file); /* after a failure, too */

#endif
