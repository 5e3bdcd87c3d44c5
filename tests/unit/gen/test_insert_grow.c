/* SPDX-License-Identifier: MIT */
/*
 * The method that grows the program header table where it is. Which parts shift, which
 * move into the segment, what follows them, and each reason to leave a file alone.
 */
#include "tests/unit/unit.h"

#include "tests/unit/gen/test_insert_fixture.h"

enum {
	N_PHDRS = 6,
	N_SHDRS = 12,
	INTERP = 64 + N_PHDRS * 56,
	NOTE = INTERP + 0x1c,
	HASH = NOTE + 0x24,
	DYNSYM = HASH + 0x40,
	BLOCK_END = DYNSYM + 3 * 24,
	RELA = 0x300,
	TEXT = 0x400,
	R_SIZE = 0x600,
	DYNAMIC = 0x1000,
	DYNAMIC_SIZE = 4 * 16,
	SYMTAB = 0x1100,
	N_SYMBOLS = 4,
	STRTAB = SYMTAB + N_SYMBOLS * 24,
	SHSTRTAB = STRTAB + 32,
	SHDRS = 0x1280,
	SIZE = SHDRS + N_SHDRS * 64,
	BY = 2 * 56,
	/* The parts that move into the segment come after the section. */
	MOVED = (PAYLOAD_SIZE + 7) & ~7,
	/* The note has no more than its alignment in front of it. */
	NOTE_TO = INTERP + 12,
	/* Program headers. */
	PHDR_INTERP = 64 + 56,
	PHDR_LOAD = 64 + 2 * 56,
	PHDR_NOTE = 64 + 5 * 56,
	/* Section headers. */
	SHDR_NOTE = SHDRS + 2 * 64,
	SHDR_HASH = SHDRS + 3 * 64,
	SHDR_DYNSYM = SHDRS + 4 * 64,
	SHDR_TEXT = SHDRS + 6 * 64,
	SHDR_DYNAMIC = SHDRS + 7 * 64,
};

static void put_symbol(uint32_t name, uint8_t info, uint16_t section, uint64_t addr)
{
	wr_u32(&file, name);
	wr_u8(&file, info);
	wr_u8(&file, 0);
	wr_u16(&file, section);
	wr_u64(&file, addr);
	wr_u64(&file, 0);
}

static void put_contents(void)
{
	fix_to(&file, INTERP);
	wr_bytes(&file, "/lib/ld.so", 11);
	fix_to(&file, NOTE);
	for (int i = NOTE; i < DYNSYM; i++)
		wr_u8(&file, (uint8_t)i);
	fix_to(&file, DYNSYM);
	put_symbol(0, 0, 0, 0);
	put_symbol(1, STB_GLOBAL << 4 | STT_FUNC, 6, FIX_ADDR + TEXT);
	put_symbol(1, STB_GLOBAL << 4 | STT_FUNC, 0, 0);
	fix_to(&file, RELA);
	wr_u64(&file, FIX_ADDR + DYNAMIC + 0x80);
	wr_u64(&file, R_X86_64_RELATIVE);
	wr_u64(&file, FIX_ADDR + TEXT);
	fix_to(&file, DYNAMIC);
	wr_u64(&file, DT_GNU_HASH);
	wr_u64(&file, FIX_ADDR + HASH);
	wr_u64(&file, DT_SYMTAB);
	wr_u64(&file, FIX_ADDR + DYNSYM);
	/* A number that looks like an address of the block, but is not one. */
	wr_u64(&file, DT_STRSZ);
	wr_u64(&file, FIX_ADDR + HASH);
	wr_u64(&file, DT_NULL);
	wr_u64(&file, FIX_ADDR + HASH);
	fix_to(&file, SYMTAB);
	put_symbol(0, 0, 0, 0);
	put_symbol(0, STT_SECTION, 4, FIX_ADDR + DYNSYM);
	put_symbol(1, STT_OBJECT, 2, FIX_ADDR + NOTE);
	/* Only its name says that it is the first section. */
	put_symbol(11, STT_NOTYPE, 1, FIX_ADDR);
	wr_bytes(&file, "\0__abi_tag\0__ehdr_start", 24);
}

static void put_sections(void)
{
	static const char names[] =
	    "\0.interp\0.note.gnu.build-id\0.gnu.hash\0.dynsym\0.text\0.dynamic";

	fix_to(&file, SHSTRTAB);
	wr_bytes(&file, names, sizeof(names));
	fix_to(&file, SHDRS);
	fix_shdr(&file, 0, SHT_NULL, 0, 0, 0, 0);
	fix_shdr(&file, 1, SHT_PROGBITS, SHF_ALLOC, INTERP, 11, 0);
	fix_shdr(&file, 9, SHT_NOTE, SHF_ALLOC, NOTE, 0x24, 0);
	fix_shdr(&file, 28, SHT_GNU_HASH, SHF_ALLOC, HASH, 0x40, 4);
	fix_shdr(&file, 38, SHT_DYNSYM, SHF_ALLOC, DYNSYM, 3 * 24, 9);
	fix_shdr(&file, 46, SHT_RELA, SHF_ALLOC, RELA, 24, 4);
	fix_shdr(&file, 46, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, 0x100, 0);
	fix_shdr(&file, 52, SHT_DYNAMIC, SHF_ALLOC | SHF_WRITE, DYNAMIC, DYNAMIC_SIZE, 9);
	fix_shdr(&file, 46, SHT_SYMTAB, 0, SYMTAB, N_SYMBOLS * 24, 9);
	fix_shdr(&file, 46, SHT_STRTAB, 0, STRTAB, 24, 0);
	fix_shdr(&file, 46, SHT_STRTAB, 0, SHSTRTAB, sizeof(names), 0);
	fix_shdr(&file, 0, SHT_NULL, 0, 0, 0, 0);
}

static void setup(void)
{
	fix_writing();
	method = METHOD_GROW;
	wr_init(&file, false);
	fix_header(&file);
	fix_phdr(&file, PT_PHDR, PF_R, 64, FIX_ADDR + 64, N_PHDRS * 56, N_PHDRS * 56);
	fix_phdr(&file, PT_INTERP, PF_R, INTERP, FIX_ADDR + INTERP, 11, 11);
	fix_phdr(&file, PT_LOAD, PF_R | PF_X, 0, FIX_ADDR, R_SIZE, R_SIZE);
	fix_phdr(&file, PT_LOAD, PF_R | PF_W, DYNAMIC, FIX_ADDR + DYNAMIC, 0x100, 0x100);
	fix_phdr(&file, PT_DYNAMIC, PF_R | PF_W, DYNAMIC, FIX_ADDR + DYNAMIC,
	    DYNAMIC_SIZE, DYNAMIC_SIZE);
	fix_phdr(&file, PT_NOTE, PF_R, NOTE, FIX_ADDR + NOTE, 0x24, 0x24);
	put_contents();
	put_sections();
	ck_assert_uint_eq(file.size, SIZE);
	wr_patch_u64(&file, 40, SHDRS);
	wr_patch_u32(&file, 56, N_PHDRS | 64 << 16);
	wr_patch_u32(&file, 60, N_SHDRS | 10 << 16);
}
UNIT_FIXTURE(setup, teardown)

/* A value of 8 bytes in the output. */
static uint64_t out_u64(size_t off)
{
	uint64_t value;

	memcpy(&value, out.bytes + off, sizeof(value));
	return value;
}

UNIT(grow)
{
	uint64_t value;

	fix_round_trip();
	ck_assert_int_eq(plan.method, METHOD_GROW);
	ck_assert_uint_eq(out.ehdr.e_phoff, 64);
	ck_assert_uint_eq(out.n_phdrs, N_PHDRS + 2);
	ck_assert_uint_eq(out.phdrs[0].p_filesz, (N_PHDRS + 2) * 56);
	ck_assert_uint_eq(out.phdrs[1].p_offset, INTERP + BY);
	ck_assert_uint_eq(out.phdrs[6].p_vaddr, FIX_ADDR + NOTE_TO + BY);
	ck_assert_uint_eq(out.phdrs[6].p_paddr, FIX_ADDR + NOTE_TO + BY);
	ck_assert_uint_eq(out.sections[1].hdr.sh_offset, INTERP + BY);
	ck_assert_uint_eq(out.sections[5].hdr.sh_offset, RELA);
	ck_assert_mem_eq(out.sections[3].data, file.data + HASH, 0x40);
	ck_assert_uint_eq(out.sections[3].hdr.sh_addr, plan.segment_addr + MOVED);
	ck_assert(image_dynamic(&out, DT_GNU_HASH, &value));
	ck_assert_uint_eq(value, out.sections[3].hdr.sh_addr);
	ck_assert(image_dynamic(&out, DT_SYMTAB, &value));
	ck_assert_uint_eq(value, out.sections[4].hdr.sh_addr);
	ck_assert(image_dynamic(&out, DT_STRSZ, &value));
	ck_assert_uint_eq(value, FIX_ADDR + HASH);
	/* The old places have no free bytes left. */
	ck_assert_str_eq(out.sections[N_SHDRS].name, ".phdrs");
	ck_assert_uint_eq(out.sections[N_SHDRS].hdr.sh_offset, INTERP + 48 + BY);
	ck_assert_uint_eq(out.sections[N_SHDRS].hdr.sh_addr, FIX_ADDR + INTERP + 48 + BY);
	ck_assert_uint_eq(
	    out.sections[N_SHDRS].hdr.sh_size, BLOCK_END - INTERP - 48 - BY);
	ck_assert_uint_eq(out_u64(SYMTAB + 24 + 8), out.sections[4].hdr.sh_addr);
	ck_assert_uint_eq(out_u64(SYMTAB + 48 + 8), FIX_ADDR + NOTE_TO + BY);
	ck_assert_uint_eq(out_u64(SYMTAB + 72 + 8), FIX_ADDR);
}

/* It comes before the method that moves the table. */
UNIT(by_itself)
{
	method = METHOD_AUTO;
	fix_round_trip();
	ck_assert_int_eq(plan.method, METHOD_GROW);
	ck_assert_int_eq(plan.obstacles[METHOD_SLACK], OBSTACLE_NO_SLOT);
}

/* With one spare entry only half of the room is needed, and .dynsym stays. */
UNIT(one_spare)
{
	wr_patch_u32(&file, PHDR_NOTE, PT_NULL);
	fix_round_trip();
	ck_assert_uint_eq(out.n_phdrs, N_PHDRS + 1);
	ck_assert_uint_eq(out.sections[2].hdr.sh_offset, NOTE_TO + 56);
	ck_assert_uint_eq(out.sections[3].hdr.sh_addr, plan.segment_addr + MOVED);
	ck_assert_uint_eq(out.sections[4].hdr.sh_offset, DYNSYM);
}

/* Sections that only program headers lead to go first. Hash table and .dynamic stay. */
UNIT(named)
{
	uint64_t value;

	wr_patch_u32(&file, PHDR_NOTE, PT_GNU_PROPERTY);
	wr_patch_u32(&file, PHDR_INTERP - 56, PT_NULL);
	memcpy(file.data + SHSTRTAB + 9, ".note.gnu.property", 18);
	/* A static program has readers for these, too. */
	wr_patch_u64(&file, DYNAMIC + 16, DT_DEBUG);
	fix_round_trip();
	ck_assert_uint_eq(out.n_phdrs, N_PHDRS + 1);
	ck_assert_uint_eq(out.phdrs[0].p_type, PT_INTERP);
	ck_assert_uint_eq(out.phdrs[0].p_vaddr, plan.segment_addr + MOVED);
	ck_assert_uint_eq(out.sections[1].hdr.sh_offset, plan.segment_off + MOVED);
	ck_assert_uint_eq(out.phdrs[5].p_type, PT_GNU_PROPERTY);
	ck_assert_uint_eq(out.phdrs[5].p_offset, out.sections[2].hdr.sh_offset);
	ck_assert_uint_eq(out.phdrs[5].p_vaddr, out.sections[2].hdr.sh_addr);
	ck_assert_uint_gt(out.phdrs[5].p_vaddr, plan.segment_addr);
	ck_assert_uint_eq(out.sections[3].hdr.sh_offset, HASH);
	ck_assert(image_dynamic(&out, DT_GNU_HASH, &value));
	ck_assert_uint_eq(value, FIX_ADDR + HASH);
}

/*
 * Where hash tables can move, the first section stays in the first page, because patchelf
 * looks there.
 */
UNIT(dynamic_first)
{
	wr_patch_u32(&file, PHDR_NOTE, PT_GNU_PROPERTY);
	wr_patch_u32(&file, PHDR_INTERP - 56, PT_NULL);
	memcpy(file.data + SHSTRTAB + 9, ".note.gnu.property", 18);
	fix_round_trip();
	ck_assert_uint_eq(out.n_phdrs, N_PHDRS + 1);
	ck_assert_uint_eq(out.sections[1].hdr.sh_offset, INTERP + 56);
	ck_assert_uint_eq(out.sections[2].hdr.sh_offset, NOTE_TO + 56);
	ck_assert_uint_eq(out.sections[3].hdr.sh_addr, plan.segment_addr + MOVED);
}

/* The program header of another tool's section becomes free. */
UNIT(replaced)
{
	wr_patch_u32(&file, PHDR_NOTE, IMAGE_PT_GNU_SFRAME);
	fix_round_trip();
	ck_assert_uint_eq(out.n_phdrs, N_PHDRS + 1);
	ck_assert_uint_eq(out.phdrs[N_PHDRS].p_type, IMAGE_PT_GNU_SFRAME);
	for (size_t i = 0; i < N_PHDRS; i++)
		ck_assert_uint_ne(out.phdrs[i].p_type, IMAGE_PT_GNU_SFRAME);
}

/* Bytes between two sections that are not zero may be in use. */
UNIT(filler)
{
	file.data[NOTE - 1] = 1;
	ck_assert(plan_it());
	ck_assert_int_eq(plan.table_moves_for, OBSTACLE_GROW_BLOCK);
}

/* The bytes must be those that were written, or an edit would be lost. */
UNIT(undo_notices)
{
	size_t offs[] = {INTERP + BY, NOTE_TO + BY, DYNAMIC, DYNAMIC + 8,
	    DYNAMIC + DYNAMIC_SIZE - 1, SYMTAB + 24 + 8, 0};
	struct wr written;
	struct undo undo;
	bool found;

	fix_undo_notices();
	offs[6] = (size_t)plan.segment_off + MOVED;
	image_close(&in);
	write_it(&written);
	for (size_t i = 0; i < sizeof(offs) / sizeof(offs[0]); i++) {
		written.data[offs[i]] ^= 0x40;
		open_out(&written);
		ck_assert_msg(!undo_find(&out, &undo, &found, &err), "0x%zx", offs[i]);
		image_close(&out);
		written.data[offs[i]] ^= 0x40;
	}
	wr_deinit(&written);
}

UNIT(check_notices)
{
	size_t offs[] = {24, 64 + 16, PHDR_INTERP + 8, PHDR_LOAD + 16, PHDR_NOTE + 56 + 8,
	    PHDR_NOTE + 56 + 32, INTERP + BY, NOTE_TO + BY, BLOCK_END - 1, RELA, TEXT,
	    DYNAMIC, DYNAMIC + 8, DYNAMIC + 24, DYNAMIC + 40, DYNAMIC + 56,
	    SYMTAB + 24 + 8, SYMTAB + 48, SYMTAB + 48 + 8, SYMTAB + 72 + 8, SIZE - 1, 0,
	    0, 0};

	ck_assert(plan_it());
	offs[21] = (size_t)plan.segment_off + MOVED;
	offs[22] = (size_t)plan.segment_off + MOVED + DYNSYM - HASH;
	offs[23] = (size_t)plan.shdr_off + 3 * 64 + 16;
	image_close(&in);
	fix_check_notices(offs, sizeof(offs) / sizeof(offs[0]));
}

/* Each reason to leave a file alone. */
static const struct changed {
	size_t off;
	int width;
	uint64_t value;
	enum obstacle obstacle;
} changed[] = {
    {PHDR_INTERP, 4, PT_GNU_STACK, OBSTACLE_GROW_BLOCK},
    {DYNAMIC + 16, 8, DT_DEBUG, OBSTACLE_GROW_KIND},
    {PHDR_LOAD + 4, 4, PF_R | PF_W, OBSTACLE_GROW_TABLE},
    {PHDR_LOAD + 32, 8, BLOCK_END - 1, OBSTACLE_GROW_TABLE},
    {64 + 8, 8, 72, OBSTACLE_GROW_TABLE},
    /* Another name, flag, alignment or order. */
    {SHDR_NOTE, 4, 46, OBSTACLE_GROW_BLOCK},
    {SHDR_NOTE + 8, 8, SHF_ALLOC | SHF_WRITE, OBSTACLE_GROW_BLOCK},
    {SHDR_NOTE + 16, 8, FIX_ADDR + NOTE + 4, OBSTACLE_GROW_BLOCK},
    {SHDR_NOTE + 32, 8, 0, OBSTACLE_GROW_BLOCK},
    {SHDR_HASH + 4, 4, SHT_PROGBITS, OBSTACLE_GROW_BLOCK},
    {SHDR_HASH + 48, 8, 16, OBSTACLE_GROW_BLOCK},
    {SHDR_DYNSYM + 4, 4, SHT_GNU_versym, OBSTACLE_GROW_BLOCK},
    /* A program header names a note and a hash table together, or half a section. */
    {PHDR_NOTE + 32, 8, 0x64, OBSTACLE_GROW_BLOCK},
    {PHDR_NOTE + 32, 8, 0x40, OBSTACLE_GROW_SEGMENT},
    /* The end wraps around. */
    {PHDR_NOTE + 32, 8, UINT64_MAX, OBSTACLE_GROW_BLOCK},
    {PHDR_INTERP + 32, 8, UINT64_MAX, OBSTACLE_GROW_SEGMENT},
    {PHDR_NOTE + 16, 8, FIX_ADDR + NOTE + 4, OBSTACLE_GROW_SEGMENT},
    {PHDR_INTERP + 8, 8, TEXT, OBSTACLE_GROW_BLOCK},
    /* No tag, two, or one that leads elsewhere. */
    {DYNAMIC, 8, DT_DEBUG, OBSTACLE_GROW_DYNAMIC},
    {DYNAMIC + 8, 8, FIX_ADDR + HASH + 8, OBSTACLE_GROW_DYNAMIC},
    {DYNAMIC + 32, 8, DT_GNU_HASH, OBSTACLE_GROW_DYNAMIC},
    {SHDR_DYNAMIC + 32, 8, DYNAMIC_SIZE - 16, OBSTACLE_GROW_DYNAMIC},
    {SHDR_DYNAMIC + 4, 4, SHT_PROGBITS, OBSTACLE_GROW_DYNAMIC},
    /* A symbol with another name, an exported one, two kinds of pointer. */
    {SYMTAB + 48, 4, 3, OBSTACLE_GROW_SYMBOL},
    {SYMTAB + 72 + 8, 8, FIX_ADDR + INTERP, OBSTACLE_GROW_SYMBOL},
    {DYNSYM + 24 + 6, 2, 5, OBSTACLE_NONE},
    {DYNSYM + 24 + 8, 8, FIX_ADDR + NOTE, OBSTACLE_NONE},
    {RELA, 8, FIX_ADDR + NOTE, OBSTACLE_GROW_SYMBOL},
    {RELA + 16, 8, FIX_ADDR + NOTE, OBSTACLE_GROW_SYMBOL},
    {RELA + 16, 8, FIX_ADDR + BLOCK_END, OBSTACLE_NONE},
};

UNIT_EACH(obstacle, changed)
{
	const struct changed *change = &changed[_i];

	for (int i = 0; i < change->width; i++)
		file.data[change->off + (size_t)i] = (uint8_t)(change->value >> 8 * i);
	if (change->obstacle == OBSTACLE_NONE) {
		fix_round_trip();
		return;
	}
	ck_assert(plan_it());
	ck_assert_int_eq(plan.table_moves_for, change->obstacle);
}

/* An exported symbol of a part that would move prevents this, whatever its kind. */
UNIT(exported)
{
	file.data[DYNSYM + 24 + 6] = 2;
	wr_patch_u64(&file, DYNSYM + 24 + 8, FIX_ADDR + NOTE);
	ck_assert(plan_it());
	ck_assert_int_eq(plan.table_moves_for, OBSTACLE_GROW_SYMBOL);
}

/* The addend of thread-local storage is an offset, though it looks like an address here. */
static const struct {
	uint32_t type;
	bool place; /* the relocation is of the block's bytes */
	enum obstacle obstacle;
} addends[] = {
    {R_X86_64_DTPMOD64, false, OBSTACLE_NONE},
    {R_X86_64_DTPOFF64, false, OBSTACLE_NONE},
    {R_X86_64_TPOFF64, false, OBSTACLE_NONE},
    {R_X86_64_TLSDESC, false, OBSTACLE_NONE},
    {R_X86_64_TPOFF64, true, OBSTACLE_GROW_SYMBOL},
    {R_X86_64_IRELATIVE, false, OBSTACLE_GROW_SYMBOL},
    {R_X86_64_64, false, OBSTACLE_GROW_SYMBOL},
};

UNIT_EACH(addend, addends)
{
	wr_patch_u64(&file, RELA + 8, addends[_i].type);
	wr_patch_u64(&file, RELA + 16, FIX_ADDR + NOTE);
	if (addends[_i].place)
		wr_patch_u64(&file, RELA, FIX_ADDR + NOTE);
	if (addends[_i].obstacle == OBSTACLE_NONE) {
		fix_round_trip();
		return;
	}
	ck_assert(plan_it());
	ck_assert_int_eq(plan.table_moves_for, addends[_i].obstacle);
}

/* Without section headers the contents there are unknown. */
UNIT(no_sections)
{
	wr_patch_u64(&file, 40, 0);
	wr_patch_u32(&file, 60, 0);
	file.size = 0x1100;
	ck_assert(plan_it());
	ck_assert_int_eq(plan.table_moves_for, OBSTACLE_GROW_SECTIONS);
}
