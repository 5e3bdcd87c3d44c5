/* SPDX-License-Identifier: MIT */
/* The record macros themselves: two FDEs of one CIE. */
#include "raw.h"

	usual_cie cie
	fde one, cie, 0, 0x10
	end one
	fde two, cie, 0x10, 0x10
	.byte 0x44, 0x0e, 16
	end two
