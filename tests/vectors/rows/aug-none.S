/* SPDX-License-Identifier: MIT */
/* No augmentation: addresses are absolute, FDEs have no augmentation data. */
#include "raw.h"

	cie_head cie, 1,
	usual_rules cie
	begin one
	.long . - cie
	.quad func, 0x10
	.byte 0x44, 0x0e, 16
	end one
