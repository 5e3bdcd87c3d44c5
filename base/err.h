/* SPDX-License-Identifier: MIT */
/*
 * An error is a kind, which decides what the command returns, and one line of text, which is made
 * where the fault is seen (section, offset, values in hex) and only prefixed on the way
 * up.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdbool.h>

#include "base/attr.h"

enum err_kind {
	ERR_NONE = 0,
	ERR_USAGE,	 /* the command line makes no sense */
	ERR_IO,		 /* the operating system refused */
	ERR_NOMEM,	 /* out of memory */
	ERR_UNSUPPORTED, /* well formed, but nothing this program handles */
	ERR_MALFORMED,	 /* the input contradicts its own format */
	ERR_LIMIT,	 /* beyond a stated bound of the format or of this program */
	ERR_PROOF,	 /* the section written does not say what the CFI says */
	ERR_COVERAGE,	 /* less code covered than was demanded */
	ERR_NOTHING,	 /* nothing to do */
	ERR_INTERNAL,	 /* a bug */
};

/* A value, not a heap object: zero-initialise it, pass it down, read it when a call was
 * false. */
struct err {
	enum err_kind kind;
	char text[512];
};

/* Sets kind and text; always returns false, so that "return err_set(...)" reads as one
 * step. */
bool err_set(struct err *err, enum err_kind kind, const char *fmt, ...) ATTR_PRINTF(3, 4);

/* As err_set with ERR_IO (for ENOMEM with ERR_NOMEM), and strerror(errno) appended. Keeps
 * errno. */
bool err_set_errno(struct err *err, const char *fmt, ...) ATTR_PRINTF(2, 3);

/* As err_set with ERR_NOMEM and the customary words. */
bool err_set_nomem(struct err *err);

/* Puts between and text behind the text; always returns false. */
bool err_append(struct err *err, const char *between, const char *text);

/* Puts "prefix: " before the text; always returns false. */
bool err_prefix(struct err *err, const char *fmt, ...) ATTR_PRINTF(2, 3);

#endif
