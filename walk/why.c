/* SPDX-License-Identifier: MIT */
/* Words for why a walk ended. */
#include "include/eh2sframe-walk.h"

const char *eh2sframe_walk_why_text(enum eh2sframe_walk_why why)
{
	switch (why) {
	case EH2SFRAME_WALK_WHY_GOES_ON:
		return "it goes on";
	case EH2SFRAME_WALK_WHY_OUTERMOST:
		return "outermost frame";
	case EH2SFRAME_WALK_WHY_LIMIT:
		return "limit of frames";
	case EH2SFRAME_WALK_WHY_NO_MODULE:
		return "no known file";
	case EH2SFRAME_WALK_WHY_NO_ROW:
		return "no row";
	case EH2SFRAME_WALK_WHY_LOST_REGISTER:
		return "lost register";
	case EH2SFRAME_WALK_WHY_CUT_OFF:
		return "memory that cannot be read";
	case EH2SFRAME_WALK_WHY_CONTRADICTION:
		return "contradiction";
	case EH2SFRAME_WALK_WHY_DAMAGED:
		return "damaged section";
	case EH2SFRAME_WALK_WHY_ZERO:
		return "return address 0";
	}
	return "unknown reason";
}
