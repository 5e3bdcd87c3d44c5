/* SPDX-License-Identifier: MIT */
/* The sections that a conversion and a proof read CFI from, as one. */
#ifndef GEN_SOURCES_CFI_SOURCES_H
#define GEN_SOURCES_CFI_SOURCES_H

#include "base/attr.h"
#include "base/err.h"
#include "cfi/frames.h"
#include "gen/sources/go_source.h"
#include "gen/sources/input.h"
#include "gen/options/options.h"

struct cfi_sources {
	/* A part for each source that there is: records of Go's table, .eh_frame, .debug_frame. */
	struct cfi_section section;
	struct cfi_source {
		uint64_t size; /* of its section or table, bytes; 0: it is not read */
		struct err left_out; /* why it is not; ERR_NONE: it is, or is not there */
	} list[N_SOURCES];
	uint64_t hdr_size; /* of .eh_frame_hdr, bytes */
	uint8_t *joined;   /* owned; bytes of all. NULL: .eh_frame alone */
	/* Owned; the debug file that has .debug_frame. NULL: the file itself. */
	char *debug_path;
	struct go_source go; /* without its records; section is NULL: there is none */
};

/* Finds the sections as options say. ERR_MALFORMED for .eh_frame only, ERR_NOMEM. Records of Go come
 * first, so that a terminator of .eh_frame is behind them. */
ATTR_MUST_CHECK bool cfi_sources_read(const struct image *image,
    const struct options *options, struct cfi_sources *sources, struct err *err);
void cfi_sources_deinit(struct cfi_sources *sources);

/* True if there is a section to read, or one that cannot be read. */
bool cfi_sources_any(const struct image *image, const struct options *options);

/*
 * Takes out Go's FDEs of code that .eh_frame describes. Takes out the FDEs of .debug_frame that begin before all code of image:
 * linkers write small numbers for functions that they discard. In an object, it takes out those that no relocation leads to; where
 * one leads to something else, all. ERR_NOMEM.
 */
ATTR_MUST_CHECK bool cfi_sources_settle(const struct image *image,
    struct cfi_sources *sources, struct cfi_frames *frames, struct err *err);

#endif
