/* SPDX-License-Identifier: MIT */
/* AArch64 and s390x: which instructions call and return, and how qemu writes registers. */
#include <string.h>

#include "tests/oracle/step_guest.h"
#include "tests/shared/qemu_log.h"

/* The number in a name of a letter and two digits; -1 for other names. */
static int number_of(const char *name, char letter)
{
	if (name[0] != letter || name[1] < '0' || name[1] > '9' || name[2] < '0' ||
	    name[2] > '9')
		return -1;
	return (name[1] - '0') * 10 + name[2] - '0';
}

static int aarch64_reg(const char *name)
{
	int n = number_of(name, 'X');

	return !memcmp(name, " SP", 3) ? 31 : n < 31 ? n : -1;
}

/* Registers of floating point are the first half of those for vectors. */
static int s390x_reg(const char *name)
{
	static const int8_t dwarf[16] = {
	    16, 20, 17, 21, 18, 22, 19, 23, 24, 28, 25, 29, 26, 30, 27, 31};
	int n = number_of(name, 'R');

	if (n >= 0)
		return n < 16 ? n : -1;
	n = number_of(name, 'F');
	if (n < 0)
		n = number_of(name, 'V');
	return n >= 0 && n < 16 ? dwarf[n] : -1;
}

static void read_all(
    const char *text, int (*reg)(const char *name), uint64_t values[STEP_N_REGS])
{
	for (const char *p = text + 3; (p = strchr(p, '=')) != NULL; p++) {
		int n = reg(p - 3);

		if (n >= 0)
			values[n] = qemu_hexadecimal(p + 1);
	}
}

static void aarch64_read(const char *text, uint64_t values[STEP_N_REGS])
{
	read_all(text, aarch64_reg, values);
}

static void s390x_read(const char *text, uint64_t values[STEP_N_REGS])
{
	read_all(text, s390x_reg, values);
}

/* bl, blr; br, ret and what signs with them; svc. */
static enum step_insn aarch64_insn(const uint8_t *code)
{
	uint32_t insn = (uint32_t)code[3] << 24 | (uint32_t)code[2] << 16 |
			(uint32_t)code[1] << 8 | code[0];

	if ((insn & 0xfc000000) == 0x94000000 || (insn & 0xfefff000) == 0xd63f0000)
		return STEP_INSN_CALL;
	if ((insn & 0xfe9ff000) == 0xd61f0000)
		return STEP_INSN_RET;
	return (insn & 0xffe0001f) == 0xd4000001 ? STEP_INSN_SYSCALL : STEP_INSN_OTHER;
}

/* brasl, bras, basr, bal and basl with r14; br; svc, also by EXECUTE, which the C library does not use. */
static enum step_insn s390x_insn(const uint8_t *code)
{
	bool links = code[1] >> 4 == 14;

	switch (code[0]) {
	case 0xc0:
		return links && (code[1] & 15) == 5 ? STEP_INSN_CALL : STEP_INSN_OTHER;
	case 0xa7:
		return links && (code[1] & 15) == 5 ? STEP_INSN_CALL : STEP_INSN_OTHER;
	case 0x0d:
		return links && (code[1] & 15) != 0 ? STEP_INSN_CALL : STEP_INSN_OTHER;
	case 0x4d:
		return links ? STEP_INSN_CALL : STEP_INSN_OTHER;
	case 0x07:
		return code[1] >> 4 != 0 && (code[1] & 15) != 0 ? STEP_INSN_RET
								: STEP_INSN_OTHER;
	case 0x0a:
		return STEP_INSN_SYSCALL;
	default:
		return STEP_INSN_OTHER;
	}
}

const struct step_guest *step_guest_named(const char *name)
{
	static const struct step_guest guests[] = {
	    {{.name = "aarch64",
		 .insn_read = aarch64_insn,
		 .fp = 29,
		 .ra = 30,
		 .is_guest = true},
		31, aarch64_read},
	    {{.name = "s390x",
		 .insn_read = s390x_insn,
		 .fp = 11,
		 .ra = 14,
		 .cfa_off = 160,
		 .big_endian = true,
		 .is_guest = true},
		15, s390x_read},
	};

	for (size_t i = 0; i < sizeof(guests) / sizeof(guests[0]); i++)
		if (!strcmp(guests[i].machine.name, name))
			return &guests[i];
	return NULL;
}
