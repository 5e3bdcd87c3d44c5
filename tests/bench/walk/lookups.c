/* SPDX-License-Identifier: MIT */
/*
 * lookups [--optimize=HOW] FILE: what it costs to find the rule for a PC in a
 * large section. PCs are random, each function as likely as the next, or 2,048 hot ones of
 * these. Each look-up waits for the one before. Prints a line: bytes of the section and of its
 * index, functions, then least nanoseconds of many rounds: random PCs with the section as it
 * lies and with an index, hot ones, and libgcc's _Unwind_Find_FDE for the same PCs, which finds
 * the FDE alone (- when the file cannot be loaded). tests/bench/walk/run builds it.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "include/eh2sframe.h"
#include "include/eh2sframe-walk.h"

enum { N_PCS = 1 << 16, N_HOT = 2048, N_ROUNDS = 40, PART = 512 };

/* libgcc's; of no header that is installed. */
struct bases {
	void *text, *data, *function;
};
const void *_Unwind_Find_FDE(void *pc, struct bases *bases);

static uint64_t pcs[N_PCS], hot[N_PCS];
static uint64_t seed = 88172645463325252;

static uint64_t random_below(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % n;
}

static struct eh2sframe_result *convert(
    const char *path, const char *optimize, struct eh2sframe_file **file)
{
	struct eh2sframe_options *options = eh2sframe_options_new();
	struct eh2sframe_result *result = NULL;
	bool ok = options && eh2sframe_options_set(options, "format", "3", NULL) &&
		  eh2sframe_options_set(options, "no-verify", NULL, NULL) &&
		  eh2sframe_options_set(options, "optimize", optimize, NULL);

	*file = ok ? eh2sframe_open_path(path, options, NULL) : NULL;
	if (*file)
		result = eh2sframe_convert(*file, NULL, NULL);
	eh2sframe_options_free(options);
	return result;
}

/* From functions as the file has them, whatever the section makes of them. */
static bool choose_pcs(const char *path)
{
	struct eh2sframe_file *file;
	struct eh2sframe_result *result = convert(path, "none", &file);
	struct eh2sframe_function function = {.struct_size = sizeof(function)};
	uint64_t n =
	    result ? eh2sframe_result_count(result, EH2SFRAME_COUNT_SECTION_FUNCTIONS)
		   : 0;

	for (size_t i = 0; n && i < N_PCS; i++) {
		while (!eh2sframe_result_function(result, random_below(n), &function) ||
		       function.flags & EH2SFRAME_FLAG_REPEATS)
			;
		pcs[i] = function.start + random_below(function.size);
	}
	for (size_t i = 0; i < N_PCS; i++)
		hot[i] = pcs[random_below(N_HOT)];
	eh2sframe_result_free(result);
	eh2sframe_close(file);
	return n != 0;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static size_t n_without;

/* Each part of the list takes its least time of all rounds: what other programs do to the
 * machine lasts longer. Between two rounds of a part all others come, as in a long list. */
static double least_of_all(double (*look_up_part)(const void *what, const uint64_t *list),
    const void *what, const uint64_t *list)
{
	static double least[N_PCS / PART];
	double sum = 0;

	for (size_t i = 0; i < N_PCS / PART; i++)
		least[i] = 1e12;
	n_without = 0;
	for (int r = 0; r < N_ROUNDS; r++)
		for (size_t i = 0; i < N_PCS / PART; i++) {
			double took = look_up_part(what, list + i * PART);

			least[i] = took < least[i] ? took : least[i];
		}
	for (size_t i = 0; i < N_PCS / PART; i++)
		sum += least[i];
	return sum / N_PCS;
}

/* No rule has bit 31, which the compiler does not know: the next PC waits for this one. */
static double look_up_part(const void *what, const uint64_t *list)
{
	double start = now();

	for (size_t i = 0; i < PART; i++) {
		struct eh2sframe_rule rule = {0};

		n_without += eh2sframe_walk_look_up(what, list[i], &rule) !=
			     EH2SFRAME_WALK_WHY_GOES_ON;
		i += rule.flags >> 31;
	}
	return now() - start;
}

static double find_part(const void *bias, const uint64_t *list)
{
	double start = now();

	for (size_t i = 0; i < PART; i++) {
		struct bases bases;
		uint64_t pc = list[i] + *(const uint64_t *)bias + 1;

		i += _Unwind_Find_FDE((void *)(uintptr_t)pc, &bases) == (void *)1;
	}
	return now() - start;
}

/* Where the loader puts the file; false when it cannot load it. */
static bool loaded_at(const char *path, uint64_t *bias)
{
	void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	struct link_map *map;

	if (!library || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0)
		return false;
	*bias = map->l_addr;
	return true;
}

static void print_times(struct eh2sframe_walk_section *section, const char *path)
{
	double plain = least_of_all(look_up_part, section, pcs),
	       hot_plain = least_of_all(look_up_part, section, hot);
	size_t size = eh2sframe_walk_index_size(section);
	void *memory = malloc(size);
	uint64_t bias;

	if (!memory)
		return;
	eh2sframe_walk_index_make(section, memory);
	printf("%zu\t%.1f\t%.1f", size, plain, least_of_all(look_up_part, section, pcs));
	printf("\t%.1f\t%.1f", hot_plain, least_of_all(look_up_part, section, hot));
	if (loaded_at(path, &bias))
		printf("\t%.1f\t%.1f", least_of_all(find_part, &bias, pcs),
		    least_of_all(find_part, &bias, hot));
	else
		printf("\t-\t-");
	printf("\t%zu\n", n_without);
	free(memory);
}

int main(int argc, char **argv)
{
	const char *optimize = "share";
	struct eh2sframe_walk_section section;
	struct eh2sframe_file *file = NULL;
	struct eh2sframe_result *result = NULL;
	void *bytes = NULL;
	size_t size;
	int i = 1;

	for (; i < argc && argv[i][0] == '-'; i++) {
		if (strncmp(argv[i], "--optimize=", 11) == 0)
			optimize = argv[i] + 11;
	}
	if (i + 1 == argc && choose_pcs(argv[i]))
		result = convert(argv[i], optimize, &file);
	if (!result || !eh2sframe_result_section(result, 0, &bytes, &size, NULL) ||
	    !eh2sframe_walk_open(&section, bytes, size, 0, 0, UINT64_MAX))
		return EXIT_FAILURE;
	printf("%zu\t%" PRIu64 "\t", size,
	    eh2sframe_result_count(result, EH2SFRAME_COUNT_SECTION_FUNCTIONS));
	eh2sframe_result_free(result);
	eh2sframe_close(file);
	print_times(&section, argv[i]);
	eh2sframe_free(bytes);
	return EXIT_SUCCESS;
}
