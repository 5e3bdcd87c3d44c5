/* SPDX-License-Identifier: MIT */
/*
 * Planning, writing, checking and undoing. Each refusal has its name, and undo notices
 * changes.
 */
#include "tests/unit/unit.h"

#include "tests/unit/gen/test_image_fixture.h"
#include "tests/unit/gen/test_insert_fixture.h"

enum { TABLE_END = FIX_PHDRS + FIX_N_PHDRS * 56 };

static void setup(void)
{
	fix_make(&file);
	fix_writing();
	/* The hand-made program has room behind its table. Here it is in use, so the table moves. */
	memset(file.data + TABLE_END, 'Y', 2 * 56);
	method = METHOD_GROW;
}
UNIT_FIXTURE(setup, teardown)

UNIT(layout)
{
	struct wr written;
	const uint8_t *data;
	size_t size;
	uint64_t addr;

	write_it(&written);
	open_out(&written);
	ck_assert_msg(insert_check(&in, &plan, &out, &(struct insert_changes){0}, &err),
	    "%s", err.text);
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

UNIT(undo_is_exact)
{
	struct undo undo;
	struct err none = {0};
	bool found;

	fix_round_trip();
	ck_assert(undo_find(&in, &undo, &found, &none) && !found);
}

/* A change of any single byte of the header tables or the record is noticed. */
UNIT(undo_notices)
{
	fix_undo_notices();
}

UNIT(no_section_headers)
{
	struct wr written;
	struct undo undo;
	bool found;

	memset(file.data + 40, 0, 8);
	memset(file.data + 58, 0, 6);
	/* The end is no longer described by section headers, so cut the file there. */
	file.size = 0x900;
	write_it(&written);
	open_out(&written);
	ck_assert_uint_eq(plan.shdr_off, 0);
	ck_assert_msg(insert_check(&in, &plan, &out, &(struct insert_changes){0}, &err),
	    "%s", err.text);
	ck_assert(undo_find(&out, &undo, &found, &err) && found);
	wr_deinit(&written);
}

/* A section that a linker put in is replaced in its own table entries. */
UNIT(replaced)
{
	struct wr written;

	wr_patch_u32(&file, FIX_PHDRS + 3 * 56, IMAGE_PT_GNU_SFRAME);
	wr_patch_u32(&file, FIX_SHDRS + 2 * 64 + 4, IMAGE_SHT_GNU_SFRAME);
	write_it(&written);
	open_out(&written);
	ck_assert_uint_eq(out.n_phdrs, FIX_N_PHDRS + 1);
	ck_assert_uint_eq(out.n_sections, FIX_N_SHDRS + 2);
	ck_assert_msg(insert_check(&in, &plan, &out, &(struct insert_changes){0}, &err),
	    "%s", err.text);
	ck_assert_uint_eq(out.sections[2].hdr.sh_addr, plan.sframe_addr);
	wr_deinit(&written);
}

/* patchelf leaves zeros or one letter where a section was. Anything else there may be in use. */
UNIT(filler)
{
	memset(file.data + TABLE_END, 'X', 2 * 56);
	file.data[TABLE_END + 100] = 0;
	fix_round_trip();
	ck_assert_uint_eq(plan.phdr_off, FIX_PHDRS);
	ck_assert_uint_eq(out.n_phdrs, FIX_N_PHDRS + 2);
	image_close(&in);
	image_close(&out);
	file.data[TABLE_END + 111] = 'Z';
	ck_assert(plan_it());
	ck_assert_uint_ne(plan.phdr_off, FIX_PHDRS);
}

UNIT(check_notices)
{
	static const size_t offs[] = {64, 0x200, 0x7ff, FIX_SHDRS + 9, 24, 16};

	fix_check_notices(offs, sizeof(offs) / sizeof(offs[0]));
}

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
    {LOAD1 + 40, 8, UINT64_C(1) << 62, ERR_UNSUPPORTED, "large .bss"},
    {LOAD1 + 40, 8, INT64_MAX, ERR_UNSUPPORTED, "no room"},
    {LOAD1 + 48, 8, 0x1800, ERR_MALFORMED, "power of two"},
    {LOAD1 + 48, 8, 0x4000, ERR_UNSUPPORTED, "congruent"},
    {LOAD1 + 16, 8, FIX_ADDR + 0x1900, ERR_UNSUPPORTED, "congruent"},
    {LOAD1 + 16, 8, 0x800, ERR_UNSUPPORTED, "ascend"},
    {LOAD1 + 40, 8, 0xff000, ERR_UNSUPPORTED, "large .bss"},
    {LOAD1 + 40, 8, 0xfb000, ERR_NONE, ""},
    {SECTION2 + 24, 8, 0x180, ERR_NONE, ""},
    {SECTION2 + 24, 8, 0x2f8, ERR_MALFORMED, "overlap"},
    {SECTION2 + 32, 8, 0x4000, ERR_MALFORMED, "past the end"},
    {SECTION2 + 32, 8, UINT64_MAX, ERR_MALFORMED, "past the end"},
    {SECTION2 + 16, 8, UINT64_MAX - 2, ERR_MALFORMED, "address space"},
    {62, 2, 1, ERR_MALFORMED, "section name table is"},
    {62, 2, 0xfff0, ERR_MALFORMED, "section name table is"},
    {62, 2, 0, ERR_NONE, ""},
    {FIX_SHDRS + 6 * 64 + 8, 8, SHF_ALLOC, ERR_UNSUPPORTED, "name table"},
};

UNIT_EACH(refusals, refused)
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

UNIT(payload_refused)
{
	wr_u8(&file, 0);
	ck_assert_msg(plan_it(), "%s", err.text);
	image_close(&in);
	wr_u8(&file, 1);
	ck_assert(!plan_it());
	ck_assert_ptr_nonnull(strstr(err.text, "payload"));
}
