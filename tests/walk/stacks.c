/* SPDX-License-Identifier: MIT */
/*
 * walk_stacks COUNT SEED: makes random programs, each a section and a stack as calls would
 * leave it, and walks back: by the callbacks alone, with an index, and through a cache, empty
 * and full. Each frame must have the PC, SP and FP that the program had there. Each version,
 * machine and byte order; with signal frames where a version can say them. TAP.
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "include/eh2sframe-walk.h"
#include "sframe/encode.h"
#include "sframe/format.h"

enum { MAX_DEPTH = 40, WORDS = 8192, TEXT = 0x400000, SECTION = 0x800000, ENTRIES = 64 };
#define STACK UINT64_C(0x7000000000)
#define OTHER_STACK UINT64_C(0x6000000000)
#define SIGNATURE UINT64_C(0x007f000000000000)

struct world {
	uint64_t seed;
	const struct sf_abi *abi;
	uint8_t version;
	uint64_t memory[2][WORDS];
	struct sf_section model;
	uint64_t text_end; /* functions so far */
	/* The innermost frame so far, and those that called it, outermost first. */
	uint64_t sp, fp, registers[EH2SFRAME_WALK_N_REGISTERS];
	struct eh2sframe_walk_frame frames[2 * MAX_DEPTH];
	size_t n_frames;
	bool ra_known;
	struct eh2sframe_walk_section section;
};

/* A row that is to be at some place in a function, and the addresses that it holds for. */
struct place {
	struct sf_row row;
	uint64_t start, end;
};

static uint32_t below(struct world *world, uint32_t n)
{
	world->seed ^= world->seed >> 12;
	world->seed ^= world->seed << 25;
	world->seed ^= world->seed >> 27;
	return (uint32_t)((world->seed * UINT64_C(0x2545f4914f6cdd1d)) >> 32) % n;
}

static uint64_t random_word(struct world *world)
{
	return (uint64_t)below(world, UINT32_MAX) << 32 | below(world, UINT32_MAX);
}

static void must(bool good, const char *what)
{
	if (!good)
		errx(EXIT_FAILURE, "%s failed", what);
}

static uint64_t *at(struct world *world, uint64_t address)
{
	uint64_t base = address >= STACK ? STACK : OTHER_STACK;

	must(address % 8 == 0 && address - base < sizeof(world->memory[0]),
	    "a stack address");
	return &world->memory[base == STACK][(address - base) / 8];
}

static struct sf_row filler(struct world *world)
{
	const struct sf_abi *abi = world->abi;
	struct sf_row row = {
	    .cfa = {.kind = SF_LOC_REG, .reg = below(world, 2) ? abi->sp : abi->fp},
	    .cfa_off = 8 * (int32_t)below(world, 100)};

	if (!abi->fixed_ra_off && below(world, 2)) {
		row.ra.kind = SF_LOC_AT_CFA;
		row.ra_off = -8;
	}
	if ((abi->fixed_ra_off || row.ra.kind) && below(world, 2)) {
		row.fp.kind = SF_LOC_AT_CFA;
		row.fp_off = -8 * (int32_t)(2 + below(world, 100));
	}
	return row;
}

/* Appends a function that has place->row somewhere, and says where it holds. */
static void add_function(struct world *world, struct place *place, bool signal, bool flex)
{
	uint32_t n = 1 + below(world, 12), which = below(world, n), start = 0, end;
	struct sf_func func = {
	    .start = world->text_end + below(world, 40), .signal_frame = signal};
	struct sf_row rows[13] = {{0}};

	func.pauth_b = world->abi->has_pauth && below(world, 2);
	/* A long function has wide row starts. */
	uint32_t longest = below(world, 4) == 0 ? 3000 : 20;

	for (uint32_t i = 0; i < n; i++, start = end) {
		end = start + 1 + below(world, longest);
		rows[i] = i == which || flex ? place->row : filler(world);
		/* Rows that say the same need not stand apart, but may. */
		rows[i].start = start;
		if (i == which) {
			place->start = func.start + start;
			place->end = func.start + end;
		}
	}
	func.size = start;
	must(sf_section_add_func(&world->model, &func), "sf_section_add_func");
	for (uint32_t i = 0; i < n; i++)
		must(sf_section_add_row(&world->model, &rows[i]), "sf_section_add_row");
	world->text_end = func.start + func.size;
}

/* The frame that the program is in now, which calls, is interrupted or is the first. */
static uint64_t add_frame(struct world *world, const struct place *place, bool exact)
{
	struct eh2sframe_walk_frame *frame = &world->frames[world->n_frames++];

	*frame = (struct eh2sframe_walk_frame){.sp = world->sp,
	    .fp = world->fp,
	    .flags = exact ? EH2SFRAME_WALK_FRAME_EXACT : 0};
	frame->pc =
	    place->start + below(world, (uint32_t)(place->end - place->start)) + !exact;
	return frame->pc;
}

/* Saves FP in a slot of the frame from the world's SP up, and maybe gives it another value. */
static void save_fp(struct world *world, uint64_t cfa, uint64_t slot, struct sf_row *row)
{
	*at(world, slot) = world->fp;
	row->fp.kind = SF_LOC_AT_CFA;
	row->fp_off = (int32_t)(slot - cfa);
	world->fp = random_word(world);
	if (below(world, 2)) {
		world->fp = slot - 8 * below(world, 4);
		row->cfa.reg = world->abi->fp;
		row->cfa_off = (int32_t)(cfa - world->fp);
	}
}

/*
 * A call from the frame that returns to ra: makes the frame of a function, whose row is in
 * place.
 */
static void call(struct world *world, uint64_t ra, bool leaf, struct place *place)
{
	const struct sf_abi *abi = world->abi;
	bool x86_64 = abi->fixed_ra_off != 0,
	     in_memory = x86_64 || !leaf || below(world, 2);
	uint64_t cfa = world->sp + (abi->id == SFRAME_ABI_S390X_ENDIAN_BIG ? 160 : 0),
		 entry = world->sp;
	uint32_t words = below(world, 8) ? 2 + below(world, 12) : 2 + below(world, 150);
	struct sf_row row = {.cfa = {.kind = SF_LOC_REG, .reg = abi->sp}};

	if (abi->has_pauth && below(world, 2)) {
		row.ra_signed = true;
		ra |= random_word(world) & SIGNATURE;
	}
	if (x86_64) {
		entry -= 8;
		*at(world, entry) = ra;
	} else if (!in_memory) {
		world->registers[abi->ra] = ra;
		words = below(world, 2) ? words : 0;
	}
	world->sp = entry - 8 * (uint64_t)words;
	row.cfa_off = (int32_t)(cfa - world->sp);
	if (!x86_64 && in_memory) {
		*at(world, entry - 8) = ra;
		row.ra.kind = SF_LOC_AT_CFA;
		row.ra_off = (int32_t)(entry - 8 - cfa);
	}
	if (in_memory && below(world, 2)) {
		uint64_t slot = entry - 8 * (2 + (uint64_t)below(world, words - 1)),
			 fp = world->fp;

		save_fp(world, cfa, slot, &row);
		/* An epilogue has restored it, and the row still names the slot. */
		if (leaf && x86_64 && below(world, 2)) {
			world->fp = fp;
			world->sp = entry;
			*at(world, slot) = random_word(world);
			row.cfa = (struct sf_loc){.kind = SF_LOC_REG, .reg = abi->sp};
			row.cfa_off = (int32_t)(cfa - entry);
		}
	}
	place->row = row;
}

/* The frame of a first function may need any register. */
static bool other_base(struct world *world, struct place *place)
{
	uint64_t cfa = place->row.cfa.reg == world->abi->fp ? world->fp : world->sp;

	if (world->version < SFRAME_VERSION_3 || !world->abi->has_flex || below(world, 2))
		return false;
	cfa += (uint64_t)(int64_t)place->row.cfa_off;
	place->row.cfa.reg = 10;
	place->row.cfa_off = 8 * (int32_t)below(world, 20);
	world->registers[10] = cfa - (uint64_t)place->row.cfa_off;
	return true;
}

/* The frame that a signal leaves at pc: a trampoline with PC, SP and FP behind its SP. */
static uint64_t signal_frame(struct world *world, uint64_t pc)
{
	const struct sf_abi *abi = world->abi;
	uint64_t sp = world->sp,
		 frame = OTHER_STACK + 8 * (4000 + (uint64_t)below(world, 4000));
	struct sf_loc loc = {.kind = SF_LOC_AT_REG, .reg = abi->sp};
	struct place place = {.row = {.cfa = loc,
				  .ra = loc,
				  .fp = loc,
				  .cfa_off = 160,
				  .ra_off = 168,
				  .fp_off = 8}};

	if (world->sp < STACK || below(world, 2))
		frame = world->sp - 512;
	*at(world, frame + 8) = world->fp;
	*at(world, frame + 160) = sp + (abi->id == SFRAME_ABI_S390X_ENDIAN_BIG ? 160 : 0);
	*at(world, frame + 168) = pc;
	world->sp = frame;
	if (below(world, 2))
		world->fp = random_word(world);
	add_function(world, &place, true, true);
	return add_frame(world, &place, false);
}

static void make_stack(struct world *world, uint32_t depth)
{
	bool signals = world->version >= SFRAME_VERSION_3 && world->abi->has_flex, flex;
	struct place place = {.row = {.outermost = true}};
	uint64_t pc;

	/* Version 1 cannot say that a frame is outermost: it has no row there. */
	if (world->version == SFRAME_VERSION_1) {
		place.start = world->text_end;
		place.end = world->text_end += 20;
	} else {
		add_function(world, &place, false, false);
	}
	world->text_end += 1; /* the call may be the last instruction */
	pc = add_frame(world, &place, false);
	for (uint32_t i = 1; i <= depth; i++) {
		bool leaf = i == depth,
		     interrupted = !leaf && signals && below(world, 8) == 0;

		call(world, pc, leaf, &place);
		flex = leaf && other_base(world, &place);
		add_function(world, &place, false, flex);
		pc = add_frame(world, &place, leaf || interrupted);
		if (interrupted)
			pc = signal_frame(world, pc);
	}
}

static bool read_word(void *context, uint64_t address, uint64_t *value)
{
	struct world *world = context;
	uint64_t base = address >= STACK ? STACK : OTHER_STACK;

	if (address % 8 != 0 || address - base >= sizeof(world->memory[0]))
		return false;
	*value = *at(world, address);
	return true;
}

static enum eh2sframe_walk_why find(
    void *context, uint64_t pc, const struct eh2sframe_walk_section **section)
{
	struct world *world = context;

	(void)pc;
	*section = &world->section;
	return EH2SFRAME_WALK_WHY_GOES_ON;
}

/* NULL when all frames are as they were made. */
static const char *walk_back(struct world *world, struct eh2sframe_walk_cache *cache)
{
	struct eh2sframe_walk_space space = {
	    .machine = world->abi->fixed_ra_off ? EH2SFRAME_WALK_X86_64
		       : world->abi->has_pauth	? EH2SFRAME_WALK_AARCH64
						: EH2SFRAME_WALK_S390X,
	    .signature_mask = world->abi->has_pauth ? SIGNATURE : 0,
	    .read = read_word,
	    .find = find,
	    .context = world,
	    .cache = cache};
	struct eh2sframe_walk_frame frame = world->frames[world->n_frames - 1];
	enum eh2sframe_walk_why why;

	frame.registers = world->registers;
	for (size_t i = world->n_frames - 1; i > 0; i--) {
		const struct eh2sframe_walk_frame *next = &world->frames[i - 1];

		why = eh2sframe_walk_step(&space, &frame);
		if (why != EH2SFRAME_WALK_WHY_GOES_ON)
			return eh2sframe_walk_why_text(why);
		if (frame.pc != next->pc || frame.sp != next->sp ||
		    frame.fp != next->fp ||
		    ((frame.flags ^ next->flags) & EH2SFRAME_WALK_FRAME_EXACT))
			return "another frame";
	}
	why = eh2sframe_walk_step(&space, &frame);
	if (why != (world->version == 1 ? EH2SFRAME_WALK_WHY_NO_ROW
					: EH2SFRAME_WALK_WHY_OUTERMOST))
		return "it does not end at the outermost frame";
	return NULL;
}

/* One program. NULL when it was walked in each way. */
static const char *run(struct world *world)
{
	static uint64_t entries[ENTRIES][2];
	struct eh2sframe_walk_cache cache = {.entries = entries, .n_entries = ENTRIES};
	struct sf_encode_options options = {.version = world->version,
	    .pcrel = world->version == 3 || (world->version == 2 && below(world, 2)),
	    .outermost = world->version == 2,
	    .share = below(world, 2)};
	const char *wrong;
	struct err error = {0};
	struct wr bytes;
	void *index;

	/* All programs share the cache, each with a generation of its own. */
	cache.generation = random_word(world);
	wr_init(&bytes, world->abi->big_endian);
	if (!sf_encode(&world->model, &options, &bytes, NULL, &error) ||
	    !sf_place(&world->model, &options, SECTION, &bytes, &error))
		errx(EXIT_FAILURE, "%s", error.text);
	must(eh2sframe_walk_open(
		 &world->section, bytes.data, bytes.size, SECTION, 0, UINT64_MAX),
	    "eh2sframe_walk_open");
	wrong = walk_back(world, NULL);
	if (!wrong)
		wrong = walk_back(world, &cache);
	if (!wrong)
		wrong = walk_back(world, &cache);
	index = malloc(eh2sframe_walk_index_size(&world->section));
	must(index, "malloc");
	eh2sframe_walk_index_make(&world->section, index);
	if (!wrong)
		wrong = walk_back(world, NULL);
	free(index);
	wr_deinit(&bytes);
	return wrong;
}

static bool run_abi(uint8_t version, uint8_t abi, size_t count, uint64_t seed)
{
	struct world *world = calloc(1, sizeof(*world));
	const char *wrong = NULL;
	size_t n = 0;

	must(world, "calloc");
	for (; n < count && !wrong; n++) {
		*world = (struct world){.abi = sf_abi_find(abi),
		    .version = version,
		    .seed = (seed + n + 1) * UINT64_C(0xd1342543de82ef95),
		    .text_end = TEXT,
		    .sp = STACK + 8 * (WORDS - 64)};
		for (size_t i = 0; i < 2 * WORDS; i++)
			world->memory[i / WORDS][i % WORDS] = random_word(world);
		world->fp = random_word(world);
		world->model = (struct sf_section){.abi = abi,
		    .big_endian = world->abi->big_endian,
		    .fixed_ra_off = world->abi->fixed_ra_off};
		make_stack(world, 1 + below(world, MAX_DEPTH - 1));
		wrong = run(world);
		sf_section_deinit(&world->model);
	}
	if (wrong)
		printf("# seed %" PRIu64 ": %s\n", seed + n - 1, wrong);
	free(world);
	return !wrong;
}

int main(int argc, char **argv)
{
	size_t count = argc > 1 ? strtoul(argv[1], NULL, 0) : 100;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	unsigned int n = 0;
	bool good = true;

	for (uint8_t abi = 1; sf_abi_find(abi); abi++) {
		for (uint8_t version = sf_abi_find(abi)->since; version <= 3; version++) {
			bool passed = run_abi(version, abi, count, seed);

			printf("%sok %u - %s, version %u\n", passed ? "" : "not ", ++n,
			    sf_abi_find(abi)->name, version);
			good &= passed;
		}
	}
	printf("1..%u\n", n);
	return good && n >= 11 ? EXIT_SUCCESS : EXIT_FAILURE;
}
