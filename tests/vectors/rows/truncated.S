/* SPDX-License-Identifier: MIT */
/* A length past the end: the walk stops, what was read stays. */
#include "raw.h"

	usual_cie cie
	fde one, cie, 0, 0x10
	end one
	.long 0x1000
	.zero 8
