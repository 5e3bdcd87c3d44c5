/* SPDX-License-Identifier: MIT */
/* What the files that plan, write, check and undo an insertion share with each other
 * only. */
#ifndef GEN_WRITE_PARTS_H
#define GEN_WRITE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/wr.h"
#include "gen/image.h"
#include "gen/write.h"

enum {
	WRITE_EHDR_SIZE = 64,
	WRITE_PHDR_SIZE = 56,
	WRITE_SHDR_SIZE = 64,
	WRITE_SFRAME_ALIGN = 8,
	WRITE_PHDR_ALIGN = 8,
	/* Offsets in the ELF header of the four fields that change. */
	WRITE_E_PHOFF = 32,
	WRITE_E_PHNUM = 56,
	WRITE_E_SHNUM = 60,
};

/* No such table entry. */
#define WRITE_NONE SIZE_MAX

/* Which table entries an insertion uses, and how many there are afterwards. */
struct write_slots {
	/* Whether a PT_PHDR goes in front, for a library that has none: without it glibc
	 * looks for the table in the segments, and after BFD's strip finds the tail of
	 * the .bss. */
	bool add_phdr;
	bool library;	  /* never started as a program: nobody takes AT_PHDR from it */
	size_t last_load; /* index of the last PT_LOAD; the new one goes right behind it
			   */
	/* Entries of an SFrame section that is already there, or WRITE_NONE. */
	size_t sframe_segment, sframe_section;
	size_t names; /* index of the section name table, or WRITE_NONE */
	size_t n_phdrs,
		n_sections; /* of the output; no sections when the input has none */
};

/* ERR_UNSUPPORTED or ERR_LIMIT when a table cannot take the entries. */
ATTR_MUST_CHECK bool write_slots_find(
	const struct image *image, struct write_slots *slots, struct err *err);

/* Where names go in the grown section name table, as offsets from its start, and its
 * size. */
struct write_names {
	uint64_t sframe, phdrs, size;
};
struct write_names write_names_place(
	const struct image *image, const struct write_slots *slots);

/* Refuses a file whose layout gives no safe place, by name (gen/write_refuse.c). */
ATTR_MUST_CHECK bool write_refuse(const struct image *image, struct err *err);

/* Bytes from the segment's start to the program header table: room for the undo record.
 */
static inline uint64_t write_gap(const struct write_slots *slots)
{
	return (uint64_t)slots->n_phdrs * WRITE_PHDR_SIZE;
}

/* The header of the output: that of the input with both tables moved. */
void write_header(struct wr *wr, const struct image *image,
	const struct write_slots *slots, const struct write_plan *plan);

/* Copies the first size bytes of image's file to fd, holes as holes. */
ATTR_MUST_CHECK bool write_copy(
	const struct image *image, uint64_t size, int fd, struct err *err);
/* All of it, at off. */
ATTR_MUST_CHECK bool write_at(
	int fd, const void *data, size_t size, uint64_t off, struct err *err);

/*
 * The undo record: magic, version, the original size and ELF header, and, to notice a
 * later change, the size of the output and a hash of its three header tables. It stands
 * at the start of the new segment, before the program header table.
 */
enum { WRITE_RECORD_SIZE = 128 };
extern const char write_record_magic[16];

struct write_record {
	uint64_t old_size, new_size;
	uint64_t tail_off; /* of the new name and section header tables: the segment's end
			    */
	uint8_t ehdr[WRITE_EHDR_SIZE]; /* the original one */
	uint64_t hash; /* given: of the header tables; decoded: as stored, of the record
			  too */
};
void write_record_encode(struct wr *wr, const struct write_record *record);
/* From WRITE_RECORD_SIZE bytes; false when they are no record. */
ATTR_MUST_CHECK bool write_record_decode(
	const uint8_t *data, bool big_endian, struct write_record *record);
/* Feeds size bytes into a running hash; the first call gets WRITE_HASH_START. */
#define WRITE_HASH_START UINT64_C(0xcbf29ce484222325)
uint64_t write_record_hash(uint64_t hash, const uint8_t *data, size_t size);
/* Continues a hash of the header tables over the record at data, up to its stored hash.
 */
uint64_t write_record_seal(uint64_t hash, const uint8_t *data);

#endif
