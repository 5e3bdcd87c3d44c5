/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "profile/perfdata/format.h"
#include "profile/stacks/unwinder.h"

/* Code behind a program's entry that has no rows is the outermost frame: the loader's first
 * instructions have no CFI. */
enum { WALK_ENTRY_SIZE = 128 };

/* The kernel's entry has at most so many frames before it keeps the program's registers. */
enum { WALK_ENTRY_FRAMES = 2 };

/* A word of the program's memory is further above SP than this: then it is not one of the stack. */
#define WALK_STACK_MAX (UINT64_C(1) << 30)

/* A program has addresses of 48 bits; bit 55 says which half. */
#define WALK_AARCH64_SIGNATURE UINT64_C(0xff7f000000000000)

/* perf's number of each register in the order of DWARF: arch/ARCH/include/uapi/asm/perf_regs.h. */
static const uint8_t WALK_X86_64[17] = {
    0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8};

_Static_assert((int)EH2SFRAME_WALK_FRAME_EXACT == PROFILE_FRAME_EXACT &&
		   (int)PERFDATA_FRAME_EXACT == PROFILE_FRAME_EXACT &&
		   (int)PERFDATA_FRAME_GUESSED == PROFILE_FRAME_GUESSED,
    "flags of frames are the same in all three");

/* A walk. */
struct walk {
	struct unwinder *unwinder;
	struct space *space;
	const uint8_t *copy; /* of the stack */
	uint64_t copy_address, copy_size;
	bool elsewhere; /* the last word was not in the stack at all */
	uint64_t pc;	/* that the step looks up */
	uint64_t registers[EH2SFRAME_WALK_N_REGISTERS];
};

static bool walk_read(void *context, uint64_t address, uint64_t *value)
{
	struct walk *walk = context;
	uint64_t at = address - walk->copy_address;

	if (at >= walk->copy_size || walk->copy_size - at < sizeof(*value)) {
		walk->elsewhere = at >= WALK_STACK_MAX;
		return false;
	}
	memcpy(value, walk->copy + at, sizeof(*value));
	return true;
}

/* A register by perf's number; 0 where the sample does not have it. */
static uint64_t walk_register(const struct event *event, unsigned int number)
{
	uint64_t bit = UINT64_C(1) << number, word = 0;
	int before = __builtin_popcountll(event->register_mask & (bit - 1));

	if (event->register_mask & bit)
		memcpy(&word, event->registers + 8 * before, sizeof(word));
	return word;
}

/* The first frame and all registers. */
static void walk_begin(
    struct walk *walk, const struct event *event, struct eh2sframe_walk_frame *frame)
{
	const bool mapped = walk->unwinder->machine == PROFILE_X86_64;
	const struct unwinder_machine *machine =
	    &unwinder_machines[walk->unwinder->machine];

	for (unsigned int i = 0; i < machine->n; i++)
		walk->registers[i] = walk_register(event, mapped ? WALK_X86_64[i] : i);
	*frame = (struct eh2sframe_walk_frame){.registers = walk->registers,
	    .flags = EH2SFRAME_WALK_FRAME_EXACT,
	    .pc = walk_register(event, machine->pc),
	    .sp = walk->registers[machine->sp],
	    .fp = walk->registers[machine->fp]};
	if (machine->ra) {
		frame->ra = walk->registers[machine->ra];
		frame->flags |= EH2SFRAME_WALK_FRAME_RA;
	}
	walk->copy = event->stack;
	walk->copy_address = frame->sp;
	walk->copy_size = event->stack_size;
}

/* Where a PC is in its file. */
static bool walk_find_place(struct unwinder *unwinder, struct space *space, uint64_t pc,
    bool exact, struct unwinder_place *place, struct err *err)
{
	const struct space_map *map = space ? space_map_find(space, pc - !exact) : NULL;
	const struct unwinder_file *file;
	uint64_t address;

	*place = (struct unwinder_place){
	    .pc = pc, .known = pc, .frame = UINT32_MAX, .file = SPACE_NO_FILE};
	if (!map || map->file == SPACE_NO_FILE)
		return true;
	if (!unwinder_file_open(unwinder, map->file, err))
		return false;
	file = unwinder->files[map->file];
	place->file = map->file;
	place->address = pc - map->start + map->offset;
	if (file->no_file || !facts_address(&file->rows->facts, place->address, &address))
		return true;
	place->address = address;
	if (address <= UNWINDER_IN_FILE)
		place->known = UNWINDER_BASE(map->file) + address;
	return true;
}

bool unwinder_place_find(struct unwinder *unwinder, struct space *space, uint64_t pc,
    bool exact, struct unwinder_place **found, struct err *err)
{
	uint64_t key = (uint64_t)(space ? space->generation : 0) << 8 | 128 | exact;
	struct unwinder_place *place =
	    &unwinder->places[(pc ^ pc >> 14 ^ key >> 8) & (UNWINDER_PLACES - 1)];

	*found = place;
	if (place->pc == pc && place->key == key)
		return true;
	place->key = 0;
	if (!walk_find_place(unwinder, space, pc, exact, place, err))
		return false;
	place->key = key;
	return true;
}

/* The address that a guess asks for, as it is in the process: NULL with GOES_ON says that it has a row. */
static enum eh2sframe_walk_why walk_find_guessed(struct walk *walk, uint64_t pc)
{
	struct unwinder_place place;
	const struct unwinder_file *file;
	struct eh2sframe_rule rule;
	struct err err;

	if (!space_map_find(walk->space, pc))
		return EH2SFRAME_WALK_WHY_NO_MODULE;
	if (!walk_find_place(walk->unwinder, walk->space, pc, true, &place, &err) ||
	    place.known == pc)
		return EH2SFRAME_WALK_WHY_NO_ROW;
	file = walk->unwinder->files[place.file];
	return file->index ? eh2sframe_walk_look_up(&file->section, place.known, &rule)
			   : EH2SFRAME_WALK_WHY_NO_ROW;
}

static enum eh2sframe_walk_why walk_find(
    void *context, uint64_t pc, const struct eh2sframe_walk_section **section)
{
	struct walk *walk = context;
	uint64_t file = (pc & ~UNWINDER_BASE(0)) >> 40;

	if (pc == walk->pc && !(pc & UNWINDER_BASE(0)))
		return space_map_find(walk->space, pc) ? EH2SFRAME_WALK_WHY_NO_ROW
						       : EH2SFRAME_WALK_WHY_NO_MODULE;
	if (!(pc & UNWINDER_BASE(0)) || file >= walk->unwinder->n_files ||
	    !walk->unwinder->files[file])
		return walk_find_guessed(walk, pc);
	if (!walk->unwinder->files[file]->index)
		return EH2SFRAME_WALK_WHY_NO_ROW;
	*section = &walk->unwinder->files[file]->section;
	return EH2SFRAME_WALK_WHY_GOES_ON;
}

/*
 * True if SP is where the kernel begins a program: at the number of its arguments, and behind so many pointers is a zero. Other code
 * behind an entry is called.
 */
static bool walk_is_begun(struct walk *walk, uint64_t sp)
{
	/* s390x's loader makes a frame of this size first. */
	const uint64_t frame = walk->unwinder->machine == PROFILE_S390X ? 160 : 0;
	uint64_t n, end;

	for (uint64_t at = sp; at <= sp + frame; at += 160)
		if (walk_read(walk, at, &n) && n && n < walk->copy_size / 8 &&
		    (!walk_read(walk, at + 8 * (n + 1), &end) || !end))
			return true;
	return false;
}

/* Translates the end of a walk into why the stack of a sample ends. */
static uint8_t walk_ended(struct walk *walk, enum eh2sframe_walk_why why,
    const struct eh2sframe_walk_frame *frame, const struct unwinder_place *place)
{
	const struct unwinder_file *file;
	const struct facts *facts;
	uint64_t behind;

	/* A signal handler can have a stack of its own. Then the copy has no other. */
	if (why == EH2SFRAME_WALK_WHY_CUT_OFF && walk->elsewhere &&
	    frame->sp - walk->copy_address < WALK_STACK_MAX)
		return PROFILE_CONTRADICTION;
	if (why != EH2SFRAME_WALK_WHY_NO_ROW && why != EH2SFRAME_WALK_WHY_NO_MODULE &&
	    why != EH2SFRAME_WALK_WHY_ZERO)
		return (uint8_t)why;
	file = place->file != SPACE_NO_FILE ? walk->unwinder->files[place->file] : NULL;
	if (!file || file->no_file)
		return why == EH2SFRAME_WALK_WHY_ZERO ? PROFILE_ZERO : PROFILE_NO_MODULE;
	facts = &file->rows->facts;
	/* A call can be the last instruction of a function. */
	behind = (walk->pc & UNWINDER_IN_FILE) - facts->entry;
	if (facts->entry &&
	    (why == EH2SFRAME_WALK_WHY_ZERO
		    ? behind < facts->entry_size
		    : behind < WALK_ENTRY_SIZE && walk_is_begun(walk, frame->sp)))
		return PROFILE_OUTERMOST;
	if (why == EH2SFRAME_WALK_WHY_ZERO)
		return PROFILE_ZERO;
	return file->index ? PROFILE_NO_ROW : PROFILE_NO_ROWS;
}

/* The frames from frame on; *why: what ended the walk. */
static bool walk_steps(struct walk *walk, struct eh2sframe_walk_frame *frame,
    struct perfdata_walked *walked, struct err *err)
{
	struct unwinder *unwinder = walk->unwinder;
	const struct eh2sframe_walk_space space = {
	    .machine = (enum eh2sframe_walk_machine)unwinder->machine,
	    .guess = unwinder->guess,
	    .signature_mask =
		unwinder->machine == PROFILE_AARCH64 ? WALK_AARCH64_SIGNATURE : 0,
	    .read = walk_read,
	    .find = walk_find,
	    .context = walk,
	    .cache = &unwinder->cache};
	enum eh2sframe_walk_why end = EH2SFRAME_WALK_WHY_GOES_ON;
	struct unwinder_place *place = NULL;
	uint32_t guessed = 0;

	while (end == EH2SFRAME_WALK_WHY_GOES_ON) {
		if (walked->n == UNWINDER_MAX_FRAMES) {
			walked->why = PROFILE_LIMIT;
			return true;
		}
		if (!unwinder_place_find(unwinder, walk->space, frame->pc,
			frame->flags & EH2SFRAME_WALK_FRAME_EXACT, &place, err))
			return false;
		unwinder->pcs[walked->n] = frame->pc;
		unwinder->flags[walked->n] = frame->flags & PROFILE_FRAME_EXACT;
		if (frame->flags & EH2SFRAME_WALK_FRAME_GUESSED)
			unwinder->flags[walked->n] |= PROFILE_FRAME_GUESSED;
		walked->n++;
		guessed |= frame->flags & EH2SFRAME_WALK_FRAME_GUESSED;
		frame->pc = place->known;
		walk->pc = frame->pc - !(frame->flags & EH2SFRAME_WALK_FRAME_EXACT);
		end = walk->space ? eh2sframe_walk_step(&space, frame)
				  : EH2SFRAME_WALK_WHY_NO_MODULE;
	}
	walked->why = walk_ended(walk, end, frame, place);
	if (guessed && walked->why == PROFILE_OUTERMOST)
		walked->why = PROFILE_GUESSED;
	return true;
}

/*
 * A sample without registers is of a thread of the kernel, which can belong to a process (io_uring's do), or of an
 * interrupt that came while the program entered the kernel. A thread that has ended runs in the kernel for a while. Its
 * name may be forgotten.
 */
static bool walk_is_kernel(struct unwinder *unwinder, const struct space *space,
    const struct event *event, uint8_t *why, struct err *err)
{
	const struct space_thread *thread =
	    space_thread_get(&unwinder->spaces, event->pid, event->tid, err);

	if (!thread)
		return false;
	/* A mark stands before the addresses. */
	*why = thread->comm[0] && !thread->ended &&
		       (!space || space->maps.n == 0 ||
			   event->n_chain > WALK_ENTRY_FRAMES + 1)
		   ? PROFILE_NO_STACK
		   : PROFILE_CUT_OFF;
	return true;
}

bool unwinder_walk(struct unwinder *unwinder, struct space *space,
    const struct event *event, struct perfdata_walked *walked, struct err *err)
{
	struct eh2sframe_walk_frame frame;
	struct walk walk;

	*walked = (struct perfdata_walked){
	    .pcs = unwinder->pcs, .flags = unwinder->flags, .why = PROFILE_CUT_OFF};
	if (space)
		space_seen(&unwinder->spaces, space, event->tid);
	if (!event->registers)
		return walk_is_kernel(unwinder, space, event, &walked->why, err);
	/* The registers are not worth the time of setting them to zero. */
	walk.unwinder = unwinder;
	walk.space = space;
	walk.elsewhere = false;
	walk_begin(&walk, event, &frame);
	/* While the kernel replaces or ends a program, its registers are left and its memory is gone. */
	if (event->stack_size == 0 && event->n_chain > 0 && space &&
	    !space_map_find(space, frame.pc))
		return true;
	if (event->abi == PERF_SAMPLE_REGS_ABI_64)
		return walk_steps(&walk, &frame, walked, err);
	/* A 32-bit program has other registers and no rows. */
	unwinder->pcs[walked->n] = frame.pc;
	unwinder->flags[walked->n++] = PROFILE_FRAME_EXACT;
	walked->why = PROFILE_NO_ROWS;
	return true;
}
