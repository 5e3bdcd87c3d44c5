/* SPDX-License-Identifier: MIT */
/*
 * The processed format of the Firefox Profiler, version 61. Each place of a frame is a row of frameTable, and a stack has a row
 * of stackTable for each place of its frame. The names of threads are no frames there.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "profile/output/output.h"
#include "profile/output/stack_tree.h"

/* PID_MAX_LIMIT of the kernel. */
enum { FIREFOX_PIDS = 1 << 22 };

struct firefox {
	const struct profile *profile;
	const struct naming *naming;
	uint32_t *frames;  /* of each place */
	uint32_t *sources; /* of each function, as naming.files */
	size_t n_stacks;   /* rows */
	/* 1 + an index, or 0: the last row of each stack, the last name of the main thread of each process, the first sample of each
	 * thread, and the next sample of each one's. */
	uint32_t *rows, *mains, *first, *next;
	FILE *out;
};

static bool firefox_make(struct firefox *fx, struct err *err)
{
	const struct profile *profile = fx->profile;
	const struct naming *naming = fx->naming;

	for (size_t i = 0; i < profile->n_frames; i++)
		for (uint32_t k = 0; k < naming->of_frame[i].n; k++)
			fx->frames[naming->of_frame[i].first + k] = (uint32_t)i;
	for (size_t i = 0; i < naming->n_places; i++)
		if (naming->places[i].file)
			fx->sources[naming->places[i].function] = naming->places[i].file;
	for (size_t i = 0; i < profile->n_threads; i++)
		if (profile->threads[i].tid == profile->threads[i].pid)
			fx->mains[profile->threads[i].tid % FIREFOX_PIDS] =
			    (uint32_t)i + 1;
	for (size_t i = profile->n_samples; i-- > 0;) {
		uint32_t *first = &fx->first[profile->samples[i].thread];

		fx->next[i] = *first;
		*first = (uint32_t)i + 1;
	}
	for (size_t i = 1; i < profile->n_stacks; i++) {
		const uint32_t frame = profile->stacks[i].frame;

		if (profile->frames[frame].kind == PROFILE_FRAME_THREAD)
			continue;
		fx->n_stacks += naming->of_frame[frame].n;
		fx->rows[i] = (uint32_t)fx->n_stacks;
	}
	return fx->n_stacks < UINT32_MAX ||
	       err_set(err, ERR_LIMIT,
		   "more than 4294967294 boxes; record for a shorter time");
}

/* A number that JavaScript cannot hold exactly becomes the text none. */
static void firefox_put(FILE *out, bool first, uint64_t number, const char *none)
{
	if (!first)
		fputc(',', out);
	if (number >> 53)
		fputs(none, out);
	else
		fprintf(out, "%" PRIu64, number);
}

/* A column: value is that of row i. */
#define FIREFOX_COLUMN(out, name, n, i, none, value)                                     \
	do {                                                                             \
		fprintf(out, ",\"%s\":[", name);                                         \
		for (size_t i = 0; i < (n); i++)                                         \
			firefox_put(out, i == 0, value, none);                           \
		fputc(']', out);                                                         \
	} while (0)
/* Columns that have one text in all rows. */
#define FIREFOX_SAME(out, n, text, ...)                                                  \
	for (const char *const *name = (const char *const[]){__VA_ARGS__, NULL}; *name;  \
	     name++)                                                                     \
	FIREFOX_COLUMN(out, *name, n, i, text, UINT64_MAX)

/* In its file; that of a call instead of where it returns. */
static uint64_t firefox_address(const struct firefox *fx, size_t row)
{
	const struct profile_frame *frame = &fx->profile->frames[fx->frames[row]];

	if (frame->kind != PROFILE_FRAME_FILE ||
	    fx->profile->modules[frame->module].flags & PROFILE_MODULE_OFFSETS)
		return UINT64_MAX;
	return frame->address - !(frame->flags & PROFILE_FRAME_EXACT);
}

/* Gives each kind of frame a category, whose names firefox_meta has. */
static const uint8_t CATEGORIES[] = {[PROFILE_FRAME_FILE] = 1,
    [PROFILE_FRAME_KERNEL] = 2,
    [PROFILE_FRAME_JIT] = 1,
    [PROFILE_FRAME_MARK] = 0,
    [PROFILE_FRAME_THREAD] = 0,
    [PROFILE_FRAME_UNKNOWN] = 1};

/* Names stand in stringArray in the order of functions, modules and sources. */
static void firefox_tables(const struct firefox *fx)
{
	const struct naming *naming = fx->naming;
	const struct naming_place *places = naming->places;
	const struct naming_function *functions = naming->functions;
	const size_t n_frames = naming->n_places, n = naming->n_functions;
	const size_t n_modules = fx->profile->n_modules;
	const size_t n_sources = naming->n_files - 1;
	FILE *out = fx->out;

	fprintf(out, "},\n\"frameTable\":{\"length\":%zu", n_frames);
	FIREFOX_COLUMN(out, "address", n_frames, i, "-1", firefox_address(fx, i));
	FIREFOX_COLUMN(out, "inlineDepth", n_frames, i, "",
	    i - naming->of_frame[fx->frames[i]].first);
	FIREFOX_COLUMN(out, "category", n_frames, i, "",
	    CATEGORIES[functions[places[i].function].kind]);
	FIREFOX_COLUMN(out, "func", n_frames, i, "", places[i].function);
	FIREFOX_COLUMN(out, "line", n_frames, i, "null",
	    places[i].line ? places[i].line : UINT64_MAX);
	FIREFOX_SAME(out, n_frames, "0", "subcategory");
	FIREFOX_SAME(out, n_frames, "null", "nativeSymbol", "innerWindowID", "column");
	fprintf(out, "},\n\"funcTable\":{\"length\":%zu", n);
	FIREFOX_COLUMN(out, "name", n, i, "", i);
	FIREFOX_COLUMN(out, "resource", n, i, "-1",
	    functions[i].kind <= PROFILE_FRAME_KERNEL ? functions[i].module : UINT64_MAX);
	FIREFOX_COLUMN(out, "source", n, i, "null", fx->sources[i] - UINT64_C(1));
	FIREFOX_SAME(out, n, "false", "isJS", "relevantForJS");
	FIREFOX_SAME(out, n, "null", "lineNumber", "columnNumber");
	fprintf(out, "},\n\"resourceTable\":{\"length\":%zu", n_modules);
	FIREFOX_COLUMN(out, "lib", n_modules, i, "", i);
	FIREFOX_COLUMN(out, "name", n_modules, i, "", n + i);
	FIREFOX_SAME(out, n_modules, "null", "host");
	FIREFOX_SAME(out, n_modules, "1", "type");
	fprintf(out, "},\n\"sources\":{\"length\":%zu", n_sources);
	FIREFOX_COLUMN(out, "filename", n_sources, i, "", n + n_modules + i);
	FIREFOX_SAME(out, n_sources, "null", "id", "sourceMapURL");
	FIREFOX_SAME(out, n_sources, "1", "startLine", "startColumn");
}

/* A column of stackTable. */
static void firefox_stacks(const struct firefox *fx, const char *name, bool callers)
{
	const struct profile_stack *stacks = fx->profile->stacks;
	uint32_t row = 0;

	fprintf(fx->out, ",\"%s\":[", name);
	for (size_t i = 1; i < fx->profile->n_stacks; i++) {
		uint64_t frame = fx->naming->of_frame[stacks[i].frame].first;
		uint64_t caller = fx->rows[stacks[i].caller] - UINT64_C(1);

		for (; row < fx->rows[i]; caller = row++)
			firefox_put(
			    fx->out, row == 0, callers ? caller : frame++, "null");
	}
	fputc(']', fx->out);
}

static void firefox_strings(const struct firefox *fx)
{
	const struct naming *naming = fx->naming;
	FILE *out = fx->out;

	fputs("},\n\"stringArray\":[", out);
	output_names(naming, out);
	for (size_t i = 0; i < fx->profile->n_modules; i++) {
		fputs(",\n", out);
		json_text_write(naming_base(fx->profile->modules[i].path), out);
	}
	for (size_t i = 1; i < naming->n_files; i++) {
		fputs(",\n", out);
		json_text_write(naming->files[i].path, out);
	}
	fputs("]}", out);
}

static void firefox_libs(const struct firefox *fx)
{
	/* Breakpad's identifier is a GUID, whose first numbers are little, and a digit. */
	static const uint8_t ORDER[16] = {
	    3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
	FILE *out = fx->out;

	fputs("\"libs\":[", out);
	for (size_t i = 0; i < fx->profile->n_modules; i++) {
		const struct profile_module *module = &fx->profile->modules[i];

		fprintf(out, "%s\n{\"arch\":\"\"", i ? "," : "");
		json_text_member("name", naming_base(module->path), out);
		json_text_member("debugName", naming_base(module->path), out);
		json_text_member("path", module->path, out);
		json_text_member("debugPath", module->path, out);
		fputs(",\"breakpadId\":\"", out);
		for (size_t k = 0; k < sizeof(ORDER); k++)
			fprintf(out, "%02X", module->build_id[ORDER[k]]);
		fputs("0\",\"codeId\":\"", out);
		for (size_t k = 0; k < module->build_id_size; k++)
			fprintf(out, "%02x", module->build_id[k]);
		fputs("\"}", out);
	}
	fputs("],\n", out);
}

static void firefox_meta(const struct firefox *fx, const char *version)
{
	const struct profile_info *info = &fx->profile->info;
	const struct profile_sample *samples = fx->profile->samples;
	size_t n = fx->profile->n_samples;
	double ms = n ? (double)(samples[n - 1].time - samples[0].time) / 1e6 : 0;

	fprintf(fx->out,
	    "{\"meta\":{\"version\":31,\"preprocessedProfileVersion\":61,"
	    "\"symbolicated\":true,"
	    "\"processType\":0,\"stackwalk\":1,\"usesOnlyOneStackType\":true,"
	    "\"markerSchema\":[],"
	    "\"sourceCodeIsNotOnSearchfox\":true,\"interval\":%g,\"startTime\":%.3f,"
	    "\"importedFrom\":\"eh2sframe-fold %s\"",
	    info->frequency ? 1000.0 / info->frequency : 1.0,
	    (double)info->start * 1000 - ms, version);
	json_text_member("product", info->command, fx->out);
	json_text_member("oscpu", info->release, fx->out);
	fputs(",\"categories\":[{\"name\":\"Incomplete\",\"color\":\"grey\","
	      "\"subcategories\":[\"Other\"]},"
	      "{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
	      "{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]}]}"
	      ",\n",
	    fx->out);
}

static void firefox_samples(const struct firefox *fx, size_t first)
{
	const struct profile_sample *samples = fx->profile->samples;
	size_t n = 0;

	fputs(
	    ",\"processType\":\"default\",\"processStartupTime\":0,"
	    "\"processShutdownTime\":null,"
	    "\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[],\"markers\":{"
	    "\"length\":0,\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[],"
	    "\"phase\":[],"
	    "\"category\":[]},\"samples\":{\"weightType\":\"samples\",\"stack\":[",
	    fx->out);
	for (size_t i = first; i; i = fx->next[i - 1]) {
		const struct profile_sample *sample = &samples[i - 1];

		firefox_put(
		    fx->out, n++ == 0, fx->rows[sample->stack] - UINT64_C(1), "null");
	}
	fprintf(fx->out, "],\"length\":%zu,\"time\":[", n);
	for (size_t i = first; i; i = fx->next[i - 1])
		fprintf(fx->out, "%s%.6f", i == first ? "" : ",",
		    (double)(samples[i - 1].time - samples[0].time) / 1e6);
	fputs("],\"weight\":[", fx->out);
	for (size_t i = first; i; i = fx->next[i - 1])
		fprintf(
		    fx->out, "%s%" PRIu64, i == first ? "" : ",", samples[i - 1].weight);
	fputs("]}}", fx->out);
}

static void firefox_threads(const struct firefox *fx)
{
	const struct profile_thread *threads = fx->profile->threads;

	for (size_t i = 0; i < fx->profile->n_threads; i++) {
		size_t main = fx->mains[threads[i].pid % FIREFOX_PIDS];

		fprintf(fx->out,
		    "%s\n{\"pid\":\"%" PRIu32 "\",\"tid\":%" PRIu32
		    ",\"isMainThread\":%s",
		    i ? "," : ",\n\"threads\":[", threads[i].pid, threads[i].tid,
		    main == i + 1 ? "true" : "false");
		json_text_member("name", threads[i].comm, fx->out);
		json_text_member(
		    "processName", threads[main ? main - 1 : i].comm, fx->out);
		firefox_samples(fx, fx->first[i]);
	}
	fputs("]}\n", fx->out);
}

bool output_firefox(const struct profile *profile, const struct naming *naming,
    const char *version, FILE *out, struct err *err)
{
	struct firefox fx = {profile, naming, .out = out};
	bool ok;

	fx.mains = calloc(FIREFOX_PIDS + naming->n_places + naming->n_functions +
			      profile->n_threads + profile->n_samples + profile->n_stacks,
	    sizeof(*fx.mains));
	if (!fx.mains)
		return err_set_nomem(err);
	fx.frames = fx.mains + FIREFOX_PIDS;
	fx.sources = fx.frames + naming->n_places;
	fx.first = fx.sources + naming->n_functions;
	fx.next = fx.first + profile->n_threads;
	fx.rows = fx.next + profile->n_samples;
	ok = firefox_make(&fx, err);
	if (ok) {
		firefox_meta(&fx, version);
		firefox_libs(&fx);
		fprintf(out,
		    "\"shared\":{\"nativeSymbols\":{\"length\":0,\"libIndex\":[],"
		    "\"address\":[],"
		    "\"name\":[],\"functionSize\":[]},\n\"stackTable\":{\"length\":%zu",
		    fx.n_stacks);
		firefox_stacks(&fx, "frame", false);
		firefox_stacks(&fx, "prefix", true);
		firefox_tables(&fx);
		firefox_strings(&fx);
		firefox_threads(&fx);
	}
	free(fx.mains);
	return ok;
}
