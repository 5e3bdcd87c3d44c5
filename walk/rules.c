/* SPDX-License-Identifier: MIT */
/* Turns rows into rules: "2.4 SFrame FRE", with what each machine and flexible FDEs add. */
#include "walk/look_up.h"

/* The control word of a flexible FDE's pair. */
enum {
	WALK_FLEX_REGISTER = 1,
	WALK_FLEX_MEMORY = 2,
	WALK_FLEX_ZERO = 4,
	WALK_FLEX_SHIFT = 3
};

enum { WALK_NO_REGISTER = 255, WALK_REGISTER_MAX = 31 };

/* A row's words, found but not read. */
struct walk_words {
	const uint8_t *at;
	unsigned int n, code; /* each of 1 << code bytes */
	bool swap;
};

static int32_t walk_word(const struct walk_words *words, unsigned int i)
{
	return walk_load_word(
	    words->at + ((size_t)i << words->code), words->code, words->swap);
}

/* Sets RA and FP where no word says them: the header's fixed offsets from the CFA, or as they are. */
static void walk_fixed(const struct walk_section *section, struct eh2sframe_rule *rule)
{
	int8_t ra = (int8_t)section->fixed_ra, fp = (int8_t)section->fixed_fp;

	rule->ra = (struct eh2sframe_location){
	    .place = ra ? EH2SFRAME_PLACE_AT_CFA : EH2SFRAME_PLACE_SAME, .offset = ra};
	rule->fp = (struct eh2sframe_location){
	    .place = fp ? EH2SFRAME_PLACE_AT_CFA : EH2SFRAME_PLACE_SAME, .offset = fp};
}

/* s390x counts the CFA in words of 8 bytes above 160. */
static bool walk_s390x_cfa(int32_t *offset)
{
	int64_t bytes = (int64_t)*offset * 8 + 160;

	*offset = (int32_t)bytes;
	return *offset == bytes;
}

/* Version 2 of s390x: a word with bit 0 is a register. */
static bool walk_s390x_saved(struct eh2sframe_location *location)
{
	uint32_t reg = (uint32_t)location->offset >> 1;

	if (location->place != EH2SFRAME_PLACE_AT_CFA || !(location->offset & 1))
		return true;
	*location = (struct eh2sframe_location){
	    .place = EH2SFRAME_PLACE_REGISTER, .reg = (uint8_t)reg};
	return reg <= WALK_REGISTER_MAX;
}

/* The words of a default FDE: CFA, RA unless it is fixed, FP unless it is fixed. */
static bool walk_offsets(const struct walk_section *section, unsigned int info,
    const struct walk_words *words, struct eh2sframe_rule *rule)
{
	enum eh2sframe_walk_machine machine = walk_machine(section);
	unsigned int used = 1;

	rule->cfa = (struct eh2sframe_location){.place = EH2SFRAME_PLACE_REGISTER,
	    .reg = info & WALK_ROW_SP ? walk_sp(machine) : walk_fp(machine),
	    .offset = walk_word(words, 0)};
	if (!section->fixed_ra && used < words->n) {
		int32_t offset = walk_word(words, used++);

		/* A word of 0 only keeps RA's place. */
		if (offset)
			rule->ra = (struct eh2sframe_location){
			    .place = EH2SFRAME_PLACE_AT_CFA, .offset = offset};
	}
	if (!section->fixed_fp && used < words->n)
		rule->fp = (struct eh2sframe_location){
		    .place = EH2SFRAME_PLACE_AT_CFA, .offset = walk_word(words, used++)};
	if (used < words->n)
		return false;
	if (machine != EH2SFRAME_WALK_S390X)
		return true;
	if (!walk_s390x_cfa(&rule->cfa.offset))
		return false;
	return section->version > 2 ||
	       (walk_s390x_saved(&rule->ra) && walk_s390x_saved(&rule->fp));
}

/* A control word and its offset. A register that no machine has is lost wherever it is. */
static bool walk_pair(
    const struct walk_words *words, unsigned int i, struct eh2sframe_location *location)
{
	/* Control words are unsigned. */
	uint32_t control =
	    (uint32_t)walk_word(words, i) & (UINT32_MAX >> (32 - (8u << words->code)));
	uint32_t reg = control >> WALK_FLEX_SHIFT;
	bool memory = control & WALK_FLEX_MEMORY;

	location->offset = walk_word(words, i + 1);
	if (control & WALK_FLEX_ZERO)
		return false;
	if (control & WALK_FLEX_REGISTER) {
		location->place =
		    memory ? EH2SFRAME_PLACE_AT_REGISTER : EH2SFRAME_PLACE_REGISTER;
		location->reg = reg < WALK_NO_REGISTER ? (uint8_t)reg : WALK_NO_REGISTER;
		return true;
	}
	location->place = EH2SFRAME_PLACE_AT_CFA;
	location->reg = 0;
	return memory && reg == 0;
}

/* The pairs of a flexible FDE of version 3: CFA, RA or a single 0, FP. */
static bool walk_pairs(const struct walk_section *section, const struct walk_words *words,
    struct eh2sframe_rule *rule)
{
	unsigned int used = 2;

	if (words->n < 2 || words->n > 6 || !walk_pair(words, 0, &rule->cfa) ||
	    rule->cfa.place == EH2SFRAME_PLACE_AT_CFA)
		return false;
	if (section->abi == WALK_ABI_S390X && !walk_s390x_cfa(&rule->cfa.offset))
		return false;
	if (words->n == used)
		return true;
	if (walk_word(words, used) == 0) {
		used++;
	} else {
		if (words->n < used + 2 || !walk_pair(words, used, &rule->ra))
			return false;
		used += 2;
		if (words->n == used)
			return true;
	}
	return words->n == used + 2 && walk_pair(words, used, &rule->fp);
}

/* Flags of a function and a row: all they say besides places. */
static uint32_t walk_flags(
    const struct walk_section *section, const struct walk_rows *rows, unsigned int info)
{
	uint32_t flags = 0;

	if (section->version == 3 && rows->info & WALK_INFO_SIGNAL)
		flags |= EH2SFRAME_FLAG_SIGNAL_FRAME;
	if (walk_machine(section) != EH2SFRAME_WALK_AARCH64)
		return flags;
	if (info & WALK_ROW_SIGNED)
		flags |= EH2SFRAME_FLAG_SIGNED;
	if (rows->info & WALK_INFO_KEY_B)
		flags |= EH2SFRAME_FLAG_KEY_B;
	return flags;
}

/* Returns the place of the row for rows->offset, from the section's rows; SIZE_MAX: none. */
static size_t walk_find_row(
    const struct walk_section *section, const struct walk_rows *rows, unsigned int type)
{
	const uint8_t *fres = section->fres;
	size_t size = section->fres_size;

	if (section->swap)
		return walk_scan(fres, size, rows, type, true);
	if (type == 0)
		return walk_scan(fres, size, rows, 0, false);
	return type == 1 ? walk_scan(fres, size, rows, 1, false)
			 : walk_scan(fres, size, rows, 2, false);
}

enum eh2sframe_walk_why walk_rule(const struct walk_section *section,
    const struct walk_rows *rows, struct eh2sframe_rule *rule)
{
	unsigned int type = rows->info & WALK_INFO_ROW_TYPE, info;
	struct walk_words words;
	size_t at;

	if (type > 2 || rows->at > section->fres_size)
		return EH2SFRAME_WALK_WHY_DAMAGED;
	at = walk_find_row(section, rows, type);
	if (at == SIZE_MAX)
		return EH2SFRAME_WALK_WHY_NO_ROW;
	at += (size_t)1 << type;
	info = section->fres[at++];
	words = (struct walk_words){.at = section->fres + at,
	    .n = info >> 1 & 15,
	    .code = info >> 5 & 3,
	    .swap = section->swap};
	if (words.code == 3 || ((size_t)words.n << words.code) > section->fres_size - at)
		return EH2SFRAME_WALK_WHY_DAMAGED;
	*rule = (struct eh2sframe_rule){0};
	rule->flags = walk_flags(section, rows, info);
	walk_fixed(section, rule);
	if (words.n == 0) {
		rule->flags |= EH2SFRAME_FLAG_OUTERMOST;
		return section->version >= 2 ? EH2SFRAME_WALK_WHY_GOES_ON
					     : EH2SFRAME_WALK_WHY_DAMAGED;
	}
	if (rows->flex ? walk_pairs(section, &words, rule)
		       : walk_offsets(section, info, &words, rule))
		return EH2SFRAME_WALK_WHY_GOES_ON;
	return EH2SFRAME_WALK_WHY_DAMAGED;
}
