/* SPDX-License-Identifier: MIT */
/* An FDE of no code is no FDE. */
#include "raw.h"

	usual_cie cie
	fde one, cie, 0, 0
	end one
	fde two, cie, 0, 0x10
	end two
