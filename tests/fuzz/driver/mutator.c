/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer's mutants of ELF files: half of them are damage that knows the parts of a file (edit.h), as the tests make
 * it.
 */
#include <string.h>

#include "tests/fuzz/driver/edit.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	uint64_t state = seed | 1;
	struct edit edits[EDIT_MAX];
	struct map map;
	struct wr bytes;
	size_t n;

	if (seed & 1)
		return LLVMFuzzerMutate(data, size, max);
	map_read(data, size, &map);
	n = edit_random(&map, data, size, &state, edits);
	wr_init(&bytes, false);
	wr_bytes(&bytes, data, size);
	for (size_t i = 0; i < n; i++)
		edit_apply(&edits[i], &bytes);
	if (!bytes.failed && bytes.size <= max) {
		memcpy(data, bytes.data, bytes.size);
		size = bytes.size;
	}
	wr_deinit(&bytes);
	return size;
}
