/* SPDX-License-Identifier: MIT */
/*
 * A cache from PCs to rules that needs no lock: two words for each entry, each read and
 * written at once. Word 1 is the rule, word 0 the key XOR word 1. When two writers mix, or a
 * reader comes between the two writes, the words do not match.
 */
#ifndef WALK_CACHE_H
#define WALK_CACHE_H

#include "walk/look_up.h"

/*
 * A rule in a word. Nearly all rules fit: CFA = SP or FP + offset, RA and FP in memory at the
 * CFA or as they are. The CFA's offset, which the next step waits for, is on top.
 */
enum {
	WALK_PACK_FLAGS_SHIFT = 0, /* 4 bits: enum eh2sframe_flags */
	WALK_PACK_RA_SHIFT = 10,   /* 16 bits */
	WALK_PACK_FP_SHIFT = 26,   /* 16 bits */
	WALK_PACK_CFA_SHIFT = 42,  /* 22 bits */
};
#define WALK_PACK_CFA_FP (UINT64_C(1) << 4)   /* the CFA is based on FP, else on SP */
#define WALK_PACK_CFA_READ (UINT64_C(1) << 5) /* and read from memory there */
#define WALK_PACK_CFA_ADD8 (UINT64_C(1) << 6) /* and then 8 higher */
#define WALK_PACK_RA (UINT64_C(1) << 7)	      /* RA is in memory */
#define WALK_PACK_FP (UINT64_C(1) << 8)	      /* FP is in memory */
#define WALK_PACK_USED (UINT64_C(1) << 9)     /* not an empty entry */

WALK_INLINE int32_t walk_unpack_cfa(uint64_t word)
{
	return (int32_t)((int64_t)word >> WALK_PACK_CFA_SHIFT);
}

/* 16 bits from shift on, as a signed number. */
WALK_INLINE int32_t walk_unpack_offset(uint64_t word, unsigned int shift)
{
	return (int16_t)(word >> shift);
}

/* Packs the CFA's offset; false when it does not fit. */
WALK_INLINE bool walk_pack_cfa(uint64_t *word, int32_t offset)
{
	*word |= (uint64_t)(int64_t)offset << WALK_PACK_CFA_SHIFT;
	return walk_unpack_cfa(*word) == offset;
}

WALK_INLINE bool walk_pack_offset(uint64_t *word, int32_t offset, unsigned int shift)
{
	*word |= (uint64_t)(uint16_t)offset << shift;
	return (int16_t)offset == offset;
}

/* Packs the place of RA or FP: bit says that it is in memory. false for other places. */
WALK_INLINE bool walk_pack_saved(uint64_t *word,
    const struct eh2sframe_location *location, unsigned int shift, uint64_t bit)
{
	if (location->place == EH2SFRAME_PLACE_SAME)
		return true;
	*word |= bit;
	return location->place == EH2SFRAME_PLACE_AT_CFA &&
	       walk_pack_offset(word, location->offset, shift);
}

/* Packs a rule; false when it does not fit into a word. */
WALK_INLINE bool walk_pack(enum eh2sframe_walk_machine machine,
    const struct eh2sframe_rule *rule, uint64_t *word)
{
	*word = WALK_PACK_USED | (uint64_t)(rule->flags & 15) << WALK_PACK_FLAGS_SHIFT;
	if (rule->flags & EH2SFRAME_FLAG_OUTERMOST)
		return true;
	if (rule->cfa.reg == walk_fp(machine))
		*word |= WALK_PACK_CFA_FP;
	else if (rule->cfa.reg != walk_sp(machine))
		return false;
	if (rule->cfa.place == EH2SFRAME_PLACE_AT_REGISTER) {
		*word |= WALK_PACK_CFA_READ;
		if (rule->cfa_add == 8)
			*word |= WALK_PACK_CFA_ADD8;
		else if (rule->cfa_add != 0)
			return false;
	} else if (rule->cfa.place != EH2SFRAME_PLACE_REGISTER) {
		return false;
	}
	return walk_pack_cfa(word, rule->cfa.offset) &&
	       walk_pack_saved(word, &rule->ra, WALK_PACK_RA_SHIFT, WALK_PACK_RA) &&
	       walk_pack_saved(word, &rule->fp, WALK_PACK_FP_SHIFT, WALK_PACK_FP);
}

/* Unpacks the rule of walk_pack. */
WALK_INLINE struct eh2sframe_rule walk_unpack(
    enum eh2sframe_walk_machine machine, uint64_t word)
{
	bool read = word & WALK_PACK_CFA_READ;

	return (struct eh2sframe_rule){
	    .cfa = {.place =
			read ? EH2SFRAME_PLACE_AT_REGISTER : EH2SFRAME_PLACE_REGISTER,
		.reg = word & WALK_PACK_CFA_FP ? walk_fp(machine) : walk_sp(machine),
		.offset = walk_unpack_cfa(word)},
	    .cfa_add = word & WALK_PACK_CFA_ADD8 ? 8 : 0,
	    .ra = {.place = word & WALK_PACK_RA ? EH2SFRAME_PLACE_AT_CFA
						: EH2SFRAME_PLACE_SAME,
		.offset = walk_unpack_offset(word, WALK_PACK_RA_SHIFT)},
	    .fp = {.place = word & WALK_PACK_FP ? EH2SFRAME_PLACE_AT_CFA
						: EH2SFRAME_PLACE_SAME,
		.offset = walk_unpack_offset(word, WALK_PACK_FP_SHIFT)},
	    .flags = (uint32_t)(word >> WALK_PACK_FLAGS_SHIFT) & 15,
	};
}

/* The key of pc in this generation. Its product spreads near PCs, so that the words of
 * different entries do not match by chance. */
WALK_INLINE uint64_t walk_cache_key(const struct eh2sframe_walk_cache *cache, uint64_t pc)
{
	return (pc * UINT64_C(0x9e3779b97f4a7c15)) ^
	       __atomic_load_n(&cache->generation, __ATOMIC_RELAXED);
}

WALK_INLINE uint64_t *walk_cache_entry(
    const struct eh2sframe_walk_cache *cache, uint64_t pc)
{
	/* The number of an entry times its size, in as few steps as can be. */
	uint64_t at = (pc << 4 ^ pc >> 8) & (cache->n_entries - 1) << 4;

	return (uint64_t *)((char *)cache->entries + at);
}

/* The word for pc, or 0. */
WALK_INLINE uint64_t walk_cache_get(const struct eh2sframe_walk_cache *cache, uint64_t pc)
{
	const uint64_t *entry = walk_cache_entry(cache, pc);
	uint64_t tag = __atomic_load_n(&entry[0], __ATOMIC_RELAXED);
	uint64_t word = __atomic_load_n(&entry[1], __ATOMIC_RELAXED);

	return (tag ^ word) == walk_cache_key(cache, pc) ? word : 0;
}

WALK_INLINE void walk_cache_put(
    const struct eh2sframe_walk_cache *cache, uint64_t pc, uint64_t word)
{
	uint64_t *entry = walk_cache_entry(cache, pc);

	__atomic_store_n(&entry[0], walk_cache_key(cache, pc) ^ word, __ATOMIC_RELAXED);
	__atomic_store_n(&entry[1], word, __ATOMIC_RELAXED);
}

#endif
