// SPDX-License-Identifier: MIT
#include "textflag.h"

// func registers() (pc, sp, fp uintptr)
TEXT ·registers(SB), NOSPLIT|NOFRAME, $0-24
	MOVQ 0(SP), AX
	MOVQ AX, pc+0(FP)
	LEAQ 8(SP), AX
	MOVQ AX, sp+8(FP)
	MOVQ BP, fp+16(FP)
	RET
