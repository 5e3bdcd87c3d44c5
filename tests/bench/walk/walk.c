/* SPDX-License-Identifier: MIT */
/*
 * walk [--optimize=HOW] [--only=NAME] [--rounds=N] SCENARIO DEPTH...: walks the same stacks with
 * each walker, in turn, in one process. SCENARIO is mix or libraries; cold-mix and
 * cold-libraries touch 48 MiB of other data before each walk. Prints a line for each depth and
 * walker: nanoseconds for a frame, least and median, and whether the PCs are those of
 * libgcc's walk. tests/bench/walk/run builds it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/bench/walk/stacks.h"
#include "tests/bench/walk/walkers.h"

enum {
	MAX_DEPTH = 2048,
	MAX_ROUNDS = 1000,
	OTHER_DATA = 48 << 20,
	BATCH_NS = 200000, /* short, so that other programs leave some alone */
	LINE = 64,
};

static struct walker walkers[MAX_WALKERS];
static size_t n_walkers;
static double times[MAX_WALKERS][MAX_ROUNDS];
static size_t n_rounds = 200;
static size_t depth;
static bool cold;
static unsigned char *other_data;
static uintptr_t reference[MAX_DEPTH], walked[MAX_DEPTH];
static volatile unsigned long sink;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* The first return address that no walker has as its own: where at_the_end was called. */
static uintptr_t first_pc;

/* True if the frames from first_pc on are those of the reference. */
static bool agrees(size_t w)
{
	size_t n = walkers[w].walk(walked, depth + 8), at = 0, ref = 0;

	while (at < n && walked[at] != first_pc)
		at++;
	while (reference[ref] != first_pc)
		ref++;
	return n - at >= depth - 8 &&
	       memcmp(walked + at, reference + ref, (depth - 8) * sizeof(*walked)) == 0;
}

static void touch_other_data(void)
{
	for (size_t i = 0; i < OTHER_DATA; i += LINE)
		other_data[i]++;
}

/* How many walks take BATCH_NS. */
static size_t batch_of(size_t w, size_t *n_frames)
{
	double start = now(), took;

	*n_frames = walkers[w].walk(walked, depth);
	for (int i = 0; i < 8; i++)
		sink += walkers[w].walk(walked, depth);
	took = (now() - start) / 8;
	return 1 + (size_t)(BATCH_NS / (took > 1 ? took : 1));
}

static double warm_time(size_t w, size_t batch, size_t n_frames)
{
	double start;

	for (int i = 0; i < 2; i++)
		sink += walkers[w].walk(walked, depth);
	start = now();
	for (size_t i = 0; i < batch; i++)
		sink += walkers[w].walk(walked, depth);
	return (now() - start) / (double)(batch * n_frames);
}

static double cold_time(size_t w)
{
	double start;
	size_t n;

	touch_other_data();
	start = now();
	n = walkers[w].walk(walked, depth);
	return (now() - start) / (double)n;
}

static int by_size(const void *a, const void *b)
{
	const double *one = a, *other = b;

	return *one < *other ? -1 : *one > *other;
}

/* Called at the end of the stack. */
static void measure(void)
{
	size_t batch[MAX_WALKERS], n_frames[MAX_WALKERS];

	first_pc = (uintptr_t)__builtin_return_address(0);
	walkers[0].walk(reference, depth + 8);
	/* The reference is libgcc's, where it is installed. */
	for (size_t w = 0; w < n_walkers; w++)
		if (strstr(walkers[w].name, "_Unwind_Backtrace"))
			walkers[w].walk(reference, depth + 8);
	for (size_t w = 0; w < n_walkers; w++)
		batch[w] = batch_of(w, &n_frames[w]);
	for (size_t r = 0; r < n_rounds; r++)
		for (size_t w = 0; w < n_walkers; w++)
			times[w][r] =
			    cold ? cold_time(w) : warm_time(w, batch[w], n_frames[w]);
	for (size_t w = 0; w < n_walkers; w++) {
		qsort(times[w], n_rounds, sizeof(double), by_size);
		printf("%s\t%zu\t%.2f\t%.2f\t%zu\t%s\n", walkers[w].name, depth,
		    times[w][0], times[w][n_rounds / 2], n_frames[w],
		    agrees(w) ? "same" : "other");
	}
}

static const char *option(const char *arg, const char *name)
{
	size_t n = strlen(name);

	return strncmp(arg, name, n) == 0 ? arg + n : NULL;
}

static void nothing(void)
{
}

/* Leaves the walkers whose names have the text. */
static void keep_only(const char *text)
{
	size_t n = 0;

	for (size_t w = 0; w < n_walkers; w++)
		if (strstr(walkers[w].name, text))
			walkers[n++] = walkers[w];
	n_walkers = n;
}

/* Peers first, and libcrypto: their files are to have rows, too. */
static bool open_walkers(const char *optimize)
{
	stack_libraries(0, nothing);
	n_walkers = peers_list(walkers, 0);
	if (!ours_open(optimize))
		return false;
	n_walkers = ours_list(walkers, n_walkers);
	other_data = calloc(1, OTHER_DATA);
	return other_data != NULL;
}

int main(int argc, char **argv)
{
	const char *optimize = "share", *only = "", *scenario, *value;
	int i = 1;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (; i < argc && argv[i][0] == '-'; i++) {
		if ((value = option(argv[i], "--optimize=")))
			optimize = value;
		else if ((value = option(argv[i], "--only=")))
			only = value;
		else if ((value = option(argv[i], "--rounds=")))
			n_rounds = strtoul(value, NULL, 10);
	}
	if (i + 1 >= argc || n_rounds < 1 || n_rounds > MAX_ROUNDS ||
	    !open_walkers(optimize))
		return EXIT_FAILURE;
	keep_only(only);
	scenario = argv[i];
	cold = strstr(scenario, "cold") != NULL;
	while (++i < argc) {
		depth = strtoul(argv[i], NULL, 10);
		if (depth < 16 || depth > MAX_DEPTH - 8)
			return EXIT_FAILURE;
		if (!strstr(scenario, "libraries"))
			stack_mix((int)depth, measure);
		else if (!stack_libraries((int)depth, measure))
			printf("# not installed: libcrypto.so.3\n");
	}
	return EXIT_SUCCESS;
}
