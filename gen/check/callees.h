/* SPDX-License-Identifier: MIT */
/* Knowledge of functions that are called, and of memory that is read. */
#ifndef GEN_CHECK_CALLEES_H
#define GEN_CHECK_CALLEES_H

#include "base/attr.h"
#include "code/state.h"
#include "gen/rows/cfi_input.h"

/* Reads width bytes (1, 2, 4 or 8) at addr that nothing writes to once the program runs. False: they
 * are not there. */
ATTR_MUST_CHECK bool validate_read(
    const struct image *image, uint64_t addr, uint8_t width, uint64_t *value);

struct validate_own {
	uint64_t place, function; /* addresses */
};

/* The functions that never return, known by their names: the C library's, the C++ runtime's. */
struct validate_callees {
	const struct image *image;
	const struct cfi_input *input;
	enum code_machine machine;
	/* Functions that never return, and places that the loader fills with their addresses. */
	struct validate_addrs {
		uint64_t *list; /* ascending; owned */
		size_t n, cap;
	} functions, places;
	struct validate_addrs in_go; /* Go's functions that never return by their names */
	struct validate_addrs exported; /* what other files may call */
	/* Places that the loader fills with the address of a function that this file has, too. */
	struct validate_own *own; /* ascending by place; owned */
	size_t n_own, cap_own;
	/* Owned; it borrows this struct, which does not move. */
	struct validate_returns *returns;
};

/* Borrows image and input. False: out of memory. */
ATTR_MUST_CHECK bool validate_callees_read(const struct image *image,
    const struct cfi_input *input, struct validate_callees *callees);
void validate_callees_deinit(struct validate_callees *callees);

/*
 * True if the call cannot return: its callee is one of callees->functions, or a function of the
 * file whose ways all end in such a call without a landing pad, or go round in circles.
 */
bool validate_never_returns(
    const struct validate_callees *callees, const struct code_insn *call);

/* Returns the function of this file whose address the loader puts where the call reads it from, and the one
 * that a stub of a PLT at pc goes to; 0: none is known. */
uint64_t validate_call_own(
    const struct validate_callees *callees, const struct code_insn *call);
uint64_t validate_stub_own(const struct validate_callees *callees, uint64_t pc);

/*
 * True if the callee's instructions up to a return leave register 0 alone, which holds the size of a
 * frame: LLVM and Rust make such code for large frames.
 */
bool validate_keeps_first(const struct validate_callees *callees,
    const struct code_insn *call, const struct code_state *state);

/* True if a function at addr never returns by its name: by a symbol's alone, or by that in Go's table, too. */
bool validate_is_named_by_symbol(const struct validate_callees *callees, uint64_t addr);
bool validate_is_named(const struct validate_callees *callees, uint64_t addr);

/* True if another file may call the function at addr. */
bool validate_is_exported(const struct validate_callees *callees, uint64_t addr);

/* ---- for returns.c ---- */

/* The instruction at pc. False where there is none. */
bool validate_read_insn(
    const struct validate_callees *callees, uint64_t pc, struct code_insn *insn);

/* The place from which a stub of a PLT loads the address that it jumps to: the last load into a register. */
struct validate_stub {
	uint8_t reg; /* CODE_NO_REG: none */
	bool named;
	uint64_t own; /* the address of a function of this file; 0: none is known */
};

/* Notes what the instruction loads. state is that before it. */
void validate_stub_note(const struct validate_callees *callees,
    const struct code_insn *insn, const struct code_state *state,
    struct validate_stub *stub);
/* The function of this file that insn->via leads to; 0: none is known. state is that before it. */
uint64_t validate_goes_to_own(const struct validate_callees *callees,
    const struct code_insn *insn, const struct code_state *state,
    const struct validate_stub *stub);
/* True if the address in insn->via is that of a function that never returns by its name.
 * state is that before it. */
bool validate_goes_to_named(const struct validate_callees *callees,
    const struct code_insn *insn, const struct code_state *state,
    const struct validate_stub *stub);

#endif
