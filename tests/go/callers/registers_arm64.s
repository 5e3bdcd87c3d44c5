// SPDX-License-Identifier: MIT
#include "textflag.h"

// func registers() (pc, sp, fp uintptr)
TEXT ·registers(SB), NOSPLIT|NOFRAME, $0-24
	MOVD R30, pc+0(FP)
	MOVD RSP, R0
	MOVD R0, sp+8(FP)
	MOVD R29, fp+16(FP)
	RET
