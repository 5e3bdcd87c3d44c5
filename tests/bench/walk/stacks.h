/* SPDX-License-Identifier: MIT */
/* The stacks that tests/bench/walk walks. */
#ifndef TESTS_BENCH_WALK_STACKS_H
#define TESTS_BENCH_WALK_STACKS_H

#include <stdbool.h>

/* Eight functions with frames of 8 to 600 bytes call each other, depth times; the last one
 * calls then. */
void stack_mix(int depth, void (*then)(void));

/* qsort of libc and OPENSSL_LH_doall of libcrypto call back in turn. false: no libcrypto. */
bool stack_libraries(int depth, void (*then)(void));

#endif
