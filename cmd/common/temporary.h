/* SPDX-License-Identifier: MIT */
/* Temporary files that a signal to end removes: those of the library, and others can
 * be. */
#ifndef CMD_COMMON_TEMPORARY_H
#define CMD_COMMON_TEMPORARY_H

#include <stdbool.h>

/* For eh2sframe_options_on_temporary; context is not used. Handles INT, TERM and HUP from
 * the first call on, where nobody else does. Any thread may call it. */
void temporary_note(void *context, const char *path, bool exists);

#endif
