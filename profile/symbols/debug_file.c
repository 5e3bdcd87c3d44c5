/* SPDX-License-Identifier: MIT */
#include "profile/symbols/debug_file.h"

#include <stdio.h>
#include <stdlib.h>

bool debug_file_path(const char *const *dirs, size_t n_dirs, size_t i,
    const uint8_t *build_id, size_t n, char path[DEBUG_FILE_PATH])
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
	at = snprintf(path, DEBUG_FILE_PATH, "%s%s/.build-id/%02x/", dir ? dir : "",
	    below, build_id[0]);
	for (size_t k = 1; k < n && at < DEBUG_FILE_PATH; k++)
		at += snprintf(
		    path + at, (size_t)(DEBUG_FILE_PATH - at), "%02x", build_id[k]);
	if (at >= DEBUG_FILE_PATH || snprintf(path + at, (size_t)(DEBUG_FILE_PATH - at),
					 "%s", end) >= DEBUG_FILE_PATH - at)
		*path = '\0'; /* No file has this name. */
	return true;
}
