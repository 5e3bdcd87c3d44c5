/* SPDX-License-Identifier: MIT */
/* Asks each library for its version. */
#include "gen/report/text.h"

#include <stdio.h>

#include <jansson.h>
#include <zlib.h>

#include "cfi/libdwarf.h"
#include "code/code.h"
#include "config.h"

#if EH2SFRAME_ZSTD
#include <zstd.h>
#endif

size_t report_libraries(char *text, size_t size)
{
	char zydis[64] = "", zstd[64] = "";
	int length;

#if EH2SFRAME_ZYDIS
	const unsigned long long decoder = code_x86_64_version();

	snprintf(zydis, sizeof(zydis), ", Zydis %llu.%llu.%llu", decoder >> 48,
	    decoder >> 32 & 0xffff, decoder >> 16 & 0xffff);
#endif
#if EH2SFRAME_ZSTD
	snprintf(zstd, sizeof(zstd), ", zstd %s", ZSTD_versionString());
#endif
	length = snprintf(text, size,
	    "jansson %s, libdwarf %s, libelf " EH2SFRAME_LIBELF ", zlib %s%s%s",
	    jansson_version_str(), cfi_libdwarf_version(), zlibVersion(), zstd, zydis);
	return length < 0 ? 0 : (size_t)length;
}
