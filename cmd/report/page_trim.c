/* SPDX-License-Identifier: MIT */
/* What a file may take of a page of many files. */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "cmd/report/page.h"

/* Names longer than this are cut when the page becomes too large. */
enum { TRIM_NAME = 200 };
/* What a file keeps besides its entries, however many files there are. */
enum { TRIM_REST = 3072 };

static const char *const trim_lists[] = {"gaps", "without_cfi", "faults", "doubts"};
enum { TRIM_N_LISTS = 4 };

struct trim_entry {
	size_t list, at;
	json_int_t code; /* bytes of code */
	size_t text;	 /* bytes in the page */
	bool kept;
};

static int trim_size_order(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return (x > y) - (x < y);
}

size_t report_page_share(size_t *sizes, size_t n, size_t room)
{
	if (n)
		qsort(sizes, n, sizeof(*sizes), trim_size_order);
	/* What small files leave is for the others. */
	for (size_t i = 0; i < n; i++) {
		if (sizes[i] > room / (n - i))
			return room / (n - i);
		room -= sizes[i];
	}
	return SIZE_MAX;
}

static const char *const trim_unseen[] = {"costs", "text", "unmatched", "other_sources"};
enum { TRIM_N_UNSEEN = 4 };

bool report_page_is_plain(const char *text)
{
	/* A name may be text elsewhere, too; then the file is only parsed in vain. */
	for (size_t i = 0; i < TRIM_N_UNSEEN; i++)
		if (strstr(text, trim_unseen[i]))
			return false;
	return true;
}

void report_page_strip(json_t *file)
{
	for (size_t i = 0; i < TRIM_N_UNSEEN; i++)
		json_object_del(file, trim_unseen[i]);
}

/* 0: memory ran out. */
static size_t trim_text_size(const json_t *value)
{
	char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
	size_t size = text ? report_page_size(text) : 0;

	free(text);
	return size;
}

/* Cuts a member that is long text, between two characters. */
static bool trim_cut(json_t *entry, const char *member)
{
	const char *text = json_string_value(json_object_get(entry, member));
	char cut[TRIM_NAME + sizeof("\xe2\x80\xa6")];
	size_t end = TRIM_NAME;

	if (!text || strlen(text) <= TRIM_NAME)
		return true;
	while (end && ((unsigned char)text[end] & 0xc0) == 0x80)
		end--;
	memcpy(cut, text, end);
	strcpy(cut + end, "\xe2\x80\xa6");
	return json_object_set_new(entry, member, json_string(cut)) == 0;
}

static bool trim_names(json_t *entry)
{
	if (json_object_get(entry, "name"))
		json_object_del(entry, "symbol");
	return !json_is_object(entry) ||
	       (trim_cut(entry, "name") && trim_cut(entry, "symbol") &&
		   trim_cut(entry, "rule"));
}

/* The most code first; else as the file has them. */
static int trim_code_order(const void *a, const void *b)
{
	const struct trim_entry *x = a, *y = b;

	if (x->code != y->code)
		return x->code < y->code ? 1 : -1;
	if (x->list != y->list)
		return x->list < y->list ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

static int trim_place_order(const void *a, const void *b)
{
	const struct trim_entry *x = a, *y = b;

	if (x->list != y->list)
		return x->list < y->list ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

/* Fills in entries, with shorter names. */
static bool trim_measure(json_t *const *lists, struct trim_entry *entries)
{
	json_t *one;
	size_t at;

	for (size_t list = 0; list < TRIM_N_LISTS; list++) {
		json_array_foreach(lists[list], at, one)
		{
			if (!trim_names(one))
				return false;
			*entries = (struct trim_entry){.list = list,
			    .at = at,
			    .code = json_integer_value(json_object_get(one, "size")),
			    .text = trim_text_size(one) + 1};
			if (entries++->text == 1)
				return false;
		}
	}
	return true;
}

/* Marks the entries that are kept: those of most code, up to the first without room. Adds
 * the count of the others to file. */
static bool trim_choose(json_t *file, struct trim_entry *entries, size_t n, size_t room)
{
	json_int_t left = 0, bytes = 0;

	if (n)
		qsort(entries, n, sizeof(*entries), trim_code_order);
	for (size_t i = 0; i < n; i++) {
		entries[i].kept = !left && entries[i].text <= room;
		if (entries[i].kept) {
			room -= entries[i].text;
			continue;
		}
		left++;
		/* Another program may have written the counts. */
		if (__builtin_add_overflow(bytes, entries[i].code, &bytes))
			bytes = 0;
	}
	if (n)
		qsort(entries, n, sizeof(*entries), trim_place_order);
	return !left || json_object_set_new(file, "page_left_out",
			    json_pack("{sI sI}", "entries", left, "bytes", bytes)) == 0;
}

/* Puts the entries that are kept back into file. */
static bool trim_put_back(
    json_t *file, json_t *const *lists, const struct trim_entry *entries, size_t n)
{
	json_t *kept[TRIM_N_LISTS];
	bool ok = true;

	for (size_t i = 0; i < TRIM_N_LISTS; i++) {
		kept[i] = json_array();
		ok = ok && kept[i];
	}
	for (size_t i = 0; ok && i < n; i++) {
		const struct trim_entry *one = &entries[i];

		if (one->kept)
			ok = json_array_append(kept[one->list],
				 json_array_get(lists[one->list], one->at)) == 0;
	}
	for (size_t i = 0; i < TRIM_N_LISTS; i++) {
		if (ok && lists[i])
			ok = json_object_set(file, trim_lists[i], kept[i]) == 0;
		json_decref(kept[i]);
	}
	return ok;
}

/* The size of all but the lists. Where that is too much the map has to go. */
static size_t trim_rest(json_t *file, size_t most)
{
	static const char *const large[] = {
	    "source_ranges", "sections", "links", "producers", "records"};
	size_t size = trim_text_size(file);

	for (size_t i = 0; size > most && i < sizeof(large) / sizeof(large[0]); i++) {
		if (json_object_del(file, large[i]) == 0)
			size = trim_text_size(file);
	}
	return size;
}

bool report_page_trim(json_t *file, size_t share)
{
	json_t *lists[TRIM_N_LISTS];
	struct trim_entry *entries;
	size_t n = 0, rest;
	bool ok;

	for (size_t i = 0; i < TRIM_N_LISTS; i++) {
		lists[i] = json_incref(json_object_get(file, trim_lists[i]));
		n += json_array_size(lists[i]);
		json_object_del(file, trim_lists[i]);
	}
	rest = trim_rest(file, share > TRIM_REST ? share : TRIM_REST);
	entries = calloc(n + 1, sizeof(*entries));
	ok = rest && entries && trim_measure(lists, entries) &&
	     trim_choose(file, entries, n, share > rest ? share - rest : 0) &&
	     trim_put_back(file, lists, entries, n);
	free(entries);
	for (size_t i = 0; i < TRIM_N_LISTS; i++)
		json_decref(lists[i]);
	return ok;
}
