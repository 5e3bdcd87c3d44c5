/* SPDX-License-Identifier: MIT */
/*
 * --drop-epilogues: while a function leaves, its frame is taken down step by step, and
 * most rows of a section are about those few instructions. None of them calls anything,
 * so who only ever unwinds from calls has no use for these rows. Who samples has.
 */
#ifndef GEN_EPILOGUE_H
#define GEN_EPILOGUE_H

#include <stdint.h>

#include "cfi/row.h"
#include "gen/image.h"
#include "gen/target.h"

/*
 * Takes out of table every run of rows whose code, by its bytes in image, is nothing but
 * instructions that restore registers, raise the stack pointer and leave (struct arch:
 * epilogues), with one that leaves among them; the row before goes on over it, if it can
 * be said. Returns the bytes of code for which that is so.
 */
uint64_t epilogue_drop(
	const struct image *image, const struct target *target, struct cfi_table *table);

#endif
