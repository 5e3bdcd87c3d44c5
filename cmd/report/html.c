/* SPDX-License-Identifier: MIT */
/*
 * The page: its own lines, and between them the report as data. A script of the page
 * shows the data, and its policy lets a browser run and fetch nothing else. In the data
 * no name can end the element that it is in, for the characters of markup are escaped.
 */
#include <stdlib.h>
#include <string.h>

#include "cmd/report/page.h"

/* Also the two characters that JSON has in text and older scripts have not: U+2028 and
 * U+2029, which begin with this byte. */
static const char html_special[] = "<>&\xe2";

/* The escape for what stands at text; NULL for none. *length is how much it replaces. */
static const char *html_escape(const char *text, size_t *length)
{
	*length = 1;
	switch (*text) {
	case '<':
		return "\\u003c";
	case '>':
		return "\\u003e";
	case '&':
		return "\\u0026";
	default:
		break;
	}
	if (strncmp(text, "\xe2\x80\xa8", 3) != 0 &&
	    strncmp(text, "\xe2\x80\xa9", 3) != 0)
		return NULL;
	*length = 3;
	return text[2] == '\xa8' ? "\\u2028" : "\\u2029";
}

/* Writes JSON so that HTML reads it as the text of one element. */
static void html_json(const char *text, FILE *out)
{
	size_t length;

	while (*text) {
		size_t plain = strcspn(text, html_special);
		const char *escape;

		fwrite(text, 1, plain, out);
		text += plain;
		if (!*text)
			break;
		escape = html_escape(text, &length);
		if (escape)
			fputs(escape, out);
		else
			fwrite(text, 1, length, out);
		text += length;
	}
}

size_t report_page_size(const char *text)
{
	size_t size = 0, length;

	while (*text) {
		size_t plain = strcspn(text, html_special);
		const char *escape =
		    text[plain] ? html_escape(text + plain, &length) : NULL;

		size += plain;
		text += plain;
		if (!*text)
			break;
		size += escape ? strlen(escape) : length;
		text += length;
	}
	return size;
}

static void html_lines(const char *const *lines, FILE *out)
{
	for (; *lines; lines++)
		fputs(*lines, out);
}

/* Parse the objects one at a time: as text they take less memory. */
static char *html_shorter(const char *text, bool trim, size_t share)
{
	json_t *file = json_loads(text, 0, NULL);
	char *shorter = NULL;

	report_page_strip(file);
	if (file && (!trim || report_page_trim(file, share)))
		shorter = report_file_dump(file);
	json_decref(file);
	return shorter;
}

/* What the page has of a file, which the caller frees. NULL: memory ran out. */
static char *html_file(const char *text, size_t share)
{
	char *stripped =
	    report_page_is_plain(text) ? strdup(text) : html_shorter(text, false, 0);
	char *trimmed;

	if (!stripped || report_page_size(stripped) <= share)
		return stripped;
	trimmed = html_shorter(stripped, true, share);
	free(stripped);
	return trimmed;
}

/* SIZE_MAX where all files fit the page. 0: memory ran out. */
static size_t html_share(const struct report_document *report)
{
	size_t *sizes = calloc(report->n + 1, sizeof(*sizes));
	bool ok = sizes != NULL;
	size_t share = 0;

	for (size_t i = 0; ok && i < report->n; i++) {
		char *text = html_file(report->list[i].text, SIZE_MAX);

		ok = text != NULL;
		if (ok)
			sizes[i] = report_page_size(text);
		free(text);
	}
	if (ok)
		share = report_page_share(sizes, report->n, REPORT_PAGE_ROOM);
	free(sizes);
	return share;
}

static bool html_files(const struct report_document *report, FILE *out)
{
	size_t share = html_share(report);

	for (size_t i = 0; share && i < report->n; i++) {
		char *text = html_file(report->list[i].text, share);

		if (!text)
			return false;
		fputs(i ? ",\n" : "\n", out);
		html_json(text, out);
		free(text);
	}
	return share != 0;
}

bool report_html_page(const struct report_document *report, FILE *out)
{
	json_t *summary = report_summary_object(report);
	char *text = report_file_dump(summary);
	bool ok = text != NULL;

	json_decref(summary);
	html_lines(report_page_head, out);
	if (ok) {
		fprintf(out,
		    "{\"tool\":\"eh2sframe\",\"version\":\"%s\",\"schema\":%d,"
		    "\"summary\":",
		    eh2sframe_version(), REPORT_SCHEMA);
		html_json(text, out);
		fputs(",\"files\":[", out);
		ok = html_files(report, out);
		fputs("]}", out);
	}
	free(text);
	html_lines(report_page_tail, out);
	return ok;
}
