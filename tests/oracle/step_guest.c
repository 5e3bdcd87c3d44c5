/* SPDX-License-Identifier: MIT */
/*
 * step.c for the other machines: a plug-in of qemu-user, which runs before each instruction of the
 * program. qemu writes the registers to a pipe (-d cpu), and the plug-in reads them from it; the program's memory is the process's
 * own, so that nothing has to be guessed of what instructions store.
 *
 *   step_guest.sh PLUGIN MACHINE OPTION,... PROGRAM [ARG...]
 *
 * Options are marks=DIR, seen=on, known=FILE, module=PAT and steps=N of step.c; at so many steps the program is ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/oracle/step_guest.h"

/* qemu's qemu-plugin.h, which Debian has in no package: version 1 of the interface. */
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info {
	const char *target_name;
};
#define EXPORT __attribute__((visibility("default")))
EXPORT extern int qemu_plugin_version;
EXPORT int qemu_plugin_install(
    uint64_t id, const struct qemu_info *info, int argc, char **argv);
void qemu_plugin_register_vcpu_tb_trans_cb(
    uint64_t id, void (*translated)(uint64_t, struct qemu_plugin_tb *));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(
    const struct qemu_plugin_tb *tb, size_t i);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
    void (*executed)(unsigned int, void *), int flags, void *user);
void qemu_plugin_register_atexit_cb(
    uint64_t id, void (*ended)(uint64_t, void *), void *user);
int qemu_plugin_version = 1;

/* The pipe's descriptor; step_guest.sh opens it. */
enum { LOG_FD = 3, MAX_LOG = 1 << 16 };

static struct tracer tracer = {.modules = {.mem_fd = -1}};
static const struct step_guest *guest;
static uint64_t max_steps = UINT64_MAX;
static const char *known;
static struct step_regs before;
static enum step_insn last = STEP_INSN_OTHER;
static bool ok = true;
static int out = -1; /* for the report: programs close theirs */

/* Prints the report; the program's own status counts only if nothing is wrong. */
static void end(uint64_t id, void *unused)
{
	static const struct step_least least;

	(void)id;
	(void)unused;
	ok = dup2(out, STDOUT_FILENO) >= 0;
	ok = step_report_print(&tracer.report, &tracer.modules, &tracer.shadow, &least) &&
	     step_modules_save(&tracer.modules) && ok;
	if (fflush(stdout) != 0 || !ok)
		_exit(1);
}

static void fail(const char *what)
{
	printf("FAIL step_guest: %s: %s\n", what, strerror(errno));
	fflush(stdout);
	_exit(1);
}

/* The registers before the instruction; the last record, where there are several. */
static void read_log(uint64_t pc, struct step_regs *regs)
{
	static char text[MAX_LOG];
	ssize_t size = read(LOG_FD, text, sizeof(text) - 1);

	if (size <= 0)
		fail("no registers in the log");
	text[size] = '\0';
	guest->read_regs(text, tracer.values);
	*regs = (struct step_regs){.rip = pc,
	    .rsp = tracer.values[guest->sp],
	    .rbp = tracer.values[guest->machine.fp],
	    .link = tracer.values[guest->machine.ra]};
}

static void execute(unsigned int cpu, void *user)
{
	const struct step_pc *at;
	struct step_regs now;

	(void)cpu;
	read_log((uint64_t)(uintptr_t)user, &now);
	if (tracer.report.steps > 0 &&
	    !step_shadow_follow_link(&tracer.shadow, last, &before, &now))
		fail("shadow stack");
	if (last == STEP_INSN_SYSCALL)
		tracer.modules.stale = true;
	at = step_modules_at(&tracer.modules, now.rip);
	last = at->insn;
	before = now;
	step_compare(&tracer, at);
	if (tracer.report.steps >= max_steps) {
		end(0, NULL);
		_exit(0);
	}
}

static void translate(uint64_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		qemu_plugin_register_vcpu_insn_exec_cb(
		    insn, execute, 0, (void *)(uintptr_t)qemu_plugin_insn_vaddr(insn));
	}
}

static bool take_option(char *option)
{
	char *value = strchr(option, '=');

	if (!value)
		return false;
	*value++ = '\0';
	if (!strcmp(option, "marks"))
		tracer.modules.marks = strdup(value);
	else if (!strcmp(option, "module"))
		tracer.modules.filter = strdup(value);
	else if (!strcmp(option, "known"))
		known = strdup(value);
	else if (!strcmp(option, "seen"))
		tracer.modules.seen = !strcmp(value, "on");
	else if (!strcmp(option, "steps"))
		max_steps = strtoull(value, NULL, 0);
	else
		return false;
	return true;
}

int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv)
{
	guest = step_guest_named(info->target_name);
	if (!guest)
		return 1;
	for (int i = 0; i < argc; i++)
		if (!take_option(argv[i]))
			return 1;
	tracer.modules.pid = getpid();
	tracer.modules.machine = &guest->machine;
	out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 100);
	if (fcntl(LOG_FD, F_SETFL, O_NONBLOCK) != 0 || out < 0 ||
	    !step_modules_init(&tracer.modules) ||
	    !step_report_init(&tracer.report, known))
		return 1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	qemu_plugin_register_atexit_cb(id, end, NULL);
	return 0;
}
