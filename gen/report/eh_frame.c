/* SPDX-License-Identifier: MIT */
/* Reports what the posted reader of .eh_frame can walk. */
#include "gen/report/eh_frame.h"

#include <inttypes.h>

#include "base/num.h"
#include "base/percent.h"
#include "gen/report/json_parts.h"

/* "98.76% of 1234 bytes with CFI, 12 of 13 functions"; nothing, once the kernel has forgotten the file. */
static void eh_frame_share(const struct lint_eh_frame *result, FILE *out)
{
	char text[PERCENT_SIZE];

	percent_text(result->walked.bytes, result->all.bytes, "%", text);
	fprintf(out,
	    "%s of %" PRIu64 " byte%s with CFI, %" PRIu64 " of %" PRIu64 " function%s",
	    result->dropped ? "0.00%" : text, result->all.bytes, num_s(result->all.bytes),
	    result->dropped ? 0 : result->walked.functions, result->all.functions,
	    num_s(result->all.functions));
	if (result->dropped)
		fprintf(out, " (%s but for what drops the module)", text);
}

static void eh_frame_rules(
    const char *path, const struct lint_eh_frame *result, FILE *out)
{
	for (int i = 0; i < LINT_EH_KEPT; i++) {
		const struct lint_eh_words *words = &lint_eh_words[i];
		const uint64_t times = result->rules[i].times,
			       bytes = result->rules[i].bytes;

		if (!times)
			continue;
		fprintf(out, "%s: " READER_EH_FRAME ": %s (%s): broken at %s+0x%" PRIx64,
		    path, words->name, words->text,
		    i < LINT_EH_FDE_LENGTH && i != LINT_EH_TABLE_ALL ? ".eh_frame_hdr"
								     : ".eh_frame",
		    result->rules[i].off);
		if (result->rules[i].pc)
			fprintf(out, ", code at 0x%" PRIx64, result->rules[i].pc);
		if (times > 1)
			fprintf(out, ", and at %" PRIu64 " more place%s", times - 1,
			    num_s(times - 1));
		fprintf(out, "; %s in %" PRIu64 " byte%s\n",
		    words->severity == LINT_EH_DROPS ? "drops the module"
						     : "ends the stack",
		    bytes, num_s(bytes));
	}
}

bool report_lint_eh_frame(
    const struct image *image, int verbosity, FILE *out, struct err *err)
{
	struct lint_eh_frame result;

	if (!lint_eh_reads(image))
		return err_set(err, ERR_UNSUPPORTED,
		    READER_EH_FRAME " reads linked files for x86-64 and s390x only");
	if (!lint_eh_frame(image, &result, err))
		return false;
	eh_frame_rules(image->shown, &result, out);
	if (verbosity >= 0) {
		fprintf(out, "%s: " READER_EH_FRAME " walks ", image->shown);
		eh_frame_share(&result, out);
		fputc('\n', out);
	}
	return !result.n_broken ||
	       err_set(err, ERR_MALFORMED, "%u rule%s of " READER_EH_FRAME " broken; %s",
		   result.n_broken, num_s(result.n_broken),
		   result.lacks_hdr ? "link with --eh-frame-hdr, or convert"
				    : "eh2sframe report says what SFrame covers");
}

void report_eh_frame(const struct report *report, FILE *out)
{
	const struct lint_eh_frame *result = &report->details.eh_frame;
	const uint64_t walked = result->dropped ? 0 : result->walked.bytes,
		       covered =
			   coverage_share(&report->coverage, COVERAGE_OF_TEXT).covered,
		       differ = covered > walked ? covered - walked : walked - covered;

	if (!result->all.functions)
		return;
	fputs("  " READER_EH_FRAME " ", out);
	eh_frame_share(result, out);
	fprintf(out, "%s\n                 .sframe v%u covers %" PRIu64 " %s byte%s",
	    result->lacks_hdr ? "; only .eh_frame_hdr is missing" : "", report->version,
	    differ, covered < walked ? "fewer" : "more", num_s(differ));
	if (report->coverage.n_calls)
		fprintf(out, "; .eh_frame has no row behind %zu last call%s",
		    report->coverage.n_calls, num_s(report->coverage.n_calls));
	fputc('\n', out);
}

static json_t *eh_frame_sum(struct lint_eh_sum sum)
{
	return json_pack("{sI sI}", "functions", report_json_count(sum.functions),
	    "bytes", report_json_count(sum.bytes));
}

json_t *report_eh_frame_json(const struct report *report)
{
	const struct lint_eh_frame *result = &report->details.eh_frame;
	json_t *broken = json_object();

	for (int i = 0; broken && i < LINT_EH_KEPT; i++)
		if (result->rules[i].times)
			broken = report_json_with(broken, lint_eh_words[i].name,
			    json_pack("{sb sI sI}", "drops_module",
				lint_eh_words[i].severity == LINT_EH_DROPS, "times",
				report_json_count(result->rules[i].times), "bytes",
				report_json_count(result->rules[i].bytes)));
	return json_pack("{so so so so sb sb sI so}", "all", eh_frame_sum(result->all),
	    "walked", eh_frame_sum(result->walked), "ends_stack",
	    eh_frame_sum(result->severe[LINT_EH_ENDS]), "drops_module",
	    eh_frame_sum(result->severe[LINT_EH_DROPS]), "dropped", result->dropped,
	    "lacks_only_hdr", result->lacks_hdr, "last_calls",
	    report_json_count(report->coverage.n_calls), "broken", broken);
}
