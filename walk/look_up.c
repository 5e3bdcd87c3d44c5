/* SPDX-License-Identifier: MIT */
/* Finds the function of a PC. Each place is checked before it is read. */
#include "walk/look_up.h"

/* "2.3.2 The SFrame FDE Attribute" of version 3 stands in front of the rows. */
static enum eh2sframe_walk_why walk_attribute(const struct walk_section *section,
    const uint8_t *fde, uint8_t *rep, struct walk_rows *rows)
{
	uint64_t at = walk_load32(fde + WALK_V3_FDE_ATTRIBUTE, section->swap);
	const uint8_t *attribute;

	if (at + WALK_V3_ATTRIBUTE_BYTES > section->fres_size)
		return EH2SFRAME_WALK_WHY_DAMAGED;
	attribute = section->fres + at;
	rows->at = at + WALK_V3_ATTRIBUTE_BYTES;
	rows->n = walk_load16(attribute, section->swap);
	rows->info = attribute[WALK_V3_ATTRIBUTE_INFO];
	*rep = attribute[WALK_V3_ATTRIBUTE_REP];
	/* Types above 1 are not defined. */
	rows->flex = attribute[WALK_V3_ATTRIBUTE_INFO2] == 1;
	return attribute[WALK_V3_ATTRIBUTE_INFO2] <= 1 ? EH2SFRAME_WALK_WHY_GOES_ON
						       : EH2SFRAME_WALK_WHY_DAMAGED;
}

/* Finds the rows of the function of an FDE, for the PC that is offset behind its start. */
static enum eh2sframe_walk_why walk_function(const struct walk_section *section,
    const uint8_t *fde, uint64_t offset, struct walk_rows *rows)
{
	enum eh2sframe_walk_why why = EH2SFRAME_WALK_WHY_GOES_ON;
	bool v3 = section->version == 3;
	uint8_t rep = 0;

	if (offset >=
	    walk_load32(fde + (v3 ? WALK_V3_FDE_SIZE : WALK_FDE_SIZE), section->swap))
		return EH2SFRAME_WALK_WHY_NO_ROW;
	rows->offset = (uint32_t)offset;
	if (v3) {
		why = walk_attribute(section, fde, &rep, rows);
	} else {
		rows->at = walk_load32(fde + WALK_FDE_ROWS, section->swap);
		rows->n = walk_load32(fde + WALK_FDE_N_ROWS, section->swap);
		rows->info = fde[WALK_FDE_INFO];
		rows->flex = false;
		if (section->version == 2)
			rep = fde[WALK_FDE_REP];
	}
	if (why != EH2SFRAME_WALK_WHY_GOES_ON || !(rows->info & WALK_INFO_PCMASK))
		return why;
	/* Version 1 does not say how long a block is. */
	if (section->version == 1)
		return EH2SFRAME_WALK_WHY_NO_ROW;
	if (rep == 0)
		return EH2SFRAME_WALK_WHY_DAMAGED;
	rows->offset %= rep;
	return why;
}

/* Finds a rule that CFI has and no row can hold. */
static enum eh2sframe_walk_why walk_extra(
    const struct walk_section *section, uint64_t pc, struct eh2sframe_rule *rule)
{
	const struct eh2sframe_extra *low = section->extra;
	uint64_t offset = pc - section->extra_base;
	size_t n = section->n_extra;

	if (n == 0)
		return EH2SFRAME_WALK_WHY_NO_ROW;
	while (n > 1) {
		size_t half = n / 2;

		if (low[half].start <= offset)
			low += half;
		n -= half;
	}
	if (offset < low->start || offset >= low->end)
		return EH2SFRAME_WALK_WHY_NO_ROW;
	*rule = low->rule;
	return EH2SFRAME_WALK_WHY_GOES_ON;
}

/* Reads the rule of a row. */
static enum eh2sframe_walk_why walk_row(
    const struct walk_section *section, uint64_t pc, struct eh2sframe_rule *rule)
{
	uint32_t low = 0, n = section->n_fdes, bytes = walk_fde_bytes(section->version);
	int64_t rel = walk_relative(section, pc), start;
	enum eh2sframe_walk_why why;
	struct walk_rows rows;
	uint64_t at;

	if (n == 0 || rel < section->first)
		return EH2SFRAME_WALK_WHY_NO_ROW;
	if (section->index)
		walk_index_range(
		    section, (uint64_t)rel - (uint64_t)section->first, &low, &n);
	at = walk_search(section, WALK_OTHER, bytes, (uint64_t)low * bytes, n, rel);
	start = walk_start(section, WALK_OTHER, at);
	if (rel < start)
		return EH2SFRAME_WALK_WHY_NO_ROW;
	why = walk_function(
	    section, section->fdes + at, (uint64_t)rel - (uint64_t)start, &rows);
	if (why != EH2SFRAME_WALK_WHY_GOES_ON)
		return why;
	return walk_rule(section, &rows, rule);
}

enum eh2sframe_walk_why eh2sframe_walk_look_up(
    const struct eh2sframe_walk_section *opened, uint64_t pc, struct eh2sframe_rule *rule)
{
	const struct walk_section *section = walk_opened(opened);
	enum eh2sframe_walk_why why;

	if (pc - section->text_start >= section->text_end - section->text_start)
		return EH2SFRAME_WALK_WHY_NO_ROW;
	why = walk_row(section, pc, rule);
	return why == EH2SFRAME_WALK_WHY_NO_ROW ? walk_extra(section, pc, rule) : why;
}
