/* SPDX-License-Identifier: MIT */
/* Being told to stop: noted here, acted on between two steps. */
#ifndef CMD_BATCH_SIGNAL_H
#define CMD_BATCH_SIGNAL_H

#include <signal.h>

/* The signal that asks to stop; 0: none yet. */
extern volatile sig_atomic_t batch_signal;

#endif
