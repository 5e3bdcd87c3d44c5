/* SPDX-License-Identifier: MIT */
/* The addresses of a file whose rows are "repaired", "derived" or a PLT's "template" by the JSON report. */
#ifndef TESTS_ORACLE_STEP_MARKS_H
#define TESTS_ORACLE_STEP_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum step_mark {
	STEP_UNMARKED,
	STEP_REPAIRED,
	STEP_DERIVED,
	STEP_TEMPLATE,
	STEP_N_MARKS
};

extern const char *const step_mark_names[STEP_N_MARKS];

/* Addresses of the file; end is behind the last. */
struct step_marked {
	uint64_t start, end;
	enum step_mark mark;
};

struct step_marks {
	struct step_marked *list; /* ascending, disjoint */
	size_t n, cap;
	uint64_t *starts; /* of functions with a repaired or derived row, ascending */
	size_t n_starts, cap_starts;
	uint8_t *seen; /* a byte for each address from the first range to the last */
	uint64_t n_seen[STEP_N_MARKS]; /* addresses */
};

/* Reads a report. False when it cannot be read or memory runs out. */
bool step_marks_read(struct step_marks *marks, const char *path);

/* Adds the addresses that earlier runs saw, if there is such a file. False when it is of another report. */
bool step_marks_load(struct step_marks *marks, const char *path);
bool step_marks_save(const struct step_marks *marks, const char *path);

void step_marks_deinit(struct step_marks *marks);

enum step_mark step_marks_at(const struct step_marks *marks, uint64_t addr);

/* One of the marked addresses from start to before end was seen. */
bool step_marks_seen(const struct step_marks *marks, uint64_t start, uint64_t end);

/* Counts an address, once, that lies inside a range. */
void step_marks_see(struct step_marks *marks, uint64_t addr, enum step_mark mark);

#endif
