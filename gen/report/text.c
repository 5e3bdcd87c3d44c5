/* SPDX-License-Identifier: MIT */
/* Counts, sizes and reasons as text. */
#include "gen/report/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/percent.h"
#include "base/plain.h"
#include "gen/elf/object/object.h"
#include "gen/report/eh_frame.h"
#include "gen/rows/refusal.h"

enum { REPORT_SOURCE_NAMES = 64 };

static double report_ratio(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0.0;
}

static const char *report_percent(
    const struct coverage *coverage, enum coverage_of of, char text[PERCENT_SIZE])
{
	const struct coverage_share share = coverage_share(coverage, of);

	return percent_text(share.covered, share.code, "%", text);
}

/* The sections that rows come from, "A", "A and B" or "A, B and C", and the sum of their sizes. NULL where there is none. */
static const char *report_source_names(
    const struct report *report, char text[REPORT_SOURCE_NAMES], uint64_t *bytes)
{
	const struct cfi_source *list = report->input->sources.list;
	unsigned int left = 0;
	size_t used = 0;

	*bytes = 0;
	for (int i = 0; i < N_SOURCES; i++)
		left |= list[i].size ? SOURCE_BIT(i) : 0;
	if (!left)
		return NULL;
	for (int i = 0; i < N_SOURCES; i++) {
		if (!list[i].size)
			continue;
		left &= ~SOURCE_BIT(i);
		*bytes += list[i].size;
		used += (size_t)snprintf(text + used, REPORT_SOURCE_NAMES - used, "%s%s",
		    !used  ? ""
		    : left ? ", "
			   : " and ",
		    source_section((enum source)i));
	}
	return text;
}

void report_held(const struct verify_held *held, FILE *out)
{
	const struct {
		uint64_t bytes;
		const char *what;
	} kinds[] = {{held->derived_bytes, "derived"}, {held->repaired_bytes, "repaired"},
	    {held->template_bytes, "from a PLT template"}};
	const char *before = " (";

	fprintf(out, "%" PRIu64 " byte%s of code compared with CFI%s", held->cfi_bytes,
	    num_s(held->cfi_bytes), held->by_libdwarf ? ", with libdwarf too" : "");
	if (held->go_bytes)
		fprintf(out, ", %" PRIu64 " with Go's table, read again by the same code",
		    held->go_bytes);
	if (!verify_code_alone(held))
		return;
	fprintf(
	    out, ", %" PRIu64 " concluded from the code alone", verify_code_alone(held));
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!kinds[i].bytes)
			continue;
		fprintf(out, "%s%" PRIu64 " %s", before, kinds[i].bytes, kinds[i].what);
		before = ", ";
	}
	fputc(')', out);
}

void report_summary(const struct report *report, FILE *out)
{
	const struct coverage *coverage = &report->coverage;
	char names[REPORT_SOURCE_NAMES];
	char of_cfi[PERCENT_SIZE], of_all[PERCENT_SIZE];
	uint64_t bytes;
	const char *const named = report_source_names(report, names, &bytes);

	fprintf(out,
	    "%s: %zu function%s, %s of code with CFI and %s of all executable "
	    "code covered, %" PRIu64 " bytes .sframe v%u",
	    report->shown, coverage->n_functions, num_s(coverage->n_functions),
	    report_percent(coverage, COVERAGE_OF_CFI, of_cfi),
	    report_percent(coverage, COVERAGE_OF_TEXT, of_all), report->sframe_size,
	    report->version);
	if (named)
		fprintf(out, " (%.2f of %s)", report_ratio(report->sframe_size, bytes),
		    named);
	fprintf(out, ", %zu refused", coverage->n_refused);
	if (report->held.go_bytes || verify_code_alone(&report->held)) {
		fputs("; ", out);
		report_held(&report->held, out);
	}
	fputc('\n', out);
}

/* Prints the savings besides sharing. */
static void report_compact(const struct report *report, FILE *out)
{
	const struct sf_compact_stats *stats = &report->compact;
	bool new_boundaries = report->input->policy.options->optimize_size;
	size_t funcs = stats->n_before - stats->n_funcs;
	uint64_t rows = stats->rows_before - stats->n_rows;

	/* Most small files have no neighbours that are alike. */
	if (stats->n_before == 0 ||
	    (!new_boundaries && stats->n_before == stats->n_funcs))
		return;
	fprintf(out,
	    "                 %s: %zu fewer function%s, %" PRIu64 " fewer row%s, %" PRIu64
	    " byte%s of padding covered\n",
	    new_boundaries ? "new boundaries" : "joined", funcs, num_s(funcs), rows,
	    num_s(rows), stats->padding_bytes, num_s(stats->padding_bytes));
}

static void report_sizes(const struct report *report, FILE *out)
{
	const struct cfi_input *input = report->input;
	const struct cfi_count *count = &input->counts[SOURCE_EH_FRAME];
	const size_t n_rows = report->coverage.n_rows;
	char names[REPORT_SOURCE_NAMES];
	uint64_t both;
	const char *const named = report_source_names(report, names, &both);

	fprintf(out, "  .eh_frame      %9" PRIu64 " bytes, %zu CIE%s, %zu FDE%s",
	    input->sources.list[SOURCE_EH_FRAME].size, count->n_cies,
	    num_s(count->n_cies), count->n_fdes, num_s(count->n_fdes));
	report_source_sizes(report, out);
	fprintf(out, " %zu row%s\n", n_rows, num_s(n_rows));
	fprintf(out, "  .eh_frame_hdr  %9" PRIu64 " bytes\n", input->sources.hdr_size);
	fprintf(out, "  .sframe v%u     %9" PRIu64 " bytes, %zu function%s, %zu row%s",
	    report->version, report->sframe_size, report->n_funcs, num_s(report->n_funcs),
	    report->n_rows, num_s(report->n_rows));
	if (named)
		fprintf(out, "; %.3f of %s, %.3f of %s + .eh_frame_hdr",
		    report_ratio(report->sframe_size, both), named,
		    report_ratio(report->sframe_size, both + input->sources.hdr_size),
		    named);
	fputc('\n', out);
	fprintf(out,
	    "                 header and index %zu, rows %zu, saved by sharing %zu\n",
	    report->stats.index_bytes, report->stats.row_bytes,
	    report->stats.shared_away);
	report_compact(report, out);
}

/* Prints the bytes of an unknown PLT, because the next linker is noticed here first. */
static void report_unknown_plt(const struct coverage_plt *plt, FILE *out)
{
	fprintf(out,
	    "  unknown PLT    %9" PRIu64 " bytes of %s at 0x%" PRIx64
	    " have no CFI and match no template:",
	    plt->size, plt->section, plt->addr);
	for (uint8_t i = 0; i < plt->n_bytes; i++)
		fprintf(out, " %02x", plt->bytes[i]);
	fputc('\n', out);
}

static void report_coverage(const struct report *report, FILE *out)
{
	const struct coverage *coverage = &report->coverage;
	char text[PERCENT_SIZE];

	fprintf(out, "  functions      %9zu with CFI, %zu with rows, %zu with gaps\n",
	    coverage->n_fdes, coverage->n_functions, coverage->n_refused);
	fprintf(out, "  code with CFI  %9" PRIu64 " bytes, %" PRIu64 " covered (%s)\n",
	    coverage->code_bytes, coverage->covered_bytes,
	    report_percent(coverage, COVERAGE_OF_CFI, text));
	fprintf(out,
	    "  executable     %9" PRIu64 " bytes of code, %" PRIu64 " covered (%s)\n",
	    coverage->text_bytes, coverage_share(coverage, COVERAGE_OF_TEXT).covered,
	    report_percent(coverage, COVERAGE_OF_TEXT, text));
	report_sources(report, out);
	if (coverage->calls_with_row + coverage->calls_misread)
		fprintf(out,
		    "  last calls     %9zu function%s end%s in a call whose return "
		    "address has its row, %zu in one that readers misread\n",
		    coverage->calls_with_row, num_s(coverage->calls_with_row),
		    coverage->calls_with_row == 1 ? "s" : "", coverage->calls_misread);
	if (coverage->outermost_bytes)
		fprintf(out,
		    "  outermost      %9" PRIu64
		    " bytes have no caller to find; percentages leave them out\n",
		    coverage->outermost_bytes);
	if (report->input->corrections.n)
		fprintf(out,
		    "  repaired       %9" PRIu64
		    " bytes have the row that the code gives\n",
		    coverage->repaired_bytes);
	if (coverage->template_bytes)
		fprintf(out,
		    "  from PLT template %6" PRIu64 " bytes of code without CFI\n",
		    coverage->template_bytes);
	if (coverage->derived_bytes)
		fprintf(out,
		    "  derived        %9" PRIu64
		    " bytes of code without CFI have rows derived from the code\n",
		    coverage->derived_bytes);
	for (size_t i = 0; i < coverage->n_plts; i++)
		report_unknown_plt(&coverage->plts[i], out);
	if (coverage->n_duplicates)
		fprintf(out, "  duplicates     %9zu FDE%s\n", coverage->n_duplicates,
		    coverage->n_duplicates == 1 ? " that repeats another"
						: "s that repeat another");
}

static void report_diags(const struct report *report, FILE *out)
{
	const struct cfi_frames *frames = &report->input->frames;

	for (int i = 0; i < CFI_N_DIAGS; i++)
		if (frames->diag_counts[i])
			fprintf(out, "  record: %-12s %zu\n",
			    cfi_diag_name((enum cfi_diag_kind)i), frames->diag_counts[i]);
}

static void report_refusals(const struct report *report, FILE *out)
{
	const struct coverage *coverage = &report->coverage;

	for (int i = 0; i < N_REFUSALS; i++) {
		uint8_t needs = refusal_needs((enum refusal)i, report->input->arch);

		if (!coverage->refused[i].bytes)
			continue;
		fprintf(out,
		    "  refused: %-15s %6zu function%-1s %9" PRIu64 " byte%-1s  %s",
		    refusal_name((enum refusal)i), coverage->refused[i].functions,
		    num_s(coverage->refused[i].functions), coverage->refused[i].bytes,
		    num_s(coverage->refused[i].bytes), refusal_text((enum refusal)i));
		if (needs)
			fprintf(out, "; needs v%u", needs);
		fputc('\n', out);
	}
	if (report->details.later)
		fprintf(out,
		    "  version 3 has rows for %" PRIu64 " byte%s of these (--format=3)\n",
		    report->details.later, num_s(report->details.later));
}

/* A demangled name may hold control characters that the name in the file does not. */
void report_name(const struct report *report, uint64_t pc, FILE *out)
{
	char *name = symbols_readable(report_symbols(report), pc);

	if (name) {
		fputc(' ', out);
		plain_print(name, out);
	}
	fputc('\n', out);
	free(name);
}

void report_gaps(const struct report *report, const char *indent, FILE *out)
{
	const struct coverage *coverage = &report->coverage;

	for (size_t i = 0; i < coverage->n_gaps; i++) {
		const struct coverage_gap *gap = &coverage->gaps[i];
		const struct image *image = report->input->policy.image;
		char start[OBJECT_WHERE], end[OBJECT_WHERE], func[OBJECT_WHERE];
		const char *plus;

		object_where(image, gap->end, end);
		plus = strrchr(end, '+');
		fprintf(out, "%s%s: %s..%s (%" PRIu64 " byte%s) of the function at %s",
		    indent, refusal_name(gap->why),
		    object_where(image, gap->start, start), plus ? plus + 1 : end,
		    gap->end - gap->start, num_s(gap->end - gap->start),
		    object_where(image, gap->fde_pc, func));
		report_name(report, gap->fde_pc, out);
	}
}

/* Prints last calls at whose return address the next function begins, or nobody's code is. */
static void report_misread(const struct report *report, FILE *out)
{
	const struct coverage *coverage = &report->coverage;

	for (size_t i = 0; i < coverage->calls_misread; i++) {
		const struct coverage_call *call = &coverage->calls[i];
		const struct image *image = report->input->policy.image;
		char end[OBJECT_WHERE], func[OBJECT_WHERE];

		fprintf(out,
		    "    misread: %s is the return address of the last call of the "
		    "function at %s",
		    object_where(image, call->end, end),
		    object_where(image, call->start, func));
		report_name(report, call->start, out);
	}
}

void report_method(const struct insert_plan *plan, const char *indent, FILE *out)
{
	for (int i = 0; i < N_METHODS; i++)
		if (plan->obstacles[i] != OBSTACLE_NONE)
			fprintf(out, "%smethod %s does not apply: %s\n", indent,
			    method_name((enum method)i),
			    obstacle_text(plan->obstacles[i]));
	fprintf(out, "%smethod: %s\n", indent, method_name(plan->method));
}

/* More producers would fill the screen. */
enum { REPORT_TEXT_PRODUCERS = 3 };

/* Identifies the file. */
static void report_identity(const struct report *report, FILE *out)
{
	const struct report_details *details = &report->details;
	struct image_build_id id;

	fprintf(out, "%s: %s", report->shown, report->input->arch->name);
	if (details->made)
		fprintf(out, " %s", report_kind_name(details->kind));
	fputc('\n', out);
	if (image_build_id(report->input->policy.image, &id)) {
		fputs("  build-id       ", out);
		for (size_t i = 0; i < id.size && i < 32; i++)
			fprintf(out, "%02x", id.bytes[i]);
		fputc('\n', out);
	}
	for (size_t i = 0; i < details->n_producers && i < REPORT_TEXT_PRODUCERS; i++) {
		fputs("  made by        ", out);
		plain_print(details->producers[i], out);
		fputc('\n', out);
	}
	if (details->n_producers > REPORT_TEXT_PRODUCERS)
		fprintf(out, "                 and %zu more\n",
		    details->n_producers - REPORT_TEXT_PRODUCERS);
}

void report_text(const struct report *report, bool verbose, FILE *out)
{
	report_identity(report, out);
	report_sizes(report, out);
	report_coverage(report, out);
	report_eh_frame(report, out);
	report_bars(report, out);
	report_diags(report, out);
	report_refusals(report, out);
	if (verbose) {
		report_gaps(report, "    ", out);
		report_misread(report, out);
		report_source_pieces(report, out);
	}
}

/* Prints one record, and where it is. */
static void report_diag(
    const struct report *report, const struct cfi_diag *diag, FILE *out)
{
	const struct cfi_sources *sources = &report->input->sources;
	uint64_t into;
	const char *section =
	    cfi_section_at(&report->input->frames.section, diag->off, &into);

	fprintf(out, "%s: %s, ", report->shown, diag->text);
	if (sources->debug_path && strcmp(section, ".eh_frame") != 0)
		plain_print(sources->debug_path, out), fputs(": ", out);
	fprintf(out, "%s+0x%" PRIx64 "; left out\n", section, into);
}

/* Prints which records of .debug_frame are not used, and where it contradicts .eh_frame. */
static void report_debug_damage(const struct report *report, FILE *out)
{
	const struct cfi_sources *sources = &report->input->sources;
	const struct cfi_debug_diff *agree = &report->agree[SOURCE_EH_FRAME];

	for (int i = N_SOURCES; i-- > 0;) {
		if (!sources->list[i].left_out.kind)
			continue;
		fprintf(out, "%s: ", report->shown);
		plain_print(sources->list[i].left_out.text, out);
		fprintf(out, "; %s is left out\n", source_words((enum source)i));
	}
	if (report->lost_bytes && !sources->list[SOURCE_DEBUG_FRAME].size)
		fprintf(out,
		    "%s: the section that was replaced described %" PRIu64
		    " more byte%s of code; if rows came from a debug file, name it "
		    "(--debug-file, --debug-dir)\n",
		    report->shown, report->lost_bytes, num_s(report->lost_bytes));
	if (agree->kinds[CFI_DEBUG_DIFF_DIFFER].n)
		fprintf(out,
		    "%s: %zu function%s in .debug_frame contradict%s .eh_frame, which "
		    "counts: %" PRIu64 " byte%s of code; the first at 0x%" PRIx64
		    ", .debug_frame+0x%" PRIx64 "\n",
		    report->shown, agree->kinds[CFI_DEBUG_DIFF_DIFFER].n,
		    num_s(agree->kinds[CFI_DEBUG_DIFF_DIFFER].n),
		    agree->kinds[CFI_DEBUG_DIFF_DIFFER].n == 1 ? "s" : "",
		    agree->kinds[CFI_DEBUG_DIFF_DIFFER].bytes,
		    num_s(agree->kinds[CFI_DEBUG_DIFF_DIFFER].bytes), agree->told[0].pc,
		    agree->told[0].off);
}

/* Prints the code that one reader alone has read, because a proof must not seem to be by two there. */
static void report_alone(const struct report *report, FILE *out)
{
	const struct verify_held *held = &report->held;

	if (held->skipped_bytes)
		fprintf(out,
		    "%s: %" PRIu64 " byte%s of code not compared with libdwarf, because "
		    "their functions have too many rows; the program's own reader "
		    "covers them\n",
		    report->shown, held->skipped_bytes, num_s(held->skipped_bytes));
	if (held->unlisted_bytes)
		fprintf(out,
		    "%s: %" PRIu64 " byte%s of code not compared with libdwarf, which "
		    "does not list their FDEs; the program's own reader covers them\n",
		    report->shown, held->unlisted_bytes, num_s(held->unlisted_bytes));
}

void report_damage(const struct report *report, FILE *out)
{
	const struct cfi_frames *frames = &report->input->frames;
	const struct policy *policy = &report->input->policy;
	const char *option, *pattern;
	size_t said = 0, damaged = 0;

	for (int i = 0; i <= CFI_DIAG_LAST_DAMAGE; i++)
		damaged += frames->diag_counts[i];
	for (size_t i = 0; i < frames->n_diags; i++) {
		if (frames->diags[i].kind > CFI_DIAG_LAST_DAMAGE)
			continue;
		report_diag(report, &frames->diags[i], out);
		said++;
	}
	report_debug_damage(report, out);
	if (damaged > said)
		fprintf(out, "%s: %zu more damaged record%s of CFI; left out\n",
		    report->shown, damaged - said, num_s(damaged - said));
	for (size_t i = 0; i < report->coverage.n_notes; i++)
		fprintf(
		    out, "%s: %s; left out\n", report->shown, report->coverage.notes[i]);
	if (policy_few_symbols(policy) && policy_unmatched(policy, 0, &option, &pattern))
		fprintf(out, "%s: %s, so --exclude-symbol matches no other functions\n",
		    report->shown,
		    strcmp(policy_few_symbols(policy), "none") ? "only dynamic symbols"
							       : "no symbols");
	report_alone(report, out);
	if (report->code_apart)
		fprintf(out,
		    "%s: functions lie in more than one executable segment, so a kernel "
		    "that validates sections refuses this one; lint calls it "
		    "func-segment\n",
		    report->shown);
	if (report->signature_void)
		fprintf(out,
		    "%s: the module's signature is left out, because it no longer "
		    "matches; sign the new module\n",
		    report->shown);
	if (report->plan && report->plan->above_loader)
		fprintf(out,
		    "%s: method %s: the file is a program interpreter (ld.so), and Linux "
		    "before 6.7 can start no program with it\n",
		    report->shown, method_name(report->plan->method));
	if (report->plan && report->plan->table_moves_for != OBSTACLE_NONE)
		fprintf(out,
		    "%s: the program header table moves, so core dumps no longer show "
		    "the build-id: %s\n",
		    report->shown, obstacle_text(report->plan->table_moves_for));
}
