/* SPDX-License-Identifier: MIT */
/* A record without room for a CIE pointer. */
#include "raw.h"

	usual_cie cie
	.long 2
	.short 0
	.balign 1
	fde one, cie, 0, 0x10
	end one
