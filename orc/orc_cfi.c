/* SPDX-License-Identifier: MIT */
/* Entries that follow each other become an FDE, one for each function whose start is known. */
#include "orc/orc_cfi.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/vec.h"
#include "cfi/opcodes.h"
#include "cfi/records.h"

enum {
	/* DWARF numbers (x86-64 psABI, "DWARF Register Number Mapping"). */
	REG_BP = 6,
	REG_SP = 7,
	REG_RA = 16,

	/* Places in struct pt_regs of x86-64, and what a call pushes. */
	REGS_BP = 0x20,
	REGS_IP = 0x80,
	REGS_SP = 0x98,
	RA_BYTES = 8,
};

/* The CIEs: called code, interrupted code below, an outermost frame, no rows. */
enum cie {
	CIE_CALL,
	CIE_SIGNAL,
	CIE_TOP,
	CIE_LEFT,
	N_CIES,
};

/* The DWARF number of a register that offsets count from; the others have none. */
static const int8_t dwarf[ORC_N_REGS] = {[ORC_UNDEFINED] = -1,
    [ORC_PREV_SP] = -1,
    [ORC_AX] = 0,
    [ORC_DX] = 1,
    [ORC_DI] = 5,
    [ORC_BP] = REG_BP,
    [ORC_SP] = REG_SP,
    [ORC_R10] = 10,
    [ORC_R13] = 13,
    [ORC_BP_INDIRECT] = REG_BP,
    [ORC_SP_INDIRECT] = REG_SP};

struct maker {
	const struct orc_table *table;
	const struct orc_code *code;
	struct orc_cfi *cfi;
	size_t cies[N_CIES]; /* where they are */
	/* The FDE that is being made: its instructions, and where its last row begins. */
	struct wr program;
	bool open;
	enum cie cie;
	uint64_t start, end, row;
};

const char *orc_reason_text(enum orc_reason why)
{
	static const char *const texts[ORC_N_REASONS] = {
	    [ORC_HAS_ROWS] = "it has rows",
	    [ORC_BASE] = "its entry counts SP from an unknown register",
	    [ORC_BP_BASE] = "its entry counts BP from an unknown register",
	    [ORC_TYPE] = "its entry has an unknown type",
	    [ORC_OLD_INDIRECT] =
		"its entry reads SP from memory as Linux before 5.13 does",
	};

	return texts[why];
}

static enum orc_reason reason_of(
    const struct orc_table *table, const struct orc_entry *entry)
{
	const bool outermost = entry->type == ORC_END_OF_STACK;

	if (entry->type == ORC_UNKNOWN_TYPE)
		return ORC_TYPE;
	if (outermost)
		return ORC_HAS_ROWS;
	if (entry->sp_reg >= ORC_N_REGS || dwarf[entry->sp_reg] < 0)
		return ORC_BASE;
	if (entry->sp_reg == ORC_SP_INDIRECT && !table->sp_indirect_known)
		return ORC_OLD_INDIRECT;
	if (entry->bp_reg != ORC_UNDEFINED && entry->bp_reg != ORC_PREV_SP &&
	    entry->bp_reg != ORC_BP)
		return ORC_BP_BASE;
	return ORC_HAS_ROWS;
}

static void put_pushed_ra(struct wr *wr)
{
	wr_u8(wr, DW_CFA_offset_extended_sf);
	cfi_put_uleb(wr, REG_RA);
	cfi_put_sleb(wr, -RA_BYTES);
}

static void put_cies(struct maker *maker)
{
	struct wr *wr = &maker->cfi->records;

	for (int i = 0; i < N_CIES; i++) {
		const size_t start =
		    cfi_begin_cie(wr, i == CIE_SIGNAL ? "zS" : "", REG_RA);

		maker->cies[i] = start;
		if (i == CIE_TOP) {
			wr_u8(wr, DW_CFA_def_cfa);
			cfi_put_uleb(wr, REG_SP);
			cfi_put_uleb(wr, RA_BYTES);
			wr_u8(wr, DW_CFA_undefined);
			cfi_put_uleb(wr, REG_RA);
		} else if (i == CIE_LEFT) {
			put_pushed_ra(wr);
		}
		cfi_end_record(wr, start);
	}
}

/* An expression: a register and an offset, then *(...) where deref is set, then an offset, then
 * *(...) where again is set. */
struct steps {
	int reg;
	int64_t off, add;
	bool deref, again;
};

/* Its length and its operations. */
static void put_expression(struct wr *wr, const struct steps *steps)
{
	struct wr ops;

	wr_init(&ops, false);
	wr_u8(&ops, (uint8_t)(DW_OP_breg0 + steps->reg));
	cfi_put_sleb(&ops, steps->off);
	if (steps->deref)
		wr_u8(&ops, DW_OP_deref);
	if (steps->add) {
		wr_u8(&ops, DW_OP_consts);
		cfi_put_sleb(&ops, steps->add);
		wr_u8(&ops, DW_OP_plus);
	}
	if (steps->again)
		wr_u8(&ops, DW_OP_deref);
	cfi_put_uleb(wr, ops.size);
	wr_bytes(wr, ops.data, ops.size);
	wr->failed |= ops.failed;
	wr_deinit(&ops);
}

static bool is_indirect(const struct orc_entry *entry)
{
	return entry->sp_reg == ORC_BP_INDIRECT || entry->sp_reg == ORC_SP_INDIRECT;
}

/* The address that the entry counts from, and more bytes; or what is at that place. */
static void put_base(
    struct wr *wr, const struct orc_entry *entry, int64_t more, bool value)
{
	struct steps steps = {.reg = dwarf[entry->sp_reg],
	    .off = entry->sp_offset,
	    .deref = is_indirect(entry),
	    .again = value};

	if (entry->sp_reg == ORC_SP_INDIRECT) {
		steps.off = 0;
		steps.add = entry->sp_offset + more;
	} else if (steps.deref) {
		steps.add = more;
	} else {
		steps.off += more;
	}
	put_expression(wr, &steps);
}

/* The base is the caller's SP. */
static void put_called(struct wr *wr, const struct orc_entry *entry)
{
	if (is_indirect(entry)) {
		wr_u8(wr, DW_CFA_def_cfa_expression);
		put_base(wr, entry, 0, false);
	} else {
		wr_u8(wr, DW_CFA_def_cfa_sf);
		cfi_put_uleb(wr, (uint64_t)dwarf[entry->sp_reg]);
		cfi_put_sleb(wr, entry->sp_offset);
	}
	put_pushed_ra(wr);
}

/* The base is where the interrupted code's registers are, of which a part may be all. */
static void put_interrupted(struct wr *wr, const struct orc_entry *entry)
{
	const int64_t from = entry->type == ORC_REGS_PARTIAL ? REGS_IP : 0;

	wr_u8(wr, DW_CFA_def_cfa_expression);
	put_base(wr, entry, REGS_SP - from, true);
	wr_u8(wr, DW_CFA_expression);
	cfi_put_uleb(wr, REG_RA);
	put_base(wr, entry, REGS_IP - from, false);
}

static void put_bp(struct wr *wr, const struct orc_entry *entry)
{
	if (entry->bp_reg == ORC_PREV_SP && entry->type == ORC_CALL) {
		wr_u8(wr, DW_CFA_offset_extended_sf);
		cfi_put_uleb(wr, REG_BP);
		cfi_put_sleb(wr, entry->bp_offset);
	} else if (entry->bp_reg == ORC_BP) {
		wr_u8(wr, DW_CFA_expression);
		cfi_put_uleb(wr, REG_BP);
		put_expression(
		    wr, &(struct steps){.reg = REG_BP, .off = entry->bp_offset});
	} else if (entry->bp_reg == ORC_PREV_SP) {
		/* It counts from the registers, where CFA is the interrupted SP. */
		wr_u8(wr, DW_CFA_expression);
		cfi_put_uleb(wr, REG_BP);
		put_base(wr, entry, entry->bp_offset, false);
	} else if (entry->type == ORC_REGS) {
		wr_u8(wr, DW_CFA_expression);
		cfi_put_uleb(wr, REG_BP);
		put_base(wr, entry, REGS_BP, false);
	} else {
		wr_u8(wr, DW_CFA_same_value);
		cfi_put_uleb(wr, REG_BP);
	}
}

/* Ends the FDE. False: out of memory. */
static bool close_fde(struct maker *maker)
{
	struct wr *wr = &maker->cfi->records;
	size_t at;

	if (!maker->open)
		return true;
	at = cfi_begin_fde(
	    wr, maker->cies[maker->cie], maker->start, maker->end - maker->start);
	if (maker->cie == CIE_SIGNAL)
		cfi_put_uleb(wr, 0); /* no augmentation data */
	wr_bytes(wr, maker->program.data, maker->program.size);
	cfi_end_record(wr, at);
	maker->cfi->n_records++;
	maker->open = false;
	return !wr->failed && !maker->program.failed;
}

static bool add_left(
    struct maker *maker, uint64_t start, uint64_t end, enum orc_reason why)
{
	struct orc_cfi *cfi = maker->cfi;
	struct orc_left *last = cfi->n_left ? &cfi->left[cfi->n_left - 1] : NULL;

	if (last && last->why == why && last->start + last->size == start) {
		last->size += end - start;
		return true;
	}
	if (!vec_reserve(&cfi->left, &cfi->cap_left, cfi->n_left + 1))
		return false;
	cfi->left[cfi->n_left++] = (struct orc_left){start, end - start, why};
	return true;
}

static bool is_start(const struct orc_code *code, uint64_t pc)
{
	const size_t i = search_from(code->starts, sizeof(pc), code->n_starts, pc);

	return i < code->n_starts && code->starts[i] == pc;
}

/* A row of [start, end), in the FDE before it or in one of its own. */
static bool put_row(struct maker *maker, uint64_t start, uint64_t end, enum cie cie,
    const struct orc_entry *entry)
{
	struct wr *wr = &maker->program;
	const bool goes_on = maker->open && maker->end == start && maker->cie == cie &&
			     cie <= CIE_SIGNAL && !is_start(maker->code, start);

	if (!goes_on) {
		if (!close_fde(maker))
			return false;
		maker->open = true;
		maker->cie = cie;
		maker->start = maker->row = start;
		wr->size = 0;
	}
	maker->end = end;
	if (cie > CIE_SIGNAL)
		return true;
	if (start != maker->row)
		cfi_put_advance(wr, start - maker->row);
	maker->row = start;
	if (entry->type == ORC_CALL)
		put_called(wr, entry);
	else
		put_interrupted(wr, entry);
	put_bp(wr, entry);
	return true;
}

/* What an entry says of [start, end), cut where functions begin. */
static bool put_entry(
    struct maker *maker, uint64_t start, uint64_t end, const struct orc_entry *entry)
{
	const struct orc_code *code = maker->code;
	const enum orc_reason why = reason_of(maker->table, entry);
	const enum cie cie = why != ORC_HAS_ROWS	       ? CIE_LEFT
			     : entry->type == ORC_END_OF_STACK ? CIE_TOP
			     : entry->signal		       ? CIE_SIGNAL
							       : CIE_CALL;

	if (cie == CIE_LEFT && !add_left(maker, start, end, why))
		return false;
	while (start < end) {
		const size_t i =
		    search_above(code->starts, sizeof(start), code->n_starts, start);
		const uint64_t to =
		    i < code->n_starts && code->starts[i] < end ? code->starts[i] : end;

		if (!put_row(maker, start, to, cie, entry))
			return false;
		start = to;
	}
	return true;
}

static bool put_place(struct maker *maker, size_t i, struct err *err)
{
	const struct orc_table *table = maker->table;
	const struct orc_place *place = &table->places[i];
	struct orc_entry entry;
	uint64_t end;

	orc_table_entry(table, i, &entry);
	if (entry.type == ORC_NOTHING)
		return true;
	end = maker->code->end(maker->code->context, place->pc);
	if (!end)
		return err_set(err, ERR_MALFORMED,
		    "an entry of ORC is for 0x%" PRIx64
		    ", which is no code, .orc_unwind_ip+0x%zx; rebuild the file",
		    place->pc, place->entry * ORC_IP_BYTES);
	if (i + 1 < table->n && table->places[i + 1].pc < end)
		end = table->places[i + 1].pc;
	if (!put_entry(maker, place->pc, end, &entry))
		return err_set_nomem(err);
	/* The distance from an FDE to its CIE has 32 bits. */
	return maker->cfi->records.size <= INT32_MAX ||
	       err_set(err, ERR_LIMIT,
		   "the ORC tables give more than 2 GiB of rows, .orc_unwind+0x%zx",
		   place->entry * ORC_ENTRY_BYTES);
}

bool orc_cfi_make(const struct orc_table *table, const struct orc_code *code,
    struct orc_cfi *cfi, struct err *err)
{
	struct maker maker = {.table = table, .code = code, .cfi = cfi};
	bool ok = true;

	wr_init(&cfi->records, false);
	wr_init(&maker.program, false);
	put_cies(&maker);
	for (size_t i = 0; ok && i < table->n; i++)
		ok = put_place(&maker, i, err);
	if (ok && (!close_fde(&maker) || cfi->records.failed))
		ok = err_set_nomem(err);
	wr_deinit(&maker.program);
	if (!ok)
		orc_cfi_deinit(cfi);
	return ok;
}

void orc_cfi_deinit(struct orc_cfi *cfi)
{
	wr_deinit(&cfi->records);
	free(cfi->left);
	*cfi = (struct orc_cfi){0};
}
