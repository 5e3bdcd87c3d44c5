/* SPDX-License-Identifier: MIT */
/* From the frames of a profile to functions with readable names. */
#ifndef PROFILE_SYMBOLS_NAMING_H
#define PROFILE_SYMBOLS_NAMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/hash_slots.h"
#include "profile/profile.h"

struct naming_options {
	const char *const *debug_dirs; /* borrowed; each has a folder ".build-id" */
	size_t n_debug_dirs;
	bool no_demangle; /* names as the symbol table has them */
	bool no_inline;	  /* a frame is one function */
};

/* A function, which frames share. */
struct naming_function {
	uint32_t module; /* index: FILE and KERNEL; else 0 */
	uint32_t kind;	 /* enum profile_frame_kind */
	/* Has no control characters: "main", "std::sort (inlined)", "libz.so.1+0x1a40", "[unknown]". */
	char *name;
};

/* A source of code. */
struct naming_file {
	char *path; /* without control characters */
};

/* A function that a frame is in, and where in it. */
struct naming_place {
	uint32_t function;
	uint32_t file; /* of the source, in naming.files; 0: not known */
	uint32_t line; /* 0: not known */
};

/* The places of a frame, in naming.places: the first is the function that has the code, and each further one is inlined. */
struct naming_chain {
	uint32_t first, n; /* n >= 1 */
};

/* Zeroed, then naming_run. */
struct naming {
	struct naming_function *functions;
	size_t n_functions, cap_functions;
	struct naming_place *places;
	size_t n_places, cap_places;
	struct naming_file *files; /* 0 is none */
	size_t n_files, cap_files;
	struct naming_chain *of_frame; /* of each frame of the profile */
	struct slots function_slots, file_slots;
};

/*
 * Names all frames, by the symbols of their files as these are now. A file with another
 * build-id is not used. A name that the recording has already stays, but for one that is a
 * start, which a debug file of this build-id can name. What cannot be read gives no names
 * and no error. ERR_NOMEM; ERR_LIMIT at 2^32 - 1 functions or places.
 */
ATTR_MUST_CHECK bool naming_run(const struct profile *profile,
    const struct naming_options *options, struct naming *naming, struct err *err);
void naming_free(struct naming *naming); /* accepts a zeroed one */

/* The last part of a path: "libc.so.6"; "[vdso]" and an empty path stay. */
const char *naming_base(const char *path);

#endif
