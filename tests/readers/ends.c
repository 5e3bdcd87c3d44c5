/* SPDX-License-Identifier: MIT */
#include "ends.h"

#include <assert.h>
#include <stdlib.h>

__attribute__((noreturn)) void __stack_chk_fail(void);

#define END(kind, n, call)                                                               \
	__attribute__((noipa)) static void kind##n(int value)                            \
	{                                                                                \
		__asm__ volatile(".rept " #n "\n\tnop\n\t.endr" ::"r"(value));           \
		call;                                                                    \
	}
#define SIXTEEN(DO, kind, call)                                                          \
	DO(kind, 0, call)                                                                \
	DO(kind, 1, call)                                                                \
	DO(kind, 2, call)                                                                \
	DO(kind, 3, call)                                                                \
	DO(kind, 4, call)                                                                \
	DO(kind, 5, call)                                                                \
	DO(kind, 6, call)                                                                \
	DO(kind, 7, call)                                                                \
	DO(kind, 8, call)                                                                \
	DO(kind, 9, call)                                                                \
	DO(kind, 10, call)                                                               \
	DO(kind, 11, call)                                                               \
	DO(kind, 12, call)                                                               \
	DO(kind, 13, call)                                                               \
	DO(kind, 14, call)                                                               \
	DO(kind, 15, call)

SIXTEEN(END, aborts, abort())
SIXTEEN(END, asserts, __assert_fail("value", "ends.c", 1, "asserts"))
SIXTEEN(END, smashes, __stack_chk_fail())
SIXTEEN(END, exits, exit(value))
SIXTEEN(END, looks, ends_look())

#define NAME(kind, n, call) kind##n,
void (*const ends_c[ENDS_KINDS][ENDS_SIZES])(int) = {{SIXTEEN(NAME, aborts, )},
    {SIXTEEN(NAME, asserts, )}, {SIXTEEN(NAME, smashes, )}, {SIXTEEN(NAME, exits, )},
    {SIXTEEN(NAME, looks, )}};
