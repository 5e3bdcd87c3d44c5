/* SPDX-License-Identifier: MIT */
/* The words for sources. */
#include "gen/options/source.h"

#include <string.h>

#define SOURCE_NAME(id, name, section, words) name,
#define SOURCE_SECTION(id, name, section, words) section,
#define SOURCE_WORDS(id, name, section, words) words,
static const char *const names[] = {SOURCES(SOURCE_NAME)};
static const char *const sections[] = {SOURCES(SOURCE_SECTION)};
static const char *const words[] = {SOURCES(SOURCE_WORDS)};

const char *source_name(enum source source)
{
	return names[source];
}

const char *source_section(enum source source)
{
	return sections[source];
}

const char *source_words(enum source source)
{
	return words[source];
}

bool source_read(const char *list, unsigned int *sources, struct err *err)
{
	const char *at = list;
	size_t length;

	*sources = 0;
	for (;; at += length + 1) {
		int i = 0;

		length = strcspn(at, ",");
		while (i < N_SOURCES &&
		       (strlen(names[i]) != length || strncmp(names[i], at, length) != 0))
			i++;
		if (i == N_SOURCES)
			return err_set(err, ERR_USAGE,
			    "--source=%.200s: give one or more of eh_frame, go, "
			    "debug_frame and derived, with commas between them",
			    list);
		*sources |= SOURCE_BIT(i);
		if (!at[length])
			return true;
	}
}
