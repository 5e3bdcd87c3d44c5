/* SPDX-License-Identifier: MIT */
/*
 * stacks HOW [LIBRARY]: spins under outer -> middle -> inner for a while, in ways that a profiler must
 * follow. It has no frame pointers.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Functions that the compiler keeps apart. */
#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noinline, noclone))
#endif

static volatile unsigned long spun;
static double seconds = 0.4;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static APART void inner(double end)
{
	char waste[200];

	while (now() < end)
		for (unsigned int i = 0; i < 20000; i++)
			spun += i;
	memset(waste, (int)spun, sizeof(waste));
	__asm__ volatile("" : : "r"(waste) : "memory");
}

static APART void middle(size_t n)
{
	char room[n];

	memset(room, 0, n);
	inner(now() + seconds);
	__asm__ volatile("" : : "r"(room) : "memory");
}

static APART void outer(void)
{
	middle(1000 + spun % 7);
	spun++;
}

static void *thread(void *unused)
{
	outer();
	return unused;
}

static void handler(int number)
{
	outer();
	/* Or the call is a jump. */
	spun += (unsigned int)number;
}

static int library(const char *path)
{
	void (*call)(void (*)(void));
	void *handle = dlopen(path, RTLD_NOW);

	if (!handle)
		return 1;
	*(void **)&call = dlsym(handle, "call");
	call(outer);
	return dlclose(handle);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "plain";

	if (getenv("SECONDS"))
		seconds = atof(getenv("SECONDS"));
	if (strcmp(how, "threads") == 0) {
		pthread_t threads[3];

		for (int i = 0; i < 3; i++)
			pthread_create(&threads[i], NULL, thread, NULL);
		puts("started");
		fflush(stdout);
		for (int i = 0; i < 3; i++)
			pthread_join(threads[i], NULL);
	} else if (strcmp(how, "fork") == 0) {
		if (fork() == 0) {
			outer();
			_exit(0);
		}
		wait(NULL);
	} else if (strcmp(how, "exec") == 0) {
		execl("/proc/self/exe", "again", "plain", (char *)NULL);
		return 1;
	} else if (strcmp(how, "dlopen") == 0) {
		return library(argv[2]);
	} else if (strcmp(how, "signal") == 0) {
		signal(SIGUSR1, handler);
		raise(SIGUSR1);
	} else if (strcmp(how, "deleted") == 0) {
		unlink(argv[0]);
		outer();
	} else {
		outer();
	}
	return 0;
}
