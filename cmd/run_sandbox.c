/* SPDX-License-Identifier: MIT */
/* --sandbox without tree: the command limits its own process before it opens a file. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/program/print.h"
#include "base/sandbox/sandbox.h"
#include "cmd/run.h"

/* Allows a file that is written to, or made beside a name that is there. NULL and "-" are standard output. */
static bool run_allow_output(
    struct sandbox *box, const char *path, struct eh2sframe_error *error)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	char *real, *dir;

	if (!path || !strcmp(path, "-"))
		return true;
	sandbox_allow(box, AT_FDCWD, path, true);
	/* The name may be a link: the new file is made where that leads. */
	real = realpath(path, NULL);
	if (real) {
		slash = strrchr(real, '/');
		path = real;
	}
	dir = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	if (dir)
		sandbox_allow(box, AT_FDCWD, dir, true);
	free(real);
	free(dir);
	return dir || cmd_fail_nomem(error);
}

static void run_allow_input(struct sandbox *box, const char *path)
{
	if (path)
		sandbox_allow(box, AT_FDCWD, path, false);
}

bool run_sandbox(const struct args *args, struct eh2sframe_error *error)
{
	const bool pair = args->verb == VERB_CONVERT || args->verb == VERB_SECTION ||
			  args->verb == VERB_REMOVE;
	const size_t n_inputs = pair ? 1 : args->n_paths;
	char text[SANDBOX_TEXT_SIZE];
	struct sandbox_state state;
	struct sandbox box;
	bool ok;

	sandbox_init(&box, true);
	for (size_t i = 0; i < n_inputs && i < args->n_paths; i++)
		run_allow_input(&box, args->paths[i]);
	run_allow_input(&box, args->cfi_path);
	run_allow_input(&box, args->baseline);
	run_allow_input(&box, args->debug_file);
	run_allow_input(&box, args->debug_dir ? args->debug_dir : ARGS_DEBUG_DIR);
	ok = (!pair || run_allow_output(&box, args->paths[1], error)) &&
	     run_allow_output(&box, args->report_path, error) &&
	     run_allow_output(&box, args->json_path, error);
	if (ok) {
		sandbox_enter(&box, &state);
		ok = sandbox_whole(&state, error);
	}
	sandbox_deinit(&box);
	if (ok && args->verbosity > 0) {
		sandbox_text(&state, text);
		fprintf(stderr, "%s: %s\n", print_program, text);
	}
	return ok;
}
