/* SPDX-License-Identifier: MIT */
/* What the tables of a mapped ELF file say of it: where its code is, and its build-id. */
#ifndef PROFILE_STACKS_FACTS_H
#define PROFILE_STACKS_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "profile/profile.h"

/* More parts with code are not kept. */
enum { FACTS_MAX_PARTS = 64 };

/* A loaded part of a file that has code. */
struct facts_part {
	uint64_t offset, size, address; /* in the file; before relocation */
};

struct facts {
	struct facts_part parts[FACTS_MAX_PARTS];
	size_t n_parts;
	uint64_t entry; /* 0: none */
	uint64_t end;	/* the end of the highest loaded part */
	uint8_t build_id[PROFILE_BUILD_ID_MAX];
	uint32_t build_id_size;
};

/* Reads them from a descriptor or from memory. ERR_UNSUPPORTED when it is no 64-bit ELF; ERR_NOMEM. */
ATTR_MUST_CHECK bool facts_read(int fd, struct facts *facts, struct err *err);
ATTR_MUST_CHECK bool facts_read_memory(
    const uint8_t *bytes, size_t size, struct facts *facts, struct err *err);

/* The address before relocation of an offset in the file; false when no part has it. */
bool facts_address(const struct facts *facts, uint64_t offset, uint64_t *address);

#endif
