/* SPDX-License-Identifier: MIT */
/*
 * Random instructions: what code/state says of registers and of the stack behind each of them, against what their
 * machine makes of it.
 *
 *     words MACHINE make COUNT SEED TEXT... | qemu-MACHINE words_run | words MACHINE check COUNT SEED TEXT... [lie]
 *
 * Half of the words are random bits, and half are instructions of the TEXT files with some bits flipped. Both ends of
 * the pipe make the same words from SEED. Instructions that jump, call the kernel or change what words_run itself
 * lives by are left out. With "lie", an effect of each instruction is changed, which must be found. Prints counts, of
 * fewer words where words_run or qemu ended early; status 1 after a difference.
 */
#include <endian.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/state_internal.h"
#include "words.h"

static const struct words_machine {
	const char *name;
	enum code_machine machine;
	uint8_t n_regs, unit; /* instructions are aligned to a unit */
	uint8_t trap[4];      /* it is behind an instruction, again and again */
} words_machines[] = {
    {"x86_64", CODE_X86_64, 16, 1, {0xcc, 0xcc, 0xcc, 0xcc}},
    {"aarch64", CODE_AARCH64, 32, 4, {0, 0, 0x20, 0xd4}},
    {"s390x", CODE_S390X, 32, 2, {0, 1, 0, 1}},
};

static const struct words_machine *machine;
static const struct code_abi *abi;
static bool lie;
static uint8_t *text;
static size_t n_text, *places, n_places; /* where instructions begin */
static uint64_t n_words, n_left_out, n_read, n_ran, n_consts, n_bounds, n_stack, n_slots,
    n_wrong;

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t random_state;

static uint64_t any(void)
{
	uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static uint64_t below(uint64_t n)
{
	return any() % n;
}

/* A number in the order of the machine. */
static uint64_t ordered(uint64_t number)
{
	return machine->machine == CODE_S390X ? htobe64(number) : htole64(number);
}

/* ---- words ---- */

/* An instruction of AArch64. */
static uint32_t word_of(const uint8_t *code)
{
	return code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 |
	       (uint32_t)code[3] << 24;
}

/* x86-64: it calls the kernel, or changes a segment, the flags or which memory may be written, and nothing restores
 * these between two words. */
static bool is_special_x86(const uint8_t *code)
{
	size_t i = 0;

	while (i < 14 && code[i] &&
	       (strchr("\x66\x67\xf0\xf2\xf3\x2e\x36\x3e\x26", code[i]) ||
		   code[i] >> 4 == 4))
		i++;
	switch (code[i]) {
	case 0x64: /* fs, gs */
	case 0x65:
	case 0x8e: /* mov to a segment register */
	case 0x9d: /* popf */
	case 0xcd: /* int, int1 */
	case 0xf1:
		return true;
	case 0x0f:
		break;
	default:
		return false;
	}
	switch (code[i + 1]) {
	case 0x01: /* wrpkru and others */
	case 0x05: /* syscall */
	case 0x34: /* sysenter */
	case 0xa1: /* pop fs */
	case 0xa9: /* pop gs */
	case 0xb2: /* lss, lfs, lgs */
	case 0xb4:
	case 0xb5:
		return true;
	case 0xae: /* wrfsbase, tpause */
		return code[i + 2] >= 0xc0;
	default:
		return false;
	}
}

/* s390x: it calls the kernel, or qemu 7.2 has it wrong. */
static bool is_special_s390x(const uint8_t *code)
{
	/* A branch to its own second halfword, which is a trap. */
	if (strchr("\x84\x85\xa7\xec", code[0]) && code[2] == 0 && code[3] == 1)
		return true;
	if (code[0] == 0xc0 && !memcmp(code + 2, "\0\0\0\1", 4))
		return true;
	/* rnsbg, rosbg and rxsbg that only test: qemu aborts. */
	if (code[0] == 0xec && code[2] & 0x80)
		return code[5] == 0x54 || code[5] == 0x56 || code[5] == 0x57;
	/* larl over more than 2 GiB: qemu has 31 bits of the distance. */
	if (code[0] == 0xc0 && !(code[1] & 15))
		return (code[2] >> 7 & 1) != (code[2] >> 6 & 1);
	/* cdsg, trtt, trto, trot and troo of odd registers: qemu has a register 16. */
	if (code[0] == 0xeb && code[5] == 0x3e)
		return code[1] & 0x11;
	if (code[0] == 0xb9 && code[1] >> 2 == 0x90 >> 2)
		return code[3] & 0x10;
	/* mvpg and csst: qemu ends. */
	if ((code[0] == 0xb2 && code[1] == 0x54) ||
	    (code[0] == 0xc8 && (code[1] & 15) == 2))
		return true;
	/* svc; mvcrl, for which qemu takes more bits of r0 than the length has, and aborts. */
	return code[0] == 0x0a || (code[0] == 0xe5 && code[1] == 0x0a);
}

static bool is_special(const uint8_t *code)
{
	const uint32_t word = word_of(code);

	switch (machine->machine) {
	case CODE_X86_64:
		return is_special_x86(code);
	case CODE_AARCH64: /* svc, hvc, smc; msr; dc, which clears memory */
		return (word & 0xffe0001c) == 0xd4000000 ||
		       (word & 0xfff00000) == 0xd5100000 ||
		       (word & 0xfffff000) == 0xd50b7000;
	case CODE_S390X:
		return is_special_s390x(code);
	}
	return true;
}

/* Bits of an instruction of the text flipped, or random ones alone. */
static void draw(uint8_t code[WORDS_BYTES])
{
	struct code_insn insn;
	size_t at;

	for (size_t i = 0; i < WORDS_BYTES; i += 8) {
		const uint64_t bits = any();

		memcpy(code + i, &bits, 8);
	}
	if (n_places == 0 || below(2))
		return;
	at = places[below(n_places)];
	if (!code_insn_read(machine->machine, text + at, n_text - at, 0, &insn))
		abort();
	memcpy(code, text + at, insn.length);
	for (uint64_t flips = below(5); flips--;) {
		const uint64_t bit = below(insn.length * 8u);

		code[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}

static uint8_t length_of(const uint8_t *code)
{
	static const uint8_t lengths[] = {2, 4, 4, 6};

	return machine->machine == CODE_S390X ? lengths[code[0] >> 6] : 4;
}

/* The next word that can be run, with its effects. False: code/ reads no instruction. */
static bool make_word(uint8_t code[WORDS_BYTES], uint64_t pc, struct code_insn *insn)
{
	bool is_read;

	for (;; n_left_out++) {
		draw(code);
		is_read = code_insn_read(machine->machine, code, WORDS_BYTES, pc, insn);
		if (is_special(code) ||
		    (is_read && (insn->control != CODE_CONTINUES || insn->executes)) ||
		    (!is_read && machine->machine == CODE_X86_64))
			continue;
		if (!is_read)
			insn->length = length_of(code);
		for (size_t i = insn->length; i < WORDS_BYTES; i++)
			code[i] = machine->trap[i % 4];
		return is_read;
	}
}

/* ---- states ---- */

/* Draws a value that code/ knows or has a name for. Returns the number that it stands for. */
static uint64_t make_value(uint8_t reg, uint64_t sp, struct code_value *value)
{
	uint64_t number;

	switch (below(8)) {
	case 0:
		*value = code_value_of(CODE_CFA, 0, ((int64_t)below(33) - 16) * 8);
		return sp + (uint64_t)value->off;
	case 1:
		*value = code_value_of(CODE_CALLERS, reg, 0);
		return any();
	case 2:
		number = below(1 << 16);
		*value =
		    code_value_of(CODE_AT_MOST, 0, (int64_t)(number + below(1 << 10)));
		return number;
	case 3:
		number = WORDS_DATA + WORDS_AREA / 2 + below(64) * 64;
		break;
	case 4:
		number = 0 - below(1 << 14);
		break;
	case 5:
		number = below(1 << 16);
		break;
	default:
		number = any() >> below(64);
	}
	*value = code_value_of(CODE_CONST, 0, (int64_t)number);
	return number;
}

static uint32_t slot_name(size_t i)
{
	return CODE_N_REGS + (uint32_t)i;
}

static struct code_value slot_place(size_t i)
{
	return code_value_of(CODE_CFA, 0, ((int64_t)i - WORDS_SLOTS / 2) * 8);
}

static void make_state(struct words_state *numbers, struct code_state *state)
{
	const uint64_t sp = WORDS_STACK + WORDS_AREA / 2 + below(64) * 16;

	memset(numbers, 0, sizeof(*numbers));
	code_state_unknown(state);
	for (uint8_t i = 0; i < machine->n_regs; i++)
		numbers->regs[i] = make_value(i, sp, &state->regs[i]);
	numbers->regs[abi->sp] = sp;
	state->regs[abi->sp] = code_value_of(CODE_CFA, 0, 0);
	for (size_t i = 0; i < WORDS_SLOTS; i++) {
		numbers->slots[i] = any();
		code_state_set_memory(
		    state, slot_place(i), code_value_of(CODE_CALLERS, slot_name(i), 0));
	}
}

/* ---- comparison ---- */

static void differs(const uint8_t *code, const struct code_insn *insn, const char *what,
    unsigned int number, uint64_t expected, uint64_t found)
{
	if (n_wrong++ >= 50)
		return;
	printf("wrong:");
	for (size_t i = 0; i < insn->length; i++)
		printf(" %02x", code[i]);
	printf(": %s %u: expected %" PRIx64 ", found %" PRIx64 "\n", what, number,
	    expected, found);
}

/* The number that a value stands for. False: none is known. */
static bool number_of(
    const struct words_state *before, struct code_value value, uint64_t *number)
{
	switch ((enum code_value_kind)value.kind) {
	case CODE_CONST:
		*number = (uint64_t)value.off;
		n_consts++;
		return true;
	case CODE_CFA:
		*number = before->regs[abi->sp] + (uint64_t)value.off;
		n_stack++;
		return true;
	case CODE_CALLERS:
		*number = value.symbol < CODE_N_REGS
			      ? before->regs[value.symbol]
			      : before->slots[value.symbol - CODE_N_REGS];
		n_slots++;
		return true;
	case CODE_UNKNOWN:
	case CODE_OTHER:
	case CODE_AT_MOST:
	case CODE_TABLE:
	case CODE_MADE:
	case CODE_RA:
	case CODE_RA_SIGNED:
		break;
	}
	return false;
}

/* Arrays and large objects in the stack are taken not to reach what is saved (docs/CODE.md), so the slots are not
 * compared behind them. An instruction that writes memory without an effect has registers that are unsure. */
static bool tells_memory(const uint8_t *code, const struct code_insn *insn)
{
	/* bts, btr and btc, whose bit may be in another word. */
	for (size_t i = 0; machine->machine == CODE_X86_64 && i + 1 < insn->length; i++)
		if (code[i] == 0x0f && (code[i + 1] & 0xe7) == 0xa3)
			return false;
	for (size_t i = 0; i < insn->n_effects; i++)
		if (insn->effects[i].kind == CODE_STORE &&
		    (insn->effects[i].index != CODE_NO_REG ||
			insn->effects[i].width > 64))
			return false;
	return !insn->unsure;
}

static void compare(const uint8_t *code, uint64_t pc, const struct code_insn *insn,
    const struct words_state *before, const struct code_state *state,
    const struct words_after *after)
{
	uint64_t number, found = ordered(after->pc);

	/* It is the trap itself, by which the state behind an instruction is known. */
	if (machine->machine == CODE_X86_64 && insn->filler &&
	    code[insn->length - 1] == 0xcc)
		return;
	if (found != pc + insn->length) {
		differs(code, insn, "goes on at", 0, pc + insn->length, found);
		return;
	}
	for (uint8_t i = 0; i < machine->n_regs; i++) {
		const struct code_value value = state->regs[i];

		found = ordered(after->state.regs[i]);
		if (number_of(before, value, &number) && number != found)
			differs(code, insn, "register", i, number, found);
		if (value.kind != CODE_AT_MOST)
			continue;
		n_bounds++;
		if (found > (uint64_t)value.off)
			differs(code, insn, "at most, register", i, (uint64_t)value.off,
			    found);
	}
	for (size_t i = 0; i < WORDS_SLOTS && tells_memory(code, insn); i++) {
		found = ordered(after->state.slots[i]);
		if (number_of(before, code_state_memory(state, slot_place(i)), &number) &&
		    number != found)
			differs(code, insn, "slot", (unsigned int)i, number, found);
	}
}

/* ---- the two ends ---- */

static void order_state(struct words_state *state)
{
	for (size_t i = 0; i < WORDS_REGS; i++)
		state->regs[i] = ordered(state->regs[i]);
	for (size_t i = 0; i < WORDS_SLOTS; i++)
		state->slots[i] = ordered(state->slots[i]);
}

/* AArch64: code/ has no more instructions of these groups than qemu, except for autiasppc. Elsewhere it has some that
 * are newer, and some that are none. */
static bool is_exact_aarch64(const uint8_t *code)
{
	const uint32_t word = word_of(code);

	if (machine->machine != CODE_AARCH64 || (word & 0xff80001f) == 0xf380001f)
		return false;
	/* Immediates without tags; logical, add and subtract. */
	return ((word & 0x1c000000) == 0x10000000 && (word & 0x1f800000) != 0x11800000) ||
	       (word & 0x1e000000) == 0x0a000000;
}

/* One word: written, or read back and compared. */
static bool take(bool is_check)
{
	const uint64_t pc = WORDS_CODE + n_words % WORDS_BATCH * WORDS_BLOCK;
	struct words_before before;
	struct words_after after;
	struct code_insn insn;
	struct code_state state;
	const bool is_read = make_word(before.code, pc, &insn);

	before.flags = ordered(below(16));
	make_state(&before.state, &state);
	if (!is_check) {
		order_state(&before.state);
		return fwrite(&before, sizeof(before), 1, stdout) == 1;
	}
	if (fread(&after, sizeof(after), 1, stdin) != 1)
		return false;
	n_read += is_read;
	if (is_read && ordered(after.signal) == SIGILL && is_exact_aarch64(before.code))
		differs(before.code, &insn, "no instruction", 0, 0, SIGILL);
	if (!is_read && !after.signal)
		differs(before.code, &insn, "is an instruction", 0, 0, 0);
	if (!is_read || after.signal)
		return true;
	n_ran++;
	if (lie && insn.n_effects && insn.effects[0].kind == CODE_SET)
		insn.effects[0].off ^= 8;
	code_state_step(&state, abi, pc, &insn);
	compare(before.code, pc, &insn, &before.state, &state, &after);
	return true;
}

/* Notes where instructions begin. */
static void read_text(const char *path)
{
	const size_t begin = n_text;
	struct code_insn insn;
	size_t got;
	FILE *file = fopen(path, "rb");

	if (!file) {
		perror(path);
		exit(99);
	}
	do {
		text = realloc(text, n_text + 65536);
		if (!text)
			abort();
		got = fread(text + n_text, 1, 65536, file);
		n_text += got;
	} while (got);
	(void)fclose(file);
	places = realloc(places, n_text * sizeof(places[0]));
	if (!places)
		abort();
	for (size_t at = begin; at < n_text;) {
		const bool is_read =
		    code_insn_read(machine->machine, text + at, n_text - at, 0, &insn);

		if (is_read)
			places[n_places++] = at;
		at += is_read ? insn.length : machine->unit;
	}
}

int main(int argc, char **argv)
{
	uint64_t count;
	bool is_check;

	for (size_t i = 0; argc > 4 && i < 3; i++)
		if (!strcmp(argv[1], words_machines[i].name))
			machine = &words_machines[i];
	if (!machine) {
		fputs(
		    "usage: words MACHINE make|check COUNT SEED TEXT... [lie]\n", stderr);
		return 99;
	}
	abi = code_abi(machine->machine);
	is_check = !strcmp(argv[2], "check");
	count = strtoull(argv[3], NULL, 10);
	random_state = strtoull(argv[4], NULL, 10);
	for (int i = 5; i < argc; i++) {
		lie = !strcmp(argv[i], "lie");
		if (!lie)
			read_text(argv[i]);
	}
	while (n_words < count && take(is_check))
		n_words++;
	if (!is_check)
		return n_words < count;
	printf("%" PRIu64 " words, %" PRIu64 " left out; %" PRIu64 " read, %" PRIu64
	       " of these ran; %" PRIu64 " constants, %" PRIu64 " bounds, %" PRIu64
	       " addresses of the stack, %" PRIu64 " saved values; %" PRIu64 " wrong\n",
	    n_words, n_left_out, n_read, n_ran, n_consts, n_bounds, n_stack, n_slots,
	    n_wrong);
	return n_wrong != 0;
}
