/* SPDX-License-Identifier: MIT */
/*
 * Visits: the program runs at full speed to the start of a function that has marked rows, is
 * stepped until this function returns, and runs on. So the rare functions of a long run are
 * stepped, and the loops that call the same function a million times are not.
 *
 * The visit ends early at a system call. At such a start, where the row takes the word at SP for the return address, it must be the
 * address behind a call. Where the row says that SP is elsewhere, no function begins. All threads are traced; one at a time is stepped, and the others run.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/vec.h"
#include "tests/oracle/step_tracer.h"

enum { INT3 = 0xcc, MAX_CALL = 7 };

static bool poke(const struct tracer *t, uint64_t pc, uint8_t byte)
{
	return pwrite(t->modules.mem_fd, &byte, 1, (off_t)pc) == 1;
}

static bool set_stop(const struct tracer *t, struct step_stop *stop)
{
	stop->set = poke(t, stop->pc, INT3);
	return stop->set;
}

static bool clear_stop(const struct tracer *t, struct step_stop *stop)
{
	stop->set = false;
	return poke(t, stop->pc, stop->byte);
}

static bool add_stops(struct tracer *t, struct step_module *module)
{
	for (size_t i = 0; i < module->marks.n_starts; i++) {
		struct step_stop stop = {.pc = module->marks.starts[i] + module->bias};

		if (!step_read(&t->modules, stop.pc, &stop.byte, 1) ||
		    !vec_reserve(
			&t->modules.stops, &t->modules.cap_stops, t->modules.n_stops + 1))
			return false;
		t->modules.stops[t->modules.n_stops++] = stop;
	}
	return true;
}

static int compare_stops(const void *a, const void *b)
{
	const struct step_stop *x = a, *y = b;

	return (x->pc > y->pc) - (x->pc < y->pc);
}

static bool find_stops(struct tracer *t)
{
	step_modules_open_all(&t->modules);
	for (size_t i = 0; i < t->modules.n; i++)
		if (t->modules.list[i]->chosen && !add_stops(t, t->modules.list[i]))
			return false;
	if (t->modules.n_stops == 0) {
		printf("FAIL no module has marked rows\n");
		return false;
	}
	qsort(t->modules.stops, t->modules.n_stops, sizeof(*t->modules.stops),
	    compare_stops);
	for (size_t i = 0; i < t->modules.n_stops; i++)
		if (!set_stop(t, &t->modules.stops[i]))
			return false;
	return true;
}

static struct step_stop *stop_at(const struct tracer *t, uint64_t pc)
{
	struct step_stop key = {.pc = pc};

	return bsearch(
	    &key, t->modules.stops, t->modules.n_stops, sizeof(key), compare_stops);
}

/* True if the bytes before addr are a call. */
static bool is_behind_call(const struct tracer *t, uint64_t addr)
{
	uint8_t code[STEP_INSN_MAX + 1] = {0};

	for (uint64_t size = 2; size <= MAX_CALL; size++) {
		memset(code, 0, sizeof(code));
		if (step_read(&t->modules, addr - size, code, size) &&
		    step_insn_read(code) == STEP_INSN_CALL)
			return true;
	}
	return false;
}

/* The row takes the word at SP for the return address, and no call put it there. */
static void note_entry(struct tracer *t, const struct step_pc *at, uint64_t word)
{
	struct step_values expected = {.cfa = t->regs.rsp + 8}, got = expected;

	got.ra = word;
	step_report_compared(&t->report, at, &expected, &got);
}

static bool is_at_entry(const struct step_pc *at)
{
	return at->has_row && !at->row.outermost && at->row.cfa.kind == SF_LOC_REG &&
	       at->row.cfa.reg == 7 && at->row.cfa_off == 8;
}

static bool step_until_return(struct tracer *t, uint64_t max_steps, int *sig)
{
	for (uint64_t i = 0; i < max_steps && t->shadow.n && !t->ended; i++) {
		struct step_stop *stop = stop_at(t, t->regs.rip);
		const struct step_pc *at;
		enum step_insn insn;

		if (stop && stop->set) {
			stop->visits++;
			if (!clear_stop(t, stop))
				return false;
		}
		at = step_modules_at(&t->modules, t->regs.rip);
		insn = at->insn;
		step_compare_here(t, at);
		/* It may wait for a thread that is at a stop, and that waits for this visit to end. */
		if (insn == STEP_INSN_SYSCALL)
			break;
		if (!step_once(t, insn, sig))
			return false;
	}
	step_shadow_clear(&t->shadow);
	return true;
}

/* All that were taken out on the way, but for those with enough visits. */
static bool set_again(const struct tracer *t)
{
	for (size_t i = 0; i < t->modules.n_stops; i++) {
		struct step_stop *stop = &t->modules.stops[i];

		if (!stop->set && stop->visits < t->limits.visits && !set_stop(t, stop))
			return false;
	}
	return true;
}

/* A thread came to a stop. */
static bool visit(struct tracer *t, struct step_stop *stop)
{
	const struct step_pc *at;
	uint64_t word = 0;

	t->regs.rip = stop->pc;
	if ((stop->set && !clear_stop(t, stop)) ||
	    ptrace(PTRACE_SETREGS, t->pid, NULL, &t->regs) != 0)
		return false;
	stop->visits++;
	t->visits++;
	at = step_modules_at(&t->modules, stop->pc);
	if (!is_at_entry(
		at)) /* a label: old return addresses lie anywhere on the stack */
		return true;
	if (step_read(&t->modules, t->regs.rsp, &word, sizeof(word)) &&
	    is_behind_call(t, word))
		return step_shadow_push(&t->shadow, t->regs.rsp, word, t->regs.rbp);
	note_entry(t, at, word);
	return true;
}

/* A thread stopped for another reason: it goes on. */
static bool pass(struct tracer *t, pid_t pid, int status)
{
	int sig = WSTOPSIG(status);

	if (status >> 16 || sig == SIGSTOP || sig == SIGTRAP)
		sig = 0;
	t->modules.stale = true;
	return ptrace(PTRACE_CONT, pid, NULL, sig) == 0 || errno == ESRCH;
}

static bool take_stop(struct tracer *t, pid_t pid, int status, uint64_t max_steps)
{
	struct step_stop *stop;
	int sig = 0;

	t->pid = pid;
	if (status >> 8 != SIGTRAP || ptrace(PTRACE_GETREGS, pid, NULL, &t->regs) != 0)
		return pass(t, pid, status);
	stop = stop_at(t, t->regs.rip - 1);
	if (!stop)
		return pass(t, pid, status);
	if (!visit(t, stop))
		return false;
	if (t->report.steps + t->limits.steps < max_steps)
		max_steps = t->report.steps + t->limits.steps;
	if (!step_until_return(t, max_steps - t->report.steps, &sig))
		return false;
	if (t->ended && t->pid != t->main) {
		t->ended = false; /* only a thread did */
		return set_again(t);
	}
	return t->ended || (set_again(t) && ptrace(PTRACE_CONT, t->pid, NULL, sig) == 0);
}

bool step_visits(struct tracer *t, uint64_t max_steps)
{
	int status;
	pid_t pid;

	if (!find_stops(t) || ptrace(PTRACE_CONT, t->pid, NULL, NULL) != 0)
		return false;
	while (!t->ended && t->report.steps < max_steps) {
		pid = waitpid(-1, &status, __WALL);
		if (pid < 0)
			return false;
		if (WIFSTOPPED(status)) {
			if (!take_stop(t, pid, status, max_steps))
				return false;
		} else if (pid == t->main) {
			t->status = status;
			t->ended = true;
		}
	}
	return true;
}
