/* SPDX-License-Identifier: MIT */
/*
 * x86-64: the commonest instructions, told as effects without operands in between: three quarters of all. The
 * other files would say the same of them, and take twice as long.
 */
#include "code/machines/x86_64_common.h"

/* The numbers of registers by the processor's. */
static const uint8_t x86_numbers[16] = {
    0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};

/* A register of one byte may be ah, ch, dh or bh. */
static uint8_t x86_number(const struct x86_bytes *b, unsigned int number)
{
	return x86_numbers[b->width == 1 && !b->rex ? number & 3 : number];
}

/* The bytes behind modrm, of an instruction without an immediate. False: memory is in another segment. */
static bool x86_take_address(struct x86_bytes *b, struct code_effect *effect)
{
	const uint8_t mod = b->modrm >> 6;
	uint8_t base = b->modrm & 7, sib, index;

	if (base == 4) {
		sib = b->code[b->at++];
		index = (uint8_t)((sib >> 3 & 7) | (b->rex & 2) << 2);
		base = sib & 7;
		if (index != 4) {
			effect->index = x86_numbers[index];
			effect->shift = sib >> 6;
		}
	}
	if (base != 5 || mod)
		effect->base = x86_numbers[base | (b->rex & 1) << 3];
	if (mod == 1)
		effect->off = x86_take(b, 1);
	else if (mod == 2 || base == 5)
		effect->off = x86_take(b, 4);
	if (!mod && (b->modrm & 7) == 5)
		effect->off = (int64_t)(b->x->pc + b->at + (uint64_t)effect->off);
	return b->prefix != 0x64;
}

/* mov between registers, or of one and memory, and lea: a third of all instructions. */
static void x86_tell_mov(struct x86_bytes *b)
{
	const uint8_t reg =
	    x86_number(b, (unsigned int)((b->modrm >> 3 & 7) | (b->rex & 4) << 1));
	const bool lea = b->letter == 'l', loads = lea || b->opcode & 2;
	struct code_insn *insn = b->x->insn;
	struct code_effect *effect = code_effect_add(insn,
	    lea	    ? CODE_SET
	    : loads ? CODE_LOAD
		    : CODE_STORE,
	    reg);
	bool known = true;

	effect->width = b->width;
	if (x86_in_memory(b)) {
		if (!loads && b->width != 8)
			effect->dst = CODE_NO_REG;
		known = x86_take_address(b, effect);
	} else {
		const uint8_t rm =
		    x86_number(b, (unsigned int)((b->modrm & 7) | (b->rex & 1) << 3));

		effect->kind = CODE_SET;
		effect->dst = loads ? reg : rm;
		effect->base = loads ? rm : reg;
	}
	if (known && (b->width >= 4 || effect->kind == CODE_STORE))
		return;
	insn->n_effects--;
	if (effect->kind != CODE_STORE)
		insn->writes = UINT32_C(1) << effect->dst;
}

/* Passes the bytes behind modrm that give an address. */
static void x86_pass_address(struct x86_bytes *b)
{
	const uint8_t mod = b->modrm >> 6;
	uint8_t base = b->modrm & 7;

	if (mod == 3)
		return;
	if (base == 4)
		base = b->code[b->at++] & 7;
	if (mod == 1)
		b->at = (uint8_t)(b->at + 1);
	else if (mod == 2 || base == 5)
		b->at = (uint8_t)(b->at + 4);
}

/* Tells if a register of the operands has no place of its own: ah, ch, dh or bh. */
static bool x86_is_high(const struct x86_bytes *b, unsigned int number)
{
	return b->width == 1 && !b->rex && number & 4;
}

/* add, sub or cmp of registers, or of one and an immediate. */
static void x86_tell_sum(struct x86_bytes *b, uint8_t kind)
{
	const unsigned int reg = (unsigned int)((b->modrm >> 3 & 7) | (b->rex & 4) << 1),
			   rm = (unsigned int)((b->modrm & 7) | (b->rex & 1) << 3);
	const uint8_t bytes = code_x86_imm_bytes(b);
	const bool compares = kind == X86_CMP;
	unsigned int dst = b->form & FORM_RAX ? 0 : rm, src = reg;
	struct code_effect *effect;

	if (!bytes && b->opcode & 2) {
		dst = reg;
		src = rm;
	}
	if (x86_is_high(b, dst) || (!bytes && x86_is_high(b, src))) {
		b->at = (uint8_t)(b->at + bytes);
		return;
	}
	effect = code_effect_add(b->x->insn,
	    compares			? CODE_COMPARE
	    : kind == X86_SUB && !bytes ? CODE_SUBTRACT
					: CODE_SET,
	    x86_numbers[dst]);
	effect->width = b->width;
	if (!compares)
		effect->base = effect->dst;
	if (bytes)
		effect->off = x86_take(b, bytes) * (kind == X86_SUB ? -1 : 1);
	else
		effect->index = x86_numbers[src];
	b->x->insn->ends_compare = !compares;
}

static bool x86_tell_arithmetic(struct x86_bytes *b, uint8_t kind)
{
	if (kind != X86_ADD && kind != X86_SUB && kind != X86_CMP)
		return false;
	if (!x86_in_memory(b) && (kind == X86_CMP || b->width >= 4)) {
		b->x->insn->ends_compare = true;
		x86_tell_sum(b, kind);
		return true;
	}
	if (kind != X86_CMP)
		return false;
	b->x->insn->ends_compare = true;
	x86_pass_address(b);
	b->at = (uint8_t)(b->at + code_x86_imm_bytes(b));
	return true;
}

/* A relative jump or call. False: a call of the next instruction, which only pushes its address. */
static bool x86_tell_branch(struct x86_bytes *b)
{
	static const uint8_t conditions[16] = {
	    [2] = CODE_IF_BELOW,
	    [3] = CODE_IF_ABOVE_EQUAL,
	    [4] = CODE_IF_EQUAL,
	    [5] = CODE_IF_NOT_EQUAL,
	    [6] = CODE_IF_BELOW_EQUAL,
	    [7] = CODE_IF_ABOVE,
	};
	struct code_insn *insn = b->x->insn;
	const uint8_t start = b->at;
	const int64_t off = x86_take(b, code_x86_imm_bytes(b));

	switch (b->letter) {
	case 'C':
		if (!off) {
			b->at = start;
			return false;
		}
		insn->control = CODE_CALLS;
		break;
	case 'J':
	case 'O':
		insn->control = CODE_JUMPS;
		break;
	default:
		insn->control = CODE_BRANCHES;
		insn->condition = conditions[b->opcode & 15];
		break;
	}
	insn->target = b->x->pc + b->at + (uint64_t)off;
	return true;
}

bool code_x86_tell(struct x86_bytes *b)
{
	switch (b->letter) {
	case 'l':
		if (!x86_in_memory(b))
			return false;
		x86_tell_mov(b);
		return true;
	case 'm':
		x86_tell_mov(b);
		return true;
	case 'a':
	case 'A':
		return x86_tell_arithmetic(b, b->opcode >> 3);
	case 'g':
	case 'G':
		return x86_tell_arithmetic(b, b->modrm >> 3 & 7);
	case 't':
		x86_pass_address(b);
		b->x->insn->ends_compare = true;
		return true;
	case 'j':
	case 'y':
	case 'C':
	case 'J':
	case 'O':
		return x86_tell_branch(b);
	default:
		return false;
	}
}
