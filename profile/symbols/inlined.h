/* SPDX-License-Identifier: MIT */
/*
 * Functions that were inlined where addresses are, and lines of their sources, from DWARF debug information by libdw. It is what
 * strangers wrote, so a process in the sandbox reads it.
 */
#ifndef PROFILE_SYMBOLS_INLINED_H
#define PROFILE_SYMBOLS_INLINED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "profile/profile.h"
#include "profile/symbols/naming.h"

/* A function at an address. */
struct inlined_place {
	uint32_t name; /* both begin there in the text; 0: not known */
	uint32_t file;
	uint32_t line; /* 0: not known */
};

enum {
	INLINED_CHAIN_MAX = 64,	 /* functions at one address */
	INLINED_NAME_MAX = 65536 /* bytes of a name or path */
};

/* Zeroed, then inlined_read. */
struct inlined {
	const uint64_t *addresses; /* borrowed; ascending, before relocation */
	size_t n;
	struct naming_chain
	    *chains; /* the places of each address; NULL: nothing is known */
	struct inlined_place *places;
	char *text; /* as each string in it, ends with NUL; it begins with an empty one */
};

/*
 * Looks addresses up in a module's file, or else in its debug file, with the file that dwz made for both. What cannot be read, or takes
 * too much, gives no chains and no error. ERR_NOMEM.
 */
ATTR_MUST_CHECK bool inlined_read(const struct profile_module *module,
    const struct naming_options *options, struct inlined *inlined, struct err *err);
void inlined_free(struct inlined *inlined); /* accepts a zeroed one */

/* The chain of an address; NULL: none. */
const struct naming_chain *inlined_find(const struct inlined *inlined, uint64_t address);

/* In the process: APART_MAX_FILES files, each of which can be missing. The first that has debug information is read. */
struct inlined_work {
	const struct profile_module *module;
	const uint64_t *addresses;
	size_t n;
	bool
	    has_alt; /* the last file is that of dwz, or it is missing; else, where one is needed, nothing is read */
};

/* The answer: this, n chains, the places, the text. */
struct inlined_answer {
	uint64_t n_places, n_text;
	uint64_t
	    alt; /* where the name of the file of dwz, which is needed, begins in the text; 0: none is */
	uint64_t found; /* 1: a file has debug information */
};

bool inlined_work(void *context, int out);

#endif
