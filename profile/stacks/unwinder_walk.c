/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "profile/stacks/unwinder.h"

/* Code behind a program's entry that has no rows is the outermost frame: the loader's first
 * instructions have no CFI. */
enum { WALK_ENTRY_SIZE = 128 };

/* A word of the program's memory is further above SP than this: then it is not one of the stack. */
#define WALK_STACK_MAX (UINT64_C(1) << 30)

/* A program has addresses of 48 bits; bit 55 says which half. */
#define WALK_AARCH64_SIGNATURE UINT64_C(0xff7f000000000000)

/* perf's number of each register in the order of DWARF: arch/ARCH/include/uapi/asm/perf_regs.h. */
static const uint8_t WALK_X86_64[] = {
    0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8};

/* A walk. */
struct walk {
	struct unwinder *unwinder;
	struct space *space;
	const uint8_t *copy; /* of the stack */
	uint64_t copy_address, copy_size;
	bool elsewhere; /* the last word was not in the stack at all */
	uint64_t registers[EH2SFRAME_WALK_N_REGISTERS];
	uint32_t *frames; /* unwinder->frames: first frame first */
	size_t n;
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

static enum eh2sframe_walk_why walk_find(
    void *context, uint64_t pc, const struct eh2sframe_walk_section **section)
{
	struct walk *walk = context;
	uint64_t file = (pc & ~UNWINDER_BASE(0)) >> 40;

	/* An address as it is in the process: a guess asks whether it can be code. */
	if (!(pc & UNWINDER_BASE(0)) || file >= walk->unwinder->n_files ||
	    !walk->unwinder->files[file])
		return space_map_find(walk->space, pc) ? EH2SFRAME_WALK_WHY_NO_ROW
						       : EH2SFRAME_WALK_WHY_NO_MODULE;
	if (!walk->unwinder->files[file]->has_section)
		return EH2SFRAME_WALK_WHY_NO_ROW;
	*section = &walk->unwinder->files[file]->section;
	return EH2SFRAME_WALK_WHY_GOES_ON;
}

static uint64_t walk_word_of(const uint8_t *words, size_t i)
{
	uint64_t word;

	memcpy(&word, words + 8 * i, sizeof(word));
	return word;
}

/* The first frame and all registers. */
static void walk_begin(
    struct walk *walk, const struct event *event, struct eh2sframe_walk_frame *frame)
{
	const uint8_t *words = event->registers;
	uint32_t machine = walk->unwinder->profile->info.machine;

	*frame = (struct eh2sframe_walk_frame){
	    .registers = walk->registers, .flags = EH2SFRAME_WALK_FRAME_EXACT};
	if (machine == PROFILE_X86_64) {
		/* perf gives 20 words: those from 12 to 15 are segments, which are not asked for. */
		for (size_t i = 0; i < sizeof(WALK_X86_64); i++) {
			size_t at = WALK_X86_64[i];

			walk->registers[i] = walk_word_of(words, at > 11 ? at - 4 : at);
		}
		frame->pc = walk->registers[16];
		frame->sp = walk->registers[7];
		frame->fp = walk->registers[6];
	} else if (machine == PROFILE_AARCH64) {
		for (size_t i = 0; i < EH2SFRAME_WALK_N_REGISTERS; i++)
			walk->registers[i] = walk_word_of(words, i);
		frame->pc = walk->registers[32];
		frame->sp = walk->registers[31];
		frame->fp = walk->registers[29];
		frame->ra = walk->registers[30];
		frame->flags |= EH2SFRAME_WALK_FRAME_RA;
	} else {
		for (size_t i = 0; i < 16; i++)
			walk->registers[i] = walk_word_of(words, i);
		frame->pc = walk_word_of(words, 17);
		frame->sp = walk->registers[15];
		frame->fp = walk->registers[11];
		frame->ra = walk->registers[14];
		frame->flags |= EH2SFRAME_WALK_FRAME_RA;
	}
	walk->copy = event->stack;
	walk->copy_address = frame->sp;
	walk->copy_size = event->stack_size;
}

uint64_t unwinder_register_mask(enum profile_machine machine)
{
	switch (machine) {
	case PROFILE_X86_64:
		return UINT64_C(0xff0fff);
	case PROFILE_AARCH64:
		return UINT64_C(0x1ffffffff);
	case PROFILE_S390X:
		return UINT64_C(
		    0x30000ffff); /* general registers, mask and address of the PSW */
	}
	return 0;
}

/* A frame that was not seen before in this process. */
static bool walk_resolve_new(struct walk *walk, const struct eh2sframe_walk_frame *at,
    struct unwinder_place *place, struct err *err)
{
	struct unwinder *unwinder = walk->unwinder;
	bool exact = at->flags & EH2SFRAME_WALK_FRAME_EXACT;
	const struct space_map *map =
	    walk->space ? space_map_find(walk->space, at->pc - !exact) : NULL;
	struct profile_frame frame = {.address = at->pc,
	    .kind = PROFILE_FRAME_UNKNOWN,
	    .pid = walk->space ? walk->space->pid : 0,
	    .flags = (uint8_t)(exact ? PROFILE_FRAME_EXACT : 0)};
	size_t before = unwinder->profile->n_frames;

	if (at->flags & EH2SFRAME_WALK_FRAME_GUESSED)
		frame.flags |= PROFILE_FRAME_GUESSED;
	place->known = at->pc;
	place->file = SPACE_NO_FILE;
	if (map && map->file != SPACE_NO_FILE) {
		const struct unwinder_file *file = unwinder->files[map->file];
		uint64_t offset = at->pc - map->start + map->offset;

		if (!unwinder_file_open(unwinder, map->file, err))
			return false;
		place->file = map->file;
		if (!file->no_file) {
			frame.kind = PROFILE_FRAME_FILE;
			frame.pid = 0;
			frame.module = file->module;
			frame.address = offset;
			if (facts_address(&file->rows->facts, offset, &frame.address) &&
			    frame.address <= UNWINDER_IN_FILE)
				place->known = UNWINDER_BASE(map->file) + frame.address;
		}
	}
	if (!profile_add_frame(unwinder->profile, &frame, &place->frame, err))
		return false;
	return frame.kind != PROFILE_FRAME_UNKNOWN || !unwinder->jit ||
	       unwinder->profile->n_frames == before ||
	       unwinder_note_unknown(unwinder, place->frame, err);
}

/* Where a PC is noted that was seen with this key. */
static struct unwinder_place *walk_place(
    struct unwinder *unwinder, uint64_t pc, uint64_t key)
{
	return &unwinder->places[(pc ^ pc >> 14 ^ key >> 8) & (UNWINDER_PLACES - 1)];
}

/* Notes the frame, and gives the place where its rows are. */
static bool walk_resolve(struct walk *walk, const struct eh2sframe_walk_frame *at,
    const struct unwinder_place **found, struct err *err)
{
	uint64_t key =
	    (uint64_t)(walk->space ? walk->space->generation : 0) << 8 |
	    (at->flags & (EH2SFRAME_WALK_FRAME_EXACT | EH2SFRAME_WALK_FRAME_GUESSED)) |
	    128;
	struct unwinder_place *place = walk_place(walk->unwinder, at->pc, key);

	if (place->pc != at->pc || place->key != key) {
		place->key = 0;
		if (!walk_resolve_new(walk, at, place, err))
			return false;
		place->pc = at->pc;
		place->key = key;
	}
	walk->frames[walk->n++] = place->frame;
	*found = place;
	return true;
}

/* A frame of the kernel, which is the same in all processes. */
static bool walk_resolve_kernel(
    struct walk *walk, const struct profile_frame *frame, struct err *err)
{
	uint64_t key = frame->flags | 64;
	struct unwinder_place *place = walk_place(walk->unwinder, frame->address, key);

	if (place->pc != frame->address || place->key != key) {
		place->key = 0;
		if (!unwinder_kernel_frame(walk->unwinder, frame, &place->frame, err))
			return false;
		place->pc = frame->address;
		place->key = key;
	}
	walk->frames[walk->n++] = place->frame;
	return true;
}

/* What a walk's end means. */
static uint8_t walk_ended(const struct walk *walk, enum eh2sframe_walk_why why,
    const struct eh2sframe_walk_frame *frame, const struct unwinder_place *place)
{
	const struct unwinder_file *file;
	uint64_t address = place->known & UNWINDER_IN_FILE;

	/* A signal handler can have a stack of its own. Then the copy has no other. */
	if (why == EH2SFRAME_WALK_WHY_CUT_OFF && walk->elsewhere &&
	    frame->sp - walk->copy_address < WALK_STACK_MAX)
		return PROFILE_CONTRADICTION;
	if (why != EH2SFRAME_WALK_WHY_NO_ROW && why != EH2SFRAME_WALK_WHY_NO_MODULE)
		return (uint8_t)why;
	file = place->file != SPACE_NO_FILE ? walk->unwinder->files[place->file] : NULL;
	if (!file || file->no_file)
		return PROFILE_NO_MODULE;
	if (file->rows->facts.entry && address >= file->rows->facts.entry &&
	    address - file->rows->facts.entry < WALK_ENTRY_SIZE)
		return PROFILE_OUTERMOST;
	return file->has_section ? PROFILE_NO_ROW : PROFILE_NO_ROWS;
}

/* The frames from frame on, which is resolved first; *why: what ended the walk. */
static bool walk_steps(struct walk *walk, struct eh2sframe_walk_frame *frame,
    bool has_rows, uint8_t *why, struct err *err)
{
	struct unwinder *unwinder = walk->unwinder;
	const struct eh2sframe_walk_space space = {
	    .machine = (enum eh2sframe_walk_machine)unwinder->profile->info.machine,
	    .guess = unwinder->guess,
	    .signature_mask = unwinder->profile->info.machine == PROFILE_AARCH64
				  ? WALK_AARCH64_SIGNATURE
				  : 0,
	    .read = walk_read,
	    .find = walk_find,
	    .context = walk,
	    .cache = &unwinder->cache};
	enum eh2sframe_walk_why end = EH2SFRAME_WALK_WHY_GOES_ON;
	const struct unwinder_place *place = NULL;
	size_t first = walk->n;

	while (end == EH2SFRAME_WALK_WHY_GOES_ON) {
		if (walk->n - first == UNWINDER_MAX_FRAMES) {
			*why = PROFILE_LIMIT;
			return true;
		}
		if (!walk_resolve(walk, frame, &place, err))
			return false;
		frame->pc = place->known;
		if (!has_rows) {
			*why = PROFILE_NO_ROWS;
			return true;
		}
		end = walk->space ? eh2sframe_walk_step(&space, frame)
				  : EH2SFRAME_WALK_WHY_NO_MODULE;
	}
	*why = walk_ended(walk, end, frame, place);
	return true;
}

/* The program's frames. */
static bool walk_user(
    struct walk *walk, const struct event *event, uint8_t *why, struct err *err)
{
	struct eh2sframe_walk_frame frame;

	walk_begin(walk, event, &frame);
	/* While the kernel replaces a program, its registers are left and its memory is gone. */
	if (event->stack_size == 0 && walk->n > 0 && walk->space &&
	    !space_map_find(walk->space, frame.pc))
		return true;
	/* A 32-bit program has other registers and no rows. */
	return walk_steps(walk, &frame, event->abi == PERF_SAMPLE_REGS_ABI_64, why, err);
}

/* The kernel's frames of the sample: addresses between marks. */
static bool walk_kernel(struct walk *walk, const struct event *event, struct err *err)
{
	bool inside = false, first = true;

	for (size_t i = 0; i < event->n_chain && walk->n < UNWINDER_MAX_KERNEL; i++) {
		struct profile_frame frame = {.address = walk_word_of(event->chain, i),
		    .kind = PROFILE_FRAME_KERNEL};

		if (frame.address >= PERF_CONTEXT_MAX) {
			inside = frame.address == PERF_CONTEXT_KERNEL;
			continue;
		}
		if (!inside)
			continue;
		frame.flags = first ? PROFILE_FRAME_EXACT : 0;
		if (!walk_resolve_kernel(walk, &frame, err))
			return false;
		first = false;
	}
	return true;
}

/* Adds the stack to the profile, from its outermost frame on. */
static bool walk_add_stack(struct walk *walk, uint32_t *stack, struct err *err)
{
	*stack = 0;
	for (size_t i = walk->n; i-- > 0;)
		if (!profile_add_stack(
			walk->unwinder->profile, *stack, walk->frames[i], stack, err))
			return false;
	return true;
}

bool unwinder_walk(struct unwinder *unwinder, struct space *space,
    const struct event *event, uint32_t *stack, uint8_t *why, struct err *err)
{
	struct walk walk;

	/* The registers are not worth the time of setting them to zero. */
	walk.unwinder = unwinder;
	walk.frames = unwinder->frames;
	walk.space = space;
	walk.elsewhere = false;
	walk.n = 0;
	*why = PROFILE_NO_STACK;
	if (!walk_kernel(&walk, event, err))
		return false;
	if (event->registers && !walk_user(&walk, event, why, err))
		return false;
	return walk_add_stack(&walk, stack, err);
}

bool unwinder_walk_known(struct unwinder *unwinder, struct space *space,
    const struct event *event, enum eh2sframe_walk_why walk_why, uint32_t *stack,
    uint8_t *why, struct err *err)
{
	const struct unwinder_place *place = NULL;
	struct eh2sframe_walk_frame frame = {0};
	struct walk walk;

	walk.unwinder = unwinder;
	walk.frames = unwinder->frames;
	walk.space = space;
	walk.elsewhere = false;
	walk.n = 0;
	for (size_t i = 0; i < event->n_chain && i < UNWINDER_MAX_FRAMES; i++) {
		uint64_t word = walk_word_of(event->chain, i);

		frame.pc = word & ~(UNWINDER_PC_EXACT | UNWINDER_PC_GUESSED);
		frame.flags = word & UNWINDER_PC_EXACT ? EH2SFRAME_WALK_FRAME_EXACT : 0;
		if (word & UNWINDER_PC_GUESSED)
			frame.flags |= EH2SFRAME_WALK_FRAME_GUESSED;
		if (!walk_resolve(&walk, &frame, &place, err))
			return false;
	}
	*why = place ? walk_ended(&walk, walk_why, &frame, place) : PROFILE_NO_MODULE;
	return walk_add_stack(&walk, stack, err);
}
