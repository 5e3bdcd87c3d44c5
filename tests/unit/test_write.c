/* SPDX-License-Identifier: MIT */
/* Placing, writing, checking, undoing; the refusals by name; changes that undo must
 * notice. */
#include "tests/unit/unit.h"

#include "gen/undo.h"
#include "gen/write.h"
#include "tests/unit/test_image_fixture.h"

#define PAYLOAD_SIZE 300

static struct wr file;
static struct image in, out;
static struct err err;
static struct write_plan plan;
static uint8_t payload[PAYLOAD_SIZE];

static void setup(void)
{
	fix_make(&file);
	memset(payload, 0x5a, sizeof(payload));
}

static void teardown(void)
{
	image_close(&in);
	image_close(&out);
	wr_deinit(&file);
}

static bool plan_it(void)
{
	ck_assert_msg(fix_open(file.data, file.size, &in, &err), "%s", err.text);
	return write_plan(&in, PAYLOAD_SIZE, &plan, &err);
}

/* Writes by a memory file, leaves its bytes in *written (caller frees). */
static void write_it(struct wr *written)
{
	int fd = memfd_create("out", MFD_CLOEXEC);
	uint8_t byte;

	ck_assert_msg(plan_it(), "%s", err.text);
	ck_assert_msg(write_image(&in, &plan, payload, fd, &err), "%s", err.text);
	wr_init(written, false);
	for (off_t at = 0; pread(fd, &byte, 1, at) == 1; at++)
		wr_u8(written, byte);
	close(fd);
	ck_assert_uint_eq(written->size, plan.file_size);
}

static void open_out(const struct wr *written)
{
	ck_assert_msg(fix_open(written->data, written->size, &out, &err), "%s", err.text);
}

START_TEST(layout)
{
	struct wr written;
	const uint8_t *data;
	size_t size;
	uint64_t addr;

	write_it(&written);
	open_out(&written);
	ck_assert_msg(write_check(&in, &out, &err), "%s", err.text);
	/* Two pages above the .bss, at the distance of the first segment. */
	ck_assert_uint_eq(plan.segment_addr, FIX_ADDR + 0x5000 + 0x2000);
	ck_assert_uint_eq(plan.segment_addr - plan.segment_off, FIX_ADDR);
	ck_assert_uint_eq(plan.phdr_off, plan.segment_off + (FIX_N_PHDRS + 2) * 56);
	ck_assert_uint_eq(plan.sframe_addr % 8, 0);
	ck_assert(image_sframe(&out, &data, &size, &addr, &err));
	ck_assert_uint_eq(size, PAYLOAD_SIZE);
	ck_assert_uint_eq(addr, plan.sframe_addr);
	ck_assert_mem_eq(data, payload, PAYLOAD_SIZE);
	ck_assert_ptr_eq(image_at_addr(&out, addr, size), data);
	ck_assert_ptr_nonnull(image_section_find(&out, ".phdrs"));
	wr_deinit(&written);
}
END_TEST

START_TEST(undo_is_exact)
{
	struct wr written;
	struct undo undo;
	uint8_t back[FIX_SIZE + 1];
	int fd = memfd_create("back", MFD_CLOEXEC);
	bool found;

	write_it(&written);
	open_out(&written);
	ck_assert(undo_find(&out, &undo, &found, &err) && found);
	ck_assert(undo_write(&out, &undo, fd, &err));
	ck_assert_int_eq((int)pread(fd, back, sizeof(back), 0), FIX_SIZE);
	ck_assert_mem_eq(back, file.data, FIX_SIZE);
	ck_assert(undo_find(&in, &undo, &found, &err) && !found);
	close(fd);
	wr_deinit(&written);
}
END_TEST

/* Any single byte of the header tables and of the record that changes is noticed. */
START_TEST(undo_notices)
{
	struct wr written;
	struct undo undo;
	bool found;

	write_it(&written);
	for (size_t i = plan.segment_off; i < written.size; i++) {
		if (i >= plan.sframe_off && i < plan.sframe_off + PAYLOAD_SIZE)
			continue;
		written.data[i] ^= 0x40;
		if (fix_open(written.data, written.size, &out, &err)) {
			bool ok = undo_find(&out, &undo, &found, &err);

			/* The padding of the gap and of the record carry nothing. */
			ck_assert(!ok || !found || i - plan.segment_off >= 120);
			ck_assert(!ok || !found || i < plan.phdr_off);
			image_close(&out);
		}
		written.data[i] ^= 0x40;
	}
	wr_deinit(&written);
}
END_TEST

START_TEST(no_section_headers)
{
	struct wr written;
	struct undo undo;
	bool found;

	memset(file.data + 40, 0, 8);
	memset(file.data + 58, 0, 6);
	/* What the section headers described is a payload now: cut it. */
	file.size = 0x900;
	write_it(&written);
	open_out(&written);
	ck_assert_uint_eq(plan.shdr_off, 0);
	ck_assert_msg(write_check(&in, &out, &err), "%s", err.text);
	ck_assert(undo_find(&out, &undo, &found, &err) && found);
	wr_deinit(&written);
}
END_TEST

/* What a linker put in is replaced in its own table entries. */
START_TEST(replaced)
{
	struct wr written;

	wr_patch_u32(&file, FIX_PHDRS + 3 * 56, IMAGE_PT_GNU_SFRAME);
	wr_patch_u32(&file, FIX_SHDRS + 2 * 64 + 4, IMAGE_SHT_GNU_SFRAME);
	write_it(&written);
	open_out(&written);
	ck_assert_uint_eq(out.n_phdrs, FIX_N_PHDRS + 1);
	ck_assert_uint_eq(out.n_sections, FIX_N_SHDRS + 1);
	ck_assert_msg(write_check(&in, &out, &err), "%s", err.text);
	ck_assert_uint_eq(out.sections[2].hdr.sh_addr, plan.sframe_addr);
	wr_deinit(&written);
}
END_TEST

/* write_check is no decoration: any changed byte of what it promises is found. */
START_TEST(check_notices)
{
	static const size_t offs[] = {64, 0x200, 0x7ff, FIX_SHDRS + 9, 24, 16};
	struct wr written;

	write_it(&written);
	for (size_t i = 0; i < sizeof(offs) / sizeof(offs[0]); i++) {
		written.data[offs[i]] ^= 1;
		if (fix_open(written.data, written.size, &out, &err)) {
			ck_assert_msg(
				!write_check(&in, &out, &err), "offset %zx", offs[i]);
			ck_assert_int_eq(err.kind, ERR_INTERNAL);
			image_close(&out);
		}
		written.data[offs[i]] ^= 1;
	}
	wr_deinit(&written);
}
END_TEST

enum { LOAD0 = FIX_PHDRS, LOAD1 = FIX_PHDRS + 56, SECTION2 = FIX_SHDRS + 2 * 64 };

static const struct refused {
	size_t off;
	int width;
	uint64_t value;
	enum err_kind kind;
	const char *text;
} refused[] = {
	{16, 2, ET_REL, ERR_UNSUPPORTED, "relocatable"},
	{56, 2, 0, ERR_UNSUPPORTED, "no program headers"},
	{LOAD0, 4, PT_NOTE, ERR_NONE, ""},
	{LOAD1 + 8, 8, FIX_SIZE - 8, ERR_MALFORMED, "past the end"},
	{LOAD1 + 32, 8, 0x4000, ERR_MALFORMED, "past the end"},
	{LOAD1 + 40, 8, 0x10, ERR_MALFORMED, "impossible sizes"},
	{LOAD1 + 40, 8, UINT64_MAX - 0x100, ERR_MALFORMED, "impossible sizes"},
	{LOAD1 + 40, 8, UINT64_C(1) << 62, ERR_LIMIT, "hole"},
	{LOAD1 + 40, 8, INT64_MAX, ERR_LIMIT, "no room"},
	{LOAD1 + 48, 8, 0x1800, ERR_MALFORMED, "power of two"},
	{LOAD1 + 48, 8, 0x4000, ERR_UNSUPPORTED, "congruent"},
	{LOAD1 + 16, 8, FIX_ADDR + 0x1900, ERR_UNSUPPORTED, "congruent"},
	{LOAD1 + 16, 8, 0x800, ERR_UNSUPPORTED, "ascend"},
	{LOAD1 + 40, 8, 0x4000000 + 0x10000, ERR_LIMIT, "hole"},
	{LOAD1 + 40, 8, 0x3ff0000, ERR_NONE, ""},
	{SECTION2 + 24, 8, 0x180, ERR_NONE, ""},
	{SECTION2 + 24, 8, 0x2f8, ERR_MALFORMED, "overlap"},
	{SECTION2 + 32, 8, 0x4000, ERR_MALFORMED, "past the end"},
	{SECTION2 + 32, 8, UINT64_MAX, ERR_MALFORMED, "past the end"},
	{SECTION2 + 16, 8, UINT64_MAX - 2, ERR_MALFORMED, "address space"},
	{62, 2, 1, ERR_MALFORMED, "e_shstrndx"},
	{62, 2, 0xfff0, ERR_MALFORMED, "e_shstrndx"},
	{62, 2, 0, ERR_NONE, ""},
	{FIX_SHDRS + 6 * 64 + 8, 8, SHF_ALLOC, ERR_UNSUPPORTED, "name table"},
};

START_TEST(refusals)
{
	const struct refused *want = &refused[_i];
	bool ok;

	for (int i = 0; i < want->width; i++)
		file.data[want->off + (size_t)i] = (uint8_t)(want->value >> 8 * i);
	ok = plan_it();
	ck_assert_msg(err.kind == want->kind, "%d: %s", err.kind, err.text);
	ck_assert_int_eq(ok, want->kind == ERR_NONE);
	ck_assert_msg(strstr(err.text, want->text) != NULL, "%s", err.text);
}
END_TEST

START_TEST(payload_refused)
{
	wr_u8(&file, 0);
	ck_assert_msg(plan_it(), "%s", err.text);
	image_close(&in);
	wr_u8(&file, 1);
	ck_assert(!plan_it());
	ck_assert_ptr_nonnull(strstr(err.text, "payload"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("write");
	TCase *tcase = tcase_create("write");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, layout);
	tcase_add_test(tcase, undo_is_exact);
	tcase_add_test(tcase, undo_notices);
	tcase_add_test(tcase, no_section_headers);
	tcase_add_test(tcase, replaced);
	tcase_add_test(tcase, check_notices);
	tcase_add_loop_test(
		tcase, refusals, 0, (int)(sizeof(refused) / sizeof(refused[0])));
	tcase_add_test(tcase, payload_refused);
	suite_add_tcase(suite, tcase);
	return unit_main(suite);
}
