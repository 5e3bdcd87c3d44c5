/* SPDX-License-Identifier: MIT */
/* Facts that only a report needs: the kind of file, its sections, and the gaps by rule. */
#include "gen/report/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "gen/verify/meaning.h"

enum { REPORT_RULE_SIZE = 96 };

const char *report_kind_name(enum report_kind kind)
{
	static const char *const names[] = {
	    [REPORT_EXECUTABLE] = "executable",
	    [REPORT_STATIC_EXECUTABLE] = "static-executable",
	    [REPORT_PIE] = "pie",
	    [REPORT_STATIC_PIE] = "static-pie",
	    [REPORT_SHARED_LIBRARY] = "shared-library",
	    [REPORT_OBJECT] = "object",
	    [REPORT_KERNEL_MODULE] = "kernel-module",
	};

	return names[kind];
}

const char *report_beyond_name(enum coverage_beyond_kind kind)
{
	static const char *const names[] = {[COVERAGE_REPAIRED] = "repaired",
	    [COVERAGE_DERIVED] = "derived",
	    [COVERAGE_TEMPLATE] = "template"};

	return names[kind];
}

const struct symbols *report_symbols(const struct report *report)
{
	/* The details have none where there is nothing to name in them. */
	return report->details.symbols.n ? &report->details.symbols
					 : &report->input->symbols;
}

static enum report_kind details_kind(const struct image *image)
{
	const bool loader = image_segment_find(image, PT_INTERP) != NULL;
	uint64_t flags = 0, name;

	if (image->object)
		return image_section_find(image, ".modinfo") ? REPORT_KERNEL_MODULE
							     : REPORT_OBJECT;
	if (image->ehdr.e_type == ET_EXEC)
		return loader ? REPORT_EXECUTABLE : REPORT_STATIC_EXECUTABLE;
	if (!image_dynamic(image, DT_FLAGS_1, &flags))
		flags = 0;
	/* Linkers before binutils 2.26 do not mark a PIE; and libc.so has a loader. */
	if (!(flags & DF_1_PIE) && (!loader || image_dynamic(image, DT_SONAME, &name)))
		return REPORT_SHARED_LIBRARY;
	return loader ? REPORT_PIE : REPORT_STATIC_PIE;
}

/* Strings, each with its NUL; the last may have none and is passed over. */
static void details_producers(const struct image *image, struct report_details *details)
{
	const struct image_section *section = image_section_find(image, ".comment");
	const char *text = section ? (const char *)section->data : NULL, *end;
	size_t left = text ? section->hdr.sh_size : 0;

	while (left && details->n_producers < REPORT_MAX_PRODUCERS &&
	       (end = memchr(text, 0, left)) != NULL) {
		bool known = end == text;

		for (size_t i = 0; i < details->n_producers && !known; i++)
			known = !strcmp(details->producers[i], text);
		if (!known)
			details->producers[details->n_producers++] = text;
		left -= (size_t)(end - text) + 1;
		text = end + 1;
	}
}

static int details_compare(const void *a, const void *b)
{
	const struct report_section *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static bool details_add_section(
    struct report_details *details, const char *name, uint64_t start, uint64_t size)
{
	if (!size || size > UINT64_MAX - start)
		return true;
	if (!vec_reserve(
		&details->sections, &details->cap_sections, details->n_sections + 1))
		return false;
	details->sections[details->n_sections++] =
	    (struct report_section){name, start, size};
	return true;
}

/* Lists the sections that coverage_text counts. */
static bool details_sections(const struct image *image, struct report_details *details)
{
	const uint64_t flags = SHF_ALLOC | SHF_EXECINSTR;
	bool ok = true;

	for (size_t i = 0; ok && i < image->n_sections; i++) {
		const struct image_section *section = &image->sections[i];

		if ((section->hdr.sh_flags & flags) == flags && section->data)
			ok = details_add_section(details, section->name,
			    section->hdr.sh_addr, section->hdr.sh_size);
	}
	for (size_t i = image->first_code;
	     ok && !details->n_sections && i < image->n_phdrs; i++) {
		const GElf_Phdr *phdr = &image->phdrs[i];

		if (phdr->p_type == PT_LOAD && phdr->p_flags & PF_X)
			ok = details_add_section(
			    details, "segment", phdr->p_vaddr, phdr->p_filesz);
	}
	if (details->n_sections)
		qsort(details->sections, details->n_sections, sizeof(*details->sections),
		    details_compare);
	return ok;
}

/* "CFA = *(rsp + 152) + 8, FP = *(CFA - 16)": the columns that are not as usual. */
char *report_rule_text(const struct arch *arch, const struct cfi_row *row)
{
	const struct {
		const char *name;
		const struct cfi_rule *rule;
	} columns[] = {
	    {"CFA", &row->cfa}, {"SP", &row->sp}, {"RA", &row->ra}, {"FP", &row->fp}};
	char text[sizeof(columns) / sizeof(columns[0]) * REPORT_RULE_SIZE];
	size_t size = 0;

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		const struct cfi_rule *rule = columns[i].rule;
		char one[REPORT_RULE_SIZE - 8];

		if (rule->kind == CFI_UNSPECIFIED || rule->kind == CFI_SAME ||
		    (rule == &row->ra && !arch->ra_tracked && rule->kind == CFI_AT_CFA &&
			rule->off == arch->fixed_ra_off))
			continue;
		meaning_rule_text(arch, rule, one, sizeof(one));
		size += (size_t)snprintf(text + size, sizeof(text) - size, "%s%s = %s",
		    size ? ", " : "", columns[i].name, one);
	}
	return size ? strdup(text) : strdup("no rule");
}

/* Returns the range that holds an address, from *at on; NULL when there is none. */
static const struct cfi_range *details_range(
    const struct cfi_ranges *ranges, size_t *at, uint64_t pc)
{
	while (*at < ranges->n && ranges->list[*at].end <= pc)
		(*at)++;
	return *at < ranges->n && ranges->list[*at].start <= pc ? &ranges->list[*at]
								: NULL;
}

/* Asks the last version for the rows of a gap. Code that was left out by other rules than
 * a version's stays out. */
static uint64_t details_later(const struct cfi_input *input, const struct cfi_fde *fde,
    const struct cfi_table *table, const struct coverage_gap *gap)
{
	const struct target target =
	    target_for(input->arch, SFRAME_VERSION_3, &input->frames.cies[fde->cie]);
	uint64_t bytes = 0;

	if (input->policy.options->format >= SFRAME_VERSION_3 ||
	    refusal_needs(gap->why, input->arch) != SFRAME_VERSION_3)
		return 0;
	for (size_t i = cfi_table_row_at(table, gap->start);
	     i < table->n_rows && table->rows[i].pc < gap->end; i++) {
		const uint64_t pc = table->rows[i].pc, next = i + 1 < table->n_rows
								  ? table->rows[i + 1].pc
								  : table->end;
		struct sf_row row;

		if (reduce_row(&target, &table->rows[i], &row) == REFUSE_NOTHING)
			bytes += (next < gap->end ? next : gap->end) -
				 (pc > gap->start ? pc : gap->start);
	}
	return bytes;
}

static bool details_rules(const struct cfi_input *input, const struct coverage *coverage,
    struct report_gap *gaps)
{
	struct cfi_interp interp;
	const struct cfi_fde *last = NULL;
	bool readable = false, ok = true;

	cfi_interp_init(&interp, &input->frames, &input->arch->cfi);
	for (size_t i = 0, at = 0; ok && i < coverage->n_gaps; i++) {
		const uint64_t pc = coverage->gaps[i].start;
		const struct cfi_range *range = details_range(&input->ranges, &at, pc);
		const struct cfi_fde *fde =
		    range ? &input->frames.fdes[range->fde] : NULL;
		struct err ignored = {0};

		if (!fde)
			continue;
		/* Records that were made of Go's table are in no section. */
		if (cfi_fde_source(&input->frames, fde) != SOURCE_GO)
			gaps[i].section = cfi_section_at(
			    &input->frames.section, fde->off, &gaps[i].cfi);
		if (fde != last) {
			interp.max_expr_ops = cfi_ranges_expr_ops(&input->ranges, at);
			readable = cfi_interpret(&interp, fde, &ignored);
			ok = readable || ignored.kind != ERR_NOMEM;
			last = fde;
		}
		if (!readable || !interp.table.n_rows)
			continue;
		gaps[i].later =
		    details_later(input, fde, &interp.table, &coverage->gaps[i]);
		gaps[i].rule = report_rule_text(
		    input->arch, &interp.table.rows[cfi_table_row_at(&interp.table, pc)]);
		ok = gaps[i].rule != NULL;
	}
	cfi_interp_deinit(&interp);
	return ok;
}

/* The CFI is read again: a conversion has freed it. */
static bool details_gaps(const struct image *image, const struct options *options,
    struct report *report, struct err *err)
{
	struct cfi_input input = {0};
	bool ok;

	if (!report->coverage.n_gaps)
		return true;
	report->details.gaps =
	    calloc(report->coverage.n_gaps, sizeof(*report->details.gaps));
	if (!report->details.gaps)
		return err_set_nomem(err);
	ok = cfi_input_read(image, image, options, &input, err) &&
	     (details_rules(&input, &report->coverage, report->details.gaps) ||
		 err_set_nomem(err));
	cfi_input_deinit(&input);
	for (size_t i = 0; i < report->coverage.n_gaps; i++)
		report->details.later += report->details.gaps[i].later;
	return ok;
}

/* Judges .eh_frame for its reader, where the machine has one and the file such a section. */
static bool details_eh_frame(
    const struct image *image, struct report_details *details, struct err *err)
{
	struct err why = {0};

	if (!lint_eh_reads(image) || lint_eh_frame(image, &details->eh_frame, &why) ||
	    why.kind == ERR_NOTHING)
		return true;
	*err = why;
	return false;
}

static void details_deinit(struct report *report)
{
	struct report_details *details = &report->details;

	for (size_t i = 0; details->gaps && i < report->coverage.n_gaps; i++)
		free(details->gaps[i].rule);
	free(details->gaps);
	free(details->sections);
	free(details->stretches);
	symbols_deinit(&details->symbols);
	*details = (struct report_details){0};
}

static bool details_make(
    const struct options *options, struct report *report, struct err *err)
{
	const struct image *image = report->input->policy.image;
	struct report_details *details = &report->details;

	details->made = true;
	details->kind = details_kind(image);
	details_producers(image, details);
	if ((report->coverage.n_gaps || report->coverage.n_stretches ||
		report->coverage.n_pieces || report->coverage.n_beyond) &&
	    !symbols_read(image, &details->symbols, err))
		return false;
	if (!details_eh_frame(image, details, err))
		return false;
	return ((details_sections(image, details) && report_undescribed_make(report)) ||
		   err_set_nomem(err)) &&
	       details_gaps(image, options, report, err);
}

bool report_details_make(
    const struct options *options, struct report *report, struct err *err)
{
	if (report->details.made || details_make(options, report, err))
		return true;
	details_deinit(report);
	return false;
}

void report_deinit(struct report *report)
{
	details_deinit(report);
	coverage_deinit(&report->coverage);
}
