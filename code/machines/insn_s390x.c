/* SPDX-License-Identifier: MIT */
/*
 * s390x: instructions as their effects. z/Architecture Principles of Operation, chapters 7
 * "General Instructions", 9 and 19 for floating point, and 21 to 25 for vectors. Addresses have
 * 64 bits. Instructions on 32 bits leave the upper half of a register as it was, so
 * their results are never told.
 *
 * Memory that is stored to is described, except where an instruction finds length or address in
 * registers: MVCL, MVCLE, MVST, the message and translation instructions, VSCEF and VSCEG.
 */
#include "code/machines/machines.h"
#include "code/machines/s390x.h"

enum s390x_action {
	ACTION_NOTHING,
	ACTION_EXACT,
	ACTION_CONTROL,
	ACTION_WRITES,	/* arg registers from r1 on */
	ACTION_RANGE,	/* r1 to r3 */
	ACTION_MAYBE,	/* r1 may get a value */
	ACTION_UNKNOWN, /* whatever the fields name may get a value */
	ACTION_FPR,	/* r1; 2: also r1 + 2, as a pair; 3: also r3 */
	ACTION_VECTOR,	/* r1 */
	ACTION_VECTORS, /* r1 to r3 */
	ACTION_LOAD,	/* arg bytes, zero-extended */
	ACTION_LOAD_SIGNED,
	ACTION_LOAD_FPR,
	ACTION_LOAD_RANGE,
	ACTION_LOAD_ADD,  /* arg bytes, with their sign, are added to r1 */
	ACTION_STORE,	  /* arg bytes, not told */
	ACTION_STORE_REG, /* arg bytes of r1 */
	ACTION_STORE_FPR,
	ACTION_STORE_RANGE,  /* arg bytes of each register from r1 to r3 */
	ACTION_STORE_ARRAY,  /* arg bytes for each of r1 to r3, not told */
	ACTION_STORE_MASK,   /* a byte for each bit of r3 */
	ACTION_STORE_LENGTH, /* the length is in the second byte; 1: in its upper half */
	ACTION_STORE_SCAN,   /* the same; r1 and r2 may get a value */
	ACTION_STORE_LIST,   /* r0 says how much */
	ACTION_SWAP,	     /* arg bytes for r1; 16 more: for the pair from r1 on */
	ACTION_UPDATE,	     /* arg bytes in memory, r1 gets what was there */
};

/* Meanings of the letters of s390x_fields.c. The third member: the instruction sets the condition code. */
static const struct s390x_rule {
	uint8_t action, arg;
	bool cc;
} s390x_rules[128] = {
    ['-'] = {ACTION_NOTHING, 0, false},
    ['c'] = {ACTION_NOTHING, 0, true},
    ['W'] = {ACTION_WRITES, 1, false},
    ['w'] = {ACTION_WRITES, 1, true},
    ['p'] = {ACTION_WRITES, 2, true},
    ['d'] = {ACTION_RANGE, 0, false},
    ['u'] = {ACTION_MAYBE, 1, false},
    ['U'] = {ACTION_MAYBE, 2, true},
    ['?'] = {ACTION_UNKNOWN, 0, true},
    ['f'] = {ACTION_FPR, 1, true},
    ['F'] = {ACTION_FPR, 2, true},
    ['E'] = {ACTION_FPR, 3, true},
    ['v'] = {ACTION_VECTOR, 0, true},
    ['V'] = {ACTION_VECTORS, 0, false},
    ['L'] = {ACTION_LOAD, 8, false},
    ['K'] = {ACTION_LOAD, 8, true},
    ['z'] = {ACTION_LOAD, 4, false},
    ['H'] = {ACTION_LOAD, 2, false},
    ['B'] = {ACTION_LOAD, 1, false},
    ['g'] = {ACTION_LOAD_SIGNED, 4, false},
    ['h'] = {ACTION_LOAD_SIGNED, 2, false},
    ['b'] = {ACTION_LOAD_SIGNED, 1, false},
    ['l'] = {ACTION_LOAD_FPR, 8, false},
    ['G'] = {ACTION_LOAD_RANGE, 8, false},
    ['r'] = {ACTION_LOAD_ADD, 4, true},
    ['1'] = {ACTION_STORE, 1, false},
    ['2'] = {ACTION_STORE, 2, false},
    ['4'] = {ACTION_STORE, 4, false},
    ['8'] = {ACTION_STORE, 8, false},
    ['6'] = {ACTION_STORE, 16, false},
    ['n'] = {ACTION_STORE, 1, true},
    ['a'] = {ACTION_STORE, 4, true},
    ['A'] = {ACTION_STORE, 8, true},
    ['O'] = {ACTION_STORE, 16, true},
    ['s'] = {ACTION_STORE_REG, 4, false},
    ['S'] = {ACTION_STORE_REG, 8, false},
    ['D'] = {ACTION_STORE_FPR, 8, false},
    ['N'] = {ACTION_STORE_RANGE, 4, false},
    ['T'] = {ACTION_STORE_RANGE, 8, false},
    ['Q'] = {ACTION_STORE_ARRAY, 4, false},
    ['q'] = {ACTION_STORE_ARRAY, 16, false},
    ['P'] = {ACTION_STORE_MASK, 0, false},
    ['m'] = {ACTION_STORE_LENGTH, 0, false},
    ['M'] = {ACTION_STORE_LENGTH, 0, true},
    ['k'] = {ACTION_STORE_LENGTH, 1, true},
    ['t'] = {ACTION_STORE_SCAN, 0, true},
    ['o'] = {ACTION_STORE_LIST, 8, true},
    ['x'] = {ACTION_SWAP, 4, true},
    ['X'] = {ACTION_SWAP, 8, true},
    ['y'] = {ACTION_SWAP, 8 + 16, true},
    ['Y'] = {ACTION_SWAP, 16 + 16, true},
    ['i'] = {ACTION_UPDATE, 4, true},
    ['j'] = {ACTION_UPDATE, 8, true},
    ['e'] = {ACTION_EXACT, 0, false},
    ['J'] = {ACTION_CONTROL, 0, false},
};

struct code_effect *code_s390x_address(const struct s390x_fields *fields,
    struct code_insn *insn, enum code_effect_kind kind, uint8_t dst)
{
	struct code_effect *effect = code_effect_add(insn, kind, dst);

	effect->base = fields->base;
	effect->index = fields->index;
	effect->off = fields->off;
	return effect;
}

void code_s390x_store(
    const struct s390x_fields *fields, struct code_insn *insn, uint32_t length)
{
	/* A width has 8 bits, and there may be 256 bytes. */
	for (uint32_t at = 0; at < length; at += 128) {
		struct code_effect *effect =
		    code_s390x_address(fields, insn, CODE_STORE, CODE_NO_REG);

		effect->off += at;
		effect->width = (uint8_t)(length - at < 128 ? length - at : 128);
	}
}

/* Returns how many registers there are from r1 to r3, where the last register is followed by the first. */
static uint8_t s390x_range(const struct s390x_fields *fields, uint8_t of)
{
	return (uint8_t)(((fields->r3 - fields->r1) & (of - 1)) + 1);
}

static void s390x_load_range(const struct s390x_fields *fields, struct code_insn *insn)
{
	const uint8_t n = s390x_range(fields, 16);

	/* The base is loaded last, so that the others still find it. */
	for (uint8_t last = 0; last < 2; last++)
		for (uint8_t i = 0; i < n; i++) {
			const uint8_t reg = (fields->r1 + i) & 15;

			if ((reg == fields->base) == last)
				code_s390x_address(fields, insn, CODE_LOAD, reg)->off +=
				    8 * i;
		}
}

static void s390x_store_range(
    const struct s390x_fields *fields, struct code_insn *insn, uint8_t width)
{
	for (uint8_t i = 0; i < s390x_range(fields, 16); i++) {
		struct code_effect *effect =
		    code_s390x_address(fields, insn, CODE_STORE, (fields->r1 + i) & 15);

		effect->off += width * i;
		effect->width = width;
	}
}

/* Vector registers 0 to 15 hold the floating-point registers. */
static uint32_t s390x_vectors(uint8_t first, uint8_t n)
{
	uint32_t mask = 0;

	for (uint8_t i = 0; i < n; i++)
		if (((first + i) & 31) < 16)
			mask |= 1u << code_s390x_fpr[(first + i) & 15];
	return mask;
}

static uint32_t s390x_pair(uint8_t reg)
{
	return 1u << reg | 1u << ((reg + 1) & 15);
}

static uint32_t s390x_fpr_pair(uint8_t reg)
{
	return 1u << code_s390x_fpr[reg & 15] | 1u << code_s390x_fpr[(reg + 2) & 15];
}

/*
 * Many of these take their function from r0 and their parameters from r1, and update both, or
 * pairs of the registers that they name. PFPO names none, and its result is in f0 and f2.
 */
static void s390x_unknown(const struct s390x_fields *fields, struct code_insn *insn)
{
	insn->unsure |= s390x_pair(0) | s390x_pair(fields->r1) | s390x_pair(fields->r2) |
			s390x_pair(fields->r3);
	if (fields->code[0] == 1)
		insn->unsure |= s390x_fpr_pair(0);
}

static void s390x_writes(const struct s390x_fields *fields, struct code_insn *insn,
    const struct s390x_rule *rule)
{
	const uint8_t r1 = fields->r1;

	switch (rule->action) {
	case ACTION_WRITES:
		insn->writes |= rule->arg == 2 ? s390x_pair(r1) : 1u << r1;
		break;
	case ACTION_RANGE:
		for (uint8_t i = 0; i < s390x_range(fields, 16); i++)
			insn->writes |= 1u << ((r1 + i) & 15);
		break;
	case ACTION_MAYBE:
		insn->unsure |= 1u << r1;
		if (rule->arg == 2)
			insn->unsure |= 1u << fields->r2;
		break;
	case ACTION_FPR:
		insn->writes |=
		    rule->arg == 2 ? s390x_fpr_pair(r1) : 1u << code_s390x_fpr[r1];
		if (rule->arg == 3)
			insn->writes |= 1u << code_s390x_fpr[fields->r3];
		break;
	case ACTION_VECTOR:
		insn->writes |= s390x_vectors(r1, 1);
		break;
	case ACTION_VECTORS:
		insn->writes |= s390x_vectors(r1, s390x_range(fields, 32));
		break;
	default:
		s390x_unknown(fields, insn);
	}
}

static void s390x_store(const struct s390x_fields *fields, struct code_insn *insn,
    const struct s390x_rule *rule)
{
	uint8_t n = rule->arg;

	switch (rule->action) {
	case ACTION_STORE_REG:
		code_s390x_address(fields, insn, CODE_STORE, fields->r1)->width = n;
		break;
	case ACTION_STORE_FPR:
		code_s390x_address(fields, insn, CODE_STORE, code_s390x_fpr[fields->r1]);
		break;
	case ACTION_STORE_RANGE:
		s390x_store_range(fields, insn, n);
		break;
	case ACTION_STORE_ARRAY:
		code_s390x_store(
		    fields, insn, n * s390x_range(fields, n == 16 ? 32 : 16));
		break;
	case ACTION_STORE_MASK:
		n = (uint8_t)__builtin_popcount(fields->r3);
		code_s390x_store(fields, insn, n);
		break;
	case ACTION_STORE_SCAN: /* TRT and TRTR store nothing, EDMK does. */
		insn->unsure |= 6;
		__attribute__((fallthrough));
	case ACTION_STORE_LENGTH:
		code_s390x_store(fields, insn, (fields->code[1] >> (n ? 4 : 0)) + 1u);
		break;
	case ACTION_STORE_LIST: /* STFLE; r0 gets what there is to store */
		insn->unsure |= 1;
		code_s390x_store(fields, insn, n);
		break;
	case ACTION_SWAP:
		insn->unsure |= n > 16 ? s390x_pair(fields->r1) : 1u << fields->r1;
		code_s390x_store(fields, insn, n > 16 ? n - 16 : n);
		break;
	case ACTION_UPDATE:
		insn->writes |= 1u << fields->r1;
		__attribute__((fallthrough));
	default:
		code_s390x_store(fields, insn, n);
	}
}

static void s390x_load(const struct s390x_fields *fields, struct code_insn *insn,
    const struct s390x_rule *rule)
{
	const bool fpr = rule->action == ACTION_LOAD_FPR;
	struct code_effect *effect = code_s390x_address(
	    fields, insn, CODE_LOAD, fpr ? code_s390x_fpr[fields->r1] : fields->r1);

	effect->width = rule->arg;
	effect->load_signed = rule->action == ACTION_LOAD_SIGNED;
}

/* LLVM adds an entry of a table of jump targets to the table's address so. */
static void s390x_load_add(const struct s390x_fields *fields, struct code_insn *insn,
    const struct s390x_rule *rule)
{
	struct code_effect *effect =
	    code_s390x_address(fields, insn, CODE_LOAD, CODE_SCRATCH);

	effect->width = rule->arg;
	effect->load_signed = true;
	effect = code_effect_add(insn, CODE_SET, fields->r1);
	effect->base = fields->r1;
	effect->index = CODE_SCRATCH;
}

static void s390x_load_or_store(const struct s390x_fields *fields, struct code_insn *insn,
    const struct s390x_rule *rule)
{
	const enum s390x_action action = (enum s390x_action)rule->action;

	if (action == ACTION_LOAD_RANGE)
		s390x_load_range(fields, insn);
	else if (action == ACTION_LOAD_ADD)
		s390x_load_add(fields, insn, rule);
	else if (action >= ACTION_STORE)
		s390x_store(fields, insn, rule);
	else
		s390x_load(fields, insn, rule);
}

bool code_insn_s390x(
    const uint8_t *code, uint64_t size, uint64_t pc, struct code_insn *insn)
{
	const struct s390x_rule *rule;
	struct s390x_fields fields;

	if (!code_s390x_fields(code, size, pc, &fields))
		return false;
	rule = &s390x_rules[fields.rule];
	insn->length = fields.length;
	insn->ends_compare = rule->cc;
	switch (rule->action) {
	case ACTION_NOTHING:
		break;
	case ACTION_EXACT:
		code_s390x_exact(&fields, insn);
		break;
	case ACTION_CONTROL:
		code_s390x_control(&fields, insn);
		break;
	default:
		if (rule->action < ACTION_LOAD)
			s390x_writes(&fields, insn, rule);
		else
			s390x_load_or_store(&fields, insn, rule);
	}
	return true;
}
