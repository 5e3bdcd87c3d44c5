/* SPDX-License-Identifier: MIT */
/* The machine, the command and the files of perf.data, behind its records. */
#include <stdlib.h>
#include <string.h>

#include "base/rd.h"
#include "base/regular.h"
#include "base/vec.h"
#include "profile/perfdata/format.h"
#include "profile/perfdata/read.h"

/* A size of 4 bytes, and that many with zeros at their end; "" where it is not there. */
static const char *feature_text(struct rd *rd)
{
	uint32_t size = rd_u32(rd);
	const char *text = (const char *)rd_skip(rd, size);

	return size && text && !text[size - 1] ? text : "";
}

/* The words of the command with spaces between them, where their sizes were. */
static const char *feature_command(struct rd *rd, char *joined)
{
	uint32_t n = rd_u32(rd);
	char *end = joined;

	for (uint32_t i = 0; i < n && !rd->failed; i++) {
		const char *word = feature_text(rd);
		size_t size = strlen(word);

		if (i)
			*end++ = ' ';
		memmove(end, word, size);
		end += size;
	}
	*end = '\0';
	return joined;
}

/* The name of the event whose samples are given. */
static const char *feature_event(const struct perfdata *perfdata, struct rd *rd)
{
	uint32_t n = rd_u32(rd), attr_size = rd_u32(rd);

	for (uint32_t i = 0; i < n && !rd->failed; i++) {
		uint32_t n_ids;
		const char *name;

		rd_skip(rd, attr_size);
		n_ids = rd_u32(rd);
		name = feature_text(rd);
		if (i == perfdata->first)
			return name;
		rd_skip(rd, (uint64_t)n_ids * 8);
	}
	return "";
}

static int feature_compare(const void *a, const void *b)
{
	const struct perfdata_build_id *x = a, *y = b;

	return strcmp(x->path, y->path);
}

/* Two containers can have different files at one path. Then the inodes in the records decide. */
static void feature_drop_doubtful(struct perfdata_build_id *list, size_t n)
{
	for (size_t i = 0, end; i < n; i = end) {
		bool differs = false;

		for (end = i + 1; end < n && !feature_compare(&list[i], &list[end]);
		     end++)
			differs |= list[i].size != list[end].size ||
				   memcmp(list[i].id, list[end].id, list[i].size) != 0;
		for (size_t k = i; differs && k < end; k++)
			list[k].size = 0;
	}
}

/* Records with the number of the process, a build-id with its size, and a path. */
static bool feature_build_ids(struct perfdata *perfdata, struct rd *rd, struct err *err)
{
	while (!rd_at_end(rd)) {
		struct perfdata_build_id one = {0};
		size_t start = rd->pos;
		uint64_t size;
		uint16_t misc;
		const uint8_t *id;

		rd_u32(rd);
		misc = rd_u16(rd);
		size = rd_u16(rd);
		rd_u32(rd);
		id = rd_skip(rd, 24);
		one.path = rd_cstr(rd);
		if (!one.path || size < rd->pos - start)
			break;
		/* Older ones do not say the size. */
		one.size =
		    misc & PERFDATA_MISC_BUILD_ID_SIZE ? id[20] : EVENT_MAX_BUILD_ID;
		if (one.size <= EVENT_MAX_BUILD_ID) {
			memcpy(one.id, id, EVENT_MAX_BUILD_ID);
			if (!vec_reserve(&perfdata->build_ids, &perfdata->cap_build_ids,
				perfdata->n_build_ids + 1))
				return err_set_nomem(err);
			perfdata->build_ids[perfdata->n_build_ids++] = one;
		}
		rd_seek(rd, start + size);
	}
	if (perfdata->n_build_ids)
		qsort(perfdata->build_ids, perfdata->n_build_ids,
		    sizeof(*perfdata->build_ids), feature_compare);
	feature_drop_doubtful(perfdata->build_ids, perfdata->n_build_ids);
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

/* Names of frames: format.h. They are sorted where they are. */
static void feature_names(struct perfdata *perfdata, struct rd *rd, uint8_t *bytes)
{
	struct perfdata_names_entry *entries = (void *)(bytes + sizeof(uint64_t));
	const size_t size = sizeof(*entries);
	uint64_t n = rd_u64(rd);
	size_t n_text;

	rd_skip(rd, n > rd->size ? UINT64_MAX : n * size);
	n_text = rd->size - rd->pos;
	if (rd->failed || !n_text || bytes[rd->size - 1])
		return;
	perfdata->names = entries;
	perfdata->name_texts = (const char *)bytes + rd->pos;
	for (size_t i = 0; i < n; i++)
		if (entries[i].at < n_text)
			entries[perfdata->n_names++] = entries[i];
	if (perfdata->n_names)
		qsort(entries, perfdata->n_names, size, feature_compare_names);
}

/* Others are not read: each can be as large as the file. */
static const uint8_t FEATURES[] = {PERFDATA_BUILD_ID, PERFDATA_HOSTNAME,
    PERFDATA_OSRELEASE, PERFDATA_ARCH, PERFDATA_CMDLINE, PERFDATA_EVENT_DESC,
    PERFDATA_CLOCK_DATA, PERFDATA_NAMES};

static bool feature_take(struct perfdata *perfdata, unsigned int feature, uint8_t *bytes,
    size_t size, struct err *err)
{
	struct rd rd;

	rd_init(&rd, bytes, size, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	if (feature == PERFDATA_BUILD_ID)
		return feature_build_ids(perfdata, &rd, err);
	if (feature == PERFDATA_HOSTNAME)
		perfdata->host = feature_text(&rd);
	else if (feature == PERFDATA_OSRELEASE)
		perfdata->release = feature_text(&rd);
	else if (feature == PERFDATA_ARCH)
		perfdata->machine = feature_text(&rd);
	else if (feature == PERFDATA_CMDLINE)
		perfdata->command = feature_command(&rd, (char *)bytes);
	else if (feature == PERFDATA_EVENT_DESC)
		perfdata->event = feature_event(perfdata, &rd);
	else if (feature == PERFDATA_CLOCK_DATA) {
		/* A version and the number of the clock come first. Both times that follow are of one moment. */
		rd_skip(&rd, 8);
		perfdata->clock = rd_u64(&rd);
		perfdata->clock -= rd_u64(&rd);
	} else
		feature_names(perfdata, &rd, bytes);
	return true;
}

const char *perfdata_name(const struct perfdata *perfdata, uint32_t pid, uint64_t pc)
{
	const struct perfdata_names_entry wanted = {pc, pid, 0}, *found = NULL;

	if (perfdata->n_names)
		found = bsearch(&wanted, perfdata->names, perfdata->n_names,
		    sizeof(wanted), feature_compare_names);
	/* No recorder writes longer ones, of which each could be almost the whole file. */
	return found && strnlen(perfdata->name_texts + found->at, EVENT_MAX_SIZE + 1) <=
			    EVENT_MAX_SIZE
		   ? perfdata->name_texts + found->at
		   : NULL;
}

void perfdata_identify(const struct perfdata *perfdata, struct event *event)
{
	const struct perfdata_build_id wanted = {.path = event->text}, *found = NULL;

	if (event->kind == EVENT_MAP && !event->build_id_known && perfdata->n_build_ids)
		found = bsearch(&wanted, perfdata->build_ids, perfdata->n_build_ids,
		    sizeof(wanted), feature_compare);
	if (!found || !found->size)
		return;
	event->build_id = found->id;
	event->build_id_size = found->size;
	event->build_id_known = true;
}

/* Reads a section into memory that stays. What is not there is left out. */
static bool feature_read(struct perfdata *perfdata, unsigned int feature,
    const struct perfdata_section *section, struct err *err)
{
	uint8_t *bytes;

	if (!perfdata_bytes(perfdata, section->offset, section->size) ||
	    section->size == 0 || section->size > PERFDATA_FEATURE_MAX)
		return true;
	bytes = malloc(section->size);
	if (!bytes)
		return err_set_nomem(err);
	perfdata->features[perfdata->n_features++] = bytes;
	return regular_read(perfdata->fd, bytes, section->size, section->offset) !=
		   (ssize_t)section->size ||
	       feature_take(perfdata, feature, bytes, section->size, err);
}

bool perfdata_features(struct perfdata *perfdata, const uint64_t bits[4], struct err *err)
{
	uint64_t at = perfdata->data_end;

	for (unsigned int feature = 0; feature < 256; feature++) {
		struct perfdata_section section;
		const uint8_t *table;

		if (!(bits[feature / 64] >> feature % 64 & 1))
			continue;
		table = perfdata_bytes(perfdata, at, sizeof(section));
		if (!table)
			return true;
		memcpy(&section, table, sizeof(section));
		at += sizeof(section);
		if (memchr(FEATURES, (int)feature, sizeof(FEATURES)) &&
		    !feature_read(perfdata, feature, &section, err))
			return false;
	}
	return true;
}
