/* SPDX-License-Identifier: MIT */
/*
 * The methods that leave the program header table where it is, on a program as GNU ld
 * makes it. Checks which method is taken, and why not those before it. Each is checked
 * and can be undone.
 */
#include "tests/unit/unit.h"

#include "tests/unit/gen/test_insert_fixture.h"

enum {
	N_PHDRS = 8,
	N_SHDRS = 8,
	R_SIZE = 0x400,
	SHSTRTAB = 0x2100,
	SHDRS = 0x2180,
	SIZE = SHDRS + N_SHDRS * 64,
	/* Program headers. */
	LOAD_R = 64 + 56,
	LOAD_RX = 64 + 2 * 56,
	NOTE_PROPERTY = 64 + 4 * 56,
	NOTE_ID = 64 + 5 * 56,
	PROPERTY = 64 + 6 * 56,
	RELRO = 64 + 7 * 56,
	/* Sections. */
	INTERP = SHDRS + 64,
};

static void put_tables(void)
{
	fix_phdr(&file, PT_PHDR, PF_R, 64, FIX_ADDR + 64, N_PHDRS * 56, N_PHDRS * 56);
	fix_phdr(&file, PT_LOAD, PF_R, 0, FIX_ADDR, R_SIZE, R_SIZE);
	fix_phdr(&file, PT_LOAD, PF_R | PF_X, 0x1000, FIX_ADDR + 0x1000, 0x100, 0x100);
	fix_phdr(&file, PT_LOAD, PF_R | PF_W, 0x2000, FIX_ADDR + 0x3000, 0x100, 0x300);
	fix_phdr(&file, PT_NOTE, PF_R, 0x300, FIX_ADDR + 0x300, 0x20, 0x20);
	fix_phdr(&file, PT_NOTE, PF_R, 0x320, FIX_ADDR + 0x320, 0x24, 0x24);
	fix_phdr(&file, PT_GNU_PROPERTY, PF_R, 0x300, FIX_ADDR + 0x300, 0x20, 0x20);
	fix_phdr(&file, PT_GNU_RELRO, PF_R, 0x2000, FIX_ADDR + 0x3000, 0x80, 0x80);
}

/* .interp stands right behind the table; the last section header is a spare NULL. */
static void setup(void)
{
	static const char names[] = "\0.interp\0.note\0.text\0.data\0.sframe";

	fix_writing();
	wr_init(&file, false);
	fix_header(&file);
	put_tables();
	wr_bytes(&file, "/lib/ld.so", 11);
	fix_to(&file, 0x300);
	for (int i = 0; i < 0x100; i++)
		wr_u8(&file, 0xcc);
	fix_to(&file, 0x1000);
	for (int i = 0; i < 0x100; i++)
		wr_u8(&file, 0x90);
	fix_to(&file, 0x2000);
	for (int i = 0; i < 0x100; i++)
		wr_u8(&file, 0xdd);
	fix_to(&file, SHSTRTAB);
	wr_bytes(&file, names, sizeof(names));
	fix_to(&file, SHDRS);
	fix_shdr(&file, 0, SHT_NULL, 0, 0, 0, 0);
	fix_shdr(&file, 1, SHT_PROGBITS, SHF_ALLOC, 0x200, 11, 0);
	fix_shdr(&file, 9, SHT_NOTE, SHF_ALLOC, 0x300, 0x20, 0);
	fix_shdr(&file, 9, SHT_NOTE, SHF_ALLOC, 0x320, 0x24, 0);
	fix_shdr(&file, 15, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, 0x100, 0);
	fix_shdr(&file, 21, SHT_PROGBITS, SHF_WRITE, 0x2000, 0x100, 0);
	fix_shdr(&file, 9, SHT_STRTAB, 0, SHSTRTAB, sizeof(names), 0);
	fix_shdr(&file, 0, SHT_NULL, 0, 0, 0, 0);
	ck_assert_uint_eq(file.size, SIZE);
	wr_patch_u64(&file, 40, SHDRS);
	wr_patch_u32(&file, 56, N_PHDRS | 64 << 16);
	wr_patch_u32(&file, 60, N_SHDRS | 6 << 16);
}
UNIT_FIXTURE(setup, teardown)

/* Only the segment that grows over the section may end in it. */
UNIT(slack)
{
	fix_round_trip();
	ck_assert_int_eq(plan.method, METHOD_SLACK);
	ck_assert_uint_eq(plan.sframe_off, R_SIZE);
	ck_assert_uint_eq(plan.sframe_addr, FIX_ADDR + R_SIZE);
	ck_assert_uint_eq(out.n_phdrs, N_PHDRS);
	ck_assert_uint_eq(out.phdrs[1].p_filesz, R_SIZE + PAYLOAD_SIZE);
	ck_assert_uint_eq(out.phdrs[4].p_type, IMAGE_PT_GNU_SFRAME);
	ck_assert_uint_eq(out.phdrs[5].p_type, PT_NOTE);
	ck_assert_uint_eq(out.ehdr.e_phoff, 64);
	ck_assert_uint_eq(out.n_sections, N_SHDRS + 2);
}

UNIT(slack_undo_notices)
{
	fix_undo_notices();
	ck_assert_int_eq(plan.method, METHOD_SLACK);
}

/* Program headers, the bytes around the section, other segments, the record. */
UNIT(slack_check_notices)
{
	static const size_t offs[] = {24, 64 + 16, LOAD_R + 8, LOAD_R + 32, LOAD_R + 4,
	    LOAD_RX + 16, NOTE_PROPERTY, NOTE_PROPERTY + 16, NOTE_ID, NOTE_ID + 8, RELRO,
	    0x200, 0x3ff, R_SIZE + PAYLOAD_SIZE, 0x1000, 0x20ff, SIZE - 1, SIZE + 10};

	fix_check_notices(offs, sizeof(offs) / sizeof(offs[0]));
	ck_assert_int_eq(plan.method, METHOD_SLACK);
}

/* Each reason against a method: a change, and what becomes of the plan. */
static const struct changed {
	size_t off;
	int width;
	uint64_t value;
	enum method taken;
	enum obstacle slack;
} changed[] = {
    {LOAD_R + 4, 4, PF_R, METHOD_SLACK, OBSTACLE_NONE},
    {LOAD_R + 4, 4, PF_R | PF_X, METHOD_GROW, OBSTACLE_NO_SLACK},
    {LOAD_R + 4, 4, PF_R | PF_W, METHOD_GROW, OBSTACLE_NO_SLACK},
    {LOAD_R + 40, 8, R_SIZE + 8, METHOD_GROW, OBSTACLE_NO_SLACK},
    /* Padding that is not zero. */
    {R_SIZE, 1, 1, METHOD_GROW, OBSTACLE_NO_SLACK},
    {R_SIZE + PAYLOAD_SIZE - 1, 1, 1, METHOD_GROW, OBSTACLE_NO_SLACK},
    {R_SIZE + PAYLOAD_SIZE, 1, 1, METHOD_SLACK, OBSTACLE_NONE},
    /* The note is larger than the property, or is another one that is needed. */
    {NOTE_PROPERTY + 32, 8, 0x44, METHOD_GROW, OBSTACLE_NO_SLOT},
    {NOTE_PROPERTY + 8, 8, 0x320, METHOD_GROW, OBSTACLE_NO_SLOT},
    {PROPERTY, 4, PT_GNU_STACK, METHOD_GROW, OBSTACLE_NO_SLOT},
    /* PT_NULL means nothing. */
    {PROPERTY, 4, PT_NULL, METHOD_SLACK, OBSTACLE_NONE},
    /* A section, a segment or RELRO in the padding or on its page. */
    {INTERP + 24, 8, R_SIZE + 8, METHOD_GROW, OBSTACLE_NO_SLACK},
    {INTERP + 16, 8, FIX_ADDR + R_SIZE + 8, METHOD_GROW, OBSTACLE_NO_SLACK},
    {NOTE_ID + 8, 8, R_SIZE + 8, METHOD_GROW, OBSTACLE_NO_SLACK},
    {RELRO + 16, 8, FIX_ADDR + 0x800, METHOD_GROW, OBSTACLE_NO_SLACK},
    {RELRO + 8, 8, 0x800, METHOD_GROW, OBSTACLE_NO_SLACK},
    /* x86-64 has pages of 4 KiB, whatever a file is linked for. */
    {LOAD_R + 48, 8, 0x4000, METHOD_SLACK, OBSTACLE_NONE},
};

UNIT_EACH(choice, changed)
{
	const struct changed *change = &changed[_i];

	for (int i = 0; i < change->width; i++)
		file.data[change->off + (size_t)i] = (uint8_t)(change->value >> 8 * i);
	fix_round_trip();
	ck_assert_int_eq(plan.method, change->taken);
	ck_assert_int_eq(plan.obstacles[METHOD_SLACK], change->slack);
}

/* AArch64 may have pages that another segment begins in. */
UNIT(larger_page)
{
	file.data[18] = EM_AARCH64;
	wr_patch_u64(&file, LOAD_R + 48, 0x4000);
	fix_round_trip();
	ck_assert_int_eq(plan.method, METHOD_GROW);
	ck_assert_int_eq(plan.obstacles[METHOD_SLACK], OBSTACLE_NO_SLACK);
	ck_assert_uint_eq(plan.segment_align, 0x4000);
}

/* Two spare entries, but no padding: they become PT_LOAD and PT_GNU_SFRAME. */
static void two_spares(void)
{
	file.data[R_SIZE] = 1;
	wr_patch_u32(&file, RELRO, PT_NULL);
}

UNIT(grow)
{
	two_spares();
	fix_round_trip();
	ck_assert_int_eq(plan.method, METHOD_GROW);
	ck_assert_int_eq(plan.obstacles[METHOD_SLACK], OBSTACLE_NO_SLACK);
	ck_assert_uint_eq(out.n_phdrs, N_PHDRS);
	ck_assert_uint_eq(out.phdrs[3].p_type, PT_LOAD);
	ck_assert_uint_eq(out.phdrs[4].p_type, PT_LOAD);
	ck_assert_uint_eq(out.phdrs[5].p_type, PT_NOTE);
	ck_assert_uint_eq(out.phdrs[N_PHDRS - 1].p_type, IMAGE_PT_GNU_SFRAME);
	/* It is on the page behind the .bss, at a congruent offset. */
	ck_assert_uint_eq(out.phdrs[4].p_vaddr & ~UINT64_C(0xfff), FIX_ADDR + 0x4000);
	ck_assert_uint_eq((out.phdrs[4].p_vaddr - out.phdrs[4].p_offset) % 0x1000, 0);
	image_close(&in);
	image_close(&out);
	fix_undo_notices();
}

UNIT(grow_check_notices)
{
	static const size_t offs[] = {24, 64 + 16, LOAD_R + 32, LOAD_RX + 16,
	    NOTE_PROPERTY, NOTE_PROPERTY + 4, NOTE_PROPERTY + 8, NOTE_PROPERTY + 16,
	    NOTE_ID, NOTE_ID + 16, NOTE_ID + 32, R_SIZE, SIZE - 1};

	two_spares();
	fix_check_notices(offs, sizeof(offs) / sizeof(offs[0]));
	ck_assert_int_eq(plan.method, METHOD_GROW);
}

/* .interp moves away. The bytes behind the table can take entries, and PT_PHDR grows. */
UNIT(room)
{
	memset(file.data + 64 + N_PHDRS * 56, 0, 11);
	wr_patch_u32(&file, NOTE_PROPERTY, 0x12345);
	wr_patch_u64(&file, INTERP + 24, 0x280);
	wr_patch_u64(&file, INTERP + 16, FIX_ADDR + 0x280);
	fix_round_trip();
	ck_assert_int_eq(plan.method, METHOD_SLACK);
	ck_assert_uint_eq(out.n_phdrs, N_PHDRS + 1);
	ck_assert_uint_eq(out.phdrs[0].p_filesz, (N_PHDRS + 1) * 56);
	image_close(&in);
	image_close(&out);
	/* PF_LINUX_HUGETLB makes a segment no less readable. */
	wr_patch_u32(&file, LOAD_R + 4, PF_R | UINT32_C(0x100000));
	method = METHOD_GROW;
	fix_round_trip();
	ck_assert_uint_eq(out.n_phdrs, N_PHDRS + 2);
	image_close(&in);
	image_close(&out);
	/* With a wrong PT_PHDR the table would be a guess. */
	wr_patch_u64(&file, 64 + 16, FIX_ADDR + 72);
	ck_assert(plan_it());
	ck_assert_int_eq(plan.table_moves_for, OBSTACLE_GROW_TABLE);
}

/* As Go's linker puts them, right behind the program headers, up to the notes. */
static void put_headers_behind(void)
{
	static const int kept[] = {0, 4, 5, 6};
	const size_t behind = 64 + N_PHDRS * 56;

	for (int i = 0; i < 4; i++)
		memcpy(file.data + behind + (size_t)i * 64,
		    file.data + SHDRS + kept[i] * 64, 64);
	wr_patch_u64(&file, 40, behind);
	wr_patch_u32(&file, 60, 4 | 3 << 16);
	/* Nothing is behind the names. */
	file.size = SHSTRTAB + 35;
	wr_patch_u32(&file, NOTE_PROPERTY, 0x12345);
}

/* The program headers grow over them: the output has others. Not over what a section has there, too. */
UNIT(headers_behind)
{
	put_headers_behind();
	fix_round_trip();
	ck_assert_int_eq(plan.method, METHOD_SLACK);
	ck_assert_uint_eq(out.n_phdrs, N_PHDRS + 1);
	image_close(&in);
	image_close(&out);
	method = METHOD_GROW;
	fix_round_trip();
	ck_assert_uint_eq(out.n_phdrs, N_PHDRS + 2);
	ck_assert_uint_eq(out.n_sections, 4 + 2);
	image_close(&in);
	image_close(&out);
	wr_patch_u64(&file, 64 + N_PHDRS * 56 + 2 * 64 + 24, 64 + N_PHDRS * 56 + 8);
	ck_assert(plan_it());
	ck_assert_int_eq(plan.table_moves_for, OBSTACLE_GROW_BLOCK);
}

/*
 * A linker's section is among the notes of the R segment. It is large enough, then too
 * small, and then not what both of its headers say.
 */
UNIT(over_old)
{
	fix_to(&file, SIZE);
	wr_patch_u32(&file, PROPERTY, IMAGE_PT_GNU_SFRAME);
	wr_patch_u64(&file, PROPERTY + 8, 0x220);
	wr_patch_u64(&file, PROPERTY + 16, FIX_ADDR + 0x220);
	wr_patch_u64(&file, PROPERTY + 32, PAYLOAD_SIZE + 4);
	wr_patch_u64(&file, PROPERTY + 40, PAYLOAD_SIZE + 4);
	wr_patch_u32(&file, SHDRS + 7 * 64 + 4, IMAGE_SHT_GNU_SFRAME);
	wr_patch_u64(&file, SHDRS + 7 * 64 + 8, SHF_ALLOC);
	wr_patch_u64(&file, SHDRS + 7 * 64 + 16, FIX_ADDR + 0x220);
	wr_patch_u64(&file, SHDRS + 7 * 64 + 24, 0x220);
	wr_patch_u64(&file, SHDRS + 7 * 64 + 32, PAYLOAD_SIZE + 4);
	/* The notes would overlap it. */
	for (int i = 2; i < 4; i++)
		wr_patch_u64(&file, SHDRS + i * 64 + 32, 0);
	/* A program header still names some of it. */
	ck_assert(plan_it());
	ck_assert_uint_ne(plan.sframe_off, 0x220);
	image_close(&in);
	for (int i = 0; i < 2; i++)
		wr_patch_u64(&file, NOTE_PROPERTY + i * 56 + 32, 0);
	fix_round_trip();
	ck_assert_int_eq(plan.method, METHOD_SLACK);
	ck_assert_uint_eq(plan.sframe_off, 0x220);
	ck_assert_uint_eq(out.n_phdrs, N_PHDRS);
	image_close(&in);
	image_close(&out);
	fix_undo_notices();
	image_close(&in);
	wr_patch_u64(&file, PROPERTY + 32, PAYLOAD_SIZE - 4);
	ck_assert(plan_it());
	ck_assert_int_eq(plan.method, METHOD_SLACK);
	ck_assert_uint_eq(plan.sframe_off, R_SIZE);
	image_close(&in);
	wr_patch_u64(&file, PROPERTY + 32, PAYLOAD_SIZE + 2);
	ck_assert(plan_it());
	ck_assert_uint_eq(plan.sframe_off, R_SIZE);
}

/* A change of one table would change the other, so the table moves instead. */
UNIT(tables_overlap)
{
	wr_patch_u64(&file, 40, RELRO);
	wr_patch_u32(&file, 60, 1);
	file.size = SHSTRTAB;
	fix_round_trip();
	ck_assert_int_eq(plan.method, METHOD_GROW);
	ck_assert_int_eq(plan.obstacles[METHOD_SLACK], OBSTACLE_TABLE);
	ck_assert_int_eq(plan.table_moves_for, OBSTACLE_TABLE);
}

/* Users see both, so no two are alike and none is empty. */
UNIT(words)
{
	for (int i = 0; i < N_OBSTACLES; i++) {
		ck_assert_uint_gt(strlen(obstacle_text((enum obstacle)i)), 8);
		for (int k = 0; k < i; k++)
			ck_assert_str_ne(obstacle_text((enum obstacle)i),
			    obstacle_text((enum obstacle)k));
	}
	ck_assert_str_eq(method_name(METHOD_AUTO), "auto");
	ck_assert_str_eq(method_name(METHOD_GROW), "grow");
}

/* When one method is asked for, it applies, or the error has its reason. */
UNIT(forced)
{
	method = METHOD_GROW;
	fix_round_trip();
	ck_assert_int_eq(plan.method, METHOD_GROW);
	ck_assert_int_eq(plan.table_moves_for, OBSTACLE_GROW_BLOCK);
	image_close(&in);
	image_close(&out);
	file.data[R_SIZE] = 1;
	method = METHOD_SLACK;
	ck_assert(!plan_it());
	ck_assert_int_eq(err.kind, ERR_UNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(err.text, obstacle_text(OBSTACLE_NO_SLACK)));
}
