/* SPDX-License-Identifier: MIT */
/*
 * One pass over the instructions in the order of addresses. Go's compiler and assembler write the
 * prologue first, so what it saves is saved for all code behind it where SP is as low again.
 */
#include "gen/sources/go/go_state.h"

#include <string.h>

#include "base/search.h"
#include "base/vec.h"

/* Finds the level of the table at pc. */
static void find_level(struct go_state *walk, uint64_t pc)
{
	const struct go_levels *levels = walk->code->levels;
	const size_t after = search_list_above(levels->list, levels->n, pc, pc);

	walk->level_start = levels->list[after - 1].pc;
	walk->level_end = after < levels->n ? levels->list[after].pc : UINT64_MAX;
	walk->level_sp = walk->abi->sp_off - levels->list[after - 1].below;
}

/* SP by the table. Most questions are about the level of the last one. */
static inline int64_t sp_at(struct go_state *walk, uint64_t pc)
{
	if (pc < walk->level_start || pc >= walk->level_end)
		find_level(walk, pc);
	return walk->level_sp;
}

/* As sp_at, where the instruction jumps to. */
static int64_t sp_at_target(const struct go_state *walk, uint64_t pc)
{
	return walk->abi->sp_off - go_levels_at(walk->code->levels, pc);
}

/* Reads the instruction at pc. False where there is none. */
static bool read_insn(const struct go_state *walk, uint64_t pc, struct code_insn *insn)
{
	return code_insn_read(walk->code->machine,
	    walk->code->bytes + (pc - walk->code->start), walk->end - pc, pc, insn);
}

static struct go_rule rule_of(const struct go_state *walk, const struct go_saved *saved)
{
	if (go_state_has_slot(walk, saved))
		return (struct go_rule){GO_SAVED, saved->slot};
	return (struct go_rule){saved->clean ? GO_IN_REGISTER : GO_LOST, 0};
}

static bool rule_equal(struct go_rule a, struct go_rule b)
{
	return a.place == b.place && a.off == b.off;
}

/* Adds the row of the instruction at walk->pc. */
static bool add_row(struct go_state *walk, struct go_rows *rows)
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
		walk->why = walk->ra.reg == CODE_NO_REG ? GO_RETURN_MOVED : GO_SP_MOVES;
	if (last && last->cfa_off == row.cfa_off && rule_equal(last->fp, row.fp) &&
	    rule_equal(last->ra, row.ra))
		return true;
	if (!vec_reserve(&rows->list, &rows->cap, rows->n + 1))
		return false;
	rows->list[rows->n++] = row;
	return true;
}

/* Begins behind code that never goes on: no way that the pass saw leads here. */
static void begin_block(struct go_state *walk)
{
	walk->known = 0;
	for (int i = 0; i < 2; i++) {
		struct go_saved *saved = i ? &walk->ra : &walk->fp;

		/* Code above the frame is that before the prologue, which the stack check
		 * jumps to. */
		saved->clean = !saved->touched ||
			       (!saved->changed && !go_state_has_slot(walk, saved));
	}
}

static bool is_call(const struct code_insn *insn)
{
	return insn->control == CODE_CALLS || insn->control == CODE_CALLS_TO;
}

/* True if the instruction can go on to the next one. */
static bool goes_on(const struct code_insn *insn)
{
	return insn->control == CODE_CONTINUES || insn->control == CODE_BRANCHES ||
	       insn->control == CODE_BRANCHES_TO || is_call(insn);
}

/* True if the instruction adds to SP, and does nothing else. */
static bool is_release(const struct go_state *walk, const struct code_insn *insn)
{
	const uint8_t sp = walk->abi->sp;

	return insn->control == CODE_CONTINUES && insn->n_effects == 1 &&
	       insn->effects[0].kind == CODE_SET && insn->effects[0].dst == sp &&
	       insn->effects[0].base == sp && insn->effects[0].index == CODE_NO_REG &&
	       insn->effects[0].off > 0;
}

/*
 * True between the two instructions that release a frame of 64 KiB and more on AArch64.
 * The table tells of both as one, so that between them SP is what the first one made it.
 */
static bool is_split(struct go_state *walk, const struct code_insn *insn, uint64_t next)
{
	const int64_t sp = go_state_reg(walk, walk->abi->sp).off;
	struct code_insn second;
	int64_t after;

	if (walk->ra.reg == CODE_NO_REG || !is_release(walk, insn) ||
	    walk->pc == walk->split_pc || !read_insn(walk, next, &second) ||
	    !is_release(walk, &second) || next + second.length >= walk->end ||
	    __builtin_add_overflow(sp, second.effects[0].off, &after) ||
	    after != sp_at_target(walk, next + second.length))
		return false;
	walk->split_pc = next;
	walk->split_sp = sp;
	return true;
}

/*
 * True if SP at the end of the instruction is as the table says wherever control goes. If the
 * table disagrees behind a call, the call does not return: *ends. Nor does control come to a nop
 * of this kind, which older compilers put where a way is impossible.
 */
static bool agrees(
    struct go_state *walk, const struct code_insn *insn, uint64_t next, bool *ends)
{
	const struct go_value sp = go_state_reg(walk, walk->abi->sp);
	const bool jumps = insn->control == CODE_JUMPS || insn->control == CODE_BRANCHES;

	*ends = !goes_on(insn);
	if (sp.kind != GO_CFA)
		return false;
	if (insn->control == CODE_CONTINUES && next < walk->end &&
	    sp_at(walk, next) == sp.off)
		return true;
	if (!*ends && next < walk->end && sp_at(walk, next) != sp.off &&
	    !is_split(walk, insn, next)) {
		*ends = walk->behind_call || insn->filler;
		if (!*ends)
			return false;
	}
	if (jumps && insn->target >= walk->code->start && insn->target < walk->end &&
	    sp_at_target(walk, insn->target) != sp.off)
		return false;
	return insn->control != CODE_RETURNS || walk->sp == walk->abi->sp_off;
}

/* Limit of registers that are loaded behind a stack check, with room to spare. */
enum { MAX_RELOADS = 64 };

/*
 * AArch64: the call of runtime.morestack in a function that has no frame yet. It goes back with
 * the return address in its register. Then arguments are loaded, and a jump to the start follows.
 */
static bool is_stack_check(const struct go_state *walk, uint64_t called, uint64_t next)
{
	const struct go_code *code = walk->code;
	struct code_insn insn;
	bool more = false;

	for (size_t i = 0; i < code->n_more_stack; i++)
		more |= code->more_stack[i] == called;
	if (!more || go_state_has_slot(walk, &walk->ra))
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

/* Keeps what holds where the jump leads to. False: out of memory. */
static bool note_target(struct go_state *walk, uint64_t target, struct go_rows *rows)
{
	if (target > walk->reached && target < walk->end)
		walk->reached = target;
	if (target < walk->code->start || target >= walk->end)
		return true;
	if (!vec_reserve(&rows->jumps, &rows->cap_jumps, rows->n_jumps + 1))
		return false;
	rows->jumps[rows->n_jumps++] =
	    (struct go_jump){target, rule_of(walk, &walk->fp), rule_of(walk, &walk->ra)};
	return true;
}

/* True if a row that names a place is right for a way that leads to it. */
static bool rule_holds(struct go_rule row, struct go_rule way)
{
	return row.place == GO_LOST || rule_equal(row, way);
}

/* The rows follow the addresses. So what each jump leads to must be as the row there says. */
static bool jumps_agree(const struct go_state *walk, const struct go_rows *rows)
{
	for (size_t i = 0; i < rows->n_jumps; i++) {
		const struct go_jump *jump = &rows->jumps[i];
		const struct go_row *row = rows->list;

		if (jump->target >= rows->end)
			continue;
		row += search_list_above(rows->list, rows->n, pc, jump->target) - 1;
		if (!rule_holds(row->fp, jump->fp) ||
		    (walk->ra.reg != CODE_NO_REG && !rule_holds(row->ra, jump->ra)))
			return false;
	}
	return true;
}

/* Ends a block: control does not come to walk->pc from before it. Constants there get the
 * row that the table gives them. False: out of memory. */
static bool end_block(struct go_state *walk, struct go_rows *rows)
{
	walk->ended = walk->pc;
	walk->quiet = false;
	if (walk->pc >= walk->end)
		return true;
	walk->sp = sp_at(walk, walk->pc);
	begin_block(walk);
	if (walk->pc < walk->data_start || walk->pc >= walk->data_end)
		return true;
	if (!add_row(walk, rows))
		return false;
	walk->pc = walk->data_end;
	if (walk->pc < walk->end) {
		walk->sp = sp_at(walk, walk->pc);
		begin_block(walk);
	}
	return true;
}

/* Tells if the instruction changes no rule, and SP is the same behind it by the table, too. */
static bool is_passed(
    const struct go_state *walk, const struct code_insn *insn, uint64_t next)
{
	return insn->control == CODE_CONTINUES && next < walk->level_end &&
	       next < walk->end && walk->pc != walk->split_pc &&
	       walk->why == GO_HAS_ROWS && code_insn_is_quiet(insn, walk->abi);
}

/* Takes the instructions that are passed, and reads the one behind them. False where there is none. */
static bool pass_quiet(struct go_state *walk, struct code_insn *insn)
{
	while (read_insn(walk, walk->pc, insn)) {
		const uint64_t next = walk->pc + insn->length;

		if (!is_passed(walk, insn, next))
			return insn->length <= walk->end - walk->pc;
		go_state_step(walk, insn);
		walk->behind_call = walk->behind_call && insn->filler;
		walk->pc = next;
	}
	return false;
}

/* Takes one instruction and the quiet ones before it. False: out of memory. */
static bool take_step(struct go_state *walk, struct go_rows *rows)
{
	struct go_saved ra;
	struct code_insn insn;
	uint64_t next;
	int64_t sp;
	bool ends, same, check;

	sp = walk->pc == walk->split_pc ? walk->split_sp : sp_at(walk, walk->pc);
	same = walk->quiet && sp == walk->sp;
	walk->sp = sp;
	if (!same && !add_row(walk, rows))
		return false;
	if (!pass_quiet(walk, &insn)) {
		walk->why = GO_NOT_DECODED;
		return true;
	}
	next = walk->pc + insn.length;
	check = walk->ra.reg != CODE_NO_REG && insn.control == CODE_CALLS &&
		is_stack_check(walk, insn.target, next);
	ra = walk->ra;
	go_state_step(walk, &insn);
	walk->quiet = code_insn_is_quiet(&insn, walk->abi);
	if (check)
		walk->ra = ra;
	walk->behind_call = is_call(&insn) || (walk->behind_call && insn.filler);
	if (!agrees(walk, &insn, next, &ends))
		walk->why = GO_SP_MOVES;
	else if (insn.control == CODE_JUMPS && insn.target == walk->pc &&
		 walk->why == GO_HAS_ROWS && walk->reached < next)
		walk->trap = next;
	if ((insn.control == CODE_JUMPS || insn.control == CODE_BRANCHES) &&
	    !note_target(walk, insn.target, rows))
		return false;
	walk->pc = next;
	return !ends || end_block(walk, rows);
}

/*
 * Cuts constants off, which Go's assembler for AArch64 puts behind the last instruction, those too that no
 * instruction loads. In assembly a jump to itself is before them. Bytes behind have no rows.
 */
static void cut(struct go_state *walk, struct go_rows *rows)
{
	if (!walk->trap && (walk->why != GO_NOT_DECODED || walk->reached >= walk->ended))
		return;
	rows->end = walk->trap ? walk->trap : walk->ended;
	while (rows->n && rows->list[rows->n - 1].pc >= rows->end)
		rows->n--;
	walk->why = GO_HAS_ROWS;
}

/* Returns where the instructions end: Go fills functions of AArch64 up with zeros. */
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

static bool walk_through(struct go_state *walk, struct go_rows *rows)
{
	rows->n = rows->n_jumps = 0;
	rows->end = walk->code->levels->end;
	while (walk->pc < walk->end && walk->why == GO_HAS_ROWS)
		if (!take_step(walk, rows))
			return false;
	if (walk->why != GO_HAS_ROWS)
		cut(walk, rows);
	if (walk->why == GO_HAS_ROWS && !jumps_agree(walk, rows))
		walk->why = GO_WAYS_DIFFER;
	return true;
}

bool go_walk(const struct go_code *code, struct go_rows *rows, enum go_reason *why)
{
	const struct code_abi *abi = code_abi(code->machine);
	const struct go_state begin = {.code = code,
	    .abi = abi,
	    .pc = code->start,
	    .end = code_end(code),
	    .split_pc = UINT64_MAX,
	    /* Go for AArch64 keeps the frame pointer in the 8 bytes below SP. */
	    .fp = {.reg = abi->fp,
		.clean = true,
		.below = abi->ra != CODE_NO_REG ? 8 : 0},
	    .ra = {.reg = abi->ra, .clean = true}};
	struct go_state walk = begin;

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
