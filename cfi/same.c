/* SPDX-License-Identifier: MIT */
/* A hash table over programs; linear probing, at most half full. */
#include "cfi/same.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"

enum { FIRST_CAP = 256 };

/* Small, as most of what a large library's table costs is to fetch its memory. */
struct cfi_same_slot {
	uint32_t hash;
	uint32_t number; /* index into programs and one; 0: a free slot */
};

struct cfi_same_program {
	uint64_t off; /* of the first of its kind */
	uint32_t len;
	uint32_t cie;
	uint32_t value;
};

void cfi_same_init(struct cfi_same *same, const struct cfi_frames *frames, size_t n_fdes)
{
	*same = (struct cfi_same){.frames = frames, .first_cap = FIRST_CAP};
	/* Half of them or less are unlike all others, and the table is at most half full.
	 */
	while (same->first_cap < n_fdes)
		same->first_cap *= 2;
}

void cfi_same_deinit(struct cfi_same *same)
{
	free(same->slots);
	free(same->programs);
	*same = (struct cfi_same){0};
}

/* Hashes are kept, so that growing need not read the programs again. */
static bool same_grow(struct cfi_same *same)
{
	size_t cap = same->cap ? same->cap * 2 : same->first_cap;
	struct cfi_same_slot *slots = calloc(cap, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < same->cap; i++) {
		size_t at = same->slots[i].hash & (cap - 1);

		if (!same->slots[i].number)
			continue;
		while (slots[at].number)
			at = (at + 1) & (cap - 1);
		slots[at] = same->slots[i];
	}
	free(same->slots);
	same->slots = slots;
	same->cap = cap;
	return true;
}

static uint32_t same_hash(const struct cfi_same *same, const struct cfi_fde *fde)
{
	const uint8_t *data = same->frames->section.data;
	uint64_t hash = hash_bytes(data + fde->program_off, fde->program_len) + fde->cie;

	return (uint32_t)(hash ^ hash >> 32);
}

/* Byte for byte: an operand in another encoding makes another program. */
static bool same_program(const struct cfi_same *same,
	const struct cfi_same_program *program, const struct cfi_fde *fde)
{
	const uint8_t *data = same->frames->section.data;

	return program->cie == fde->cie && program->len == fde->program_len &&
	       memcmp(data + program->off, data + fde->program_off, program->len) == 0;
}

void cfi_same_expect(const struct cfi_same *same, const struct cfi_fde *fde)
{
	if (same->cap)
		__builtin_prefetch(&same->slots[same_hash(same, fde) & (same->cap - 1)]);
}

uint32_t *cfi_same_value(struct cfi_same *same, const struct cfi_fde *fde)
{
	uint32_t hash = same_hash(same, fde);
	size_t at;

	if (same->n >= same->cap / 2 && !same_grow(same))
		return NULL;
	for (at = hash & (same->cap - 1); same->slots[at].number;
		at = (at + 1) & (same->cap - 1)) {
		const struct cfi_same_slot *slot = &same->slots[at];

		if (slot->hash == hash &&
			same_program(same, &same->programs[slot->number - 1], fde))
			return &same->programs[slot->number - 1].value;
	}
	if (same->n >= UINT32_MAX ||
		!vec_reserve(&same->programs, &same->cap_programs, same->n + 1))
		return NULL;
	same->programs[same->n] = (struct cfi_same_program){
		fde->program_off, fde->program_len, fde->cie, CFI_SAME_NEW};
	same->slots[at] = (struct cfi_same_slot){hash, (uint32_t)++same->n};
	return &same->programs[same->n - 1].value;
}
