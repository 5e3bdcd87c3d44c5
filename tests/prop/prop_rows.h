/* SPDX-License-Identifier: MIT */
/* One random section through the whole line, beside what it means. */
#ifndef TESTS_PROP_PROP_ROWS_H
#define TESTS_PROP_PROP_ROWS_H

#include "tests/prop/program.h"

/* Makes a section by the seed, which also decides machine and version, or by p->choices before it. The first
 * difference is printed, and ends the process. p->out is the caller's. */
void prop_rows_one(struct program *p, uint64_t seed);
/* Prints what all of them together had. */
void prop_rows_count(uint64_t iterations);
/* Ends the process where 1,000 or more had too little of something. */
void prop_rows_judge(const struct program *p);

#endif
