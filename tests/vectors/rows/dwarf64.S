/* SPDX-License-Identifier: MIT */
/* A 64-bit record is passed over by its length; what follows is read. */
#include "raw.h"

	usual_cie cie
	.long 0xffffffff
	.quad 16
	.zero 16
	fde one, cie, 0, 0x10
	end one
