/* SPDX-License-Identifier: MIT */
/* Divides a stretch of executable bytes into instructions, data and padding. */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "code/code.h"
#include "code/insn.h"

/* Code behind data begins at a multiple of this; compilers align more. */
enum { SPLIT_ALIGN = 8 };
/* A piece of code between data is taken for data below this size in bytes. */
enum { SPLIT_LEAST_CODE = 100 };

static bool split_add(
    struct code_parts *parts, uint64_t start, uint64_t end, enum code_kind kind)
{
	struct code_part *last = parts->n ? &parts->list[parts->n - 1] : NULL;

	if (last && last->kind == kind) {
		last->size = end - last->start;
		return true;
	}
	if (!vec_reserve(&parts->list, &parts->cap, parts->n + 1))
		return false;
	parts->list[parts->n++] = (struct code_part){start, end - start, kind};
	return true;
}

/* Reads an instruction of code that others may write to meanwhile: the decoder looks at bytes more than once. */
static bool split_insn(enum code_machine machine, const uint8_t *code, uint64_t size,
    uint64_t pc, struct code_insn *insn)
{
	uint8_t bytes[16];

	if (size > sizeof(bytes))
		size = sizeof(bytes);
	memcpy(bytes, code, (size_t)size);
	return code_insn_read(machine, bytes, size, pc, insn);
}

/* Goes over the instructions from *at on, and ends behind one that never goes on, before one of the other
 * kind (fillers and no fillers), before bytes that are no instruction, or at the end. */
static enum code_kind split_run(enum code_machine machine, const uint8_t *code,
    uint64_t size, uint64_t addr, uint64_t *at)
{
	const uint64_t start = *at;
	bool filler = true;

	while (*at < size) {
		struct code_insn insn;

		if (!split_insn(machine, code + *at, size - *at, addr + *at, &insn) ||
		    insn.strange)
			return filler && *at > start ? CODE_KIND_PADDING : CODE_KIND_DATA;
		if (*at == start)
			filler = insn.filler;
		else if (filler && !insn.filler)
			return CODE_KIND_PADDING;
		*at += insn.length;
		if (!insn.filler && code_insn_ends(&insn))
			return CODE_KIND_CODE;
	}
	return filler ? CODE_KIND_PADDING : CODE_KIND_CODE;
}

/* True if part i has data on one side at least, and no code on the other. */
static bool split_among_data(const struct code_parts *parts, size_t i)
{
	const bool first = i == 0, last = i + 1 == parts->n;
	bool before = !first && parts->list[i - 1].kind == CODE_KIND_DATA;
	bool after = !last && parts->list[i + 1].kind == CODE_KIND_DATA;

	return (before || after) && (first || before) && (last || after);
}

/* Joins what belongs together once short pieces are data. */
static void split_smooth(struct code_parts *parts)
{
	size_t n = 0;

	for (size_t i = 0; i < parts->n; i++)
		if (parts->list[i].kind == CODE_KIND_CODE &&
		    parts->list[i].size < SPLIT_LEAST_CODE && split_among_data(parts, i))
			parts->list[i].kind = CODE_KIND_DATA;
	for (size_t i = 0; i < parts->n; i++) {
		if (n && parts->list[n - 1].kind == parts->list[i].kind)
			parts->list[n - 1].size += parts->list[i].size;
		else
			parts->list[n++] = parts->list[i];
	}
	parts->n = n;
}

bool code_split(enum code_machine machine, const uint8_t *code, uint64_t size,
    uint64_t addr, struct code_parts *parts)
{
	uint64_t at = 0;

	while (at < size) {
		uint64_t start = at;
		enum code_kind kind = split_run(machine, code, size, addr, &at);

		if (kind == CODE_KIND_DATA) {
			at += SPLIT_ALIGN - (addr + at) % SPLIT_ALIGN;
			if (at > size)
				at = size;
		}
		if (!split_add(parts, start, at, kind))
			return false;
	}
	split_smooth(parts);
	return true;
}

void code_parts_deinit(struct code_parts *parts)
{
	free(parts->list);
	*parts = (struct code_parts){0};
}
