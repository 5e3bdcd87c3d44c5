/* SPDX-License-Identifier: MIT */
/* Rows to the tables of OpenTelemetry's profiler. */
#include "tests/bench/compare/otel.h"

/*
 * The tables that the BPF unwinder of OpenTelemetry's profiler reads: support/ebpf/types.h,
 * nativeunwind/elfunwindinfo and processmanager/execinfomanager/manager.go of
 * opentelemetry-ebpf-profiler at commit b442421a32cc (2026-08-21). There are 3 tables:
 *
 *   deltas, 4 bytes each: u16 low bits of the PC, u16 index of a rule or a command
 *   pages, 24 bytes for each 64 KiB of code: u64 file, u64 page, u32 first delta,
 *     u16 deltas, u16 map
 *   rules, 12 bytes each, interned: u8 flags, u8 base, u8 aux base, u8 merge,
 *     s32 param, s32 aux param
 *
 * base + param is the CFA. On x86-64 aux says where FP is, on AArch64 where RA is. merge
 * says that after 1 or 2 bytes of code the param is 8 more or less, so that one delta
 * serves for two. Rules are shared by all files of a host; here a file has its own. For 3
 * libraries by name that profiler also takes other registers for the CFA; here it does not.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/hash_slots.h"
#include "base/vec.h"
#include "tests/bench/compare/table.h"

/* In struct formats_words. The bytes of numbers stand with the lowest first. */
enum {
	OTEL_FLAGS,
	OTEL_BASE,
	OTEL_AUX,
	OTEL_MERGE,
	OTEL_PARAM,
	OTEL_AUX_PARAM = 8,
};

static bool otel_s32(int64_t value, uint8_t *bytes)
{
	for (int i = 0; i < 4; i++)
		bytes[i] = (uint8_t)((uint64_t)value >> 8 * i & 0xff);
	return value >= INT32_MIN && value <= INT32_MAX;
}

static int32_t otel_param(const uint8_t *bytes)
{
	return (int32_t)(bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
			 (uint32_t)bytes[3] << 24);
}

static void otel_command(uint8_t command, struct formats_words *words)
{
	*words = (struct formats_words){0};
	words->bytes[OTEL_FLAGS] = OTEL_FLAG_COMMAND;
	words->bytes[OTEL_PARAM] = command;
}

static enum formats_reason otel_cfa(const struct cfi_machine *regs,
    const struct cfi_rule *cfa, struct formats_words *words)
{
	int64_t param = cfa->off;

	if (cfa->reg != regs->sp_reg && cfa->reg != regs->fp_reg)
		return FORMATS_CFA_REGISTER;
	words->bytes[OTEL_BASE] = cfa->reg == regs->sp_reg ? OTEL_REG_SP : OTEL_REG_FP;
	if (cfa->kind == CFI_AT_REG) {
		if (cfa->add < 0 || cfa->add > OTEL_DEREF_MAX ||
		    cfa->add % OTEL_DEREF_UNIT || param % OTEL_DEREF_UNIT)
			return FORMATS_CFA_EXPRESSION;
		words->bytes[OTEL_FLAGS] |= OTEL_FLAG_DEREF_CFA;
		param += cfa->add / OTEL_DEREF_UNIT;
	}
	return otel_s32(param, words->bytes + OTEL_PARAM) ? FORMATS_SAID
							  : FORMATS_CFA_OFFSET;
}

/* A return address in a register takes the place of what is said about FP. */
static enum formats_reason otel_ra_register(
    const struct formats_answer *answer, struct formats_words *words)
{
	if (answer->ra.off != 0)
		return FORMATS_RA_PLACE;
	if (answer->fp.kind != CFI_SAME)
		return FORMATS_FP_PLACE;
	for (size_t i = 0; i < OTEL_N_REGS; i++)
		if (otel_regs[i].dwarf == answer->ra.reg)
			words->bytes[OTEL_AUX] = otel_regs[i].otel;
	words->bytes[OTEL_FLAGS] |= OTEL_FLAG_REGISTER_RA;
	if (words->bytes[OTEL_AUX] != OTEL_REG_FP &&
	    words->bytes[OTEL_AUX] != OTEL_REG_SP)
		words->bytes[OTEL_FLAGS] |= OTEL_FLAG_LEAF_ONLY;
	return words->bytes[OTEL_AUX] ? FORMATS_SAID : FORMATS_RA_PLACE;
}

static enum formats_reason otel_x86_64(const struct cfi_machine *regs,
    const struct formats_answer *answer, struct formats_words *words)
{
	const struct cfi_rule *fp = &answer->fp, *cfa = &answer->cfa;

	if (answer->ra.kind == CFI_REG_PLUS)
		return otel_ra_register(answer, words);
	if (answer->ra.kind != CFI_AT_CFA || answer->ra.off != -8)
		return FORMATS_RA_PLACE;
	if (fp->kind == CFI_SAME)
		return FORMATS_SAID;
	if (fp->kind == CFI_AT_REG && fp->reg == regs->fp_reg && fp->add == 0)
		words->bytes[OTEL_AUX] = OTEL_REG_FP;
	/* In epilogues the register has its value again, which no row says. */
	else if (fp->kind == CFI_AT_CFA &&
		 (cfa->reg != regs->sp_reg || cfa->kind != CFI_REG_PLUS ||
		     (fp->off < 0 && fp->off >= -cfa->off)))
		words->bytes[OTEL_AUX] = OTEL_REG_CFA;
	else
		return fp->kind == CFI_AT_CFA ? FORMATS_FP_BELOW_SP : FORMATS_FP_PLACE;
	return otel_s32(fp->off, words->bytes + OTEL_AUX_PARAM) ? FORMATS_SAID
								: FORMATS_FP_PLACE;
}

static enum formats_reason otel_aarch64(
    const struct formats_answer *answer, struct formats_words *words)
{
	const struct cfi_rule *ra = &answer->ra, *fp = &answer->fp;

	if (ra->kind == CFI_SAME) {
		words->bytes[OTEL_AUX] = OTEL_REG_LR;
		return fp->kind == CFI_SAME ? FORMATS_SAID : FORMATS_FP_PLACE;
	}
	if (ra->kind != CFI_AT_CFA || !otel_s32(ra->off, words->bytes + OTEL_AUX_PARAM))
		return FORMATS_RA_PLACE;
	words->bytes[OTEL_AUX] = OTEL_REG_CFA;
	if (fp->kind == CFI_SAME)
		return FORMATS_SAID;
	words->bytes[OTEL_FLAGS] |= OTEL_FLAG_FRAME;
	return fp->kind == CFI_AT_CFA && fp->off == ra->off - 8 ? FORMATS_SAID
								: FORMATS_FP_PLACE;
}

static enum formats_reason otel_pack(const struct formats_func *func,
    const struct formats_answer *answer, struct formats_words *words)
{
	const struct formats_machine *machine = &func->input->machine;
	enum formats_reason why;

	if (answer->outermost || func->signal_frame) {
		otel_command(
		    func->signal_frame ? OTEL_COMMAND_SIGNAL : OTEL_COMMAND_STOP, words);
		return FORMATS_SAID;
	}
	why = otel_cfa(&machine->cfi, &answer->cfa, words);
	if (why != FORMATS_SAID)
		return why;
	return machine->isa == FORMATS_X86_64 ? otel_x86_64(&machine->cfi, answer, words)
					      : otel_aarch64(answer, words);
}

static bool otel_pack_plt(uint8_t plt_at, struct formats_words *words)
{
	otel_command(OTEL_COMMAND_PLT, words);
	return plt_at == 11; /* which the unwinder takes for granted */
}

/* What merging takes: the next entry is 1 or 2 bytes on, and 8 more or less. */
static uint8_t otel_merge(const struct formats_entry *entry)
{
	const uint8_t *a = entry[0].words.bytes, *b = entry[1].words.bytes;
	int64_t more = (int64_t)otel_param(b + OTEL_PARAM) - otel_param(a + OTEL_PARAM);
	uint64_t bytes = entry[1].pc - entry[0].pc;

	if (entry[1].first || (a[OTEL_FLAGS] & OTEL_FLAG_COMMAND) || bytes > 2 ||
	    a[OTEL_FLAGS] != b[OTEL_FLAGS] || a[OTEL_BASE] != b[OTEL_BASE] ||
	    a[OTEL_AUX] != b[OTEL_AUX] ||
	    memcmp(a + OTEL_AUX_PARAM, b + OTEL_AUX_PARAM, 4) != 0 ||
	    (more != 8 && more != -8))
		return 0;
	return (uint8_t)(bytes | (more < 0 ? OTEL_MERGE_LESS : 0));
}

/* The rules met so far. */
struct otel_rules {
	struct slots slots;
	struct formats_words *list;
	size_t n, cap;
};

/* The number of a rule; false when memory runs out. */
static bool otel_intern(
    struct otel_rules *rules, const struct formats_words *words, size_t *index)
{
	uint32_t hash = (uint32_t)hash_bytes(words->bytes, sizeof(words->bytes));
	struct slot *slot;

	if (!slots_reserve(&rules->slots, rules->n + 1) ||
	    !vec_reserve(&rules->list, &rules->cap, rules->n + 1))
		return false;
	for (slot = slots_first(&rules->slots, hash); slot->number;
	     slot = slots_next(&rules->slots, slot)) {
		*index = slot->number - 1;
		if (slot->hash == hash &&
		    !memcmp(&rules->list[*index], words, sizeof(*words)))
			return true;
	}
	*index = rules->n;
	rules->list[rules->n++] = *words;
	*slot = (struct slot){hash, (uint32_t)rules->n};
	return true;
}

/* Keeps the entries that become deltas: their PCs, and what a delta says of the rule. */
static bool otel_reduce(struct formats_table *table, struct otel_rules *rules)
{
	size_t n = 0, index = 0;
	uint32_t last = UINT32_MAX;
	bool skip = false;

	for (size_t i = 0; i < table->n; i++) {
		struct formats_entry entry = table->entries[i];
		uint8_t *bytes = entry.words.bytes;

		if (skip) {
			skip = false;
			continue;
		}
		if (i + 1 < table->n)
			bytes[OTEL_MERGE] = otel_merge(&table->entries[i]);
		skip = bytes[OTEL_MERGE] != 0;
		if (bytes[OTEL_FLAGS] & OTEL_FLAG_COMMAND)
			index = OTEL_IS_COMMAND | bytes[OTEL_PARAM];
		else if (!otel_intern(rules, &entry.words, &index))
			return false;
		/* The profiler drops this one even if it merges, and so it is wrong for
		 * the bytes before the merge. */
		if (index == last && !skip)
			continue;
		last = (uint32_t)index;
		/* The index takes the place of the words. */
		otel_s32((int64_t)index, bytes + OTEL_PARAM);
		table->entries[n++] = entry;
	}
	table->n_rows = n;
	return true;
}

/* One page after the other, also those without a delta. False when one has too many. */
static bool otel_write_pages(struct formats_table *table)
{
	uint64_t page = table->base >> OTEL_PAGE_BITS,
		 last = table->end >> OTEL_PAGE_BITS;
	size_t at = 0;

	for (; table->n_rows && page <= last; page++) {
		size_t first = at;

		while (
		    at < table->n_rows && table->entries[at].pc >> OTEL_PAGE_BITS <= page)
			at++;
		if (at - first > UINT16_MAX)
			return false;
		wr_u64(&table->bytes, 0);
		wr_u64(&table->bytes, page);
		wr_u32(&table->bytes, (uint32_t)first);
		wr_u16(&table->bytes, (uint16_t)(at - first));
		wr_u16(&table->bytes, 0);
		table->n_pages++;
	}
	return true;
}

static void otel_write_rules(struct formats_table *table, const struct otel_rules *rules)
{
	table->n_infos = rules->n;
	for (size_t i = 0; i < rules->n; i++) {
		const uint8_t *bytes = rules->list[i].bytes;

		wr_bytes(&table->bytes, bytes, OTEL_PARAM);
		wr_u32(&table->bytes, (uint32_t)otel_param(bytes + OTEL_PARAM));
		wr_u32(&table->bytes, (uint32_t)otel_param(bytes + OTEL_AUX_PARAM));
	}
}

/* The profiler refuses a whole file when one of its tables is full. */
static void otel_refuse(struct formats_table *table)
{
	struct formats_result *result = &table->result;

	table->bytes.size = 0;
	table->n_rows = table->n_pages = 0;
	result->escapes[FORMATS_TABLE_FULL] =
	    (struct formats_tally){result->functions, result->code_bytes};
	result->functions = result->code_bytes = 0;
}

static bool otel_write(struct formats_table *table)
{
	struct otel_rules rules = {0};
	bool ok = otel_reduce(table, &rules);

	for (size_t i = 0; ok && i < table->n_rows; i++) {
		const uint8_t *bytes = table->entries[i].words.bytes;

		wr_u16(&table->bytes, (uint16_t)table->entries[i].pc);
		wr_u16(&table->bytes, (uint16_t)otel_param(bytes + OTEL_PARAM));
	}
	if (ok && rules.n <= OTEL_MAX_RULES && otel_write_pages(table))
		otel_write_rules(table, &rules);
	else if (ok)
		otel_refuse(table);
	free(rules.slots.list);
	free(rules.list);
	return ok;
}

const struct formats_table_kind formats_otel = {.name = "otel",
    .gap = OTEL_GAP,
    .reach = UINT32_MAX,
    .pack = otel_pack,
    .pack_plt = otel_pack_plt,
    .unknown = {{OTEL_FLAG_COMMAND}},
    .write = otel_write};
