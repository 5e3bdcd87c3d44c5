/* SPDX-License-Identifier: MIT */
/* One sound FDE among programs that do not end, pop an empty stack, or are unknown. */
#include "raw.h"
	usual_cie cie
	fde sound, cie, 0, 16
	end sound
	fde endless, cie, 16, 16
	.byte 0x0e			/* def_cfa_offset */
	.fill 39, 1, 0x80
	end endless
	fde pops, cie, 32, 16
	.byte 0x41, 0x0b		/* advance, restore_state */
	end pops
	fde unknown, cie, 48, 16
	.byte 0x41, 0x3e
	end unknown
	fde cut, cie, 64, 16
	.byte 0x41, 0, 0x0f		/* def_cfa_expression, longer than the record */
	.uleb128 1000
	end cut
	.long 0x7fffff00
