/* SPDX-License-Identifier: MIT */
/*
 * profile.proto. A message of protobuf may be cut into several that follow each other: the elements
 * of its lists are joined. So one sample at a time is in memory. Addresses are those of the
 * file, and a mapping of all addresses says so.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "base/vec.h"
#include "profile/output/json_text.h"
#include "profile/output/output.h"
#include "profile/output/pprof.pb-c.h"

/* Strings that are always there, by their index. */
enum pprof_string {
	PPROF_EMPTY,
	PPROF_SAMPLES,
	PPROF_COUNT,
	PPROF_CPU,
	PPROF_NANOSECONDS,
	PPROF_THREAD,
	PPROF_PID,
	PPROF_TID,
	PPROF_INCOMPLETE,
	PPROF_EVENT,
	PPROF_UNIT,
	PPROF_COMMAND,
	PPROF_WHY, /* and PROFILE_N_WHYS - 1 more */
	PPROF_FUNCTION = PPROF_WHY + PROFILE_N_WHYS,
};
enum { PPROF_BUFFER = 1 << 16 };

/* A buffer of protobuf-c, whose bytes go through zlib to a stream. */
struct pprof {
	ProtobufCBuffer base;
	const struct profile *profile;
	const struct naming *naming;
	FILE *out;
	z_stream zip;
	bool failed; /* zlib has no memory */
	uint8_t bytes[PPROF_BUFFER];
	size_t n_bytes;
	char *text; /* a copy that is UTF-8 */
	size_t cap_text;
	uint64_t *locations;
	size_t cap_locations;
};

/* Samples of one thread that have one stack and end for one reason. */
struct pprof_line {
	uint32_t thread, why, stack;
	uint64_t samples, weight;
};

static void pprof_deflate(struct pprof *pprof, int flush)
{
	uint8_t made[PPROF_BUFFER];
	int status = Z_OK;

	pprof->zip.next_in = pprof->bytes;
	pprof->zip.avail_in = (uInt)pprof->n_bytes;
	do {
		pprof->zip.next_out = made;
		pprof->zip.avail_out = sizeof(made);
		status = deflate(&pprof->zip, flush);
		pprof->failed |= status == Z_STREAM_ERROR;
		fwrite(made, 1, sizeof(made) - pprof->zip.avail_out, pprof->out);
	} while (!pprof->failed && pprof->zip.avail_out == 0);
	pprof->n_bytes = 0;
}

static void pprof_append(ProtobufCBuffer *base, size_t size, const uint8_t *data)
{
	struct pprof *pprof = (struct pprof *)base;

	while (size) {
		size_t n = sizeof(pprof->bytes) - pprof->n_bytes;

		if (n > size)
			n = size;
		memcpy(pprof->bytes + pprof->n_bytes, data, n);
		pprof->n_bytes += n;
		data += n;
		size -= n;
		if (pprof->n_bytes == sizeof(pprof->bytes))
			pprof_deflate(pprof, Z_NO_FLUSH);
	}
}

static void pprof_pack(struct pprof *pprof, const Pprof__Profile *part)
{
	protobuf_c_message_pack_to_buffer(&part->base, &pprof->base);
}

/* A string of protobuf is UTF-8. */
static bool pprof_string(struct pprof *pprof, const char *text, struct err *err)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	size_t used = 0, n;

	if (!vec_reserve(&pprof->text, &pprof->cap_text, strlen(text) * 3 + 1))
		return err_set_nomem(err);
	for (; *text; text += n ? n : 1) {
		n = json_text_utf8(text);
		memcpy(pprof->text + used, n ? text : "\xef\xbf\xbd", n ? n : 3);
		used += n ? n : 3;
	}
	pprof->text[used] = '\0';
	part.n_string_table = 1;
	part.string_table = &pprof->text;
	pprof_pack(pprof, &part);
	return true;
}

static bool pprof_build_id(
    struct pprof *pprof, const struct profile_module *module, struct err *err)
{
	char hex[2 * PROFILE_BUILD_ID_MAX + 1] = "";

	for (uint32_t i = 0; i < module->build_id_size; i++)
		snprintf(hex + 2 * i, 3, "%02x", module->build_id[i]);
	return pprof_string(pprof, hex, err);
}

/* All strings, in the order of their indices. */
static bool pprof_strings(struct pprof *pprof, struct err *err)
{
	const struct profile *profile = pprof->profile;
	const char *const fixed[PPROF_WHY] = {"", "samples", "count", "cpu",
	    "nanoseconds", "thread", "pid", "tid", "incomplete", profile->info.event,
	    profile->info.unit, profile->info.command};
	bool ok = true;

	for (size_t i = 0; ok && i < PPROF_WHY; i++)
		ok = pprof_string(pprof, fixed[i], err);
	for (unsigned int why = 0; ok && why < PROFILE_N_WHYS; why++)
		ok = pprof_string(pprof, profile_why_text(why), err);
	for (size_t i = 0; ok && i < pprof->naming->n_functions; i++)
		ok = pprof_string(pprof, pprof->naming->functions[i].name, err);
	for (size_t i = 0; ok && i < profile->n_modules; i++)
		ok = pprof_string(pprof, profile->modules[i].path, err) &&
		     pprof_build_id(pprof, &profile->modules[i], err);
	for (size_t i = 0; ok && i < profile->n_threads; i++)
		ok = pprof_string(pprof, profile->threads[i].comm, err);
	return ok;
}

static int64_t pprof_module_string(const struct pprof *pprof, size_t module)
{
	return (int64_t)(PPROF_FUNCTION + pprof->naming->n_functions + 2 * module);
}

static int64_t pprof_thread_string(const struct pprof *pprof, size_t thread)
{
	return pprof_module_string(pprof, pprof->profile->n_modules) + (int64_t)thread;
}

/* What was measured, and when. */
static void pprof_head(struct pprof *pprof)
{
	const struct profile_info *info = &pprof->profile->info;
	bool time = strcmp(info->unit, "ns") == 0;
	Pprof__Profile head = PPROF__PROFILE__INIT;
	Pprof__ValueType count = PPROF__VALUE_TYPE__INIT,
			 weight = PPROF__VALUE_TYPE__INIT;
	Pprof__ValueType *types[] = {&count, &weight};
	int64_t comment = PPROF_COMMAND;

	count.type = PPROF_SAMPLES;
	count.unit = PPROF_COUNT;
	weight.type = time ? PPROF_CPU : PPROF_EVENT;
	weight.unit = time ? PPROF_NANOSECONDS : PPROF_UNIT;
	head.n_sample_type = 2;
	head.sample_type = types;
	head.period_type = &weight;
	head.period = time && info->frequency ? 1000000000 / info->frequency : 0;
	head.time_nanos = (int64_t)info->start;
	if (info->end > info->monotonic)
		head.duration_nanos = (int64_t)(info->end - info->monotonic);
	head.n_comment = 1;
	head.comment = &comment;
	pprof_pack(pprof, &head);
}

static void pprof_mappings(struct pprof *pprof)
{
	for (size_t i = 0; i < pprof->profile->n_modules; i++) {
		Pprof__Profile part = PPROF__PROFILE__INIT;
		Pprof__Mapping mapping = PPROF__MAPPING__INIT, *list = &mapping;

		mapping.id = i + 1;
		mapping.memory_limit = UINT64_MAX;
		mapping.filename = pprof_module_string(pprof, i);
		mapping.build_id = mapping.filename + 1;
		mapping.has_functions = 1;
		part.n_mapping = 1;
		part.mapping = &list;
		pprof_pack(pprof, &part);
	}
}

static void pprof_functions(struct pprof *pprof)
{
	for (size_t i = 0; i < pprof->naming->n_functions; i++) {
		Pprof__Profile part = PPROF__PROFILE__INIT;
		Pprof__Function function = PPROF__FUNCTION__INIT, *list = &function;

		function.id = i + 1;
		function.name = (int64_t)(PPROF_FUNCTION + i);
		function.system_name = function.name;
		part.n_function = 1;
		part.function = &list;
		pprof_pack(pprof, &part);
	}
}

static void pprof_locations(struct pprof *pprof)
{
	for (size_t i = 0; i < pprof->profile->n_frames; i++) {
		const struct profile_frame *frame = &pprof->profile->frames[i];
		bool call = !(frame->flags & PROFILE_FRAME_EXACT) && frame->address;
		Pprof__Profile part = PPROF__PROFILE__INIT;
		Pprof__Location location = PPROF__LOCATION__INIT, *list = &location;
		Pprof__Line line = PPROF__LINE__INIT, *lines = &line;

		location.id = i + 1;
		if (frame->kind == PROFILE_FRAME_FILE ||
		    frame->kind == PROFILE_FRAME_KERNEL)
			location.mapping_id = (uint64_t)frame->module + 1;
		/* An address in the call, not behind it. */
		location.address = frame->address - call;
		line.function_id = (uint64_t)pprof->naming->of_frame[i] + 1;
		location.n_line = 1;
		location.line = &lines;
		part.n_location = 1;
		part.location = &list;
		pprof_pack(pprof, &part);
	}
}

static bool pprof_sample(
    struct pprof *pprof, const struct pprof_line *line, struct err *err)
{
	const struct profile *profile = pprof->profile;
	const struct profile_thread *thread = &profile->threads[line->thread];
	Pprof__Label labels[] = {PPROF__LABEL__INIT, PPROF__LABEL__INIT,
	    PPROF__LABEL__INIT, PPROF__LABEL__INIT};
	Pprof__Label *list[] = {&labels[0], &labels[1], &labels[2], &labels[3]};
	int64_t values[] = {(int64_t)line->samples, (int64_t)line->weight};
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Sample sample = PPROF__SAMPLE__INIT, *samples = &sample;
	size_t depth = 0;

	for (uint32_t at = line->stack; at; at = profile->stacks[at].caller) {
		if (!vec_reserve(&pprof->locations, &pprof->cap_locations, depth + 1))
			return err_set_nomem(err);
		pprof->locations[depth++] = (uint64_t)profile->stacks[at].frame + 1;
	}
	sample.n_location_id = depth;
	sample.location_id = pprof->locations;
	sample.n_value = 2;
	sample.value = values;
	labels[0].key = PPROF_THREAD;
	labels[0].str = pprof_thread_string(pprof, line->thread);
	labels[1].key = PPROF_PID;
	labels[1].num = thread->pid;
	labels[2].key = PPROF_TID;
	labels[2].num = thread->tid;
	labels[3].key = PPROF_INCOMPLETE;
	labels[3].str = PPROF_WHY + (int64_t)line->why;
	sample.n_label = line->why ? 4 : 3;
	sample.label = list;
	part.n_sample = 1;
	part.sample = &samples;
	pprof_pack(pprof, &part);
	return true;
}

static int pprof_compare(const void *left, const void *right)
{
	const struct pprof_line *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->stack != b->stack)
		return a->stack < b->stack ? -1 : 1;
	return a->why < b->why ? -1 : a->why > b->why;
}

/* The samples, equal ones joined. The caller frees *lines. */
static bool pprof_lines(const struct profile *profile, struct pprof_line **lines,
    size_t *n_lines, struct err *err)
{
	size_t n = 0;

	*lines = calloc(profile->n_samples + 1, sizeof(**lines));
	if (!*lines)
		return err_set_nomem(err);
	for (size_t i = 0; i < profile->n_samples; i++) {
		const struct profile_sample *sample = &profile->samples[i];

		(*lines)[i] = (struct pprof_line){sample->thread,
		    profile_why_complete(sample->why) || sample->why >= PROFILE_N_WHYS
			? 0
			: sample->why,
		    sample->stack, 1, sample->weight};
	}
	qsort(*lines, profile->n_samples, sizeof(**lines), pprof_compare);
	for (size_t i = 0; i < profile->n_samples; i++) {
		if (n && !pprof_compare(&(*lines)[n - 1], &(*lines)[i])) {
			(*lines)[n - 1].samples++;
			(*lines)[n - 1].weight += (*lines)[i].weight;
		} else {
			(*lines)[n++] = (*lines)[i];
		}
	}
	*n_lines = n;
	return true;
}

/* The numbers of frames may take five bytes each. */
static bool pprof_fits(const struct profile *profile, const struct pprof_line *lines,
    size_t n_lines, struct err *err)
{
	uint32_t *depths = calloc(profile->n_stacks, sizeof(*depths));
	uint64_t sum = 0;

	if (!depths)
		return err_set_nomem(err);
	for (size_t i = 1; i < profile->n_stacks; i++)
		depths[i] = depths[profile->stacks[i].caller] + 1;
	for (size_t i = 0; i < n_lines && sum <= OUTPUT_MAX_SIZE; i++)
		sum += UINT64_C(5) * depths[lines[i].stack] + PPROF_FUNCTION;
	free(depths);
	return sum <= OUTPUT_MAX_SIZE ||
	       err_set(err, ERR_LIMIT,
		   "the samples have more than %" PRIu64 " GiB in pprof's format: its "
		   "stacks are too deep; use --format=html",
		   OUTPUT_MAX_SIZE >> 30);
}

static bool pprof_samples(struct pprof *pprof, struct err *err)
{
	struct pprof_line *lines;
	size_t n_lines = 0;
	bool ok;

	if (!pprof_lines(pprof->profile, &lines, &n_lines, err)) {
		free(lines);
		return false;
	}
	ok = pprof_fits(pprof->profile, lines, n_lines, err);
	for (size_t i = 0; ok && i < n_lines && !ferror(pprof->out); i++)
		ok = pprof_sample(pprof, &lines[i], err);
	free(lines);
	return ok;
}

bool output_pprof(const struct profile *profile, const struct naming *naming, FILE *out,
    struct err *err)
{
	struct pprof *pprof = calloc(1, sizeof(*pprof));
	bool ok;

	if (!pprof)
		return err_set_nomem(err);
	pprof->base.append = pprof_append;
	pprof->profile = profile;
	pprof->naming = naming;
	pprof->out = out;
	/* 16 more than the largest window: with the header of gzip. */
	if (deflateInit2(&pprof->zip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16,
		8, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(pprof);
		return err_set_nomem(err);
	}
	pprof_head(pprof);
	ok = pprof_samples(pprof, err);
	if (ok) {
		pprof_mappings(pprof);
		pprof_locations(pprof);
		pprof_functions(pprof);
		ok = pprof_strings(pprof, err);
	}
	if (ok)
		pprof_deflate(pprof, Z_FINISH);
	if (ok && pprof->failed)
		ok = err_set(err, ERR_INTERNAL, "zlib refuses the profile");
	deflateEnd(&pprof->zip);
	free(pprof->text);
	free(pprof->locations);
	free(pprof);
	return ok;
}
