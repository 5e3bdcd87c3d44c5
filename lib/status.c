/* SPDX-License-Identifier: MIT */
/* Kinds of errors to exit statuses. */
#include "lib/status.h"

enum eh2sframe_status status_of(enum err_kind kind)
{
	switch (kind) {
	case ERR_NONE:
		return EH2SFRAME_DONE;
	case ERR_UNSUPPORTED:
	case ERR_MALFORMED:
	case ERR_LIMIT:
		return EH2SFRAME_INPUT;
	case ERR_USAGE:
		return EH2SFRAME_USAGE;
	case ERR_IO:
		return EH2SFRAME_IO;
	case ERR_NOMEM:
		return EH2SFRAME_NO_MEMORY;
	case ERR_PROOF:
		return EH2SFRAME_PROOF;
	case ERR_COVERAGE:
		return EH2SFRAME_COVERAGE;
	case ERR_NOTHING:
		return EH2SFRAME_NOTHING;
	case ERR_INTERNAL:
		return EH2SFRAME_BUG;
	}
	return EH2SFRAME_BUG;
}
