/* SPDX-License-Identifier: MIT */
/* Functions that end in a call that does not return, in C (ends.c), C++ (ends.cc) and Rust (ends.rs): 16 of each kind, one byte
 * longer each, so that all distances to the next function occur. */
#ifndef READERS_ENDS_H
#define READERS_ENDS_H

#ifdef __cplusplus
extern "C" {
#endif

enum { ENDS_SIZES = 16, ENDS_KINDS = 5 };

/* Ends in abort, assert, the stack protector, exit, and a function of one's own. */
extern void (*const ends_c[ENDS_KINDS][ENDS_SIZES])(int);
enum { ENDS_EXIT = 3 };
/* Panics in as many ways as there are sizes. */
void ends_rust(int which);

/* Compares the two walks, and goes back to where the function was called. */
__attribute__((noreturn)) void ends_look(void);

#ifdef __cplusplus
}
#endif

#endif
