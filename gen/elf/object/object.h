/* SPDX-License-Identifier: MIT */
/*
 * A relocatable object as if it were linked: its sections get made-up addresses, and its
 * relocations are applied to copies of .eh_frame, .debug_frame and .sframe. So all that is asked of a
 * linked file can be asked of an object, in addresses that stand for (section, offset).
 */
#ifndef GEN_ELF_OBJECT_OBJECT_H
#define GEN_ELF_OBJECT_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "cfi/frames.h"
#include "gen/elf/image.h"

/* A section that has an address. */
struct object_place {
	uint64_t addr, size;
	size_t section;
};

/* A relocation of CFI, with the section that it leads to. */
struct object_link {
	uint64_t off;	/* of the pointer, from the start of the copy */
	size_t section; /* where it leads; 0: to what is not defined in the object */
	uint32_t symbol;
	size_t rela; /* the section of relocations, and which one of them */
	uint64_t index;
	uint8_t width; /* bytes that it changes */
};

struct object_links {
	struct object_link *list; /* ascending by off */
	size_t n, cap;
};

struct object_user {
	uint32_t group;	     /* its SHT_GROUP section, or 0 */
	uint32_t rela, more; /* sections of relocations for it, or 0 */
};

struct object {
	struct object_place *places; /* ascending */
	size_t n_places;
	uint64_t end; /* the first address that is free */
	/* All .eh_frame sections, one behind the other; NULL without one. */
	uint8_t *cfi;
	size_t cfi_size;
	uint64_t cfi_addr;
	struct object_links links;
	/* As above for .debug_frame: its addresses are places in it. Damage costs this section alone. */
	struct object_debug {
		uint8_t *data;
		size_t size;
		struct object_links links;
		struct err err; /* why it cannot be read; ERR_NONE: it can */
	} debug;
	/* All .sframe sections as one; NULL without one. */
	uint8_t *sframe;
	size_t sframe_size, n_sframe;
	uint64_t sframe_addr;
	struct err sframe_err;	   /* why it cannot be read; ERR_NONE: it can */
	struct object_user *users; /* per section */
	size_t symtab, extended;   /* SHT_SYMTAB and its SHT_SYMTAB_SHNDX; 0: none */
};

/* Lays an ET_REL image out: sets sh_addr of the sections that are loaded, and
 * image->object. ERR_MALFORMED or ERR_UNSUPPORTED name what cannot be followed. */
ATTR_MUST_CHECK bool object_open(struct image *image, struct err *err);
void object_free(struct object *object); /* accepts NULL */

/* Returns the section of symbol i, whose own field has no room for it (SHN_XINDEX). */
size_t object_extended(const struct image *image, size_t i);

/* Returns the section that addr is in; NULL when there is none. */
const struct object_place *object_place_at(const struct object *object, uint64_t addr);
/* True if [addr, addr + len) lies inside one executable section. */
bool object_is_code(const struct image *image, uint64_t addr, uint64_t len);

/* Writes an address for people: "SECTION+0xOFFSET" in an object, "0xADDRESS" in a linked
 * file. Returns buf. */
enum { OBJECT_WHERE = 100 };
const char *object_where(
    const struct image *image, uint64_t addr, char buf[OBJECT_WHERE]);

/*
 * Makes a linked file in memory of the object, with the same addresses: *linked has relocations applied to
 * code and constants. Each symbol of other files has an address at which nothing is, and a symbol table says
 * which. *linked borrows image; only object_link_free frees it. ERR_MALFORMED, ERR_UNSUPPORTED, ERR_NOMEM.
 */
ATTR_MUST_CHECK bool object_link(
    const struct image *image, struct image *linked, struct err *err);
void object_link_free(struct image *linked); /* accepts a zeroed struct */

/*
 * Compares the FDEs read from object->cfi, or from object->debug, with the relocations of their starts. Those
 * without one describe code that a linker discarded (ld -r) and are taken out. ERR_MALFORMED when one leads
 * nowhere or beyond its section, and when a relocation changes instructions.
 */
ATTR_MUST_CHECK bool object_settle(
    const struct image *image, struct cfi_frames *frames, bool debug, struct err *err);

#endif
