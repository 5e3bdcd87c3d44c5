/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profile/record/recorder.h"

/* In the child: waits for the byte, then runs the command. */
static _Noreturn void command_child(struct recorder *recorder)
{
	char **command = recorder->args->command;
	char byte;
	int why;

	signal(SIGCHLD, recorder->at_child);
	signal(SIGXFSZ, recorder->at_size);
	sigprocmask(SIG_SETMASK, &recorder->mask, NULL);
	/* An end without a byte: the recording does not begin. */
	close(recorder->talk[0]);
	if (read(recorder->talk[1], &byte, 1) != 1)
		_exit(RECORD_FAILED);
	execvp(command[0], command);
	why = errno;
	/* The recorder has a status of its own then. */
	_exit(write(recorder->talk[1], &why, sizeof(why)) > 0 ? RECORD_CANNOT_RUN
							      : RECORD_FAILED);
}

bool recorder_command(struct recorder *recorder, struct err *err)
{
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, recorder->talk) != 0)
		return err_set_errno(err, "cannot make a socket");
	recorder->child = fork();
	if (recorder->child < 0) {
		recorder->child = 0;
		return err_set_errno(err, "cannot start a process");
	}
	if (recorder->child == 0)
		command_child(recorder);
	close(recorder->talk[1]);
	return true;
}

bool recorder_command_go(struct recorder *recorder, struct err *err)
{
	int why;

	if (recorder->perf.kept)
		perf_switch(true);
	/* Its end closes when the command runs. No signal has a handler that could interrupt this. */
	if (write(recorder->talk[0], "", 1) != 1 ||
	    read(recorder->talk[0], &why, sizeof(why)) != sizeof(why))
		return true;
	recorder->cannot_run = why == ENOENT ? RECORD_NOT_FOUND : RECORD_CANNOT_RUN;
	errno = why;
	return err_set_errno(err, "%s: cannot run it", recorder->args->command[0]);
}

void recorder_command_drop(struct recorder *recorder)
{
	if (recorder->talk[0] >= 0)
		close(recorder->talk[0]);
	recorder->talk[0] = -1;
	while (recorder->child > 0) {
		struct pollfd one = {.fd = recorder->signals, .events = POLLIN};

		/* A signal that came before is not lost: they are blocked. */
		if (!recorder_signals(recorder))
			poll(&one, 1, -1);
	}
}
