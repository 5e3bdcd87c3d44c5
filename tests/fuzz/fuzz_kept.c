/* SPDX-License-Identifier: MIT */
/*
 * What a file of kept rows has behind its checksum: read, written and read again, and walked by. Whatever the rows say,
 * a walk by them ends, and each step goes up.
 */
#include "tests/fuzz/fuzz.h"

#include <endian.h>
#include <string.h>

#include "include/eh2sframe.h"
#include "profile/stacks/file_rows.h"

const char *const fuzz_section = NULL;

#define BASE UINT64_C(0x100000000)
#define STACK UINT64_C(0x7fff0000)
#define IN_FILE ((UINT64_C(1) << 40) - 1)

enum { MAGIC_SIZE = 8, HEADER_SIZE = 16, WORDS = 256, STEPS = 64, WALKS = 32 };

struct input {
	struct eh2sframe_walk_section section;
	uint64_t stack[WORDS];
};

/* A whole file: the bytes follow the version of this program, and the checksum is right. */
static uint8_t *file_of(const uint8_t *data, size_t size, size_t *all)
{
	const char *version = eh2sframe_version();
	size_t n = strlen(version) + 1;
	uint8_t *bytes;
	uint64_t sum;

	*all = HEADER_SIZE + n + size;
	bytes = malloc(*all);
	FUZZ_ASSERT(bytes, "no memory for %zu bytes", *all);
	memcpy(bytes, ROWS_MAGIC, MAGIC_SIZE);
	memcpy(bytes + HEADER_SIZE, version, n);
	memcpy(bytes + HEADER_SIZE + n, data, size);
	sum = htole64(rows_sum(bytes + HEADER_SIZE, n + size));
	memcpy(bytes + MAGIC_SIZE, &sum, sizeof(sum));
	return bytes;
}

static void check_same(const struct rows *a, const struct rows *b)
{
	FUZZ_ASSERT(a->facts.entry == b->facts.entry && a->facts.end == b->facts.end,
	    "%s", "another entry or end");
	FUZZ_ASSERT(a->facts.n_parts == b->facts.n_parts &&
			!memcmp(a->facts.parts, b->facts.parts, sizeof(a->facts.parts)),
	    "%zu other parts", b->facts.n_parts);
	FUZZ_ASSERT(
	    a->facts.build_id_size == b->facts.build_id_size &&
		!memcmp(a->facts.build_id, b->facts.build_id, sizeof(a->facts.build_id)),
	    "%s", "another build-id");
	FUZZ_ASSERT(a->n_extra == b->n_extra &&
			(!a->n_extra ||
			    !memcmp(a->extra, b->extra, a->n_extra * sizeof(*a->extra))),
	    "%zu other rules", b->n_extra);
	FUZZ_ASSERT(a->address == b->address && a->size == b->size &&
			(!a->size || !memcmp(a->section, b->section, a->size)),
	    "another section of %zu bytes", b->size);
}

/* What is written of rows that were read is read as the same. */
static void check_again(const struct rows *rows)
{
	uint8_t *bytes, *again;
	size_t size, size_again;
	struct rows copy;

	FUZZ_ASSERT(
	    rows_encode(rows, &bytes, &size), "cannot write %zu bytes", rows->size);
	FUZZ_ASSERT(rows_decode(bytes, size, &copy), "cannot read %zu bytes", size);
	check_same(rows, &copy);
	FUZZ_ASSERT(rows_encode(&copy, &again, &size_again), "cannot write %s", "again");
	FUZZ_ASSERT(
	    size == size_again && !memcmp(bytes, again, size), "%zu other bytes", size);
	rows_free(&copy);
	free(bytes);
	free(again);
}

static bool read_stack(void *context, uint64_t address, uint64_t *value)
{
	const struct input *input = context;

	if (address - STACK > (WORDS - 1) * sizeof(uint64_t))
		return false;
	memcpy(value, (const uint8_t *)input->stack + (address - STACK), sizeof(*value));
	return true;
}

static enum eh2sframe_walk_why find(
    void *context, uint64_t pc, const struct eh2sframe_walk_section **section)
{
	struct input *input = context;

	(void)pc;
	*section = &input->section;
	return EH2SFRAME_WALK_WHY_GOES_ON;
}

static void walk(
    struct input *input, enum eh2sframe_walk_machine machine, uint64_t pc, bool all)
{
	uint64_t registers[EH2SFRAME_WALK_N_REGISTERS];
	const struct eh2sframe_walk_space space = {
	    .machine = machine, .read = read_stack, .find = find, .context = input};
	struct eh2sframe_walk_frame frame = {.pc = pc,
	    .sp = STACK,
	    .fp = STACK + 64,
	    .ra = pc,
	    .registers = all ? registers : NULL,
	    .flags = EH2SFRAME_WALK_FRAME_EXACT | EH2SFRAME_WALK_FRAME_RA};
	int steps = 0;

	for (size_t i = 0; i < EH2SFRAME_WALK_N_REGISTERS; i++)
		registers[i] = STACK + 8 * i;
	while (steps++ < STEPS) {
		struct eh2sframe_walk_frame before = frame;
		enum eh2sframe_walk_why why = eh2sframe_walk_step(&space, &frame);

		if (why != EH2SFRAME_WALK_WHY_GOES_ON) {
			FUZZ_ASSERT(
			    why <= EH2SFRAME_WALK_WHY_DAMAGED, "why %d", (int)why);
			return;
		}
		FUZZ_ASSERT(frame.sp > before.sp ||
				(frame.flags & EH2SFRAME_WALK_FRAME_SIGNAL) ||
				(frame.sp == before.sp &&
				    before.flags & EH2SFRAME_WALK_FRAME_EXACT),
		    "the caller is not above, step %d", steps);
	}
}

/* From the ends of each rule that no row can say, and from where the section begins. */
static void walk_all(struct input *input, const struct rows *rows)
{
	uint64_t at[WALKS] = {BASE + rows->facts.entry, BASE + rows->facts.end / 2};
	size_t n = 2;

	for (size_t i = 0; i < rows->n_extra && n + 1 < WALKS; i++) {
		at[n++] = BASE + rows->extra[i].start;
		at[n++] = BASE + rows->extra[i].end - 1;
	}
	for (size_t i = 0; i < WORDS; i++)
		input->stack[i] = i % 2 ? STACK + 8 * i : at[i / 2 % n];
	for (size_t i = 0; i < n; i++)
		for (int machine = EH2SFRAME_WALK_X86_64; machine <= EH2SFRAME_WALK_S390X;
		     machine++)
			walk(input, (enum eh2sframe_walk_machine)machine, at[i], i % 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n;
	uint8_t *bytes = file_of(data, size, &n);
	uint32_t *index;
	struct input input;
	struct rows rows;

	if (rows_decode(bytes, n, &rows)) {
		check_again(&rows);
		/* As profile/stacks/unwinder_files.c does it. */
		if (rows.section && rows.facts.end <= IN_FILE &&
		    rows.address <= IN_FILE &&
		    eh2sframe_walk_open(&input.section, rows.section, rows.size,
			BASE + rows.address, BASE, BASE + rows.facts.end)) {
			index = malloc(eh2sframe_walk_index_size(&input.section));
			FUZZ_ASSERT(index, "no memory for %s", "the index");
			eh2sframe_walk_index_make(&input.section, index);
			eh2sframe_walk_open_extra(
			    &input.section, rows.extra, rows.n_extra, BASE);
			walk_all(&input, &rows);
			free(index);
		}
		rows_free(&rows);
	}
	free(bytes);
	return 0;
}
