/* SPDX-License-Identifier: MIT */
/* Values that the objects of all files share, and how they are written. */
#include "gen/report/json_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "gen/elf/object/object.h"
#include "base/names/demangle.h"

/* The number of digits makes a document that is read and written again the same. */
#define JSON_FLAGS (JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(9))

/* Returns the array or object after an addition. */
static json_t *json_kept(json_t *whole, int status)
{
	if (status == 0)
		return whole;
	json_decref(whole);
	return NULL;
}

json_t *report_json_with(json_t *object, const char *name, json_t *value)
{
	return json_kept(object, json_object_set_new(object, name, value));
}

json_t *report_json_joined(json_t *object, json_t *more)
{
	return json_kept(object, json_object_update_new(object, more));
}

json_t *report_json_listed(json_t *array, json_t *entry)
{
	return json_kept(array, json_array_append_new(array, entry));
}

json_int_t report_json_count(uint64_t count)
{
	return count < INT64_MAX ? (json_int_t)count : INT64_MAX;
}

json_t *report_json_address(uint64_t addr)
{
	return json_sprintf("0x%llx", (unsigned long long)addr);
}

json_t *report_json_place(const struct image *image, uint64_t addr)
{
	char where[OBJECT_WHERE];

	return json_utf8(object_where(image, addr, where));
}

/* Names stand in each gap, so that a long one would add up. */
enum { JSON_MAX_NAME = 4096 };

static json_t *json_name(const char *name)
{
	char *cut = strndup(name, JSON_MAX_NAME);
	json_t *value = cut ? json_utf8(cut) : NULL;

	free(cut);
	return value;
}

json_t *report_json_named(json_t *object, const struct symbols *symbols, uint64_t pc)
{
	const struct symbol *symbol = symbols_find(symbols, pc);
	char *name = symbol ? symbol_demangle(symbol->name) : NULL;

	/* Without its name a function would be another one to who compares reports. */
	if (symbol && !name) {
		json_decref(object);
		return NULL;
	}
	if (object && name)
		object = report_json_with(object, "name", json_name(name));
	if (object && name && strcmp(name, symbol->name) != 0)
		object = report_json_with(object, "symbol", json_name(symbol->name));
	free(name);
	return object;
}

static int put_plain(const char *piece, size_t size, void *context)
{
	struct report_json *json = context;

	json->failed = json->failed || json->write(piece, size, json->context) != 0;
	return json->failed ? -1 : 0;
}

/* As jansson calls it. */
static int put_piece(const char *piece, size_t size, void *context)
{
	return plain_json(piece, size, put_plain, context);
}

bool report_json_put(struct report_json *json, const char *piece)
{
	return put_piece(piece, strlen(piece), json) == 0;
}

bool report_json_value(struct report_json *json, json_t *value)
{
	bool ok = value && json_dump_callback(value, put_piece, json, JSON_FLAGS) == 0;

	json_decref(value);
	return ok;
}

bool report_json_member(struct report_json *json, const char *name, json_t *value)
{
	if (report_json_put(json, ",\n   \"") && report_json_put(json, name) &&
	    report_json_put(json, "\": "))
		return report_json_value(json, value);
	json_decref(value);
	return false;
}

bool report_json_list(struct report_json *json, const void *context, const char *name,
    size_t n, report_json_entry_fn *entry)
{
	bool ok = report_json_put(json, ",\n   \"") && report_json_put(json, name) &&
		  report_json_put(json, "\": [");

	for (size_t i = 0; ok && i < n; i++)
		ok = report_json_put(json, i ? ",\n    " : "\n    ") &&
		     report_json_value(json, entry(context, i));
	return ok && report_json_put(json, "]");
}

bool report_json_ended(struct report_json *json, bool ok, struct err *err)
{
	if (ok)
		return true;
	return json->failed ? err_set(err, ERR_IO, "cannot write the report")
			    : err_set_nomem(err);
}

bool report_json_file(struct report_json *json, const char *path, int status)
{
	return report_json_put(json, "{\n   \"path\": ") &&
	       report_json_value(json, json_utf8(path)) &&
	       report_json_member(json, "status", json_integer(status));
}

json_t *report_json_build_id(const struct image_build_id *id)
{
	static const char digits[] = "0123456789abcdef";
	char hex[2 * 64 + 1];
	size_t n = id->size < 64 ? id->size : 64;

	for (size_t i = 0; i < n; i++) {
		hex[2 * i] = digits[id->bytes[i] >> 4];
		hex[2 * i + 1] = digits[id->bytes[i] & 15];
	}
	hex[2 * n] = 0;
	return json_string(hex);
}
