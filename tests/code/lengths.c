/* SPDX-License-Identifier: MIT */
/*
 * lengths COUNT: the text of "objdump -dw -M intel64" on the standard input; code_insn_read finds an instruction of the
 * same length at each address. Where objdump or code_insn_read has none, or objdump writes a prefix alone, nothing is
 * compared, and it is counted. Ends at the COUNTth. Prints counts; status 1 after a difference, or when there are fewer.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/insn.h"

enum { LENGTHS_BYTES = 1 << 20, LENGTHS_AHEAD = 32, LENGTHS_NAME = 32 };

/* The instructions of objdump whose bytes are here. */
static struct {
	uint32_t at;
	char name[LENGTHS_NAME]; /* its mnemonic */
} insns[LENGTHS_BYTES];
static uint8_t bytes[LENGTHS_BYTES + LENGTHS_AHEAD];
static uint32_t n_insns, n_bytes;
static uint64_t n_compared, n_passed, n_unread, n_wrong;

/* objdump tells no instruction, or prefixes without one. */
static bool is_passed(const char *name, const uint8_t *code, uint32_t length)
{
	uint32_t n = 0;

	if (*name == '(' || *name == '.' || !*name)
		return true;
	/* It adds a wait to the instruction behind it. */
	if (code[0] == 0x9b && length > 1)
		return true;
	while (n < length &&
	       (memchr("\x66\x67\xf2\xf3\xf0\x2e\x36\x3e\x26\x64\x65", code[n], 11) ||
		   code[n] >> 4 == 4))
		n++;
	return n == length;
}

static void compare(uint32_t i, uint32_t end)
{
	const uint8_t *code = bytes + insns[i].at;
	const uint32_t length = end - insns[i].at;
	struct code_insn insn;

	if (is_passed(insns[i].name, code, length)) {
		n_passed++;
		return;
	}
	if (!code_insn_read(CODE_X86_64, code, n_bytes - insns[i].at, 0, &insn)) {
		n_unread++;
		return;
	}
	n_compared++;
	if (insn.length == length || n_wrong++ >= 50)
		return;
	printf("wrong:");
	for (uint32_t k = 0; k < length; k++)
		printf(" %02x", code[k]);
	printf(" %s: %u bytes, not %u\n", insns[i].name, (unsigned int)length,
	    (unsigned int)insn.length);
}

/* Compares all but those whose next bytes are not there yet. */
static void compare_all(bool last)
{
	uint32_t i = 0, at;

	for (; i < n_insns; i++) {
		const uint32_t end = i + 1 < n_insns ? insns[i + 1].at : n_bytes;

		if (!last && n_bytes - insns[i].at < LENGTHS_AHEAD)
			break;
		compare(i, end);
	}
	at = i < n_insns ? insns[i].at : n_bytes;
	memmove(bytes, bytes + at, n_bytes - at);
	memmove(insns, insns + i, (n_insns - i) * sizeof(insns[0]));
	n_bytes -= at;
	n_insns -= i;
	for (i = 0; i < n_insns; i++)
		insns[i].at -= at;
}

/* "  401000:\tf3 0f 1e fa          \tendbr64", or another line. */
static void take(const char *line)
{
	const char *code = strstr(line, ":\t"), *name;
	char *end;

	if (*line != ' ' || !code || !(name = strchr(code += 2, '\t')))
		return;
	if (n_bytes + LENGTHS_AHEAD > LENGTHS_BYTES)
		compare_all(false);
	insns[n_insns].at = n_bytes;
	snprintf(insns[n_insns].name, LENGTHS_NAME, "%s", name + 1);
	insns[n_insns].name[strcspn(insns[n_insns].name, " \n")] = '\0';
	n_insns++;
	for (; code < name && isxdigit((unsigned char)*code); code = end + 1)
		bytes[n_bytes++] = (uint8_t)strtoul(code, &end, 16);
}

int main(int argc, char **argv)
{
	const uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	char line[512];

	while (n_compared < count && fgets(line, sizeof(line), stdin))
		take(line);
	compare_all(true);
	printf("%" PRIu64 " lengths compared, %" PRIu64
	       " prefixes or no instructions, %" PRIu64 " not read; %" PRIu64 " wrong\n",
	    n_compared, n_passed, n_unread, n_wrong);
	return n_compared < count || n_wrong;
}
