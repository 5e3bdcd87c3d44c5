/* SPDX-License-Identifier: MIT */
/* Runs the instructions of both sources over the code that both describe. */
#include "cfi/compare_debug_frame.h"

#include <string.h>

#include "base/search.h"
#include "cfi/opcodes.h"

/* Two FDEs over the same code. */
struct pair {
	const struct cfi_frames *frames;
	struct cfi_interp interps[2]; /* of the other source, and .debug_frame */
	uint32_t fdes[2];	      /* what they have run; UINT32_MAX: nothing */
	bool readable[2];
	bool nomem;
};

static bool same_bytes(
    const struct cfi_section *sec, uint64_t a, uint64_t b, uint64_t len)
{
	return !memcmp(sec->data + a, sec->data + b, (size_t)len);
}

/* True if the instructions of two CIEs and their operands mean the same. */
static bool same_cies(
    const struct cfi_section *sec, const struct cfi_cie *a, const struct cfi_cie *b)
{
	return a->code_align == b->code_align && a->data_align == b->data_align &&
	       a->ra_reg == b->ra_reg && a->program_len == b->program_len &&
	       a->program_len <= CFI_MAX_INITIAL &&
	       same_bytes(sec, a->program_off, b->program_off, a->program_len);
}

/* Byte for byte the same, and without an address, which each source writes otherwise. */
static bool same_programs(
    const struct cfi_frames *frames, const struct cfi_fde *a, const struct cfi_fde *b)
{
	const struct cfi_section *sec = &frames->section;

	return a->pc == b->pc && a->program_len == b->program_len &&
	       same_bytes(sec, a->program_off, b->program_off, a->program_len) &&
	       !memchr(sec->data + a->program_off, DW_CFA_set_loc, a->program_len) &&
	       same_cies(sec, &frames->cies[a->cie], &frames->cies[b->cie]);
}

/* A register without a rule keeps its value. An expression is only compared as far as it
 * has a form of its own. */
static bool rules_agree(const struct cfi_rule *a, const struct cfi_rule *b)
{
	struct cfi_rule x = *a, y = *b;

	if (x.kind == CFI_OPAQUE || y.kind == CFI_OPAQUE)
		return true;
	x.kind = x.kind == CFI_UNSPECIFIED ? CFI_SAME : x.kind;
	y.kind = y.kind == CFI_UNSPECIFIED ? CFI_SAME : y.kind;
	return cfi_rule_equal(&x, &y);
}

static bool rule_is_unchanged(const struct cfi_rule *rule)
{
	return rule->kind == CFI_UNSPECIFIED || rule->kind == CFI_SAME;
}

/* known: without a rule the caller's SP is the CFA. */
static bool stack_pointers_agree(
    const struct cfi_rule *a, const struct cfi_rule *b, bool known)
{
	const struct cfi_rule cfa = {.kind = CFI_CFA_PLUS};

	return known ? rules_agree(a->kind == CFI_UNSPECIFIED ? &cfa : a,
			   b->kind == CFI_UNSPECIFIED ? &cfa : b)
		     : rules_agree(a, b);
}

/* Returns how a row of .debug_frame differs from that of the other source; CFI_DEBUG_DIFF_KINDS: it does
 * not. */
static enum cfi_debug_diff_kind rows_differ(
    const struct cfi_row *other, const struct cfi_row *debug, bool known)
{
	const bool mostly = rules_agree(&other->cfa, &debug->cfa) &&
			    rules_agree(&other->ra, &debug->ra) &&
			    stack_pointers_agree(&other->sp, &debug->sp, known) &&
			    other->ra_signed == debug->ra_signed &&
			    other->ra_signed_with_pc == debug->ra_signed_with_pc;

	if (mostly && rules_agree(&other->fp, &debug->fp))
		return CFI_DEBUG_DIFF_KINDS;
	if (known && mostly && rule_is_unchanged(&debug->fp))
		return CFI_DEBUG_DIFF_FP;
	return known && (other->cfa.kind == CFI_UNSPECIFIED ||
			    other->ra.kind == CFI_UNDEFINED)
		   ? CFI_DEBUG_DIFF_NO_CALLER
		   : CFI_DEBUG_DIFF_DIFFER;
}

/* The end of row i, no later than end. */
static uint64_t row_end(const struct cfi_table *table, size_t i, uint64_t end)
{
	return i + 1 < table->n_rows && table->rows[i + 1].pc < end
		   ? table->rows[i + 1].pc
		   : end;
}

/* Where two tables differ, by kind. */
struct differing {
	uint64_t bytes[CFI_DEBUG_DIFF_KINDS];
	uint64_t first; /* the first address of CFI_DEBUG_DIFF_DIFFER */
};

/* Compares [start, end). */
static struct differing differing(const struct cfi_table *other,
    const struct cfi_table *debug, uint64_t start, uint64_t end, bool known)
{
	size_t i = cfi_table_row_at(other, start), k = cfi_table_row_at(debug, start);
	struct differing sum = {0};

	for (uint64_t pc = start; pc < end;) {
		uint64_t i_end = row_end(other, i, end), k_end = row_end(debug, k, end);
		uint64_t next = i_end < k_end ? i_end : k_end;
		const enum cfi_debug_diff_kind kind =
		    rows_differ(&other->rows[i], &debug->rows[k], known);

		if (kind == CFI_DEBUG_DIFF_DIFFER && !sum.bytes[kind])
			sum.first = pc;
		if (kind != CFI_DEBUG_DIFF_KINDS)
			sum.bytes[kind] += next - pc;
		i += i_end == next;
		k += k_end == next;
		pc = next;
	}
	return sum;
}

/* Runs both FDEs; false if one has no rules. at: where in the list and in shared they begin. */
static bool pair_run(struct pair *pair, const uint32_t fdes[2],
    const struct cfi_ranges *ranges, const size_t at[2])
{
	for (int i = 0; i < 2; i++) {
		struct err program; /* not zeroed, because its text is large */

		if (pair->fdes[i] == fdes[i])
			continue;
		program.kind = ERR_NONE;
		pair->fdes[i] = fdes[i];
		pair->interps[i].max_expr_ops = i ? cfi_ranges_shared_ops(ranges, at[i])
						  : cfi_ranges_expr_ops(ranges, at[i]);
		pair->readable[i] = cfi_interpret(&pair->interps[i],
					&pair->frames->fdes[fdes[i]], &program) &&
				    pair->interps[i].table.n_rows;
		pair->nomem |= program.kind == ERR_NOMEM;
	}
	return pair->readable[0] && pair->readable[1];
}

static void agree_tell(struct cfi_debug_diff *agree, const struct cfi_frames *frames,
    uint32_t fde, uint64_t pc)
{
	uint64_t off;

	cfi_section_at(&frames->section, frames->fdes[fde].off, &off);
	if (agree->n_told < CFI_DEBUG_DIFF_MAX_TOLD)
		agree->told[agree->n_told++] = (struct cfi_debug_diff_told){pc, off};
}

/* Compares a part of code that both describe. last: the FDE that was counted last, for each kind. */
static void agree_compare(struct cfi_debug_diff *agree, struct pair *pair,
    const struct cfi_range *shared, bool known, uint32_t last[CFI_DEBUG_DIFF_KINDS])
{
	const struct differing sum = differing(&pair->interps[0].table,
	    &pair->interps[1].table, shared->start, shared->end, known);

	for (int i = 0; i < CFI_DEBUG_DIFF_KINDS; i++) {
		agree->kinds[i].bytes += sum.bytes[i];
		if (!sum.bytes[i] || shared->fde == last[i])
			continue;
		last[i] = shared->fde;
		agree->kinds[i].n++;
		if (i == CFI_DEBUG_DIFF_DIFFER)
			agree_tell(agree, pair->frames, shared->fde, sum.first);
	}
}

bool cfi_debug_diff_read(const struct cfi_frames *frames, const struct cfi_ranges *ranges,
    const struct cfi_machine *machine, unsigned int source, bool known,
    struct cfi_debug_diff *agree)
{
	struct pair pair = {.frames = frames, .fdes = {UINT32_MAX, UINT32_MAX}};
	uint32_t last[CFI_DEBUG_DIFF_KINDS];
	uint32_t asked[2] = {UINT32_MAX, UINT32_MAX};
	bool same = false;

	*agree = (struct cfi_debug_diff){0};
	memset(last, 0xff, sizeof(last));
	cfi_interp_init(&pair.interps[0], frames, machine);
	cfi_interp_init(&pair.interps[1], frames, machine);
	for (size_t i = 0; !pair.nomem && i < ranges->n_shared; i++) {
		const struct cfi_range *shared = &ranges->shared[i];
		size_t at =
		    search_list_above(ranges->list, ranges->n, end, shared->start);
		const uint32_t fdes[2] = {ranges->list[at].fde, shared->fde};

		if (cfi_fde_source(frames, &frames->fdes[fdes[0]]) != source)
			continue;
		agree->bytes += shared->end - shared->start;
		if (asked[0] != fdes[0] || asked[1] != fdes[1])
			same = same_programs(
			    frames, &frames->fdes[fdes[0]], &frames->fdes[fdes[1]]);
		memcpy(asked, fdes, sizeof(asked));
		if (!same && pair_run(&pair, fdes, ranges, (const size_t[]){at, i}))
			agree_compare(agree, &pair, shared, known, last);
	}
	cfi_interp_deinit(&pair.interps[0]);
	cfi_interp_deinit(&pair.interps[1]);
	return !pair.nomem;
}
