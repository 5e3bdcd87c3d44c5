/* SPDX-License-Identifier: MIT */
/* What qemu writes of registers. */
#ifndef TESTS_SHARED_QEMU_LOG_H
#define TESTS_SHARED_QEMU_LOG_H

#include <stddef.h>
#include <stdint.h>

/* Takes 16 digits at most: a vector register has more. */
static inline uint64_t qemu_hexadecimal(const char *text)
{
	uint64_t value = 0;

	for (size_t i = 0; i < 16; i++) {
		const char c = text[i];

		if (c >= '0' && c <= '9')
			value = value << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (uint64_t)(c - 'a' + 10);
		else
			break;
	}
	return value;
}

#endif
