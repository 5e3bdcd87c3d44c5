/* SPDX-License-Identifier: MIT */
/*
 * A file that another program writes to while the command reads it. The writer strikes where it hurts: between two
 * reads, and between two allocations, which is where one pass ends and the next begins. What it writes is
 * damage as the other targets have it, and what was there before. Whatever it does: a status of the
 * contract, nothing left lying about, and OUT is as it was or is proven.
 */
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/fuzz/driver/edit.h"
#include "tests/fuzz/scene.h"

const char *const fuzz_section = NULL;

/* Files of more than 8 MiB are not copied before the first look at them. */
enum { MOST_PLACES = 32, LARGE = 9 << 20 };

static struct {
	int fd; /* the input; -1: nobody writes */
	const uint8_t *bytes[2];
	struct {
		size_t off, size;
	} places[MOST_PLACES]; /* where the two differ */
	size_t n;
	uint64_t state;
	bool large; /* the file gets a long tail */
} writer = {.fd = -1};

/* Not each time: a pass must also see the same bytes to its end. */
static void writer_strikes(void)
{
	size_t i;

	writer.state = writer.state * UINT64_C(0x5851f42d4c957f2d) + 1;
	if (writer.fd < 0 || !writer.n || writer.state >> 62)
		return;
	i = (writer.state >> 32) % writer.n;
	(void)!pwrite(writer.fd,
	    writer.bytes[writer.state >> 61 & 1] + writer.places[i].off,
	    writer.places[i].size, (off_t)writer.places[i].off);
}

/* In front of libc's. */
ssize_t pread(int fd, void *to, size_t size, off_t off)
{
	ssize_t n = syscall(SYS_pread64, fd, to, size, off);

	writer_strikes();
	return n;
}

/* Only with a sanitizer is there something to be seen. */
int __sanitizer_install_malloc_and_free_hooks(
    void (*on_malloc)(const volatile void *, size_t),
    void (*on_free)(const volatile void *)) __attribute__((weak));

static void writer_on_malloc(const volatile void *block, size_t size)
{
	(void)block;
	(void)size;
	writer_strikes();
}

static void writer_on_free(const volatile void *block)
{
	(void)block;
}

/* Bytes that stand side by side are written at once. */
static void writer_find_places(size_t size)
{
	writer.n = 0;
	for (size_t at = 0; at < size && writer.n < MOST_PLACES; at++) {
		const size_t start = at;

		while (at < size && writer.bytes[0][at] != writer.bytes[1][at])
			at++;
		if (at == start)
			continue;
		writer.places[writer.n].off = start;
		writer.places[writer.n++].size = at - start;
	}
}

/* A word that a pass may take for a length or a number: as far as its part of the file goes, or hardly any. */
static struct edit writer_word(const struct map *map)
{
	const uint64_t random = writer.state >> 16;
	const struct region *region = &map->list[random % map->n];
	const size_t near = region->size < 64 || random >> 40 & 1 ? region->size : 64;
	struct edit edit = {.kind = EDIT_SET, .region = region, .n = 4};

	edit.off = near < 8 ? 0 : (size_t)(random >> 20) % (near / 4) * 4;
	edit.value = random >> 41 & 1 ? region->size - edit.off - 4 : random >> 42 & 31;
	return edit;
}

/* One command on a file that begins as data and is written to. */
static int writer_meets(
    const char *words, const char *out, const uint8_t *data, size_t size)
{
	int status;

	scene_write(scene.in, data, size);
	FUZZ_ASSERT(!writer.large || truncate(scene.in, LARGE) == 0,
	    "cannot make %s larger", scene.in);
	writer.fd = open(scene.in, O_WRONLY | O_CLOEXEC);
	FUZZ_ASSERT(writer.fd >= 0, "cannot open %s", scene.in);
	status = out && out != scene.in ? scene_writes(words, scene.in, out)
					: scene_command(words, scene.in, out);
	close(writer.fd);
	writer.fd = -1;
	return status;
}

static void writer_meets_all(const uint8_t *data, size_t size)
{
	static const char *const reads[] = {"report -v --functions", "report --derive",
	    "dump", "verify", "verify --witness=code", "lint", "check"};
	static const char *const writes[] = {"-q --format=2", "-q --format=3",
	    "-q --format=2 --code=repair", "-q --format=3 --derive",
	    "-q --format=2 --refresh"};
	static const char *const proofs[] = {"", "", " --code=repair", " --derive", ""};

	for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++)
		writer_meets(reads[i], NULL, data, size);
	writer_meets("section -q", scene.out, data, size);
	writer_meets("remove", scene.out, data, size);
	for (size_t i = 0; i < sizeof(writes) / sizeof(writes[0]); i++) {
		const char *out = i ? scene.out : scene.in;
		char proof[40];

		if (writer_meets(writes[i], out, data, size) != 0)
			continue;
		snprintf(proof, sizeof(proof), "verify -q%s", proofs[i]);
		FUZZ_ASSERT(
		    scene_command(proof, out, NULL) == 0, "%s: not proven", writes[i]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct edit edits[EDIT_MAX];
	struct map map;
	struct wr other;
	size_t n;

	if (!scene.pid && __sanitizer_install_malloc_and_free_hooks)
		__sanitizer_install_malloc_and_free_hooks(
		    writer_on_malloc, writer_on_free);
	scene_open();
	scene.changes = true;
	writer.state = size;
	for (size_t i = 0; i < size; i++)
		writer.state = writer.state * 31 + data[i];
	writer.large = writer.state % 4 == 0;
	map_read(data, size, &map);
	if (!map.n)
		return 0; /* not a byte */
	n = edit_random(&map, data, size, &writer.state, edits);
	if (writer.state >> 63) {
		edits[0] = writer_word(&map);
		n = 1;
	}
	wr_init(&other, false);
	wr_bytes(&other, data, size);
	for (size_t i = 0; i < n; i++)
		edit_apply(&edits[i], &other);
	writer.bytes[0] = data;
	writer.bytes[1] = other.data;
	writer_find_places(other.size < size ? other.size : size);
	writer_meets_all(data, size);
	wr_deinit(&other);
	return 0;
}
