/* SPDX-License-Identifier: MIT */
/* FDEs whose CIE is themselves, each other, or in the middle of a record. */
#include "raw.h"
	usual_cie cie
	begin self
	.long . - self
	.long func - .
	.long 16
	.uleb128 0
	end self
	begin first
	.long . - second
	.long func + 16 - .
	.long 16
	.uleb128 0
	end first
	begin second
	.long . - first
	.long func + 32 - .
	.long 16
	.uleb128 0
	end second
	begin middle
	.long . - cie - 4
	.long func + 48 - .
	.long 16
	.uleb128 0
	end middle
	.long 0
