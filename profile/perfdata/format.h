/* SPDX-License-Identifier: MIT */
/* The numbers of perf.data: linux/tools/perf/Documentation/perf.data-file-format.txt. */
#ifndef PROFILE_PERFDATA_FORMAT_H
#define PROFILE_PERFDATA_FORMAT_H

#include <stdint.h>

#define PERFDATA_MAGIC "PERFILE2"
#define PERFDATA_MAGIC_SWAPPED "2ELIFREP"

/* A part of the file. */
struct perfdata_section {
	uint64_t offset, size;
};

struct perfdata_header {
	char magic[8];
	uint64_t size;	    /* of this header */
	uint64_t attr_size; /* of an attribute and the section of its identifiers */
	struct perfdata_section attrs, data, event_types;
	/* Each feature has a bit. Behind the data is a section for each, in their order. */
	uint64_t features[4];
};

enum perfdata_feature {
	PERFDATA_BUILD_ID = 2,
	PERFDATA_HOSTNAME = 3,
	PERFDATA_OSRELEASE = 4,
	PERFDATA_ARCH = 6,
	PERFDATA_NRCPUS = 7, /* perf 7.2 warns without it */
	PERFDATA_CMDLINE = 11,
	PERFDATA_EVENT_DESC = 12,
	PERFDATA_CLOCK_DATA = 29, /* a time of the wall clock and one of the records' */
	PERFDATA_NAMES = 255, /* ours, at the end of the bits, where perf does not look */
};

/*
 * PERFDATA_NAMES: names that nobody can look up later, of code that was made at run time. The
 * number of names (8 bytes), then for each of them a PC (8), a process (4) and where its name
 * begins behind the list (4); then the names, each with a zero at its end. The highest byte of the PC is xored with the time at which the
 * process began, in units of 1024 ns, and the number of programs that have begun in it since (exec).
 */
struct perfdata_names_entry {
	uint64_t pc;
	uint32_t pid, at;
};

/* Records that perf makes itself. */
enum perfdata_record_kind {
	PERFDATA_RECORD_AUXTRACE = 71, /* has bytes behind it, by the word at 8 */
	PERFDATA_RECORD_COMPRESSED = 81,
	PERFDATA_RECORD_COMPRESSED2 = 83,
};

/* A feature larger than this is left out: command lines have at most 2 MiB. */
enum { PERFDATA_FEATURE_MAX = 64 << 20 };

/* In a build-id's header: its size is behind its 20 bytes. */
enum { PERFDATA_MISC_BUILD_ID_SIZE = 1 << 15 };

/*
 * PERF_SAMPLE_RAW of a sample that eh2sframe-record walked, which perf does not look at: this
 * word, why the walk ended (enum profile_why), zeros to 8 bytes, and two bits for each of the
 * program's frames, four to a byte, the first frame lowest.
 */
#define PERFDATA_WALKED UINT32_C(0x6b6c6177) /* "walk" */
enum { PERFDATA_WALKED_SIZE = 8, PERFDATA_FRAME_EXACT = 1, PERFDATA_FRAME_GUESSED = 2 };

#endif
