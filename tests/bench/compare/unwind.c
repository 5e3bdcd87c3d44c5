/* SPDX-License-Identifier: MIT */
/* Functions to entries of __unwind_info, and the FDEs that stay. */
#include "tests/bench/compare/unwind.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/rd.h"
#include "base/vec.h"

bool formats_unwind_begin(
    struct formats_unwind *unwind, const struct formats_input *input)
{
	*unwind = (struct formats_unwind){.input = input};
	snprintf(unwind->result.name, sizeof(unwind->result.name), "compact-unwind");
	unwind->result.calls_only = true;
	wr_init(&unwind->bytes, input->machine.big_endian);
	unwind->has_cie = calloc(input->frames->n_cies + 1, sizeof(*unwind->has_cie));
	return unwind->has_cie;
}

/* The address of the function's data; 0 if it has none, or none in reach. */
static uint64_t unwind_lsda(
    const struct formats_unwind *unwind, const struct formats_func *func)
{
	uint64_t base = unwind->input->base;

	return func->lsda >= base && func->lsda - base <= UINT32_MAX ? func->lsda : 0;
}

/* The flag bits for the function's personality routine and its data. */
static enum formats_reason unwind_flags(
    struct formats_unwind *unwind, const struct formats_func *func, uint32_t *flags)
{
	uint64_t personality = func->augment->personality;
	size_t i;

	if (func->lsda != unwind_lsda(unwind, func))
		return FORMATS_FAR_CODE;
	*flags = func->lsda ? UNWIND_HAS_LSDA : 0;
	if (!personality)
		return FORMATS_SAID;
	for (i = 0; i < unwind->n_personalities; i++)
		if (unwind->personalities[i] == personality)
			break;
	if (i == sizeof(unwind->personalities) / sizeof(*unwind->personalities))
		return FORMATS_PERSONALITY;
	if (i == unwind->n_personalities)
		unwind->personalities[unwind->n_personalities++] = personality;
	*flags |= (uint32_t)(i + 1) << UNWIND_PERSONALITY_SHIFT;
	return FORMATS_SAID;
}

/* Bytes of a record that was read before, with its length field. */
static uint64_t unwind_record(const struct formats_unwind *unwind, uint64_t off)
{
	const struct cfi_section *section = &unwind->input->frames->section;
	uint32_t length;
	struct rd rd;

	rd_init(&rd, section->data, section->size, section->big_endian);
	rd_seek(&rd, off);
	length = rd_u32(&rd);
	return length == UINT32_MAX ? rd_u64(&rd) + 12 : (uint64_t)length + 4;
}

/* The FDE stays, and the encoding says where it will be, if it can. */
static uint32_t unwind_dwarf(
    struct formats_unwind *unwind, const struct formats_func *func)
{
	const struct cfi_cie *cie = &unwind->input->frames->cies[func->fde->cie];
	bool *has_cie = &unwind->has_cie[func->fde->cie];
	uint32_t encoding = unwind->input->machine.isa == FORMATS_X86_64
				? UNWIND_X86_64_MODE_DWARF
				: UNWIND_ARM64_MODE_DWARF;

	/* An FDE that shares its code with another can have several ranges. */
	if (unwind->last_dwarf == func->fde)
		return unwind->last_encoding;
	if (!*has_cie)
		unwind->eh_frame_size += unwind_record(unwind, cie->off);
	*has_cie = true;
	/* 0 makes a reader search all of the section. */
	if (unwind->eh_frame_size <= UNWIND_DWARF_OFFSET_MASK)
		encoding |= (uint32_t)unwind->eh_frame_size;
	unwind->eh_frame_size += unwind_record(unwind, func->fde->off);
	unwind->n_dwarf++;
	unwind->last_dwarf = func->fde;
	unwind->last_encoding =
	    encoding | (unwind_lsda(unwind, func) ? UNWIND_HAS_LSDA : 0);
	return unwind->last_encoding;
}

static enum formats_reason unwind_encode(struct formats_unwind *unwind,
    const struct formats_func *func, const struct formats_body *body, uint32_t *encoding)
{
	enum formats_reason why = body->why;
	uint32_t flags = 0;

	/* A rule over the PC is more than one rule, even if its rows hold for many bytes. */
	if (func->table->pc_dependent)
		why = FORMATS_CFA_EXPRESSION;
	else if (func->signal_frame)
		why = FORMATS_SIGNAL_FRAME;
	else if (why == FORMATS_SAID)
		why = unwind->input->machine.isa == FORMATS_X86_64
			  ? formats_x86_64_encode(func, body, encoding)
			  : formats_arm64_encode(body, encoding);
	if (why == FORMATS_SAID)
		why = unwind_flags(unwind, func, &flags);
	*encoding = why == FORMATS_SAID ? *encoding | flags : unwind_dwarf(unwind, func);
	return why;
}

static bool unwind_push(
    struct formats_unwind *unwind, uint64_t pc, uint64_t lsda, uint32_t encoding)
{
	if (!vec_reserve(&unwind->entries, &unwind->cap, unwind->n + 1))
		return false;
	unwind->entries[unwind->n++] = (struct formats_unwind_entry){pc, lsda, encoding};
	return true;
}

bool formats_unwind_add(struct formats_unwind *unwind, const struct formats_func *func)
{
	struct formats_result *result = &unwind->result;
	uint64_t bytes = func->end - func->start, base = unwind->input->base;
	enum formats_reason why;
	struct formats_body body;
	uint32_t encoding = 0;

	if (unwind->n == 0)
		unwind->end = func->start;
	if (func->start < base || func->end - base > UINT32_MAX) {
		formats_result_code(result, FORMATS_FAR_CODE, bytes);
		return true;
	}
	if (func->start - unwind->end >= FORMATS_GAP &&
	    !unwind_push(unwind, unwind->end, 0, 0))
		return false;
	body = formats_find_body(func);
	why = unwind_encode(unwind, func, &body, &encoding);
	if (why == FORMATS_SAID) {
		formats_result_code(result, FORMATS_SAID, body.bytes);
		formats_result_code(result, FORMATS_OTHER_FRAME, body.other);
		bytes -= body.bytes + body.other;
		why = FORMATS_OUTSIDE_BODY;
	}
	formats_result_code(result, why, bytes);
	unwind->end = func->end;
	return unwind_push(unwind, func->start, unwind_lsda(unwind, func), encoding);
}

bool formats_unwind_end(struct formats_unwind *unwind)
{
	if (!formats_unwind_write(unwind))
		return false;
	unwind->result.bytes = unwind->bytes.size + unwind->eh_frame_size;
	return true;
}

void formats_unwind_deinit(struct formats_unwind *unwind)
{
	free(unwind->entries);
	free(unwind->has_cie);
	wr_deinit(&unwind->bytes);
	*unwind = (struct formats_unwind){0};
}
