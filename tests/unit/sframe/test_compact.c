/* SPDX-License-Identifier: MIT */
/* The optimiser keeps every answer and every limit. The results are near the best. */
#include <stdio.h>

#include "sframe/compact/compact.h"
#include "tests/unit/sframe/test_sframe_random.h"

enum { MAX_TAKEN = 4, MAX_ELEMENTS = 11, BASE = 0x4000 };

/* A model, and the gaps that it must not cover. */
struct text {
	struct sf_section section;
	struct sf_compact_range taken[MAX_TAKEN];
	size_t n_taken;
};

/* Few different rows, so that some blocks are equal. */
static struct sf_row text_row(struct prng *prng, const struct sf_abi *abi, uint32_t start)
{
	struct sf_row row =
	    fixture_cfa(start, abi->sp, 160 + 8 * (int)prng_below(prng, 3));

	if (prng_below(prng, 6) == 0)
		row.cfa_off += 400;
	if (abi->has_pauth && prng_below(prng, 4) == 0)
		row.ra_signed = true;
	return row;
}

static void text_rows(struct text *text, struct prng *prng, uint32_t size, bool copy)
{
	struct sf_section *section = &text->section;
	struct sf_func *func = &section->funcs[section->n_funcs - 1];
	uint32_t start = 0;

	if (copy && section->n_funcs > 1 &&
	    section->funcs[section->n_funcs - 2].size <= size) {
		func->first_row = func[-1].first_row;
		func->n_rows = func[-1].n_rows;
		func->size = size;
		return;
	}
	for (; start < size;
	     start += 1 + prng_below(prng, prng_below(prng, 3) ? 4 : 300)) {
		struct sf_row row = text_row(prng, sf_abi_find(section->abi), start);

		/* Neighbours differ, as in every model. */
		if (start == 0 || !sf_row_same(&row, &section->rows[section->n_rows - 1]))
			fixture_row(section, row);
	}
}

static struct text text_make(
    struct prng *prng, uint8_t abi_id, uint32_t n_funcs, bool wild)
{
	struct text text = {.section = fixture_section(abi_id)};
	const struct sf_abi *abi = sf_abi_find(abi_id);
	uint64_t addr = BASE;

	for (uint32_t i = 0; i < n_funcs; i++) {
		struct sf_func func = {
		    .start = addr + (i ? prng_below(prng, wild ? 20 : 16) : 0),
		    .size = 1 + prng_below(prng, prng_below(prng, 4) ? 24 : 600)};

		if (wild && prng_below(prng, 8) == 0)
			func.signal_frame = true;
		if (wild && prng_below(prng, 8) == 0) {
			func.pcmask = true;
			func.rep_size = (uint8_t)(func.size < 16 ? func.size : 16);
		}
		if (wild && abi->has_pauth && prng_below(prng, 4) == 0)
			func.pauth_b = true;
		if (wild && text.n_taken < MAX_TAKEN && i && prng_below(prng, 4) == 0)
			text.taken[text.n_taken++] =
			    prng_below(prng, 2)
				? (struct sf_compact_range){addr, func.start}
				: (struct sf_compact_range){func.start, func.start};
		ck_assert(sf_section_add_func(&text.section, &func));
		text_rows(&text, prng, func.pcmask ? func.rep_size : func.size,
		    !func.pcmask && prng_below(prng, 3) == 0);
		addr = text.section.funcs[i].start + text.section.funcs[i].size;
	}
	return text;
}

static struct sf_section copy_of(const struct sf_section *section)
{
	struct sf_section copy = *section;

	copy.funcs = NULL;
	copy.rows = NULL;
	copy.n_funcs = copy.cap_funcs = copy.n_rows = copy.cap_rows = 0;
	ck_assert(sf_section_append(&copy, section));
	return copy;
}

static const struct sf_row *row_at(
    const struct sf_section *section, uint64_t pc, const struct sf_func **owner)
{
	*owner = NULL;
	for (size_t i = 0; i < section->n_funcs; i++) {
		const struct sf_func *func = &section->funcs[i];
		const struct sf_row *rows = sf_section_rows(section, func);
		uint64_t off = pc - func->start;
		uint32_t j = func->n_rows;

		if (pc < func->start || off >= func->size)
			continue;
		*owner = func;
		off = func->pcmask ? off % func->rep_size : off;
		while (j > 0 && rows[j - 1].start > off)
			j--;
		return j ? &rows[j - 1] : NULL;
	}
	return NULL;
}

/* Less than 16 bytes from the functions on both sides, and free. */
static bool padding_at(const struct text *text, uint64_t pc)
{
	uint64_t before = 0, after = UINT64_MAX;

	for (size_t i = 0; i < text->section.n_funcs; i++) {
		const struct sf_func *func = &text->section.funcs[i];

		if (func->start + func->size <= pc)
			before = func->start + func->size;
		if (func->start > pc && after == UINT64_MAX)
			after = func->start;
	}
	for (size_t i = 0; i < text->n_taken; i++)
		if (text->taken[i].start <= after && text->taken[i].end >= before)
			return false;
	return before && after - before <= SF_COMPACT_PADDING_MAX;
}

/* The number of bytes of padding that the new model covers. */
static uint64_t answers_kept(
    const struct text *text, const struct sf_section *compacted, int seed)
{
	const struct sf_func *last = &text->section.funcs[text->section.n_funcs - 1];
	uint64_t padding = 0;

	for (uint64_t pc = BASE - 2; pc < last->start + last->size + 20; pc++) {
		const struct sf_func *had, *has, *before_func;
		const struct sf_row *old = row_at(&text->section, pc, &had);
		const struct sf_row *now = row_at(compacted, pc, &has);

		if (!had && has) {
			if (!padding_at(text, pc) ||
			    row_at(compacted, pc - 1, &before_func) != now)
				ck_abort_msg(
				    "seed %d: covers 0x%x", seed, (unsigned int)pc);
			padding++;
		} else if (!had != !has || (had && !sf_row_same(old, now))) {
			ck_abort_msg(
			    "seed %d: another row at 0x%x", seed, (unsigned int)pc);
		} else if (had && (had->pauth_b != has->pauth_b ||
				      had->signal_frame != has->signal_frame ||
				      had->pcmask != has->pcmask)) {
			ck_abort_msg(
			    "seed %d: another FDE at 0x%x", seed, (unsigned int)pc);
		}
	}
	return padding;
}

static void limits_kept(const struct text *text, const struct sf_section *compacted,
    uint32_t max_rows, int seed)
{
	for (size_t i = 0; i < compacted->n_funcs; i++) {
		const struct sf_func *func = &compacted->funcs[i], *first, *last;

		row_at(&text->section, func->start, &first);
		row_at(&text->section, func->start + func->size - 1, &last);
		if (func->n_rows > max_rows && first != last)
			ck_abort_msg("seed %d: %u rows", seed, func->n_rows);
	}
}

static size_t encoded(uint8_t version, const struct sf_section *section, bool share)
{
	struct wr wr = fixture_encode_as(version, section, version > 1, share, 0x100000);
	size_t size = wr.size;

	wr_deinit(&wr);
	return size;
}

/* The rows that unchanged functions may have shared with changed ones. */
static size_t shared_with_others(const struct sf_section *section)
{
	size_t n = 0;

	for (size_t i = 0; i < section->n_funcs; i++)
		if (section->funcs[i].pcmask || section->funcs[i].signal_frame)
			n += section->funcs[i].n_rows * 8;
	return n;
}

static const struct {
	uint8_t abi, version;
} targets[] = {
    {SFRAME_ABI_AMD64_ENDIAN_LITTLE, 1},
    {SFRAME_ABI_AMD64_ENDIAN_LITTLE, 2},
    {SFRAME_ABI_AMD64_ENDIAN_LITTLE, 3},
    {SFRAME_ABI_AARCH64_ENDIAN_LITTLE, 2},
    {SFRAME_ABI_AARCH64_ENDIAN_LITTLE, 3},
    {SFRAME_ABI_S390X_ENDIAN_BIG, 2},
    {SFRAME_ABI_S390X_ENDIAN_BIG, 3},
};

UNIT_LOOP(every_answer_and_limit, 0, 700)
{
	struct prng prng = {
	    UINT64_C(0x1d872b41) + (uint64_t)_i * UINT64_C(0x9e3779b97f4a7c15)};
	uint8_t version = targets[_i % 7].version;
	struct text text =
	    text_make(&prng, targets[_i % 7].abi, 1 + prng_below(&prng, 30), true);
	struct sf_compact_options options = {.version = version,
	    .max_rows = 2 + prng_below(&prng, 40),
	    .taken = text.taken,
	    .n_taken = text.n_taken};
	struct sf_section compacted = copy_of(&text.section);
	struct sf_compact_stats stats;
	struct err err = {0};

	ck_assert(sf_compact(&compacted, &options, &stats, &err));
	ck_assert_uint_eq(answers_kept(&text, &compacted, _i), stats.padding_bytes);
	limits_kept(&text, &compacted, options.max_rows, _i);
	ck_assert_uint_le(encoded(version, &compacted, true),
	    encoded(version, &text.section, true) + shared_with_others(&text.section));
	ck_assert_uint_eq(stats.n_before, text.section.n_funcs);
	ck_assert_uint_eq(stats.n_funcs, compacted.n_funcs);
	sf_section_deinit(&compacted);
	sf_section_deinit(&text.section);
}

/* True if two neighbours of one equal row are still two, though nothing keeps them apart.
 */
static bool left_apart(
    const struct text *text, const struct sf_section *compacted, size_t i)
{
	const struct sf_func *a = &compacted->funcs[i], *b = a + 1;

	if (a->n_rows != 1 || b->n_rows != 1 || a->pcmask || b->pcmask ||
	    a->signal_frame || b->signal_frame || a->pauth_b != b->pauth_b ||
	    !sf_row_same(&compacted->rows[a->first_row], &compacted->rows[b->first_row]))
		return false;
	for (size_t j = 0; j < text->n_taken; j++)
		if (text->taken[j].start <= b->start &&
		    text->taken[j].end >= a->start + a->size)
			return false;
	return b->start - a->start - a->size <= SF_COMPACT_PADDING_MAX;
}

/* As the test before, for sf_compact_equal, in texts where most functions have one row. */
static void equal_text(int seed)
{
	struct prng prng = {
	    UINT64_C(0x2c41d7) + (uint64_t)seed * UINT64_C(0x9e3779b97f4a7c15)};
	uint8_t version = targets[seed % 7].version;
	struct text text =
	    text_make(&prng, targets[seed % 7].abi, 1 + prng_below(&prng, 40), true);
	struct sf_compact_options options = {
	    .version = version, .taken = text.taken, .n_taken = text.n_taken};
	struct sf_section compacted;
	struct sf_compact_stats stats;
	struct err err = {0};

	for (size_t i = 0; i < text.section.n_funcs; i++)
		if (prng_below(&prng, 4))
			text.section.funcs[i].n_rows = 1;
	compacted = copy_of(&text.section);
	ck_assert(sf_compact_equal(&compacted, &options, &stats, &err));
	ck_assert_uint_eq(answers_kept(&text, &compacted, seed), stats.padding_bytes);
	ck_assert_uint_eq(
	    stats.n_before - stats.n_funcs, text.section.n_funcs - compacted.n_funcs);
	for (int share = 0; share < 2; share++)
		ck_assert_uint_le(encoded(version, &compacted, share),
		    encoded(version, &text.section, share));
	for (size_t i = 0; i + 1 < compacted.n_funcs; i++)
		if (left_apart(&text, &compacted, i))
			ck_abort_msg("seed %d: function %zu could go on", seed, i);
	sf_section_deinit(&compacted);
	sf_section_deinit(&text.section);
}

UNIT(equal_rows)
{
	for (int seed = 0; seed < 700; seed++)
		equal_text(seed);
}

/* ---- against all ways to cut ---- */

struct element {
	uint64_t addr, end; /* where the function before it ends */
	const struct sf_row *row;
	size_t func;
	bool begins;
};

static size_t elements_of(const struct sf_section *section, struct element *list)
{
	size_t n = 0;

	for (size_t i = 0; i < section->n_funcs; i++) {
		const struct sf_func *func = &section->funcs[i];

		for (uint32_t j = 0; j < func->n_rows; j++) {
			if (n == MAX_ELEMENTS)
				return 0;
			list[n] =
			    (struct element){.row = &section->rows[func->first_row + j],
				.func = i,
				.begins = j == 0};
			list[n].addr = func->start + list[n].row->start;
			n++;
		}
	}
	return n;
}

/* The model that the cuts make. A bit stands for each element that begins a piece.
 * Returns false when it breaks the bound on rows. */
static bool cut_by(const struct sf_section *section, const struct element *list, size_t n,
    unsigned int cuts, uint32_t max_rows, struct sf_section *out)
{
	size_t first = 0;

	out->n_funcs = out->n_rows = 0;
	for (size_t i = 0; i < n; i++) {
		const struct sf_func *func = &section->funcs[list[i].func];
		struct sf_row row = *list[i].row;
		struct sf_func *piece;

		if (i == 0 || cuts >> i & 1) {
			first = i;
			fixture_func(out, list[i].addr, 1);
		}
		piece = &out->funcs[out->n_funcs - 1];
		row.start = (uint32_t)(list[i].addr - list[first].addr);
		if (i == first || !sf_row_same(list[i].row, list[i - 1].row))
			fixture_row(out, row);
		if (i + 1 < n && !list[i + 1].begins)
			piece->size = (uint32_t)(list[i + 1].addr - piece->start);
		else
			piece->size = (uint32_t)(func->start + func->size - piece->start);
		if (piece->n_rows > max_rows && list[first].func != list[i].func)
			return false;
	}
	return true;
}

static size_t cheapest(
    const struct sf_section *section, uint8_t version, uint32_t max_rows)
{
	struct element list[MAX_ELEMENTS];
	size_t n = elements_of(section, list), best = SIZE_MAX;
	struct sf_section one = fixture_section(section->abi);

	for (unsigned int cuts = 0; n && cuts < 1u << n; cuts += 2) {
		size_t size;

		if (!cut_by(section, list, n, cuts, max_rows, &one))
			continue;
		size = encoded(version, &one, true);
		best = size < best ? size : best;
	}
	sf_section_deinit(&one);
	return best;
}

/*
 * Prices miss a block that would pay off only if two pieces were cut for it at once.
 * Sharing is rare in so little text, so most results are optimal.
 */
UNIT_LOOP(near_the_best, 0, 3)
{
	static const unsigned int wanted_percent = 95;
	struct prng prng = {UINT64_C(0x51ab3) + (uint64_t)_i};
	unsigned int n = 0, optimal = 0, exact = 0;

	for (int i = 0; i < 400 || n < 60; i++) {
		uint8_t version = (uint8_t)(1 + prng_below(&prng, 3));
		struct text text = text_make(&prng, SFRAME_ABI_AMD64_ENDIAN_LITTLE,
		    1 + prng_below(&prng, 5), false);
		struct sf_compact_options options = {
		    .version = version, .max_rows = 2 + prng_below(&prng, 8)};
		size_t best = cheapest(&text.section, version, options.max_rows), got;
		struct sf_compact_stats stats;
		struct err err = {0};

		if (best != SIZE_MAX) {
			ck_assert(sf_compact(&text.section, &options, &stats, &err));
			got = encoded(version, &text.section, true);
			ck_assert_uint_ge(got, best);
			ck_assert_uint_le(got * 4, best * 5);
			ck_assert_uint_ge(stats.bytes + 28, got);
			n++;
			optimal += got == best;
			exact += stats.bytes + 28 == got;
		}
		sf_section_deinit(&text.section);
	}
	printf("# %u of %u optimal, %u reckoned exactly\n", optimal, n, exact);
	ck_assert_uint_ge(optimal * 100, n * wanted_percent);
	ck_assert_uint_ge(exact * 100, n * wanted_percent);
}

/* ---- by hand ---- */

static void two_functions(struct sf_section *section, uint32_t gap)
{
	*section = fixture_section(SFRAME_ABI_AMD64_ENDIAN_LITTLE);
	for (unsigned int i = 0; i < 2; i++) {
		fixture_func(section, BASE + i * (0x40 + gap), 0x40);
		fixture_row(section, fixture_cfa(0, AMD64_SP, 8));
		fixture_row(section, fixture_cfa(4 + i, AMD64_SP, 16));
		fixture_row(section, fixture_cfa(0x3f, AMD64_SP, 8));
	}
}

UNIT(seams)
{
	static const struct {
		uint32_t gap;
		struct sf_compact_range taken;
		bool joined;
	} cases[] = {
	    {0, {0}, true},
	    {15, {0}, true},
	    {16, {0}, false},
	    {15, {BASE + 0x40, BASE + 0x41}, false},
	    {15, {BASE + 0x4e, BASE + 0x4f}, false},
	    {15, {BASE + 0x4f, BASE + 0x4f}, false},
	    {0, {BASE + 0x40, BASE + 0x40}, false},
	    {15, {BASE, BASE}, true},
	    {15, {BASE + 0x8f, BASE + 0x9f}, true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sf_compact_options options = {.version = 2,
		    .max_rows = SF_COMPACT_ROWS,
		    .taken = &cases[i].taken,
		    .n_taken = cases[i].taken.end != 0};
		struct sf_section section;
		struct err err = {0};

		two_functions(&section, cases[i].gap);
		ck_assert(sf_compact(&section, &options, NULL, &err));
		ck_assert_uint_eq(section.n_funcs, cases[i].joined ? 1 : 2);
		if (cases[i].joined) {
			/* The seam is one row, sp + 8 on both sides. */
			ck_assert_uint_eq(section.funcs[0].n_rows, 5);
			ck_assert_uint_eq(section.funcs[0].size, 0x80 + cases[i].gap);
		}
		sf_section_deinit(&section);
	}
}

UNIT(nothing_to_do)
{
	struct sf_section section = fixture_section(SFRAME_ABI_AMD64_ENDIAN_LITTLE);
	struct sf_compact_options options = {.version = 2, .max_rows = SF_COMPACT_ROWS};
	struct sf_compact_stats stats;
	struct err err = {0};

	ck_assert(sf_compact(&section, &options, &stats, &err));
	ck_assert_uint_eq(stats.n_funcs, 0);
	options.version = 4;
	ck_assert(!sf_compact(&section, &options, &stats, &err));
	ck_assert_int_eq(err.kind, ERR_INTERNAL);
}
