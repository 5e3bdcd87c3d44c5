/* SPDX-License-Identifier: MIT */
/*
 * The page: its own lines, and between them the report as data. A script of the page
 * shows the data, and its policy lets a browser run and fetch nothing else. In the data
 * no name can end the element that it is in, for the characters of markup are escaped.
 */
#include <stdlib.h>
#include <string.h>

#include "cmd/report/report.h"

/* Gaps, faults and the like, over all files. A browser reads this much in a moment. */
enum { HTML_ENTRIES = 20000 };
/* Names and rules are cut where the files have more bytes than this: demangled ones can have thousands. The JSON
 * report has all of them. */
enum { HTML_BYTES = 10 << 20, HTML_TEXT = 200 };

/* Beginnings of what is escaped: characters of markup, and the two that JSON has in text
 * and older scripts have not: U+2028 and U+2029, which begin with this byte. */
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
static int html_put(const char *text, FILE *out)
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
	return 0;
}

static void html_lines(const char *const *lines, FILE *out)
{
	for (; *lines; lines++)
		fputs(*lines, out);
}

/* The largest first. */
static int html_order(const void *a, const void *b)
{
	const json_int_t x = *(const json_int_t *)a, y = *(const json_int_t *)b;

	return (x < y) - (x > y);
}

/* Finds the size of code that an entry needs to be one of so many, and how many of just that size
 * are among them. False: memory ran out. */
static bool html_least(const json_t *file, const struct report_entry *of, size_t most,
    json_int_t *least, size_t *ties)
{
	json_int_t *sizes = calloc(of->n_listed, sizeof(*sizes));
	json_t *lists[REPORT_MAX_LISTS], *entry;
	size_t n = 0, at;

	if (!sizes)
		return false;
	for (size_t i = report_file_lists(file, lists); i-- > 0;)
		json_array_foreach(lists[i], at, entry) sizes[n++] =
		    json_integer_value(json_object_get(entry, "size"));
	qsort(sizes, n, sizeof(*sizes), html_order);
	*least = most ? sizes[most - 1] : INT64_MAX;
	for (*ties = 0; *ties < most && sizes[most - 1 - *ties] == *least;)
		++*ties;
	free(sizes);
	return true;
}

/* Takes away the entries of least code, and adds "page_left_out", which counts them. False: memory
 * ran out. */
static bool html_trim(json_t *file, const struct report_entry *of, size_t most)
{
	json_t *lists[REPORT_MAX_LISTS], *entry;
	const size_t n = report_file_lists(file, lists);
	json_int_t least, size, bytes = 0;
	size_t ties, at;

	if (!html_least(file, of, most, &least, &ties))
		return false;
	for (size_t i = 0; i < n; i++) {
		json_t *kept = json_array();
		bool ok = kept;

		json_array_foreach(lists[i], at, entry)
		{
			size = json_integer_value(json_object_get(entry, "size"));
			if (size < least || (size == least && !ties)) {
				report_sum(&bytes, size);
				continue;
			}
			ties -= size == least;
			ok = ok && json_array_append(kept, entry) == 0;
		}
		json_array_clear(lists[i]);
		ok = ok && json_array_extend(lists[i], kept) == 0;
		json_decref(kept);
		if (!ok)
			return false;
	}
	return json_object_set_new(file, "page_left_out",
		   json_pack("{sI sI}", "entries", (json_int_t)(of->n_listed - most),
		       "bytes", bytes)) == 0;
}

/* Cuts one text of an entry. False: memory ran out. */
static bool html_cut_text(json_t *value)
{
	const char *text = json_string_value(value);
	char cut[HTML_TEXT + sizeof("\xe2\x80\xa6")];
	size_t n = HTML_TEXT;

	if (!text || json_string_length(value) <= n)
		return true;
	while ((text[n] & 0xc0) == 0x80)
		n--;
	memcpy(cut, text, n);
	memcpy(cut + n, "\xe2\x80\xa6", 3);
	return json_string_setn(value, cut, n + 3) == 0;
}

static bool html_cut(const json_t *file)
{
	json_t *lists[REPORT_MAX_LISTS], *entry, *value;
	const char *name;
	size_t at;
	bool ok = true;

	for (size_t i = report_file_lists(file, lists); i-- > 0;)
		json_array_foreach(lists[i], at, entry) json_object_foreach(
		    entry, name, value) ok = ok && html_cut_text(value);
	return ok;
}

/* Members that the page does not show. */
static const char *const html_unseen[] = {"unmatched", "other_sources", "not_by_cfi"};

/* Tells if a file has none of them, and no text to cut, because most need not be parsed. */
static bool html_is_plain(const char *text, bool cut)
{
	char quoted[32];

	for (size_t i = 0; i < sizeof(html_unseen) / sizeof(*html_unseen); i++) {
		snprintf(quoted, sizeof(quoted), "\"%s\":", html_unseen[i]);
		if (strstr(text, quoted))
			return false;
	}
	for (const char *end; cut && (end = strchr(text, '"')); text = end + 1)
		if (end - text > HTML_TEXT)
			return false;
	return true;
}

/* Makes a file what the page has of it, with that many entries. False: memory ran out. */
static bool html_file(struct report_entry *entry, size_t most, bool cut)
{
	const bool trim = entry->n_listed > most;
	char *shorter = NULL;
	json_t *file;

	if (!trim && html_is_plain(entry->text, cut))
		return true;
	file = json_loads(entry->text, 0, NULL);
	for (size_t i = 0; file && i < sizeof(html_unseen) / sizeof(*html_unseen); i++)
		json_object_del(file, html_unseen[i]);
	if (file && (!trim || html_trim(file, entry, most)) && (!cut || html_cut(file)))
		shorter = report_value_dump(file);
	json_decref(file);
	if (!shorter)
		return false;
	free(entry->text);
	entry->text = shorter;
	return true;
}

/* Finds how many entries a file may have, so that all fit the page. False: memory ran out. */
static bool html_share(const struct report_document *report, size_t *share)
{
	json_int_t *counts = calloc(report->n + 1, sizeof(*counts));
	json_int_t room = HTML_ENTRIES;

	if (!counts)
		return false;
	for (size_t i = 0; i < report->n; i++)
		counts[i] = (json_int_t)report->list[i].n_listed;
	qsort(counts, report->n, sizeof(*counts), html_order);
	*share = SIZE_MAX;
	/* Room that small files leave goes to the others. */
	for (size_t left = report->n; left && *share == SIZE_MAX; left--) {
		const json_int_t each = room / (json_int_t)left;

		if (counts[left - 1] > each)
			*share = (size_t)each;
		room -= counts[left - 1];
	}
	free(counts);
	return true;
}

bool report_html_page(struct report_document *report, FILE *out)
{
	size_t share, bytes = 0;
	bool ok = html_share(report, &share);

	for (size_t i = 0; i < report->n; i++)
		bytes += strlen(report->list[i].text);
	for (size_t i = 0; ok && i < report->n; i++)
		ok = html_file(&report->list[i], share, bytes > HTML_BYTES);
	html_lines(report_page_head, out);
	ok = ok && report_write_all(report, html_put, out);
	html_lines(report_page_tail, out);
	return ok;
}
