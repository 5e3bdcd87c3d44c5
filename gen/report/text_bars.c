/* SPDX-License-Identifier: MIT */
/* Kinds of the executable bytes of a file, as bars of 80 columns in ASCII. */
#include "gen/report/text.h"

#include <inttypes.h>
#include <string.h>

#include "base/percent.h"
#include "gen/rows/refusal.h"

enum { BARS_WIDTH = 36 };

static void bars_line(const char *label, uint64_t part, uint64_t whole, FILE *out)
{
	char bar[BARS_WIDTH + 1], percent[PERCENT_SIZE];
	size_t n = (size_t)((double)part / (double)whole * BARS_WIDTH + 0.5);

	if (!part)
		return;
	n = n < BARS_WIDTH ? n : BARS_WIDTH;
	memset(bar, '#', n);
	/* Shows a dot at least, because some bytes are more than none. */
	if (!n)
		bar[n++] = '.';
	bar[n] = '\0';
	fprintf(out, "    %-16s |%-*s| %11" PRIu64 " %8s\n", label, (int)BARS_WIDTH, bar,
	    part, percent_text(part, whole, "%", percent));
}

/* Without details nothing tells code from data. */
static uint64_t bars_without_cfi(const struct report *report)
{
	const struct coverage *coverage = &report->coverage;
	const uint64_t *bytes = report->details.bytes;

	if (!report->details.made)
		return coverage->text_bytes - coverage->code_bytes -
		       coverage->template_bytes - coverage->derived_bytes;
	return bytes[REPORT_CODE] + bytes[REPORT_PLT] + bytes[REPORT_UNKNOWN];
}

void report_bars(const struct report *report, FILE *out)
{
	const struct coverage *coverage = &report->coverage;
	const uint64_t with_rows = coverage_share(coverage, COVERAGE_OF_TEXT).covered;
	const uint64_t without = bars_without_cfi(report);
	const uint64_t data = report->details.bytes[REPORT_DATA];
	const uint64_t padding = coverage->padding_bytes + report->details.padding;
	uint64_t whole = with_rows + without + data + padding;

	for (int i = 0; i < N_REFUSALS; i++)
		whole += coverage->refused[i].bytes;
	if (!whole)
		return;
	fprintf(out, "  of all executable bytes:\n");
	bars_line("with rows", with_rows, whole, out);
	for (int i = 0; i < N_REFUSALS; i++)
		if (i != REFUSE_RA_UNDEFINED)
			bars_line(refusal_name((enum refusal)i),
			    coverage->refused[i].bytes, whole, out);
	bars_line("outermost", coverage->refused[REFUSE_RA_UNDEFINED].bytes, whole, out);
	bars_line("without CFI", without, whole, out);
	bars_line("data in text", data, whole, out);
	bars_line("padding", padding, whole, out);
}
