/* SPDX-License-Identifier: MIT */
/*
 * Functions that end in a call, as to abort(). The return address is then the address behind the function, and glibc and
 * Linux look up just that address, not the byte before it: without a row there a crash's stack ends in its first frame. So the
 * last row reaches over one unit of the filler behind (struct arch), which nothing ever runs.
 */
#ifndef GEN_ROWS_LAST_CALLS_H
#define GEN_ROWS_LAST_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "gen/arch/arch.h"
#include "gen/elf/window.h"
#include "gen/rows/coverage.h"
#include "gen/sources/input.h"
#include "sframe/model.h"

enum { LAST_CALL_SIZE = 16 }; /* bytes; no instruction is longer */

/* True if the size bytes in front of the address end end in a call, by their bytes. They can be the end of another instruction, too: to
 * take that for a call gives a row to filler, which harms nobody. */
bool last_call_is(const struct image *image, const struct arch *arch,
    const uint8_t *bytes, uint64_t size, uint64_t end);

/* True if [start, end) is the first unit behind a call, and filler is there, which may go on up to limit. */
bool last_call_reaches(struct image_window *code, const struct arch *arch, uint64_t start,
    uint64_t end, uint64_t limit);

/* True if all from end, where a function ends in a call, up to limit, or up to the end of its segment, is filler: at least a unit of it. */
bool last_call_open(
    struct image_window *code, const struct arch *arch, uint64_t end, uint64_t limit);

/* Makes the functions of a sorted model reach over the filler behind the calls that coverage_text found. */
void last_calls_reach(
    const struct arch *arch, const struct coverage *coverage, struct sf_section *section);

/* Counts at which return addresses of such calls the model has the row of the call, and puts the others first. */
void last_calls_count(const struct sf_section *section, struct coverage *coverage);

#endif
