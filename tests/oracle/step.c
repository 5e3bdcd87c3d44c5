/* SPDX-License-Identifier: MIT */
/*
 * Runs an x86-64 program one instruction at a time and compares, wherever a loaded
 * .sframe has a row, what the row says of the caller with what a shadow stack saw happen:
 * where the return address lies, what it is, and the caller's %rbp. It trusts no CFI and
 * no code of gen/.
 *
 *   step [OPTION...] PROGRAM [ARG...]
 *     --steps=N     stop after N instructions (default 3000000)
 *     --from-start  the loader's start too, not only from the entry point on
 *     --min=N       fail unless N instructions were compared
 *     --min-plt=N   and N of them in PLT sections
 *     --all-plt     and each step in a PLT section was compared
 *     --module=PAT  look only at modules whose file name matches PAT
 *     --env=N=V     set a variable for PROGRAM
 *     --marks=DIR   DIR/NAME.json is the JSON report of a module: steps in rows that it
 *                   calls "repaired", "derived" or "template" are counted apart, and so are the rows
 *                   that no run reached
 *     --seen        DIR/NAME.seen keeps which addresses with such rows were reached; runs add to it
 *     --min-marked=N, --min-distinct=N
 *                   and N in such rows, at N addresses
 *     --visits=N    run at full speed, and step only the first N calls of each function
 *                   with marked rows
 *     --visit-steps=N
 *                   of a visit at most N instructions (default 20000)
 *     --known=FILE  lines "FUNCTION KIND": differences of KIND (cfa, ra, fp) there are
 *                   printed and not counted
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/oracle/step_module.h"
#include "tests/oracle/step_report.h"
#include "tests/oracle/step_shadow.h"
#include "tests/oracle/step_tracer.h"

struct options {
	uint64_t steps, visits, visit_steps;
	struct step_least least;
	const char *module, *known, *marks;
	bool from_start, seen;
	char **program;
};

/* The option c, if it is one that takes a number. */
static uint64_t *number_of(struct options *options, int c)
{
	switch (c) {
	case 's':
		return &options->steps;
	case 'm':
		return &options->least.matched;
	case 'p':
		return &options->least.plt;
	case 'M':
		return &options->least.marked;
	case 'D':
		return &options->least.distinct;
	case 'v':
		return &options->visits;
	case 'V':
		return &options->visit_steps;
	default:
		return NULL;
	}
}

static bool parse_options(int argc, char **argv, struct options *options)
{
	static const struct option longs[] = {
	    {"steps", required_argument, NULL, 's'},
	    {"min", required_argument, NULL, 'm'},
	    {"min-plt", required_argument, NULL, 'p'},
	    {"all-plt", no_argument, NULL, 'P'},
	    {"module", required_argument, NULL, 'o'},
	    {"from-start", no_argument, NULL, 'f'},
	    {"env", required_argument, NULL, 'e'},
	    {"known", required_argument, NULL, 'k'},
	    {"marks", required_argument, NULL, 'a'},
	    {"seen", no_argument, NULL, 'S'},
	    {"min-marked", required_argument, NULL, 'M'},
	    {"min-distinct", required_argument, NULL, 'D'},
	    {"visits", required_argument, NULL, 'v'},
	    {"visit-steps", required_argument, NULL, 'V'},
	    {0},
	};
	int c;

	*options = (struct options){.steps = 3000000, .visit_steps = 20000};
	while ((c = getopt_long(argc, argv, "+", longs, NULL)) != -1) {
		uint64_t *number = number_of(options, c);

		if (number)
			*number = strtoull(optarg, NULL, 0);
		else if (c == 'o')
			options->module = optarg;
		else if (c == 'k')
			options->known = optarg;
		else if (c == 'a')
			options->marks = optarg;
		else if (c == 'f')
			options->from_start = true;
		else if (c == 'S')
			options->seen = true;
		else if (c == 'P')
			options->least.all_plt = true;
		else if (c != 'e' || putenv(optarg) != 0)
			return false;
	}
	options->program = argv + optind;
	return optind < argc;
}

/* In the child; the stepper's own output must not mix with the program's. */
static void run_program(char **program)
{
	int null = open("/dev/null", O_RDWR);

	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0)
		_exit(126);
	personality(ADDR_NO_RANDOMIZE); /* so that two runs are the same run */
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
		_exit(126);
	execvp(program[0], program);
	_exit(127);
}

/* A stop hands over from one process to the other; on one processor that is thrice as
 * fast. */
static void stay_on_one_cpu(void)
{
	cpu_set_t set;
	int cpu = sched_getcpu();

	CPU_ZERO(&set);
	CPU_SET(cpu < 0 ? 0 : cpu, &set);
	(void)sched_setaffinity(0, sizeof(set), &set);
}

static uint64_t find_entry(pid_t pid)
{
	char name[64];
	Elf64_auxv_t aux;
	uint64_t entry = 0;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/auxv", (int)pid);
	f = fopen(name, "re");
	while (f && fread(&aux, sizeof(aux), 1, f) == 1)
		if (aux.a_type == AT_ENTRY)
			entry = aux.a_un.a_val;
	if (f)
		fclose(f);
	return entry;
}

/* Runs at full speed to the program's entry point, by a breakpoint that is then taken
 * out. */
static bool run_to_entry(struct tracer *t)
{
	uint64_t entry = find_entry(t->pid);
	long word = ptrace(PTRACE_PEEKTEXT, t->pid, (void *)entry, NULL);
	int status;

	if (entry == t->regs.rip)
		return true;
	if (ptrace(PTRACE_POKETEXT, t->pid, (void *)entry,
		(void *)((word & ~0xffL) | 0xcc)) != 0 ||
	    ptrace(PTRACE_CONT, t->pid, NULL, NULL) != 0 ||
	    waitpid(t->pid, &status, 0) != t->pid || !WIFSTOPPED(status) ||
	    WSTOPSIG(status) != SIGTRAP) {
		printf("FAIL the program does not reach its entry point\n");
		return false;
	}
	t->modules.stale = true;
	if (ptrace(PTRACE_POKETEXT, t->pid, (void *)entry, (void *)word) != 0 ||
	    ptrace(PTRACE_GETREGS, t->pid, NULL, &t->regs) != 0)
		return false;
	t->regs.rip = entry;
	return ptrace(PTRACE_SETREGS, t->pid, NULL, &t->regs) == 0;
}

static const struct step_machine x86_64 = {.name = "x86_64",
    .insn_read = step_insn_read,
    .fp = 6,
    .ra = STEP_NO_REG,
    .cfa_off = 8};

static bool start(struct tracer *t, const struct options *options)
{
	int status;

	stay_on_one_cpu();
	t->pid = t->main = fork();
	if (t->pid < 0)
		return false;
	if (t->pid == 0)
		run_program(options->program);
	if (waitpid(t->pid, &status, 0) != t->pid || !WIFSTOPPED(status)) {
		printf("FAIL %s: cannot be run\n", options->program[0]);
		return false;
	}
	t->modules.pid = t->pid;
	return ptrace(PTRACE_SETOPTIONS, t->pid, NULL,
		   PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC |
		       (options->visits ? PTRACE_O_TRACECLONE : 0)) == 0 &&
	       step_modules_init(&t->modules) &&
	       ptrace(PTRACE_GETREGS, t->pid, NULL, &t->regs) == 0 &&
	       (options->from_start || run_to_entry(t));
}

/* True if the word at SP is the address of the kernel's way out of a signal handler. */
static bool is_signal_entry(const struct tracer *t, uint64_t *restorer)
{
	/* mov $__NR_rt_sigreturn,%rax; syscall: unwinders know it by these bytes too */
	static const uint8_t code[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
	uint8_t found[sizeof(code)];

	return step_read(&t->modules, t->regs.rsp, restorer, sizeof(*restorer)) &&
	       step_read(&t->modules, *restorer, found, sizeof(found)) &&
	       !memcmp(found, code, sizeof(code));
}

static struct step_regs regs_of(const struct tracer *t)
{
	return (struct step_regs){
	    .rip = t->regs.rip, .rsp = t->regs.rsp, .rbp = t->regs.rbp};
}

/* One instruction; *sig is delivered with it and gets what is to be delivered with the
 * next. */
bool step_once(struct tracer *t, enum step_insn insn, int *sig)
{
	struct step_regs before = regs_of(t), after;
	int status = 0, delivered = *sig;
	uint64_t top = 0;

	if (ptrace(PTRACE_SINGLESTEP, t->pid, NULL, delivered) != 0 ||
	    waitpid(t->pid, &status, __WALL) != t->pid)
		return false;
	if (!WIFSTOPPED(status)) {
		t->status = status;
		t->ended = true;
		return true;
	}
	*sig = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	if (ptrace(PTRACE_GETREGS, t->pid, NULL, &t->regs) != 0)
		return false;
	if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8)) {
		step_shadow_clear(&t->shadow);
		return step_modules_renew(&t->modules);
	}
	after = regs_of(t);
	if (*sig && after.rip == before.rip)
		return true; /* it did not run: the signal came first */
	if (delivered && is_signal_entry(t, &top))
		return step_shadow_push(&t->shadow, after.rsp, top, after.rbp);
	if (insn == STEP_INSN_SYSCALL)
		t->modules.stale = true;
	if ((insn == STEP_INSN_CALL || step_shadow_is_back(&t->shadow, after.rsp)) &&
	    !step_read(&t->modules, after.rsp, &top, sizeof(top)))
		return true;
	if (insn == STEP_INSN_CALL &&
	    step_modules_at(&t->modules, after.rip)->insn == STEP_INSN_RETPOLINE)
		insn = STEP_INSN_OTHER;
	return step_shadow_follow(&t->shadow, insn, &before, &after, top);
}

void step_compare_here(struct tracer *t, const struct step_pc *at)
{
	const struct user_regs_struct *regs = &t->regs;
	const uint64_t values[] = {regs->rax, regs->rdx, regs->rcx, regs->rbx, regs->rsi,
	    regs->rdi, regs->rbp, regs->rsp, regs->r8, regs->r9, regs->r10, regs->r11,
	    regs->r12, regs->r13, regs->r14, regs->r15, regs->rip};

	if (at->has_row)
		memcpy(t->values, values, sizeof(values));
	step_compare(t, at);
}

static bool run(struct tracer *t, uint64_t max_steps)
{
	int sig = 0;

	for (uint64_t i = 0; i < max_steps && !t->ended; i++) {
		const struct step_pc *at = step_modules_at(&t->modules, t->regs.rip);
		enum step_insn insn = at->insn;

		step_compare_here(t, at);
		if (!step_once(t, insn, &sig))
			return false;
	}
	return true;
}

/* True when nothing differed and the program did well. */
static bool finish(struct tracer *t, const struct options *options)
{
	bool ok;

	if (t->visits)
		printf("%" PRIu64 " visits\n", t->visits);
	ok = step_report_print(&t->report, &t->modules, &t->shadow, &options->least);

	if (!step_modules_save(&t->modules)) {
		printf("FAIL what was seen cannot be written\n");
		return false;
	}
	if (t->ended && t->status != 0) {
		printf("FAIL %s ended with wait status 0x%x\n", options->program[0],
		    (unsigned int)t->status);
		return false;
	}
	return ok;
}

int main(int argc, char **argv)
{
	struct options options;
	struct tracer t = {.modules = {.mem_fd = -1}};
	bool ok;

	if (!parse_options(argc, argv, &options)) {
		fputs("usage: step [OPTION...] PROGRAM [ARG...]\n", stderr);
		return 2;
	}
	t.modules.machine = &x86_64;
	t.modules.filter = options.module;
	t.modules.marks = options.marks;
	t.modules.seen = options.seen;
	t.limits.visits = options.visits;
	t.limits.steps = options.visit_steps;
	ok = step_report_init(&t.report, options.known) && start(&t, &options) &&
	     (options.visits ? step_visits(&t, options.steps) : run(&t, options.steps));
	if (ok)
		ok = finish(&t, &options);
	else
		printf("FAIL step: %s\n", strerror(errno));
	if (t.main > 0 && !t.ended) {
		kill(t.main, SIGKILL);
		waitpid(t.main, NULL, 0);
	}
	step_report_deinit(&t.report);
	step_shadow_deinit(&t.shadow);
	step_modules_deinit(&t.modules);
	return ok ? 0 : 1;
}
