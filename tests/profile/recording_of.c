/* SPDX-License-Identifier: MIT */
/*
 * Writes a recording from a description on standard input, by the functions of the profile. Lines:
 *
 *     info COMMAND EVENT UNIT FREQUENCY START MONOTONIC END HOST RELEASE
 *     module FLAGS BUILD-ID PATH           BUILD-ID in hexadecimal digits
 *     frame KIND ADDRESS MODULE PID FLAGS NAME
 *     thread PID TID COMM
 *     sample TIME WEIGHT CPU THREAD WHY FRAME...   frames by number, outermost first
 *     deep COUNT THREAD FRAME...   stacks with 1 to COUNT frames, these in turn, and a sample of each
 *
 * "-" is an empty text or no name. %41 in a text is the byte 0x41. Numbers count from 0.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/profile.h"

static void must(bool ok, const struct err *err)
{
	if (ok)
		return;
	fprintf(stderr, "recording_of: %s\n", err->text);
	exit(1);
}

/* The next word, with its escapes replaced. NULL at the end. */
static char *word(char **line)
{
	char *start = strsep(line, " "), *to = start;

	if (!start || strcmp(start, "-") == 0)
		return NULL;
	for (char *at = start; *at; at++) {
		char hex[3] = {at[0] == '%' ? at[1] : '\0', at[1], '\0'};

		if (*hex)
			hex[1] = at[2];
		*to++ = *hex ? (char)strtoul(hex, NULL, 16) : *at;
		at += *hex ? 2 : 0;
	}
	*to = '\0';
	return start;
}

static unsigned long long number(char **line)
{
	char *text = word(line);

	return text ? strtoull(text, NULL, 0) : 0;
}

static void add_info(struct profile *profile, char *line, struct err *err)
{
	struct profile_info *info = &profile->info;
	char **texts[] = {&info->command, &info->event, &info->unit};
	char **last[] = {&info->host, &info->release};
	char *text;

	for (size_t i = 0; i < 3; i++)
		must(
		    (text = word(&line)) == NULL || profile_set_text(texts[i], text, err),
		    err);
	info->machine = PROFILE_X86_64;
	info->frequency = (uint32_t)number(&line);
	info->start = number(&line);
	info->monotonic = number(&line);
	info->end = number(&line);
	for (size_t i = 0; i < 2; i++)
		must((text = word(&line)) == NULL || profile_set_text(last[i], text, err),
		    err);
}

static void add_module(struct profile *profile, char *line, struct err *err)
{
	struct profile_module module = {.flags = (uint32_t)number(&line)};
	char *hex = word(&line), empty[] = "";
	uint32_t index;

	for (; hex && hex[0] && hex[1]; hex += 2) {
		char byte[] = {hex[0], hex[1], '\0'};

		module.build_id[module.build_id_size++] =
		    (uint8_t)strtoul(byte, NULL, 16);
	}
	module.path = word(&line);
	if (!module.path)
		module.path = empty;
	must(profile_add_module(profile, &module, &index, err), err);
}

static void add_frame(struct profile *profile, char *line, struct err *err)
{
	struct profile_frame frame = {.kind = (uint8_t)number(&line)};
	uint32_t index;

	frame.address = number(&line);
	frame.module = (uint32_t)number(&line);
	frame.pid = (uint32_t)number(&line);
	frame.flags = (uint8_t)number(&line);
	frame.name = word(&line);
	must(profile_add_frame(profile, &frame, &index, err), err);
}

static void add_thread(struct profile *profile, char *line, struct err *err)
{
	uint32_t pid = (uint32_t)number(&line), tid = (uint32_t)number(&line), index;
	char *comm = word(&line);

	must(profile_add_thread(profile, pid, tid, comm ? comm : "", &index, err), err);
}

static void add_sample(struct profile *profile, char *line, struct err *err)
{
	struct profile_sample sample = {.time = number(&line)};

	sample.weight = number(&line);
	sample.cpu = (uint32_t)number(&line);
	sample.thread = (uint32_t)number(&line);
	sample.why = (uint8_t)number(&line);
	while (line)
		must(profile_add_stack(profile, sample.stack, (uint32_t)number(&line),
			 &sample.stack, err),
		    err);
	must(profile_add_sample(profile, &sample, err), err);
}

static void add_deep(struct profile *profile, char *line, struct err *err)
{
	unsigned long long count = number(&line);
	struct profile_sample sample = {
	    .thread = (uint32_t)number(&line), .weight = 1, .why = PROFILE_OUTERMOST};
	uint32_t frames[16];
	size_t n = 0;

	while (line && n < sizeof(frames) / sizeof(*frames))
		frames[n++] = (uint32_t)number(&line);
	for (unsigned long long i = 0; n && i < count; i++) {
		must(profile_add_stack(
			 profile, sample.stack, frames[i % n], &sample.stack, err),
		    err);
		must(profile_add_sample(profile, &sample, err), err);
	}
}

int main(void)
{
	static const struct {
		const char *name;
		void (*add)(struct profile *profile, char *line, struct err *err);
	} kinds[] = {{"info", add_info}, {"module", add_module}, {"frame", add_frame},
	    {"thread", add_thread}, {"sample", add_sample}, {"deep", add_deep}};
	struct profile profile;
	struct err err = {0};
	char *line = NULL;
	size_t cap = 0;
	ssize_t got;

	must(profile_init(&profile, &err), &err);
	while ((got = getline(&line, &cap, stdin)) > 0) {
		char *rest = line, *kind;

		line[got - 1] = '\0';
		kind = strsep(&rest, " ");
		for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
			if (strcmp(kind, kinds[i].name) == 0)
				kinds[i].add(&profile, rest, &err);
	}
	must(profile_write(&profile, STDOUT_FILENO, &err), &err);
	profile_free(&profile);
	free(line);
	return 0;
}
