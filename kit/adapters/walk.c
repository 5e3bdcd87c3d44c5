/* SPDX-License-Identifier: MIT */
/* Answers for libeh2sframe-walk: cc -O2 walk.c -leh2sframe-walk. The kit's README.md has the protocol. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <eh2sframe-walk.h>

enum { LINE = 1 << 20, ABI = 4, S390X_SP = 160 };
static const uint64_t TOP = 1 << 24, STEP = 1 << 20; /* values of registers */

static void print_place(const struct eh2sframe_location *at, const char *after)
{
	if (at->place == EH2SFRAME_PLACE_SAME)
		printf("u%s", after);
	else if (at->place == EH2SFRAME_PLACE_AT_CFA)
		printf("c%+" PRId32 "%s", at->offset, after);
	else
		printf("%c%u%+" PRId32 "%s",
		    at->place == EH2SFRAME_PLACE_REGISTER ? 'r' : 'm', at->reg,
		    at->offset, after);
}

static void print_rule(enum eh2sframe_walk_why why, const struct eh2sframe_rule *rule)
{
	const char *signal = rule->flags & EH2SFRAME_FLAG_SIGNAL_FRAME ? " signal" : "";

	if (why == EH2SFRAME_WALK_WHY_NO_ROW) {
		puts("none");
	} else if (why != EH2SFRAME_WALK_WHY_GOES_ON) {
		puts("refuse");
	} else if (rule->flags & EH2SFRAME_FLAG_OUTERMOST) {
		printf("outermost%s\n", signal);
	} else {
		print_place(&rule->cfa, " ");
		print_place(&rule->ra, " ");
		print_place(&rule->fp, "");
		if (rule->flags & EH2SFRAME_FLAG_SIGNED)
			printf(
			    " signed%s", rule->flags & EH2SFRAME_FLAG_KEY_B ? "-b" : "");
		printf("%s\n", signal);
	}
}

static bool read_memory(void *context, uint64_t address, uint64_t *value)
{
	(void)context;
	*value = address;
	return true;
}

static enum eh2sframe_walk_why find_section(
    void *context, uint64_t pc, const struct eh2sframe_walk_section **section)
{
	(void)pc;
	*section = context;
	return EH2SFRAME_WALK_WHY_GOES_ON;
}

/* A return address: the step to the caller has to take the row of the call in front of it. */
static bool step_takes(struct eh2sframe_walk_section *section, unsigned int abi,
    uint64_t pc, const struct eh2sframe_rule *rule)
{
	struct eh2sframe_walk_space space = {.machine = abi == 3 ? EH2SFRAME_WALK_X86_64
							: abi == 4
							    ? EH2SFRAME_WALK_S390X
							    : EH2SFRAME_WALK_AARCH64,
	    .read = read_memory,
	    .find = find_section,
	    .context = section};
	struct eh2sframe_walk_frame frame = {.pc = pc, .sp = TOP, .fp = TOP + STEP};
	bool fp = rule->cfa.reg == (abi == 3 ? 6 : abi == 4 ? 11 : 29);
	uint64_t cfa = TOP + (fp ? STEP : 0) + (uint64_t)rule->cfa.offset;

	return eh2sframe_walk_step(&space, &frame) == EH2SFRAME_WALK_WHY_GOES_ON &&
	       frame.sp == cfa - (abi == 4 ? S390X_SP : 0);
}

/* The bytes of hexadecimal digits, in memory that is as long as they are; NULL: none. */
static uint8_t *bytes_of(const char *hex, size_t *size)
{
	uint8_t *bytes = malloc(strlen(hex) / 2);
	unsigned int byte;

	for (*size = 0; bytes && sscanf(hex + 2 * *size, "%2x", &byte) == 1; ++*size)
		bytes[*size] = (uint8_t)byte;
	return bytes;
}

int main(void)
{
	static char line[LINE], word[LINE];
	struct eh2sframe_walk_section section;
	struct eh2sframe_rule rule;
	uint8_t *bytes = NULL;
	uint64_t at;
	size_t size;

	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "section %" SCNx64 " %s", &at, word) == 2) {
			bytes = bytes_of(word, &size);
			if (!eh2sframe_walk_open(
				&section, bytes, size, at, 0, UINT64_MAX)) {
				puts("refuse");
				break;
			}
		} else if (bytes && sscanf(line, "pc %" SCNx64, &at) == 1) {
			print_rule(eh2sframe_walk_look_up(&section, at, &rule), &rule);
		} else if (bytes && sscanf(line, "return %" SCNx64, &at) == 1) {
			enum eh2sframe_walk_why why =
			    eh2sframe_walk_look_up(&section, at - 1, &rule);

			if (why != EH2SFRAME_WALK_WHY_GOES_ON ||
			    step_takes(&section, bytes[ABI], at, &rule))
				print_rule(why, &rule);
			else
				puts("the step takes another row");
		}
	}
	free(bytes);
	return EXIT_SUCCESS;
}
