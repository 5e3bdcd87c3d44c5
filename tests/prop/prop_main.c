/* SPDX-License-Identifier: MIT */
/* prop_rows ITERATIONS [SEED] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/prop/prop_rows.h"

int main(int argc, char **argv)
{
	static struct program p;
	uint64_t iterations = argc > 1 ? strtoull(argv[1], NULL, 0) : 100;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : (uint64_t)time(NULL);

	wr_init(&p.out, false);
	printf("seed 0x%" PRIx64 "\n", seed);
	/* Each section has a seed of its own, so that one can be had again alone. */
	for (uint64_t i = 0; i < iterations; i++)
		prop_rows_one(&p, seed + i);
	prop_rows_count(iterations);
	/* Only a long run of one process can tell if the programs are rich enough. */
	if (argc > 2 && iterations >= 1000)
		prop_rows_judge(&p);
	wr_deinit(&p.out);
	return EXIT_SUCCESS;
}
