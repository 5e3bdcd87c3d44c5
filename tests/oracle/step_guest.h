/* SPDX-License-Identifier: MIT */
/* The machines that qemu-user steps. */
#ifndef TESTS_ORACLE_STEP_GUEST_H
#define TESTS_ORACLE_STEP_GUEST_H

#include "tests/oracle/step_tracer.h"

struct step_guest {
	struct step_machine machine;
	uint8_t sp; /* DWARF's number */
	/* Reads the registers that qemu writes; the last value of each counts. */
	void (*read_regs)(const char *text, uint64_t values[STEP_N_REGS]);
};

/* By qemu's name; NULL when there is none. */
const struct step_guest *step_guest_named(const char *name);

#endif
