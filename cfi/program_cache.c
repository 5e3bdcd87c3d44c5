/* SPDX-License-Identifier: MIT */
/* A hash table of programs. */
#include "cfi/program_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

struct cfi_cached_program {
	uint64_t off; /* of the first of its kind */
	uint32_t len;
	uint32_t cie;
};

void cfi_program_cache_init(
    struct cfi_program_cache *cache, const struct cfi_frames *frames, size_t n_fdes)
{
	/* Most files have fewer unique FDEs, and a small table stays near the processor. */
	*cache = (struct cfi_program_cache){
	    .frames = frames, .key = hash_key(), .expected = n_fdes / 8};
}

void cfi_program_cache_deinit(struct cfi_program_cache *cache)
{
	free(cache->slots.list);
	free(cache->programs);
	*cache = (struct cfi_program_cache){0};
}

static uint32_t cache_hash(
    const struct cfi_program_cache *cache, const struct cfi_fde *fde)
{
	const uint8_t *data = cache->frames->section.data;
	uint64_t hash =
	    hash_bytes_by(cache->key, data + fde->program_off, fde->program_len);

	return hash_fold_by(cache->key, hash + fde->cie);
}

/* Byte for byte: an operand in another encoding makes another program. */
static bool cache_program(const struct cfi_program_cache *cache,
    const struct cfi_cached_program *program, const struct cfi_fde *fde)
{
	const uint8_t *data = cache->frames->section.data;

	return program->cie == fde->cie && program->len == fde->program_len &&
	       memcmp(data + program->off, data + fde->program_off, program->len) == 0;
}

bool cfi_program_cache_find(
    struct cfi_program_cache *cache, const struct cfi_fde *fde, size_t *number)
{
	size_t room = cache->n < cache->expected ? cache->expected : cache->n + 1;
	uint32_t hash = cache_hash(cache, fde);
	struct slot *slot;

	if (cache->n >= UINT32_MAX || !slots_reserve(&cache->slots, room))
		return false;
	for (slot = slots_first(&cache->slots, hash); slot->number;
	     slot = slots_next(&cache->slots, slot)) {
		*number = slot->number - 1;
		if (slot->hash == hash &&
		    cache_program(cache, &cache->programs[*number], fde))
			return true;
	}
	if (!vec_reserve(&cache->programs, &cache->cap_programs, cache->n + 1))
		return false;
	*number = cache->n++;
	cache->programs[*number] =
	    (struct cfi_cached_program){fde->program_off, fde->program_len, fde->cie};
	*slot = (struct slot){hash, (uint32_t)cache->n};
	return true;
}
