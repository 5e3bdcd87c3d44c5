/* SPDX-License-Identifier: MIT */
/* Sources of rows, as text. */
#include <inttypes.h>

#include "base/num.h"
#include "base/plain.h"
#include "gen/elf/object/object.h"
#include "gen/report/text.h"

/* Prints Go's table, and the functions that it gives no rows for. */
static void report_go_size(const struct go_source *go, FILE *out)
{
	if (!go->section)
		return;
	fprintf(out, "\n  .gopclntab     %9" PRIu64 " bytes, %zu function%s", go->size,
	    go->cfi.n_funcs, num_s(go->cfi.n_funcs));
	if (go->cfi.n_left)
		fprintf(out, ", %zu without rows", go->cfi.n_left);
}

void report_source_sizes(const struct report *report, FILE *out)
{
	const struct cfi_input *input = report->input;
	const uint64_t size = input->sources.list[SOURCE_DEBUG_FRAME].size;
	const struct cfi_count *count = &input->counts[SOURCE_DEBUG_FRAME];
	const bool made = input->sources.go.section;

	report_go_size(&input->sources.go, out);
	if (!size) {
		fputs(made ? "; in all" : ",", out);
		return;
	}
	fprintf(out, "\n  .debug_frame   %9" PRIu64 " bytes, %zu CIE%s, %zu FDE%s", size,
	    count->n_cies, num_s(count->n_cies), count->n_fdes, num_s(count->n_fdes));
	if (input->sources.debug_path) {
		fputs(", of ", out);
		plain_print(input->sources.debug_path, out);
	}
	fputs(made ? "; in all" : "; in both", out);
}

/* Prints where Go's table and .debug_frame differ, by kind. */
static void report_go_agree(const struct cfi_debug_diff *agree, FILE *out)
{
	static const char *const texts[CFI_DEBUG_DIFF_KINDS] = {
	    [CFI_DEBUG_DIFF_DIFFER] = ".debug_frame has other rules",
	    [CFI_DEBUG_DIFF_FP] = ".debug_frame says that the frame pointer is unchanged",
	    [CFI_DEBUG_DIFF_NO_CALLER] =
		(".debug_frame has rules, and Go's table gives no "
		 "caller")};

	if (!agree->bytes)
		return;
	fprintf(out,
	    "  in both        %9" PRIu64
	    " bytes of code in Go's table and .debug_frame; Go's table counts\n",
	    agree->bytes);
	for (int i = CFI_DEBUG_DIFF_KINDS; i-- > 0;) {
		if (!agree->kinds[i].n)
			continue;
		fprintf(out, "                 %9" PRIu64 " byte%s of %zu function%s: %s",
		    agree->kinds[i].bytes, num_s(agree->kinds[i].bytes),
		    agree->kinds[i].n, num_s(agree->kinds[i].n), texts[i]);
		if (i == CFI_DEBUG_DIFF_DIFFER)
			fprintf(out,
			    "; the first at 0x%" PRIx64 ", .debug_frame+0x%" PRIx64,
			    agree->told[0].pc, agree->told[0].off);
		fputc('\n', out);
	}
}

void report_sources(const struct report *report, FILE *out)
{
	const struct cfi_source *list = report->input->sources.list;
	const struct coverage *coverage = &report->coverage;
	const struct cfi_debug_diff *agree = &report->agree[SOURCE_EH_FRAME];
	bool there[N_SOURCES], others = false;

	for (int i = 0; i < N_SOURCES; i++) {
		there[i] = i == SOURCE_EH_FRAME || list[i].size ||
			   (i == SOURCE_DERIVED && coverage->sources[i].functions);
		others |= there[i] && i != SOURCE_EH_FRAME;
	}
	for (int i = 0; others && i < N_SOURCES; i++) {
		if (!there[i])
			continue;
		fprintf(out,
		    "  by %-11s %9" PRIu64 " bytes of code in %zu function%s have rows\n",
		    source_name((enum source)i), coverage->sources[i].bytes,
		    coverage->sources[i].functions,
		    num_s(coverage->sources[i].functions));
	}
	if (agree->bytes)
		fprintf(out,
		    "  in both        %9" PRIu64 " bytes of code, of which %" PRIu64
		    " have other rules in .debug_frame; .eh_frame counts\n",
		    agree->bytes, agree->kinds[CFI_DEBUG_DIFF_DIFFER].bytes);
	report_go_agree(&report->agree[SOURCE_GO], out);
}

/* Prints the functions of Go's table that have no rows, and why. */
static void report_go_left(const struct go_source *go, FILE *out)
{
	for (size_t i = 0; i < go->cfi.n_left; i++) {
		const struct go_left *left = &go->cfi.left[i];

		fprintf(out, "    left out of go: 0x%" PRIx64 ", %" PRIu64 " byte%s ",
		    left->start, left->size, num_s(left->size));
		plain_print(left->name, out);
		fprintf(out, ": %s\n", go_reason_text(left->why));
	}
}

/* Prints where another source and .debug_frame differ. */
static void report_told(const struct cfi_debug_diff *agree, FILE *out)
{
	for (size_t i = 0; i < agree->n_told; i++)
		fprintf(out,
		    "    in both, and different: 0x%" PRIx64 ", .debug_frame+0x%" PRIx64
		    "\n",
		    agree->told[i].pc, agree->told[i].off);
}

void report_source_pieces(const struct report *report, FILE *out)
{
	const struct coverage *coverage = &report->coverage;
	const struct image *image = report->input->policy.image;

	report_go_left(&report->input->sources.go, out);

	for (size_t i = 0; i < coverage->n_pieces; i++) {
		const struct coverage_piece *piece = &coverage->pieces[i];
		char start[OBJECT_WHERE];

		fprintf(out, "    by %s: %s, %" PRIu64 " byte%s",
		    source_name(piece->source), object_where(image, piece->start, start),
		    piece->end - piece->start, num_s(piece->end - piece->start));
		report_name(report, piece->start, out);
	}
	for (int i = 0; i < N_SOURCES; i++)
		report_told(&report->agree[i], out);
}
