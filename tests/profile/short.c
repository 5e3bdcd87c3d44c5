/* SPDX-License-Identifier: MIT */
/* short threads|processes N MS: makes N of them in turn, of MS milliseconds of processor time each. short: runs until it is
 * killed. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double short_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void *short_work(void *seconds)
{
	const double *end = seconds;

	while (short_now() < *end)
		;
	return NULL;
}

int main(int argc, char **argv)
{
	double seconds = argc > 3 ? atof(argv[3]) / 1e3 : 1e9;
	int n = argc > 3 ? atoi(argv[2]) : 0;

	if (n == 0)
		short_work(&seconds);
	for (int i = 0; i < n; i++) {
		if (strcmp(argv[1], "threads") == 0) {
			pthread_t thread;

			if (pthread_create(&thread, NULL, short_work, &seconds) != 0)
				return EXIT_FAILURE;
			pthread_join(thread, NULL);
		} else {
			pid_t child = fork();

			if (child == 0) {
				short_work(&seconds);
				_exit(0);
			}
			if (child < 0 || waitpid(child, NULL, 0) != child)
				return EXIT_FAILURE;
		}
	}
	return EXIT_SUCCESS;
}
