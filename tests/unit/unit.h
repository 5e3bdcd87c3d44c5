/* SPDX-License-Identifier: MIT */
/*
 * Shared by all unit tests: UNIT(NAME) { ... } is a case, UNIT_LOOP one for each number, UNIT_EACH one for each element of
 * an array. main runs all of them; results are TAP on standard output.
 */
#ifndef TESTS_UNIT_UNIT_H
#define TESTS_UNIT_UNIT_H

#include <check.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
__attribute__((constructor(101))) static void unit_be_patient(void)
{
	setenv("CK_DEFAULT_TIMEOUT", "600", 1);
}

/* This program, by a path that has no links. */
__attribute__((unused)) static char *unit_path(void)
{
	static char path[4096];

	ck_assert_int_gt(readlink("/proc/self/exe", path, sizeof(path) - 1), 0);
	return path;
}

/* Returns the one TCase of this file. It has the name of the program. */
static TCase *unit_cases(void)
{
	static TCase *all;

	if (!all)
		all = tcase_create(program_invocation_short_name);
	return all;
}

/* Each case adds itself before main, in the order of the file. "_i" in its body is the number in a loop. */
#define UNIT_LOOP(name, from, to)                                                        \
	static const TTest *name;                                                        \
	__attribute__((constructor)) static void name##_is_added(void)                   \
	{                                                                                \
		tcase_add_loop_test(unit_cases(), name, from, (int)(to));                \
	}                                                                                \
	START_TEST(name)
#define UNIT_EACH(name, array) UNIT_LOOP(name, 0, sizeof(array) / sizeof(*(array)))
#define UNIT(name) UNIT_LOOP(name, 0, 1)
#define UNIT_FIXTURE(before, after)                                                      \
	__attribute__((constructor)) static void unit_fixture(void)                      \
	{                                                                                \
		tcase_add_checked_fixture(unit_cases(), before, after);                  \
	}

/* Bytes from pairs of digits. */
static inline size_t unit_bytes(const char *digits, uint8_t *bytes, size_t size)
{
	const size_t n = strlen(digits) / 2;

	ck_assert_uint_le(n, size);
	for (size_t i = 0; i < n; i++)
		ck_assert_int_eq(sscanf(digits + 2 * i, "%2hhx", &bytes[i]), 1);
	return n;
}

int main(void)
{
	Suite *suite = suite_create(program_invocation_short_name);
	SRunner *runner;
	int failed;

	suite_add_tcase(suite, unit_cases());
	runner = srunner_create(suite);
	srunner_set_tap(runner, "-");
	srunner_run_all(runner, CK_SILENT);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
