/* SPDX-License-Identifier: MIT */
/* An FDE before its CIE: the CIE pointer is negative, and the CIE is found. */
#include "raw.h"

	fde one, cie, 0, 0x10
	end one
	usual_cie cie
