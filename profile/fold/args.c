/* SPDX-License-Identifier: MIT */
/* eh2sframe-fold: a command line, a recording, an exit status. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/program/fail.h"
#include "base/program/print.h"
#include "profile/fold/command.h"
#include "profile/profile.h"

enum {
	FOLD_OPT_FORMAT = 256,
	FOLD_OPT_DEBUG_DIR,
};
static int no_demangle, no_guess, no_inline;
static const char **debug_dirs;

static const struct option fold_options[] = {
    {"format", required_argument, NULL, FOLD_OPT_FORMAT},
    {"output", required_argument, NULL, 'o'},
    {"debug-dir", required_argument, NULL, FOLD_OPT_DEBUG_DIR},
    {"no-demangle", no_argument, &no_demangle, true},
    {"no-guess", no_argument, &no_guess, true},
    {"no-inline", no_argument, &no_inline, true},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

static const char fold_help[] =
    "Usage: eh2sframe-fold [OPTION...] [RECORDING]\n"
    "\n"
    "Shows a recording of eh2sframe-record or of perf record. Without one it "
    "reads " PROFILE_RECORDING ";\n"
    "- is standard input.\n"
    "\n"
    "      --format=folded|html|firefox\n"
    "                               a line for each stack, a flame graph for browsers, "
    "or a file for the Firefox Profiler;\n"
    "                               without it, as FILE ends: .html, .json; else folded\n"
    "  -o, --output=FILE            write to FILE instead of standard output\n"
    "      --debug-dir=DIR          look for separate debug files there, before "
    "/usr/lib/debug (repeatable)\n"
    "      --no-demangle            names as the symbol tables have them\n"
    "      --no-guess               copies of stacks: follow no frame pointers where "
    "code has no rows\n"
    "      --no-inline              leave out functions that were inlined, which only "
    "debug information has\n"
    "  -q, --quiet                  no summary on standard error\n"
    "  -h, --help                   print this\n"
    "  -V, --version                print the version\n"
    "\n"
    "Exit status: 0 done; 1 not a recording, or damaged; 2 usage; 3 I/O; 6 no samples; "
    "7 no memory; 70 a bug.\n";

/* Prints and ends the program. */
static void fold_tell(int option)
{
	struct eh2sframe_error error;

	if (option == 'h')
		fputs(fold_help, stdout);
	else
		printf("eh2sframe-fold %s\n", eh2sframe_version());
	exit(print_end(&error) ? EH2SFRAME_DONE : print_error(NULL, &error));
}

static bool fold_option(
    int option, const char *value, struct fold_args *args, struct eh2sframe_error *error)
{
	switch (option) {
	case FOLD_OPT_FORMAT:
		args->format = FOLD_FOLDED;
		while (args->format < FOLD_N_FORMATS &&
		       strcmp(value, fold_formats[args->format][0]) != 0)
			args->format++;
		return args->format < FOLD_N_FORMATS ||
		       cmd_fail(error, EH2SFRAME_USAGE,
			   "--format=%.200s: give folded, html or firefox", value);
	case FOLD_OPT_DEBUG_DIR:
		debug_dirs[args->naming.n_debug_dirs++] = value;
		return true;
	case 'o':
		args->output = value;
		return true;
	case 'q':
		args->quiet = true;
		return true;
	case 'h':
	case 'V':
		fold_tell(option);
	}
	return true;
}

/* --help and --version print and end the program. EH2SFRAME_USAGE, EH2SFRAME_NO_MEMORY. */
static bool fold_args_parse(
    int argc, char **argv, struct fold_args *args, struct eh2sframe_error *error)
{
	static const char LETTERS[] = ":o:qhV";
	int option;

	*args = (struct fold_args){.format = FOLD_N_FORMATS};
	debug_dirs = calloc((size_t)argc + 1, sizeof(*debug_dirs));
	if (!debug_dirs)
		return cmd_fail_nomem(error);
	args->naming.debug_dirs = debug_dirs;
	opterr = 0;
	while ((option = getopt_long(argc, argv, LETTERS, fold_options, NULL)) >= 0) {
		const char letter[] = {'-', (char)optopt, '\0'};
		const bool is_word =
		    optopt < ' ' || optopt > 255 || strchr(LETTERS, optopt);

		if (option == '?' || option == ':')
			return cmd_fail(error, EH2SFRAME_USAGE,
			    "%.200s %s; see eh2sframe-fold --help",
			    is_word ? argv[optind - 1] : letter,
			    option == ':' ? "needs a value" : "is no option");
		if (!fold_option(option, optarg, args, error))
			return false;
	}
	args->naming.no_demangle = no_demangle;
	args->naming.no_inline = no_inline;
	args->no_guess = no_guess;
	if (args->format == FOLD_N_FORMATS &&
	    !(args->output && fold_format_of(args->output, &args->format)))
		args->format = FOLD_FOLDED;
	if (argc - optind > 1)
		return cmd_fail(error, EH2SFRAME_USAGE,
		    "give one recording; see eh2sframe-fold --help");
	args->recording = optind < argc ? argv[optind] : PROFILE_RECORDING;
	debug_dirs[args->naming.n_debug_dirs++] = FOLD_DEBUG_DIR;
	return true;
}

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
	free(debug_dirs);
	if (!print_end(&error))
		status = print_worse(status, print_error(NULL, &error));
	return status;
}
