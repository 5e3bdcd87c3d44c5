/* SPDX-License-Identifier: MIT */
/* The row exit of the interpreter: a state over a range of code becomes rows of the
 * table. */
#include "cfi/interp_internal.h"

#include "base/vec.h"

bool cfi_run_fail(
    const struct cfi_run *r, enum err_kind kind, size_t at, const char *what)
{
	uint64_t into;
	const char *section = cfi_section_at(r->sec, at, &into);

	return err_set(r->err, kind, "%s+0x%llx: %s: %s", section,
	    (unsigned long long)into,
	    r->is_initial ? "initial instructions" : "call frame instructions", what);
}

/* Appends a row, unless it equals the one before. */
static bool run_push_row(struct cfi_run *r, const struct cfi_row *row)
{
	struct cfi_table *t = &r->in->table;

	if (t->n_rows && cfi_row_same(&t->rows[t->n_rows - 1], row))
		return true;
	if (t->n_rows == CFI_MAX_ROWS)
		return cfi_run_fail(r, ERR_LIMIT, r->rd.pos, "too many rows");
	if (!vec_reserve(&t->rows, &t->cap_rows, t->n_rows + 1))
		return err_set_nomem(r->err);
	t->rows[t->n_rows] = *row;
	if (t->n_rows)
		cfi_row_follow(&t->rows[t->n_rows], &t->rows[t->n_rows - 1]);
	t->n_rows++;
	return true;
}

/* The rule of one column at pc; *pc_bits as in cfi_expr_eval. */
static struct cfi_rule rule_at(
    struct cfi_run *r, const struct cfi_column *col, uint64_t pc, uint8_t *pc_bits)
{
	struct cfi_interp *in = r->in;

	if (!col->is_expr)
		return col->rule;
	if (in->expr_ops >= in->max_expr_ops)
		return (struct cfi_rule){
		    .kind = CFI_OPAQUE, .off = (int64_t)col->expr.off};
	return cfi_expr_eval(
	    r->sec, &col->expr, pc, in->machine.pc_reg, pc_bits, &in->expr_ops);
}

/* Member by member: after a member was written, copying the rule as one block makes the
 * processor wait for the write. This copy is half of the interpreter's time. */
static inline void copy_rule(struct cfi_rule *to, const struct cfi_rule *from)
{
	to->off = from->off;
	to->add = from->add;
	to->reg = from->reg;
	to->kind = from->kind;
	to->array = from->array;
}

/* Gives both columns the rule of a register that has two roles: the CIE decides which
 * register is the return address. */
static inline void share_roles(const struct cfi_run *r, struct cfi_row *row)
{
	if (r->cie->ra_reg == r->in->machine.fp_reg)
		row->fp = row->ra;
	if (r->cie->ra_reg == r->in->machine.sp_reg)
		row->sp = row->ra;
}

/* A row of the rules as they are, without evaluation. */
static inline void fill_row(const struct cfi_run *r, struct cfi_row *row)
{
	const struct cfi_state *st = &r->st;

	row->pc = r->loc;
	copy_rule(&row->cfa, &st->cfa.rule);
	copy_rule(&row->sp, &st->sp.rule);
	copy_rule(&row->fp, &st->fp.rule);
	copy_rule(&row->ra, &st->ra.rule);
	row->ra_signed = st->ra_signed;
	row->ra_signed_with_pc = st->ra_signed_with_pc;
	row->doubtful = row->cfa_moved = false;
	share_roles(r, row);
}

/* A row at pc; *pc_bits as in cfi_expr_eval, over all its rules. */
static struct cfi_row run_row_at(struct cfi_run *r, uint64_t pc, uint8_t *pc_bits)
{
	const struct cfi_state *st = &r->st;
	struct cfi_row row;

	row.cfa = rule_at(r, &st->cfa, pc, pc_bits);
	row.sp = rule_at(r, &st->sp, pc, pc_bits);
	row.fp = rule_at(r, &st->fp, pc, pc_bits);
	row.ra = rule_at(r, &st->ra, pc, pc_bits);
	row.pc = pc;
	row.ra_signed = st->ra_signed;
	row.ra_signed_with_pc = st->ra_signed_with_pc;
	row.doubtful = row.cfa_moved = false;
	share_roles(r, &row);
	return row;
}

/* Appends one opaque row for [loc, end), where expanding the rules PC by PC costs too much. */
static bool push_opaque(struct cfi_run *r, struct cfi_row *row)
{
	const struct cfi_column *cols[] = {&r->st.cfa, &r->st.sp, &r->st.fp, &r->st.ra};
	struct cfi_rule *rules[] = {&row->cfa, &row->sp, &row->fp, &row->ra};

	for (size_t i = 0; i < 4; i++) {
		uint8_t pc_bits = 0;

		if (!cols[i]->is_expr)
			continue;
		*rules[i] = rule_at(r, cols[i], row->pc, &pc_bits);
		if (pc_bits)
			*rules[i] = (struct cfi_rule){
			    .kind = CFI_OPAQUE, .off = (int64_t)cols[i]->expr.off};
	}
	share_roles(r, row);
	return run_push_row(r, row);
}

/* The common case, where no rule has to be evaluated: the row is built in its place. */
static bool push_state(struct cfi_run *r)
{
	struct cfi_table *t = &r->in->table;
	struct cfi_row copy, *row;

	if (t->n_rows == t->cap_rows || t->n_rows == CFI_MAX_ROWS) {
		fill_row(r, &copy);
		return run_push_row(r, &copy);
	}
	row = &t->rows[t->n_rows];
	fill_row(r, row);
	if (t->n_rows)
		cfi_row_follow(row, row - 1);
	if (t->n_rows == 0 || !cfi_row_same(row - 1, row))
		t->n_rows++;
	return true;
}

/*
 * Rows for [from + period, end), as copies of those for [from, from + period), without
 * evaluation. rows[first] is the row that holds at from.
 */
static bool repeat_rows(
    struct cfi_run *r, size_t first, uint64_t from, uint64_t period, uint64_t end)
{
	const struct cfi_table *t = &r->in->table;
	struct cfi_row row = t->rows[first];
	uint8_t unused = 0;

	row.pc = from + period;
	if (!run_push_row(r, &row))
		return false;
	for (size_t i = first + 1; i < t->n_rows; i++) {
		row = t->rows[i];
		if (end - row.pc <= period)
			break;
		row.pc += period;
		/* A row costs about what an operation does, so the bound holds for both.
		 * Beyond it this row is opaque up to the end. */
		if (r->in->expr_ops++ >= r->in->max_expr_ops) {
			row = run_row_at(r, row.pc, &unused);
			return run_push_row(r, &row);
		}
		if (!run_push_row(r, &row))
			return false;
	}
	return true;
}

/*
 * Rows for [loc, end), PC by PC, of which the one at loc has been pushed. Once every PC
 * of a period has been evaluated (each may raise *pc_bits, and so the period) the rest
 * repeats. Once all operations are spent, one opaque row holds for the rest.
 */
static bool expand_rows(struct cfi_run *r, uint64_t end, uint8_t pc_bits)
{
	size_t first = r->in->table.n_rows - 1;

	for (uint64_t pc = r->loc + 1; pc < end; pc++) {
		bool spent = r->in->expr_ops >= r->in->max_expr_ops;
		struct cfi_row row;

		if (!spent && pc_bits < 32 && pc - r->loc == UINT64_C(1) << pc_bits)
			return repeat_rows(r, first, r->loc, pc - r->loc, end);
		row = run_row_at(r, pc, &pc_bits);
		if (!run_push_row(r, &row))
			return false;
		if (spent)
			return true;
	}
	return true;
}

bool cfi_run_emit(struct cfi_run *r, uint64_t end)
{
	struct cfi_table *t = &r->in->table;
	uint8_t pc_bits = 0;
	struct cfi_row row;

	r->dirty = false;
	if (!cfi_state_has_expr(&r->st))
		return push_state(r);
	t->movable = false;
	row = run_row_at(r, r->loc, &pc_bits);
	if (pc_bits && end - r->loc > CFI_MAX_PC_DEPENDENT)
		return push_opaque(r, &row);
	if (pc_bits && !t->pc_dependent) {
		t->pc_dependent = true;
		t->pc_dependent_from = r->loc;
	}
	if (!run_push_row(r, &row))
		return false;
	return !pc_bits || expand_rows(r, end, pc_bits);
}
