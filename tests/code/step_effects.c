/* SPDX-License-Identifier: MIT */
/*
 * Compares the effects that code_insn_read names with what instructions do. A program without a
 * dynamic linker runs under qemu, whose log has the registers before each instruction:
 *
 *     qemu-MACHINE -singlestep -d nochain,cpu -D LOG PROGRAM
 *     step_effects MACHINE PROGRAM [lie] <LOG
 *
 * Each step must have these effects, change no register that they do not name, and go where
 * control says. Memory is what stores put there; a system call may change all of it. With "lie", an
 * effect is changed, which must be found. Prints counts; status 1 after a difference.
 */
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "effects_log.h"
#include "effects_memory.h"

static const struct effects_machine *machine;
static Elf *elf;
static struct effects_memory memory, pcs, opcodes;
static uint64_t n_steps, n_outside, n_checked, n_loads, n_compares, n_returns,
    n_mismatches, n_unchecked;
static bool lie;

/* Predicted result of a step. */
struct outcome {
	uint64_t regs[CODE_N_REGS];
	uint64_t known;	    /* a bit for each register with such a value */
	uint64_t by_memory; /* of which these depend on what memory is thought to hold */
	uint64_t bounded;   /* these are at most their value */
	uint64_t addresses; /* of these, only the bits of an address count */
	/* Values that LOADs read, to be known from now on. */
	struct {
		uint64_t addr;
		uint8_t reg, width;
	} loads[CODE_MAX_EFFECTS];
	size_t n_loads;
};

/* The last COMPARE. */
static struct {
	uint64_t left, right;
	bool known;
} compared;

/* The bytes at addr, of a segment: with `constant`, of one that is never written. */
static const uint8_t *in_file(uint64_t addr, size_t *size, bool constant)
{
	size_t n = 0, bytes;
	GElf_Phdr phdr = {0};
	const char *image = elf_rawfile(elf, &bytes);

	if (elf_getphdrnum(elf, &n))
		return NULL;
	for (size_t i = 0; i < n; i++) {
		if (!gelf_getphdr(elf, (int)i, &phdr) || phdr.p_type != PT_LOAD ||
		    addr < phdr.p_vaddr || addr - phdr.p_vaddr >= phdr.p_filesz ||
		    (constant && phdr.p_flags & PF_W))
			continue;
		*size = (size_t)(phdr.p_filesz - (addr - phdr.p_vaddr));
		return (const uint8_t *)image + phdr.p_offset + (addr - phdr.p_vaddr);
	}
	return NULL;
}

static void differs(const struct effects_state *from, const struct code_insn *insn,
    const char *what, uint64_t expected, uint64_t found)
{
	size_t size;
	const uint8_t *code = in_file(from->pc, &size, true);

	if (n_mismatches++ >= 20)
		return;
	printf("%" PRIx64 ":", from->pc);
	for (size_t i = 0; i < insn->length && i < size; i++)
		printf(" %02x", code[i]);
	printf(": %s: expected %" PRIx64 ", found %" PRIx64 "\n", what, expected, found);
}

static uint64_t truncated(uint64_t value, unsigned int bits)
{
	return bits < 64 ? value & ((UINT64_C(1) << bits) - 1) : value;
}

static uint64_t extended(uint64_t value, unsigned int bits, bool is_signed)
{
	value = truncated(value, bits);
	if (is_signed && bits < 64 && value >> (bits - 1) & 1)
		value |= ~UINT64_C(0) << bits;
	return value;
}

static bool is_known(const struct outcome *outcome, uint8_t reg)
{
	return reg == CODE_NO_REG || outcome->known >> reg & 1;
}

static uint64_t value_of(const struct outcome *outcome, uint8_t reg)
{
	return reg == CODE_NO_REG ? 0 : outcome->regs[reg];
}

static uint64_t index_of(const struct outcome *outcome, const struct code_effect *effect)
{
	return extended(value_of(outcome, effect->index), effect->index_bits,
		   effect->index_signed)
	       << effect->shift;
}

static void becomes(struct outcome *outcome, uint8_t reg, uint64_t value, uint8_t width)
{
	const uint64_t bit = UINT64_C(1) << reg;

	outcome->regs[reg] = width == 8 ? value : truncated(value, 8u * width);
	outcome->known |= bit;
	outcome->bounded &= ~bit;
	outcome->addresses &= ~bit;
}

static void forget(struct outcome *outcome, uint8_t reg)
{
	becomes(outcome, reg, 0, 8);
	outcome->known &= ~(UINT64_C(1) << reg);
}

/* The bytes of a value in memory, and back. */
static void swapped(uint64_t value, uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)(value >> 8 * (machine->big_endian ? n - 1 - i : i));
}

static uint64_t joined(const uint8_t *bytes, size_t n)
{
	uint64_t value = 0;

	for (size_t i = 0; i < n; i++)
		value |= (uint64_t)bytes[i] << 8 * (machine->big_endian ? n - 1 - i : i);
	return value;
}

static void loads(
    struct outcome *outcome, const struct code_effect *effect, uint64_t addr, bool known)
{
	const uint8_t width = effect->width;
	const uint8_t *constant;
	uint8_t bytes[8];
	size_t size;

	n_loads++;
	if (!known || width > 8) {
		forget(outcome, effect->dst);
		return;
	}
	constant = in_file(addr, &size, true);
	if (constant && size >= width)
		memcpy(bytes, constant, width);
	else if (!effects_memory_get(&memory, addr, bytes, width)) {
		forget(outcome, effect->dst);
		outcome->loads[outcome->n_loads].addr = addr;
		outcome->loads[outcome->n_loads].reg = effect->dst;
		outcome->loads[outcome->n_loads++].width = width;
		return;
	}
	n_checked++;
	becomes(outcome, effect->dst,
	    extended(joined(bytes, width), 8u * width, effect->load_signed), 8);
	if (!constant)
		outcome->by_memory |= UINT64_C(1) << effect->dst;
}

static void stores(const struct outcome *outcome, const struct code_effect *effect,
    uint64_t addr, bool known)
{
	uint8_t bytes[8];

	if (!known) {
		effects_memory_clear(&memory);
		return;
	}
	if (effect->dst == CODE_NO_REG || !is_known(outcome, effect->dst) ||
	    effect->width > 8) {
		effects_memory_put(&memory, addr, NULL, effect->width);
		return;
	}
	swapped(outcome->regs[effect->dst], bytes, effect->width);
	effects_memory_put(&memory, addr, bytes, effect->width);
}

static void compares(const struct outcome *outcome, const struct code_effect *effect)
{
	const unsigned int bits = 8u * effect->width;
	const uint64_t right = effect->index == CODE_NO_REG
				   ? (uint64_t)effect->off
				   : outcome->regs[effect->index];

	compared.known =
	    is_known(outcome, effect->dst) && is_known(outcome, effect->index);
	compared.left = truncated(value_of(outcome, effect->dst), bits);
	compared.right = truncated(right, bits);
}

/* Whatever one computes from registers. */
static void computes(
    struct outcome *outcome, const struct code_effect *effect, uint64_t sum, bool known)
{
	const uint64_t inputs =
	    (effect->base == CODE_NO_REG ? 0 : UINT64_C(1) << effect->base) |
	    (effect->index == CODE_NO_REG ? 0 : UINT64_C(1) << effect->index);
	const bool by_memory = outcome->by_memory & inputs;
	uint64_t value = sum;

	if (effect->kind == CODE_SUBTRACT)
		value = value_of(outcome, effect->base) - index_of(outcome, effect);
	else if (effect->kind == CODE_ALIGN)
		value = value_of(outcome, effect->base) & (uint64_t)effect->off;
	if (!known) {
		forget(outcome, effect->dst);
		return;
	}
	becomes(outcome, effect->dst, value, effect->width);
	outcome->by_memory &= ~(UINT64_C(1) << effect->dst);
	if (by_memory)
		outcome->by_memory |= UINT64_C(1) << effect->dst;
}

static void happens(struct outcome *outcome, const struct code_effect *effect)
{
	const bool known =
	    is_known(outcome, effect->base) && is_known(outcome, effect->index);
	const uint64_t sum = value_of(outcome, effect->base) + index_of(outcome, effect) +
			     (uint64_t)effect->off;

	if (effect->kind != CODE_STORE && effect->kind != CODE_COMPARE)
		for (size_t i = 0; i < outcome->n_loads; i++)
			if (outcome->loads[i].reg == effect->dst)
				outcome->loads[i].width = 0;
	switch ((enum code_effect_kind)effect->kind) {
	case CODE_SET:
	case CODE_SUBTRACT:
	case CODE_ALIGN:
		computes(outcome, effect, sum, known);
		break;
	case CODE_BOUND:
		becomes(outcome, effect->dst, (uint64_t)effect->off, 8);
		outcome->bounded |= UINT64_C(1) << effect->dst;
		break;
	case CODE_LOAD:
		loads(outcome, effect, sum, known);
		break;
	case CODE_STORE:
		stores(outcome, effect, sum, known);
		break;
	case CODE_COMPARE:
		compares(outcome, effect);
		break;
	case CODE_SIGN:
	case CODE_AUTHENTICATE:
		outcome->addresses |= UINT64_C(1) << effect->dst;
		break;
	}
}

static void check_regs(const struct effects_state *from, const struct effects_state *to,
    const struct code_insn *insn, const struct outcome *outcome)
{
	char name[32];

	for (uint8_t reg = 0; reg < CODE_SCRATCH; reg++) {
		const uint64_t bit = UINT64_C(1) << reg;
		uint64_t found = to->regs[reg], expected = outcome->regs[reg];

		if (!(outcome->known & to->have & bit))
			continue;
		if (outcome->addresses & bit) {
			found &= machine->address;
			expected &= machine->address;
		}
		if (outcome->bounded & bit ? found <= expected : found == expected)
			continue;
		snprintf(name, sizeof(name), "register %u", (unsigned int)reg);
		if (outcome->by_memory & bit)
			n_unchecked++;
		else
			differs(from, insn, name, expected, found);
	}
}

static bool is_taken(enum code_condition condition)
{
	switch (condition) {
	case CODE_IF_EQUAL:
		return compared.left == compared.right;
	case CODE_IF_NOT_EQUAL:
		return compared.left != compared.right;
	case CODE_IF_ABOVE:
		return compared.left > compared.right;
	case CODE_IF_ABOVE_EQUAL:
		return compared.left >= compared.right;
	case CODE_IF_BELOW:
		return compared.left < compared.right;
	case CODE_IF_BELOW_EQUAL:
		return compared.left <= compared.right;
	case CODE_IF_OTHER:
		break;
	}
	return false;
}

/* Where a jump by register or by memory goes; otherwise, when that is not known. */
static uint64_t via_of(const struct effects_state *from, const struct code_insn *insn,
    const struct outcome *outcome, uint64_t otherwise)
{
	if (insn->via == CODE_NO_REG)
		return 0;
	if (insn->via != CODE_SCRATCH)
		return from->regs[insn->via];
	if (!is_known(outcome, CODE_SCRATCH) || outcome->bounded >> CODE_SCRATCH & 1)
		return otherwise;
	return outcome->regs[CODE_SCRATCH];
}

/* Where a return goes. */
static uint64_t return_of(const struct effects_state *from, uint64_t otherwise)
{
	const struct code_abi *abi = code_abi(machine->machine);
	uint8_t bytes[8];

	if (abi->ra != CODE_NO_REG)
		return from->regs[abi->ra];
	if (!effects_memory_get(&memory, from->regs[abi->sp], bytes, 8))
		return otherwise;
	n_returns++;
	return joined(bytes, 8);
}

static void check_control(const struct effects_state *from,
    const struct effects_state *to, const struct code_insn *insn,
    const struct outcome *outcome)
{
	const uint64_t next = from->pc + insn->length;
	const uint64_t via = via_of(from, insn, outcome, to->pc);
	uint64_t expected = next;

	switch ((enum code_control)insn->control) {
	case CODE_BRANCHES:
		if (to->pc == insn->target)
			expected = to->pc;
		if (insn->condition == CODE_IF_OTHER || !compared.known)
			break;
		n_compares++;
		expected = is_taken(insn->condition) ? insn->target : next;
		break;
	case CODE_BRANCHES_TO:
		expected = to->pc == next ? next : via;
		break;
	case CODE_JUMPS:
	case CODE_CALLS:
		expected = insn->target;
		break;
	case CODE_JUMPS_TO:
	case CODE_CALLS_TO:
		expected = via;
		break;
	case CODE_RETURNS:
		expected = return_of(from, to->pc);
		break;
	case CODE_STOPS:
		expected = 0;
		break;
	case CODE_CONTINUES:
		break;
	}
	if ((to->pc & machine->address) != (expected & machine->address))
		differs(from, insn, "goes to", expected, to->pc);
}

/* Where a call leaves its return address in memory, the callee begins with that. */
static void calls(const struct effects_state *from, const struct code_insn *insn,
    struct outcome *outcome)
{
	const struct code_abi *abi = code_abi(machine->machine);
	uint8_t bytes[8];

	if (abi->ra != CODE_NO_REG ||
	    (insn->control != CODE_CALLS && insn->control != CODE_CALLS_TO))
		return;
	outcome->regs[abi->sp] -= 8;
	swapped(from->pc + insn->length, bytes, 8);
	effects_memory_put(&memory, outcome->regs[abi->sp], bytes, 8);
}

static void check_step(const struct effects_state *from, const struct effects_state *to)
{
	struct outcome outcome = {.known = from->have};
	const uint8_t *code;
	struct code_insn insn;
	uint8_t bytes[8];
	size_t size;

	code = in_file(from->pc, &size, true);
	if (!code) { /* of the kernel, which maps some */
		n_outside++;
		effects_memory_clear(&memory);
		return;
	}
	n_steps++;
	effects_memory_mark(&pcs, from->pc);
	effects_memory_mark(&opcodes, machine->opcode(code));
	if (!code_insn_read(machine->machine, code, size, from->pc, &insn)) {
		insn.length = 4;
		differs(from, &insn, "is an instruction", 1, 0);
		return;
	}
	if (lie && insn.n_effects && insn.effects[0].kind == CODE_SET)
		insn.effects[0].off ^= 8;
	memcpy(outcome.regs, from->regs, sizeof(outcome.regs));
	for (size_t i = 0; i < insn.n_effects; i++)
		happens(&outcome, &insn.effects[i]);
	for (uint8_t reg = 0; reg < CODE_SCRATCH; reg++)
		if ((insn.writes | insn.unsure) >> reg & 1)
			forget(&outcome, reg);
	calls(from, &insn, &outcome);
	check_regs(from, to, &insn, &outcome);
	if (from->pc != to->pc || !machine->repeats || !machine->repeats(code))
		check_control(from, to, &insn, &outcome);
	/* An instruction's own comparison holds for its own branch at least. */
	if (insn.ends_compare)
		compared.known = false;
	if (machine->changes_memory(code))
		effects_memory_clear(&memory);
	for (size_t i = 0; i < outcome.n_loads; i++) {
		if (outcome.loads[i].width == 0 || outcome.loads[i].reg == CODE_SCRATCH)
			continue;
		swapped(to->regs[outcome.loads[i].reg], bytes, outcome.loads[i].width);
		effects_memory_put(
		    &memory, outcome.loads[i].addr, bytes, outcome.loads[i].width);
	}
}

int main(int argc, char **argv)
{
	struct effects_state states[2];
	size_t n = 0;
	int fd;

	if (argc < 3 || (machine = effects_machine_named(argv[1])) == NULL) {
		fputs("usage: step_effects MACHINE PROGRAM [lie] <LOG\n", stderr);
		return 99;
	}
	lie = argc > 3 && !strcmp(argv[3], "lie");
	elf_version(EV_CURRENT);
	fd = open(argv[2], O_RDONLY);
	elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	if (!elf) {
		perror(argv[2]);
		return 99;
	}
	while (effects_log_next(stdin, machine, &states[n % 2])) {
		/* qemu tells of an EXECUTE of s390x twice. */
		if (n && !memcmp(&states[0], &states[1], sizeof(states[0])))
			continue;
		if (n)
			check_step(&states[(n - 1) % 2], &states[n % 2]);
		n++;
	}
	printf("%" PRIu64 " steps, %zu addresses, %zu opcodes; %" PRIu64 " of %" PRIu64
	       " loads, %" PRIu64 " branches and %" PRIu64
	       " returns by memory checked; %" PRIu64 " outside, %" PRIu64
	       " unchecked, %" PRIu64 " mismatches\n",
	    n_steps, pcs.n, opcodes.n, n_checked, n_loads, n_compares, n_returns,
	    n_outside, n_unchecked, n_mismatches);
	effects_memory_deinit(&memory);
	effects_memory_deinit(&pcs);
	effects_memory_deinit(&opcodes);
	elf_end(elf);
	close(fd);
	/* A few may be of memory that changed in a way that is not told. */
	return !n_steps || n_mismatches || n_unchecked * 10000 > n_loads;
}
