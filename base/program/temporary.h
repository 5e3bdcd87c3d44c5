/* SPDX-License-Identifier: MIT */
/* The temporary files that an ending signal removes: those of the library and of the
 * command. */
#ifndef BASE_PROGRAM_TEMPORARY_H
#define BASE_PROGRAM_TEMPORARY_H

#include <signal.h>
#include <stdbool.h>

/* The signals that ask the program to end, or end it because nobody expects them: as a list,
 * and as a set. */
enum { TEMPORARY_N_SIGNALS = 10 };
extern const int temporary_signals[TEMPORARY_N_SIGNALS];
void temporary_signal_set(sigset_t *set);

/* For eh2sframe_options_on_temporary; context is not used. The first call sets handlers
 * for these signals, where there are none yet. One thread at a time calls it. */
void temporary_note(void *context, const char *path, bool exists);

/*
 * Faults of the program itself (a bug, a stack that is too small, a file that became
 * shorter while it was read): removes the files, says what happened and ends the program
 * with a status. For the main thread; where nothing else handles these signals.
 */
void temporary_handle_faults(void);
/* Gives faults back to the system, which ends the process. */
void temporary_leave_faults(void);
/* From now on the fault is one after the conversion (PRINT_NOT_TOLD). */
void temporary_converted(void);

#endif
