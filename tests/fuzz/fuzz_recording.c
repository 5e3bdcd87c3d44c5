/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a recording: loaded, and what was understood written in each format. A raw recording also brings the file
 * whose rows its copies of stacks are walked by.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profile/output/output.h"
#include "profile/profile.h"
#include "profile/perfdata/event.h"

const char *const fuzz_section = NULL;

static void check_profile(const struct profile *profile)
{
	for (size_t i = 0; i < profile->n_frames; i++)
		FUZZ_ASSERT(
		    profile->frames[i].kind <= PROFILE_FRAME_UNKNOWN, "frame %zu", i);
	for (size_t i = 0; i < profile->n_samples; i++) {
		const struct profile_sample *sample = &profile->samples[i];

		FUZZ_ASSERT(sample->stack < profile->n_stacks, "sample %zu", i);
		FUZZ_ASSERT(sample->thread < profile->n_threads, "sample %zu", i);
		FUZZ_ASSERT(sample->why < PROFILE_N_WHYS, "sample %zu", i);
	}
}

/* Stacks share their ends, so that few bytes can stand for a text of any size. */
static bool is_short(const struct profile *profile)
{
	uint64_t *depths = calloc(profile->n_stacks + 1, sizeof(*depths)), n = 0;

	FUZZ_ASSERT(depths, "no memory for %s", "depths");
	for (size_t i = 1; i < profile->n_stacks; i++) {
		FUZZ_ASSERT(profile->stacks[i].caller < i, "stack %zu", i);
		depths[i] = depths[profile->stacks[i].caller] + 1;
	}
	for (size_t i = 0; i < profile->n_samples; i++)
		n += depths[profile->samples[i].stack];
	free(depths);
	return n < 20000;
}

static void write_all(const struct profile *profile)
{
	const struct naming_options options = {0};
	struct naming naming = {0};
	struct err err = {0};
	FILE *out = fopen("/dev/null", "w");

	FUZZ_ASSERT(out, "cannot open %s", "/dev/null");
	FUZZ_ASSERT(naming_run(profile, &options, &naming, &err), "%s", err.text);
	FUZZ_ASSERT(output_folded(profile, &naming, out, &err) || err.kind == ERR_LIMIT,
	    "%s", err.text);
	FUZZ_ASSERT(
	    output_page(profile, &naming, "0", out, &err) || err.kind == ERR_LIMIT, "%s",
	    err.text);
	FUZZ_ASSERT(
	    output_firefox(profile, &naming, "0", out, &err) || err.kind == ERR_LIMIT,
	    "%s", err.text);
	naming_free(&naming);
	fclose(out);
}

static bool is_in(const void *part, size_t part_size, const uint8_t *all, size_t size)
{
	const uintptr_t at = (uintptr_t)part - (uintptr_t)all;

	return !part || (at <= size && part_size <= size - at);
}

/* Pointers of an event must lie in its record, and a copy must have the same stack. */
static void check_event(
    const uint8_t *bytes, size_t size, const struct event_layout *layout)
{
	static uint8_t copied[EVENT_MAX_SIZE];
	struct event event, copy;
	size_t n;

	if (!event_read(bytes, size, layout, &event))
		return;
	FUZZ_ASSERT(!event.text || memchr(event.text, 0,
				       size - (size_t)(event.text - (const char *)bytes)),
	    "text of a record of %zu bytes", size);
	FUZZ_ASSERT(event.build_id_size <= EVENT_MAX_BUILD_ID &&
			is_in(event.build_id, event.build_id_size, bytes, size),
	    "build-id of %u bytes", event.build_id_size);
	FUZZ_ASSERT(
	    event.n_chain <= size && is_in(event.chain, event.n_chain * 8, bytes, size),
	    "%zu callers", event.n_chain);
	FUZZ_ASSERT(is_in(event.raw, event.raw_size, bytes, size), "%zu bytes of raw",
	    event.raw_size);
	FUZZ_ASSERT(
	    is_in(event.registers, 8 * (size_t)__builtin_popcountll(event.register_mask),
		bytes, size),
	    "registers %llx", (unsigned long long)event.register_mask);
	FUZZ_ASSERT(is_in(event.stack, event.stack_size, bytes, size),
	    "%zu bytes of stack", event.stack_size);
	if (layout->sample_type != EVENT_SAMPLE_TYPE)
		return;
	n = event_copy(copied, bytes, size, layout);
	FUZZ_ASSERT(
	    n <= size && event_read(copied, n, layout, &copy), "copy of %zu bytes", n);
	FUZZ_ASSERT(
	    copy.kind == event.kind &&
		copy.stack_size == (event.stack_size & ~(size_t)7) &&
		(!copy.stack_size || !memcmp(copy.stack, event.stack, copy.stack_size)),
	    "another stack of %zu bytes", copy.stack_size);
}

/* A record may begin at each byte. */
static void check_events(const uint8_t *data, size_t size)
{
	const struct event_layout own = {
	    .sample_type = EVENT_SAMPLE_TYPE, .registers = 0xff0fff, .id_all = true};
	/* The members that the last byte but one says. */
	const uint64_t bits = size > 1 ? UINT64_C(0x010101) * data[size - 2] : 0;
	const struct event_layout any = {.sample_type = bits,
	    .read_format = bits & 31,
	    .branches = bits,
	    .registers = bits,
	    .id_all = bits & 1};
	struct perf_event_header header;
	size_t n = 0;

	for (size_t at = 0; at + sizeof(header) <= size && n < 64; at++) {
		memcpy(&header, data + at, sizeof(header));
		if (header.type == 0 || header.type >= PERF_RECORD_MAX ||
		    header.size < sizeof(header) || header.size > size - at)
			continue;
		check_event(data + at, header.size, &own);
		check_event(data + at, header.size, &any);
		n++;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile profile = {0};
	struct err err = {0};
	int fd = memfd_create("recording", MFD_CLOEXEC);

	check_events(data, size);
	FUZZ_ASSERT(fd >= 0 && write(fd, data, size) == (ssize_t)size &&
			lseek(fd, 0, SEEK_SET) == 0,
	    "cannot write %zu bytes", size);
	FUZZ_ASSERT(profile_init(&profile, &err), "%s", err.text);
	if (profile_load(&profile, fd, !(size & 1), &err)) {
		check_profile(&profile);
		if (is_short(&profile))
			write_all(&profile);
	} else {
		FUZZ_ASSERT(err.kind == ERR_MALFORMED || err.kind == ERR_UNSUPPORTED ||
				err.kind == ERR_LIMIT,
		    "kind %d: %s", (int)err.kind, err.text);
	}
	profile_free(&profile);
	close(fd);
	return 0;
}
