/* SPDX-License-Identifier: MIT */
/* The command: a command line, the library, an exit status. */
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/common/args.h"
#include "cmd/run.h"
#include "base/program/print.h"
#include "base/program/temporary.h"

/* For mallopt: the size from which a block is large, and what a large library needs
 * besides. */
enum { MAIN_MMAP_SIZE = 8 << 20, MAIN_HEAP_SIZE = 56 << 20 };
/* A file from this size on is large. */
enum { MAIN_LARGE_SIZE = 4 << 20 };
/* More than what malloc has left after the command line, so that the heap grows. */
enum { MAIN_FIRST_SIZE = 1 << 20 };

/*
 * Each stage takes and frees tens of megabytes. Getting them from the kernel page by
 * page takes longer than some stages. So keep them, share them between threads, and use
 * huge pages where possible, which saves about a tenth of the processor time on large
 * libraries. This has no effect with another malloc.
 */
static void main_prepare_heap(const struct args *args)
{
	const uintptr_t mask = ((uintptr_t)2 << 20) - 1;
	void *volatile first; /* volatile: or the compiler removes it */
	struct stat st;
	char *end;

	if (args->n_paths == 0 || stat(args->paths[0], &st) != 0 ||
	    st.st_size < MAIN_LARGE_SIZE)
		return;
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, MAIN_MMAP_SIZE);
	mallopt(M_TRIM_THRESHOLD, MAIN_HEAP_SIZE);
	mallopt(M_TOP_PAD, MAIN_HEAP_SIZE);
	first = malloc(MAIN_FIRST_SIZE);
	end = sbrk(0);
	end -= (uintptr_t)end & mask;
	madvise(end - (MAIN_HEAP_SIZE - (mask + 1)), MAIN_HEAP_SIZE - (mask + 1),
	    MADV_HUGEPAGE);
	free(first);
}

/* Opens the standard streams that are closed, so that no later file takes their place.
 * Each is opened so that using it fails. */
static void main_keep_streams(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
			_exit(EH2SFRAME_IO);
}

int main(int argc, char **argv)
{
	struct eh2sframe_error error;
	struct args args;
	int status;

	main_keep_streams();
	/* A file that reaches the size limit is an error of that file. */
	signal(SIGXFSZ, SIG_IGN);
	temporary_handle_faults();
	if (!args_parse(argc, argv, &args, &error)) {
		args_deinit(&args);
		return print_error(NULL, &error);
	}
	main_prepare_heap(&args);
	eh2sframe_options_on_temporary(args.options, temporary_note, NULL);
	status = run_command(&args);
	args_deinit(&args);
	if (!print_end(&error))
		status = print_worse(status, print_error(NULL, &error));
	return status;
}
