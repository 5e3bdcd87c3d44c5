/* SPDX-License-Identifier: MIT */
/* The table of readers. */
#include "gen/options/reader.h"

#include <stdio.h>
#include <string.h>

const struct reader reader_names[READER_N_NAMES] = {
    {"glibc", READER_GLIBC, 2, true, true, false,
	"glibc 2.42 to 2.44 with --enable-sframe, 2025-07 to 2026-07"},
    {"linux-user", READER_LINUX_USER, 3, true, true, true,
	"Linux \"unwind_user/sframe\", the posted series, a state after the 14th "
	"round of 2026-05"},
    {"linux-arm64", READER_LINUX_ARM64, 3, true, true, true,
	"Linux \"unwind, arm64: add sframe unwinder\", the posted series, 2026-04"},
    {"binutils-2.40", READER_BINUTILS_2_40, 1, false, false, false,
	"binutils 2.40, 2023-01"},
    {"binutils-2.41", READER_BINUTILS_2_41, 2, false, false, false,
	"binutils 2.41, 2023-07"},
    {"binutils-2.42", READER_BINUTILS_2_41, 2, false, false, false,
	"binutils 2.42, 2024-01"},
    {"binutils-2.43", READER_BINUTILS_2_41, 2, false, false, false,
	"binutils 2.43, 2024-08"},
    {"binutils-2.44", READER_BINUTILS_2_41, 2, false, false, false,
	"binutils 2.44, 2025-02"},
    {"binutils-2.45", READER_BINUTILS_2_45, 2, true, false, false,
	"binutils 2.45, 2025-07"},
    {"binutils-2.46", READER_BINUTILS_2_46, 3, true, false, false,
	"binutils 2.46, 2026-02"},
    {"binutils-2.47", READER_BINUTILS_2_46, 3, true, false, false,
	"binutils 2.47, 2026-07"},
};

enum { V1 = 1 << 1, V2 = 1 << 2, V3 = 1 << 3 };

/* Which versions each reader reads of each ABI, a bit per version. */
static const struct {
	unsigned int bit;
	const char *name;
	uint8_t versions[SFRAME_ABI_S390X_ENDIAN_BIG + 1];
} facts[] = {
    /* Version 2 ended with the 12th round. */
    {READER_LINUX_USER, "linux-user",
	{[SFRAME_ABI_AMD64_ENDIAN_LITTLE] = V3, [SFRAME_ABI_S390X_ENDIAN_BIG] = V3}},
    {READER_LINUX_ARM64, "linux-arm64",
	{[SFRAME_ABI_AARCH64_ENDIAN_LITTLE] = V3, [SFRAME_ABI_AARCH64_ENDIAN_BIG] = V3}},
    {READER_GLIBC, "glibc",
	{[SFRAME_ABI_AMD64_ENDIAN_LITTLE] = V2,
	    [SFRAME_ABI_AARCH64_ENDIAN_LITTLE] = V2,
	    [SFRAME_ABI_AARCH64_ENDIAN_BIG] = V2}},
    {READER_BINUTILS_2_40, "binutils-2.40",
	{[SFRAME_ABI_AMD64_ENDIAN_LITTLE] = V1,
	    [SFRAME_ABI_AARCH64_ENDIAN_LITTLE] = V1,
	    [SFRAME_ABI_AARCH64_ENDIAN_BIG] = V1}},
    {READER_BINUTILS_2_41, "binutils-2.41",
	{[SFRAME_ABI_AMD64_ENDIAN_LITTLE] = V2,
	    [SFRAME_ABI_AARCH64_ENDIAN_LITTLE] = V2,
	    [SFRAME_ABI_AARCH64_ENDIAN_BIG] = V2}},
    {READER_BINUTILS_2_45, "binutils-2.45",
	{[SFRAME_ABI_AMD64_ENDIAN_LITTLE] = V2,
	    [SFRAME_ABI_AARCH64_ENDIAN_LITTLE] = V2,
	    [SFRAME_ABI_AARCH64_ENDIAN_BIG] = V2,
	    [SFRAME_ABI_S390X_ENDIAN_BIG] = V2}},
    {READER_BINUTILS_2_46, "binutils-2.46",
	{[SFRAME_ABI_AMD64_ENDIAN_LITTLE] = V2 | V3,
	    [SFRAME_ABI_AARCH64_ENDIAN_LITTLE] = V2 | V3,
	    [SFRAME_ABI_AARCH64_ENDIAN_BIG] = V2 | V3,
	    [SFRAME_ABI_S390X_ENDIAN_BIG] = V2 | V3}},
};

enum { N_FACTS = sizeof(facts) / sizeof(facts[0]) };

const struct reader *reader_find(const char *name)
{
	for (size_t i = 0; i < READER_N_NAMES; i++)
		if (!strcmp(name, reader_names[i].name))
			return &reader_names[i];
	return NULL;
}

bool reader_reads(unsigned int bit, uint8_t version, uint8_t abi)
{
	for (size_t i = 0; abi <= SFRAME_ABI_S390X_ENDIAN_BIG && i < N_FACTS; i++)
		if (facts[i].bit == bit)
			return facts[i].versions[abi] >> version & 1;
	return false;
}

bool reader_looks_up_returns(const struct reader *reader, uint8_t version, uint8_t abi)
{
	if (reader)
		return reader->at_return;
	for (size_t i = 0; i < READER_N_NAMES; i++)
		if (reader_names[i].at_return &&
		    reader_reads(reader_names[i].bit, version, abi))
			return true;
	return false;
}

const char *reader_words(unsigned int readers, char *buf)
{
	size_t used = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < N_FACTS; i++)
		if (readers & facts[i].bit)
			used += (size_t)snprintf(buf + used, READER_WORDS_SIZE - used,
			    "%s%s", used ? ", " : "", facts[i].name);
	return used ? buf : "no reader";
}
