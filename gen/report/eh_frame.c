/* SPDX-License-Identifier: MIT */
#include "gen/report/eh_frame.h"

#include <inttypes.h>

#include "base/num.h"
#include "base/percent.h"
#include "gen/report/json_parts.h"

static void eh_frame_rule(const char *path, const struct lint_eh_frame *result,
    enum lint_eh_rule rule, FILE *out)
{
	const uint64_t times = result->rules[rule].times,
		       bytes = result->rules[rule].bytes;

	if (!times)
		return;
	fprintf(out, "%s: " READER_EH_FRAME ": %s: broken at %s+0x%" PRIx64, path,
	    lint_eh_rule_name(rule), lint_eh_rule_section(rule), result->rules[rule].off);
	if (result->rules[rule].pc)
		fprintf(out, ", code at 0x%" PRIx64, result->rules[rule].pc);
	if (times > 1)
		fprintf(out, ", and at %" PRIu64 " more place%s", times - 1,
		    num_s(times - 1));
	fprintf(out, "; %s", lint_eh_severity_text(lint_eh_rule_severity(rule)));
	if (bytes)
		fprintf(out, " in %" PRIu64 " byte%s", bytes, num_s(bytes));
	fprintf(out, " (%s)\n", lint_eh_rule_text(rule));
}

/* None of it, once the kernel has forgotten the file. */
static struct lint_eh_sum eh_frame_walked(const struct lint_eh_frame *result)
{
	return result->dropped ? (struct lint_eh_sum){0} : result->walked;
}

/* "98.76% of its 1234 bytes with CFI, 12 of 13 functions". */
static void eh_frame_share(const struct lint_eh_frame *result, FILE *out)
{
	const struct lint_eh_sum walked = eh_frame_walked(result);
	char text[PERCENT_SIZE];

	fprintf(out,
	    "%s of %" PRIu64 " byte%s with CFI, %" PRIu64 " of %" PRIu64 " function%s",
	    percent_text(walked.bytes, result->all.bytes, "%", text), result->all.bytes,
	    num_s(result->all.bytes), walked.functions, result->all.functions,
	    num_s(result->all.functions));
	if (result->dropped)
		fprintf(out, " (%s but for what drops the module)",
		    percent_text(result->walked.bytes, result->all.bytes, "%", text));
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
	for (int i = 0; i < LINT_EH_N_RULES; i++)
		eh_frame_rule(image->shown, &result, (enum lint_eh_rule)i, out);
	if (verbosity >= 0) {
		fprintf(out, "%s: " READER_EH_FRAME " walks ", image->shown);
		eh_frame_share(&result, out);
		fputc('\n', out);
	}
	if (!result.n_broken)
		return true;
	return err_set(err, ERR_MALFORMED, "%u rule%s of " READER_EH_FRAME " broken; %s",
	    result.n_broken, num_s(result.n_broken),
	    result.lacks_hdr
		? "link with --eh-frame-hdr, or convert"
		: "eh2sframe report says what a conversion covers beside it");
}

void report_eh_frame(const struct report *report, FILE *out)
{
	const struct lint_eh_frame *result = &report->details.eh_frame;

	if (!result->all.functions)
		return;
	fputs("  " READER_EH_FRAME " ", out);
	eh_frame_share(result, out);
	if (result->lacks_hdr)
		fputs("; only .eh_frame_hdr is missing", out);
	if (report->coverage.n_calls)
		fprintf(out, "; no row behind %zu last call%s", report->coverage.n_calls,
		    num_s(report->coverage.n_calls));
	fputc('\n', out);
}

static json_t *eh_frame_sum(const struct lint_eh_sum *sum)
{
	return json_pack("{sI sI}", "functions", report_json_count(sum->functions),
	    "bytes", report_json_count(sum->bytes));
}

static json_t *eh_frame_rules(const struct lint_eh_frame *result)
{
	json_t *object = json_object();

	for (int i = 0; object && i < LINT_EH_N_RULES; i++) {
		const enum lint_eh_rule rule = (enum lint_eh_rule)i;

		if (!result->rules[i].times)
			continue;
		object = report_json_kept(
		    object, json_object_set_new(object, lint_eh_rule_name(rule),
				json_pack("{sb sI sI ss so so}", "drops_module",
				    lint_eh_rule_severity(rule) == LINT_EH_DROPS, "times",
				    report_json_count(result->rules[i].times), "bytes",
				    report_json_count(result->rules[i].bytes), "section",
				    lint_eh_rule_section(rule), "offset",
				    report_json_address(result->rules[i].off), "code",
				    report_json_address(result->rules[i].pc))));
	}
	return object;
}

json_t *report_eh_frame_json(const struct report *report)
{
	const struct lint_eh_frame *result = &report->details.eh_frame;

	return json_pack("{so so so so sb sb sI so}", "all", eh_frame_sum(&result->all),
	    "walked", eh_frame_sum(&result->walked), "ends_stack",
	    eh_frame_sum(&result->severe[LINT_EH_ENDS]), "drops_module",
	    eh_frame_sum(&result->severe[LINT_EH_DROPS]), "dropped", result->dropped,
	    "lacks_only_hdr", result->lacks_hdr, "last_calls",
	    report_json_count(report->coverage.n_calls), "broken",
	    eh_frame_rules(result));
}
