/* SPDX-License-Identifier: MIT */
/*
 * Gives damaged bytes to cfi/: a small section is cut at every length and changed
 * thousands of times. Tables must keep their promises, and sanitizers watch. Nothing else
 * is checked.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cfi/frames.h"
#include "cfi/interp.h"
#include "cfi/libdwarf.h"
#include "tests/unit/cfi/test_cfi_build.h"
#include "tests/unit/unit.h"

#define N_MUTANTS 6000
#define N_WITNESSED 1000

static struct wr sample;

/* xorshift64: the same mutants on every machine. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

__attribute__((constructor)) static void build_sample(void)
{
	static const uint8_t prologue[] = {
	    0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x02, 0x40, 0x0c, 7, 8};
	static const uint8_t states[] = {
	    0x0a, 0x41, 0x0e, 16, 0x41, 0x0b, 0x03, 0, 1, 0x10, 6, 2, 0x76, 0x78};
	static const uint8_t plt[] = {0x0e, 16, 0x46, 0x0e, 24, 0x4a, 0x0f, 11, 0x77, 8,
	    0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};
	static const uint8_t others[] = {0x05, 6, 2, 0x09, 6, 3, 0x14, 7, 0, 0x2e, 16,
	    0x16, 16, 6, 0x77, 0, 0x2f, 0, 0, 0x96, 0x30, 7, 8, 0, 0x41, 0x07, 16, 0x04,
	    8, 0, 0, 0, 0x13, 0x7e};
	size_t first, second;

	wr_init(&sample, false);
	first = build_cie(&sample);
	build_fde(&sample, first, 0x100, prologue, sizeof(prologue));
	build_fde(&sample, first, 0x1000, states, sizeof(states));
	second = build_cie(&sample);
	build_fde(&sample, second, 0x40, plt, sizeof(plt));
	build_fde(&sample, first, 0x40, others, sizeof(others));
	wr_u32(&sample, 0);
}

static void check_table(const struct cfi_table *t)
{
	bool good = true;

	ck_assert(t->start < t->end);
	ck_assert(t->n_rows > 0 && t->rows[0].pc == t->start);
	/* One assertion for all: those of libcheck take longer than the checked code. */
	for (size_t i = 1; i < t->n_rows; i++)
		good = good && t->rows[i - 1].pc < t->rows[i].pc &&
		       t->rows[i].pc < t->end &&
		       !cfi_row_same(&t->rows[i - 1], &t->rows[i]);
	ck_assert(good);
}

/* A copy of exact size, so that a sanitizer sees a read of one byte too many. */
static size_t try_bytes(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	struct cfi_section section = {.data = copy, .size = size, .addr = BUILD_ADDR};
	struct cfi_interp interp;
	struct cfi_frames frames;
	struct err err = {0};
	size_t n_good = 0;

	section.addr_size = 8;
	memcpy(copy, bytes, size);
	ck_assert(cfi_frames_read(&section, &frames, &err));
	cfi_interp_init(&interp, &frames, &build_machine);
	for (size_t i = 0; i < frames.n_fdes; i++) {
		if (!cfi_interpret(&interp, &frames.fdes[i], &err)) {
			ck_assert(err.kind != ERR_NONE && err.text[0]);
			continue;
		}
		check_table(&interp.table);
		n_good++;
	}
	cfi_interp_deinit(&interp);
	cfi_frames_deinit(&frames);
	free(copy);
	return n_good;
}

UNIT(sample_is_good)
{
	ck_assert_uint_eq(try_bytes(sample.data, sample.size), 4);
}

UNIT(cut_at_every_length)
{
	for (size_t size = 0; size < sample.size; size++)
		try_bytes(sample.data, size);
}

/* Sets, flips or replaces one to four bytes, often by values that cause trouble. */
static void mutate(uint8_t *bytes, size_t size, uint64_t *state)
{
	static const uint8_t nasty[] = {0, 1, 0x7f, 0x80, 0xff, 0x0f, 0x10, 0x16, 0x2f};
	uint64_t n = 1 + next_random(state) % 4;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t r = next_random(state);
		size_t at = (size_t)(r >> 16) % size;

		if (r & 1)
			bytes[at] = nasty[(r >> 8) % sizeof(nasty)];
		else if (r & 2)
			bytes[at] ^= (uint8_t)(1u << (r >> 8 & 7));
		else
			bytes[at] = (uint8_t)(r >> 8);
	}
}

UNIT(mutants)
{
	uint8_t *bytes = malloc(sample.size);
	uint64_t state = UINT64_C(0x9e3779b97f4a7c15);
	size_t n_good = 0;

	for (unsigned int i = 0; i < N_MUTANTS; i++) {
		memcpy(bytes, sample.data, sample.size);
		mutate(bytes, sample.size, &state);
		n_good += try_bytes(bytes, sample.size);
	}
	/* One damaged record affects only itself: most FDEs survive. */
	ck_assert(n_good > 2 * N_MUTANTS);
	free(bytes);
}

/* libdwarf refuses or answers. Its answers keep the same promises. */
UNIT(mutants_witnessed)
{
	uint8_t *bytes = malloc(sample.size);
	uint64_t state = UINT64_C(0xd1b54a32d192ed03);
	size_t n_opened = 0;

	for (unsigned int i = 0; i < N_WITNESSED; i++) {
		struct cfi_section section = build_section(&sample);
		struct cfi_libdwarf *witness;
		struct err err = {0};

		memcpy(bytes, sample.data, sample.size);
		if (i)
			mutate(bytes, sample.size, &state);
		section.data = bytes;
		witness = cfi_libdwarf_new(&section, &build_machine, &err);
		if (!witness) {
			ck_assert_int_eq(err.kind, ERR_UNSUPPORTED);
			continue;
		}
		n_opened++;
		for (size_t k = 0; k < cfi_libdwarf_n_fdes(witness); k++) {
			const struct cfi_table *table;
			uint64_t end;

			if (cfi_libdwarf_table(witness, k, 64, &table, &end, &err) &&
			    table->start < table->end)
				check_table(table);
		}
		cfi_libdwarf_free(witness);
	}
	ck_assert(n_opened > 0);
	free(bytes);
}
