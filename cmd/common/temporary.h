/* SPDX-License-Identifier: MIT */
/* The temporary files that an ending signal removes: those of the library and of the
 * command. */
#ifndef CMD_COMMON_TEMPORARY_H
#define CMD_COMMON_TEMPORARY_H

#include <stdbool.h>

/* For eh2sframe_options_on_temporary; context is not used. The first call sets handlers
 * for INT, TERM and HUP, where there are none yet. Any thread may call it. */
void temporary_note(void *context, const char *path, bool exists);

#endif
