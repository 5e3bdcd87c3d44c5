/* SPDX-License-Identifier: MIT */
/* A hash table over programs; linear probing, at most half full. */
#include "cfi/same.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum { FIRST_CAP = 256 };

/* All that is compared, so that the FDE itself, which is far away, need not be looked at.
 */
struct cfi_same_slot {
	uint64_t program_off; /* of the first of its kind */
	uint32_t program_len;
	uint32_t cie;
	uint32_t hash; /* 0: a free slot */
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

		if (!same->slots[i].hash)
			continue;
		while (slots[at].hash)
			at = (at + 1) & (cap - 1);
		slots[at] = same->slots[i];
	}
	free(same->slots);
	same->slots = slots;
	same->cap = cap;
	return true;
}

static uint32_t same_hash(const uint8_t *program, const struct cfi_fde *fde)
{
	uint64_t hash = hash_bytes(program, fde->program_len) + fde->cie;
	uint32_t folded = (uint32_t)(hash ^ hash >> 32);

	return folded ? folded : 1;
}

uint32_t *cfi_same_value(struct cfi_same *same, const struct cfi_fde *fde)
{
	const uint8_t *data = same->frames->section.data;
	const uint8_t *program = data + fde->program_off;
	uint32_t hash = same_hash(program, fde);
	struct cfi_same_slot *slot;
	size_t at;

	if (same->n >= same->cap / 2 && !same_grow(same))
		return NULL;
	for (at = hash & (same->cap - 1); same->slots[at].hash;
		at = (at + 1) & (same->cap - 1)) {
		slot = &same->slots[at];
		/* Byte for byte: an operand in another encoding makes another program. */
		if (slot->hash == hash && slot->cie == fde->cie &&
			slot->program_len == fde->program_len &&
			memcmp(data + slot->program_off, program, fde->program_len) == 0)
			return &slot->value;
	}
	slot = &same->slots[at];
	*slot = (struct cfi_same_slot){
		fde->program_off, fde->program_len, fde->cie, hash, CFI_SAME_NEW};
	same->n++;
	return &slot->value;
}
