/* SPDX-License-Identifier: MIT */
/* Shared only by the files that read and write objects. */
#ifndef GEN_ELF_OBJECT_INTERNAL_H
#define GEN_ELF_OBJECT_INTERNAL_H

#include "gen/arch/arch.h"
#include "gen/elf/object/object.h"

enum {
	OBJECT_RELA_SIZE = 24,
	OBJECT_SYM_SIZE = 24,
	OBJECT_SHT_CREL = 0x40000014, /* not in Debian 12's elf.h */
	/* Address of the first section; 0 means "discarded" in .eh_frame. */
	OBJECT_BASE = 0x100000,
};

/* The symbol table, checked. Borrows the image. */
struct object_symtab {
	const struct image *image;
	uint64_t n;
};

struct object_symbol {
	uint64_t value;
	size_t section; /* 0: undefined, absolute or common */
	bool absolute;
	uint8_t type, bind; /* STT_*, STB_* */
	const char *name;   /* "" when it has none, or none that can be printed */
};

/* Checks the symbol table, which section number user names by its sh_link. */
ATTR_MUST_CHECK bool object_symtab_open(
    const struct image *image, size_t user, struct object_symtab *table, struct err *err);
/* Finds symbol i. ERR_MALFORMED when there is no such symbol, or its section does not exist. */
ATTR_MUST_CHECK bool object_symbol(const struct object_symtab *table, uint64_t i,
    struct object_symbol *symbol, struct err *err);

/* One relocation with all that it needs. */
struct object_reloc {
	uint64_t off; /* in the section it is for */
	uint32_t symbol_index;
	struct object_symbol symbol;
	const struct arch_reloc *kind;
	int64_t addend;
	size_t rela; /* the section it is from, and which one there */
	uint64_t index;
};

/* The relocations of one section. */
struct object_relocs {
	const struct image *image;
	const struct arch *arch;
	size_t target; /* the section they are for */
	size_t rela;   /* 0: there are none */
	struct object_symtab symtab;
	uint64_t n;
	/* Size of the target, decompressed; object_relocs_open sets what the file has. */
	uint64_t size;
};

/* Finds the relocations of a section; ERR_MALFORMED or ERR_UNSUPPORTED when they are of another kind. */
ATTR_MUST_CHECK bool object_relocs_open(const struct image *image, size_t target,
    struct object_relocs *relocs, struct err *err);
/* Reads relocation i < relocs->n; its place is inside the target section. */
ATTR_MUST_CHECK bool object_relocs_read(const struct object_relocs *relocs, uint64_t i,
    struct object_reloc *reloc, struct err *err);
/* As object_relocs_read, for a section of code or constants. *kind is NULL where the relocation
 * has nothing to do with addresses. The symbol, which exists, is not read. */
ATTR_MUST_CHECK bool object_relocs_read_code(const struct object_relocs *relocs,
    uint64_t i, struct object_reloc *reloc, const struct arch_code_reloc **kind,
    struct err *err);
/*
 * Writes the relocated value at data + reloc->off, where data is a copy of the target
 * section. from is the address that a pcrel value is relative to.
 */
ATTR_MUST_CHECK bool object_reloc_apply(const struct object_relocs *relocs,
    const struct object_reloc *reloc, uint8_t *data, uint64_t from, struct err *err);

/* The steps of object_open, each in a file of its own. */
ATTR_MUST_CHECK bool object_layout(struct image *image, struct err *err);
ATTR_MUST_CHECK bool object_tables_find(struct image *image, struct err *err);
/* Allocates memory for all .eh_frame sections; then reads their bytes, with relocations applied. */
ATTR_MUST_CHECK bool object_cfi_open(struct image *image, struct err *err);
ATTR_MUST_CHECK bool object_cfi_read(struct image *image, struct err *err);
/* Applies all relocations of a section to its copy, at base of data, whose first byte is at addr, and lists them. */
ATTR_MUST_CHECK bool object_relocate(const struct object_relocs *relocs, uint8_t *data,
    uint64_t addr, uint64_t base, struct object_links *links, struct err *err);
/* Sorts the list. ERR_MALFORMED when two are for one place. */
ATTR_MUST_CHECK bool object_links_sort(struct object_links *links, struct err *err);
/* Reads all .debug_frame sections. Their faults are kept in object->debug.err. */
void object_debug_read(struct image *image);
/* Reads .sframe. Its faults are kept in object->sframe_err. */
void object_sframe_read(struct image *image);

/* Reserves room behind all sections for something that has none; gives its address. */
ATTR_MUST_CHECK bool object_reserve(
    struct object *object, uint64_t size, uint64_t *addr, struct err *err);

#endif
