/* SPDX-License-Identifier: MIT */
/*
 * The difference of two reports as a page that needs nothing else. Text from files goes
 * through diff_text. The page's own policy keeps a browser from fetching anything.
 */
#include <string.h>

#include "base/num.h"
#include "cmd/report/diff.h"

static const char diff_head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "style-src 'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n"
    "<title>SFrame coverage: what changed</title>\n<style>\n"
    ":root { color-scheme: light dark; }\n"
    "body { font-family: sans-serif; margin: 1em auto; max-width: 70em; padding: 0 1em; "
    "}\n"
    "h2 { font-size: 1em; margin-bottom: 0; overflow-wrap: anywhere; }\n"
    "p { margin: .2em 0; }\n"
    "ul { margin: .2em 0; }\n"
    "li { overflow-wrap: anywhere; }\n"
    ".worse { color: #a00; }\n"
    ".better { color: #060; }\n"
    "@media (prefers-color-scheme: dark) { .worse { color: #f88; } .better { color: "
    "#8d8; } "
    "}\n"
    "</style>\n</head>\n<body>\n<h1>SFrame coverage: what changed</h1>\n";

/* Text of reports is UTF-8, as JSON is. Control characters have no place in a page. */
static void diff_text(const char *text, FILE *out)
{
	for (; *text; text++) {
		const unsigned char c = (unsigned char)text[0],
				    next = (unsigned char)text[1];
		/* U+0080 to U+009F are two bytes. Paths of the command line can end anywhere. */
		const bool wide = c == 0xc2 && next >= 0x80 && next < 0xa0;

		if (strchr("&<>\"'", c))
			fprintf(out, "&#%d;", c);
		else if (c < ' ' || c == 0x7f || wide)
			fputs("&#xfffd;", out);
		else
			putc(c, out);
		text += wide;
	}
}

static void diff_page_list(
    const struct report_diff_file *file, const char *name, FILE *out)
{
	const json_t *list = json_object_get(file->changes, name), *change;
	size_t i;

	if (!json_array_size(list))
		return;
	fprintf(out, "<ul class=\"%s\">\n", name);
	json_array_foreach(list, i, change)
	{
		const char *reason = json_string_value(json_object_get(change, "reason"));

		fputs("<li>", out);
		diff_text(json_string_value(json_object_get(change, "what")), out);
		fputs(": <code>", out);
		diff_text(json_string_value(json_object_get(change, "name")), out);
		fprintf(out, "</code>, %s", *reason ? "" : "no CFI");
		diff_text(reason, out);
		fprintf(out, ", %" JSON_INTEGER_FORMAT " bytes</li>\n",
		    json_integer_value(json_object_get(change, "bytes")));
	}
	fputs("</ul>\n", out);
}

static void diff_page_side(const struct report_state *state, FILE *out)
{
	char of_all[REPORT_PERCENT_SIZE];

	if (!state)
		fputs("not there", out);
	else if (!state->counted)
		fputs(state->has_faults ? "checked against its code"
					: "failed or passed over",
		    out);
	else
		fprintf(out,
		    "%s of executable code, %" JSON_INTEGER_FORMAT " bytes .sframe",
		    report_code_percent(&state->code, true, of_all), state->sframe);
}

void report_diff_page(const struct report_diff *diff, FILE *out)
{
	fputs(diff_head, out);
	fputs("<p>From <code>", out);
	diff_text(diff->old_path, out);
	fputs("</code> to <code>", out);
	diff_text(diff->now_path, out);
	fprintf(out,
	    "</code>: %zu file%s changed, %zu did not.</p>\n"
	    "<p><span class=\"worse\">%zu function%s worse off</span>, <span "
	    "class=\"better\">%zu better off</span>.</p>\n",
	    diff->n, num_s(diff->n), diff->same, diff->worse,
	    diff->worse == 1 ? " is" : "s are", diff->better);
	for (size_t i = 0; i < diff->n; i++) {
		const struct report_diff_file *file = &diff->list[i];

		fputs("<h2>", out);
		diff_text(file->now ? file->now->path : file->old->path, out);
		fputs("</h2>\n<p>Before: ", out);
		diff_page_side(file->old, out);
		fputs(".</p>\n<p>Now: ", out);
		diff_page_side(file->now, out);
		fputs(".</p>\n", out);
		diff_page_list(file, "worse", out);
		diff_page_list(file, "better", out);
	}
	fprintf(out, "<p>eh2sframe %s</p>\n</body>\n</html>\n", eh2sframe_version());
}
