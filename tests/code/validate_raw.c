/* SPDX-License-Identifier: MIT */
/* validate_raw FILE...: what the code says of the CFI, for trials. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "gen/validate/validate.h"

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void print_rule(const char *name, const struct cfi_rule *r)
{
	printf(" %s=%d:%d%+" PRId64 "+%d", name, r->kind, r->reg, r->off, r->add);
}

int main(int argc, char **argv)
{
	struct options options;
	bool faults = getenv("FAULTS");

	options_init(&options);
	for (int i = 1; i < argc; i++) {
		struct image image = {0};
		struct cfi_input input = {0};
		struct validate_result r = {0};
		struct err err = {0};
		double start = now();

		if (!image_open(argv[i], &image, &err) ||
		    !cfi_input_read(&image, &image, &options, &input, &err) ||
		    !validate_cfi(&image, &input, getenv("JOBS") ? (unsigned)atoi(getenv("JOBS")) : 2, &r, &err)) {
			image_close(&image);
			continue;
		}
		double t = now() - start;
		size_t n = r.n_fdes - r.n_not_looked_at;
		printf("%s: fdes %zu confirmed %.3f%% review %zu open %zu wrong %zu; skipped %zu; insns %" PRIu64
		       " seeded %.2f%%; %.1f us/fde; faults %zu\n",
		    argv[i], n, n ? 100.0 * (double)r.n_of[0] / (double)n : 0, r.n_of[1], r.n_of[2], r.n_of[3],
		    r.n_not_looked_at, r.instructions,
		    r.instructions ? 100.0 * (double)r.seeded / (double)r.instructions : 0,
		    n ? t * 1e6 / (double)n : 0, r.n_faults);
		for (size_t f = 0; faults && f < r.n_faults; f++) {
			struct validate_fault *p = &r.faults[f];
			printf("  %" PRIx64 "-%" PRIx64 " n=%u fde %" PRIx64 " kind %d col %d found %d:%u%+" PRId64, p->start,
			    p->end, p->n_instructions, input.ranges.list[p->range].start, p->kind,
			    p->answer.column, p->answer.found.kind, p->answer.found.symbol, p->answer.found.off);
			print_rule("cfa", &p->row.cfa);
			print_rule("ra", &p->row.ra);
			print_rule("fp", &p->row.fp);
			printf(" row %" PRIx64 "\n", p->row.pc);
		}
		for (size_t f = 0; getenv("STATES") && f < r.n_ranges; f++)
			if (r.ranges[f].state == 1 || r.ranges[f].state == 2)
				printf("  range %" PRIx64 " first %" PRIx64 " state %d reviews %d agree %u of %u\n",
				    input.ranges.list[f].start, r.ranges[f].first_open, r.ranges[f].state, r.ranges[f].reviews,
				    r.ranges[f].agreeing, r.ranges[f].instructions);
		validate_result_deinit(&r);
		cfi_input_deinit(&input);
		image_close(&image);
	}
	options_deinit(&options);
	return 0;
}
