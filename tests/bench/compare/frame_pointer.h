/* SPDX-License-Identifier: MIT */
/*
 * Frame pointers alone: where a walker that only follows them finds the caller, by what the
 * rows say. It takes the return address and the caller's FP from the pair that FP holds
 * the address of. On x86-64 and AArch64 the pair is FP first, then the return address.
 *
 * Rows that take the CFA from SP do not say whether FP leads to the pair. Such code counts
 * as FORMATS_FRAME_UNSAID when the pair is saved, and as FORMATS_NO_FRAME otherwise. On
 * s390x walkers follow a back chain that no row speaks of, so nothing can be said.
 */
#ifndef TESTS_BENCH_COMPARE_FRAME_POINTER_H
#define TESTS_BENCH_COMPARE_FRAME_POINTER_H

#include "tests/bench/compare/func.h"

void formats_frame_pointer_begin(struct formats_result *result);
void formats_frame_pointer_add(
    struct formats_result *result, const struct formats_func *func);

/* True if the walk finds the caller of a frame with this answer. */
enum formats_reason formats_frame_pointer(
    const struct formats_machine *machine, const struct formats_answer *answer);

#endif
