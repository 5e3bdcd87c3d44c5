/* SPDX-License-Identifier: MIT */
/*
 * Plans the place of the section in the file, and writes and checks the file. There are two
 * methods (gen/options/method.h, docs/INSERTION.md): padding that is mapped
 * anyway, or a new segment above everything. A plan says which method was taken and where
 * all goes. Writing and checking work from the plan alone.
 *
 * Not done with libelf: its writer zero-fills between the ELF header and a moved program
 * header table, that is, all code, and reports success.
 */
#ifndef GEN_INSERT_INSERT_H
#define GEN_INSERT_INSERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "gen/elf/image.h"
#include "gen/options/method.h"

/* No such table entry. */
#define INSERT_NONE SIZE_MAX

/* Limit of units that move. */
enum { INSERT_MAX_MOVES = 12 };

/* Bytes of the input that stand elsewhere in the output. */
struct insert_move {
	uint64_t off, size; /* in the input */
	bool to_segment; /* into the new segment; otherwise it stays in the first page */
	bool cut;	 /* a PT_NOTE ends before it that did not */
	uint64_t to;	 /* in the output: from the segment's start, or from the file's */
};

/*
 * Moves of the method "grow", which make room behind the program header table. All is 0
 * for "slack", and where nothing moves.
 */
struct insert_grow {
	struct insert_move moves[INSERT_MAX_MOVES]; /* ascending */
	size_t n_moves;
	size_t n_sections; /* sections 1 to this one stand in the block */
	uint64_t bias;	   /* address less offset of the block, in the input */
	uint64_t block_off, block_end; /* in the input: what is moved is in here */
	uint64_t shifted_off,
	    shifted_end; /* in the output: what stays in the page is in here */
	/* In the output: a section covers the bytes from here to block_end, because libelf zeroes
	 * what no section covers. Zeros are in front of it. */
	uint64_t unused;
	/* Counts from the new segment's start; 0 when nothing moves there. */
	uint64_t segment_end;
	bool moves_dynamic; /* the dynamic section leads to some of it */
	/* Ranges that change because they refer to what moves: .dynamic, and a part of .symtab. */
	uint64_t dynamic_off, dynamic_size;
	uint64_t symbols_off, symbols_size;
	size_t symtab; /* the section, when symbols_size is not 0 */
};

struct insert_plan {
	enum method method;
	enum obstacle obstacles[N_METHODS]; /* of the methods that were tried */
	enum obstacle table_moves_for;	    /* why the table could not grow in place */
	uint64_t sframe_addr;		    /* of the section once loaded, unbiased */
	uint64_t sframe_off;		    /* in the output file */
	uint64_t sframe_size;		    /* bytes */
	/* The new PT_LOAD; its size is 0 when there is none. Offset and address are
	 * congruent modulo its alignment. */
	uint64_t segment_addr, segment_off, segment_size, segment_align;
	uint64_t phdr_off, phdr_addr; /* of the program header table, in the output */
	size_t n_phdrs, n_sections;   /* of the output */
	/* Entries of the input's program header table, or INSERT_NONE: the PT_LOAD that
	 * grows over the section, the one that becomes PT_GNU_SFRAME (else that goes
	 * last), and those that go to make room. */
	size_t grown, sframe_entry, dropped[2];
	/* The PT_LOAD that ends with the program header table, or with notes behind it,
	 * where those grow into the padding behind it; or INSERT_NONE. */
	size_t table_load;
	struct insert_grow grow;
	bool add_phdr;	     /* a PT_PHDR in front, for a library that has none */
	bool above_loader;   /* a new segment, in a program interpreter */
	uint64_t tail_off;   /* behind the section, from which on all bytes are new: */
	uint64_t strtab_off; /* the new section name table; 0 without one */
	uint64_t record_off, record_size; /* the undo record */
	uint64_t shdr_off;  /* the section header table; 0 without sections */
	uint64_t file_size; /* bytes of the output */
};

/*
 * Plans a section of sframe_size bytes into image by the given method, or by the first that
 * applies. ERR_UNSUPPORTED or ERR_LIMIT, naming the reason, when no place is safe.
 */
ATTR_MUST_CHECK bool insert_plan(const struct image *image, uint64_t sframe_size,
    enum method method, struct insert_plan *plan, struct err *err);

/*
 * Writes the whole output to fd (open for writing, empty), in two steps: what it has of the
 * input, for which no plan is needed, and then everything else. ERR_IO.
 */
ATTR_MUST_CHECK bool insert_body(const struct image *image, int fd, struct err *err);
ATTR_MUST_CHECK bool insert_image(const struct image *image,
    const struct insert_plan *plan, const uint8_t *sframe, int fd, struct err *err);

struct insert_range {
	uint64_t off, size;
};

enum { INSERT_MAX_RANGES = 5 };

/* Ranges of the input's bytes that the output may have otherwise; ascending. */
struct insert_changes {
	struct insert_range list[INSERT_MAX_RANGES];
	size_t n;
};

/*
 * Checks the finished file against the input: original sections and segments where they
 * were, with their bytes, except for what the method may change (a table in
 * gen/insert/check.c); PT_LOADs ascending, not overlapping, congruent; the section mapped
 * and covered by PT_GNU_SFRAME; the way back complete. All other bytes than *changes are the same. ERR_INTERNAL names
 * what is off.
 */
ATTR_MUST_CHECK bool insert_check(const struct image *input,
    const struct insert_plan *plan, const struct image *output,
    struct insert_changes *changes, struct err *err);

#endif
