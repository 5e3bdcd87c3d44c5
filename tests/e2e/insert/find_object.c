/* SPDX-License-Identifier: MIT */
/* Succeeds when glibc's _dl_find_object reports a main program together with its .eh_frame. It knows
 * only the text segment of a program between whose segments a page is free. */
#include <dlfcn.h>
#include <stdio.h>

int main(void)
{
	struct dl_find_object object;
	const char *frame, *start, *end;

	if (_dl_find_object((void *)main, &object) != 0)
		return 2;
	frame = object.dlfo_eh_frame;
	start = object.dlfo_map_start;
	end = object.dlfo_map_end;
	printf("%#tx bytes, .eh_frame_hdr at %#tx\n", end - start, frame - start);
	return frame < start || frame >= end;
}
