/* SPDX-License-Identifier: MIT */
/* What the files of the public interface (include/eh2sframe.h) have in common. */
#ifndef LIB_API_H
#define LIB_API_H

#include "gen/convert.h"
#include "gen/report/json.h"
#include "include/eh2sframe.h"

struct eh2sframe_options {
	struct options options;
};

struct eh2sframe {
	struct options options;
	struct conversion conv;
	struct symbols symbols; /* for eh2sframe_symbol */
	bool symbols_read;
};

struct eh2sframe_report {
	struct report_json json;
};

/* Tells the caller what err says, unless ok or error is NULL; returns ok. */
bool api_tell(bool ok, const struct err *err, struct eh2sframe_error *error);

/* Whether all pointers are given that have to be; sets err unless they are. */
bool api_given(bool all_given, struct err *err);

#endif
