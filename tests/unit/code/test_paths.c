/* SPDX-License-Identifier: MIT */
/* Ways through small functions of A64 code, and through random bytes. */
#include "tests/unit/unit.h"

#include <string.h>

#include "code/paths.h"

#define BASE UINT64_C(0x10000)
enum { SP = 31, FP = 29, LR = 30 };

/* Words of A64. */
#define STP_FRAME 0xa9be7bfd  /* stp x29, x30, [sp, #-32]! */
#define MOV_FRAME 0x910003fd  /* mov x29, sp */
#define LDP_FRAME 0xa8c27bfd  /* ldp x29, x30, [sp], #32 */
#define SUB_SP_16 0xd10043ff  /* sub sp, sp, #16 */
#define ADD_SP_16 0x910043ff  /* add sp, sp, #16 */
#define MOV_X29_X0 0xaa0003fd /* mov x29, x0 */
#define PACIASP 0xd503233f    /* paciasp */
#define NOP 0xd503201f	      /* nop */
#define RET 0xd65f03c0	      /* ret */
#define BR_X0 0xd61f0000      /* br x0 */
#define UDF 0x00000000	      /* udf #0 */
#define CBZ(words) (0xb4000000 | ((uint32_t)(words)&0x7ffff) << 5) /* cbz x0, words */
#define B(words) (0x14000000 | ((uint32_t)(words)&0x3ffffff))
#define BL(words) (0x94000000 | ((uint32_t)(words)&0x3ffffff))

/* The states that a run reports, by word. */
struct seen {
	struct code_state states[64];
	bool reached[64], seeded[64];
	uint64_t left; /* the last address outside that control goes to */
	bool returns;  /* what the host says of calls */
	bool seeds;
	uint8_t *memory; /* at address 0x20000 */
	size_t size;
};

static bool host_read(void *context, uint64_t addr, uint8_t width, uint64_t *value)
{
	struct seen *seen = context;

	if (addr < 0x20000 || addr - 0x20000 + width > seen->size)
		return false;
	*value = 0;
	memcpy(value, seen->memory + (addr - 0x20000), width);
	return true;
}

static bool host_returns(void *context, uint64_t pc, const struct code_insn *call,
    uint64_t next, const struct code_state *after)
{
	struct seen *seen = context;

	(void)pc, (void)call, (void)next, (void)after;
	return seen->returns;
}

static bool host_seed(void *context, uint64_t pc, struct code_state *state)
{
	struct seen *seen = context;

	(void)pc;
	code_state_unknown(state);
	state->regs[SP] = (struct code_value){.kind = CODE_CFA, .off = -48};
	return seen->seeds;
}

static void host_leaves(
    void *context, uint64_t pc, uint64_t target, const struct code_state *state)
{
	struct seen *seen = context;

	(void)pc;
	(void)state;
	seen->left = target;
}

static bool visit(void *context, const struct code_place *place)
{
	struct seen *seen = context;
	size_t i = (size_t)(place->pc - BASE) / 4;

	ck_assert_uint_lt(i, 64);
	seen->states[i] = *place->state;
	seen->reached[i] = true;
	seen->seeded[i] = place->seeded;
	return true;
}

static void run(const uint32_t *words, size_t n, struct seen *seen)
{
	const struct code_range range = {
	    BASE, BASE + 4 * n, (const uint8_t *)words, 4 * n};
	const uint64_t entry = BASE;
	const struct code_paths_input input = {.machine = CODE_AARCH64,
	    .ranges = &range,
	    .n_ranges = 1,
	    .entries = &entry,
	    .n_entries = 1,
	    .host = {.context = seen,
		.read = host_read,
		.returns = host_returns,
		.seed = host_seed,
		.leaves = host_leaves}};
	struct code_paths *paths = code_paths_new();
	struct err err = {0};

	ck_assert_ptr_nonnull(paths);
	ck_assert_msg(code_paths_run(paths, &input, &err), "%s", err.text);
	ck_assert(code_paths_visit(paths, visit, seen));
	code_paths_free(paths);
}

#define RUN(seen, ...)                                                                   \
	run((const uint32_t[]){__VA_ARGS__},                                             \
	    sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), seen)

/* SP is the CFA plus off at word i. */
static void sp_is(const struct seen *seen, size_t i, int64_t off)
{
	ck_assert_msg(seen->reached[i], "word %zu", i);
	ck_assert_msg(seen->states[i].regs[SP].kind == CODE_CFA, "word %zu", i);
	ck_assert_int_eq(seen->states[i].regs[SP].off, off);
}

static struct code_value at_cfa(const struct seen *seen, size_t i, int64_t off)
{
	return code_state_memory(
	    &seen->states[i], (struct code_value){.kind = CODE_CFA, .off = off});
}

UNIT(frames)
{
	static struct seen seen;

	RUN(&seen, STP_FRAME, MOV_FRAME, NOP, LDP_FRAME, RET);
	sp_is(&seen, 0, 0);
	ck_assert_int_eq(seen.states[0].regs[LR].kind, CODE_RA);
	sp_is(&seen, 1, -32);
	ck_assert_int_eq(at_cfa(&seen, 1, -24).kind, CODE_RA);
	ck_assert_int_eq(at_cfa(&seen, 1, -32).kind, CODE_CALLERS);
	ck_assert_uint_eq(at_cfa(&seen, 1, -32).symbol, FP);
	ck_assert_int_eq(seen.states[2].regs[FP].kind, CODE_CFA);
	sp_is(&seen, 4, 0);
	ck_assert_int_eq(seen.states[4].regs[FP].kind, CODE_CALLERS);
	ck_assert_int_eq(seen.states[4].regs[LR].kind, CODE_RA);
}

UNIT(signing)
{
	static struct seen seen;

	RUN(&seen, PACIASP, STP_FRAME, RET);
	ck_assert_int_eq(seen.states[1].regs[LR].kind, CODE_RA_SIGNED);
	ck_assert_int_eq(at_cfa(&seen, 2, -24).kind, CODE_RA_SIGNED);
}

/* Two ways that agree on nothing but the frame pointer. */
UNIT(meeting)
{
	static struct seen seen;

	RUN(&seen, CBZ(2), SUB_SP_16, NOP, RET);
	sp_is(&seen, 1, 0);
	ck_assert_int_eq(seen.states[2].regs[SP].kind, CODE_UNKNOWN);
	ck_assert_int_eq(seen.states[2].regs[FP].kind, CODE_CALLERS);
	ck_assert_int_eq(seen.states[3].regs[SP].kind, CODE_UNKNOWN);
}

/* A value that only one way saved is not known to be saved, nor not to be. */
UNIT(meeting_memory)
{
	static struct seen seen;

	RUN(&seen, SUB_SP_16, CBZ(2), 0xf90003fd /* str x29, [sp] */, NOP, RET);
	ck_assert_int_eq(at_cfa(&seen, 3, -16).kind, CODE_UNKNOWN);
	ck_assert_int_eq(at_cfa(&seen, 3, -8).kind, CODE_OTHER);
}

/* A loop that moves SP every time. */
UNIT(looping)
{
	static struct seen seen;

	RUN(&seen, SUB_SP_16, CBZ(-1), RET);
	ck_assert_int_eq(seen.states[0].regs[SP].kind, CODE_UNKNOWN);
	ck_assert_int_eq(seen.states[2].regs[SP].kind, CODE_UNKNOWN);
}

/* A jump into the middle of what was walked already. */
UNIT(splitting)
{
	static struct seen seen;

	RUN(&seen, MOV_X29_X0, SUB_SP_16, ADD_SP_16, NOP, CBZ(-2), RET);
	sp_is(&seen, 1, 0);
	ck_assert_int_eq(seen.states[2].regs[SP].kind, CODE_UNKNOWN);
	ck_assert_int_eq(seen.states[3].regs[SP].kind, CODE_UNKNOWN);
	ck_assert_int_eq(seen.states[1].regs[FP].kind, CODE_OTHER);
}

UNIT(calls)
{
	static struct seen seen;

	seen.returns = true;
	RUN(&seen, STP_FRAME, BL(100), NOP, RET);
	ck_assert_int_eq(seen.states[2].regs[LR].kind, CODE_OTHER);
	ck_assert_int_eq(at_cfa(&seen, 2, -24).kind, CODE_RA);
	ck_assert_int_eq(seen.states[2].regs[FP].kind, CODE_CALLERS);
	memset(&seen, 0, sizeof(seen));
	RUN(&seen, STP_FRAME, BL(100), NOP, RET);
	ck_assert(!seen.reached[2]);
}

/* Code that raises exceptions writes the return address of its own frame. */
UNIT(overwriting)
{
	static struct seen seen;

	RUN(&seen, STP_FRAME, 0xf90007e0 /* str x0, [sp, #8] */,
	    0xf90003e0 /* str x0, [sp] */, RET);
	ck_assert_int_eq(at_cfa(&seen, 1, -24).kind, CODE_RA);
	ck_assert_int_eq(at_cfa(&seen, 2, -24).kind, CODE_UNKNOWN);
	/* Any other saved register is lost. */
	ck_assert_int_eq(at_cfa(&seen, 3, -32).kind, CODE_OTHER);
}

UNIT(seeds)
{
	static struct seen seen;

	seen.seeds = true;
	RUN(&seen, RET, NOP, SUB_SP_16, RET);
	ck_assert(!seen.reached[1]);
	sp_is(&seen, 2, -48);
	sp_is(&seen, 3, -64);
	ck_assert(seen.seeded[2] && seen.seeded[3] && !seen.seeded[0]);
	/* The code knows better than a seed that jumps into it. */
	memset(&seen, 0, sizeof(seen));
	seen.seeds = true;
	RUN(&seen, NOP, RET, SUB_SP_16, B(-2));
	sp_is(&seen, 1, 0);
	ck_assert(!seen.seeded[1]);
}

UNIT(leaving)
{
	static struct seen seen;

	RUN(&seen, B(100), RET);
	ck_assert_uint_eq(seen.left, BASE + 400);
	ck_assert(!seen.reached[1]);
	memset(&seen, 0, sizeof(seen));
	RUN(&seen, NOP);
	ck_assert_uint_eq(seen.left, BASE + 4);
	memset(&seen, 0, sizeof(seen));
	RUN(&seen, UDF, RET);
	ck_assert(!seen.reached[1]);
}

/* cmp w0, #1; b.hi; adrp x1; ldrb w1, [x1, w0, uxtw]; adr x2; add x1, x2, w1, sxtb #2; br x1 */
UNIT(tables)
{
	static struct seen seen;
	uint8_t table[] = {0, 2};

	seen.memory = table;
	seen.size = sizeof(table);
	RUN(&seen, 0x7100041f, 0x54000168, 0x90000081, 0x38604821, 0x10000062, 0x8b218841,
	    0xd61f0020, SUB_SP_16, RET, SUB_SP_16, RET, RET, RET);
	sp_is(&seen, 7, 0);
	sp_is(&seen, 8, -16);
	sp_is(&seen, 9, 0);
	sp_is(&seen, 12, 0);
	ck_assert(!seen.reached[11]);
	/* Without a second entry in memory no entry is believed. */
	memset(&seen, 0, sizeof(seen));
	seen.memory = table;
	seen.size = 1;
	RUN(&seen, 0x7100041f, 0x54000168, 0x90000081, 0x38604821, 0x10000062, 0x8b218841,
	    0xd61f0020, SUB_SP_16, RET, SUB_SP_16, RET, RET, RET);
	ck_assert(!seen.reached[7] && !seen.reached[9]);
}

UNIT(landing)
{
	static struct seen seen;
	static const uint32_t words[] = {
	    STP_FRAME, BL(100), LDP_FRAME, RET, NOP, LDP_FRAME, RET};
	const struct code_range range = {
	    BASE, BASE + sizeof(words), (const uint8_t *)words, sizeof(words)};
	const struct code_landing landings[] = {{BASE + 4, BASE + 8, BASE + 16}};
	const uint64_t entry = BASE;
	const struct code_paths_input input = {.machine = CODE_AARCH64,
	    .ranges = &range,
	    .n_ranges = 1,
	    .entries = &entry,
	    .n_entries = 1,
	    .landings = landings,
	    .n_landings = 1,
	    .host = {.context = &seen, .read = host_read, .returns = host_returns}};
	struct code_paths *paths = code_paths_new();
	struct err err = {0};

	ck_assert(paths && code_paths_run(paths, &input, &err));
	ck_assert(code_paths_visit(paths, visit, &seen));
	code_paths_free(paths);
	ck_assert(!seen.reached[2]);
	sp_is(&seen, 4, -32);
	sp_is(&seen, 6, 0);
	ck_assert_int_eq(seen.states[6].regs[LR].kind, CODE_RA);
}

/* ---- random bytes ---- */

static bool random_returns(void *context, uint64_t pc, const struct code_insn *call,
    uint64_t next, const struct code_state *after)
{
	(void)context, (void)call, (void)after;
	return (pc ^ next) & 4;
}

static bool random_read(void *context, uint64_t addr, uint8_t width, uint64_t *value)
{
	(void)context, (void)width;
	*value = addr * 7 & 0xff;
	return true;
}

static bool random_seed(void *context, uint64_t pc, struct code_state *state)
{
	(void)context;
	code_state_unknown(state);
	return pc & 8;
}

static bool random_visit(void *context, const struct code_place *place)
{
	const struct code_range *range = context;

	ck_assert(place->pc >= range->start && place->pc < range->end);
	ck_assert_uint_le(place->state->n_slots, CODE_MAX_SLOTS);
	for (size_t i = 0; i < place->state->n_slots; i++)
		ck_assert(place->state->slots[i].where.kind == CODE_CFA ||
			  place->state->slots[i].where.kind == CODE_MADE);
	return true;
}

/* Bytes that are often instructions: parts of real ones, with random bits. */
static void random_fill(uint8_t *bytes, size_t size)
{
	static const uint32_t words[] = {STP_FRAME, LDP_FRAME, SUB_SP_16, ADD_SP_16,
	    CBZ(3), CBZ(-3), B(-5), BL(2), NOP, RET, BR_X0, 0x38604821, 0x8b218841,
	    0x7100041f, 0x54000168, 0x10000062, 0x5548e589, 0xff41e4c3, 0x20ec8348,
	    0xeb0ff05d};

	for (size_t i = 0; i + 4 <= size; i += 4) {
		uint32_t word =
		    words[(size_t)rand() % (sizeof(words) / sizeof(words[0]))];

		if (rand() % 4 == 0)
			word ^= UINT32_C(1) << rand() % 32;
		memcpy(bytes + i, &word, 4);
	}
}

UNIT(random_code)
{
	struct code_paths *paths = code_paths_new();
	uint8_t bytes[512];

	ck_assert_ptr_nonnull(paths);
	srand(17);
	for (int i = 0; i < 20000; i++) {
		const enum code_machine machine = (enum code_machine)(i % 3);
		const size_t size = 4 + (size_t)rand() % (sizeof(bytes) - 3);
		struct code_range range = {BASE, BASE + size, bytes, size};
		const uint64_t entries[] = {BASE, BASE + size / 8 * 4};
		const struct code_landing pad = {BASE, BASE + size, BASE + size / 2};
		const struct code_paths_input input = {.machine = machine,
		    .ranges = &range,
		    .n_ranges = 1,
		    .entries = entries,
		    .n_entries = 2,
		    .landings = &pad,
		    .n_landings = 1,
		    .host = {.read = random_read,
			.returns = random_returns,
			.seed = random_seed}};
		struct err err = {0};

		if (!code_can_decode(machine))
			continue;
		random_fill(bytes, sizeof(bytes));
		if (code_paths_run(paths, &input, &err))
			ck_assert(code_paths_visit(paths, random_visit, &range));
		else
			ck_assert_int_eq(err.kind, ERR_LIMIT);
	}
	code_paths_free(paths);
}

UNIT(too_large)
{
	const struct code_range range = {0, CODE_PATHS_MAX_BYTES + 1, NULL, 0};
	const struct code_paths_input input = {
	    .machine = CODE_AARCH64, .ranges = &range, .n_ranges = 1};
	struct code_paths *paths = code_paths_new();
	struct err err = {0};

	ck_assert(paths && !code_paths_run(paths, &input, &err));
	ck_assert_int_eq(err.kind, ERR_LIMIT);
	code_paths_free(paths);
}
