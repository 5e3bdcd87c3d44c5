/* SPDX-License-Identifier: MIT */
/* States of a machine from qemu's log: words NAME=HEX in lines. */
#include "effects_log.h"

#include <string.h>

#include "tests/shared/qemu_log.h"

/* The number after prefix; -1 when the name is another. */
static int numbered(const char *name, size_t length, char prefix)
{
	if (length != 3 || name[0] != prefix || name[1] < '0' || name[1] > '9' ||
	    name[2] < '0' || name[2] > '9')
		return -1;
	return (name[1] - '0') * 10 + name[2] - '0';
}

static uint8_t aarch64_reg(const char *name, size_t length)
{
	const int n = numbered(name, length, 'X');

	if (length == 2 && !memcmp(name, "SP", 2))
		return 31;
	return n >= 0 && n < 31 ? (uint8_t)n : CODE_NO_REG;
}

static bool aarch64_changes_memory(const uint8_t *code)
{
	return code[3] == 0xd4 && (code[0] & 31) == 1;
}

/* Most encodings differ in their upper 11 bits. */
static uint64_t aarch64_opcode(const uint8_t *code)
{
	return (uint64_t)code[3] << 3 | code[2] >> 5;
}

/* The upper half of a vector register is a register of floating point. */
static uint8_t s390x_reg(const char *name, size_t length)
{
	static const uint8_t dwarf[16] = {
	    16, 20, 17, 21, 18, 22, 19, 23, 24, 28, 25, 29, 26, 30, 27, 31};
	int n = numbered(name, length, 'R');

	if (n >= 0)
		return n < 16 ? (uint8_t)n : CODE_NO_REG;
	n = numbered(name, length, 'V');
	if (n < 0)
		n = numbered(name, length, 'F');
	return n >= 0 && n < 16 ? dwarf[n] : CODE_NO_REG;
}

/* System calls, and instructions whose length is in a register: EX, EXRL, MVCL, MVCLE, MVST. */
static bool s390x_changes_memory(const uint8_t *code)
{
	return code[0] == 0x0a || code[0] == 0x44 ||
	       (code[0] == 0xc6 && (code[1] & 15) == 0) || code[0] == 0x0e ||
	       code[0] == 0xa8 || (code[0] == 0xb2 && code[1] == 0x55);
}

/* Principles of Operation, 5: the first byte says where the rest of the opcode is. */
static uint64_t s390x_opcode(const uint8_t *code)
{
	switch (code[0]) {
	case 0x01:
	case 0xb2:
	case 0xb3:
	case 0xb9:
	case 0xe5:
		return (uint64_t)code[0] << 8 | code[1];
	case 0xa5:
	case 0xa7:
	case 0xc0:
	case 0xc2:
	case 0xc4:
	case 0xc6:
	case 0xc8:
	case 0xcc:
		return (uint64_t)code[0] << 8 | (code[1] & 15);
	case 0xe3:
	case 0xe7:
	case 0xeb:
	case 0xec:
	case 0xed:
		return (uint64_t)code[0] << 8 | code[5];
	default:
		return code[0];
	}
}

static uint8_t x86_64_reg(const char *name, size_t length)
{
	static const char names[8][4] = {
	    "RAX", "RDX", "RCX", "RBX", "RSI", "RDI", "RBP", "RSP"};

	if (length == 3)
		for (uint8_t i = 0; i < 8; i++)
			if (!memcmp(name, names[i], 3))
				return i;
	if (length == 2 && name[0] == 'R' && name[1] >= '8' && name[1] <= '9')
		return (uint8_t)(name[1] - '0');
	if (length == 3 && name[0] == 'R' && name[1] == '1' && name[2] >= '0' &&
	    name[2] <= '5')
		return (uint8_t)(10 + name[2] - '0');
	return CODE_NO_REG;
}

/* Skips the bytes before the operation code; `has` gets a bit for each kind of prefix. */
enum { HAS_REPEAT = 1, HAS_SEGMENT = 2, HAS_ADDRESS = 4 };
static const uint8_t *x86_64_prefixes(const uint8_t *code, unsigned int *has)
{
	for (*has = 0;; code++) {
		if (*code == 0xf2 || *code == 0xf3)
			*has |= HAS_REPEAT;
		else if (*code == 0x64 || *code == 0x65)
			*has |= HAS_SEGMENT;
		else if (*code == 0x67)
			*has |= HAS_ADDRESS;
		else if (*code != 0x66 && *code != 0x2e && *code != 0x36 &&
			 *code != 0x3e && *code != 0x26 && *code != 0xf0 &&
			 (*code & 0xf0) != 0x40)
			return code;
	}
}

/* movs, cmps, stos, lods, scas. */
static bool x86_64_repeats(const uint8_t *code)
{
	unsigned int has;

	code = x86_64_prefixes(code, &has);
	return has & HAS_REPEAT && *code >= 0xa4 && *code <= 0xaf && *code != 0xa8 &&
	       *code != 0xa9;
}

/*
 * System calls, stores to other segments or by addresses of 32 bits, repeated ones, and bts, btr
 * and btc, whose word depends on a register.
 */
static bool x86_64_changes_memory(const uint8_t *code)
{
	const bool repeats = x86_64_repeats(code);
	unsigned int has;

	code = x86_64_prefixes(code, &has);
	return repeats || has & (HAS_SEGMENT | HAS_ADDRESS) || code[0] == 0xcd ||
	       (code[0] == 0x0f && (code[1] == 0x05 || code[1] == 0xab ||
				       code[1] == 0xb3 || code[1] == 0xbb));
}

/* The operation code with its map; of those that a part of the next byte extends, that too. */
static uint64_t x86_64_opcode(const uint8_t *code)
{
	unsigned int has;
	uint64_t key;

	code = x86_64_prefixes(code, &has);
	key = (uint64_t)code[0] << 16;
	if (code[0] == 0xc4)
		return key | (uint64_t)(code[1] & 31) << 8 | code[3];
	if (code[0] == 0xc5)
		return key | code[2];
	if (code[0] == 0x0f)
		return key | (uint64_t)code[1] << 8 |
		       (code[1] == 0x38 || code[1] == 0x3a ? code[2] : 0);
	if ((code[0] >= 0x80 && code[0] <= 0x83) ||
	    (code[0] >= 0xd0 && code[0] <= 0xdf) || code[0] >= 0xf6 || code[0] == 0xc0 ||
	    code[0] == 0xc1)
		key |= code[1] >> 3 & 7;
	return key;
}

const struct effects_machine *effects_machine_named(const char *name)
{
	static const struct effects_machine machines[] = {
	    {.name = "aarch64",
		.machine = CODE_AARCH64,
		.address = 0xffffffffffff,
		.begin = " PC=",
		.end = "PSTATE=",
		.pc = "PC=",
		.reg = aarch64_reg,
		.changes_memory = aarch64_changes_memory,
		.opcode = aarch64_opcode},
	    {.name = "s390x",
		.machine = CODE_S390X,
		.big_endian = true,
		.address = UINT64_MAX,
		.begin = "PSW=",
		.end = "\n",
		.pc = "addr ",
		.reg = s390x_reg,
		.changes_memory = s390x_changes_memory,
		.opcode = s390x_opcode},
	    {.name = "x86_64",
		.machine = CODE_X86_64,
		.address = UINT64_MAX,
		.begin = "RAX=",
		.end = "RIP=",
		.pc = "RIP=",
		.reg = x86_64_reg,
		.changes_memory = x86_64_changes_memory,
		.repeats = x86_64_repeats,
		.opcode = x86_64_opcode},
	};

	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (!strcmp(machines[i].name, name))
			return &machines[i];
	return NULL;
}

static void read_line(
    const struct effects_machine *machine, const char *line, struct effects_state *state)
{
	const char *equals;

	while ((equals = strchr(line, '=')) != NULL) {
		const char *end = equals, *name;
		uint8_t reg;

		while (end > line && end[-1] == ' ')
			end--;
		name = end;
		while (name > line && name[-1] != ' ')
			name--;
		reg = machine->reg(name, (size_t)(end - name));
		if (reg != CODE_NO_REG) {
			state->regs[reg] = qemu_hexadecimal(equals + 1);
			state->have |= UINT64_C(1) << reg;
		}
		line = equals + 1;
	}
}

bool effects_log_next(
    FILE *log, const struct effects_machine *machine, struct effects_state *state)
{
	bool inside = false;
	char line[1024];
	const char *pc;

	while (fgets(line, sizeof(line), log)) {
		const bool begins =
		    !strncmp(line, machine->begin, strlen(machine->begin));

		if (begins) {
			*state = (struct effects_state){0};
			inside = true;
		}
		if (inside && (pc = strstr(line, machine->pc)) != NULL)
			state->pc = qemu_hexadecimal(pc + strlen(machine->pc));
		if (inside && !begins &&
		    !strncmp(line, machine->end, strlen(machine->end)))
			return true;
		if (inside)
			read_line(machine, line, state);
	}
	return false;
}
