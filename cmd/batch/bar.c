/* SPDX-License-Identifier: MIT */
/* Draws the progress bar. */
#include "cmd/batch/bar.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { BATCH_BAR_PERIOD = 100, BATCH_BAR_WIDTH = 80, BATCH_BAR_MAX = 512 };

void batch_bar_init(struct batch_bar *bar, bool quiet)
{
	const char *term = getenv("TERM");

	*bar = (struct batch_bar){
	    .shown = !quiet && isatty(STDERR_FILENO) && term && strcmp(term, "dumb")};
}

int batch_bar_patience(const struct batch_bar *bar)
{
	return bar->shown ? BATCH_BAR_PERIOD : -1;
}

/* Writing to a terminal for each of 10,000 files would take most of the time. */
static bool batch_bar_due(struct batch_bar *bar)
{
	struct timespec now;
	int64_t passed;

	if (!bar->shown || clock_gettime(CLOCK_MONOTONIC, &now) != 0)
		return false;
	passed = (int64_t)(now.tv_sec - bar->last.tv_sec) * 1000 +
		 (now.tv_nsec - bar->last.tv_nsec) / 1000000;
	if (passed < BATCH_BAR_PERIOD)
		return false;
	bar->last = now;
	return true;
}

/* Cut the line to the width of the terminal, or erasing it would leave a rest behind. A
 * file's name must not move the cursor, and its characters may be wide. So show only
 * plain ones. */
static void batch_bar_draw(struct batch_bar *bar, char *line)
{
	struct winsize size = {0};
	size_t width = BATCH_BAR_WIDTH;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1)
		width = size.ws_col - 1U;
	if (strlen(line) > width)
		line[width] = '\0';
	for (char *p = line; *p; p++)
		if (*p < ' ' || *p > '~')
			*p = '?';
	fprintf(stderr, "\r%s\033[K", line);
	fflush(stderr);
	bar->drawn = true;
}

void batch_bar_working(struct batch_bar *bar)
{
	char line[BATCH_BAR_MAX];
	const double mib = 1 << 20;

	if (!batch_bar_due(bar))
		return;
	snprintf(line, sizeof(line),
	    "%3.0f%%  %" PRIu64 "/%" PRIu64 " files  %.1f/%.1f MiB  %s",
	    bar->bytes ? 100.0 * (double)bar->bytes_done / (double)bar->bytes : 0.0,
	    bar->n_done, bar->n_files, (double)bar->bytes_done / mib,
	    (double)bar->bytes / mib, bar->path ? bar->path : "");
	batch_bar_draw(bar, line);
}

void batch_bar_erase(struct batch_bar *bar)
{
	if (bar->drawn)
		fputs("\r\033[K", stderr);
	fflush(stderr);
	bar->drawn = false;
}
