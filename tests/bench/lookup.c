/* SPDX-License-Identifier: MIT */
/*
 * lookup PLAIN ONE OTHER: what a lookup costs in the last two of three bare sections
 * (eh2sframe section) of the same file; of the first, where each function has an FDE, are
 * the addresses. Looks them up as a reader does: binary search over the FDEs, then row
 * after row. Prints nanoseconds for each, their ratio, and rows walked through, as
 * medians of interleaved rounds. Built by tests/bench/sizes, with the system's compiler.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N_PCS = 1 << 18, N_ROUNDS = 15, HDR_SIZE = 28 };

struct section {
	unsigned char *data;
	uint32_t n_funcs, func_size;
	const unsigned char *funcs, *rows;
	unsigned int version;
};

static uint64_t get(const unsigned char *p, unsigned int n)
{
	uint64_t v = 0;

	memcpy(&v, p, n);
	return v;
}

static struct section section_open(const char *path)
{
	struct section section = {0};
	FILE *file = fopen(path, "rb");
	long size;

	if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < HDR_SIZE ||
	    fseek(file, 0, SEEK_SET))
		exit(EXIT_FAILURE);
	section.data = malloc((size_t)size);
	if (!section.data || fread(section.data, 1, (size_t)size, file) != (size_t)size)
		exit(EXIT_FAILURE);
	fclose(file);
	section.version = section.data[2];
	section.func_size = section.version == 3 ? 16 : 20;
	section.n_funcs = (uint32_t)get(section.data + 8, 4);
	section.funcs = section.data + HDR_SIZE + get(section.data + 20, 4);
	section.rows = section.data + HDR_SIZE + get(section.data + 24, 4);
	return section;
}

/* Relative to the field, in a section at address 0. */
static int64_t start_of(const struct section *section, uint32_t i)
{
	const unsigned char *func = section->funcs + (size_t)i * section->func_size;

	return func - section->data +
	       (section->version == 3 ? (int64_t)get(func, 8) : (int32_t)get(func, 4));
}

static uint32_t size_of(const struct section *section, uint32_t i)
{
	return (uint32_t)get(section->funcs + (size_t)i * section->func_size +
				 (section->version == 3 ? 8 : 4),
	    4);
}

/* Reads from an FDE what any reader needs; *row is the first row. */
static uint32_t rows_of(const struct section *section, uint32_t i,
    const unsigned char **row, unsigned int *width, unsigned int *rep_size)
{
	const unsigned char *func = section->funcs + (size_t)i * section->func_size;
	unsigned int info;
	uint32_t n;

	if (section->version == 3) {
		const unsigned char *attr = section->rows + get(func + 12, 4);

		n = (uint32_t)get(attr, 2);
		info = attr[2];
		*rep_size = info & 0x10 ? attr[4] : 0;
		*row = attr + 5;
	} else {
		n = (uint32_t)get(func + 12, 4);
		info = func[16];
		*rep_size = info & 0x10 ? func[17] : 0;
		*row = section->rows + get(func + 8, 4);
	}
	*width = 1u << (info & 15);
	return n;
}

/* The info byte of the row for pc and the row's place in the FDE, or 0. */
static unsigned int lookup(const struct section *section, int64_t pc, uint64_t *walked)
{
	uint32_t low = 0, high = section->n_funcs, n;
	const unsigned char *row, *found = NULL;
	unsigned int width, rep_size;
	uint64_t off;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (start_of(section, middle) <= pc)
			low = middle;
		else
			high = middle;
	}
	off = (uint64_t)(pc - start_of(section, low));
	if (off >= size_of(section, low))
		return 0;
	n = rows_of(section, low, &row, &width, &rep_size);
	off = rep_size ? off % rep_size : off;
	for (; n > 0 && get(row, width) <= off; n--) {
		unsigned int info = row[width];

		found = row;
		row += width + 1 + ((info >> 1 & 15) << (info >> 5 & 3));
		++*walked;
	}
	if (!found)
		return 0;
	/* The word behind it, if there is one, is the CFA's: the same in both. */
	return found[width] | (found[width] & 0x1e ? found[width + 1] << 8 : 0u);
}

/* Others may be at work: what they take is not counted. */
static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double round_of(
    const struct section *section, const int64_t *pcs, uint64_t *sum, uint64_t *walked)
{
	double begin = now();

	*sum = *walked = 0;
	for (int i = 0; i < N_PCS; i++)
		*sum = *sum * 31 + lookup(section, pcs[i], walked);
	return (now() - begin) / N_PCS;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Anywhere in any function, each as likely as the next. */
static void choose(const struct section *section, int64_t *pcs)
{
	uint64_t state = 1;

	for (int i = 0; i < N_PCS; i++) {
		uint32_t func, off;

		state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
		func = (uint32_t)((state >> 32) % section->n_funcs);
		state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
		off = (uint32_t)((state >> 32) % size_of(section, func));
		pcs[i] = start_of(section, func) + off;
	}
}

int main(int argc, char **argv)
{
	static int64_t pcs[N_PCS];
	double times[2][N_ROUNDS], ratios[N_ROUNDS];
	uint64_t sums[2], walked[2], sum, ignored;
	struct section plain, sections[2];

	if (argc != 4)
		return EXIT_FAILURE;
	plain = section_open(argv[1]);
	sections[0] = section_open(argv[2]);
	sections[1] = section_open(argv[3]);
	choose(&plain, pcs);
	round_of(&plain, pcs, &sum, &ignored);
	for (int i = 0; i < N_ROUNDS; i++) {
		for (int j = 0; j < 2; j++)
			times[j][i] = round_of(&sections[j], pcs, &sums[j], &walked[j]);
		ratios[i] = times[1][i] / times[0][i];
		if (sums[0] != sum || sums[1] != sum) {
			fprintf(stderr, "the sections answer differently\n");
			return EXIT_FAILURE;
		}
	}
	qsort(times[0], N_ROUNDS, sizeof(double), compare);
	qsort(times[1], N_ROUNDS, sizeof(double), compare);
	qsort(ratios, N_ROUNDS, sizeof(double), compare);
	printf("%.0f %.0f %.2f %.1f %.1f\n", times[0][N_ROUNDS / 2],
	    times[1][N_ROUNDS / 2], ratios[N_ROUNDS / 2], (double)walked[0] / N_PCS,
	    (double)walked[1] / N_PCS);
	return EXIT_SUCCESS;
}
