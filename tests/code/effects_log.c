/* SPDX-License-Identifier: MIT */
/* States of a machine from qemu's log: words NAME=HEX in lines. */
#include "effects_log.h"

#include <string.h>

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
	};

	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (!strcmp(machines[i].name, name))
			return &machines[i];
	return NULL;
}

/* At most 16 digits. */
static uint64_t hexadecimal(const char *text)
{
	uint64_t value = 0;

	for (size_t i = 0; i < 16; i++) {
		const char c = text[i];

		if (c >= '0' && c <= '9')
			value = value << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (uint64_t)(c - 'a' + 10);
		else
			break;
	}
	return value;
}

static void read_line(
    const struct effects_machine *machine, const char *line, struct effects_state *state)
{
	const char *equals;

	while ((equals = strchr(line, '=')) != NULL) {
		const char *name = equals;
		uint8_t reg;

		while (name > line && name[-1] != ' ')
			name--;
		reg = machine->reg(name, (size_t)(equals - name));
		if (reg != CODE_NO_REG) {
			state->regs[reg] = hexadecimal(equals + 1);
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
		if (!strncmp(line, machine->begin, strlen(machine->begin))) {
			pc = strstr(line, machine->pc);
			*state = (struct effects_state){
			    .pc = hexadecimal(pc + strlen(machine->pc))};
			inside = true;
		} else if (inside && !strncmp(line, machine->end, strlen(machine->end))) {
			return true;
		}
		if (inside)
			read_line(machine, line, state);
	}
	return false;
}
