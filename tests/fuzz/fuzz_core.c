/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a core file: what is mapped where, and each ELF image in it as a file. No other file is opened. An
 * image that opens is one whose CFI can be asked for.
 */
#include "tests/fuzz/fuzz.h"

#include "cfi/frames.h"
#include "gen/input/input.h"
#include "gen/memory/memory.h"

const char *const fuzz_section = NULL;

static void check_kind(const struct err *err)
{
	FUZZ_ASSERT(err->kind == ERR_MALFORMED || err->kind == ERR_UNSUPPORTED ||
			err->kind == ERR_LIMIT || err->kind == ERR_NOTHING,
	    "kind %d: %s", (int)err->kind, err->text);
}

static void check_stretches(const struct memory *memory)
{
	for (size_t i = 0; i < memory->n_ranges; i++) {
		const struct memory_range *range = &memory->ranges[i];

		FUZZ_ASSERT(range->start < range->end, "range %zu", i);
		FUZZ_ASSERT(!i || range[-1].end <= range->start, "range %zu", i);
		FUZZ_ASSERT(range->have <= range->end - range->start, "range %zu", i);
		FUZZ_ASSERT(
		    !range->have || (range->at < memory->core.size &&
					range->have <= memory->core.size - range->at),
		    "range %zu", i);
		FUZZ_ASSERT(memory_range_at(memory, range->end - 1) == range, "at");
		FUZZ_ASSERT(memory_have(memory, range->start, range->have) == range->have,
		    "have");
	}
	for (size_t i = 1; i < memory->n_names; i++)
		FUZZ_ASSERT(
		    memory->names[i - 1].end <= memory->names[i].start, "name %zu", i);
}

static void check_image(const struct image *image)
{
	struct cfi_section section;
	struct cfi_frames frames;
	struct err err = {0};
	uint64_t hdr_size;
	bool found;

	FUZZ_ASSERT(image->origin && image->origin->of, "no origin");
	FUZZ_ASSERT(!image->origin->path, "a file was looked for");
	if (!image_eh_frame(image, &section, &found, &hdr_size, &err))
		check_kind(&err);
	else if (found && cfi_frames_read(&section, &frames, &err))
		cfi_frames_deinit(&frames);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory memory;
	struct err err = {0};

	if (!memory_open_core_bytes(data, size, "core", &memory, &err)) {
		check_kind(&err);
		return 0;
	}
	check_stretches(&memory);
	for (size_t i = 0; i < memory.n_images; i++) {
		const struct memory_image *of = &memory.images[i];
		struct err why = {0};
		struct image image;

		FUZZ_ASSERT(memory_image_find(&memory, of->name, &why) == of, "name");
		if (memory_image_open(&memory, of, of->name, NULL, &image, &why)) {
			check_image(&image);
			image_close(&image);
		} else {
			check_kind(&why);
		}
	}
	memory_close(&memory);
	return 0;
}
