/* SPDX-License-Identifier: MIT */
/* --version: facts about the program that a report of a fault needs. */
#include <stdio.h>
#include <string.h>

#include "cmd/run.h"
#include "base/sandbox/sandbox.h"

static const char *version_with(bool has)
{
	return has ? "with" : "without";
}

void run_version(void)
{
	const char *features = eh2sframe_features();
	const bool zydis = strstr(features, "zydis"), zstd = strstr(features, "zstd");
	const struct sandbox_parts parts = sandbox_parts();
	char libraries[400] = "";

	printf("eh2sframe %s\n", eh2sframe_version());
	printf("%s Zydis: x86-64 code is %sdecoded\n", version_with(zydis),
	    zydis ? "" : "not ");
	printf("%s zstd: sections that it compressed are %sread\n", version_with(zstd),
	    zstd ? "" : "not ");
	printf("%s seccomp: --sandbox %s system calls\n", version_with(parts.seccomp),
	    parts.seccomp ? "limits" : "cannot limit");
	printf("%s Landlock: --sandbox %s the files that can be opened\n",
	    version_with(parts.landlock), parts.landlock ? "limits" : "cannot limit");
	eh2sframe_libraries(libraries, sizeof(libraries));
	printf("libraries: %s\n", libraries);
}
