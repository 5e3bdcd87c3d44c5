/* SPDX-License-Identifier: MIT */
/* Walks this thread's stack. */
#include "walk/process.h"
#include "walk/stack.h"
#include "walk/step.h"

#define WALK_NOINLINE __attribute__((noinline))

/* One walk. */
struct here {
	struct walk_stack stack;
	const struct walk_table *table;
	/* The code that the last look-up was in, and its section or NULL. */
	struct walk_range code;
	struct eh2sframe_walk_section loaded; /* that of a file that dlclose can unmap */
};

static bool here_read(void *context, uint64_t address, uint64_t *value)
{
	struct here *here = context;

	return walk_stack_read(&here->stack, address, value);
}

/* Finds the code that has pc, in the table and then among the loader's files. */
static enum eh2sframe_walk_why find_code(struct here *here, uint64_t pc)
{
	const struct walk_range *range = walk_table_find(here->table, pc);

	here->code = range ? *range : (struct walk_range){.section = &here->loaded};
	return range ? EH2SFRAME_WALK_WHY_GOES_ON : walk_loaded_find(&here->code, pc);
}

static enum eh2sframe_walk_why here_find(
    void *context, uint64_t pc, const struct eh2sframe_walk_section **section)
{
	struct here *here = context;
	enum eh2sframe_walk_why why;

	if (pc - here->code.start >= here->code.end - here->code.start) {
		why = find_code(here, pc);
		if (why != EH2SFRAME_WALK_WHY_GOES_ON)
			return why;
	}
	*section = here->code.section;
	return *section ? EH2SFRAME_WALK_WHY_GOES_ON : EH2SFRAME_WALK_WHY_NO_ROW;
}

/* The machine that runs this. */
#if defined(__x86_64__)
#define MACHINE EH2SFRAME_WALK_X86_64
#elif defined(__aarch64__)
#define MACHINE EH2SFRAME_WALK_AARCH64
#else
#define MACHINE EH2SFRAME_WALK_S390X
#endif

/* Inputs of the step, made in the caller's frame so that the compiler inlines both functions. */
WALK_INLINE struct eh2sframe_walk_space walk_space_of(struct here *here)
{
	return (struct eh2sframe_walk_space){
	    .machine = MACHINE,
	    .signature_mask = walk_settings.signature_mask,
	    .read = here_read,
	    .find = here_find,
	    .context = here,
	    .cache = walk_settings.cache,
	};
}

/* Begins a walk that ends with walk_leave(*turn), also after false: no table was published
 * yet. */
static bool begin_here(struct here *here, uint64_t sp, unsigned int *turn)
{
	here->table = walk_enter(turn);
	here->code = (struct walk_range){0};
	walk_stack_begin(&here->stack, sp);
	return here->table != NULL;
}

/* Goes on without a row: from a signal handler, or by a guess if that is wanted. */
static WALK_NOINLINE enum eh2sframe_walk_why step_without_row(
    const struct eh2sframe_walk_space *space, struct eh2sframe_walk_frame *frame,
    uint64_t *registers, enum eh2sframe_walk_why why)
{
	if ((why == EH2SFRAME_WALK_WHY_NO_ROW || why == EH2SFRAME_WALK_WHY_NO_MODULE) &&
	    walk_begin_interrupted(frame, registers))
		return EH2SFRAME_WALK_WHY_GOES_ON;
	return walk_settings.options.guess ? walk_guess(space, frame, why) : why;
}

WALK_INLINE enum eh2sframe_walk_why walk_step_here(
    const struct eh2sframe_walk_space *space, struct eh2sframe_walk_frame *frame,
    uint64_t *registers)
{
	enum eh2sframe_walk_why why = walk_step(space, frame);

	return __builtin_expect(why == EH2SFRAME_WALK_WHY_GOES_ON, 1)
		   ? why
		   : step_without_row(space, frame, registers, why);
}

/*
 * Goes from frame to frame as long as the cache has their rules, which suffices for nearly all, and writes the PCs of callers
 * to pcs from n on, to max at most. Returns how many there are then; frame is the last one. PC, SP and FP stay in registers
 * from step to step: a frame in memory, which each step writes and the next one reads, makes a walk slower by a third.
 */
WALK_INLINE size_t walk_run_here(struct here *here, struct eh2sframe_walk_frame *frame,
    uintptr_t *pcs, size_t n, size_t max)
{
	/* Made here, so that the compiler knows its members: that of the caller is known to other functions, which could
	 * change it. */
	const struct eh2sframe_walk_space space = walk_space_of(here);
	struct walk_run run = {frame->pc, frame->sp, frame->fp};
	size_t before = n;

	/* A first frame, one above a signal frame, one without FP. */
	if (frame->flags != 0)
		return n;
	while (n < max &&
	       walk_run_step(&space, walk_cache_get(space.cache, run.pc - 1), &run))
		pcs[n++] = (uintptr_t)run.pc;
	if (n != before) {
		frame->pc = run.pc;
		frame->sp = run.sp;
		frame->fp = run.fp;
		frame->registers = NULL;
	}
	return n;
}

enum eh2sframe_walk_why eh2sframe_walk_next(struct eh2sframe_walk_frame *frame)
{
	enum eh2sframe_walk_why why = EH2SFRAME_WALK_WHY_NO_MODULE;
	uint64_t registers[EH2SFRAME_WALK_N_REGISTERS];
	struct here here;
	unsigned int turn;

	if (begin_here(&here, frame->sp, &turn)) {
		const struct eh2sframe_walk_space space = walk_space_of(&here);

		why = walk_step_here(&space, frame, registers);
	}
	if (frame->registers == registers)
		frame->registers = NULL;
	walk_leave(turn);
	return why;
}

/* Walks from the frame, or, where there is a context, from that. */
static size_t backtrace_from(struct eh2sframe_walk_frame *frame, const void *ucontext,
    uintptr_t *pcs, size_t max, enum eh2sframe_walk_why *last)
{
	uint64_t registers[EH2SFRAME_WALK_N_REGISTERS];
	enum eh2sframe_walk_why why = EH2SFRAME_WALK_WHY_NO_MODULE;
	struct here here;
	unsigned int turn;
	size_t n = 0;

	if (ucontext)
		eh2sframe_walk_begin(frame, ucontext, registers);
	if (begin_here(&here, frame->sp, &turn)) {
		const struct eh2sframe_walk_space space = walk_space_of(&here);
		uint32_t flags = 0;

		why = EH2SFRAME_WALK_WHY_GOES_ON;
		while (n < max && why == EH2SFRAME_WALK_WHY_GOES_ON) {
			pcs[n++] = frame->pc;
			n = walk_run_here(&here, frame, pcs, n, max);
			why = walk_step_here(&space, frame, registers);
			flags |= frame->flags;
		}
		if (why == EH2SFRAME_WALK_WHY_GOES_ON)
			why = EH2SFRAME_WALK_WHY_LIMIT;
		else if (why == EH2SFRAME_WALK_WHY_OUTERMOST &&
			 flags & EH2SFRAME_WALK_FRAME_GUESSED)
			why = EH2SFRAME_WALK_WHY_NO_ROW;
	}
	walk_leave(turn);
	if (last)
		*last = why;
	return n;
}

#if defined(__s390x__)

/*
 * No place in a frame is known to keep the caller's frame pointer. So this function saves all
 * registers that belong to its caller, into the area that the caller gives for that.
 */
__asm__(".text\n"
	".balign 8\n"
	".globl eh2sframe_walk_backtrace\n"
	".type eh2sframe_walk_backtrace, @function\n"
	"eh2sframe_walk_backtrace:\n"
	".cfi_startproc\n"
	"stmg %r6, %r15, 48(%r15)\n"
	".cfi_offset %r6, -112\n"
	".cfi_offset %r11, -72\n"
	".cfi_offset %r14, -48\n"
	".cfi_offset %r15, -40\n"
	"lgr %r6, %r15\n"
	"aghi %r15, -160\n"
	".cfi_adjust_cfa_offset 160\n"
	"brasl %r14, walk_backtrace_at\n"
	"lmg %r6, %r15, 208(%r15)\n"
	".cfi_adjust_cfa_offset -160\n"
	".cfi_restore %r6\n"
	".cfi_restore %r11\n"
	".cfi_restore %r14\n"
	".cfi_restore %r15\n"
	"br %r14\n"
	".cfi_endproc\n"
	".size eh2sframe_walk_backtrace, . - eh2sframe_walk_backtrace\n");

__attribute__((visibility("hidden"), used)) size_t walk_backtrace_at(const void *ucontext,
    uintptr_t *pcs, size_t max, enum eh2sframe_walk_why *why, const uint64_t *area);

size_t walk_backtrace_at(const void *ucontext, uintptr_t *pcs, size_t max,
    enum eh2sframe_walk_why *why, const uint64_t *area)
{
	struct eh2sframe_walk_frame frame = {
	    .pc = area[14], .sp = (uintptr_t)area, .fp = area[11]};

	return backtrace_from(&frame, ucontext, pcs, max, why);
}

#else

/* Not inlined, or it would have no caller of its own. */
WALK_NOINLINE size_t eh2sframe_walk_backtrace(
    const void *ucontext, uintptr_t *pcs, size_t max, enum eh2sframe_walk_why *why)
{
	/* Asking for its frame makes the compiler keep a frame pointer here: the caller's
	 * one, and the return address, are where it points. */
	const uint64_t *record = __builtin_frame_address(0);
	struct eh2sframe_walk_frame frame = {.pc = (uintptr_t)__builtin_return_address(0),
	    .sp = (uintptr_t)__builtin_dwarf_cfa(),
	    .fp = record[0]};

	return backtrace_from(&frame, ucontext, pcs, max, why);
}

#endif
