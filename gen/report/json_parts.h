/* SPDX-License-Identifier: MIT */
/*
 * Values that the objects of all files share, and how they are written. A value is the
 * caller's, NULL when memory ran out.
 */
#ifndef GEN_REPORT_JSON_PARTS_H
#define GEN_REPORT_JSON_PARTS_H

#include <jansson.h>

#include "base/json_utf8.h"
#include "gen/sources/symbols_read.h"
#include "gen/report/json.h"

/* Add a member, the members of another object, or an entry, and return the whole; NULL, which ends loops, when one of both
 * was, or memory ran out. All take both. */
json_t *report_json_with(json_t *object, const char *name, json_t *value);
json_t *report_json_joined(json_t *object, json_t *more);
json_t *report_json_listed(json_t *array, json_t *entry);
/* Returns a number of bytes or things. Damaged CFI can claim more than a JSON number holds: 63 bits then. */
json_int_t report_json_count(uint64_t count);
/* Returns an address as hexadecimal text, because JSON readers keep only 53 bits of a number. */
json_t *report_json_address(uint64_t addr);
/* As report_json_address; in an object, the section and the offset there. */
json_t *report_json_place(const struct image *image, uint64_t addr);
/* Adds to object the name of the function at pc, if it has one, and its symbol if that
 * differs. Takes object, and returns it. */
json_t *report_json_named(json_t *object, const struct symbols *symbols, uint64_t pc);
json_t *report_json_build_id(const struct image_build_id *id);

/* Writes a piece of text. False, as of the functions below: see report_json_ended. */
ATTR_MUST_CHECK bool report_json_put(struct report_json *json, const char *piece);
/* Writes a value, and takes it. */
ATTR_MUST_CHECK bool report_json_value(struct report_json *json, json_t *value);
/* Writes another member, on a line of its own; takes the value. */
ATTR_MUST_CHECK bool report_json_member(
    struct report_json *json, const char *name, json_t *value);

typedef json_t *report_json_entry_fn(const void *context, size_t i);

/* Writes a member with n entries, one per line. */
ATTR_MUST_CHECK bool report_json_list(struct report_json *json, const void *context,
    const char *name, size_t n, report_json_entry_fn *entry);
/* Yield of each source of rows, and the functions that have theirs from others than .eh_frame. */
ATTR_MUST_CHECK bool report_json_sources(
    struct report_json *json, const struct report *report);
/* Writes the beginning of a file's object, which all have. */
ATTR_MUST_CHECK bool report_json_file(
    struct report_json *json, const char *path, int status);
/* Returns ok; else sets err to ERR_IO or ERR_NOMEM. */
ATTR_MUST_CHECK bool report_json_ended(
    struct report_json *json, bool ok, struct err *err);

#endif
