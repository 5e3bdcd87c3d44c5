/* SPDX-License-Identifier: MIT */
/*
 * The bytes of an .sframe section in the walker: opened, looked up at the edges of functions
 * and rows and anywhere, with an index, with a damaged index, and in walks over stacks of random
 * words. All ways to look up must agree whatever the bytes are, and a step must go up.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "walk/quick.h"

const char *const fuzz_section = ".sframe";

#define ADDRESS UINT64_C(0x100000)
#define STACK UINT64_C(0x7fff0000)

enum { LOOK_UPS = 64, WALKS = 16, STEPS = 64, WORDS = 512, ENTRIES = 64 };

struct input {
	uint64_t state;
	struct eh2sframe_walk_section section;
	uint64_t *stack; /* WORDS of them */
	uint64_t low;	 /* address of stack[0] */
};

static uint64_t next(struct input *input)
{
	input->state ^= input->state >> 12;
	input->state ^= input->state << 25;
	input->state ^= input->state >> 27;
	return input->state * UINT64_C(0x2545f4914f6cdd1d);
}

/* An address in or near a function, or any. */
static uint64_t random_pc(struct input *input)
{
	const struct walk_section *section = walk_opened(&input->section);
	uint32_t bytes = walk_fde_bytes(section->version);
	uint64_t at = next(input) >> 8;

	if (section->n_fdes == 0 || at % 16 == 0)
		return at;
	return section->address + (uint64_t)(section->fdes - section->bytes) +
	       (uint64_t)walk_start(section, WALK_OTHER, at % section->n_fdes * bytes) +
	       (at >> 32) % 256 - 2;
}

static bool same_place(
    const struct eh2sframe_location *a, const struct eh2sframe_location *b)
{
	return a->place == b->place && a->reg == b->reg && a->offset == b->offset;
}

static bool same_rule(const struct eh2sframe_rule *a, const struct eh2sframe_rule *b)
{
	return a->flags == b->flags && a->cfa_add == b->cfa_add &&
	       same_place(&a->cfa, &b->cfa) && same_place(&a->ra, &b->ra) &&
	       same_place(&a->fp, &b->fp);
}

static void look_up(
    struct input *input, uint64_t pc, const struct eh2sframe_walk_section *indexed)
{
	struct eh2sframe_rule plain, other;
	enum eh2sframe_walk_machine machine = walk_machine(walk_opened(indexed));
	enum eh2sframe_walk_why why, why_other;
	uint64_t quick, word = 0;

	why = eh2sframe_walk_look_up(&input->section, pc, &plain);
	why_other = eh2sframe_walk_look_up(indexed, pc, &other);
	FUZZ_ASSERT(why == EH2SFRAME_WALK_WHY_GOES_ON ||
			why == EH2SFRAME_WALK_WHY_NO_ROW ||
			why == EH2SFRAME_WALK_WHY_DAMAGED,
	    "%d", why);
	FUZZ_ASSERT(why == why_other &&
			(why != EH2SFRAME_WALK_WHY_GOES_ON || same_rule(&plain, &other)),
	    "the index changes the answer");
	for (int i = 0; i < 2; i++) {
		quick =
		    walk_quick(walk_opened(i ? indexed : &input->section), machine, pc);
		if (quick == 0)
			continue;
		FUZZ_ASSERT(
		    why == EH2SFRAME_WALK_WHY_GOES_ON, "a rule on the quick way alone");
		FUZZ_ASSERT(walk_pack(machine, &plain, &word) && word == quick,
		    "another rule on the quick way");
	}
}

static bool read_stack(void *context, uint64_t address, uint64_t *value)
{
	struct input *input = context;

	if (address - input->low > (WORDS - 1) * sizeof(uint64_t))
		return false;
	memcpy(value, (const uint8_t *)input->stack + (address - input->low),
	    sizeof(*value));
	return true;
}

static enum eh2sframe_walk_why find(
    void *context, uint64_t pc, const struct eh2sframe_walk_section **section)
{
	struct input *input = context;

	*section = &input->section;
	return pc % 61 ? EH2SFRAME_WALK_WHY_GOES_ON : EH2SFRAME_WALK_WHY_NO_MODULE;
}

/* A stack of addresses of code, addresses of the stack and anything. */
static void fill(struct input *input)
{
	for (size_t i = 0; i < WORDS; i++) {
		uint64_t random = next(input);

		if (random % 4 < 2)
			input->stack[i] = random_pc(input);
		else if (random % 4 == 2)
			input->stack[i] =
			    input->low + (random >> 8) % (WORDS * 8) / 8 * 8;
		else
			input->stack[i] = random;
	}
}

static void walk(struct input *input, struct eh2sframe_walk_cache *cache)
{
	uint64_t registers[EH2SFRAME_WALK_N_REGISTERS], random = next(input);
	struct eh2sframe_walk_space space = {
	    .machine = random % 32 ? walk_machine(walk_opened(&input->section))
				   : EH2SFRAME_WALK_S390X,
	    .guess = random >> 8 & 1,
	    .signature_mask = random >> 9 & 1 ? UINT64_C(0x007f000000000000) : 0,
	    .read = read_stack,
	    .find = find,
	    .context = input,
	    .cache = random >> 10 & 1 ? cache : NULL};
	struct eh2sframe_walk_frame frame = {.pc = random_pc(input),
	    .sp = input->low + next(input) % (WORDS * 4) / 8 * 8,
	    .fp = input->low + next(input) % (WORDS * 8),
	    .ra = random_pc(input),
	    .registers = random >> 11 & 1 ? registers : NULL,
	    .flags = next(input) & 31};

	for (size_t i = 0; i < EH2SFRAME_WALK_N_REGISTERS; i++)
		registers[i] = next(input);
	for (int i = 0; i < STEPS; i++) {
		struct eh2sframe_walk_frame before = frame;
		enum eh2sframe_walk_why why = eh2sframe_walk_step(&space, &frame);

		if (why != EH2SFRAME_WALK_WHY_GOES_ON) {
			FUZZ_ASSERT(why > 0 && why <= EH2SFRAME_WALK_WHY_ZERO &&
					why != EH2SFRAME_WALK_WHY_LIMIT,
			    "%d", why);
			FUZZ_ASSERT(frame.pc == before.pc && frame.sp == before.sp &&
					frame.fp == before.fp &&
					frame.flags == before.flags,
			    "a step that failed changed the frame");
			break;
		}
		FUZZ_ASSERT(frame.sp > before.sp ||
				(frame.flags & EH2SFRAME_WALK_FRAME_SIGNAL) ||
				(frame.sp == before.sp &&
				    before.flags & EH2SFRAME_WALK_FRAME_EXACT),
		    "the caller is not above");
		FUZZ_ASSERT(frame.pc != 0 && !frame.registers, "a frame that cannot be");
	}
}

/* Look-ups with the index as it is, and then with any words in its place. */
static void with_index(struct input *input)
{
	struct eh2sframe_walk_section indexed = input->section;
	size_t size = eh2sframe_walk_index_size(&indexed);
	uint32_t *index = size ? malloc(size) : NULL;

	if (index)
		eh2sframe_walk_index_make(&indexed, index);
	for (int i = 0; i < LOOK_UPS; i++)
		look_up(input, random_pc(input), &indexed);
	for (size_t i = 4; index && i < size / sizeof(*index); i++)
		if (next(input) % 4 == 0)
			index[i] = (uint32_t)(next(input) >> 16) >> next(input) % 32;
	if (index) {
		FUZZ_ASSERT(eh2sframe_walk_index_use(&indexed, index, size),
		    "its shape is the same");
		FUZZ_ASSERT(!eh2sframe_walk_index_use(&indexed, index, size - 1),
		    "it is too small");
	}
	for (int i = 0; index && i < LOOK_UPS; i++) {
		struct eh2sframe_rule rule;
		uint64_t pc = random_pc(input);

		(void)eh2sframe_walk_look_up(&indexed, pc, &rule);
		(void)walk_quick(
		    walk_opened(&indexed), walk_machine(walk_opened(&indexed)), pc);
	}
	free(index);
}

/* Functions that do not ascend, in a section that says they do. */
static void without_order(struct input *input)
{
	const struct walk_section *section = walk_opened(&input->section);
	struct eh2sframe_rule rule;

	for (int i = 0; i < LOOK_UPS; i++) {
		const uint64_t pc = random_pc(input);

		(void)eh2sframe_walk_look_up(&input->section, pc, &rule);
		(void)walk_quick(section, walk_machine(section), pc);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint64_t entries[ENTRIES][2];
	struct eh2sframe_walk_cache cache = {.entries = entries, .n_entries = ENTRIES};
	struct input input = {.state = size + 1, .low = STACK};

	for (size_t i = 0; i < size; i++)
		input.state = (input.state ^ data[i]) * UINT64_C(0x100000001b3);
	input.state |= 1;
	if (!eh2sframe_walk_open(&input.section, data, size, ADDRESS, 0, UINT64_MAX)) {
		if (walk_open(&input.section, data, size, ADDRESS, 0, UINT64_MAX, true))
			without_order(&input);
		return 0;
	}
	input.stack = malloc(WORDS * sizeof(*input.stack));
	FUZZ_ASSERT(input.stack, "out of memory");
	with_index(&input);
	for (int i = 0; i < WALKS; i++) {
		/* Each with other code in view of the cache. */
		cache.generation = next(&input);
		fill(&input);
		walk(&input, &cache);
	}
	free(input.stack);
	return 0;
}
