/* SPDX-License-Identifier: MIT */
/* Shared by the parts of the stepper. */
#ifndef TESTS_ORACLE_STEP_TRACER_H
#define TESTS_ORACLE_STEP_TRACER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "tests/oracle/step_module.h"
#include "tests/oracle/step_report.h"
#include "tests/oracle/step_shadow.h"

struct step_limits {
	uint64_t visits; /* for each function */
	uint64_t steps;	 /* for each visit */
};

struct tracer {
	pid_t main; /* the process */
	pid_t pid;  /* the thread that is stepped */
	struct step_modules modules;
	struct step_shadow shadow;
	struct step_report report;
	struct step_limits limits;
	uint64_t visits;
	struct user_regs_struct regs; /* of pid */
	uint64_t values[STEP_N_REGS]; /* the registers that rows name */
	bool ended;
	int status; /* as of wait, when ended */
};

/* Compares the row of the PC, if it has one, with the shadow stack. (step_compare.c) */
void step_compare(struct tracer *t, const struct step_pc *at);

/* As step_compare, with the registers of ptrace. (step.c) */
void step_compare_here(struct tracer *t, const struct step_pc *at);

/* One instruction; *sig is delivered with it and gets what is to be delivered with the
 * next. (step.c) */
bool step_once(struct tracer *t, enum step_insn insn, int *sig);

/* Runs the program at full speed, but for the first calls of each function that has marked
 * rows: these are stepped. False after an error, with errno. (step_visit.c) */
bool step_visits(struct tracer *t, uint64_t max_steps);

#endif
