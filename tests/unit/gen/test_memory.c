/* SPDX-License-Identifier: MIT */
/* A core file made by hand: its stretches, the names in it, and an image that a loader has moved. */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/wr.h"
#include "gen/input/input.h"
#include "gen/memory/memory.h"

enum { PAGE = 4096, IMAGE_SIZE = 0x200, DYNAMIC_AT = 0x100, GOT = 0x180 };
#define BIAS UINT64_C(0x7f0000000000)

static struct wr file;
static struct memory memory;
static struct image image;
static struct err err;

/* A segment of the core: bytes are zeros. */
struct part {
	uint64_t addr, memory, in_file;
	uint32_t flags;
};

static void header(struct wr *wr, uint16_t type, uint16_t n_phdrs)
{
	const uint8_t ident[EI_NIDENT] = {
	    ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT};

	wr_bytes(wr, ident, sizeof(ident));
	wr_u16(wr, type);
	wr_u16(wr, EM_X86_64);
	wr_u32(wr, EV_CURRENT);
	wr_u64(wr, 0);
	wr_u64(wr, sizeof(Elf64_Ehdr));
	wr_zeros(wr, 8 + 4); /* section headers, flags */
	wr_u16(wr, sizeof(Elf64_Ehdr));
	wr_u16(wr, sizeof(Elf64_Phdr));
	wr_u16(wr, n_phdrs);
	wr_u16(wr, sizeof(Elf64_Shdr));
	wr_zeros(wr, 4);
}

static void program_header(struct wr *wr, uint32_t type, uint32_t flags, uint64_t offset,
    uint64_t addr, uint64_t in_file, uint64_t in_memory)
{
	wr_u32(wr, type);
	wr_u32(wr, flags);
	wr_u64(wr, offset);
	wr_u64(wr, addr);
	wr_u64(wr, 0);
	wr_u64(wr, in_file);
	wr_u64(wr, in_memory);
	wr_u64(wr, 1);
}

/* Makes a core of parts. Their bytes begin at the second page. */
static void make(const struct part *parts, size_t n)
{
	uint64_t at = PAGE;

	wr_init(&file, false);
	header(&file, ET_CORE, (uint16_t)n);
	for (size_t i = 0; i < n; i++) {
		program_header(&file, PT_LOAD, parts[i].flags, at, parts[i].addr,
		    parts[i].in_file, parts[i].memory);
		at += parts[i].in_file;
	}
	wr_zeros(&file, at - file.size);
}

static bool open_core(void)
{
	ck_assert(!file.failed);
	return memory_open_core_bytes(file.data, file.size, "core", &memory, &err);
}

static void setup(void)
{
	err = (struct err){0};
	image.fd = -1;
}

static void teardown(void)
{
	image_close(&image);
	memory_close(&memory);
	wr_deinit(&file);
}

START_TEST(stretches)
{
	/* Two that follow each other, one that the core has in part, one behind a hole. */
	static const struct part parts[] = {{0x20000, PAGE, PAGE, PF_R},
	    {0x10000, PAGE, PAGE, PF_R}, {0x11000, 2 * PAGE, PAGE, PF_R | PF_X}};
	uint8_t bytes[PAGE];

	make(parts, 3);
	file.data[PAGE + PAGE + PAGE - 1] = 1; /* the last byte of 0x10000 */
	file.data[PAGE + PAGE + PAGE] = 2;     /* the first of 0x11000 */
	ck_assert_msg(open_core(), "%s", err.text);
	ck_assert_uint_eq(memory.n_ranges, 3);
	ck_assert_uint_eq(memory.ranges[0].start, 0x10000);
	ck_assert(!memory.ranges[0].executable && memory.ranges[1].executable);
	ck_assert_uint_eq(memory_have(&memory, 0x10010, 16), 16);
	ck_assert_uint_eq(memory_have(&memory, 0x10010, 0x9000), 2 * PAGE - 0x10);
	ck_assert_uint_eq(memory_have(&memory, 0x12000, 1), 0);
	ck_assert_uint_eq(memory_have(&memory, 0xffff, 1), 0);
	ck_assert_uint_eq(memory_have(&memory, UINT64_MAX, 2), 0);
	ck_assert_uint_eq(memory_lack(&memory, 0x12000, 0x100000), 0x20000 - 0x12000);
	ck_assert_uint_eq(memory_lack(&memory, 0x12000, 16), 16);
	ck_assert_uint_eq(memory_lack(&memory, 0x10000, 16), 0);
	ck_assert_uint_eq(memory_lack(&memory, 0x21000, 16), 16);
	ck_assert(memory_read(&memory, 0x10fff, bytes, 2, &err));
	ck_assert_uint_eq(bytes[0], 1);
	ck_assert_uint_eq(bytes[1], 2);
	ck_assert(!memory_read(&memory, 0x11fff, bytes, 2, &err));
	ck_assert_ptr_null(memory_range_at(&memory, 0x13000));
	ck_assert_ptr_eq(memory_range_at(&memory, 0x12fff), &memory.ranges[1]);
	ck_assert_uint_eq(memory.n_images, 0);
}
END_TEST

START_TEST(cut_off)
{
	static const struct part parts[] = {
	    {0x10000, PAGE, PAGE, PF_R}, {0x20000, PAGE, PAGE, PF_R}};

	make(parts, 2);
	file.size = PAGE + 0x10;
	ck_assert_msg(open_core(), "%s", err.text);
	ck_assert_uint_eq(memory.ranges[0].have, 0x10);
	ck_assert_uint_eq(memory.ranges[1].have, 0);
	ck_assert_uint_eq(memory_lack(&memory, 0x10010, 0x20000), 0x20000);
}
END_TEST

/* A library at BIAS whose dynamic section has an address that the loader has moved. */
static void make_image(uint64_t got)
{
	static const struct part parts[] = {{BIAS, PAGE, PAGE, PF_R | PF_X}};
	struct wr wr;

	make(parts, 1);
	wr_init(&wr, false);
	header(&wr, ET_DYN, 2);
	program_header(&wr, PT_LOAD, PF_R | PF_X, 0, 0, IMAGE_SIZE, IMAGE_SIZE);
	program_header(&wr, PT_DYNAMIC, PF_R, DYNAMIC_AT, DYNAMIC_AT, 0x40, 0x40);
	wr_zeros(&wr, DYNAMIC_AT - wr.size);
	wr_u64(&wr, DT_DEBUG);
	wr_u64(&wr, BIAS + GOT);
	wr_u64(&wr, DT_PLTGOT);
	wr_u64(&wr, got);
	ck_assert(!wr.failed);
	memcpy(file.data + PAGE, wr.data, wr.size);
	wr_deinit(&wr);
}

static void open_image(void)
{
	ck_assert_msg(open_core(), "%s", err.text);
	ck_assert_uint_eq(memory.n_images, 1);
	ck_assert_str_eq(memory.images[0].name, "[0x7f0000000000]");
	ck_assert_ptr_eq(
	    memory_image_find(&memory, "[0x7f0000000000]", &err), memory.images);
	ck_assert_msg(
	    memory_image_open(&memory, memory.images, "library", NULL, &image, &err),
	    "%s", err.text);
}

START_TEST(moved)
{
	uint64_t value = 0;

	make_image(_i ? GOT : BIAS + GOT);
	open_image();
	ck_assert_uint_eq(image.size, IMAGE_SIZE);
	ck_assert_uint_eq(image.phdrs[0].p_vaddr, 0);
	ck_assert(image_dynamic(&image, DT_PLTGOT, &value));
	ck_assert_uint_eq(value, GOT);
	/* It is not an address in the image. */
	ck_assert(image_dynamic(&image, DT_DEBUG, &value));
	ck_assert_uint_eq(value, BIAS + GOT);
	ck_assert_uint_eq(image.origin->address, BIAS);
	ck_assert_uint_eq(image.origin->memory, IMAGE_SIZE);
	ck_assert_uint_eq(image.origin->rest, 0);
	ck_assert_ptr_null(image.origin->path);
	ck_assert_str_eq(image.origin->of, "core core");
}
END_TEST

/* The core is gone before the image. */
START_TEST(kept)
{
	make_image(GOT);
	open_image();
	memory_close(&memory);
	wr_deinit(&file);
	ck_assert_uint_eq(image.bytes[0], ELFMAG0);
	ck_assert_uint_eq(image.bytes[DYNAMIC_AT], DT_DEBUG);
}
END_TEST

/* Not mapped as code, so it is some file that was looked at. */
START_TEST(data)
{
	make_image(GOT);
	file.data[sizeof(Elf64_Ehdr) + 4] = PF_R;
	ck_assert_msg(open_core(), "%s", err.text);
	ck_assert_uint_eq(memory.n_images, 0);
	ck_assert_ptr_null(memory_image_find(&memory, "[0x7f0000000000]", &err));
	ck_assert_int_eq(err.kind, ERR_IO);
}
END_TEST

/* What a process had mapped is known, and it ends before its memory is read. */
START_TEST(ended)
{
	struct memory_range range = {.start = (uintptr_t)&memory & ~(uintptr_t)(PAGE - 1),
	    .have = PAGE,
	    .executable = true};
	char path[64];
	pid_t child;

	range.end = range.start + PAGE;
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		pause();
		_exit(0);
	}
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)child);
	memory = (struct memory){.fd = open(path, O_RDONLY | O_CLOEXEC)};
	memory.shown = strdup("process");
	ck_assert_int_ge(memory.fd, 0);
	ck_assert(memory_add_range(&memory, &range));
	ck_assert(memory_add_name(&memory, range.start, range.end, 0, "/a/program"));
	ck_assert_msg(memory_find_images(&memory, &err), "%s", err.text);
	ck_assert_uint_eq(memory.n_images, 0);
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	ck_assert(!memory_find_images(&memory, &err));
	ck_assert_int_eq(err.kind, ERR_IO);
	ck_assert_ptr_nonnull(strstr(err.text, "has ended meanwhile"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memory");
	TCase *tcase = tcase_create("memory");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, stretches);
	tcase_add_test(tcase, cut_off);
	tcase_add_loop_test(tcase, moved, 0, 2);
	tcase_add_test(tcase, kept);
	tcase_add_test(tcase, data);
	tcase_add_test(tcase, ended);
	suite_add_tcase(suite, tcase);
	return unit_main(suite);
}
