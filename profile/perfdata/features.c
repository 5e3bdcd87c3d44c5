/* SPDX-License-Identifier: MIT */
/* The machine, the command and the files of perf.data, behind its records. */
#include <stdlib.h>
#include <string.h>

#include "base/rd.h"
#include "base/vec.h"
#include "profile/perfdata/format.h"
#include "profile/perfdata/read.h"

/* A size of 4 bytes, and that many with zeros at their end. NULL: it is not there. */
static const char *feature_text(struct rd *rd)
{
	uint32_t size = rd_u32(rd);
	const char *text = (const char *)rd_skip(rd, size);

	return size && text && !text[size - 1] ? text : NULL;
}

static bool feature_keep(char **to, const char *text, struct err *err)
{
	char *copy = strdup(text ? text : "");

	if (!copy)
		return err_set_nomem(err);
	free(*to);
	*to = copy;
	return true;
}

/* The words of the command with spaces between them. */
static bool feature_command(struct perfdata *perfdata, struct rd *rd, struct err *err)
{
	uint32_t n = rd_u32(rd);
	char *joined = malloc(rd->size + 1), *end = joined;
	bool ok;

	if (!joined)
		return err_set_nomem(err);
	for (uint32_t i = 0; i < n && !rd->failed; i++) {
		const char *word = feature_text(rd);

		if (!word)
			break;
		if (end > joined)
			*end++ = ' ';
		end = stpcpy(end, word);
	}
	*end = '\0';
	ok = feature_keep(&perfdata->command, joined, err);
	free(joined);
	return ok;
}

/* The name of the event whose samples are given. */
static bool feature_event(struct perfdata *perfdata, struct rd *rd, struct err *err)
{
	uint32_t n = rd_u32(rd), attr_size = rd_u32(rd);

	for (uint32_t i = 0; i < n && i <= perfdata->first && !rd->failed; i++) {
		uint32_t n_ids;
		const char *name;

		rd_skip(rd, attr_size);
		n_ids = rd_u32(rd);
		name = feature_text(rd);
		rd_skip(rd, (uint64_t)n_ids * 8);
		if (i == perfdata->first && name && !rd->failed)
			return feature_keep(&perfdata->event, name, err);
	}
	return true;
}

static int feature_compare(const void *a, const void *b)
{
	const struct perfdata_build_id *x = a, *y = b;

	return strcmp(x->path, y->path);
}

/* Records with the number of the process, a build-id with its size, and a path. */
static bool feature_build_ids(struct perfdata *perfdata, struct rd *rd, struct err *err)
{
	while (rd->pos < rd->size && !rd->failed) {
		struct perfdata_build_id one = {0};
		size_t start = rd->pos;
		uint64_t size;
		uint16_t misc;
		const uint8_t *id;
		const char *path;

		rd_u32(rd);
		misc = rd_u16(rd);
		size = rd_u16(rd);
		rd_u32(rd);
		id = rd_skip(rd, 24);
		path = rd_cstr(rd);
		if (!path || size < rd->pos - start)
			break;
		/* Older ones do not say the size. */
		one.size =
		    misc & PERFDATA_MISC_BUILD_ID_SIZE ? id[20] : EVENT_MAX_BUILD_ID;
		if (one.size <= EVENT_MAX_BUILD_ID) {
			memcpy(one.id, id, EVENT_MAX_BUILD_ID);
			if (!vec_reserve(&perfdata->build_ids, &perfdata->cap_build_ids,
				perfdata->n_build_ids + 1))
				return err_set_nomem(err);
			one.path = strdup(path);
			if (!one.path)
				return err_set_nomem(err);
			perfdata->build_ids[perfdata->n_build_ids++] = one;
		}
		rd_seek(rd, start + size);
	}
	if (perfdata->n_build_ids)
		qsort(perfdata->build_ids, perfdata->n_build_ids,
		    sizeof(*perfdata->build_ids), feature_compare);
	return true;
}

/* Recordings that are joined, or lie, have one PC in many processes. */
static int feature_compare_names(const void *a, const void *b)
{
	const struct perfdata_names_entry *x = a, *y = b;

	if (x->pc != y->pc)
		return x->pc < y->pc ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* Names of frames: format.h. */
static bool feature_names(struct perfdata *perfdata, struct rd *rd, struct err *err)
{
	const size_t size = sizeof(struct perfdata_names_entry);
	uint64_t n = rd_u64(rd);
	const uint8_t *entries = rd_skip(rd, n > rd->size ? UINT64_MAX : n * size);
	size_t n_text = rd->size - rd->pos;
	const char *text = (const char *)rd_skip(rd, n_text);

	if (!entries || !n || !n_text || text[n_text - 1])
		return true;
	perfdata->names = malloc(n * size);
	perfdata->name_texts = malloc(n_text);
	if (!perfdata->names || !perfdata->name_texts)
		return err_set_nomem(err);
	memcpy(perfdata->names, entries, n * size);
	memcpy(perfdata->name_texts, text, n_text);
	for (size_t i = 0; i < n; i++)
		if (perfdata->names[i].at < n_text)
			perfdata->names[perfdata->n_names++] = perfdata->names[i];
	if (perfdata->n_names)
		qsort(perfdata->names, perfdata->n_names, size, feature_compare_names);
	return true;
}

/* Others are not read: each can be as large as the file. */
static const uint64_t FEATURES_KNOWN[4] = {
    1 << PERFDATA_BUILD_ID | 1 << PERFDATA_HOSTNAME | 1 << PERFDATA_OSRELEASE |
	1 << PERFDATA_ARCH | 1 << PERFDATA_CMDLINE | 1 << PERFDATA_EVENT_DESC,
    0, 0, UINT64_C(1) << PERFDATA_NAMES % 64};

static bool feature_take(
    struct perfdata *perfdata, unsigned int feature, struct rd *rd, struct err *err)
{
	switch (feature) {
	case PERFDATA_BUILD_ID:
		return feature_build_ids(perfdata, rd, err);
	case PERFDATA_HOSTNAME:
		return feature_keep(&perfdata->host, feature_text(rd), err);
	case PERFDATA_OSRELEASE:
		return feature_keep(&perfdata->release, feature_text(rd), err);
	case PERFDATA_ARCH:
		return feature_keep(&perfdata->machine, feature_text(rd), err);
	case PERFDATA_CMDLINE:
		return feature_command(perfdata, rd, err);
	case PERFDATA_EVENT_DESC:
		return feature_event(perfdata, rd, err);
	case PERFDATA_NAMES:
		return feature_names(perfdata, rd, err);
	default:
		return true;
	}
}

const char *perfdata_name(const struct perfdata *perfdata, uint32_t pid, uint64_t pc)
{
	const struct perfdata_names_entry wanted = {pc, pid, 0}, *found = NULL;

	if (perfdata->n_names)
		found = bsearch(&wanted, perfdata->names, perfdata->n_names,
		    sizeof(wanted), feature_compare_names);
	return found ? perfdata->name_texts + found->at : NULL;
}

/* Reads a section into memory of its own. *bytes is NULL where it is not there. */
static bool feature_read(struct perfdata *perfdata,
    const struct perfdata_section *section, uint8_t **bytes, struct err *err)
{
	*bytes = NULL;
	if (section->size == 0 || section->size > PERFDATA_FEATURE_MAX ||
	    section->offset > perfdata->size ||
	    section->size > perfdata->size - section->offset)
		return true;
	*bytes = malloc(section->size);
	if (!*bytes)
		return err_set_nomem(err);
	for (size_t at = 0; at < section->size;) {
		size_t n = section->size - at < PERFDATA_WINDOW ? section->size - at
								: PERFDATA_WINDOW;
		const uint8_t *part =
		    perfdata_bytes(perfdata, section->offset + at, n, err);

		if (!part) {
			free(*bytes);
			*bytes = NULL;
			return err->kind == ERR_NONE;
		}
		memcpy(*bytes + at, part, n);
		at += n;
	}
	return true;
}

bool perfdata_features(struct perfdata *perfdata, const uint64_t bits[4], struct err *err)
{
	uint64_t at = perfdata->data_end;

	for (unsigned int feature = 0; feature < 256; feature++) {
		struct perfdata_section section;
		const uint8_t *table;
		uint8_t *bytes;
		struct rd rd;
		bool ok;

		if (!(bits[feature / 64] >> feature % 64 & 1))
			continue;
		table = perfdata_bytes(perfdata, at, sizeof(section), err);
		if (!table)
			return err->kind == ERR_NONE;
		memcpy(&section, table, sizeof(section));
		at += sizeof(section);
		if (!(FEATURES_KNOWN[feature / 64] >> feature % 64 & 1))
			continue;
		if (!feature_read(perfdata, &section, &bytes, err))
			return false;
		if (!bytes)
			continue;
		rd_init(&rd, bytes, section.size, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
		ok = feature_take(perfdata, feature, &rd, err);
		free(bytes);
		if (!ok)
			return false;
	}
	return true;
}
