/* SPDX-License-Identifier: MIT */
/* A hash table of programs, with linear probing, at most half full. */
#include "cfi/program_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"

enum { FIRST_CAP = 256 };

/* Small, because a large library's table costs mostly the time to fetch its memory. */
struct cfi_cache_slot {
	uint32_t hash;
	uint32_t number; /* index into programs and one; 0: a free slot */
};

struct cfi_cached_program {
	uint64_t off; /* of the first of its kind */
	uint32_t len;
	uint32_t cie;
	uint32_t value;
};

void cfi_program_cache_init(
    struct cfi_program_cache *cache, const struct cfi_frames *frames, size_t n_fdes)
{
	*cache = (struct cfi_program_cache){.frames = frames, .first_cap = FIRST_CAP};
	/* At most half of the FDEs are unique, and the table is at most half full. */
	while (cache->first_cap < n_fdes)
		cache->first_cap *= 2;
}

void cfi_program_cache_deinit(struct cfi_program_cache *cache)
{
	free(cache->slots);
	free(cache->programs);
	*cache = (struct cfi_program_cache){0};
}

/* Hashes are kept, so that growing need not read the programs again. */
static bool cache_grow(struct cfi_program_cache *cache)
{
	size_t cap = cache->cap ? cache->cap * 2 : cache->first_cap;
	struct cfi_cache_slot *slots = calloc(cap, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < cache->cap; i++) {
		size_t at = cache->slots[i].hash & (cap - 1);

		if (!cache->slots[i].number)
			continue;
		while (slots[at].number)
			at = (at + 1) & (cap - 1);
		slots[at] = cache->slots[i];
	}
	free(cache->slots);
	cache->slots = slots;
	cache->cap = cap;
	return true;
}

static uint32_t cache_hash(
    const struct cfi_program_cache *cache, const struct cfi_fde *fde)
{
	const uint8_t *data = cache->frames->section.data;
	uint64_t hash = hash_bytes(data + fde->program_off, fde->program_len) + fde->cie;

	return (uint32_t)(hash ^ hash >> 32);
}

/* Byte for byte: an operand in another encoding makes another program. */
static bool cache_program(const struct cfi_program_cache *cache,
    const struct cfi_cached_program *program, const struct cfi_fde *fde)
{
	const uint8_t *data = cache->frames->section.data;

	return program->cie == fde->cie && program->len == fde->program_len &&
	       memcmp(data + program->off, data + fde->program_off, program->len) == 0;
}

uint32_t *cfi_program_cache_value(
    struct cfi_program_cache *cache, const struct cfi_fde *fde)
{
	uint32_t hash = cache_hash(cache, fde);
	size_t at;

	if (cache->n >= cache->cap / 2 && !cache_grow(cache))
		return NULL;
	for (at = hash & (cache->cap - 1); cache->slots[at].number;
	     at = (at + 1) & (cache->cap - 1)) {
		const struct cfi_cache_slot *slot = &cache->slots[at];

		if (slot->hash == hash &&
		    cache_program(cache, &cache->programs[slot->number - 1], fde))
			return &cache->programs[slot->number - 1].value;
	}
	if (cache->n >= UINT32_MAX ||
	    !vec_reserve(&cache->programs, &cache->cap_programs, cache->n + 1))
		return NULL;
	cache->programs[cache->n] = (struct cfi_cached_program){
	    fde->program_off, fde->program_len, fde->cie, CFI_PROGRAM_CACHE_NEW};
	cache->slots[at] = (struct cfi_cache_slot){hash, (uint32_t)++cache->n};
	return &cache->programs[cache->n - 1].value;
}
