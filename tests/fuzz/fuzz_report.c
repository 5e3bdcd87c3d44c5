/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a JSON report in the commands that read reports: joined, as a page, as a summary, and
 * compared with itself. A joined report that is joined again stays as it is.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "tests/fuzz/scene.h"

const char *const fuzz_section = NULL;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	scene_open();
	scene_write(scene.in, data, size);
	scene_command("--report=html --merge -q -o /dev/null", scene.in, NULL);
	scene_command("--report-diff -q -o /dev/null", scene.in, scene.in);
	scene_command("--report-diff --report=html -q -o /dev/null", scene.in, scene.in);
	if (scene_command("--report --merge -q -o", scene.out, scene.in) != 0)
		return 0;
	FUZZ_ASSERT(scene_command("--report --merge -q -o", scene.back, scene.out) == 0,
	    "%s", "a joined report is no report");
	FUZZ_ASSERT(scene_same(scene.out, scene.back), "%s", "joined again, it differs");
	scene_command("--report-diff -q -o /dev/null", scene.in, scene.out);
	return 0;
}
