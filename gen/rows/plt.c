/* SPDX-License-Identifier: MIT */
/* PLT rows: periodic ones from CFI, template ones from the stubs' bytes. */
#include "gen/rows/plt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/search.h"

enum { PLT_MIN_PERIOD = 8, PLT_MAX_PERIOD = 128, PLT_MAX_SECTIONS = 64 };

/* The tail of a table, reduced: rows[i] holds from rows[i].start, relative to the tail.
 */
struct plt_tail {
	struct sf_row *rows;
	size_t n;
	uint64_t size; /* bytes of code */
};

/* False when a row is refused (tail->n is then 0) or memory runs out (rows NULL). */
static bool plt_tail_read(const struct target *target, const struct cfi_table *table,
    uint64_t from, struct plt_tail *tail)
{
	*tail = (struct plt_tail){.size = table->end - from};
	tail->rows = calloc(table->n_rows, sizeof(*tail->rows));
	if (!tail->rows)
		return false;
	for (size_t i = 0; i < table->n_rows; i++) {
		struct sf_row *row = &tail->rows[tail->n];

		if (table->rows[i].pc < from)
			continue;
		if (reduce_row(target, &table->rows[i], row) != REFUSE_NOTHING ||
		    !num_u32(table->rows[i].pc - from, &row->start)) {
			tail->n = 0;
			return false;
		}
		tail->n++;
	}
	return tail->n && tail->rows[0].start == 0;
}

static uint64_t plt_row_end(const struct plt_tail *tail, size_t i)
{
	return i + 1 < tail->n ? tail->rows[i + 1].start : tail->size;
}

/* True if the rows at every offset are those of offset % period. Walks rows and pattern
 * together. */
static bool plt_has_period(const struct plt_tail *tail, uint32_t period)
{
	size_t in_pattern = 0;
	uint64_t at = 0;

	for (size_t i = 0; i < tail->n;) {
		uint64_t block = at - at % period;
		uint64_t pattern_end = block + plt_row_end(tail, in_pattern);
		uint64_t row_end = plt_row_end(tail, i);

		if (pattern_end > block + period)
			pattern_end = block + period;
		if (!sf_row_same(&tail->rows[i], &tail->rows[in_pattern]))
			return false;
		at = pattern_end < row_end ? pattern_end : row_end;
		if (at == pattern_end)
			in_pattern = at % period ? in_pattern + 1 : 0;
		if (at == row_end)
			i++;
	}
	return true;
}

static bool plt_emit_pcmask(const struct target *target, const struct plt_tail *tail,
    uint64_t start, uint8_t period, struct sf_section *section)
{
	struct sf_func func = {.start = start,
	    .pcmask = true,
	    .rep_size = period,
	    .pauth_b = target->pauth_b,
	    .signal_frame = target->signal_frame};

	if (!num_u32(tail->size, &func.size) || !sf_section_add_func(section, &func))
		return false;
	for (size_t i = 0; i < tail->n && tail->rows[i].start < period; i++)
		if (!sf_section_add_row(section, &tail->rows[i]))
			return false;
	return true;
}

bool plt_reduce(const struct target *target, const struct cfi_table *table,
    uint64_t start, uint64_t end, const struct reduce_sink *sink,
    struct sf_section *section)
{
	uint64_t from = table->pc_dependent_from;
	bool whole = start == table->start && end == table->end, periodic = false,
	     ok = true;
	struct plt_tail tail = {0};
	uint32_t period = PLT_MIN_PERIOD; /* twice the longest must not wrap to 0 */

	if (whole && plt_tail_read(target, table, from, &tail)) {
		while (!periodic && period <= PLT_MAX_PERIOD &&
		       period * UINT64_C(2) <= tail.size) {
			periodic = plt_has_period(&tail, period);
			if (!periodic)
				period *= 2;
		}
	}
	if (whole && !tail.rows)
		ok = false;
	else if (!periodic)
		ok = reduce_table(target, table, start, end, sink, section);
	else
		ok = reduce_table(target, table, start, from, sink, section) &&
		     plt_emit_pcmask(target, &tail, from, (uint8_t)period, section);
	free(tail.rows);
	return ok;
}

static struct sf_func *plt_func_at(struct sf_section *section, uint64_t addr)
{
	size_t at = search_list_from(section->funcs, section->n_funcs, start, addr);

	return at < section->n_funcs && section->funcs[at].start == addr
		   ? &section->funcs[at]
		   : NULL;
}

void plt_mark_repeated(const struct image *image, struct sf_section *section)
{
	for (size_t i = 0; i < image->n_sections; i++) {
		const GElf_Shdr *hdr = &image->sections[i].hdr;
		struct sf_func *func;
		uint8_t entry;

		if (!image->sections[i].data ||
		    !image_is_plt_name(image->sections[i].name) ||
		    !num_u8(hdr->sh_entsize, &entry))
			continue;
		if (entry < PLT_MIN_PERIOD || hdr->sh_size % entry ||
		    hdr->sh_size < UINT64_C(2) * entry)
			continue;
		func = plt_func_at(section, hdr->sh_addr);
		if (!func || func->pcmask || func->n_rows != 1 ||
		    func->size != hdr->sh_size)
			continue;
		func->pcmask = true;
		func->rep_size = entry;
	}
}

/*
 * Returns how many bytes from the start of [start, end) FDEs describe; all, if they
 * describe others, too: then nothing is left to a template.
 */
static uint64_t plt_claimed(const struct cfi_ranges *ranges, uint64_t start, uint64_t end)
{
	uint64_t until = start;
	size_t i = search_list_above(ranges->list, ranges->n, end, start);

	for (; i < ranges->n && ranges->list[i].start < end; i++) {
		if (ranges->list[i].start > until)
			return end - start;
		until = ranges->list[i].end;
	}
	return until < end ? until - start : end - start;
}

/* Compares bytes [from, to) of the stub, by code and mask. */
static bool plt_bytes_match(
    const struct arch_plt_stub *stub, const uint8_t *code, uint8_t from, uint8_t to)
{
	for (uint8_t i = from; i < to; i++)
		if ((code[i] & stub->mask[i]) != (stub->code[i] & stub->mask[i]))
			return false;
	return true;
}

static bool plt_stub_matches(const struct arch_plt_stub *stub, const uint8_t *code)
{
	uint8_t at = stub->other_at, size = stub->other_size;

	if (!stub->other || memcmp(code + at, stub->other, size) != 0)
		return plt_bytes_match(stub, code, 0, stub->size);
	return plt_bytes_match(stub, code, 0, at) &&
	       plt_bytes_match(stub, code, (uint8_t)(at + size), stub->size);
}

/* Starts of the parts of a PLT section that matches a template. */
struct plt_parts {
	uint64_t entries, tail; /* bytes from the section's start */
};

static bool plt_is_entry(const struct arch_plt_template *template, const uint8_t *code)
{
	return plt_stub_matches(template->entry, code) ||
	       (template->entry_too && plt_stub_matches(template->entry_too, code));
}

/* Every byte of the section is the header, an entry or the tail of the template, and
 * there is more than the header. */
static bool plt_template_matches(const struct arch_plt_template *template,
    const struct image_section *plt, struct plt_parts *parts)
{
	const struct arch_plt_stub *header = template->header, *tail = template->tail;
	uint64_t size = plt->hdr.sh_size, at = header ? header->size : 0;

	if (at >= size || (header && !plt_stub_matches(header, plt->data)))
		return false;
	*parts = (struct plt_parts){.entries = at, .tail = size};
	if (tail && size - at >= tail->size &&
	    plt_stub_matches(tail, plt->data + (size - tail->size)))
		parts->tail = size - tail->size;
	if ((parts->tail - at) % template->entry->size)
		return false;
	for (; at < parts->tail; at += template->entry->size)
		if (!plt_is_entry(template, plt->data + at))
			return false;
	return true;
}

/* Emits one stub's rows as a function over size bytes: PCMASK when size holds several stubs. */
static bool plt_emit_stub(const struct arch *arch, const struct arch_plt_stub *stub,
    uint64_t start, uint64_t size, struct sf_section *section)
{
	struct sf_func func = {.start = start};

	if (size > stub->size) {
		func.pcmask = true;
		func.rep_size = stub->size;
	}
	if (!num_u32(size, &func.size) || !sf_section_add_func(section, &func))
		return false;
	for (uint8_t i = 0; i < stub->n_rows; i++) {
		struct sf_row row = {
		    .start = stub->rows[i].start,
		    .cfa = {.kind = SF_LOC_REG},
		    .cfa_off = stub->rows[i].cfa_off,
		    .ra.kind = stub->rows[i].ra_off ? SF_LOC_AT_CFA : SF_LOC_NONE,
		    .ra_off = stub->rows[i].ra_off,
		};

		if (!num_u8(arch->cfi.sp_reg, &row.cfa.reg) ||
		    !sf_section_add_row(section, &row))
			return false;
	}
	return true;
}

/* The rows of a section, except its first covered bytes. Those are whole stubs. */
static bool plt_emit_template(const struct arch *arch,
    const struct arch_plt_template *template, const struct image_section *plt,
    const struct plt_parts *parts, uint64_t covered, struct sf_section *section)
{
	uint64_t start = plt->hdr.sh_addr, size = plt->hdr.sh_size;
	uint64_t entries = covered > parts->entries ? covered : parts->entries;

	if (parts->entries && !covered &&
	    !plt_emit_stub(arch, template->header, start, parts->entries, section))
		return false;
	if (parts->tail > entries && !plt_emit_stub(arch, template->entry,
					 start + entries, parts->tail - entries, section))
		return false;
	return parts->tail == size ||
	       plt_emit_stub(arch, template->tail, start + parts->tail,
		   size - parts->tail, section);
}

/* True if a range on the first bytes ends between two entries. */
static bool plt_ends_stub(const struct arch_plt_template *template,
    const struct plt_parts *parts, uint64_t covered)
{
	return !covered || (covered >= parts->entries && covered <= parts->tail &&
			       (covered - parts->entries) % template->entry->size == 0);
}

/* Section headers may overlap in a hostile file; functions must not. */
static bool plt_is_described(
    const struct sf_section *section, size_t first, uint64_t start, uint64_t end)
{
	for (size_t i = first; i < section->n_funcs; i++)
		if (section->funcs[i].start < end &&
		    start < section->funcs[i].start + section->funcs[i].size)
			return true;
	return false;
}

/* Sections that a template may describe. */
static bool plt_is_candidate(const struct policy *policy, const struct image_section *plt,
    const struct sf_section *section, size_t first)
{
	const GElf_Shdr *hdr = &plt->hdr;

	return plt->data && image_is_plt_name(plt->name) && hdr->sh_size &&
	       hdr->sh_size <= UINT32_MAX &&
	       image_at_addr(policy->image, hdr->sh_addr, hdr->sh_size) == plt->data &&
	       image_is_code(policy->image, hdr->sh_addr, hdr->sh_size) &&
	       !policy_section_excluded(policy, hdr->sh_addr) &&
	       section->n_funcs - first <= PLT_MAX_SECTIONS &&
	       !plt_is_described(
		   section, first, hdr->sh_addr, hdr->sh_addr + hdr->sh_size);
}

/* The template of the section's stubs, or NULL. */
static const struct arch_plt_template *plt_find_template(const struct arch *arch,
    const struct image_section *plt, uint64_t covered, struct plt_parts *parts)
{
	for (size_t i = 0; i < arch->n_plt_templates; i++) {
		const struct arch_plt_template *template = &arch->plt_templates[i];

		if (strcmp(template->section, plt->name) == 0 &&
		    plt_template_matches(template, plt, parts) &&
		    plt_ends_stub(template, parts, covered))
			return template;
	}
	return NULL;
}

static void plt_add_unknown(struct coverage *coverage, const struct image_section *plt)
{
	struct coverage_plt *unknown = &coverage->plts[coverage->n_plts];
	size_t size = sizeof(unknown->bytes);

	if (coverage->n_plts == COVERAGE_MAX_PLTS)
		return;
	if (size > plt->hdr.sh_size)
		size = (size_t)plt->hdr.sh_size;
	*unknown = (struct coverage_plt){
	    .addr = plt->hdr.sh_addr, .size = plt->hdr.sh_size, .n_bytes = (uint8_t)size};
	snprintf(unknown->section, sizeof(unknown->section), "%s", plt->name);
	for (char *c = unknown->section; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	memcpy(unknown->bytes, plt->data, size);
	coverage->n_plts++;
}

bool plt_from_templates(const struct policy *policy, const struct cfi_ranges *ranges,
    struct sf_section *section, struct coverage *coverage)
{
	const struct image *image = policy->image;
	size_t first = section->n_funcs;

	for (size_t i = 0; i < image->n_sections; i++) {
		const struct image_section *plt = &image->sections[i];
		const GElf_Shdr *hdr = &plt->hdr;
		const struct arch_plt_template *template;
		struct plt_parts parts;
		uint64_t covered;

		if (!plt_is_candidate(policy, plt, section, first))
			continue;
		covered = plt_claimed(ranges, hdr->sh_addr, hdr->sh_addr + hdr->sh_size);
		if (covered == hdr->sh_size)
			continue;
		template = plt_find_template(policy->arch, plt, covered, &parts);
		if (!template) {
			plt_add_unknown(coverage, plt);
			continue;
		}
		if (!plt_emit_template(
			policy->arch, template, plt, &parts, covered, section))
			return false;
		coverage->template_bytes += hdr->sh_size - covered;
	}
	if (section->n_funcs > first)
		qsort(section->funcs + first, section->n_funcs - first,
		    sizeof(*section->funcs), search_order);
	return true;
}
