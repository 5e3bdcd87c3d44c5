/* SPDX-License-Identifier: MIT */
/*
 * ways HOW [LIBRARY]: what a program can do that a sampler inside of it must not disturb, or must follow.
 * It spins in functions whose names a recording shows.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noinline, noclone))
#endif

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

static volatile unsigned long spun;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static APART void spin(double seconds)
{
	double end = now() + seconds;

	while (now() < end)
		for (unsigned int i = 0; i < 2000; i++)
			spun += i;
}

static APART void often(double seconds)
{
	spin(seconds);
	spun++;
}

/* Not the same code, or the compiler makes one function of both. */
static APART void seldom(double seconds)
{
	spin(seconds);
	spun += 2;
}

/* Three quarters of the time in one function, in steps that no clock follows. */
static int share(void)
{
	for (int i = 0; i < 600; i++) {
		double step = 0.001 + (double)(i * 7 % 13) / 10000;

		often(3 * step);
		seldom(step);
	}
	return 0;
}

static void *thread_often(void *unused)
{
	often(0.9);
	return unused;
}

static void *thread_seldom(void *unused)
{
	seldom(0.3);
	return unused;
}

static int share_threads(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(
		    &threads[i], NULL, i % 2 ? thread_often : thread_seldom, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* errno, a thread's own variable, and a large block of registers. */
static int keeps(void)
{
	double values[16], end = now() + 0.5;

	for (int i = 0; i < 16; i++)
		values[i] = i;
	errno = 1234;
	while (now() < end)
		for (int round = 0; round < 1000; round++)
			for (int i = 0; i < 16; i++)
				values[i] = values[i] * 3 - 2 * i;
	for (int i = 0; i < 16; i++)
		if (values[i] < i || values[i] > i)
			return 2;
	return errno == 1234 ? 0 : 1;
}

static volatile sig_atomic_t received;

static void receive(int number)
{
	received = number;
}

/* The program needs each real-time signal. */
static int own(void)
{
	for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
		often(0.01);
		signal(number, receive);
		raise(number);
		if (received != number)
			return 1;
	}
	seldom(0.2);
	return 0;
}

/* As a program does that wants no signals of the one that began it. */
static int reset(void)
{
	const struct sigaction action = {.sa_handler = SIG_DFL};
	struct sigaction old;

	for (int number = 1; number <= SIGRTMAX; number++)
		sigaction(number, &action, &old);
	often(0.3);
	return old.sa_handler == SIG_DFL ? 0 : 1;
}

static int blocked(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	seldom(0.2);
	sigemptyset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	often(0.2);
	return 0;
}

/* A thread that takes all signals, as servers have one. */
static void *takes(void *unused)
{
	sigset_t all;
	int number = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	seldom(0.1);
	while (sigwait(&all, &number) != 0)
		;
	return number == SIGUSR2 ? unused : (void *)(uintptr_t)&spun;
}

static int waits(void)
{
	pthread_t thread;
	void *wrong;

	pthread_create(&thread, NULL, takes, NULL);
	often(0.3);
	pthread_kill(thread, SIGUSR2);
	pthread_join(thread, &wrong);
	return wrong != NULL;
}

static void on_stack(int number)
{
	often(0.3);
	spun += (unsigned int)number;
}

static int alternate(void)
{
	static char memory[64 << 10];
	const stack_t stack = {.ss_sp = memory, .ss_size = sizeof(memory)};
	const struct sigaction action = {.sa_handler = on_stack, .sa_flags = SA_ONSTACK};

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	return raise(SIGUSR1);
}

/* The stack has room for one handler, but not for a second one. The page below it is not mapped. */
static int tight(void)
{
	const size_t least = getauxval(AT_MINSIGSTKSZ),
		     page = (size_t)sysconf(_SC_PAGESIZE), size = 64 << 10;
	char *memory =
	    mmap(NULL, page + size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const stack_t stack = {
	    .ss_sp = memory + page, .ss_size = (least > 2048 ? least : 2048) + 1100};
	const struct sigaction action = {.sa_handler = on_stack, .sa_flags = SA_ONSTACK};

	if (memory == MAP_FAILED ||
	    mprotect(stack.ss_sp, size, PROT_READ | PROT_WRITE) != 0 ||
	    sigaction(SIGUSR1, &action, NULL) != 0 || sigaltstack(&stack, NULL) != 0)
		return 1;
	often(0.3);
	return raise(SIGUSR1);
}

static APART void step(void)
{
	often(0.02);
	spun++;
}

/* A file without a folder: where it is looked for depends on who calls dlopen. */
static int late(const char *name)
{
	void (*call)(void (*)(void));
	void *handle = dlopen(name, RTLD_NOW);

	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	*(void **)&call = dlsym(handle, "call");
	for (int i = 0; i < 20; i++)
		call(step);
	dlclose(handle);
	often(0.1);
	return 0;
}

static int c_thread(void *unused)
{
	often(0.3);
	return unused != NULL;
}

static int c_threads(void)
{
	thrd_t thread;
	int status = 1;

	return thrd_create(&thread, c_thread, NULL) != thrd_success ||
	       thrd_join(thread, &status) != thrd_success || status;
}

/* The first thread ends, and the other one ends the process. */
static void *last(void *unused)
{
	often(0.3);
	_exit(5);
	return unused;
}

static int first_ends(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, last, NULL);
	pthread_exit(NULL);
}

static int killed(void)
{
	int status;

	if (fork() == 0) {
		often(0.3);
		raise(SIGKILL);
	}
	wait(&status);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? 0 : 1;
}

/* A child whose parent is gone. */
static int orphan(void)
{
	int fds[2];
	char byte;

	if (pipe(fds) != 0)
		return 1;
	if (fork() == 0) {
		if (fork() != 0)
			_exit(0);
		often(0.3);
		_exit(write(fds[1], "", 1) != 1);
	}
	wait(NULL);
	return read(fds[0], &byte, 1) != 1;
}

static void *nothing(void *unused)
{
	return unused;
}

static int many_threads(void)
{
	for (int i = 0; i < 300; i++) {
		pthread_t threads[4];

		for (int j = 0; j < 4; j++)
			pthread_create(&threads[j], NULL, nothing, NULL);
		for (int j = 0; j < 4; j++)
			pthread_join(threads[j], NULL);
	}
	often(0.2);
	return 0;
}

/* Deeper than a recording keeps. */
static APART int deep(int n)
{
	char room[64];
	int below;

	memset(room, n, sizeof(room));
	below = n > 0 ? deep(n - 1) : (often(0.2), 1);
	__asm__ volatile("" : : "r"(room) : "memory");
	return below + 1;
}

/* A filter of system calls that kills for each one that the program itself does not make. */
static int filtered(void)
{
	static const unsigned int CALLS[] = {
	    SYS_write, SYS_clock_gettime, SYS_rt_sigreturn, SYS_exit_group};
	enum { N = sizeof(CALLS) / sizeof(*CALLS) };
	struct sock_filter filter[N + 3] = {
	    {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr)}};
	struct sock_fprog program = {N + 3, filter};

	for (unsigned char i = 0; i < N; i++)
		filter[1 + i] = (struct sock_filter){
		    BPF_JMP | BPF_JEQ | BPF_K, (unsigned char)(N - i), 0, CALLS[i]};
	filter[N + 1] =
	    (struct sock_filter){BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS};
	filter[N + 2] = (struct sock_filter){BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
		return 2;
	spin(0.3);
	_exit(write(STDOUT_FILENO, "done\n", 5) != 5);
}

/* A stack for signals that holds the smallest frame that there once was. */
static int small_stack(void)
{
	static char room[2048];
	const stack_t stack = {.ss_sp = room, .ss_size = sizeof(room)};

	if (sigaltstack(&stack, NULL) != 0)
		return 2;
	spin(0.3);
	return puts("done") < 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} WAYS[] = {{"share", share}, {"threads", share_threads}, {"keeps", keeps},
	    {"own", own}, {"reset", reset}, {"blocked", blocked}, {"waits", waits},
	    {"alternate", alternate}, {"tight", tight}, {"c-threads", c_threads},
	    {"first-ends", first_ends}, {"killed", killed}, {"orphan", orphan},
	    {"many-threads", many_threads}, {"filtered", filtered},
	    {"small-stack", small_stack}};
	const char *how = argc > 1 ? argv[1] : "share";

	for (size_t i = 0; i < sizeof(WAYS) / sizeof(*WAYS); i++)
		if (strcmp(how, WAYS[i].name) == 0)
			return WAYS[i].run();
	if (strcmp(how, "late") == 0 && argc > 2)
		return late(argv[2]);
	if (strcmp(how, "deep") == 0)
		return deep(1000) == 0;
	return 9;
}
