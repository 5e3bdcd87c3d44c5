/* SPDX-License-Identifier: MIT */
/*
 * The traced process's modules and what their .sframe says of a PC. The sections are read
 * from the process's own memory, through PT_GNU_SFRAME, so a section that is not really
 * loaded is a failure; the look-up shares no code with gen/.
 */
#ifndef TESTS_ORACLE_STEP_MODULE_H
#define TESTS_ORACLE_STEP_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sframe/decode.h"
#include "tests/oracle/step_marks.h"
#include "tests/oracle/step_shadow.h"

enum { STEP_MAX_PLTS = 8 };

struct step_range {
	uint64_t start, end;
};

/* Instructions: of all, in PLT sections, and those with a row further on. */
struct step_stats {
	uint64_t steps, plt_steps;
	uint64_t rows, plt_rows;
	uint64_t matched, plt_matched;
	uint64_t mismatched, plt_mismatched;
	uint64_t known;	   /* differ, as the list of known ones says */
	uint64_t no_frame; /* had a row, but the caller's frame was not known */
	uint64_t marked[STEP_N_MARKS]; /* of those that matched */
	uint64_t marked_wrong;
};

struct step_module {
	char *path;
	const char *name; /* the end of path */
	uint64_t bias;	  /* run-time address = file address + this */
	bool opened, has_sframe, failed;
	bool chosen; /* the user's filter lets it in */
	uint8_t *bytes;
	struct sf_view view;
	struct step_range plts[STEP_MAX_PLTS];
	size_t n_plts;
	struct step_marks marks; /* none unless the user gave them */
	struct step_stats stats;
};

/* One PC, with its module and row. */
struct step_pc {
	uint64_t pc;
	struct step_module *module; /* NULL: none, or not one with a file */
	uint64_t func_start;
	struct sf_row row;
	bool known; /* this cache slot is filled */
	bool has_row, in_plt;
	enum step_mark mark;
	enum step_insn insn;
};

struct step_map {
	uint64_t start, end, file_off;
	struct step_module *module;
};

/* A breakpoint at the start of a function that has marked rows. */
struct step_stop {
	uint64_t pc;
	uint64_t visits;
	uint8_t byte; /* the program's own, under the breakpoint */
	bool set;
};

/* Differences of machines for rows and the shadow stack. Registers by their DWARF numbers. */
struct step_machine {
	const char *name;
	enum step_insn (*insn_read)(const uint8_t *code);
	uint8_t fp;
	uint8_t ra;	 /* at entry; STEP_NO_REG where a call puts it on the stack */
	uint8_t cfa_off; /* from a frame's slot */
	bool big_endian, is_guest;
};

enum { STEP_NO_REG = 255, STEP_N_REGS = 34 };

struct step_modules {
	pid_t pid;
	const struct step_machine *machine; /* borrowed */
	int mem_fd;			    /* /proc/PID/mem */
	bool stale;			    /* the process changed its mappings */
	const char *filter;		    /* pattern for names, or NULL; borrowed */
	const char *marks; /* folder with NAME.json of modules, or NULL; borrowed */
	bool seen;	   /* NAME.seen there keeps what runs saw */
	struct step_module **list; /* owned, as its elements are; kept over exec */
	size_t n, cap;
	struct step_map *maps;
	size_t n_maps, cap_maps;
	struct step_pc *cache;
	struct step_stop *stops; /* owned; ascending */
	size_t n_stops, cap_stops;
};

/* The members up to filter, marks and seen are set by the caller. */
bool step_modules_init(struct step_modules *modules);
void step_modules_deinit(struct step_modules *modules);

/* After exec: a new address space. The statistics of the old modules stay. */
bool step_modules_renew(struct step_modules *modules);

/* Opens what is mapped by now and was not needed before. */
void step_modules_open_all(struct step_modules *modules);

/* Never NULL; valid until the next call. */
const struct step_pc *step_modules_at(struct step_modules *modules, uint64_t pc);

/* Keeps what was seen of each module. False when a file cannot be written. */
bool step_modules_save(const struct step_modules *modules);

/* The name of the function that starts at addr, for people and for lists of exceptions;
 * "" when the file has none. Slow. */
void step_module_symbol(
    const struct step_module *module, uint64_t addr, char *name, size_t size);

bool step_read(const struct step_modules *modules, uint64_t addr, void *buf, size_t size);

#endif
