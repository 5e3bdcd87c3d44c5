/* SPDX-License-Identifier: MIT */
/*
 * A static program whose PT_NOTE names only its ABI tag: nothing reads that entry, so the
 * section takes it. The plan and the check decide this apart from each other. Both leave
 * any other note alone.
 */
#include "tests/unit/unit.h"

#include "tests/unit/gen/test_insert_fixture.h"

enum {
	N_PHDRS = 5,
	N_SHDRS = 5,
	/* Behind the table, and nothing moves it: no entry comes from there. */
	RODATA = 64 + N_PHDRS * 56,
	NOTE = 0x300,
	NOTE_SIZE = 32,
	R_SIZE = 0x400,
	TEXT = 0x1000,
	SHSTRTAB = 0x2100,
	SHDRS = 0x2140,
	SIZE = SHDRS + N_SHDRS * 64,
	E_TYPE = 16,
	E_MACHINE = 18,
	/* Program headers. */
	STACK = 64,
	PHDR_NOTE = 64 + 4 * 56,
	/* Section headers. */
	SHDR_NOTE = SHDRS + 2 * 64,
};

static void put_note(void)
{
	wr_u32(&file, sizeof(ELF_NOTE_GNU));
	wr_u32(&file, 16);
	wr_u32(&file, NT_GNU_ABI_TAG);
	wr_bytes(&file, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU));
	for (uint32_t i = 0; i < 4; i++)
		wr_u32(&file, i * 3);
}

static void put_sections(void)
{
	static const char names[] = "\0.rodata\0.note.ABI-tag\0.text";

	fix_to(&file, SHSTRTAB);
	wr_bytes(&file, names, sizeof(names));
	fix_to(&file, SHDRS);
	fix_shdr(&file, 0, SHT_NULL, 0, 0, 0, 0);
	fix_shdr(&file, 1, SHT_PROGBITS, SHF_ALLOC, RODATA, 0x20, 0);
	fix_shdr(&file, 9, SHT_NOTE, SHF_ALLOC, NOTE, NOTE_SIZE, 0);
	fix_shdr(&file, 23, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, 0x100, 0);
	fix_shdr(&file, 23, SHT_STRTAB, 0, SHSTRTAB, sizeof(names), 0);
	ck_assert_uint_eq(file.size, SIZE);
}

/* A value in the byte order of the file. */
static void put_value(uint8_t *at, int width, uint64_t value)
{
	for (int i = 0; i < width; i++)
		at[file.big_endian ? width - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

static void make(bool big_endian)
{
	fix_writing();
	wr_init(&file, big_endian);
	fix_header(&file);
	fix_phdr(&file, PT_GNU_STACK, PF_R | PF_W, 0, 0, 0, 0);
	fix_phdr(&file, PT_LOAD, PF_R, 0, FIX_ADDR, R_SIZE, R_SIZE);
	fix_phdr(&file, PT_LOAD, PF_R | PF_X, TEXT, FIX_ADDR + TEXT, 0x100, 0x100);
	fix_phdr(&file, PT_LOAD, PF_R | PF_W, 0x2000, FIX_ADDR + 0x3000, 0x80, 0x300);
	fix_phdr(&file, PT_NOTE, PF_R, NOTE, FIX_ADDR + NOTE, NOTE_SIZE, NOTE_SIZE);
	wr_patch_u64(&file, PHDR_NOTE + 48, 4);
	for (int i = 0; i < 0x20; i++)
		wr_u8(&file, 0xcc);
	fix_to(&file, NOTE);
	/* The second one belongs to no section. */
	put_note();
	put_note();
	put_sections();
	if (big_endian) {
		file.data[EI_DATA] = ELFDATA2MSB;
		put_value(file.data + E_MACHINE, 2, EM_S390);
	}
	wr_patch_u64(&file, 40, SHDRS);
	put_value(file.data + 56, 2, N_PHDRS);
	put_value(file.data + 60, 2, N_SHDRS);
	put_value(file.data + 62, 2, N_SHDRS - 1);
}

static void setup(void)
{
	make(false);
}
UNIT_FIXTURE(setup, teardown)

/* PT_GNU_SFRAME stands where PT_NOTE stood. The note itself stays. */
static void has_taken_the_entry(void)
{
	fix_round_trip();
	ck_assert_int_eq(plan.method, METHOD_SLACK);
	ck_assert_uint_eq(out.n_phdrs, N_PHDRS);
	ck_assert_uint_eq(out.phdrs[4].p_type, IMAGE_PT_GNU_SFRAME);
	ck_assert_uint_eq(out.sections[2].hdr.sh_offset, NOTE);
	ck_assert_mem_eq(out.bytes + NOTE, file.data + NOTE, NOTE_SIZE);
}

UNIT(slack)
{
	has_taken_the_entry();
}

UNIT(big_endian)
{
	wr_deinit(&file);
	make(true);
	has_taken_the_entry();
	ck_assert(out.big_endian);
}

/* Without padding it needs two entries: this one goes with the one that means nothing. */
UNIT(grow)
{
	file.data[R_SIZE] = 1;
	wr_patch_u32(&file, STACK, PT_NULL);
	fix_round_trip();
	ck_assert_int_eq(plan.method, METHOD_GROW);
	ck_assert_uint_eq(out.n_phdrs, N_PHDRS);
	ck_assert_uint_eq(out.phdrs[N_PHDRS - 1].p_type, IMAGE_PT_GNU_SFRAME);
	for (size_t i = 0; i < out.n_phdrs; i++)
		ck_assert_uint_ne(out.phdrs[i].p_type, PT_NOTE);
}

/* Edits that make it another note, or another program. Width 0: no change. */
static const struct changed {
	struct {
		size_t off;
		int width;
		uint64_t value;
	} edits[2];
} changed[] = {
    /* The build-id, under this name; another owner; another size. */
    {{{NOTE + 8, 4, NT_GNU_BUILD_ID}}},
    {{{NOTE + 8, 4, NT_GNU_ABI_TAG | 0x100}}},
    {{{NOTE + 12, 1, 'X'}}},
    {{{NOTE + 15, 1, 'X'}}},
    {{{NOTE, 4, 3}}},
    {{{NOTE + 4, 4, 12}}},
    /* Two notes; half a note; none; a note and part of the next. */
    {{{PHDR_NOTE + 32, 8, 64}, {SHDR_NOTE + 32, 8, 64}}},
    {{{PHDR_NOTE + 32, 8, 28}, {SHDR_NOTE + 32, 8, 28}}},
    {{{PHDR_NOTE + 32, 8, 0}, {SHDR_NOTE + 32, 8, 0}}},
    {{{PHDR_NOTE + 32, 8, 36}, {SHDR_NOTE + 32, 8, 36}}},
    /* A dynamic program, a library. */
    {{{STACK, 4, PT_INTERP}}},
    {{{STACK, 4, PT_DYNAMIC}}},
    {{{E_TYPE, 2, ET_DYN}}},
    /* The plan looks at more than the check: alignment, name, section. */
    {{{PHDR_NOTE + 48, 8, 8}}},
    {{{SHDR_NOTE, 4, 23}}},
    {{{SHDR_NOTE + 4, 4, SHT_PROGBITS}}},
    {{{SHDR_NOTE + 24, 8, NOTE + NOTE_SIZE}}},
    {{{SHDR_NOTE + 32, 8, 2 * NOTE_SIZE}}},
    {{{PHDR_NOTE + 32, 8, 2 * NOTE_SIZE}}},
};
/* Those that the check knows, too. */
enum { N_CHECKED = 13 };

/* Changes a file, with the entry of the note or without it: an output has no such entry. */
static void change(struct wr *wr, const struct changed *change, bool entry)
{
	for (size_t i = 0; i < 2; i++) {
		size_t off = change->edits[i].off;

		if (entry || off < PHDR_NOTE || off >= PHDR_NOTE + 56)
			put_value(wr->data + off, change->edits[i].width,
			    change->edits[i].value);
	}
}

UNIT_EACH(other_note, changed)
{
	change(&file, &changed[_i], true);
	if (!plan_it())
		ck_assert_int_eq(err.kind, ERR_UNSUPPORTED);
	ck_assert_int_eq(plan.obstacles[METHOD_SLACK], OBSTACLE_NO_SLOT);
	ck_assert_uint_eq(plan.sframe_entry, INSERT_NONE);
}

/*
 * A plan that takes the entry of such a note all the same. The output has the same note,
 * so that nothing except the entry differs.
 */
UNIT_LOOP(check_notices, 0, N_CHECKED)
{
	struct wr written;

	write_it(&written);
	ck_assert_int_eq(plan.method, METHOD_SLACK);
	image_close(&in);
	change(&file, &changed[_i], true);
	change(&written, &changed[_i], false);
	ck_assert(fix_open(file.data, file.size, &in, &err));
	/* The section header, where the new table is. */
	memcpy(written.data + plan.shdr_off + 2 * 64, file.data + SHDR_NOTE, 64);
	open_out(&written);
	ck_assert(!insert_check(&in, &plan, &out, &(struct insert_changes){0}, &err));
	ck_assert_str_eq(err.text, "program header 4 differs");
	wr_deinit(&written);
}
