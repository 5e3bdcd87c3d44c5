/* SPDX-License-Identifier: MIT */
/* set_loc with the encoding of the CIE, forwards and then nowhere. */
#include "raw.h"

	usual_cie cie
	fde one, cie, 0, 0x10
	.byte 0x01
	.long func + 8 - .
	.byte 0x0e, 16
	.byte 0x01
	.long func + 8 - .
	.byte 0x0e, 24
	end one
