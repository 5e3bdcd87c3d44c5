/* SPDX-License-Identifier: MIT */
/*
 * Several threads convert different files at once, each many times. The results are those
 * of one thread. This is also compiled for ThreadSanitizer, with all of the library.
 */
#include "tests/lib/lib.h"

#include <pthread.h>
#include <string.h>

enum { MAX_PATHS = 16, ROUNDS = 3 };

struct worker {
	pthread_t thread;
	const char *path;
	char out[200]; /* where it writes */
	size_t number;
	struct bytes alone; /* the file with the section in */
	struct bytes words; /* its report, and what is printed of its section */
	size_t n_wrong;
	struct eh2sframe_error error;
};

/* True if a file has exactly these bytes. */
static bool file_is(const char *path, const struct bytes *wanted)
{
	struct bytes got = file_read(path);
	bool ok = bytes_same(&got, wanted);

	bytes_free(&got);
	return ok;
}

/* Converts once. Puts the file into out, and all that can be printed into words. */
static bool convert(
    struct worker *worker, size_t round, struct bytes *out, struct bytes *words)
{
	struct eh2sframe_options *options = eh2sframe_options_new();
	struct eh2sframe_error *error = &worker->error;
	struct eh2sframe_row row = {.struct_size = sizeof(row)};
	struct eh2sframe_result *result = NULL;
	struct eh2sframe_file *file = NULL;
	bool ok;

	ok = options && eh2sframe_options_set(options, "verbose", NULL, error) &&
	     eh2sframe_options_set(options, "jobs", round % 2 ? "2" : "1", error);
	if (ok)
		file = eh2sframe_open_path(worker->path, options, error);
	/* There are two ways to make a result. */
	if (file)
		result = round % 2 ? eh2sframe_convert(file, worker->out, error)
				   : eh2sframe_convert(file, NULL, error);
	ok = result &&
	     eh2sframe_result_write_memory(
		 result, (void **)&out->data, &out->size, error) &&
	     (round % 2 == 0 || file_is(worker->out, out)) &&
	     eh2sframe_result_row(result, 0, 0, &row) &&
	     eh2sframe_result_add_details(result, error) &&
	     eh2sframe_result_print(
		 result, EH2SFRAME_TEXT_REPORT, bytes_add, words, error) &&
	     eh2sframe_result_json(result, true, EH2SFRAME_DONE, bytes_add, words, error);
	eh2sframe_result_free(result);
	eh2sframe_close(file);
	file = NULL;
	if (ok)
		file = eh2sframe_open_memory(out->data, out->size, "x", NULL, error);
	ok = ok && file && eh2sframe_file_dump(file, bytes_add, words, error) &&
	     eh2sframe_file_verify(file, NULL, bytes_add, words, error);
	eh2sframe_close(file);
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
	/* The library forbids this. The race is in its own code. */
	if (!eh2sframe_options_set(common, "quiet", NULL, &worker->error))
		worker->n_wrong++;
#endif

	for (size_t i = 0; i < ROUNDS; i++) {
		struct bytes out = {0}, words = {0};
		bool ok = convert(worker, i + worker->number, &out, &words);

		worker->n_wrong += !ok || !bytes_same(&out, &worker->alone) ||
				   !bytes_same(&words, &worker->words);
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
		snprintf(
		    workers[i].out, sizeof(workers[i].out), "%s/thread%zu", scratch(), i);
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
