/* SPDX-License-Identifier: MIT */
/* A signal that asks to stop: noted here, obeyed between 2 steps. */
#ifndef CMD_BATCH_SIGNAL_H
#define CMD_BATCH_SIGNAL_H

#include <signal.h>

/* The signal that asks to stop; 0: none yet. */
extern volatile sig_atomic_t batch_signal;

#endif
