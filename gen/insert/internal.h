/* SPDX-License-Identifier: MIT */
/* Shared only by the files that plan, write, check and undo an insertion. */
#ifndef GEN_INSERT_INTERNAL_H
#define GEN_INSERT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/wr.h"
#include "gen/elf/image.h"
#include "gen/insert/insert.h"

enum {
	INSERT_EHDR_SIZE = 64,
	INSERT_PHDR_SIZE = 56,
	INSERT_SHDR_SIZE = 64,
	INSERT_DYN_SIZE = 16,
	INSERT_SFRAME_ALIGN = 8,
	INSERT_PHDR_ALIGN = 8,
	/* The smallest page of any machine supported; a file is mapped in units of at
	 * least this. */
	INSERT_MIN_PAGE = 4096,
	INSERT_GUARD_PAGES = 2,
	/* Offsets in the ELF header of the four fields that change. */
	INSERT_E_PHOFF = 32,
	INSERT_E_PHNUM = 56,
	INSERT_E_SHNUM = 60,
};

/* No loader takes an offset above this; sums of two of them do not wrap. Programs have no
 * address above it, but kernels do. */
#define INSERT_MAX_PLACE ((uint64_t)INT64_MAX)

/* Room and facts found in the tables of the input (gen/insert/slots.c). */
struct insert_slots {
	bool library;	 /* never started as a program, so no AT_PHDR leads to it */
	bool loader;	 /* it may be the program interpreter (ld.so) */
	bool kernel;	 /* at addresses that no program has, so no other one starts it */
	bool has_phdr;	 /* there is a PT_PHDR */
	bool editable;	 /* the program header table shares no byte with another header */
	bool phdr_right; /* PT_PHDR, if any, is where the first PT_LOAD maps the table */
	size_t first_load, last_load; /* indices of PT_LOADs */
	/* Entries of an SFrame section that is already there, or INSERT_NONE. */
	size_t sframe_segment, sframe_section;
	size_t names; /* index of the section name table, or INSERT_NONE */
	/* The section of an undo record that another tool kept and that is void, or
	 * INSERT_NONE: the new record takes its header, so that none pile up. */
	size_t record_section;
	/* Entries that mean nothing or repeat another one, and entries that the bytes
	 * behind the table have room for. */
	size_t spare[2], n_spare;
	size_t room;
	/* The part of room inside the PT_LOAD that maps the table; for more, that one grows. */
	size_t room_inside, table_load;
};

/* ERR_UNSUPPORTED or ERR_LIMIT when a table cannot take the entries. */
ATTR_MUST_CHECK bool insert_slots_find(
    const struct image *image, struct insert_slots *slots, struct err *err);

/* True if size file bytes at off are free: zero, and in no section, segment or header table. */
bool insert_is_free(const struct image *image, uint64_t off, uint64_t size);

/*
 * True if size bytes behind PT_LOAD number load are padding, in the file and in memory:
 * zero, in no section or segment, and on no page of another segment or of RELRO.
 */
bool insert_is_padding(const struct image *image, size_t load, uint64_t size);

/* True if any of the bytes are in the ELF header or in a header table. */
bool insert_meets_tables(const struct image *image, uint64_t off, uint64_t size);
/* Ends wrap only for ranges outside any file. */
bool insert_overlaps(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size);

/* True if the section takes the place of another one, which is there already. */
static inline bool insert_over_old(const struct insert_plan *plan)
{
	return plan->grown == INSERT_NONE && !plan->segment_size;
}

/*
 * The first address that neither a segment nor a loaded section (.tbss has no segment)
 * uses. ERR_MALFORMED when a section reaches past the end of the address space.
 */
ATTR_MUST_CHECK bool insert_end_of_memory(
    const struct image *image, uint64_t *end, struct err *err);

/* The alignment of the file's PT_LOADs, but no more than the machine's largest page, because
 * loaders map by pages; halved until it divides bias. */
uint64_t insert_segment_align(const struct image *image, uint64_t bias);

/* Begins a plan, in which nothing has been placed yet. */
void insert_plan_start(
    const struct image *image, enum method method, struct insert_plan *plan);

/*
 * Each method places the section, the segment and the program header table in plan, which
 * comes with the table where it was. Returns the obstacle if it cannot; err may say more.
 */
enum obstacle insert_plan_slack(const struct image *image,
    const struct insert_slots *slots, struct insert_plan *plan, struct err *err);
enum obstacle insert_plan_grow(const struct image *image,
    const struct insert_slots *slots, struct insert_plan *plan, struct err *err);

/* Takes the room of n entries behind the table; false, and nothing taken, without it. */
ATTR_MUST_CHECK bool insert_take_room(
    const struct insert_slots *slots, size_t n, struct insert_plan *plan);

/* For "grow": finds what has to move so that the table can take added entries. */
enum obstacle insert_grow_block(const struct image *image,
    const struct insert_slots *slots, size_t added, struct insert_plan *plan);

/* For "grow": places the table in the new segment, before the section. */
enum obstacle insert_grow_table(const struct image *image,
    const struct insert_slots *slots, struct insert_plan *plan, struct err *err);

/* The DT_* that leads to a section of this type, when it can move, or DT_NULL. */
int64_t insert_grow_tag(uint32_t type);
/* The DT_* that says how many bytes that tag leads to, of which there may be more than the section has (ld -z nocombreloc), or DT_NULL. */
int64_t insert_grow_size_tag(uint32_t type);

/* Returns where a file byte of the input goes; false when it stays. */
bool insert_grow_moves(
    const struct insert_plan *plan, uint64_t off, uint64_t *new_off, uint64_t *new_addr);

/* Returns how many bytes of a program header of the input stay together. */
uint64_t insert_grow_kept(const struct insert_grow *grow, const GElf_Phdr *phdr);

/* Finds the tags and symbols that lead to the block, to be corrected. Returns an obstacle
 * if one cannot be. */
enum obstacle insert_grow_refs(const struct image *image, struct insert_grow *grow);

/* Append .dynamic, and the part of .symtab, as the output has them. */
void insert_put_dynamic(
    struct wr *wr, const struct image *image, const struct insert_plan *plan);
void insert_put_symbols(
    struct wr *wr, const struct image *image, const struct insert_plan *plan);

/* The part of insert_check that is about what "grow" moves. */
ATTR_MUST_CHECK bool insert_check_grow(const struct image *input,
    const struct insert_plan *plan, const struct image *output, struct err *err);

/* True if entry number n of the input's table may go. */
ATTR_MUST_CHECK bool insert_check_spare(const struct image *input,
    const struct insert_plan *plan, const struct image *output, size_t n);

/* Moves a program header of the input with the sections that it names; false when they
 * moved apart. */
ATTR_MUST_CHECK bool insert_grow_follow(const struct image *input,
    const struct insert_plan *plan, const struct image *output, GElf_Phdr *phdr);

/* Bytes of the program header table, and of the gap in front of it in a new segment (grow_table.c). */
static inline uint64_t insert_table_size(const struct insert_plan *plan)
{
	return (uint64_t)plan->n_phdrs * INSERT_PHDR_SIZE;
}

/* The end of the PT_LOAD that ends with the table, or with what shifts and is free behind it. */
static inline uint64_t insert_table_load_end(const struct insert_plan *plan)
{
	return plan->grow.n_moves ? plan->grow.block_end
				  : plan->phdr_off + insert_table_size(plan);
}

/* The highest address that a loader takes. In the last page of a kernel's addresses are
 * error numbers. */
static inline uint64_t insert_max_addr(const struct insert_slots *slots)
{
	return slots->kernel ? UINT64_MAX - 0xffff : INSERT_MAX_PLACE;
}

/* The difference between physical and virtual addresses in the last PT_LOAD; wraps. */
static inline uint64_t insert_physical(
    const struct image *image, const struct insert_slots *slots)
{
	const GElf_Phdr *last = &image->phdrs[slots->last_load];

	return last->p_paddr - last->p_vaddr;
}

/* True if the table stands elsewhere than in the input. */
static inline bool insert_table_moves(
    const struct image *image, const struct insert_plan *plan)
{
	return plan->phdr_off != image->ehdr.e_phoff;
}

/*
 * The bytes that a section .phdrs owns: the moved table, or what "grow" leaves unused
 * behind what it shifts. Size 0 without one.
 */
struct insert_range insert_owned(
    const struct image *image, const struct insert_plan *plan);

/* True if PT_PHDR has to change, because the table moves or has another size. */
static inline bool insert_table_changes(
    const struct image *image, const struct insert_plan *plan)
{
	return insert_table_moves(image, plan) || plan->n_phdrs != image->n_phdrs;
}

/* Offsets of names in the grown section name table, and its size. */
struct insert_names {
	uint64_t sframe, phdrs, undo, size;
};
struct insert_names insert_names_place(
    const struct image *image, const struct insert_slots *slots);

/* Refuses a file whose layout gives no safe place, by name (gen/insert/refuse.c). */
ATTR_MUST_CHECK bool insert_refuse(const struct image *image, struct err *err);

/* Refuses a kernel, whose section can only be where its link has put one. */
ATTR_MUST_CHECK bool insert_refuse_kernel(const struct image *image, struct err *err);

/* Append the header and the tables of the output (gen/insert/tables.c). */
void insert_put_header(
    struct wr *wr, const struct image *image, const struct insert_plan *plan);
void insert_put_phdrs(struct wr *wr, const struct image *image,
    const struct insert_slots *slots, const struct insert_plan *plan);
void insert_put_shdr(struct wr *wr, const GElf_Shdr *hdr);
void insert_put_shdrs(struct wr *wr, const struct image *image,
    const struct insert_slots *slots, const struct insert_plan *plan);

/* Copies the first size bytes of image's file to fd, holes as holes. */
ATTR_MUST_CHECK bool insert_copy(
    const struct image *image, uint64_t size, int fd, struct err *err);

/*
 * The undo record: the ranges of the input that the output overwrites, each as
 *     u64 offset, u64 size, u64 stored (size, or 0 when all were zero), stored bytes
 * and then a footer of INSERT_FOOTER_SIZE bytes, which ends where the section header table
 * starts, or with the file when there is none. The footer's hash covers what leads back:
 * ELF header, program headers, everything from tail_off on, the record included, and the
 * ranges that are neither of these nor the section.
 */
enum { INSERT_FOOTER_SIZE = 72, INSERT_RANGE_HEAD = 24 };

struct insert_footer {
	uint64_t old_size, new_size;
	uint64_t tail_off;    /* what follows the section, up to the end */
	uint64_t ranges_size; /* bytes of the ranges, which stand before the footer */
	uint64_t n_ranges;
	uint64_t hash;
};
/* Bytes of the ranges as they are stored. */
uint64_t insert_record_ranges_size(
    const struct image *image, const struct insert_plan *plan);
/* Appends ranges and footer, with hash 0. */
void insert_record_encode(
    struct wr *wr, const struct image *image, const struct insert_plan *plan);
/* Reads a footer from INSERT_FOOTER_SIZE bytes; false when they are none. */
ATTR_MUST_CHECK bool insert_footer_decode(
    const uint8_t *data, bool big_endian, struct insert_footer *footer);
/* Where the hash stands in the footer; it counts as 0 for itself. */
enum { INSERT_FOOTER_HASH = INSERT_FOOTER_SIZE - 8 };
/*
 * Fills in the hash of a file without program headers: its ELF header, and all of it from
 * tail_off on, in which the footer ends at footer_end.
 */
void insert_record_seal(const struct wr *header, struct wr *tail, uint64_t footer_end);
/* Feeds size bytes into a running hash; the first call gets INSERT_HASH_START. */
#define INSERT_HASH_START UINT64_C(0xcbf29ce484222325)
uint64_t insert_record_hash(uint64_t hash, const uint8_t *data, size_t size);

#endif
