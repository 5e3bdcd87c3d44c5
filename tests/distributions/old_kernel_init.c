/* SPDX-License-Identifier: MIT */
/* The first process of a virtual machine: it runs each command of /list in each root of /roots, prints what becomes of
 * it, and ends the machine. */
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

/* Splits a line at blanks. */
static void words(char *line, char **argv, size_t most)
{
	size_t n = 0;

	for (char *word = strtok(line, " \n"); word && n + 1 < most;
	     word = strtok(NULL, " \n"))
		argv[n++] = word;
	argv[n] = NULL;
}

static void run(const char *root, const char *command)
{
	char line[256], path[] = "PATH=/usr/bin:/bin", *argv[16],
			*environment[] = {path, NULL};
	pid_t child;
	int status = 0;

	printf("BEGIN %s %s", root, command);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		snprintf(line, sizeof(line), "%s", command);
		words(line, argv, 16);
		if (chroot(root) == 0 && chdir("/") == 0 && argv[0])
			execve(argv[0], argv, environment);
		_exit(99);
	}
	waitpid(child, &status, 0);
	printf("END status %d\n", status);
	fflush(stdout);
}

int main(void)
{
	static const char *const ROOTS[] = {"/before", "/after", "/loader"};
	struct utsname kernel;
	char command[256];

	mount("proc", "/proc", "proc", 0, NULL);
	uname(&kernel);
	printf("KERNEL %s\n", kernel.release);
	for (size_t i = 0; i < sizeof(ROOTS) / sizeof(*ROOTS); i++) {
		FILE *list = fopen("/list", "r");

		while (list && fgets(command, sizeof(command), list))
			run(ROOTS[i], command);
		if (list)
			fclose(list);
	}
	printf("DONE\n");
	fflush(stdout);
	return reboot(RB_POWER_OFF);
}
