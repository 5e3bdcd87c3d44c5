/* SPDX-License-Identifier: MIT */
/*
 * sandbox_filter ARCH FILE all|reads: writes the system calls of the sandbox as a filter for seccomp, in C. It
 * runs when the command is built, so that a process needs neither libseccomp nor memory to enter the
 * sandbox. ARCH is x86_64, aarch64 or s390x. "reads" is for a process that only reads (apart.c).
 *
 * Calls on the list of needed ones are allowed. Calls that no part of the work needs, but a program
 * that was taken over would, end the process. Any other call fails with ENOSYS, so that a later libc
 * takes its way for older kernels.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/fs.h>

#include "base/sandbox/filter.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* System calls allowed with any arguments. */
static const char *const calls_needed[] = {
    /* files */
    "access", "close", "copy_file_range", "dup", "fadvise64", "faccessat", "faccessat2",
    "fallocate", "fchdir", "fchmod", "fchown", "fdatasync", "fgetxattr", "flistxattr",
    "flock", "fremovexattr", "fsetxattr", "fstat", "fstatfs", "fsync", "ftruncate",
    "getcwd", "getdents64", "linkat", "lseek", "lstat", "memfd_create", "newfstatat",
    "pread64", "preadv", "pwrite64", "pwritev", "read", "readlink", "readlinkat", "readv",
    "rename", "renameat", "renameat2", "stat", "statx", "sync_file_range", "unlink",
    "unlinkat", "write", "writev",
    /* memory */
    "brk", "madvise", "mremap", "munmap",
    /* threads */
    "exit", "exit_group", "futex", "get_robust_list", "rseq", "sched_getaffinity",
    "sched_yield", "set_robust_list", "set_tid_address",
    /* signals and time */
    "clock_getres", "clock_gettime", "clock_nanosleep", "gettimeofday", "nanosleep",
    "poll", "ppoll", "restart_syscall", "rt_sigaction", "rt_sigpending", "rt_sigprocmask",
    "rt_sigreturn", "sigaltstack", "sigreturn", "time",
    /* about itself */
    "getegid", "geteuid", "getgid", "getpid", "getppid", "getrandom", "getrlimit",
    "getrusage", "gettid", "getuid", "sysinfo", "times", "uname"};

/* Needed, but not by a process that reads open files. As root it could give a file to root, and setuid. */
static const char *const calls_changing[] = {"open", "openat", "fchmod", "fchown",
    "fremovexattr", "fsetxattr", "linkat", "memfd_create", "rename", "renameat",
    "renameat2", "unlink", "unlinkat"};

/* System calls that end the process. */
static const char *const calls_never[] = {
    /* other programs and processes */
    "execve", "execveat", "fork", "vfork", "kill", "tkill", "rt_sigqueueinfo",
    "rt_tgsigqueueinfo", "pidfd_open", "pidfd_getfd", "pidfd_send_signal", "ptrace",
    "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "userfaultfd",
    /* the network, and queues beside it */
    "socket", "socketpair", "socketcall", "connect", "bind", "listen", "accept",
    "accept4", "sendto", "sendmsg", "sendmmsg", "recvfrom", "recvmsg", "recvmmsg",
    "io_uring_setup", "io_uring_enter", "io_uring_register", "io_setup", "io_submit",
    /* rights */
    "setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setgroups",
    "setfsuid", "setfsgid", "capset", "keyctl", "add_key", "request_key",
    /* places */
    "chroot", "pivot_root", "mount", "umount", "umount2", "fsopen", "fsconfig", "fsmount",
    "open_tree", "move_mount", "mount_setattr", "setns", "unshare", "open_by_handle_at",
    "mknod", "mknodat", "symlink", "symlinkat", "chmod", "fchmodat", "fchmodat2", "chown",
    "lchown", "fchownat", "setxattr", "lsetxattr", "removexattr", "lremovexattr",
    "truncate",
    /* the kernel */
    "bpf", "perf_event_open", "init_module", "finit_module", "delete_module",
    "kexec_load", "kexec_file_load", "reboot", "swapon", "swapoff", "acct", "quotactl",
    "syslog", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "iopl",
    "ioperm", "modify_ldt", "sethostname", "setdomainname"};

/* One call with one of its arguments: (argument & mask) == value. */
struct call_case {
	const char *name;
	unsigned int argument;
	uint64_t mask, value;
};

#define ALL_BITS UINT64_MAX
#define IS(name, argument, value)                                                        \
	{                                                                                \
		name, argument, ALL_BITS, value                                          \
	}

static const struct call_case calls_with[] = {
    /* Reading that makes a file empty is not what Landlock's versions before 3 know. */
    {"open", 1, O_TRUNC, 0}, {"open", 1, O_ACCMODE, O_WRONLY},
    {"open", 1, O_ACCMODE, O_RDWR}, {"openat", 2, O_TRUNC, 0},
    {"openat", 2, O_ACCMODE, O_WRONLY}, {"openat", 2, O_ACCMODE, O_RDWR},
    /* A handler of signals can be given to other processes by others of these. */
    IS("fcntl", 1, F_GETFD), IS("fcntl", 1, F_SETFD), IS("fcntl", 1, F_GETFL),
    IS("fcntl", 1, F_SETFL), IS("fcntl", 1, F_DUPFD), IS("fcntl", 1, F_DUPFD_CLOEXEC),
    IS("ioctl", 1, FICLONE), IS("ioctl", 1, TCGETS), IS("ioctl", 1, TIOCGWINSZ),
    /* To read a limit, not to set one. */
    IS("prlimit64", 2, 0), {"mprotect", 2, PROT_EXEC, 0},
    /* A signal for a thread of this process (abort, raise). */
    IS("tgkill", 0, SANDBOX_OWN_PID)};

/* Memory that cannot be executed, and a thread, which shares descriptors, as they have one limit; a new process in its place ends the process. On
 * s390x the arguments of mmap are in memory, and those of clone in another order. */
#define THREAD (CLONE_THREAD | CLONE_FILES)
static const struct call_case map_usual = {"mmap", 2, PROT_EXEC, 0},
			      map_s390x = {"mmap", 0, 0, 0},
			      thread_usual = {"clone", 0, THREAD, THREAD},
			      thread_s390x = {"clone", 1, THREAD, THREAD},
			      process_usual = {"clone", 0, CLONE_THREAD, 0},
			      process_s390x = {"clone", 1, CLONE_THREAD, 0};

/* libseccomp translates the numbers of this machine, also those of calls that only others have. */
static bool filter_add(
    scmp_filter_ctx filter, uint32_t action, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int number = seccomp_syscall_resolve_name(names[i]);

		/* A later call than this release knows cannot be on a list. */
		if (number != __NR_SCMP_ERROR &&
		    seccomp_rule_add_array(filter, action, number, 0, NULL) != 0)
			return false;
	}
	return true;
}

static bool filter_add_cases(
    scmp_filter_ctx filter, uint32_t action, const struct call_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct scmp_arg_cmp is = {.arg = cases[i].argument,
		    .op = SCMP_CMP_MASKED_EQ,
		    .datum_a = cases[i].mask,
		    .datum_b = cases[i].value};

		if (seccomp_rule_add_array(filter, action,
			seccomp_syscall_resolve_name(cases[i].name), 1, &is) != 0)
			return false;
	}
	return true;
}

/* Makes the filter for another machine than this one. */
static bool filter_set_arch(scmp_filter_ctx filter, uint32_t arch)
{
	const uint32_t native = seccomp_arch_native();

	return arch == native || (seccomp_arch_remove(filter, native) == 0 &&
				     seccomp_arch_add(filter, arch) == 0);
}

static bool filter_fill(scmp_filter_ctx filter, uint32_t arch, bool reads)
{
	const uint32_t end = SCMP_ACT_KILL_PROCESS;
	const bool s390x = arch == SCMP_ARCH_S390X;

	/* A call by the numbers of another ABI ends the process, too. */
	if (seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, end) != 0 ||
	    !filter_set_arch(filter, arch))
		return false;
	/* Comes beside the other one, and the stricter of both holds. */
	if (reads)
		return filter_add(filter, SCMP_ACT_ERRNO(ENOSYS), calls_changing,
		    COUNT(calls_changing));
	return filter_add(filter, SCMP_ACT_ALLOW, calls_needed, COUNT(calls_needed)) &&
	       filter_add(filter, end, calls_never, COUNT(calls_never)) &&
	       filter_add_cases(filter, SCMP_ACT_ALLOW, calls_with, COUNT(calls_with)) &&
	       filter_add_cases(
		   filter, SCMP_ACT_ALLOW, s390x ? &map_s390x : &map_usual, 1) &&
	       filter_add_cases(
		   filter, SCMP_ACT_ALLOW, s390x ? &thread_s390x : &thread_usual, 1) &&
	       filter_add_cases(filter, end, s390x ? &process_s390x : &process_usual, 1);
}

/* The filter is in the byte order of its machine. */
static bool filter_print(FILE *bytes, bool swapped, FILE *out)
{
	struct sock_filter one;

	while (fread(&one, sizeof(one), 1, bytes) == 1)
		if (fprintf(out, "{0x%x, %u, %u, 0x%x},\n",
			swapped ? __builtin_bswap16(one.code) : one.code, one.jt, one.jf,
			swapped ? __builtin_bswap32(one.k) : one.k) < 0)
			return false;
	return !ferror(bytes);
}

int main(int argc, char **argv)
{
	const bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	const bool reads = argc == 4 && strcmp(argv[3], "reads") == 0;
	scmp_filter_ctx filter =
	    seccomp_init(reads ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(ENOSYS));
	uint32_t arch = argc == 4 ? seccomp_arch_resolve_name(argv[1]) : 0;
	FILE *bytes = tmpfile(), *out = argc == 4 ? fopen(argv[2], "w") : NULL;
	bool ok = filter && arch && bytes && out && filter_fill(filter, arch, reads) &&
		  seccomp_export_bpf(filter, fileno(bytes)) == 0;

	if (ok) {
		rewind(bytes);
		ok = filter_print(bytes, big != (arch == SCMP_ARCH_S390X), out);
	}
	if (filter)
		seccomp_release(filter);
	if (bytes)
		fclose(bytes);
	if (out && fclose(out) != 0)
		ok = false;
	if (!ok)
		fputs("sandbox_filter: cannot make the filter\n", stderr);
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
