/* SPDX-License-Identifier: MIT */
/* Facts about an open file: its segments, its build-id, its functions by symbols and by CFI. */
#include <elf.h>
#include <inttypes.h>
#include <string.h>

#include "tests/lib/lib.h"

/* The functions that were given. */
struct functions {
	struct eh2sframe_symbol *list;
	size_t n, cap, stop; /* stop: after so many; 0: never */
	bool ascend, wrong;
};

static bool functions_add(void *context, const struct eh2sframe_symbol *symbol)
{
	struct functions *all = context;

	if (all->n == all->cap) {
		all->cap = 2 * all->cap + 16;
		all->list = realloc(all->list, all->cap * sizeof(*all->list));
	}
	all->wrong |=
	    symbol->struct_size != sizeof(*symbol) || (all->stop && all->n >= all->stop);
	all->ascend &= !all->n || all->list[all->n - 1].start <= symbol->start;
	all->list[all->n++] = *symbol;
	return all->n != all->stop;
}

static struct functions functions_of(
    const struct eh2sframe_file *file, enum eh2sframe_origin origin, size_t stop)
{
	struct functions all = {.stop = stop, .ascend = true};
	struct eh2sframe_error error = {0};

	if (!eh2sframe_file_functions(file, origin, functions_add, &all, &error)) {
		printf("# %s\n", error.text);
		all.wrong = true;
	}
	return all;
}

/* True if an FDE begins at a place. */
static bool functions_have(const struct functions *all, uint64_t start, uint64_t size)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->list[i].start == start && all->list[i].size == size)
			return true;
	return false;
}

/* Each gap is in a function of the CFI, and the last name at a place is the one that a result has. */
static void test_lists(const struct eh2sframe_file *file, const char *path)
{
	struct functions symbols = functions_of(file, EH2SFRAME_ORIGIN_SYMBOLS, 0);
	struct functions starts = functions_of(file, EH2SFRAME_ORIGIN_EH_FRAME, 0);
	struct functions first = functions_of(file, EH2SFRAME_ORIGIN_EH_FRAME, 1);
	struct eh2sframe_result *result = eh2sframe_convert(file, NULL, NULL);
	struct eh2sframe_gap gap = {.struct_size = sizeof(gap)};
	size_t n_other = 0, n_missing = 0;

	for (size_t i = 0; i < symbols.n; i++) {
		const struct eh2sframe_symbol *symbol = &symbols.list[i];
		const char *name;

		if (!symbol->size ||
		    (i + 1 < symbols.n && symbol[1].start == symbol->start))
			continue;
		name = eh2sframe_result_symbol(result, symbol->start);
		n_other += !name || strcmp(name, symbol->name) != 0;
	}
	check(symbols.ascend && !symbols.wrong && n_other == 0,
	    "%s: %zu functions with symbols, %zu of them with other names", path,
	    symbols.n, n_other);
	for (size_t i = 0; eh2sframe_result_gap(result, i, &gap); i++) {
		size_t k = 0;

		while (k < starts.n && starts.list[k].start != gap.function)
			k++;
		n_missing += k == starts.n;
	}
	check(starts.n == eh2sframe_result_count(result, EH2SFRAME_COUNT_FDES) &&
		  starts.ascend && !starts.wrong && !starts.list[0].name && !n_missing,
	    "%s: %zu functions with FDEs, %zu missing", path, starts.n, n_missing);
	check(first.n == 1 && !first.wrong, "%s: no more than were wanted", path);
	free(symbols.list);
	free(starts.list);
	free(first.list);
	eh2sframe_result_free(result);
}

/* The segments with code are where the code is. */
static void test_segments(
    const struct eh2sframe_file *file, const struct bytes *bytes, const char *path)
{
	struct eh2sframe_segment segment = {.struct_size = sizeof(segment)};
	struct eh2sframe_info info = {.struct_size = sizeof(info)};
	uint64_t start = 0, end = 0, lowest = UINT64_MAX, highest = 0, file_end = 0;

	for (size_t i = 0; eh2sframe_file_segment(file, i, &segment); i++) {
		if (segment.type != PT_LOAD)
			continue;
		if (segment.file_size && segment.offset + segment.file_size > file_end)
			file_end = segment.offset + segment.file_size;
		if (!(segment.flags & PF_X))
			continue;
		if (segment.address < lowest)
			lowest = segment.address;
		if (segment.address + segment.memory_size > highest)
			highest = segment.address + segment.memory_size;
	}
	check(eh2sframe_file_text(file, &start, &end) && start == lowest &&
		  end == highest && file_end > 0 && file_end <= bytes->size,
	    "%s: segments, code from 0x%" PRIx64 " to 0x%" PRIx64, path, lowest, highest);
	check(eh2sframe_file_info(file, &info) &&
		  (!info.build_id || memmem(bytes->data, bytes->size, info.build_id,
					 info.build_id_size)) &&
		  (!info.entry || (info.entry >= start && info.entry < end)),
	    "%s: entry point 0x%" PRIx64 ", %" PRIu64 " bytes of build-id", path,
	    info.entry, info.build_id_size);
	/* A caller of an earlier version has a shorter struct. */
	info = (struct eh2sframe_info){
	    .struct_size = offsetof(struct eh2sframe_info, build_id),
	    .build_id_size = 77};
	segment = (struct eh2sframe_segment){.struct_size = sizeof(size_t)};
	check(eh2sframe_file_info(file, &info) && info.build_id_size == 77 &&
		  !eh2sframe_file_segment(file, 0, &segment),
	    "%s: no member outside of the caller's struct", path);
}

static size_t put(uint8_t *to, uint64_t value, size_t size, bool big)
{
	for (size_t i = 0; i < size; i++)
		to[big ? size - 1 - i : i] = (uint8_t)(value >> 8 * i);
	return size;
}

/* A section: a CIE, functions at 0x1000 and at 0x2000 (relative or not), an empty one, the end. */
static size_t encoded(uint8_t *bytes, uint8_t encoding, bool big)
{
	const uint8_t cie[] = {1, 'z', 'P', 'L', 'R', 'S', 0, 1, 0x78, 16, 7, 0x1b, 0, 0,
	    0, 1, 0x1b, encoding};
	size_t size = (encoding & 7) == 4 ? 8 : 4, at = 0;

	at += put(bytes + at, 4 + sizeof(cie), 4, big);
	at += put(bytes + at, 0, 4, big);
	memcpy(bytes + at, cie, sizeof(cie));
	at += sizeof(cie);
	for (uint64_t i = 1; i <= 3; i++) {
		at += put(bytes + at, 4 + 2 * size + 1, 4, big);
		at += put(bytes + at, at, 4, big);
		at += put(bytes + at, 0x1000 * i - (encoding & 0x10 ? 0x800 + at : 0),
		    size, big);
		at += put(bytes + at, i == 3 ? 0 : 0x20, size, big);
		bytes[at++] = 0;
	}
	return at + put(bytes + at, 0, 4, big);
}

/* Functions of CFI with each kind of address, whole and damaged. */
void test_encodings(void)
{
	static const uint8_t ENCODINGS[] = {0x1b, 0x03, 0x04, 0x1c, 0x0c};
	size_t n_right = 0, n_wrong = 0;
	unsigned int seed = 2;

	for (size_t i = 0; i < 2 * sizeof(ENCODINGS) * 1000; i++) {
		const bool big = i % 2, whole = i < 2 * sizeof(ENCODINGS);
		uint8_t bytes[256];
		struct eh2sframe_frames frames = {.struct_size = sizeof(frames),
		    .bytes = bytes,
		    .size = encoded(bytes, ENCODINGS[i / 2 % sizeof(ENCODINGS)], big),
		    .address = 0x800,
		    .text_end = 0x10000,
		    .machine = big ? 22 : 62,
		    .big_endian = big};
		struct eh2sframe_file *file;
		struct functions all;

		if (!whole) {
			bytes[(size_t)rand_r(&seed) % frames.size] =
			    (uint8_t)rand_r(&seed);
			frames.size -=
			    i % 4 < 2 ? 0 : (size_t)rand_r(&seed) % frames.size;
		}
		file = eh2sframe_open_frames(&frames, "encoded", NULL, NULL);
		all = functions_of(file, EH2SFRAME_ORIGIN_EH_FRAME, 0);
		if (whole)
			n_right += all.n == 2 && functions_have(&all, 0x1000, 0x20) &&
				   functions_have(&all, 0x2000, 0x20);
		n_wrong += !file || all.wrong || !all.ascend || all.n > frames.size / 8;
		for (size_t k = 0; k < all.n; k++)
			n_wrong += !all.list[k].size;
		free(all.list);
		eh2sframe_close(file);
	}
	check(n_right == 2 * sizeof(ENCODINGS), "each kind of address: %zu", n_right);
	check(n_wrong == 0, "damaged CFI: %zu times more than is there", n_wrong);
}

void test_functions(const char *path)
{
	struct eh2sframe_file *file = eh2sframe_open_path(path, NULL, NULL);
	struct bytes bytes = file_read(path);

	test_lists(file, path);
	test_segments(file, &bytes, path);
	eh2sframe_close(file);
	bytes_free(&bytes);
}
