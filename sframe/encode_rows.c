/* SPDX-License-Identifier: MIT */
/*
 * Rows as bytes: start, info byte and words of one size. The words of a default FDE are
 * offsets; those of a flexible one come in pairs with a control word before each offset.
 */
#include "sframe/layout.h"

#include <endian.h>
#include <string.h>

/* A control word and an offset for each of CFA, RA, FP; room for what put_sized stores.
 */
enum { MAX_WORDS = 6, MAX_ROW_SIZE = 4 + 1 + 4 * MAX_WORDS + 3 };

struct words {
	int32_t v[MAX_WORDS];
	unsigned int n;
	uint32_t reach; /* the bits that some offset needs besides its sign */
};

static inline void add_offset(struct words *words, int32_t off)
{
	words->v[words->n++] = off;
	words->reach |= (uint32_t)(off < 0 ? ~off : off);
}

/* Control words are unsigned and at most 255, padding is 0: both fit a word of any size.
 */
static inline void add_small(struct words *words, unsigned int v)
{
	words->v[words->n++] = (int32_t)v;
}

static inline uint8_t size_code(const struct words *words)
{
	if (words->reach > INT16_MAX)
		return SFRAME_FRE_OFFSET_4B;
	return words->reach > INT8_MAX ? SFRAME_FRE_OFFSET_2B : SFRAME_FRE_OFFSET_1B;
}

static inline int32_t cfa_word(const struct sf_abi *abi, int32_t off)
{
	if (abi->id != SFRAME_ABI_S390X_ENDIAN_BIG)
		return off;
	/* Divided first: a multiple of 8 near the end of the range stays in it. */
	return off / SFRAME_S390X_CFA_SCALE -
	       SFRAME_S390X_SP_VAL_OFFSET / SFRAME_S390X_CFA_SCALE;
}

/* A stack slot, or a register, which only s390x's words can name. */
static inline int32_t save_word(struct sf_loc loc, int32_t off)
{
	return loc.kind == SF_LOC_REG ? loc.reg << 1 | 1 : off;
}

static void default_words(
    const struct sf_abi *abi, const struct sf_row *row, struct words *words)
{
	bool has_fp = row->fp.kind != SF_LOC_NONE;

	add_offset(words, cfa_word(abi, row->cfa_off));
	if (sf_row_has_ra(abi, row))
		add_offset(words, save_word(row->ra, row->ra_off));
	else if (has_fp && abi->fixed_ra_off == 0)
		add_small(words, 0);
	if (has_fp)
		add_offset(words, save_word(row->fp, row->fp_off));
}

static unsigned int control(struct sf_loc loc)
{
	unsigned int word = 0;

	if (loc.kind != SF_LOC_REG)
		word |= SFRAME_V3_CTRL_DEREF_P;
	if (loc.kind != SF_LOC_AT_CFA)
		word |= SFRAME_V3_CTRL_REG_P | (unsigned int)loc.reg
						   << SFRAME_V3_CTRL_REG_SHIFT;
	return word;
}

static void add_pair(struct words *words, struct sf_loc loc, int32_t off)
{
	add_small(words, control(loc));
	add_offset(words, off);
}

static void flex_words(
    const struct sf_abi *abi, const struct sf_row *row, struct words *words)
{
	bool has_fp = row->fp.kind != SF_LOC_NONE;

	add_pair(words, row->cfa, cfa_word(abi, row->cfa_off));
	if (sf_row_has_ra(abi, row))
		add_pair(words, row->ra, row->ra_off);
	else if (has_fp)
		add_small(words, 0);
	if (has_fp)
		add_pair(words, row->fp, row->fp_off);
}

/*
 * The low 1 << code bytes of v, which the caller has seen to hold it. Always stores four,
 * of which what follows overwrites the rest: sizes vary too much to be foreseen.
 */
static inline uint8_t *put_sized(uint8_t *p, uint32_t v, uint8_t code, bool big_endian)
{
	unsigned int width = 1u << code;

	v = big_endian ? htobe32(v << (32 - 8 * width)) : htole32(v);
	memcpy(p, &v, sizeof(v));
	return p + width;
}

/*
 * Puts the row together in one step: there may be millions. An
 * outermost row is an info byte of 0: no words, and so no base and no size.
 */
void sf_put_row(struct wr *wr, const struct sf_abi *abi, const struct sf_row *row,
    uint8_t row_type, uint8_t fde_type)
{
	uint8_t *p = wr_expect(wr, MAX_ROW_SIZE), code, info = 0;
	struct words words;

	if (!p)
		return;

	words.n = 0;
	words.reach = 0;
	if (row->ra_signed && !row->outermost)
		info |= SFRAME_FRE_INFO_MANGLED_RA;
	if (row->outermost) {
		code = 0;
	} else if (fde_type == SFRAME_FDE_TYPE_FLEX) {
		flex_words(abi, row, &words);
		code = size_code(&words);
	} else {
		default_words(abi, row, &words);
		code = size_code(&words);
		if (row->cfa.reg == abi->sp)
			info |= SFRAME_FRE_INFO_BASE_REG;
	}
	p = put_sized(p, row->start, row_type, wr->big_endian);
	*p++ = (uint8_t)(info | words.n << SFRAME_FRE_INFO_COUNT_SHIFT |
			 code << SFRAME_FRE_INFO_SIZE_SHIFT);
	for (unsigned int i = 0; i < words.n; i++)
		p = put_sized(p, (uint32_t)words.v[i], code, wr->big_endian);
	wr_end(wr, p);
}
