/* SPDX-License-Identifier: MIT */
/* What a process has mapped, as the lines of /proc/PID/maps say it. */
#ifndef BASE_MAPS_H
#define BASE_MAPS_H

#include <stdbool.h>
#include <stdint.h>

struct maps_line {
	uint64_t start, end; /* addresses; end is exclusive */
	uint64_t offset;     /* in the file */
	uint32_t major, minor;
	uint64_t inode;
	bool executable;
	const char *name; /* in the line; "": none */
};

/* Reads a line, and ends it behind the name. false: it is not such a line. */
bool maps_read(char *line, struct maps_line *to);

#endif
