/* SPDX-License-Identifier: MIT */
/* Inputs: files, or what a process or a core file has in memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/common/fail.h"
#include "cmd/common/print.h"
#include "cmd/run.h"
#include "cmd/run_internal.h"

struct eh2sframe_file *run_open(
    const struct args *args, const char *path, struct eh2sframe_error *error)
{
	return args->memory ? eh2sframe_memory_open(
				  args->memory, path, args->sysroot, args->options, error)
			    : eh2sframe_open_path(path, args->options, error);
}

/* The names of all images; *n is how many. The caller frees the list. NULL without memory. */
static char **run_memory_names(const struct eh2sframe_memory *memory, size_t *n)
{
	struct eh2sframe_memory_image image = {.struct_size = sizeof(image)};
	char **names;

	for (*n = 0; eh2sframe_memory_image(memory, *n, &image);)
		++*n;
	names = calloc(*n + 1, sizeof(*names));
	for (size_t i = 0; names && i < *n; i++) {
		if (eh2sframe_memory_image(memory, i, &image))
			names[i] = strdup(image.name);
		if (names[i])
			continue;
		for (size_t k = 0; k < i; k++)
			free(names[k]);
		free(names);
		return NULL;
	}
	return names;
}

/* The command on every image. */
static int run_memory_all(struct args *args, const char *shown)
{
	struct eh2sframe_error error;
	char **names = run_memory_names(args->memory, &args->n_paths);
	int status;

	args->paths = names;
	if (!names) {
		cmd_fail_nomem(&error);
		return print_error(NULL, &error);
	}
	if (args->n_paths) {
		status = run_command(args);
	} else {
		cmd_fail(&error, EH2SFRAME_NOTHING, "no code of an ELF file is in it");
		status = print_error(shown, &error);
	}
	for (size_t i = 0; i < args->n_paths; i++)
		free(names[i]);
	free(names);
	return status;
}

int run_memory(const struct args *args)
{
	struct eh2sframe_error error;
	struct eh2sframe_memory *memory;
	struct args inside = *args;
	char shown[32];
	int status;

	snprintf(shown, sizeof(shown), "process %d",
	    args->process ? args->process : (int)getpid());
	memory = args->core ? eh2sframe_open_core(args->core, &error)
			    : eh2sframe_open_process(args->process, &error);
	if (!memory)
		return print_error(args->core ? args->core : shown, &error);
	inside.memory = memory;
	status = args->n_paths ? run_command(&inside)
			       : run_memory_all(&inside, args->core ? args->core : shown);
	eh2sframe_memory_close(memory);
	return status;
}
