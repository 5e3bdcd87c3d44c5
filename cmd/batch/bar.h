/* SPDX-License-Identifier: MIT */
/* The progress bar: one line on standard error, if that is a terminal. */
#ifndef CMD_BATCH_BAR_H
#define CMD_BATCH_BAR_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct batch_bar {
	bool shown; /* false: draw nothing */
	bool drawn; /* there is one to be erased */
	struct timespec last;
	uint64_t n_files, n_done, bytes, bytes_done;
	const char *path; /* a file in work; NULL: none */
};

/* Shown on a terminal, unless the user wants quiet. */
void batch_bar_init(struct batch_bar *bar, bool quiet);
/* Call it while files are converted; it draws the counts in bar a few times a second. */
void batch_bar_working(struct batch_bar *bar);
/* Call it before anything else is printed, and at the end. */
void batch_bar_erase(struct batch_bar *bar);

/* The longest time to wait before it must be drawn again; -1: forever. */
int batch_bar_patience(const struct batch_bar *bar);

#endif
