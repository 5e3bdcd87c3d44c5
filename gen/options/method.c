/* SPDX-License-Identifier: MIT */
/* The words for methods and obstacles, from the same tables as their values. */
#include "gen/options/method.h"

const char *method_name(enum method method)
{
#define METHOD_WORD(id, name) name,
	static const char *const names[] = {METHODS(METHOD_WORD) "auto"};
#undef METHOD_WORD

	return names[method];
}

const char *obstacle_text(enum obstacle obstacle)
{
#define OBSTACLE_WORDS(id, text) text,
	static const char *const texts[] = {OBSTACLES(OBSTACLE_WORDS)};
#undef OBSTACLE_WORDS

	return texts[obstacle];
}
