/* SPDX-License-Identifier: MIT */
/*
 * The main function of a fuzz target without libFuzzer: calls it for files as they are,
 * for the damage a ledger lists, and for seeded mutants, each in a process under limits
 * (guard.h).
 *
 *     fuzz_elf --count=5000 --seed=1 --ledger=ledger.txt c=FILE converted=FILE
 *     fuzz_elf --edit='set ehdr+0x28 8 0xffff; bare' c=FILE
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/driver/drive.h"
#include "tests/fuzz/driver/guard.h"

enum { BATCH = 50, RSS_MIB = 1024, MAX_FAILURES = 20 };

static const struct option long_options[] = {
    {"seed", required_argument, NULL, 's'},
    {"count", required_argument, NULL, 'n'},
    {"first", required_argument, NULL, 'f'},
    {"ledger", required_argument, NULL, 'l'},
    {"edit", required_argument, NULL, 'e'},
    {"jobs", required_argument, NULL, 'j'},
    {"keep", required_argument, NULL, 'k'},
    {"cpu", required_argument, NULL, 'c'},
    {"seeds", required_argument, NULL, 'w'},
    {0},
};

#if defined(__has_feature)
#define DRIVE_HAS_FEATURE(x) __has_feature(x)
#else
#define DRIVE_HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || DRIVE_HAS_FEATURE(address_sanitizer)
/* Mutant 4694 of fuzz_elf, whose rows end at a limit, takes 5.3 s here, and 0.6 s without a sanitizer. */
enum { CPU_SECONDS = 15 };
/* Freed memory is kept for a while, which must not look like hunger. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "quarantine_size_mb=16:max_allocation_size_mb=1024:allocator_may_return_"
	       "null=0";
}
#else
enum { CPU_SECONDS = 5 };
#endif

static void mutant(const struct drive *drive, size_t i, struct drive_case *one)
{
	size_t mutation = i - drive->n_listed;
	uint64_t state;

	if (i < drive->n_listed) {
		*one = drive->listed[i];
		return;
	}
	mutation += drive->first;
	one->base = &drive->bases[mutation % drive->n_bases];
	/* Numbers near each other give streams far from each other. */
	state = drive->seed * UINT64_C(0xd1342543de82ef95) +
		mutation * UINT64_C(0x2545f4914f6cdd1d);
	one->n_edits = edit_random(&one->base->map, one->base->bytes.data,
	    one->base->bytes.size, &state, one->edits);
}

static void build(const struct drive_case *one, struct wr *bytes)
{
	wr_init(bytes, false);
	wr_bytes(bytes, one->base->bytes.data, one->base->bytes.size);
	for (size_t i = 0; i < one->n_edits; i++)
		edit_apply(&one->edits[i], bytes);
	if (bytes->failed) {
		fputs("out of memory\n", stderr);
		exit(EXIT_FAILURE);
	}
}

static void run(void *context, size_t i)
{
	struct drive_case one;
	uint8_t *exact;
	struct wr bytes;

	mutant(context, i, &one);
	build(&one, &bytes);
	/* A block of just that size, so that a read past the end is seen. */
	exact = malloc(bytes.size ? bytes.size : 1);
	if (!exact)
		exit(EXIT_FAILURE);
	if (bytes.size)
		memcpy(exact, bytes.data, bytes.size);
	LLVMFuzzerTestOneInput(exact, bytes.size);
	free(exact);
	wr_deinit(&bytes);
}

static void keep(const struct drive *drive, const struct drive_case *one, size_t i)
{
	char path[4096];
	struct wr bytes;
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s-%llu-%zu", drive->keep_dir, one->base->name,
	    (unsigned long long)drive->seed, i);
	build(one, &bytes);
	out = fopen(path, "wb");
	if (out && fwrite(bytes.data, 1, bytes.size, out) == bytes.size)
		fprintf(stderr, "  written to %s\n", path);
	if (out)
		fclose(out);
	wr_deinit(&bytes);
}

static void failed(void *context, size_t i, const char *how)
{
	struct drive *drive = context;
	struct drive_case one;
	char text[EDIT_TEXT];

	if (++drive->n_told > MAX_FAILURES)
		return;
	mutant(drive, i, &one);
	edit_print(one.edits, one.n_edits, text);
	if (i < drive->n_listed)
		fprintf(stderr, "FAILED: case %zu of the list: %s\n", i, how);
	else
		fprintf(stderr, "FAILED: mutant %zu of seed %llu: %s\n",
		    i - drive->n_listed + drive->first, (unsigned long long)drive->seed,
		    how);
	fprintf(stderr, "  %s: %s\n", one.base->name, text);
	if (drive->keep_dir)
		keep(drive, &one, i);
}

/* The files, and what the ledger lists: inputs for a fuzzer to begin with. */
static void keep_listed(const struct drive *drive)
{
	struct drive_case one;

	for (size_t i = 0; i < drive->n_listed; i++) {
		mutant(drive, i, &one);
		keep(drive, &one, i);
	}
}

static bool parse_options(int argc, char **argv, struct drive *drive)
{
	int opt;

	*drive = (struct drive){.seed = 1, .cpu_seconds = CPU_SECONDS};
	while ((opt = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		switch (opt) {
		case 's':
			drive->seed = strtoull(optarg, NULL, 0);
			break;
		case 'n':
			drive->count = (size_t)strtoull(optarg, NULL, 0);
			break;
		case 'f':
			drive->first = (size_t)strtoull(optarg, NULL, 0);
			break;
		case 'l':
			drive->ledger = optarg;
			break;
		case 'e':
			drive->edit = optarg;
			break;
		case 'j':
			drive->jobs = (unsigned int)strtoul(optarg, NULL, 0);
			break;
		case 'w':
			drive->only_keep = true;
			drive->keep_dir = optarg;
			break;
		case 'k':
			drive->keep_dir = optarg;
			break;
		case 'c':
			drive->cpu_seconds = (unsigned int)strtoul(optarg, NULL, 0);
			break;
		default:
			return false;
		}
	}
	return optind < argc;
}

int main(int argc, char **argv)
{
	struct guard guard = {
	    .batch = BATCH, .rss_mib = RSS_MIB, .run = run, .failed = failed};
	struct drive drive;
	size_t n_failed;

	if (!parse_options(argc, argv, &drive) ||
	    !drive_load(&drive, argv + optind, (size_t)(argc - optind))) {
		fprintf(stderr,
		    "Usage: %s [--count=N] [--seed=N] [--first=N] [--ledger=FILE]\n"
		    "  [--edit=TEXT] [--jobs=N] [--cpu=SECONDS] [--keep=DIR] "
		    "[NAME=]FILE...\n"
		    "       %s --seeds=DIR [NAME=]FILE...\n",
		    argv[0], argv[0]);
		return 2;
	}
	if (drive.only_keep) {
		keep_listed(&drive);
		drive_deinit(&drive);
		return EXIT_SUCCESS;
	}
	guard.n = drive.n_listed + drive.count;
	guard.jobs =
	    drive.jobs ? drive.jobs : (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	guard.cpu_seconds = drive.cpu_seconds;
	guard.context = &drive;
	drive_make_dir();
	n_failed = guard_run(&guard);
	drive_remove_dir();
	printf("%zu listed cases and %zu mutants (seed %llu) of %zu files: %zu failed\n",
	    drive.n_listed, drive.count, (unsigned long long)drive.seed, drive.n_bases,
	    n_failed);
	drive_deinit(&drive);
	return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
