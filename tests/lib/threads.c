/* SPDX-License-Identifier: MIT */
/* Several threads convert different files at once, each many times; the results are those
 * of one alone. Also compiled with all of the library for ThreadSanitizer. */
#include "tests/lib/lib.h"

#include <pthread.h>
#include <string.h>

enum { MAX_PATHS = 16, ROUNDS = 3 };

struct worker {
	pthread_t thread;
	const char *path;
	size_t number;
	struct bytes alone; /* the file with the section in */
	struct bytes words; /* its report */
	size_t n_wrong;
	struct eh2sframe_error error;
};

/* One conversion, and all that can be asked of it, into out and words. */
static bool convert(
    struct worker *worker, size_t round, struct bytes *out, struct bytes *words)
{
	struct eh2sframe_options *options = eh2sframe_options_new();
	struct eh2sframe_report *report = eh2sframe_report_new();
	struct eh2sframe_error *error = &worker->error;
	struct eh2sframe_row row = {.struct_size = sizeof(row)};
	struct eh2sframe *file = NULL;
	bool ok;

	ok = options && report &&
	     eh2sframe_options_set(options, "verbose", NULL, error) &&
	     eh2sframe_options_set(options, "jobs", round % 2 ? "2" : "1", error);
	if (ok)
		file = eh2sframe_open_path(worker->path, options, error);
	ok = file && (round % 2 || eh2sframe_make(file, error)) &&
	     eh2sframe_write_memory(file, (void **)&out->data, &out->size, error) &&
	     eh2sframe_make(file, error) && eh2sframe_row(file, 0, 0, &row) &&
	     eh2sframe_text(file, EH2SFRAME_TEXT_REPORT, bytes_add, words, error) &&
	     eh2sframe_report_add(report, file, EH2SFRAME_DONE, error);
	eh2sframe_close(file);
	ok = ok && eh2sframe_report_write(report, bytes_add, words, error);
	if (ok)
		file = eh2sframe_open_memory(out->data, out->size, "x", NULL, error);
	ok = ok && file && eh2sframe_dump(file, bytes_add, words, error) &&
	     eh2sframe_verify(file, NULL, bytes_add, words, error);
	if (file && ok)
		eh2sframe_close(file);
	eh2sframe_report_free(report);
	eh2sframe_options_free(options);
	return ok;
}

#ifdef LIB_TEST_RACE
static struct eh2sframe_options *common;
#endif

static void *work(void *context)
{
	struct worker *worker = context;
#ifdef LIB_TEST_RACE
	/* What the library forbids, and that in its own code. */
	if (!eh2sframe_options_set(common, "quiet", NULL, &worker->error))
		worker->n_wrong++;
#endif

	for (size_t i = 0; i < ROUNDS; i++) {
		struct bytes out = {0}, words = {0};
		bool ok = convert(worker, i + worker->number, &out, &words);

		worker->n_wrong += !ok || !bytes_same(&out, &worker->alone);
		eh2sframe_free(out.data);
		bytes_free(&words);
	}
	return NULL;
}

void test_threads(char **paths, size_t n)
{
	static struct worker workers[MAX_PATHS];

#ifdef LIB_TEST_RACE
	common = eh2sframe_options_new();
#endif
	n = n < MAX_PATHS ? n : MAX_PATHS;
	for (size_t i = 0; i < n; i++) {
		workers[i].path = paths[i];
		workers[i].number = i;
		if (!convert(&workers[i], 0, &workers[i].alone, &workers[i].words))
			check(false, "%s alone: %s", paths[i], workers[i].error.text);
	}
	for (size_t i = 0; i < n; i++)
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
			abort();
	for (size_t i = 0; i < n; i++) {
		pthread_join(workers[i].thread, NULL);
		check(workers[i].n_wrong == 0 && workers[i].alone.size,
		    "%s: %d times beside %zu others, %zu wrong: %s", paths[i], ROUNDS,
		    n - 1, workers[i].n_wrong, workers[i].error.text);
		eh2sframe_free(workers[i].alone.data);
		bytes_free(&workers[i].words);
	}
}
