/* SPDX-License-Identifier: MIT */
/*
 * One pass over the instructions in the order of addresses. Go's compiler and assembler write the
 * prologue first, so what it saves is saved for all code behind it where SP is as low again.
 */
#include "go/go_walk.h"

#include <string.h>

#include "base/vec.h"

/* What a register holds, as far as frames need it. */
struct walk_value {
	enum {
		WALK_UNKNOWN,
		WALK_CFA,   /* the CFA plus off */
		WALK_CONST, /* off */
	} kind;
	int64_t off;
};

/* A register that the caller needs: the frame pointer, or AArch64's return address. */
struct walk_saved {
	uint8_t reg;
	uint8_t below; /* bytes below SP at which Go still keeps it */
	bool clean;    /* by the way that led here, it holds the caller's value */
	bool touched;  /* an instruction before this one writes it */
	bool changed;  /* it was overwritten while it was not saved */
	bool has_slot;
	bool no_slot; /* its slot cannot be used: */
	bool hit;     /* another value was stored to it */
	int64_t slot; /* saved at the CFA plus this */
};

struct walk {
	const struct go_code *code;
	const struct code_abi *abi;
	uint64_t pc, end; /* addresses */
	int64_t sp;	  /* by the table, the CFA plus this */
	struct walk_value regs[CODE_N_REGS];
	struct walk_saved fp, ra;
	bool behind_call; /* only fillers are between a call and pc */
	/* Constants that the code loads from its own bytes, behind pc; equal: none. */
	uint64_t data_start, data_end;
	/* Where SP is not as the table says, and where it is: the CFA plus this. */
	uint64_t split_pc;
	int64_t split_sp;
	uint64_t trap; /* address behind the last jump to itself; 0: none */
	enum go_reason why;
};

static int64_t sp_at(const struct walk *walk, uint64_t pc)
{
	return walk->abi->sp_off - go_levels_at(walk->code->levels, pc);
}

/* The instruction at pc. False where there is none. */
static bool read_insn(const struct walk *walk, uint64_t pc, struct code_insn *insn)
{
	return code_insn_read(walk->code->machine,
	    walk->code->bytes + (pc - walk->code->start), walk->end - pc, pc, insn);
}

/* Whether what is saved is still above SP. */
static bool slot_counts(const struct walk *walk, const struct walk_saved *saved)
{
	return saved->has_slot && saved->slot >= walk->sp - saved->below;
}

/* base plus or minus the index, where one is an address in the stack or both are constants. */
static struct walk_value sum_of(
    const struct walk_value *base, const struct walk_value *index, bool minus)
{
	struct walk_value sum = {WALK_UNKNOWN, 0};
	bool overflow;

	if (index->kind != WALK_CONST && (minus || base->kind != WALK_CONST))
		return sum;
	overflow = minus ? __builtin_sub_overflow(base->off, index->off, &sum.off)
			 : __builtin_add_overflow(base->off, index->off, &sum.off);
	if (base->kind && index->kind && !overflow)
		sum.kind = base->kind == WALK_CONST ? index->kind : base->kind;
	return sum;
}

/* What SET and SUBTRACT compute, or the address of a LOAD or STORE. */
static struct walk_value sum_value(
    const struct walk *walk, const struct code_effect *effect)
{
	static const struct walk_value zero = {WALK_CONST, 0};
	const struct walk_value off = {WALK_CONST, effect->off};
	struct walk_value value = zero;

	if (effect->base != CODE_NO_REG)
		value = walk->regs[effect->base];
	if (effect->index != CODE_NO_REG) {
		if (effect->shift || effect->index_bits != 64)
			return (struct walk_value){WALK_UNKNOWN, 0};
		value = sum_of(
		    &value, &walk->regs[effect->index], effect->kind == CODE_SUBTRACT);
	}
	return sum_of(&value, &off, false);
}

/* The register gets the value; from_slot: the one that was saved. */
static void saved_write(
    struct walk *walk, struct walk_saved *saved, struct walk_value value, bool from_slot)
{
	/* In Go's ABI for AArch64 the caller's frame pointer is 8 below its SP, so functions
	 * that call nothing compute it. */
	const bool computed = saved == &walk->fp && saved->below &&
			      value.kind == WALK_CFA &&
			      value.off == -(int64_t)saved->below;

	saved->touched = true;
	saved->clean = from_slot || computed;
	if (!slot_counts(walk, saved) && !saved->clean)
		saved->changed = true;
}

static void write_reg(struct walk *walk, uint8_t reg, struct walk_value value,
    const struct walk_value *loaded_from)
{
	walk->regs[reg] = value;
	for (int i = 0; i < 2; i++) {
		struct walk_saved *saved = i ? &walk->ra : &walk->fp;

		if (reg == saved->reg)
			saved_write(walk, saved, value,
			    loaded_from && loaded_from->kind == WALK_CFA &&
				saved->has_slot && loaded_from->off == saved->slot);
	}
}

static bool overlaps(int64_t slot, int64_t off, uint8_t width)
{
	return slot < off + width && off < slot + 8;
}

/* A store at the CFA plus off: is it one that saves, or one that overwrites what is saved? */
static void store_saved(struct walk *walk, struct walk_saved *saved,
    const struct code_effect *effect, int64_t off)
{
	const bool saves =
	    effect->dst == saved->reg && effect->width == 8 && saved->clean;

	if (saves && !saved->has_slot && !saved->no_slot) {
		saved->has_slot = true;
		saved->slot = off;
	} else if (slot_counts(walk, saved) && !(saves && off == saved->slot)) {
		saved->hit |= overlaps(saved->slot, off, effect->width);
	}
}

static void apply_store(struct walk *walk, const struct code_effect *effect)
{
	const struct code_abi *abi = walk->abi;
	struct walk_value where = sum_value(walk, effect);

	if (where.kind != WALK_CFA || where.off > INT32_MAX || where.off < INT32_MIN)
		return;
	store_saved(walk, &walk->fp, effect, where.off);
	if (walk->ra.reg != CODE_NO_REG)
		store_saved(walk, &walk->ra, effect, where.off);
	else if (overlaps(abi->ra_off, where.off, effect->width))
		walk->why = GO_RETURN_MOVED;
}

/* A load from address, of width bytes: is it a constant of this function? */
static void note_data(struct walk *walk, uint64_t addr, uint8_t width)
{
	const uint64_t end = walk->end;

	if (addr <= walk->pc || addr >= end || width > end - addr)
		return;
	if (walk->data_end <= walk->pc) {
		walk->data_start = addr;
		walk->data_end = addr + width;
	}
	if (addr < walk->data_start)
		walk->data_start = addr;
	if (addr + width > walk->data_end)
		walk->data_end = addr + width;
}

static void apply_effect(struct walk *walk, const struct code_effect *effect)
{
	struct walk_value value = {WALK_UNKNOWN, 0}, from;

	switch ((enum code_effect_kind)effect->kind) {
	case CODE_SET:
	case CODE_SUBTRACT:
		if (effect->width == 8)
			value = sum_value(walk, effect);
		write_reg(walk, effect->dst, value, NULL);
		break;
	case CODE_LOAD:
		from = sum_value(walk, effect);
		if (from.kind == WALK_CONST)
			note_data(walk, (uint64_t)from.off, effect->width);
		write_reg(walk, effect->dst, value, effect->width == 8 ? &from : NULL);
		break;
	case CODE_ALIGN:
	case CODE_BOUND:
	case CODE_SIGN:
	case CODE_AUTHENTICATE:
		write_reg(walk, effect->dst, value, NULL);
		break;
	case CODE_STORE:
		apply_store(walk, effect);
		break;
	case CODE_COMPARE:
		break;
	}
}

/* What a callee leaves: SP, the frame pointer, and on AArch64 not the return address. */
static void apply_call(struct walk *walk)
{
	const uint8_t sp = walk->abi->sp;

	for (uint8_t reg = 0; reg < CODE_N_REGS; reg++)
		if (reg != sp && reg != walk->abi->fp)
			walk->regs[reg].kind = WALK_UNKNOWN;
	walk->regs[sp] = (struct walk_value){WALK_CFA, walk->sp};
	if (walk->ra.reg != CODE_NO_REG)
		write_reg(walk, walk->ra.reg, (struct walk_value){WALK_UNKNOWN, 0}, NULL);
}

static void apply(struct walk *walk, const struct code_insn *insn)
{
	const uint32_t writes = insn->writes | insn->unsure;

	walk->regs[walk->abi->sp] = (struct walk_value){WALK_CFA, walk->sp};
	if (insn->control == CODE_CALLS || insn->control == CODE_CALLS_TO) {
		apply_call(walk);
		return;
	}
	for (uint8_t i = 0; i < insn->n_effects; i++)
		apply_effect(walk, &insn->effects[i]);
	for (uint8_t reg = 0; writes && reg < CODE_N_REGS - 1; reg++)
		if (writes >> reg & 1)
			write_reg(walk, reg, (struct walk_value){WALK_UNKNOWN, 0}, NULL);
}

static struct go_rule rule_of(const struct walk *walk, const struct walk_saved *saved)
{
	if (slot_counts(walk, saved))
		return (struct go_rule){GO_SAVED, saved->slot};
	return (struct go_rule){saved->clean ? GO_IN_REGISTER : GO_LOST, 0};
}

static bool rule_equal(struct go_rule a, struct go_rule b)
{
	return a.place == b.place && a.off == b.off;
}

/* The row of the instruction at walk->pc. */
static bool add_row(struct walk *walk, struct go_rows *rows)
{
	const struct go_row *last = rows->n ? &rows->list[rows->n - 1] : NULL;
	struct go_row row = {.pc = walk->pc, .cfa_off = -walk->sp};

	row.fp = rule_of(walk, &walk->fp);
	row.ra = walk->ra.reg == CODE_NO_REG
		     ? (struct go_rule){GO_SAVED, walk->abi->ra_off}
		     : rule_of(walk, &walk->ra);
	if (row.ra.place == GO_LOST)
		walk->why = GO_RETURN_MOVED;
	/* Above its place at the entry, SP has left the frame. */
	if (walk->sp > walk->abi->sp_off)
		walk->why = GO_OTHER_STACK;
	if (last && last->cfa_off == row.cfa_off && rule_equal(last->fp, row.fp) &&
	    rule_equal(last->ra, row.ra))
		return true;
	if (!vec_reserve(&rows->list, &rows->cap, rows->n + 1))
		return false;
	rows->list[rows->n++] = row;
	return true;
}

/* Behind code that never goes on: no way that the pass saw leads here. */
static void begin_block(struct walk *walk)
{
	for (uint8_t reg = 0; reg < CODE_N_REGS; reg++)
		walk->regs[reg].kind = WALK_UNKNOWN;
	for (int i = 0; i < 2; i++) {
		struct walk_saved *saved = i ? &walk->ra : &walk->fp;

		/* Code above the frame is that before the prologue, which the stack check
		 * jumps to. */
		saved->clean =
		    !saved->touched || (!saved->changed && !slot_counts(walk, saved));
	}
}

static bool is_call(const struct code_insn *insn)
{
	return insn->control == CODE_CALLS || insn->control == CODE_CALLS_TO;
}

/* Whether the instruction can go on to the next one. */
static bool goes_on(const struct code_insn *insn)
{
	return insn->control == CODE_CONTINUES || insn->control == CODE_BRANCHES ||
	       insn->control == CODE_BRANCHES_TO || is_call(insn);
}

/* Adds to SP, and does nothing else. */
static bool is_release(const struct walk *walk, const struct code_insn *insn)
{
	const uint8_t sp = walk->abi->sp;

	return insn->control == CODE_CONTINUES && insn->n_effects == 1 &&
	       insn->effects[0].kind == CODE_SET && insn->effects[0].dst == sp &&
	       insn->effects[0].base == sp && insn->effects[0].index == CODE_NO_REG &&
	       insn->effects[0].off > 0;
}

/*
 * AArch64: two instructions release a frame of 64 KiB and more. The table tells of both as one, so
 * that between them SP is what the first one made it.
 */
static bool is_split(struct walk *walk, const struct code_insn *insn, uint64_t next)
{
	const int64_t sp = walk->regs[walk->abi->sp].off;
	struct code_insn second;
	int64_t after;

	if (walk->ra.reg == CODE_NO_REG || !is_release(walk, insn) ||
	    walk->pc == walk->split_pc || !read_insn(walk, next, &second) ||
	    !is_release(walk, &second) || next + second.length >= walk->end ||
	    __builtin_add_overflow(sp, second.effects[0].off, &after) ||
	    after != sp_at(walk, next + second.length))
		return false;
	walk->split_pc = next;
	walk->split_sp = sp;
	return true;
}

/*
 * Whether SP at the end of the instruction is as the table says wherever control goes. A call
 * behind which the table says otherwise does not return: *ends. Nor does control come to a nop of
 * this kind, which older compilers put where a way is impossible.
 */
static bool agrees(
    struct walk *walk, const struct code_insn *insn, uint64_t next, bool *ends)
{
	const struct walk_value sp = walk->regs[walk->abi->sp];
	const bool jumps = insn->control == CODE_JUMPS || insn->control == CODE_BRANCHES;

	*ends = !goes_on(insn);
	if (sp.kind != WALK_CFA)
		return false;
	if (!*ends && next < walk->end && sp_at(walk, next) != sp.off &&
	    !is_split(walk, insn, next)) {
		*ends = walk->behind_call || insn->filler;
		if (!*ends)
			return false;
	}
	if (jumps && insn->target >= walk->code->start && insn->target < walk->end &&
	    sp_at(walk, insn->target) != sp.off)
		return false;
	return insn->control != CODE_RETURNS || walk->sp == walk->abi->sp_off;
}

/* So many registers are loaded behind a stack check at most, with room to spare. */
enum { MAX_RELOADS = 64 };

/*
 * AArch64: the call of runtime.morestack in a function that has no frame yet. It goes back with
 * the return address in its register. Then arguments are loaded, and a jump to the start follows.
 */
static bool is_stack_check(
    const struct walk *walk, const struct code_insn *call, uint64_t next)
{
	struct code_insn insn;

	if (walk->ra.reg == CODE_NO_REG || call->control != CODE_CALLS ||
	    slot_counts(walk, &walk->ra))
		return false;
	for (int i = 0; i < MAX_RELOADS && next < walk->end; i++) {
		if (!read_insn(walk, next, &insn))
			return false;
		if (insn.control != CODE_CONTINUES)
			return insn.control == CODE_JUMPS && insn.target < walk->pc &&
			       insn.target >= walk->code->start;
		next += insn.length;
	}
	return false;
}

/* One instruction. False: out of memory. */
static bool take_step(struct walk *walk, struct go_rows *rows)
{
	const struct walk_saved before = walk->ra;
	struct code_insn insn;
	uint64_t next;
	bool ends;

	walk->sp = walk->pc == walk->split_pc ? walk->split_sp : sp_at(walk, walk->pc);
	if (!add_row(walk, rows))
		return false;
	if (!read_insn(walk, walk->pc, &insn) || insn.length > walk->end - walk->pc) {
		walk->why = GO_NOT_DECODED;
		return true;
	}
	next = walk->pc + insn.length;
	apply(walk, &insn);
	if (is_stack_check(walk, &insn, next))
		walk->ra = before;
	walk->behind_call = is_call(&insn) || (walk->behind_call && insn.filler);
	if (!agrees(walk, &insn, next, &ends))
		walk->why = GO_OTHER_STACK;
	else if (insn.control == CODE_JUMPS && insn.target == walk->pc &&
		 walk->why == GO_HAS_ROWS)
		walk->trap = next;
	if (ends && next >= walk->data_start && next < walk->data_end)
		next = walk->data_end;
	walk->pc = next;
	if (ends && next < walk->end) {
		walk->sp = sp_at(walk, next);
		begin_block(walk);
	}
	return true;
}

/*
 * Go's assembler for AArch64 ends a function that has constants with a jump to itself, and the
 * constants behind it. So bytes behind such a jump that are not code need no rows.
 */
static void cut(struct walk *walk, struct go_rows *rows)
{
	while (rows->n && rows->list[rows->n - 1].pc >= walk->trap)
		rows->n--;
	walk->why = GO_HAS_ROWS;
}

/* Where the instructions end: Go fills functions of AArch64 up with zeros. */
static uint64_t code_end(const struct go_code *code)
{
	static const uint8_t zeros[4];
	uint64_t end = code->levels->end;

	while (code->machine == CODE_AARCH64 && end - code->start >= sizeof(zeros) &&
	       memcmp(code->bytes + (end - code->start - sizeof(zeros)), zeros,
		   sizeof(zeros)) == 0)
		end -= sizeof(zeros);
	return end;
}

static bool walk_through(struct walk *walk, struct go_rows *rows)
{
	rows->n = 0;
	while (walk->pc < walk->end && walk->why == GO_HAS_ROWS)
		if (!take_step(walk, rows))
			return false;
	if (walk->why != GO_HAS_ROWS && walk->trap)
		cut(walk, rows);
	return true;
}

bool go_walk(const struct go_code *code, struct go_rows *rows, enum go_reason *why)
{
	const struct code_abi *abi = code_abi(code->machine);
	const struct walk begin = {.code = code,
	    .abi = abi,
	    .pc = code->start,
	    .end = code_end(code),
	    .split_pc = UINT64_MAX,
	    /* Go for AArch64 keeps the frame pointer in the 8 bytes below SP. */
	    .fp = {.reg = abi->fp,
		.clean = true,
		.below = abi->ra != CODE_NO_REG ? 8 : 0},
	    .ra = {.reg = abi->ra, .clean = true}};
	struct walk walk = begin;

	if (!walk_through(&walk, rows))
		return false;
	/* Code that calls nothing can use the place where its return address was saved. */
	if (walk.fp.hit || walk.ra.hit) {
		const bool fp = walk.fp.hit, ra = walk.ra.hit;

		walk = begin;
		walk.fp.no_slot = fp;
		walk.ra.no_slot = ra;
		if (!walk_through(&walk, rows))
			return false;
	}
	*why = walk.why;
	return true;
}
