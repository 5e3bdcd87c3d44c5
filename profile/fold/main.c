/* SPDX-License-Identifier: MIT */
/* eh2sframe-fold: a command line, a recording, an exit status. */
#include <signal.h>
#include <stdlib.h>

#include "base/program/print.h"
#include "profile/fold/command.h"
#include "profile/profile.h"

int main(int argc, char **argv)
{
	struct eh2sframe_error error;
	struct fold_args args;
	int status;

	print_program = "eh2sframe-fold";
	/* A file that reaches the size limit is a failed call. */
	signal(SIGXFSZ, SIG_IGN);
	profile_survive_truncation();
	if (fold_args_parse(argc, argv, &args, &error))
		status = fold_run(&args);
	else
		status = print_error(NULL, &error);
	free(args.debug_dirs);
	if (!print_end(&error))
		status = print_worse(status, print_error(NULL, &error));
	return status;
}
