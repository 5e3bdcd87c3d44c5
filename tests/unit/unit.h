/* SPDX-License-Identifier: MIT */
/* The main function every unit test shares: one suite, results as TAP on standard output.
 */
#ifndef TESTS_UNIT_UNIT_H
#define TESTS_UNIT_UNIT_H

#include <check.h>
#include <stdlib.h>

/*
 * check writes to a file at each assertion, to say after a crash which one was the last. That took most of the
 * time of a test that makes many. Here only the first pass of a line writes: after a crash, the furthest line
 * is named.
 */
static inline void unit_mark(const char *file, int line)
{
	static int furthest;

	if (line <= furthest)
		return;
	furthest = line;
	_mark_point(file, line);
}
#define _mark_point(file, line) unit_mark(file, line)

/* Cases that hang are ended by name; check's own four seconds end cases that wait for a processor. */
__attribute__((constructor)) static void unit_be_patient(void)
{
	setenv("CK_DEFAULT_TIMEOUT", "600", 1);
}

static inline int unit_main(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int failed;

	srunner_set_tap(runner, "-");
	srunner_run_all(runner, CK_SILENT);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
