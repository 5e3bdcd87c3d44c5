/* SPDX-License-Identifier: MIT */
/* The records around the instructions: CIEs, FDEs, where the functions are. */
#include "tests/prop/program.h"

#include "cfi/pointer.h"

/* Room for one function and those that follow it without a gap. */
#define PROGRAM_SLOT UINT64_C(0x1000000)

uint64_t program_random(struct program *p, uint64_t below)
{
	/* splitmix64 */
	uint64_t z = p->rng += UINT64_C(0x9e3779b97f4a7c15), choice = 0;

	if (p->n_choices) {
		for (uint64_t left = below - 1; left && p->n_choices; left >>= 8) {
			choice = choice << 8 | *p->choices++;
			p->n_choices--;
		}
		return choice % below;
	}
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (z ^ z >> 31) % below;
}

bool program_chance(struct program *p, unsigned int percent)
{
	return program_random(p, 100) < percent;
}

void program_uleb(struct wr *wr, uint64_t v)
{
	while (v >= 0x80) {
		wr_u8(wr, (uint8_t)(v & 0x7f) | 0x80);
		v >>= 7;
	}
	wr_u8(wr, (uint8_t)v);
}

void program_sleb(struct wr *wr, int64_t v)
{
	bool more = true;

	while (more) {
		uint8_t low = (uint8_t)(v & 0x7f);

		v = v < 0 ? ~(~v >> 7) : v >> 7;
		more = v != (low & 0x40 ? -1 : 0);
		wr_u8(wr, more ? low | 0x80 : low);
	}
}

static bool program_is_wide(uint8_t encoding)
{
	uint8_t format = encoding & DW_EH_PE_format_mask;

	return format == DW_EH_PE_absptr || format == DW_EH_PE_udata8 ||
	       format == DW_EH_PE_sdata8;
}

static void program_word(struct program *p, uint8_t encoding, uint64_t v)
{
	if (program_is_wide(encoding))
		wr_u64(&p->out, v);
	else
		wr_u32(&p->out, (uint32_t)v);
}

void program_pointer(struct program *p, uint8_t encoding, uint64_t value)
{
	if ((encoding & DW_EH_PE_application_mask) == DW_EH_PE_pcrel)
		value -= p->addr + p->out.size;
	program_word(p, encoding, value);
}

static void program_pad(struct program *p, size_t record)
{
	while ((p->out.size - record) % 4)
		wr_u8(&p->out, 0);
	wr_patch_u32(&p->out, record, (uint32_t)(p->out.size - record - 4));
}

static void program_usual_rules(struct program *p)
{
	const struct truth_machine *machine = p->machine;

	wr_u8(&p->out, 0x0c); /* def_cfa */
	program_uleb(&p->out, machine->sp);
	program_uleb(&p->out, (uint64_t)machine->cfa_off);
	p->state.cfa = (struct truth_rule){
	    TRUTH_IS, TRUTH_REG, .reg = machine->sp, .off = machine->cfa_off};
	p->state.cfa_plain = true;
	if (!machine->fixed_ra)
		return;
	wr_u8(&p->out, 0x11); /* offset_extended_sf */
	program_uleb(&p->out, machine->ra);
	program_sleb(&p->out, machine->fixed_ra / p->data_align);
	p->state.ra =
	    (struct truth_rule){TRUTH_SAVED_AT, TRUTH_CFA, .off = machine->fixed_ra};
}

static void program_cie(struct program *p)
{
	static const uint8_t encodings[] = {DW_EH_PE_absptr,
	    DW_EH_PE_pcrel | DW_EH_PE_sdata4, DW_EH_PE_pcrel | DW_EH_PE_sdata8,
	    DW_EH_PE_udata8, DW_EH_PE_udata4, DW_EH_PE_sdata4};
	static const int8_t data_aligns[] = {-8, -8, -8, -4, -2, -1, 1, 2, 4, 8};
	struct program_cie *cie = &p->cies[p->n_cies++];
	uint8_t version = program_chance(p, 60) ? 1 : 3;
	uint64_t ra = program_chance(p, 4) ? 3 : p->machine->ra;
	bool signal = program_chance(p, 4), b_key = program_chance(p, 30);

	*cie = (struct program_cie){
	    .off = p->out.size, .signal = signal, .lost = ra != p->machine->ra};
	cie->augmented = signal || program_chance(p, 80);
	cie->b_key = cie->augmented && b_key;
	cie->encoding =
	    cie->augmented ? encodings[program_random(p, p->high ? 4 : 6)] : 0;
	cie->code_align = UINT64_C(1)
			  << (program_chance(p, 70) ? 0 : program_random(p, 4));
	cie->data_align = data_aligns[program_random(p, sizeof(data_aligns))];
	wr_u32(&p->out, 0);
	wr_u32(&p->out, 0);
	wr_u8(&p->out, version);
	if (cie->augmented)
		wr_bytes(&p->out, "zR", 2);
	if (cie->b_key)
		wr_u8(&p->out, 'B');
	if (signal)
		wr_u8(&p->out, 'S');
	wr_u8(&p->out, 0);
	program_uleb(&p->out, cie->code_align);
	program_sleb(&p->out, cie->data_align);
	program_uleb(&p->out, ra);
	if (cie->augmented) {
		program_uleb(&p->out, 1);
		wr_u8(&p->out, cie->encoding);
	}
	p->state = (struct truth_state){0};
	p->cie = NULL;
	p->data_align = cie->data_align;
	if (program_chance(p, 95))
		program_usual_rules(p);
	for (uint64_t n = program_chance(p, 80) ? 0 : program_random(p, 4); n > 0; n--)
		while (!program_instruction(p))
			;
	cie->initial = p->state;
	program_pad(p, cie->off);
}

/* The record up to its instructions; returns the offset of the size field. */
static size_t program_fde_head(
    struct program *p, const struct program_cie *cie, uint64_t pc, uint64_t size)
{
	size_t off;

	wr_u32(&p->out, 0);
	wr_u32(&p->out, (uint32_t)(p->out.size - cie->off));
	program_pointer(p, cie->encoding, pc);
	off = p->out.size;
	program_word(p, cie->encoding, size);
	if (cie->augmented)
		program_uleb(&p->out, 0);
	return off;
}

/* The last rules hold to the end, which some programs pass. */
static void program_end(struct program *p, struct program_fde *fde)
{
	fde->end = p->loc + 1 + program_random(p, 32);
	if (p->state.cfa.mask) /* a PLT: enough code for the rows to repeat */
		fde->end += program_random(p, 600);
	p->segs[p->n_segs++] = (struct program_seg){p->loc, p->state};
	fde->n_segs = p->n_segs - fde->first_seg;
	if (program_chance(p, 90))
		return;
	fde->passes = true;
	program_advance(p, fde->end - p->loc);
	for (int i = 0; i < 3; i++)
		program_instruction(p);
	p->n_segs = fde->first_seg + fde->n_segs;
}

static void program_patch_size(
    struct program *p, const struct program_cie *cie, size_t off, uint64_t size)
{
	if (program_is_wide(cie->encoding))
		wr_patch_u64(&p->out, off, size);
	else
		wr_patch_u32(&p->out, off, (uint32_t)size);
}

/*
 * An FDE at pc with the bytes of an earlier one's program, which say the same as far as
 * this one goes. It may be shorter, and longer where nothing is said beyond the end.
 * False when the one that came up cannot be repeated.
 */
static bool program_repeat(struct program *p, uint64_t pc)
{
	const struct program_fde *of = &p->fdes[program_random(p, p->n_fdes)];
	uint64_t size = of->end - of->pc;
	struct program_fde *fde;
	size_t record = p->out.size, off;

	if (of->fixed || p->n_segs + of->n_segs > PROGRAM_SEGS / 2)
		return false;
	if (program_chance(p, 30))
		size = 1 + program_random(p, size);
	else if (!of->passes && program_chance(p, 60))
		size += program_random(p, 100);
	fde = &p->fdes[p->n_fdes++];
	*fde = *of;
	fde->pc = pc;
	fde->end = pc + size;
	fde->duplicate = false;
	fde->passes |= size < of->end - of->pc;
	fde->first_seg = p->n_segs;
	for (size_t i = 0; i < of->n_segs; i++) {
		struct program_seg seg = p->segs[of->first_seg + i];

		seg.pc = seg.pc - of->pc + pc;
		if (seg.pc < fde->end)
			p->segs[p->n_segs++] = seg;
	}
	fde->n_segs = p->n_segs - fde->first_seg;
	off = program_fde_head(p, of->cie, pc, size);
	p->out.size = off;
	program_word(p, of->cie->encoding, size);
	for (size_t i = 0; i < of->text_len; i++)
		wr_u8(&p->out, p->out.data[of->text_off + i]);
	program_pad(p, record);
	return true;
}

static void program_fde(struct program *p, uint64_t pc)
{
	const struct program_cie *cie = &p->cies[program_random(p, p->n_cies)];
	struct program_fde *fde = &p->fdes[p->n_fdes++];
	size_t record = p->out.size, size_off;
	uint64_t n = 1 + program_random(p, p->small ? 10 : 50);

	*fde = (struct program_fde){.pc = pc,
	    .first_seg = p->n_segs,
	    .signal = cie->signal,
	    .b_key = cie->b_key && p->machine->signs,
	    .lost = cie->lost,
	    .cie = cie};
	size_off = program_fde_head(p, cie, pc, 0);
	p->cie = cie;
	p->data_align = cie->data_align;
	p->state = cie->initial;
	p->depth = 0;
	p->loc = pc;
	p->used_set_loc = false;
	for (uint64_t i = 0; i < n; i++)
		program_instruction(p);
	program_end(p, fde);
	if (program_chance(p, 3)) {
		/* An opcode that none defines, in a place that is always reached. */
		fde->lost = true;
		p->out.size = size_off;
		program_word(p, cie->encoding, 0);
		if (cie->augmented)
			program_uleb(&p->out, 0);
		wr_u8(&p->out, 0x3e);
	}
	program_pad(p, record);
	program_patch_size(p, cie, size_off, fde->end - pc);
	fde->fixed = p->used_set_loc;
	fde->text_off = size_off + (program_is_wide(cie->encoding) ? 8 : 4);
	fde->text_len = p->out.size - fde->text_off;
	if (!p->used_set_loc && p->n_fdes < PROGRAM_FDES && program_chance(p, 6)) {
		size_t from = size_off, len = p->out.size - size_off, copy = p->out.size;
		struct program_fde *again = &p->fdes[p->n_fdes++];

		*again = *fde;
		again->duplicate = true;
		p->out.size = program_fde_head(p, cie, pc, 0);
		for (size_t i = 0; i < len; i++)
			wr_u8(&p->out, p->out.data[from + i]);
		program_pad(p, copy);
	}
}

/* Marks FDEs that describe the same code. */
static void program_mark_shared(struct program *p)
{
	for (size_t i = 0; i < p->n_fdes; i++)
		for (size_t j = 0; j < p->n_fdes; j++) {
			struct program_fde *a = &p->fdes[i];
			const struct program_fde *b = &p->fdes[j];

			a->shared |= i != j && !a->duplicate && !b->duplicate &&
				     a->pc < b->end && b->pc < a->end;
		}
}

void program_make(struct program *p)
{
	uint64_t n = 1 + program_random(p, p->small ? 4 : PROGRAM_FDES), pc, slot = 0;

	p->n_cies = p->n_fdes = p->n_segs = 0;
	p->out.size = 0;
	p->out.big_endian = p->machine->big_endian;
	p->high = program_chance(p, 25);
	p->base = UINT64_C(0x10000) + program_random(p, 0x1000000);
	if (p->high)
		p->base += UINT64_C(0x7f3200000000);
	p->downwards = program_chance(p, 30);
	p->addr = p->base - 0x8000;
	for (uint64_t i = 1 + program_random(p, PROGRAM_CIES); i > 0; i--)
		program_cie(p);
	while (p->n_fdes < n) {
		const struct program_fde *last =
		    p->n_fdes ? &p->fdes[p->n_fdes - 1] : NULL;

		if (last && program_chance(p, 4)) {
			/* Not from the same start: that could be a duplicate by chance.
			 */
			pc = last->pc + 1 + program_random(p, last->end - last->pc);
		} else if (last && program_chance(p, 50)) {
			pc = last->end +
			     (program_chance(p, 50) ? 0 : program_random(p, 20));
		} else {
			pc = p->base +
			     PROGRAM_SLOT * (p->downwards ? PROGRAM_FDES - slot : slot);
			slot++;
		}
		if (!p->n_fdes || !program_chance(p, 30) || !program_repeat(p, pc))
			program_fde(p, pc);
	}
	program_mark_shared(p);
	wr_u32(&p->out, 0);
}

struct truth_rule *program_column(
    const struct program *p, struct truth_state *state, uint64_t reg)
{
	if (reg == p->machine->ra)
		return &state->ra;
	if (reg == p->machine->fp)
		return &state->fp;
	return reg == p->machine->sp ? &state->sp : NULL;
}

static bool program_steps(const struct truth_state *s)
{
	return s->cfa.mask || s->sp.mask || s->fp.mask || s->ra.mask;
}

/* Much code for little CFI shares what expressions may cost (cfi/ranges.c). */
enum { PROGRAM_FREE_CODE = 65536 };

static uint64_t code_of(const struct program *p)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->n_fdes; i++)
		sum += p->fdes[i].end - p->fdes[i].pc;
	return sum;
}

bool program_may_be_spent(
    const struct program *p, const struct program_fde *fde, uint64_t pc)
{
	bool tight = fde->shared || code_of(p) >= PROGRAM_FREE_CODE;

	for (size_t i = 0; tight && i < fde->n_segs; i++) {
		const struct program_seg *seg = &p->segs[fde->first_seg + i];

		if (seg->pc <= pc && program_steps(&seg->state))
			return true;
	}
	return false;
}
