/* SPDX-License-Identifier: MIT */
/* What the tables of OpenTelemetry's profiler say of a PC. */
#include "base/rd.h"
#include "tests/bench/compare/otel.h"
#include "tests/bench/compare/table.h"

static struct rd otel_reader(const struct formats_table *table, size_t off)
{
	struct rd rd;

	rd_init(&rd, table->bytes.data, table->bytes.size, table->bytes.big_endian);
	rd_seek(&rd, off);
	return rd;
}

static uint64_t otel_addr(const struct formats_table *table, uint64_t page, size_t delta)
{
	struct rd entry = otel_reader(table, OTEL_DELTA_BYTES * delta);

	return page << OTEL_PAGE_BITS | rd_u16(&entry);
}

/* The last delta at or below pc: its number, and its address. */
static bool otel_delta(
    const struct formats_table *table, uint64_t pc, size_t *delta, uint64_t *addr)
{
	uint64_t first = table->base >> OTEL_PAGE_BITS, page = pc >> OTEL_PAGE_BITS;

	if (pc < table->base || page - first >= table->n_pages)
		return false;
	/* A page without a delta so far goes on with the last of an earlier one. */
	for (uint64_t i = page - first + 1; i-- > 0; page--) {
		struct rd rd = otel_reader(table,
		    OTEL_DELTA_BYTES * table->n_rows + OTEL_PAGE_BYTES * (size_t)i + 16);
		size_t low = rd_u32(&rd), begin = low, high = low + rd_u16(&rd);

		while (low < high) {
			size_t middle = low + (high - low) / 2;

			if (otel_addr(table, page, middle) <= pc)
				low = middle + 1;
			else
				high = middle;
		}
		if (low == begin)
			continue;
		*delta = low - 1;
		*addr = otel_addr(table, page, low - 1);
		return true;
	}
	return false;
}

static bool otel_answer_command(const struct formats_table *table, uint8_t command,
    uint64_t pc, struct formats_answer *answer)
{
	const struct cfi_machine *regs = &table->machine->cfi;

	answer->outermost = command == OTEL_COMMAND_STOP;
	answer->signal = command == OTEL_COMMAND_SIGNAL;
	if (command != OTEL_COMMAND_PLT)
		return command != OTEL_COMMAND_INVALID;
	answer->cfa = (struct cfi_rule){
	    .kind = CFI_REG_PLUS, .reg = regs->sp_reg, .off = pc % 16 >= 11 ? 16 : 8};
	answer->ra = (struct cfi_rule){.kind = CFI_AT_CFA, .off = -8};
	answer->fp = (struct cfi_rule){.kind = CFI_SAME};
	return true;
}

/* Where aux leads: FP on x86-64, RA on AArch64. */
static void otel_answer_aux(const struct formats_table *table, uint8_t flags, uint8_t aux,
    int32_t param, struct formats_answer *answer)
{
	const struct cfi_rule same = {.kind = CFI_SAME},
			      at_cfa = {.kind = CFI_AT_CFA, .off = param},
			      below = {.kind = CFI_AT_CFA, .off = (int64_t)param - 8};

	answer->fp = same;
	if (table->machine->isa == FORMATS_AARCH64) {
		answer->ra = aux == OTEL_REG_LR ? same : at_cfa;
		if (flags & OTEL_FLAG_FRAME)
			answer->fp = below;
		return;
	}
	answer->ra = (struct cfi_rule){.kind = CFI_AT_CFA, .off = -8};
	if (flags & OTEL_FLAG_REGISTER_RA) {
		answer->ra = (struct cfi_rule){.kind = CFI_REG_PLUS};
		for (size_t i = 0; i < OTEL_N_REGS; i++)
			if (otel_regs[i].otel == aux)
				answer->ra.reg = otel_regs[i].dwarf;
	} else if (aux == OTEL_REG_CFA) {
		answer->fp = at_cfa;
	} else if (aux == OTEL_REG_FP) {
		answer->fp = (struct cfi_rule){
		    .kind = CFI_AT_REG, .off = param, .reg = table->machine->cfi.fp_reg};
	}
}

bool formats_otel_find(
    const struct formats_table *table, uint64_t pc, struct formats_answer *answer)
{
	const struct cfi_machine *regs = &table->machine->cfi;
	uint8_t flags, base, aux, merge;
	uint64_t addr = 0;
	size_t delta = 0;
	int32_t param;
	struct rd rd;

	*answer = (struct formats_answer){0};
	if (!otel_delta(table, pc, &delta, &addr))
		return false;
	rd = otel_reader(table, OTEL_DELTA_BYTES * delta + 2);
	delta = rd_u16(&rd);
	if (delta & OTEL_IS_COMMAND)
		return otel_answer_command(table, delta & 0xff, pc, answer);
	rd = otel_reader(table, OTEL_DELTA_BYTES * table->n_rows +
				    OTEL_PAGE_BYTES * table->n_pages +
				    OTEL_RULE_BYTES * delta);
	flags = rd_u8(&rd);
	base = rd_u8(&rd);
	aux = rd_u8(&rd);
	merge = rd_u8(&rd);
	param = rd_s32(&rd);
	if (merge && pc - addr >= (merge & ~OTEL_MERGE_LESS))
		param += merge & OTEL_MERGE_LESS ? -8 : 8;
	answer->cfa = (struct cfi_rule){.kind = CFI_REG_PLUS, .off = param};
	answer->cfa.reg = base == OTEL_REG_SP ? regs->sp_reg : regs->fp_reg;
	if (flags & OTEL_FLAG_DEREF_CFA) {
		answer->cfa.kind = CFI_AT_REG;
		answer->cfa.off = param & ~(OTEL_DEREF_UNIT - 1);
		answer->cfa.add = (param & (OTEL_DEREF_UNIT - 1)) * OTEL_DEREF_UNIT;
	}
	otel_answer_aux(table, flags, aux, rd_s32(&rd), answer);
	return !rd.failed;
}
