/* SPDX-License-Identifier: MIT */
#include "base/maps.h"

#include <stdio.h>
#include <string.h>

bool maps_read(char *line, struct maps_line *to)
{
	unsigned long long start, end, offset, inode;
	unsigned int major, minor;
	char protection[8];
	int at = 0;

	if (sscanf(line, "%llx-%llx %7s %llx %x:%x %llu %n", &start, &end, protection,
		&offset, &major, &minor, &inode, &at) < 7 ||
	    at == 0)
		return false;
	line[strcspn(line, "\n")] = '\0';
	*to = (struct maps_line){.start = start,
	    .end = end,
	    .offset = offset,
	    .major = major,
	    .minor = minor,
	    .inode = inode,
	    .executable = strchr(protection, 'x') != NULL,
	    .name = line + at};
	return true;
}
