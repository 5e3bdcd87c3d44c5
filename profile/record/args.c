/* SPDX-License-Identifier: MIT */
#include "profile/record/args.h"

#include "profile/profile.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The kernel copies at most so much, in steps of 8 bytes. */
enum { ARGS_STACK = 32768, ARGS_MAX_STACK = 65528 - 2048, ARGS_MAX_HZ = 100000 };
enum { ARGS_STACK_SIZE = 256 };

const char record_args_help[] =
    "Usage: eh2sframe-record [OPTION]... [--] COMMAND [ARGUMENT]...\n"
    "       eh2sframe-record [OPTION]... -p PID[,PID]...\n"
    "       eh2sframe-record [OPTION]... -a\n"
    "\n"
    "Records where programs spend their time, with complete stacks. No program has to\n"
    "be converted or compiled for it: rows are made from the CFI of each mapped file.\n"
    "\n"
    "  -F, --frequency=HZ   samples a second on each processor (default 99)\n"
    "  -p, --pid=PID        records a process and those that it starts; PID,PID:\n"
    "                       several\n"
    "  -a, --all            records the whole system\n"
    "  -d, --duration=S     ends after S seconds\n"
    "  -o, --output=FILE    the recording (default " PROFILE_RECORDING
    "); a name that ends\n"
    "                       in .html, .folded or .json: as eh2sframe-fold writes it\n"
    "  -e, --event=cpu-clock|cycles  what is counted (default cpu-clock)\n"
    "  --user               no frames of the kernel\n"
    "  --stack-size=BYTES   of each copy of a stack (default 32768; at most 63480)\n"
    "  --raw                keeps copies of stacks, to be walked later\n"
    "  --no-guess           follows no frame pointers where code has no rows\n"
    "  -q, --quiet          prints no summary\n"
    "  -h, --help           prints this text\n"
    "  -V, --version        prints the version\n"
    "\n"
    "The exit status is the command's. 124: the system does not permit it. 125: the\n"
    "recording failed. 126 and 127: the command cannot be run. eh2sframe-record(1)\n"
    "explains more.";

static bool args_number(const char *option, const char *text, unsigned long low,
    unsigned long high, uint32_t *value, struct err *err)
{
	char *end;
	unsigned long number;

	errno = 0;
	number = strtoul(text, &end, 10);
	if (end == text || *end || *text == '-' || errno || number < low || number > high)
		return err_set(err, ERR_USAGE, "%s=%s: give a number from %lu to %lu",
		    option, text, low, high);
	*value = (uint32_t)number;
	return true;
}

/* "17,18": adds each of them once. */
static bool args_pids(char *text, struct record_args *args, struct err *err)
{
	char *word;

	while ((word = strsep(&text, ","))) {
		uint32_t pid = 0;
		size_t i = 0;

		if (!args_number("--pid", word, 1, INT32_MAX, &pid, err))
			return false;
		while (i < args->n_pids && args->pids[i] != (pid_t)pid)
			i++;
		if (i == RECORD_MAX_PIDS)
			return err_set(err, ERR_USAGE,
			    "--pid: more than %d processes; give -a", RECORD_MAX_PIDS);
		args->pids[i] = (pid_t)pid;
		args->n_pids += i == args->n_pids;
		args->words[i + 1] = word;
	}
	return true;
}

static bool args_option(
    int option, char *value, struct record_args *args, struct err *err)
{
	char *end;

	switch (option) {
	case 'F':
		return args_number(
		    "--frequency", value, 1, ARGS_MAX_HZ, &args->frequency, err);
	case 'p':
		return args_pids(value, args, err);
	case 'd':
		args->duration = strtod(value, &end);
		return (end != value && !*end && isfinite(args->duration) &&
			   args->duration > 0) ||
		       err_set(err, ERR_USAGE, "--duration=%s: give seconds, such as 2.5",
			   value);
	case 'e':
		args->cycles = strcmp(value, "cycles") == 0;
		return args->cycles || strcmp(value, "cpu-clock") == 0 ||
		       err_set(
			   err, ERR_USAGE, "--event=%s: give cpu-clock or cycles", value);
	case ARGS_STACK_SIZE:
		return args_number(
		    "--stack-size", value, 8, ARGS_MAX_STACK, &args->stack_size, err);
	case 'o':
		args->output = args->name = value;
		return strcmp(value, "-") != 0 || err_set(err, ERR_USAGE,
						      "-o needs a file, because the head "
						      "of a recording is written last");
	case 'a':
		return args->all = true;
	case 0:
		return true;
	case 'q':
		return args->quiet = true;
	case 'h':
		return args->help = true;
	default:
		return args->version = true;
	}
}

bool record_args_read(int argc, char **argv, struct record_args *args, struct err *err)
{
	const struct option options[] = {
	    {"frequency", required_argument, NULL, 'F'},
	    {"pid", required_argument, NULL, 'p'},
	    {"all", no_argument, NULL, 'a'},
	    {"duration", required_argument, NULL, 'd'},
	    {"output", required_argument, NULL, 'o'},
	    {"event", required_argument, NULL, 'e'},
	    {"user", no_argument, &args->user, true},
	    {"stack-size", required_argument, NULL, ARGS_STACK_SIZE},
	    {"raw", no_argument, &args->raw, true},
	    {"no-guess", no_argument, &args->no_guess, true},
	    {"quiet", no_argument, NULL, 'q'},
	    {"help", no_argument, NULL, 'h'},
	    {"version", no_argument, NULL, 'V'},
	    {0},
	};
	static const char LETTERS[] = "+:F:p:ad:o:e:qhV";
	static char all[] = "-a", some[] = "-p";
	int option;

	*args = (struct record_args){.output = PROFILE_RECORDING,
	    .name = PROFILE_RECORDING,
	    .frequency = 99,
	    .stack_size = ARGS_STACK};
	opterr = 0;
	/* "+": what follows the command is the command's. */
	while ((option = getopt_long(argc, argv, LETTERS, options, NULL)) != -1) {
		const char letter[] = {'-', (char)optopt, '\0'};
		const bool is_word =
		    optopt < ' ' || optopt > 255 || strchr(LETTERS, optopt);

		if (option == '?' || option == ':')
			return err_set(err, ERR_USAGE,
			    "%s %s; see eh2sframe-record --help",
			    is_word ? argv[optind - 1] : letter,
			    option == ':' ? "needs a value" : "is no option");
		if (!args_option(option, optarg, args, err))
			return false;
	}
	args->stack_size &= ~7U;
	if (optind < argc)
		args->command = argv + optind;
	args->words[0] = args->all ? all : some;
	if (!args->help && !args->version &&
	    !!args->n_pids + args->all + !!args->command != 1)
		return err_set(err, ERR_USAGE,
		    "give a command, -p PID or -a; see eh2sframe-record --help");
	return true;
}
