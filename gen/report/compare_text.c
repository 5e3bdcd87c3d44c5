/* SPDX-License-Identifier: MIT */
/* The comparison of formats for people. */
#include "gen/report/compare.h"

#include <inttypes.h>
#include <string.h>

#include "base/num.h"

/* 100 only when nothing is missing. */
static double compare_percent(uint64_t part, uint64_t whole)
{
	double percent = whole ? 100.0 * (double)part / (double)whole : 100.0;

	return part < whole && percent > 99.99 ? 99.99 : percent;
}

static void compare_line(
    const struct report_formats *formats, const struct report_format *format, FILE *out)
{
	uint64_t first = formats->list[0].bytes;

	fprintf(out, "    %-15s %10" PRIu64 " %7.3f %9" PRIu64 " %7.2f%%  %s\n",
	    format->name, format->bytes,
	    first ? (double)format->bytes / (double)first : 0.0, format->functions,
	    compare_percent(format->code_bytes, formats->code_bytes),
	    format->calls_only ? "calls" : "every PC");
}

static bool compare_same_escapes(
    const struct report_format *a, const struct report_format *b)
{
	bool same = a->n_escapes == b->n_escapes;

	for (size_t i = 0; same && i < a->n_escapes; i++)
		same = !strcmp(a->escapes[i].reason, b->escapes[i].reason) &&
		       a->escapes[i].functions == b->escapes[i].functions &&
		       a->escapes[i].bytes == b->escapes[i].bytes;
	return same;
}

void report_formats_text(const struct report_formats *formats, FILE *out)
{
	if (!formats->n)
		return;
	fprintf(out,
	    "  formats of these %" PRIu64 " functions and %" PRIu64
	    " bytes of code; the first is .eh_frame and .eh_frame_hdr\n",
	    formats->functions, formats->code_bytes);
	fprintf(out, "    %-15s %10s %7s %9s %8s  %s\n", "format", "bytes", "ratio",
	    "functions", "code", "holds at");
	for (size_t i = 0; i < formats->n; i++)
		compare_line(formats, &formats->list[i], out);
	for (size_t i = 0; i < formats->n; i++) {
		const struct report_format *format = &formats->list[i];

		/* How SFrame is made smaller changes nothing of what it says. */
		if (i && compare_same_escapes(format, format - 1))
			continue;
		for (size_t k = 0; k < format->n_escapes; k++) {
			const struct report_escape *escape = &format->escapes[k];

			fprintf(out,
			    "    %s: %s: %" PRIu64 " function%s, %" PRIu64
			    " byte%s: %s\n",
			    format->name, escape->reason, escape->functions,
			    num_s(escape->functions), escape->bytes, num_s(escape->bytes),
			    escape->text);
		}
	}
}
