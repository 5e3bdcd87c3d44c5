/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a JSON report in the commands that read reports: joined, as a page, as a summary,
 * compared with itself, and as the old report of a small file: the kernel's vDSO. A joined report that is joined again
 * stays as it is.
 */
#include "tests/fuzz/fuzz.h"

#include <elf.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "tests/fuzz/scene.h"

const char *const fuzz_section = NULL;

/* scene.in as the old report; some systems have no vDSO. */
static void check_baseline(void)
{
	const Elf64_Ehdr *vdso = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);

	if (!vdso)
		return;
	scene_write(scene.back, vdso, vdso->e_shoff + vdso->e_shnum * sizeof(Elf64_Shdr));
	scene_command("report -q -o /dev/null --baseline", scene.in, scene.back);
	scene_command("check -q -o /dev/null --baseline", scene.in, scene.back);
	/* A report replaces no ELF file. */
	unlink(scene.back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	scene_open();
	scene_write(scene.in, data, size);
	scene_command("merge --html -q -o /dev/null", scene.in, NULL);
	scene_command("diff -q -o /dev/null", scene.in, scene.in);
	check_baseline();
	if (scene_command("merge -q -o", scene.out, scene.in) != 0)
		return 0;
	FUZZ_ASSERT(scene_command("merge -q -o", scene.back, scene.out) == 0, "%s",
	    "a joined report is no report");
	FUZZ_ASSERT(scene_same(scene.out, scene.back), "%s", "joined again, it differs");
	scene_command("diff -q -o /dev/null", scene.in, scene.out);
	return 0;
}
