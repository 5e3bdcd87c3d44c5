/* SPDX-License-Identifier: MIT */
/* The parts of eh2sframe-fold that read or write text. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/output/output.h"
#include "profile/symbols/naming.h"
#include "profile/symbols/naming_table.h"
#include "tests/unit/unit.h"

static char *json_of(const char *bytes)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(out);
	json_text_write(bytes, out);
	ck_assert_int_eq(fclose(out), 0);
	return text;
}

UNIT(utf8)
{
	/* RFC 3629: the ends of each length, and what is none. */
	static const struct {
		const char *bytes;
		size_t length;
	} cases[] = {{"a", 1}, {"\x7f", 1}, {"\xc2\x80", 2}, {"\xdf\xbf", 2},
	    {"\xe0\xa0\x80", 3}, {"\xef\xbf\xbf", 3}, {"\xf0\x90\x80\x80", 4},
	    {"\xf4\x8f\xbf\xbf", 4}, {"\x80", 0}, {"\xc1\xbf", 0}, {"\xe0\x9f\xbf", 0},
	    {"\xed\xa0\x80", 0}, {"\xf0\x8f\xbf\xbf", 0}, {"\xf4\x90\x80\x80", 0},
	    {"\xf8\x88\x80\x80\x80", 0}, {"\xc3", 0}, {"\xe2\x82", 0}, {"\xff", 0}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *text = json_of(cases[i].bytes);

		if (cases[i].length == 0)
			ck_assert_int_eq(strncmp(text, "\"\\ufffd", 7), 0);
		else
			ck_assert_int_eq(
			    strncmp(text + 1, cases[i].bytes, cases[i].length), 0);
		free(text);
	}
}

UNIT(json)
{
	char *text = json_of("a\"\\</&>\n\xff\xc3\xa9");

	ck_assert_str_eq(
	    text, "\"a\\u0022\\u005c\\u003c/\\u0026\\u003e\\u000a\\ufffd\xc3\xa9\"");
	free(text);
}

static const char *name_at(const struct table *table, uint64_t address)
{
	const struct symbol *symbol = symbols_find(&table->symbols, address);

	return symbol ? symbol->name : "";
}

static void kernel_read(const char *text, uint64_t begin, struct table *table)
{
	char path[] = "/tmp/kallsyms-XXXXXX";
	int fd = mkstemp(path);
	struct err err = {0};

	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	ck_assert(table_read_kernel(path, begin, table, &err));
	close(fd);
	unlink(path);
}

UNIT(kernel)
{
	static const char text[] =
	    "ffffffff81000000 T _text\nffffffff81000100 t do_it\t[ext4]\n"
	    "ffffffff81000200 D data\nffffffff81000300\nffffffff81000400 T\n";
	static const char hidden[] =
	    "0000000000000000 T _text\n0000000000000000 t do_it\n";
	const uint64_t begin = UINT64_C(0xffffffff81000000);
	struct table table = {0};

	kernel_read(text, 0, &table);
	ck_assert_uint_eq(table.symbols.n, 2);
	table_free(&table);
	kernel_read(text, begin, &table);
	ck_assert_uint_eq(table.symbols.n, 2);
	ck_assert_str_eq(name_at(&table, UINT64_C(0xffffffff810000ff)), "_text");
	ck_assert_str_eq(name_at(&table, UINT64_C(0xffffffff81000123)), "do_it");
	table_free(&table);
	kernel_read(
	    "ffffffff91000000 T _text\nffffffff91000100 t do_it\n", begin, &table);
	ck_assert_uint_eq(table.symbols.n, 0);
	kernel_read(hidden, 0, &table);
	ck_assert_uint_eq(table.symbols.n, 0);
	table_free(&table);
	kernel_read(hidden, begin, &table);
	ck_assert_uint_eq(table.symbols.n, 0);
	table_free(&table);
}

/* Names once pointed into the file, and were as long as whatever was written over it meanwhile. */
UNIT(names_of_a_file_that_is_written_to)
{
	static char image[64 << 20];
	FILE *self = fopen("/proc/self/exe", "rb");
	struct naming_options options = {0};
	char path[] = "self";
	struct profile_module module = {.path = path, .image = (uint8_t *)image};
	struct table table = {0};
	struct err err = {0};
	size_t n = 0;

	ck_assert_ptr_nonnull(self);
	module.image_size = fread(image, 1, sizeof(image), self);
	fclose(self);
	ck_assert(table_read_module(&module, &options, &table, &err));
	memset(image, 'A', module.image_size);
	for (size_t i = 0; i < table.symbols.n; i++)
		n += strcmp(table.symbols.list[i].name, "main") == 0;
	ck_assert_uint_eq(n, 1);
	table_free(&table);
}

UNIT(base)
{
	ck_assert_str_eq(naming_base("/usr/lib/libc.so.6"), "libc.so.6");
	ck_assert_str_eq(naming_base("ls"), "ls");
	ck_assert_str_eq(naming_base("[vdso]"), "[vdso]");
	ck_assert_str_eq(naming_base("/usr/lib/"), "/usr/lib/");
	ck_assert_str_eq(naming_base(""), "");
}
