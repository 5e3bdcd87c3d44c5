/* SPDX-License-Identifier: MIT */
/*
 * s390x: where control goes. z/Architecture Principles of Operation, chapter 7: the mask of a
 * branch has a bit for each condition code, 8 for code 0 to 1 for code 3. Comparisons set
 * code 0 for equal, 1 for low and 2 for high, never 3.
 */
#include "code/machines/machines.h"
#include "code/machines/s390x.h"

enum { RETURN_ADDRESS = 14 }; /* by the ELF ABI supplement */

/* Returns the condition of a mask after a comparison: bits 8, 4 and 2, without 1. */
static enum code_condition s390x_condition(uint8_t mask)
{
	static const uint8_t conditions[8] = {
	    [1] = CODE_IF_ABOVE,
	    [2] = CODE_IF_BELOW,
	    [3] = CODE_IF_NOT_EQUAL,
	    [4] = CODE_IF_EQUAL,
	    [5] = CODE_IF_ABOVE_EQUAL,
	    [6] = CODE_IF_BELOW_EQUAL,
	};

	return (enum code_condition)conditions[mask >> 1];
}

static uint64_t s390x_target(const struct s390x_fields *fields)
{
	const uint8_t *at = fields->code + 2;
	const int64_t halfwords = fields->code[0] >> 4 == 0xc
				      ? (int32_t)s390x_unsigned32(at)
				      : s390x_signed16(at);

	return fields->pc + 2 * (uint64_t)halfwords;
}

/*
 * Goes to an address in the instruction. Compilers trap with a branch to the offset in the
 * branch itself, which is 1. The bytes 0001 are not an instruction.
 */
static void s390x_go(
    const struct s390x_fields *fields, struct code_insn *insn, bool always)
{
	insn->target = s390x_target(fields);
	if (insn->target == fields->pc + 2)
		insn->control = always ? CODE_STOPS : CODE_CONTINUES;
	else
		insn->control = always ? CODE_JUMPS : CODE_BRANCHES;
}

static void s390x_go_via(struct code_insn *insn, uint8_t reg, bool always)
{
	insn->via = reg;
	if (!always)
		insn->control = CODE_BRANCHES_TO;
	else
		insn->control = reg == RETURN_ADDRESS ? CODE_RETURNS : CODE_JUMPS_TO;
}

/* Goes to the operand's address. written is a register that the instruction changes before. */
static void s390x_go_address(const struct s390x_fields *fields, struct code_insn *insn,
    bool always, uint8_t written)
{
	uint8_t reg = fields->base;

	if (reg == CODE_NO_REG || fields->index != CODE_NO_REG || fields->off ||
	    reg == written) {
		reg = CODE_SCRATCH;
		code_s390x_address(fields, insn, CODE_SET, reg);
	}
	s390x_go_via(insn, reg, always);
}

/* Goes to the address in r2, which the instruction may change: written is a register, too. */
static void s390x_go_register(const struct s390x_fields *fields, struct code_insn *insn,
    bool always, uint8_t written)
{
	uint8_t reg = fields->r2;

	if (reg == written) {
		code_effect_add(insn, CODE_SET, CODE_SCRATCH)->base = reg;
		reg = CODE_SCRATCH;
	}
	s390x_go_via(insn, reg, always);
}

/* Branches on the condition code: an address, a register, an address in memory, or an offset. */
static void s390x_conditional(const struct s390x_fields *fields, struct code_insn *insn)
{
	const uint8_t mask = fields->r1;
	const bool always = mask == 15, by_register = fields->key == 0x0700;

	/* BCR 14,0 and BCR 15,0 make memory accesses wait for each other. */
	insn->filler = !mask;
	if (!mask || (by_register && !fields->r2))
		return;
	insn->condition = always ? CODE_IF_OTHER : (uint8_t)s390x_condition(mask);
	if (by_register) {
		s390x_go_via(insn, fields->r2, always);
	} else if (fields->key == 0x4700) {
		s390x_go_address(fields, insn, always, CODE_NO_REG);
	} else if (fields->key == 0xe347) {
		code_s390x_address(fields, insn, CODE_LOAD, CODE_SCRATCH);
		s390x_go_via(insn, CODE_SCRATCH, always);
	} else {
		s390x_go(fields, insn, always);
	}
	if (insn->control == CODE_CONTINUES || always)
		insn->condition = CODE_IF_OTHER;
}

/*
 * Branches that put the address behind them into r1. With r14 it is a call, and with r0, too,
 * which cannot be branched to: GCC calls __fentry__ so. With any other register it is a jump,
 * the way that code finds its own address.
 */
static void s390x_link(const struct s390x_fields *fields, struct code_insn *insn)
{
	const bool by_register = fields->length == 2, by_address = fields->code[0] < 0x80;
	const bool calls = fields->r1 == RETURN_ADDRESS || !fields->r1;
	struct code_effect *effect;

	if (by_register && !fields->r2) {
		/* No jump: only the link is wanted. */
	} else if (by_register) {
		s390x_go_register(fields, insn, true, fields->r1);
	} else if (by_address) {
		s390x_go_address(fields, insn, true, fields->r1);
	} else {
		s390x_go(fields, insn, true);
	}
	if (insn->control != CODE_CONTINUES && insn->control != CODE_STOPS && calls) {
		insn->control = by_register || by_address ? CODE_CALLS_TO : CODE_CALLS;
		insn->writes |= 1u << fields->r1;
		insn->ends_compare = true;
		return;
	}
	/* BRAS to its own second halfword still sets r1. */
	effect = code_effect_add(insn, CODE_SET, fields->r1);
	effect->off = (int64_t)(fields->pc + fields->length);
}

/* Branches that change r1, or what r1 and r3 make, and compare it. */
static void s390x_count(const struct s390x_fields *fields, struct code_insn *insn)
{
	const uint8_t op = fields->code[0];

	insn->writes |= 1u << fields->r1;
	if (op == 0x46 || op == 0x86 || op == 0x87 || op == 0xe3 || op == 0xeb) {
		s390x_go_address(fields, insn, false, fields->r1);
	} else if (op != 0x06 && op != 0xb9) {
		s390x_go(fields, insn, false);
	} else if (fields->r2) { /* BCTR with r0 only counts. */
		s390x_go_register(fields, insn, false, fields->r1);
	}
}

/*
 * Compares and branches, to an offset or to an address. The condition code stays as it was, so
 * what a later branch depends on is not this comparison: ends_compare says so.
 */
static void s390x_compare_branch(
    const struct s390x_fields *fields, struct code_insn *insn)
{
	const uint8_t *code = fields->code, rest = (uint8_t)fields->key;
	const bool immediate = (rest & 15) >= 0xc, is_unsigned = rest & 1;
	const bool wide = rest < 0x70 || (rest & 0xfe) == 0x7c || (rest & 0xfe) == 0xe4 ||
			  (rest & 0xfe) == 0xfc;
	const uint8_t mask = (immediate ? fields->r2 : code[4] >> 4) & 14;
	struct s390x_fields at = *fields;
	struct code_effect *effect;

	if (!mask)
		return;
	insn->ends_compare = mask != 14;
	/* Equality does not depend on signs. */
	if (mask != 14 && (is_unsigned || mask == 8 || mask == 6)) {
		insn->condition = (uint8_t)s390x_condition(mask);
		effect = code_effect_add(insn, CODE_COMPARE, fields->r1);
		effect->width = wide ? 8 : 4;
		if (!immediate)
			effect->index = fields->r2;
		else if (is_unsigned)
			effect->off = code[4];
		else
			effect->off =
			    wide ? (int8_t)code[4] : (int64_t)(uint32_t)(int8_t)code[4];
	}
	if (rest < 0x80) {
		s390x_go(fields, insn, mask == 14);
	} else {
		/* The branch address has no index. */
		at.index = CODE_NO_REG;
		s390x_go_address(&at, insn, mask == 14, CODE_NO_REG);
	}
}

/*
 * EXECUTE runs the instruction at an address with r1's lowest byte put over the second byte.
 * Compilers run storage-to-storage instructions with it, for their length. The bytes that
 * such a one surely stores are told; more of them belong to the same object. Whatever could
 * name registers in its second byte may do anything.
 */
static void s390x_executed(const struct s390x_fields *target, struct code_insn *insn)
{
	/* MVN to XC: their second byte is a length. */
	if (target->code[0] < 0xd1 || target->code[0] > 0xd7)
		return;
	insn->unsure = 0;
	if (target->code[0] != 0xd5) /* CLC only compares. */
		code_s390x_store(target, insn, target->code[1] + 1u);
}

/* The executed instruction may be out of sight: GCC puts it behind the function, LLVM often before. */
static void s390x_execute(const struct s390x_fields *fields, struct code_insn *insn)
{
	const bool relative = fields->key == 0xc600;
	const uint64_t addr = relative ? s390x_target(fields) : 0;
	const uint64_t skip = addr - fields->pc;
	struct s390x_fields target;

	insn->ends_compare = true;
	insn->unsure = UINT32_MAX;
	if (!relative || !skip)
		return;
	if (skip < fields->size) {
		if (code_s390x_fields(
			fields->code + skip, fields->size - skip, addr, &target))
			s390x_executed(&target, insn);
		return;
	}
	insn->executes = true;
	insn->target = addr;
}

void code_insn_execute(
    enum code_machine machine, const uint8_t *code, struct code_insn *insn)
{
	struct s390x_fields target;

	if (machine == CODE_S390X &&
	    code_s390x_fields(code, CODE_EXECUTED_BYTES, insn->target, &target))
		s390x_executed(&target, insn);
}

/*
 * An aborted transaction goes on behind TBEGIN. Pairs of general registers that its mask names
 * have their old values then, the other registers what the transaction left.
 */
static void s390x_transaction(const struct s390x_fields *fields, struct code_insn *insn)
{
	insn->ends_compare = true;
	insn->unsure = UINT32_MAX;
	for (uint8_t i = 0; i < 8; i++)
		if (fields->code[4] & 0x80 >> i)
			insn->unsure &= ~(3u << 2 * i);
}

void code_s390x_control(const struct s390x_fields *fields, struct code_insn *insn)
{
	switch (fields->key) {
	case 0xa704: /* brc */
	case 0xc004: /* brcl */
	case 0x0700: /* bcr */
	case 0x4700: /* bc */
	case 0xe347: /* bic */
		s390x_conditional(fields, insn);
		break;
	case 0xc005: /* brasl */
	case 0x0d00: /* basr */
	case 0xa705: /* bras */
	case 0x0500: /* balr */
	case 0x0c00: /* bassm */
	case 0x4500: /* bal */
	case 0x4d00: /* bas */
		s390x_link(fields, insn);
		break;
	case 0xc600: /* exrl */
	case 0x4400: /* ex */
		s390x_execute(fields, insn);
		break;
	case 0x0a00: /* svc: Linux returns its result in r2, and preserves the others */
		insn->writes |= 1u << 2;
		insn->ends_compare = insn->system = true;
		insn->target = (uint64_t)fields->r1 << 4 | fields->r2;
		insn->via = insn->target ? CODE_NO_REG : 1;
		break;
	case 0x0b00: /* bsm: r1 gets the addressing mode in its lowest bit */
		if (fields->r1)
			insn->writes |= 1u << fields->r1;
		if (fields->r2)
			s390x_go_register(fields, insn, true, fields->r1);
		break;
	case 0xe560: /* tbegin */
	case 0xe561: /* tbeginc */
		s390x_transaction(fields, insn);
		break;
	default:
		if (fields->code[0] == 0xec && (uint8_t)fields->key > 0x45)
			s390x_compare_branch(fields, insn);
		else
			s390x_count(fields, insn);
	}
}
