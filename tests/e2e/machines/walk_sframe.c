/* SPDX-License-Identifier: MIT */
/* See walk_sframe.h. Everything here is safe in a signal handler. */
#include "walk_sframe.h"

#include <string.h>

const char *walk_problem;
uintptr_t walk_lie_at;
int walk_lie;
bool walk_other_key;

/* "SFrame Header": offsets, and sizes of a function's entry by version. */
enum {
	MAGIC = 0xdee2,
	FLAG_SORTED = 1,
	FLAG_PCREL = 4,
	HEADER = 28,
	ATTRIBUTE = 5, /* version 3, in front of the rows */
};
static const uint8_t entry_size[] = {0, 17, 20, 16};

struct section {
	const uint8_t *start, *functions, *rows, *end;
	uint32_t n_functions;
	uint8_t version, flags;
	int8_t fixed_fp, fixed_ra;
};

struct function {
	const uint8_t *rows;
	uintptr_t start;
	uint32_t size, n_rows;
	uint8_t start_width, block; /* block: 0, or rows repeat every so many bytes */
	bool key_b, flex;
};

/* A value: [base +] off, or what is in memory there. */
struct rule {
	bool is_set, in_memory;
	int base; /* a DWARF register; BASE_CFA */
	int64_t off;
};
enum { BASE_CFA = -1 };

struct row {
	struct rule cfa, ra, fp;
	bool outermost, ra_signed;
};

static bool bad(const char *what)
{
	walk_problem = what;
	return false;
}

/* n bytes, in the machine's own order. Nothing is aligned: an entry of version 1 has 17
 * bytes. */
static int64_t number(const uint8_t *at, unsigned n, bool is_signed)
{
	int64_t s64;
	int32_t s32;
	int16_t s16;

	switch (n) {
	case 1:
		return is_signed ? (int8_t)*at : *at;
	case 2:
		memcpy(&s16, at, 2);
		return is_signed ? s16 : (uint16_t)s16;
	case 4:
		memcpy(&s32, at, 4);
		return is_signed ? (int64_t)s32 : (int64_t)(uint32_t)s32;
	default:
		memcpy(&s64, at, 8);
		return s64;
	}
}

/* The header. Functions and rows are at offsets from its end, auxiliary part included. */
static bool open_section(const struct sframe_module *module, struct section *s)
{
	const uint8_t *at = module->section;

	if (module->size < HEADER || number(at, 2, false) != MAGIC)
		return bad("no magic");
	s->start = at;
	s->end = at + module->size;
	s->version = at[2];
	s->flags = at[3];
	s->fixed_fp = (int8_t)at[5];
	s->fixed_ra = (int8_t)at[6];
	s->n_functions = (uint32_t)number(at + 8, 4, false);
	if (s->version < 1 || s->version > 3 || !(s->flags & FLAG_SORTED))
		return bad("version or flags");
	at += HEADER + at[7];
	s->functions = at + number(s->start + 20, 4, false);
	s->rows = at + number(s->start + 24, 4, false);
	if (s->rows > s->end || s->functions > s->rows ||
	    (size_t)(s->rows - s->functions) / entry_size[s->version] < s->n_functions)
		return bad("more functions than bytes");
	return true;
}

/* "FDE_FUNC_START_PCREL": from the field itself, else from the start of the section. */
static uintptr_t function_start(const struct section *s, uint32_t i)
{
	const uint8_t *at = s->functions + (size_t)i * entry_size[s->version];
	const uint8_t *base = s->flags & FLAG_PCREL ? at : s->start;

	return (uintptr_t)base + (uintptr_t)number(at, s->version == 3 ? 8 : 4, true);
}

/* "func_info": bits 0 to 3 the width of row starts, 4 PCMASK, 5 the key of AArch64. */
static bool read_function(const struct section *s, uint32_t i, struct function *f)
{
	const uint8_t *at = s->functions + (size_t)i * entry_size[s->version];
	uint8_t info;

	*f = (struct function){.start = function_start(s, i)};
	at += s->version == 3 ? 8 : 4;
	f->size = (uint32_t)number(at, 4, false);
	f->rows = s->rows + number(at + 4, 4, false);
	if (s->version == 3) {
		if (f->rows + ATTRIBUTE > s->end)
			return bad("attribute outside the section");
		f->n_rows = (uint32_t)number(f->rows, 2, false);
		info = f->rows[2];
		f->flex = f->rows[3] & 0x1f;
		f->block = f->rows[4];
		f->rows += ATTRIBUTE;
	} else {
		/* Version 1 ends with the info byte; its periodic rows cannot be looked
		 * up. */
		f->n_rows = (uint32_t)number(at + 8, 4, false);
		info = at[12];
		f->block = s->version == 2 ? at[13] : 0;
	}
	if (!(info & 0x10))
		f->block = 0;
	else if (!f->block)
		return bad("repeated rows without a block size");
	f->start_width = (uint8_t)(1 << (info & 0xf));
	f->key_b = info & 0x20;
	return f->start_width <= 4 || bad("width of row starts");
}

/* The function that covers pc: the last one that does not start behind it. Needs
 * FDE_SORTED; addresses without data lie between functions. */
static enum step find_function(const struct section *s, uintptr_t pc, struct function *f)
{
	uint32_t low = 0, high = s->n_functions;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (function_start(s, middle) <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return STEP_NO_FUNCTION;
	if (!read_function(s, low - 1, f))
		return STEP_BAD;
	return pc - f->start < f->size ? STEP_CALLER : STEP_NO_FUNCTION;
}

/* Words of a default row, in the order CFA, RA unless its place is fixed, FP. */
static void default_words(const struct section *s, const int64_t *words, unsigned n,
    bool by_sp, struct row *row)
{
	struct rule *next[] = {&row->ra, &row->fp};
	unsigned skip = s->fixed_ra ? 1 : 0;

	row->cfa = (struct rule){true, false, by_sp ? REG_SP : REG_FP, words[0]};
	for (unsigned i = 1; i < n; i++) {
		struct rule rule = {true, true, BASE_CFA, words[i]};

#ifdef __s390x__
		/* "RA offset 0: not saved, padding"; version 2 marks registers with bit
		 * 0. */
		if (words[i] == 0)
			rule.is_set = false;
		else if (words[i] & 1)
			rule = (struct rule){true, false, (int)(words[i] >> 1), 0};
#endif
		*next[i - 1 + skip] = rule;
	}
}

/* Pairs of a control word and an offset, in the order CFA, RA, FP; a 0 stands for no
 * rule. */
static void flex_words(const uint8_t *at, unsigned width, unsigned n, struct row *row)
{
	struct rule *rules[] = {&row->cfa, &row->ra, &row->fp};

	for (unsigned i = 0, k = 0; i < n && k < 3; k++) {
		uint64_t control = (uint64_t)number(at + i++ * width, width, false);

		if (!control || i == n)
			continue;
		*rules[k] = (struct rule){true, control & 2,
		    control & 1 ? (int)(control >> 3) : BASE_CFA,
		    number(at + i++ * width, width, true)};
	}
}

/* at: the row's words. The byte before: bit 0 CFA from SP, 1 to 4 how many, 7 RA signed.
 */
static bool read_row(const struct section *s, const struct function *f, const uint8_t *at,
    unsigned width, struct row *row)
{
	uint8_t info = at[-1];
	unsigned n = info >> 1 & 0xf;
	int64_t words[3] = {0};

	*row = (struct row){.outermost = n == 0, .ra_signed = info & 0x80};
	if (s->fixed_ra)
		row->ra = (struct rule){true, true, BASE_CFA, s->fixed_ra};
	if (s->fixed_fp)
		row->fp = (struct rule){true, true, BASE_CFA, s->fixed_fp};
	if (f->flex) {
		flex_words(at, width, n, row);
	} else if (n > 3) {
		return bad("too many words");
	} else if (n) {
		for (unsigned i = 0; i < n; i++)
			words[i] = number(at + i * width, width, true);
		default_words(s, words, n, info & 1, row);
	}
#ifdef __s390x__
	/* "CFA offset: stored less 160, divided by 8", in flexible rows, too. */
	row->cfa.off = row->cfa.off * 8 + 160;
#endif
	return row->outermost || row->cfa.is_set || bad("no rule for the CFA");
}

/* The row that holds at pc: the last that does not start behind it. */
static bool find_row(
    const struct section *s, const struct function *f, uintptr_t pc, struct row *row)
{
	uint64_t off = f->block ? (pc - f->start) % f->block : pc - f->start;
	const uint8_t *at = f->rows, *words = NULL;
	unsigned width = 0;

	for (uint32_t i = 0; i < f->n_rows; i++) {
		unsigned n, size;

		if (at + f->start_width + 1 > s->end)
			return bad("row outside the section");
		if ((uint64_t)number(at, f->start_width, false) > off)
			break;
		at += f->start_width + 1;
		size = 1U << (at[-1] >> 5 & 3);
		n = at[-1] >> 1 & 0xf;
		if (size > 4 || at + n * size > s->end)
			return bad("words outside the section");
		words = at;
		width = size;
		at += n * size;
	}
	return words ? read_row(s, f, words, width, row)
		     : bad("function without a row here");
}

/* Where a rule leads. In a frame that made a call only SP and FP are known of its
 * registers. */
static bool value_of(
    const struct frame *frame, struct rule rule, uintptr_t cfa, uintptr_t *value)
{
	uintptr_t at = cfa;

	if (rule.base != BASE_CFA) {
		if (rule.base >= N_REGS || !frame->known[rule.base])
			return bad("a register that is not known in this frame");
		at = frame->regs[rule.base];
	}
	at += (uintptr_t)rule.off;
	if (rule.in_memory)
		memcpy(&at, (const void *)at, sizeof(at));
	*value = at;
	return true;
}

/* A signed address is checked and not only stripped: that needs the right key and CFA. */
static uintptr_t authenticate(uintptr_t ra, uintptr_t cfa, bool key_b)
{
#ifdef __aarch64__
	register uintptr_t x17 __asm__("x17") = ra;
	register uintptr_t x16 __asm__("x16") = cfa;

	if (key_b)
		__asm__("hint #14 /* autib1716 */" : "+r"(x17) : "r"(x16));
	else
		__asm__("hint #12 /* autia1716 */" : "+r"(x17) : "r"(x16));
	return x17;
#else
	(void)cfa;
	(void)key_b;
	return ra;
#endif
}

/* By the row that holds; FP comes before SP changes, as a rule may go by either. */
static bool to_caller(struct frame *frame, const struct row *row, bool key_b)
{
	bool fp_known = row->fp.is_set || frame->known[REG_FP];
	uintptr_t cfa, ra, fp = frame->regs[REG_FP];

	if (!value_of(frame, row->cfa, 0, &cfa) ||
	    (row->fp.is_set && !value_of(frame, row->fp, cfa, &fp)))
		return false;
	if (row->ra.is_set) {
		if (!value_of(frame, row->ra, cfa, &ra))
			return false;
	} else if (frame->topmost && frame->known[REG_RA]) {
		ra = frame->regs[REG_RA];
	} else {
		return bad("the return address is not saved in a frame that made a call");
	}
	memset(frame->known, 0, sizeof(frame->known));
	frame->pc = row->ra_signed ? authenticate(ra, cfa, key_b != walk_other_key) : ra;
	frame->regs[REG_SP] = cfa + (uintptr_t)SP_FROM_CFA;
	frame->regs[REG_FP] = fp;
	frame->known[REG_SP] = true;
	frame->known[REG_FP] = fp_known;
	frame->topmost = false;
	return true;
}

enum step walk_step(const struct sframe_module *modules, size_t n, struct frame *frame)
{
	/* A call may be the last instruction of a function. */
	uintptr_t pc = frame->pc - (frame->topmost ? 0 : 1);
	struct function function;
	struct section section;
	struct row row;
	enum step found;
	size_t i = 0;

	while (i < n && (pc < modules[i].low || pc >= modules[i].high))
		i++;
	if (i == n)
		return STEP_NO_MODULE;
	if (!open_section(&modules[i], &section))
		return STEP_BAD;
	found = find_function(&section, pc, &function);
	if (found != STEP_CALLER)
		return found;
	if (!find_row(&section, &function, pc, &row))
		return STEP_BAD;
	if (row.outermost)
		return STEP_OUTERMOST;
	if (walk_lie_at - function.start < function.size)
		row.cfa.off += walk_lie;
	return to_caller(frame, &row, function.key_b) ? STEP_CALLER : STEP_BAD;
}
