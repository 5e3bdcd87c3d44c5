/* SPDX-License-Identifier: MIT */
/* Opens a good file, each single damage of it, and every shorter length. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include "gen/elf/window.h"
#include "gen/sources/symbols_read.h"
#include "tests/unit/gen/test_image_fixture.h"
#include "base/names/demangle.h"

static struct wr file;
static struct image image;
static struct err err;

static void setup(void)
{
	fix_make(&file);
}

static void teardown(void)
{
	image_close(&image);
	wr_deinit(&file);
}
UNIT_FIXTURE(setup, teardown)

static void open_good(void)
{
	ck_assert_msg(fix_open(file.data, file.size, &image, &err), "%s", err.text);
}

UNIT(tables)
{
	open_good();
	ck_assert_uint_eq(image.n_phdrs, FIX_N_PHDRS);
	ck_assert_uint_eq(image.n_sections, FIX_N_SHDRS);
	ck_assert_str_eq(image.sections[3].name, ".eh_frame");
	ck_assert_ptr_eq(image_section_find(&image, ".text"), &image.sections[1]);
	ck_assert_ptr_null(image_section_find(&image, ".none"));
}

UNIT(addresses)
{
	open_good();
	ck_assert_ptr_eq(image_at_addr(&image, FIX_ADDR + 4, 8), image.bytes + 4);
	ck_assert_ptr_null(image_at_addr(&image, FIX_ADDR - 1, 1));
	ck_assert_ptr_nonnull(image_at_addr(&image, FIX_ADDR + 0x7ff, 1));
	ck_assert_ptr_null(image_at_addr(&image, FIX_ADDR + 0x7ff, 2));
	ck_assert_ptr_null(image_at_addr(&image, FIX_ADDR, UINT64_MAX));
	/* Memory without file bytes. */
	ck_assert_ptr_null(image_at_addr(&image, FIX_ADDR + 0x1900, 1));
	ck_assert(image_is_code(&image, FIX_ADDR, 0x800));
	ck_assert(!image_is_code(&image, FIX_ADDR, 0x801));
	ck_assert(!image_is_code(&image, FIX_ADDR + 0x1800, 1));
	ck_assert(!image_is_code(&image, UINT64_MAX, 2));
}

static void eh_frame(uint64_t want_size)
{
	struct cfi_section section;
	uint64_t hdr_size;
	bool found;

	open_good();
	ck_assert(image_eh_frame(&image, &section, &found, &hdr_size, &err));
	ck_assert(found);
	ck_assert_uint_eq(section.size, want_size);
	ck_assert_uint_eq(section.addr, FIX_ADDR + FIX_EH);
	ck_assert_ptr_eq(section.data, image.bytes + FIX_EH);
	ck_assert_uint_eq(hdr_size, 12);
}

UNIT(eh_frame_by_section)
{
	eh_frame(FIX_EH_SIZE);
}

/* Bytes that no loader has say nothing of the program. */
UNIT(eh_frame_not_loaded)
{
	const size_t header = FIX_SHDRS + 3 * 64;
	struct cfi_section section;
	bool found;

	wr_patch_u64(&file, header + 8, 0);
	open_good();
	ck_assert(image_eh_frame(&image, &section, &found, NULL, &err) && !found);
	image_close(&image);
	wr_patch_u64(&file, header + 8, SHF_ALLOC);
	wr_patch_u64(&file, header + 24, FIX_EH + 8);
	open_good();
	ck_assert(!image_eh_frame(&image, &section, &found, NULL, &err));
	ck_assert_int_eq(err.kind, ERR_MALFORMED);
	ck_assert_ptr_nonnull(strstr(err.text, "no segment"));
}

/* Without section headers the section ends with the zero length, as in libgcc. */
UNIT(eh_frame_by_segment)
{
	memset(file.data + 40, 0, 8);
	memset(file.data + 58, 0, 6);
	eh_frame(16);
}

/* A length leads out of the segment, so the end of the section is unknown. */
UNIT(eh_frame_without_end)
{
	memset(file.data + 40, 0, 8);
	memset(file.data + 58, 0, 6);
	wr_patch_u32(&file, FIX_EH, 0x7fffffff);
	eh_frame(0x800 - FIX_EH);
}

UNIT(eh_frame_bad_pointer)
{
	struct cfi_section section;
	bool found;

	memset(file.data + 40, 0, 8);
	memset(file.data + 58, 0, 6);
	wr_patch_u32(&file, FIX_EH_HDR + 4, 0x70000000);
	open_good();
	ck_assert(!image_eh_frame(&image, &section, &found, NULL, &err));
	ck_assert_int_eq(err.kind, ERR_MALFORMED);
	ck_assert_ptr_nonnull(strstr(err.text, "eh_frame_ptr"));
}

UNIT(symbol_choice)
{
	struct symbols symbols;
	char *name;

	open_good();
	ck_assert(symbols_read(&image, &symbols, &err));
	ck_assert_uint_eq(symbols.n, 4); /* an alias among them */
	ck_assert_str_eq(symbols_find(&symbols, FIX_ADDR + 0x200)->name, "one");
	/* A label inside a function that has a size does not hide it. */
	ck_assert_str_eq(symbols_find(&symbols, FIX_ADDR + 0x250)->name, "one");
	ck_assert_str_eq(symbols_find(&symbols, FIX_ADDR + 0x290)->name, "_Z5threei");
	ck_assert_ptr_null(symbols_find(&symbols, FIX_ADDR + 0x1ff));
	name = symbol_demangle("_Z5threei");
	ck_assert_str_eq(name, "three(int)");
	free(name);
	name = symbol_demangle("main");
	ck_assert_str_eq(name, "main");
	free(name);
	symbols_deinit(&symbols);
}

/* libiberty holds the decoded name while it gives it: LeakSanitizer would find it. */
UNIT(symbol_in_punycode)
{
	static char name[20100], text[SYMBOL_READABLE];

	memset(name, 'a', sizeof(name) - 1);
	memcpy(name, "_RNvC1au20000", strlen("_RNvC1au20000"));
	name[strlen("_RNvC1au20000") + 20000] = '\0';
	ck_assert(!symbol_readable(name, text));
	ck_assert(symbol_readable("_RNvC1au8aaaaaaaa", text));
	ck_assert_uint_eq(strlen(text), strlen("a::") + 8 * 2);
}

UNIT(symbol_without_a_size)
{
	struct symbol list[] = {{100, 0, "label", 0}, {110, 10, "sized", 0}};
	const struct symbols symbols = {list, 2, 2, false};

	ck_assert_str_eq(symbols_find(&symbols, 109)->name, "label");
	ck_assert_str_eq(symbols_find(&symbols, 119)->name, "sized");
	ck_assert_ptr_null(symbols_find(&symbols, 120));
}

/* Changes one field, and expects this message. */
static const struct damage {
	size_t off;
	int width;
	uint64_t value;
	enum err_kind kind;
	const char *text;
} damages[] = {
    {0, 1, 'x', ERR_UNSUPPORTED, "not an ELF file"},
    {EI_CLASS, 1, ELFCLASS32, ERR_UNSUPPORTED, "32-bit"},
    {EI_CLASS, 1, 9, ERR_MALFORMED, "class"},
    {EI_DATA, 1, 0, ERR_MALFORMED, "byte order"},
    {EI_DATA, 1, ELFDATA2MSB, ERR_UNSUPPORTED, ""}, /* e_version reads as 2^24 */
    {EI_VERSION, 1, 2, ERR_UNSUPPORTED, "version"},
    {16, 2, ET_CORE, ERR_UNSUPPORTED, "core"}, {16, 2, 77, ERR_UNSUPPORTED, "file type"},
    {18, 2, EM_SPARCV9, ERR_UNSUPPORTED, "little-endian, 64-bit SPARC v9"},
    {20, 4, 2, ERR_UNSUPPORTED, "version"},
    {32, 8, FIX_SIZE - 4, ERR_MALFORMED, "program header table"},
    {32, 8, UINT64_MAX - 8, ERR_MALFORMED, "program header table"},
    {40, 8, FIX_SIZE, ERR_MALFORMED, "section header table"},
    {40, 8, UINT64_MAX, ERR_MALFORMED, "section header table"},
    {40, 8, 0, ERR_MALFORMED, "no offset"},
    {54, 2, 32, ERR_MALFORMED, "program header table"},
    {56, 2, 0xfff0, ERR_MALFORMED, "program header table"},
    {56, 2, PN_XNUM, ERR_NONE, ""}, /* section header 0 says 0 of them */
    {58, 2, 40, ERR_MALFORMED, "section header table"},
    {60, 2, 0xfff0, ERR_MALFORMED, "section header table"},
    {60, 2, 0, ERR_NONE, ""},	   /* as above */
    {62, 2, 0xfff0, ERR_NONE, ""}, /* names are not needed to read a file */
};

UNIT_EACH(damaged, damages)
{
	const struct damage *damage = &damages[_i];
	bool ok;

	for (int i = 0; i < damage->width; i++)
		file.data[damage->off + (size_t)i] = (uint8_t)(damage->value >> 8 * i);
	ok = fix_open(file.data, file.size, &image, &err);
	ck_assert_int_eq(err.kind, damage->kind);
	ck_assert_int_eq(ok, damage->kind == ERR_NONE);
	ck_assert_msg(strstr(err.text, damage->text) != NULL, "%s", err.text);
}

/* The tables are at both ends, so no shorter file is complete. */
/* Makes n headers of one kind name all bytes of the file. */
static void name_all(uint32_t phdr_type, size_t n)
{
	/* There is room for one more program header than there are. */
	file.data[56] = phdr_type ? FIX_N_PHDRS + 1 : FIX_N_PHDRS;
	for (size_t i = 1; i <= n; i++) {
		const size_t at =
		    phdr_type ? FIX_PHDRS + 56 * (i - 1) : FIX_SHDRS + 64 * i;
		const uint64_t words[] = {htole64(0), htole64(FIX_SIZE)};
		const uint32_t type = htole32(phdr_type ? phdr_type : SHT_PROGBITS);

		memcpy(file.data + at + (phdr_type ? 0 : 4), &type, sizeof(type));
		memcpy(
		    file.data + at + (phdr_type ? 8 : 24), &words[0], sizeof(words[0]));
		memcpy(file.data + at + 32, &words[1], sizeof(words[1]));
	}
}

/* Each kind of header by itself; the other headers of the fixture name less than the file has. */
UNIT_LOOP(sums, 0, 3)
{
	static const uint32_t kinds[] = {0, PT_LOAD, PT_NOTE};

	name_all(kinds[_i], 3);
	open_good();
	image_close(&image);
	name_all(kinds[_i], 5);
	ck_assert(!fix_open(file.data, file.size, &image, &err));
	ck_assert_int_eq(err.kind, ERR_MALFORMED);
	ck_assert_msg(
	    strstr(err.text, "headers up to ") && strstr(err.text, "rebuild the file"),
	    "%s", err.text);
}

UNIT(truncated)
{
	for (size_t size = 0; size < file.size; size++)
		ck_assert(!fix_open(file.data, size, &image, &err));
}

/* Fills bytes, so that a part of them that is shown in place of another one is noticed. */
static void window_fill(uint8_t *bytes, size_t size, uint32_t state)
{
	for (size_t i = 0; i < size; i++) {
		state = state * 1664525 + 1013904223;
		bytes[i] = (uint8_t)(state >> 24);
	}
}

/* Windows and image_read give what bytes has: pages of ours as they were, and all others as the file has them now. */
UNIT(windows)
{
	const size_t size = 9 << 20, ours = 3 << 20, n_ours = 1 << 20;
	uint8_t *data = malloc(size), *read = malloc(size);
	struct image_window one = {.image = &image}, other = {.image = &image};
	uint32_t state = 1;
	char path[64];
	int fd = memfd_create("image", MFD_CLOEXEC);

	window_fill(data, size, 1);
	memcpy(data, file.data, file.size);
	ck_assert_int_eq((int)write(fd, data, size), (int)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ck_assert_msg(image_open(path, &image, &err), "%s", err.text);
	ck_assert(image_own(&image, image.bytes + ours, n_ours, &err));
	/* Page by page the file becomes another one, except where it has been parsed. */
	window_fill(read, size, 2);
	for (size_t at = 8192; at < size; at += 4096)
		ck_assert_int_eq((int)pwrite(fd, read + at, 4096, (off_t)at), 4096);
	memcpy(data + 8192, read + 8192, ours - 8192);
	memcpy(data + ours + n_ours, read + ours + n_ours, size - ours - n_ours);
	ck_assert(image_read(&image, read, 0, size, &err));
	ck_assert(memcmp(read, data, size) == 0);
	ck_assert(memcmp(image.bytes, data, size) == 0);
	for (int i = 0; i < 20000; i++) {
		size_t at, n;
		const uint8_t *bytes;

		state = state * 1664525 + 1013904223;
		at = i % 3 ? (size_t)i * 400 % size : state % size;
		n = state >> 16 & (i % 100 ? 0xff : 0xfffff);
		n = n < size - at ? n : size - at;
		bytes = image_window_at(&one, image.bytes + at, n);
		ck_assert(bytes && memcmp(bytes, data + at, n) == 0);
		n += !n;
		bytes = image_window_some(&other, at, &n, &err);
		ck_assert(bytes && n && memcmp(bytes, data + at, n) == 0);
	}
	ck_assert(image_window_same(&one, 5, &other, 5, size - 5));
	ck_assert(!image_window_same(&one, 0, &other, 1, size - 1));
	data[ours + 77] ^= 1;
	ck_assert_int_eq((int)pwrite(fd, data + ours + 77, 1, (off_t)(ours + 77)), 1);
	ck_assert(image_window_same(&one, 0, &other, 0, size));
	ck_assert_int_eq(ftruncate(fd, (off_t)(size / 2)), 0);
	image_window_free(&one);
	ck_assert_ptr_null(image_window_some(&one, size - 9, &(size_t){9}, &err));
	ck_assert_int_eq(err.kind, ERR_IO);
	ck_assert_ptr_eq(
	    image_window_at(&one, image.bytes + size - 9, 9), image.bytes + size - 9);
	ck_assert(memcmp(image_window_at(&one, image.bytes + ours, n_ours / 8),
		      data + ours, 77) == 0);
	image_window_free(&one);
	image_window_free(&other);
	close(fd);
	free(data);
	free(read);
}

UNIT(not_a_file)
{
	ck_assert(!image_open("/dev/null", &image, &err));
	ck_assert_int_eq(err.kind, ERR_UNSUPPORTED);
	ck_assert(!image_open("/nonexistent/x", &image, &err));
	ck_assert_int_eq(err.kind, ERR_IO);
}

/* Places that go back and forth, as a hostile file can order them, cost little each. */
UNIT(window_zigzag)
{
	const size_t size = 9 << 20;
	struct image_window window = {.image = &image};
	uint64_t all = 0, last = UINT64_MAX;
	char path[64];
	int fd = memfd_create("image", MFD_CLOEXEC);

	ck_assert_int_eq((int)write(fd, file.data, file.size), (int)file.size);
	ck_assert_int_eq(ftruncate(fd, (off_t)size), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ck_assert_msg(image_open(path, &image, &err), "%s", err.text);
	for (int i = 0; i < 200; i++) {
		ck_assert_ptr_nonnull(image_window_at(
		    &window, image.bytes + (1 << 20) + (i % 2 ? 60 << 10 : 0), 16));
		all += window.off != last ? window.size : 0;
		last = window.off;
	}
	ck_assert_uint_lt(all, 200 * (16 << 10));
	image_window_free(&window);
	/* Who reads on gets whole windows. */
	for (size_t at = 0; at < 4 << 20; at += 16)
		ck_assert_ptr_nonnull(image_window_at(&window, image.bytes + at, 16));
	ck_assert_uint_eq(window.size, IMAGE_WINDOW);
	image_window_free(&window);
	close(fd);
}

/* A device acts when it is opened. A pipe stands for it, because the kernel tells who opens it. */
UNIT(not_opened)
{
	char folder[] = "/tmp/test-image-XXXXXX", path[64];
	struct inotify_event event;
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/pipe", folder);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_ge(inotify_add_watch(watch, path, IN_OPEN), 0);
	ck_assert(!image_open(path, &image, &err));
	ck_assert_int_eq(err.kind, ERR_UNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(err.text, "not a regular file"));
	ck_assert_int_eq((int)read(watch, &event, sizeof(event)), -1);
	ck_assert_int_eq(errno, EAGAIN);
	close(watch);
	unlink(path);
	rmdir(folder);
}
