/* SPDX-License-Identifier: MIT */
/* show RECORDING: prints a line for each sample: process, thread, name, why the walk ended, then its frames,
 * first one first, as PATH+ADDRESS, or the symbol of the kernel. For the tests alone. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "profile/profile.h"

static void show_frame(const struct profile *profile, const struct profile_frame *frame)
{
	const char *path = frame->kind <= PROFILE_FRAME_KERNEL
			       ? profile->modules[frame->module].path
			   : frame->kind == PROFILE_FRAME_JIT ? "JIT"
							      : "?";

	printf("\t%s+%" PRIx64 "%s%s%s%s", path, frame->address,
	    frame->flags & PROFILE_FRAME_EXACT ? "!" : "",
	    frame->flags & PROFILE_FRAME_GUESSED ? "?" : "", frame->name ? "=" : "",
	    frame->name ? frame->name : "");
}

int main(int argc, char **argv)
{
	struct profile profile = {0};
	struct err err;
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;

	if (fd < 0 || !profile_init(&profile, &err) ||
	    !profile_load(&profile, fd, true, &err)) {
		fprintf(
		    stderr, "show: %s\n", fd < 0 ? "a recording is needed" : err.text);
		profile_free(&profile);
		return EXIT_FAILURE;
	}
	for (size_t i = 0; i < profile.n_samples; i++) {
		const struct profile_sample *sample = &profile.samples[i];
		const struct profile_thread *thread = &profile.threads[sample->thread];

		printf("%" PRIu32 "\t%" PRIu32 "\t%s\t%s", thread->pid, thread->tid,
		    thread->comm, profile_why_text(sample->why));
		for (uint32_t at = sample->stack; at; at = profile.stacks[at].caller) {
			const struct profile_frame *frame =
			    &profile.frames[profile.stacks[at].frame];

			if (frame->kind != PROFILE_FRAME_MARK &&
			    frame->kind != PROFILE_FRAME_THREAD)
				show_frame(&profile, frame);
		}
		putchar('\n');
	}
	profile_free(&profile);
	return EXIT_SUCCESS;
}
