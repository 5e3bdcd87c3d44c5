/* SPDX-License-Identifier: MIT */
/*
 * Finds out which functions of a file can return. One can if a way from its first byte leads to a
 * return, through calls of functions that can. So functions that only call each other, and never end
 * otherwise, cannot.
 */
#ifndef GEN_CHECK_RETURNS_H
#define GEN_CHECK_RETURNS_H

#include "gen/check/callees.h"

struct validate_returns; /* heap object; what is known of one file */

/* Borrows callees. NULL when memory runs out. Freed with validate_returns_free. */
struct validate_returns *validate_returns_new(const struct validate_callees *callees);
void validate_returns_free(struct validate_returns *returns); /* accepts NULL */

/*
 * True if control that goes to addr can come back to the caller. Also true where that is not known.
 * Each part of the code is read once. Several threads may ask; the answer depends on the file alone,
 * unless memory runs out or it has more than 4 million places that control goes to.
 */
bool validate_may_return(struct validate_returns *returns, uint64_t addr);

#endif
