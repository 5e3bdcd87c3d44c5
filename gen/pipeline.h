/* SPDX-License-Identifier: MIT */
/* The whole line for one file; gen/pipeline.c is the file to read first. */
#ifndef GEN_PIPELINE_H
#define GEN_PIPELINE_H

#include <stdio.h>

#include "base/attr.h"
#include "base/err.h"
#include "gen/options.h"
#include "gen/report_json.h"

/*
 * Converts in to out (the section into a copy of the file, or with --section-only its
 * bytes) and prints the summary; also adds the file to json, unless that is empty. On
 * failure out is as it was.
 */
ATTR_MUST_CHECK bool pipeline_convert(const struct options *options, const char *in,
	const char *out, struct report_json *json, struct err *err);

/* Everything but writing: what a conversion would cover, to json unless that is empty,
 * else as text on out. */
ATTR_MUST_CHECK bool pipeline_report(const struct options *options, const char *in,
	FILE *out, struct report_json *json, struct err *err);

#endif
