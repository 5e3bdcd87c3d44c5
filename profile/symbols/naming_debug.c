/* SPDX-License-Identifier: MIT */
#include "profile/symbols/naming_debug.h"

#include <stdio.h>
#include <stdlib.h>

bool naming_debug_path(const char *const *dirs, size_t n_dirs, size_t i,
    const uint8_t *build_id, size_t n, char path[NAMING_DEBUG_PATH])
{
	static const char *const COPIES[] = {"/debug", "/elf"};
	const char *dir = getenv("PERF_BUILDID_DIR"), *below = "", *end = ".debug";
	int at;

	if (n < 2 || i >= n_dirs + sizeof(COPIES) / sizeof(*COPIES))
		return false;
	if (i < n_dirs) {
		dir = dirs[i];
	} else {
		end = COPIES[i - n_dirs];
		below = dir ? "" : "/.debug";
		dir = dir ? dir : getenv("HOME");
	}
	at = snprintf(path, NAMING_DEBUG_PATH, "%s%s/.build-id/%02x/", dir ? dir : "",
	    below, build_id[0]);
	for (size_t k = 1; k < n && at < NAMING_DEBUG_PATH; k++)
		at += snprintf(
		    path + at, (size_t)(NAMING_DEBUG_PATH - at), "%02x", build_id[k]);
	if (at >= NAMING_DEBUG_PATH ||
	    snprintf(path + at, (size_t)(NAMING_DEBUG_PATH - at), "%s", end) >=
		NAMING_DEBUG_PATH - at)
		*path = '\0'; /* No file has this name. */
	return true;
}
