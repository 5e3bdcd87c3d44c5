/* SPDX-License-Identifier: MIT */
/*
 * The walker of this project, in three ways: with its cache, as eh2sframe_walk_backtrace has
 * it; without a cache, with page indexes; and without either, from sections as they lie. All
 * three read the same sections, which the library makes of the mapped files.
 */
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/walk/walkers.h"
#include "include/eh2sframe.h"
#include "include/eh2sframe-walk.h"
#include "walk/step.h"

enum { MAX_MODULES = 64, MEMORY = 64 << 20 };

/* The sections with an index, and without. */
static struct module {
	uint64_t start, end;
	struct eh2sframe_walk_section indexed, plain;
} modules[MAX_MODULES];
static size_t n_modules;
static const char *optimize_option;

static bool made(const char *path, struct eh2sframe_walk_module *module)
{
	struct eh2sframe_options *options = eh2sframe_options_new();
	struct eh2sframe_file *file = NULL;
	struct eh2sframe_result *result = NULL;
	void *bytes = NULL;
	bool ok = options && eh2sframe_options_set(options, "format", "3", NULL) &&
		  eh2sframe_options_set(options, "optimize", optimize_option, NULL);

	if (ok)
		file = eh2sframe_open_path(path, options, NULL);
	if (file)
		result = eh2sframe_convert(file, NULL, NULL);
	if (result && eh2sframe_result_section(result, 0, &bytes, &module->size, NULL))
		module->bytes = bytes;
	eh2sframe_result_free(result);
	eh2sframe_close(file);
	eh2sframe_options_free(options);
	return bytes != NULL;
}

/* Both ways read the same bytes. */
static bool rows(void *context, struct eh2sframe_walk_module *module)
{
	(void)context;
	return strchr(module->path, '/') || !*module->path
		   ? made(*module->path ? module->path : "/proc/self/exe", module)
		   : false;
}

static int note(struct dl_phdr_info *info, size_t size, void *context)
{
	struct eh2sframe_walk_module module = {.path = info->dlpi_name};
	struct module *into = &modules[n_modules];

	(void)size;
	if (n_modules == MAX_MODULES || !rows(context, &module))
		return 0;
	into->start = UINT64_MAX;
	into->end = 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *load = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + load->p_vaddr;

		if (load->p_type != PT_LOAD || !(load->p_flags & PF_X))
			continue;
		if (start < into->start)
			into->start = start;
		if (start + load->p_memsz > into->end)
			into->end = start + load->p_memsz;
	}
	if (into->end == 0 || !eh2sframe_walk_open(&into->plain, module.bytes,
				  module.size, info->dlpi_addr, into->start, into->end))
		return 0;
	into->indexed = into->plain;
	eh2sframe_walk_index_make(
	    &into->indexed, malloc(eh2sframe_walk_index_size(&into->indexed)));
	n_modules++;
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct module *one = a, *other = b;

	return one->start < other->start ? -1 : one->start > other->start;
}

bool ours_open(const char *optimize)
{
	const struct eh2sframe_walk_options options = {
	    .struct_size = sizeof(options), .rows = rows};
	void *memory = aligned_alloc(64, MEMORY);

	optimize_option = optimize;
	stack_find();
	dl_iterate_phdr(note, NULL);
	qsort(modules, n_modules, sizeof(*modules), by_start);
	if (!memory || !eh2sframe_walk_init(memory, MEMORY, &options))
		return false;
	eh2sframe_walk_thread();
	return n_modules > 0;
}

/* The module of the last frame is mostly that of the next one. */
WALK_INLINE const struct module *module_of(size_t *last, uint64_t pc)
{
	size_t low = 0, n = n_modules;

	if (pc - modules[*last].start < modules[*last].end - modules[*last].start)
		return &modules[*last];
	while (n > 1) {
		size_t half = n / 2;

		low = modules[low + half].start <= pc ? low + half : low;
		n -= half;
	}
	*last = low;
	return pc - modules[low].start < modules[low].end - modules[low].start
		   ? &modules[low]
		   : NULL;
}

static enum eh2sframe_walk_why find_indexed(
    void *context, uint64_t pc, const struct eh2sframe_walk_section **section)
{
	const struct module *module = module_of(context, pc);

	if (!module)
		return EH2SFRAME_WALK_WHY_NO_MODULE;
	*section = &module->indexed;
	return EH2SFRAME_WALK_WHY_GOES_ON;
}

static enum eh2sframe_walk_why find_plain(
    void *context, uint64_t pc, const struct eh2sframe_walk_section **section)
{
	const struct module *module = module_of(context, pc);

	if (!module)
		return EH2SFRAME_WALK_WHY_NO_MODULE;
	*section = &module->plain;
	return EH2SFRAME_WALK_WHY_GOES_ON;
}

static bool read_stack(void *context, uint64_t address, uint64_t *value)
{
	(void)context;
	if (address < stack_low || address > stack_high - 8)
		return false;
	memcpy(value, (const void *)(uintptr_t)address, 8);
	return true;
}

WALK_INLINE size_t walk_frames(const struct eh2sframe_walk_space *space, uintptr_t pc,
    const uint64_t *record, uintptr_t sp, uintptr_t *pcs, size_t max)
{
	struct eh2sframe_walk_frame frame = {.pc = pc, .sp = sp, .fp = record[0]};
	size_t n = 0;

	while (n < max) {
		pcs[n++] = frame.pc;
		if (walk_step(space, &frame) != EH2SFRAME_WALK_WHY_GOES_ON)
			break;
	}
	return n;
}

/* As eh2sframe_walk_backtrace begins. */
#define WALK_FROM_HERE(space, pcs, max)                                                  \
	walk_frames((space), (uintptr_t)__builtin_return_address(0),                     \
	    __builtin_frame_address(0), (uintptr_t)__builtin_dwarf_cfa(), (pcs), (max))

static __attribute__((noinline)) size_t walk_indexed(uintptr_t *pcs, size_t max)
{
	size_t last = 0;
	const struct eh2sframe_walk_space space = {.machine = EH2SFRAME_WALK_X86_64,
	    .read = read_stack,
	    .find = find_indexed,
	    .context = &last};

	return WALK_FROM_HERE(&space, pcs, max);
}

static __attribute__((noinline)) size_t walk_plain(uintptr_t *pcs, size_t max)
{
	size_t last = 0;
	const struct eh2sframe_walk_space space = {.machine = EH2SFRAME_WALK_X86_64,
	    .read = read_stack,
	    .find = find_plain,
	    .context = &last};

	return WALK_FROM_HERE(&space, pcs, max);
}

static size_t walk_cached(uintptr_t *pcs, size_t max)
{
	return eh2sframe_walk_backtrace(NULL, pcs, max, NULL);
}

size_t ours_list(struct walker *list, size_t n)
{
	list[n++] = (struct walker){"**eh2sframe-walk, cached**", walk_cached};
	list[n++] = (struct walker){"**eh2sframe-walk, page index**", walk_indexed};
	list[n++] = (struct walker){"**eh2sframe-walk, as it lies**", walk_plain};
	return n;
}
