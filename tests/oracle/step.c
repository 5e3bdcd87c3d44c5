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
 *     --module=PAT  look only at modules whose file name matches PAT
 *     --env=N=V     set a variable for PROGRAM
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

struct options {
	uint64_t steps, min, min_plt;
	const char *module, *known;
	bool from_start;
	char **program;
};

struct tracer {
	pid_t pid;
	struct step_modules modules;
	struct step_shadow shadow;
	struct step_report report;
	struct user_regs_struct regs;
	bool ended;
	int status; /* as of wait, when ended */
};

static bool parse_options(int argc, char **argv, struct options *options)
{
	static const struct option longs[] = {
	    {"steps", required_argument, NULL, 's'},
	    {"min", required_argument, NULL, 'm'},
	    {"min-plt", required_argument, NULL, 'p'},
	    {"module", required_argument, NULL, 'o'},
	    {"from-start", no_argument, NULL, 'f'},
	    {"env", required_argument, NULL, 'e'},
	    {"known", required_argument, NULL, 'k'},
	    {0},
	};
	int c;

	*options = (struct options){.steps = 3000000};
	while ((c = getopt_long(argc, argv, "+", longs, NULL)) != -1) {
		if (c == 's')
			options->steps = strtoull(optarg, NULL, 0);
		else if (c == 'm')
			options->min = strtoull(optarg, NULL, 0);
		else if (c == 'p')
			options->min_plt = strtoull(optarg, NULL, 0);
		else if (c == 'o')
			options->module = optarg;
		else if (c == 'k')
			options->known = optarg;
		else if (c == 'f')
			options->from_start = true;
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

static bool start(struct tracer *t, const struct options *options)
{
	int status;

	stay_on_one_cpu();
	t->pid = fork();
	if (t->pid < 0)
		return false;
	if (t->pid == 0)
		run_program(options->program);
	if (waitpid(t->pid, &status, 0) != t->pid || !WIFSTOPPED(status)) {
		printf("FAIL %s: cannot be run\n", options->program[0]);
		return false;
	}
	return ptrace(PTRACE_SETOPTIONS, t->pid, NULL,
		   PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC) == 0 &&
	       step_modules_init(&t->modules, t->pid, options->module) &&
	       ptrace(PTRACE_GETREGS, t->pid, NULL, &t->regs) == 0 &&
	       (options->from_start || run_to_entry(t));
}

/* A DWARF register's value; version 3 can name any. */
static uint64_t reg_value(const struct user_regs_struct *regs, unsigned int reg)
{
	const uint64_t values[] = {regs->rax, regs->rdx, regs->rcx, regs->rbx, regs->rsi,
	    regs->rdi, regs->rbp, regs->rsp, regs->r8, regs->r9, regs->r10, regs->r11,
	    regs->r12, regs->r13, regs->r14, regs->r15, regs->rip};

	return reg < sizeof(values) / sizeof(values[0]) ? values[reg] : 0;
}

/* The value a rule gives; without one, the value that none stands for. */
static bool rule_value(const struct tracer *t, struct sf_loc loc, int32_t off,
    uint64_t cfa, uint64_t unchanged, uint64_t *value)
{
	uint64_t base = loc.kind == SF_LOC_AT_CFA ? cfa : reg_value(&t->regs, loc.reg);

	*value = unchanged;
	if (loc.kind == SF_LOC_NONE)
		return true;
	*value = base + (uint64_t)(int64_t)off;
	if (loc.kind == SF_LOC_REG)
		return true;
	return step_read(&t->modules, *value, value, sizeof(*value));
}

/* Compares the row of the PC, if there is one, with the shadow stack. */
static void compare(struct tracer *t, const struct step_pc *at)
{
	const struct step_frame *frame = step_shadow_top(&t->shadow);
	struct step_values got = {0}, expected;
	struct sf_loc ra = at->row.ra;
	int32_t ra_off = at->row.ra_off;

	if (!step_report_step(&t->report, at))
		return;
	if (!frame) {
		at->module->stats.no_frame++;
		return;
	}
	expected = (struct step_values){
	    .cfa = frame->slot + 8, .ra = frame->ret, .fp = frame->rbp};
	if (at->row.outermost) {
		step_report_compared(&t->report, at, &expected, &got);
		return;
	}
	if (ra.kind == SF_LOC_NONE) {
		ra = (struct sf_loc){.kind = SF_LOC_AT_CFA};
		ra_off = at->module->view.fixed_ra_off;
	}
	if (!rule_value(t, at->row.cfa, at->row.cfa_off, 0, 0, &got.cfa) ||
	    !rule_value(t, ra, ra_off, got.cfa, 0, &got.ra))
		got.ra = 0;
	if (!rule_value(t, at->row.fp, at->row.fp_off, got.cfa, t->regs.rbp, &got.fp))
		got.fp = ~expected.fp;
	step_report_compared(&t->report, at, &expected, &got);
}

/* Whether the word at SP is the address of the kernel's way out of a signal handler. */
static bool is_signal_entry(const struct tracer *t, uint64_t *restorer)
{
	/* mov $__NR_rt_sigreturn,%rax; syscall: unwinders know it by these bytes too */
	static const uint8_t code[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
	uint8_t found[sizeof(code)];

	return step_read(&t->modules, t->regs.rsp, restorer, sizeof(*restorer)) &&
	       step_read(&t->modules, *restorer, found, sizeof(found)) &&
	       !memcmp(found, code, sizeof(code));
}

/* One instruction; *sig is delivered with it and gets what is to be delivered with the
 * next. */
static bool step_once(struct tracer *t, enum step_insn insn, int *sig)
{
	struct step_regs before = {t->regs.rip, t->regs.rsp, t->regs.rbp}, after;
	int status = 0, delivered = *sig;
	uint64_t top = 0;

	if (ptrace(PTRACE_SINGLESTEP, t->pid, NULL, delivered) != 0 ||
	    waitpid(t->pid, &status, 0) != t->pid)
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
	after = (struct step_regs){t->regs.rip, t->regs.rsp, t->regs.rbp};
	if (*sig && after.rip == before.rip)
		return true; /* it did not run: the signal came first */
	if (delivered && is_signal_entry(t, &top))
		return step_shadow_push(&t->shadow, after.rsp, top, after.rbp);
	if (insn == STEP_INSN_SYSCALL)
		t->modules.stale = true;
	if (insn == STEP_INSN_CALL &&
	    !step_read(&t->modules, after.rsp, &top, sizeof(top)))
		return true;
	if (insn == STEP_INSN_CALL &&
	    step_modules_at(&t->modules, after.rip)->insn == STEP_INSN_RETPOLINE)
		insn = STEP_INSN_OTHER;
	return step_shadow_follow(&t->shadow, insn, &before, &after, top);
}

static bool run(struct tracer *t, uint64_t max_steps)
{
	int sig = 0;

	for (uint64_t i = 0; i < max_steps && !t->ended; i++) {
		const struct step_pc *at = step_modules_at(&t->modules, t->regs.rip);
		enum step_insn insn = at->insn;

		compare(t, at);
		if (!step_once(t, insn, &sig))
			return false;
	}
	return true;
}

/* True when nothing differed and the program did well. */
static bool finish(struct tracer *t, const struct options *options)
{
	bool ok = step_report_print(
	    &t->report, &t->modules, &t->shadow, options->min, options->min_plt);

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
	ok = step_report_init(&t.report, options.known) && start(&t, &options) &&
	     run(&t, options.steps);
	if (ok)
		ok = finish(&t, &options);
	else
		printf("FAIL step: %s\n", strerror(errno));
	if (t.pid > 0 && !t.ended) {
		kill(t.pid, SIGKILL);
		waitpid(t.pid, NULL, 0);
	}
	step_report_deinit(&t.report);
	step_shadow_deinit(&t.shadow);
	step_modules_deinit(&t.modules);
	return ok ? 0 : 1;
}
