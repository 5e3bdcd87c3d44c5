/* SPDX-License-Identifier: MIT */
#include "profile/symbols/naming_debug.h"

#include <stdio.h>
#include <stdlib.h>

/* The path is empty, which no file has, where it would be too long. */
static bool naming_path(const char *dir, const char *below, const char *end,
    const uint8_t *build_id, size_t n, char path[NAMING_DEBUG_PATH])
{
	int at;

	if (n < 2)
		return false;
	at = snprintf(path, NAMING_DEBUG_PATH, "%s%s/.build-id/%02x/", dir ? dir : "",
	    below, build_id[0]);
	for (size_t k = 1; k < n && at < NAMING_DEBUG_PATH; k++)
		at += snprintf(
		    path + at, (size_t)(NAMING_DEBUG_PATH - at), "%02x", build_id[k]);
	if (at >= NAMING_DEBUG_PATH ||
	    snprintf(path + at, (size_t)(NAMING_DEBUG_PATH - at), "%s", end) >=
		NAMING_DEBUG_PATH - at)
		*path = '\0';
	return true;
}

static bool naming_perf_path(
    const char *end, const uint8_t *build_id, size_t n, char path[NAMING_DEBUG_PATH])
{
	const char *dir = getenv("PERF_BUILDID_DIR");

	return naming_path(
	    dir ? dir : getenv("HOME"), dir ? "" : "/.debug", end, build_id, n, path);
}

bool naming_debug_path(const char *const *dirs, size_t n_dirs, size_t i,
    const uint8_t *build_id, size_t n, char path[NAMING_DEBUG_PATH])
{
	if (i < n_dirs)
		return naming_path(dirs[i], "", ".debug", build_id, n, path);
	return i == n_dirs && naming_perf_path("/debug", build_id, n, path);
}

bool naming_copy_path(const uint8_t *build_id, size_t n, char path[NAMING_DEBUG_PATH])
{
	return naming_perf_path("/elf", build_id, n, path);
}
