/* SPDX-License-Identifier: MIT */
/*
 * A compiler in memory, as small as can be. It makes functions and their .eh_frame, one after the other. libeh2sframe
 * makes SFrame of each, and the walker takes it. Then the function calls back, and the stack is walked through it.
 * Another thread walks all the time. `jit 100000` makes 100,000 functions, of which 256 are there at once. The code is
 * of x86-64.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "eh2sframe.h"
#include "eh2sframe.h"

enum { N_SLOTS = 256, SLOT_BYTES = 64, MAX_FRAMES = 64 };

static _Alignas(64) char memory[4 * EH2SFRAME_WALK_MEMORY];
static uint8_t *code; /* the slots, and one more of the thread */
static void *sections[N_SLOTS + 1];

/* push %rbp; sub $size,%rsp; call *%rdi; add $size,%rsp; pop %rbp; ret */
static void emit_code(uint8_t *at, uint8_t size)
{
	const uint8_t bytes[] = {
	    0x55, 0x48, 0x83, 0xec, size, 0xff, 0xd7, 0x48, 0x83, 0xc4, size, 0x5d, 0xc3};

	memset(at, 0xcc, SLOT_BYTES);
	memcpy(at, bytes, sizeof(bytes));
}

/* A CIE and an FDE for it (LSB core, "Exception Frames"). */
static size_t emit_frames(uint8_t *at, const uint8_t *function, uint8_t size)
{
	const uint64_t range[2] = {(uintptr_t)function, 13};
	const uint8_t cie[24] = {20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1,
	    0 /* absolute */, 0x0c, 7, 8, /* DW_CFA_def_cfa rsp+8 */
	    0x90, 1, 0, 0};		  /* DW_CFA_offset RA at cfa-8 */
	const uint8_t front[8] = {44, 0, 0, 0, 28, 0, 0, 0};
	const uint8_t rules[24] = {0 /* no more augmentation */, 0x41, 0x0e, 16, 0x86,
	    2,				      /* push */
	    0x44, 0x0e, (uint8_t)(16 + size), /* sub */
	    0x46, 0x0e, 16,		      /* add */
	    0x41, 0x0e, 8};		      /* pop */

	memcpy(at, cie, 24);
	memcpy(at + 24, front, 8);
	memcpy(at + 32, range, 16);
	memcpy(at + 48, rules, 24);
	return 72;
}

/* SFrame for the function in a slot, for the walker. */
static bool add(size_t slot, uint8_t size)
{
	uint8_t frames[96], *function = code + slot * SLOT_BYTES;
	const struct eh2sframe_frames in_memory = {.struct_size = sizeof(in_memory),
	    .bytes = frames,
	    .size = emit_frames(frames, function, size),
	    .address =
		(uintptr_t)function, /* any will do: no pointer here counts from it */
	    .machine = 62};
	struct eh2sframe_error error = {.text = ""};
	struct eh2sframe_result *result = NULL;
	struct eh2sframe_file *file =
	    eh2sframe_open_frames(&in_memory, "jit", NULL, &error);
	uint64_t start, end;
	size_t n;
	bool ok;

	emit_code(function, size);
	if (file)
		result = eh2sframe_convert(file, NULL, &error);
	ok = result && eh2sframe_file_text(file, &start, &end) &&
	     eh2sframe_result_section(result, start, &sections[slot], &n, &error) &&
	     eh2sframe_walk_add(sections[slot], n, start, start, end);
	eh2sframe_result_free(result);
	eh2sframe_close(file);
	if (!ok)
		fprintf(stderr, "jit: function in slot %zu: %s\n", slot, error.text);
	return ok;
}

static void drop(size_t slot)
{
	eh2sframe_walk_remove(sections[slot]);
	eh2sframe_free(sections[slot]);
	sections[slot] = NULL;
}

/* Result of the walk that the made functions call: the number of frames, if it reached the outermost one. */
static __thread size_t n_frames;

static void called(void)
{
	enum eh2sframe_walk_why why;
	uintptr_t pcs[MAX_FRAMES];
	size_t n = eh2sframe_walk_backtrace(NULL, pcs, MAX_FRAMES, &why);

	n_frames = why == EH2SFRAME_WALK_WHY_OUTERMOST ? n : 0;
}

/* Calls the function in a slot. The walk through it must have one frame more than the walk without it. */
static __attribute__((noinline)) bool walks_through(size_t slot)
{
	void (*function)(void (*)(void)) =
	    (void (*)(void (*)(void)))(uintptr_t)(code + slot * SLOT_BYTES);
	size_t without;

	called();
	without = n_frames;
	function(called);
	return without > 0 && n_frames == without + 1;
}

static atomic_bool stop;
static atomic_size_t n_walks, n_wrong;

static void *walk_on(void *unused)
{
	(void)unused;
	while (!atomic_load(&stop)) {
		atomic_fetch_add(&n_wrong, !walks_through(N_SLOTS));
		atomic_fetch_add(&n_walks, 1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct eh2sframe_walk_options options = {
	    .struct_size = sizeof(options), .rows = eh2sframe_rows_module};
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000, i, wrong = 0;
	pthread_t thread;

	code = mmap(NULL, (N_SLOTS + 1) * SLOT_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED ||
	    !eh2sframe_walk_init(memory, sizeof(memory), &options) || !add(N_SLOTS, 32) ||
	    pthread_create(&thread, NULL, walk_on, NULL) != 0)
		return 1;
	for (i = 0; i < n; i++) {
		size_t slot = i % N_SLOTS;

		if (sections[slot])
			drop(slot);
		if (!add(slot, (uint8_t)(16 + 16 * (i % 5))))
			break;
		wrong += !walks_through(slot);
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	printf("%zu functions came and went, %zu walks wrong; %zu walks of another "
	       "thread, %zu wrong\n",
	    i, wrong, atomic_load(&n_walks), atomic_load(&n_wrong));
	return i < n || wrong > 0 || atomic_load(&n_walks) == 0 ||
	       atomic_load(&n_wrong) > 0;
}
