/* SPDX-License-Identifier: MIT */
/* gen/rows/plt.c relies on these properties of each machine's PLT templates. */
#include <stdbool.h>
#include <string.h>

#include "gen/arch/arch.h"
#include "tests/unit/unit.h"

static const struct arch *const archs[] = {
    &arch_x86_64, &arch_aarch64, &arch_aarch64_be, &arch_s390x};

enum { N_ARCHS = sizeof(archs) / sizeof(archs[0]), MAX_CODE = 128 };

static void check_stub(const struct arch_plt_stub *stub)
{
	bool fixed = false;

	ck_assert_uint_ge(stub->n_rows, 1);
	ck_assert_uint_le(stub->n_rows, sizeof(stub->rows) / sizeof(stub->rows[0]));
	ck_assert_uint_eq(stub->rows[0].start, 0);
	for (uint8_t i = 1; i < stub->n_rows; i++)
		ck_assert_uint_gt(stub->rows[i].start, stub->rows[i - 1].start);
	ck_assert_uint_lt(stub->rows[stub->n_rows - 1].start, stub->size);
	for (uint8_t i = 0; i < stub->size; i++) {
		ck_assert_uint_eq(stub->code[i] & ~stub->mask[i] & 0xff, 0);
		fixed = fixed || stub->mask[i];
	}
	ck_assert(fixed);
}

UNIT_LOOP(stubs, 0, N_ARCHS)
{
	const struct arch *arch = archs[_i];

	ck_assert_uint_gt(arch->n_plt_templates, 0);
	for (size_t i = 0; i < arch->n_plt_templates; i++) {
		const struct arch_plt_template *plt = &arch->plt_templates[i];

		check_stub(plt->entry);
		if (plt->header)
			check_stub(plt->header);
		if (plt->tail)
			check_stub(plt->tail);
		if (!plt->entry_too)
			continue;
		check_stub(plt->entry_too);
		ck_assert_uint_eq(plt->entry_too->size, plt->entry->size);
		ck_assert_uint_eq(plt->entry_too->n_rows, plt->entry->n_rows);
		ck_assert_mem_eq(
		    plt->entry_too->rows, plt->entry->rows, sizeof(plt->entry->rows));
	}
}

/* The start of a section: header and one stub. */
struct start {
	uint8_t code[MAX_CODE], mask[MAX_CODE];
	struct arch_plt_row rows[MAX_CODE]; /* of each byte */
	size_t size;
};

static void start_add(struct start *start, const struct arch_plt_stub *stub)
{
	uint8_t row = 0;

	ck_assert_uint_le(start->size + stub->size, MAX_CODE);
	for (uint8_t i = 0; i < stub->size; i++) {
		if (row + 1 < stub->n_rows && stub->rows[row + 1].start == i)
			row++;
		start->code[start->size] = stub->code[i];
		/* Bytes that the mask leaves free may have any value. */
		start->mask[start->size] = stub->other && i >= stub->other_at &&
						   i < stub->other_at + stub->other_size
					       ? 0
					       : stub->mask[i];
		start->rows[start->size] = stub->rows[row];
		start->rows[start->size++].start = 0;
	}
}

/* Every way in which a section of the template can start: entry, entry_too or tail. */
static bool start_of(const struct arch_plt_template *plt, int way, struct start *start)
{
	const struct arch_plt_stub *ways[] = {plt->entry, plt->entry_too, plt->tail};

	*start = (struct start){.size = 0};
	if (!ways[way])
		return false;
	if (plt->header)
		start_add(start, plt->header);
	start_add(start, ways[way]);
	return true;
}

static void check_pair(const struct start *a, const struct start *b)
{
	size_t size = a->size < b->size ? a->size : b->size;
	bool differ = false;

	for (size_t i = 0; i < size; i++)
		if ((a->code[i] ^ b->code[i]) & a->mask[i] & b->mask[i])
			differ = true;
	if (!differ)
		ck_assert_mem_eq(a->rows, b->rows, size * sizeof(a->rows[0]));
}

/*
 * Bytes that match two templates have the same rows in both. So the order of the table
 * does not matter.
 */
UNIT_LOOP(ambiguity, 0, N_ARCHS)
{
	const struct arch *arch = archs[_i];
	const struct arch_plt_template *plts = arch->plt_templates;
	struct start a, b;

	for (size_t i = 0; i < arch->n_plt_templates; i++)
		for (size_t j = 0; j < i; j++)
			for (int way = 0; way < 9; way++)
				if (!strcmp(plts[i].section, plts[j].section) &&
				    start_of(&plts[i], way / 3, &a) &&
				    start_of(&plts[j], way % 3, &b))
					check_pair(&a, &b);
}

UNIT_LOOP(found, 0, N_ARCHS)
{
	const struct arch *arch = archs[_i];

	ck_assert_ptr_eq(arch_find(arch->elf_machine, arch->big_endian), arch);
}
