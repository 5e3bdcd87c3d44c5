/* SPDX-License-Identifier: MIT */
/* A CIE pointer to the FDE itself, one into a record, one before the section. */
#include "raw.h"

	usual_cie cie
	begin self
	.long 4
	.long func - ., 0x10
	.uleb128 0
	end self
	begin inside
	.long . - cie - 4
	.long func - ., 0x10
	.uleb128 0
	end inside
	begin before
	.long 0x7fffffff
	.long func - ., 0x10
	.uleb128 0
	end before
	fde one, cie, 0, 0x10
	end one
