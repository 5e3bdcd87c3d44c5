/* SPDX-License-Identifier: MIT */
/*
 * AArch64, both byte orders: what AAPCS64 ("Procedure Call Standard for the Arm 64-bit
 * Architecture") and aadwarf64 ("DWARF for the Arm 64-bit Architecture") fix. The two
 * machines differ in the byte order of data and in the identifier of the SFrame ABI only;
 * instructions are little-endian on both.
 *
 * Registers that are not tracked need no facts here: a callee may change every SVE and
 * predicate register, or with the variant call standard must keep more of them, and a row
 * of SFrame speaks of none.
 */
#include "gen/arch/arch.h"

#include <elf.h>

#include "sframe/format.h"

enum {
	/* AAPCS64, "General-purpose Registers": r29 is the frame pointer, r30 the link
	 * register, SP the stack pointer. aadwarf64, "DWARF register names": 0-30 are
	 * X0-X30, 31 is SP, 32 is PC. */
	AARCH64_FP = 29,
	AARCH64_LR = 30,
	AARCH64_SP = 31,
	AARCH64_PC = 32,
	/* DWARF 5, 6.4: "Typically, the CFA is defined to be the value of the stack
	 * pointer at the call site"; BL changes no SP. */
	AARCH64_SP_FROM_CFA = 0,
};

/*
 * The PLTs of linkers. None of them describes one by .eh_frame on this machine (linked
 * and read back: GNU ld 2.40, 2.44 and 2.47, gold 1.16, lld 14, 16, 19, 21 and 22, mold
 * 1.10, 2.37 and 3.0; both byte orders where the linker has them, lazy and -z now, BTI and
 * PAC, alike for variant PCS symbols, which only change .dynamic):
 *
 *             .plt                                       .iplt           .plt.got
 *   GNU ld    header, entries; lazy TLSDESC at the end   (in .plt)       -
 *   gold      the same, without BTI or PAC               (in .plt)       -
 *   lld       header, entries                            entries         -
 *   mold      header, entries                            (in .plt.got)   entries
 *
 * A static non-PIE program of GNU ld has entries only (for IRELATIVE). With BTI, GNU ld
 * puts a landing pad into every entry of a program and none of a library; lld into the
 * entries whose address is taken. mold since 2.31 fills up with BRK what earlier ones do
 * with NOP.
 *
 * The code that gold writes for big-endian files is broken: the immediates of LDR and ADD
 * are swapped. It matches nothing.
 */

/* A stub's rows follow from three facts: BL and BLR leave SP as it is and the return
 * address in LR (x30); only STP with writeback moves SP, by 16; and STP stores its second
 * register 8 bytes above the first. No stub writes x30. The code after BR never runs and
 * keeps the last row. */

/* Arm ARM, "Instruction endianness": "A64 instructions have a fixed length of 32 bits and
 * are always little-endian", whatever the file's byte order. */
#define INSN(word)                                                                       \
	(word) & 0xff, (word) >> 8 & 0xff, (word) >> 16 & 0xff, (word) >> 24 & 0xff

#define BTI_C INSN(0xd503245f)
#define NOP INSN(0xd503201f)
#define BRK INSN(0xd4207d00)
#define AUTIA1716 INSN(0xd503219f)
#define BR_X17 INSN(0xd61f0220)
#define BR_X2 INSN(0xd61f0040)
#define STP_X16_LR INSN(0xa9bf7bf0) /* stp x16, x30, [sp, #-16]! */
#define STP_X2_X3 INSN(0xa9bf0fe2)  /* stp x2, x3, [sp, #-16]! */
/* The slot's page, and its place there: any. */
#define ADRP(reg) INSN(0x90000000 | (reg))
#define LDR(to, from) INSN(0xf9400000 | (from) << 5 | (to))
#define ADD(reg) INSN(0x91000000 | (reg) << 5 | (reg))

/* In a mask. */
#define ALL INSN(0xffffffff)
#define ALL2 ALL, ALL
#define PAGE INSN(0x9f00001f)  /* without immlo and immhi */
#define PLACE INSN(0xffc003ff) /* without imm12 */

/* GNU ld since 2.46 leaves out the ADD of 0: the slot of the stub is the first of a page.
 * mold before 2.31 filled up with NOP what it fills up with BRK since. */
static const uint8_t nop[] = {NOP};
#define OR_NOP(at) .other = nop, .other_at = (at), .other_size = sizeof(nop)

#define ONE_ROW .n_rows = 1, .rows = {{.start = 0, .cfa_off = 0}}

static const struct arch_plt_stub plt_header = {
    .size = 32,
    .code = (const uint8_t[]){STP_X16_LR, ADRP(16), LDR(17, 16), ADD(16), BR_X17, NOP,
	NOP, NOP},
    .mask = (const uint8_t[]){ALL, PAGE, PLACE, PLACE, ALL2, ALL2},
    OR_NOP(12),
    .n_rows = 2,
    .rows = {{.start = 0, .cfa_off = 0}, {.start = 4, .cfa_off = 16, .ra_off = -8}},
};

static const struct arch_plt_stub mold_header = {
    .size = 32,
    .code = (const uint8_t[]){STP_X16_LR, ADRP(16), LDR(17, 16), ADD(16), BR_X17, BRK,
	BRK, BRK},
    .mask = (const uint8_t[]){ALL, PAGE, PLACE, PLACE, ALL2, ALL2},
    .n_rows = 2,
    .rows = {{.start = 0, .cfa_off = 0}, {.start = 4, .cfa_off = 16, .ra_off = -8}},
};

static const struct arch_plt_stub bti_header = {
    .size = 32,
    .code = (const uint8_t[]){BTI_C, STP_X16_LR, ADRP(16), LDR(17, 16), ADD(16), BR_X17,
	NOP, NOP},
    .mask = (const uint8_t[]){ALL2, PAGE, PLACE, PLACE, ALL2, ALL},
    OR_NOP(16),
    .n_rows = 2,
    .rows = {{.start = 0, .cfa_off = 0}, {.start = 8, .cfa_off = 16, .ra_off = -8}},
};

static const struct arch_plt_stub plt_entry = {
    .size = 16,
    .code = (const uint8_t[]){ADRP(16), LDR(17, 16), ADD(16), BR_X17},
    .mask = (const uint8_t[]){PAGE, PLACE, PLACE, ALL},
    OR_NOP(8),
    ONE_ROW,
};

/* lld's entry among entries with a landing pad. */
static const struct arch_plt_stub long_entry = {
    .size = 24,
    .code = (const uint8_t[]){ADRP(16), LDR(17, 16), ADD(16), BR_X17, NOP, NOP},
    .mask = (const uint8_t[]){PAGE, PLACE, PLACE, ALL, ALL2},
    ONE_ROW,
};

static const struct arch_plt_stub bti_entry = {
    .size = 24,
    .code = (const uint8_t[]){BTI_C, ADRP(16), LDR(17, 16), ADD(16), BR_X17, NOP},
    .mask = (const uint8_t[]){ALL, PAGE, PLACE, PLACE, ALL2},
    OR_NOP(12),
    ONE_ROW,
};

/* An entry whose AUTIA1716 authenticates the slot's value in x17, not LR. */
static const struct arch_plt_stub pac_entry = {
    .size = 24,
    .code = (const uint8_t[]){ADRP(16), LDR(17, 16), ADD(16), AUTIA1716, BR_X17, NOP},
    .mask = (const uint8_t[]){PAGE, PLACE, PLACE, ALL, ALL2},
    OR_NOP(8),
    ONE_ROW,
};

static const struct arch_plt_stub bti_pac_entry = {
    .size = 24,
    .code = (const uint8_t[]){BTI_C, ADRP(16), LDR(17, 16), ADD(16), AUTIA1716, BR_X17},
    .mask = (const uint8_t[]){ALL, PAGE, PLACE, PLACE, ALL2},
    OR_NOP(12),
    ONE_ROW,
};

static const struct arch_plt_stub mold_got_entry = {
    .size = 16,
    .code = (const uint8_t[]){ADRP(16), LDR(17, 16), BR_X17, BRK},
    .mask = (const uint8_t[]){PAGE, PLACE, ALL2},
    OR_NOP(12),
    ONE_ROW,
};

/* Reached by the BLR of a TLS descriptor that is not resolved yet; the resolver takes x2
 * and x3 from the stack again. */
static const struct arch_plt_stub tlsdesc_tail = {
    .size = 32,
    .code = (const uint8_t[]){STP_X2_X3, ADRP(2), ADRP(3), LDR(2, 2), ADD(3), BR_X2, NOP,
	NOP},
    .mask = (const uint8_t[]){ALL, PAGE, PAGE, PLACE, PLACE, ALL, ALL2},
    OR_NOP(16),
    .n_rows = 2,
    .rows = {{.start = 0, .cfa_off = 0}, {.start = 4, .cfa_off = 16}},
};

static const struct arch_plt_stub bti_tlsdesc_tail = {
    .size = 32,
    .code = (const uint8_t[]){BTI_C, STP_X2_X3, ADRP(2), ADRP(3), LDR(2, 2), ADD(3),
	BR_X2, NOP},
    .mask = (const uint8_t[]){ALL2, PAGE, PAGE, PLACE, PLACE, ALL2},
    OR_NOP(20),
    .n_rows = 2,
    .rows = {{.start = 0, .cfa_off = 0}, {.start = 8, .cfa_off = 16}},
};

/* Sorted by section. No section's bytes can match two of its templates with different
 * rows. */
static const struct arch_plt_template plt_templates[] = {
    {.linker = "GNU ld, gold, lld, mold",
	.section = ".plt",
	.header = &plt_header,
	.entry = &plt_entry,
	.tail = &tlsdesc_tail},
    {.linker = "mold 2", .section = ".plt", .header = &mold_header, .entry = &plt_entry},
    {.linker = "GNU ld, BTI, library",
	.section = ".plt",
	.header = &bti_header,
	.entry = &plt_entry,
	.tail = &bti_tlsdesc_tail},
    {.linker = "GNU ld, lld, BTI",
	.section = ".plt",
	.header = &bti_header,
	.entry = &bti_entry,
	.entry_too = &long_entry,
	.tail = &bti_tlsdesc_tail},
    {.linker = "GNU ld, lld, PAC",
	.section = ".plt",
	.header = &plt_header,
	.entry = &pac_entry,
	.tail = &tlsdesc_tail},
    {.linker = "GNU ld, lld, BTI, PAC",
	.section = ".plt",
	.header = &bti_header,
	.entry = &pac_entry,
	.entry_too = &bti_pac_entry,
	.tail = &bti_tlsdesc_tail},
    {.linker = "GNU ld, static", .section = ".plt", .entry = &plt_entry},
    {.linker = "GNU ld, static, BTI", .section = ".plt", .entry = &bti_entry},
    {.linker = "GNU ld, static, PAC", .section = ".plt", .entry = &pac_entry},
    {.linker = "GNU ld, static, BTI, PAC", .section = ".plt", .entry = &bti_pac_entry},
    {.linker = "mold", .section = ".plt.got", .entry = &mold_got_entry},
    {.linker = "lld", .section = ".iplt", .entry = &plt_entry},
    {.linker = "lld, BTI", .section = ".iplt", .entry = &bti_entry},
    {.linker = "lld, PAC", .section = ".iplt", .entry = &pac_entry},
    {.linker = "lld, BTI, PAC", .section = ".iplt", .entry = &bti_pac_entry},
};

/* Arm ARM, NOP, and UDF #0, which is zeros. */
static const struct arch_filler fillers[] = {
    {4, {INSN(0xd503201f)}},
    {4, {INSN(0)}},
};

/* Arm ARM: BL; BLR; BLRAAZ and BLRABZ; BLRAA and BLRAB. Little-endian in memory of either order. */
static const struct arch_call calls[] = {
    {4, {0, 0, 0, 0xfc}, {0, 0, 0, 0x94}},
    {4, {0x1f, 0xfc, 0xff, 0xff}, {0, 0, 0x3f, 0xd6}},
    {4, {0x1f, 0xf8, 0xff, 0xff}, {0x1f, 0x08, 0x3f, 0xd6}},
    {4, {0, 0xf8, 0xff, 0xff}, {0, 0x08, 0x3f, 0xd7}},
};

/* aaelf64, "Static Data relocations".  */
static const struct arch_reloc relocs[] = {
    {"R_AARCH64_NONE", R_AARCH64_NONE, 0, false},
    {"R_AARCH64_ABS64", R_AARCH64_ABS64, 8, false},
    {"R_AARCH64_ABS32", R_AARCH64_ABS32, 4, false},
    {"R_AARCH64_PREL64", R_AARCH64_PREL64, 8, true},
    {"R_AARCH64_PREL32", R_AARCH64_PREL32, 4, true},
};

/* aaelf64, "Static AArch64 relocations": instructions are little-endian in data of either order. */
#define WORD(bits, lsb, shift, flags) 4, bits, lsb, shift, ARCH_RELOC_LITTLE | (flags)
static const struct arch_code_reloc code_relocs[] = {
    {R_AARCH64_ABS64, 8, 64, 0, 0, 0},
    {R_AARCH64_ABS32, 4, 32, 0, 0, 0},
    {R_AARCH64_PREL64, 8, 64, 0, 0, ARCH_RELOC_PCREL},
    {R_AARCH64_PREL32, 4, 32, 0, 0, ARCH_RELOC_PCREL},
    {R_AARCH64_PREL16, 2, 16, 0, 0, ARCH_RELOC_PCREL},
    {R_AARCH64_JUMP26, WORD(26, 0, 2, ARCH_RELOC_PCREL)},
    {R_AARCH64_CALL26, WORD(26, 0, 2, ARCH_RELOC_PCREL)},
    {R_AARCH64_CONDBR19, WORD(19, 5, 2, ARCH_RELOC_PCREL)},
    {R_AARCH64_TSTBR14, WORD(14, 5, 2, ARCH_RELOC_PCREL)},
    {R_AARCH64_LD_PREL_LO19, WORD(19, 5, 2, ARCH_RELOC_PCREL)},
    {R_AARCH64_ADR_PREL_LO21, WORD(19, 5, 0, ARCH_RELOC_PCREL | ARCH_RELOC_ADR)},
    {R_AARCH64_ADR_PREL_PG_HI21, WORD(19, 5, 0, ARCH_RELOC_PAGES | ARCH_RELOC_ADR)},
    {R_AARCH64_ADR_PREL_PG_HI21_NC, WORD(19, 5, 0, ARCH_RELOC_PAGES | ARCH_RELOC_ADR)},
    {R_AARCH64_ADD_ABS_LO12_NC, WORD(12, 10, 0, ARCH_RELOC_LOW)},
    {R_AARCH64_LDST8_ABS_LO12_NC, WORD(12, 10, 0, ARCH_RELOC_LOW)},
    {R_AARCH64_LDST16_ABS_LO12_NC, WORD(12, 10, 1, ARCH_RELOC_LOW)},
    {R_AARCH64_LDST32_ABS_LO12_NC, WORD(12, 10, 2, ARCH_RELOC_LOW)},
    {R_AARCH64_LDST64_ABS_LO12_NC, WORD(12, 10, 3, ARCH_RELOC_LOW)},
    {R_AARCH64_LDST128_ABS_LO12_NC, WORD(12, 10, 4, ARCH_RELOC_LOW)},
    {R_AARCH64_ADR_GOT_PAGE,
	WORD(19, 5, 0, ARCH_RELOC_PAGES | ARCH_RELOC_ADR | ARCH_RELOC_GOT)},
    {R_AARCH64_LD64_GOT_LO12_NC, WORD(12, 10, 3, ARCH_RELOC_LOW | ARCH_RELOC_GOT)},
};

static const uint32_t tls_relocs[] = {
    R_AARCH64_TLS_DTPMOD, R_AARCH64_TLS_DTPREL, R_AARCH64_TLS_TPREL, R_AARCH64_TLSDESC};

static const char *const reg_names[] = {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7",
    "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19",
    "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp"};

/* Shared by both byte orders. aadwarf64, "Call frame instructions": opcodes 0x2c and 0x2d
 * change RA_SIGN_STATE. AAPCS64, "The Frame Pointer": "The location of the frame record
 * within a stack frame is not specified", so LR has words of its own. */
#define AARCH64_FACTS                                                                    \
	.elf_machine = EM_AARCH64,                                                       \
	.cfi = {.sp_reg = AARCH64_SP,                                                    \
	    .fp_reg = AARCH64_FP,                                                        \
	    .pc_reg = AARCH64_PC,                                                        \
	    .aarch64_ra_state = true},                                                   \
	ARCH_LIST(tls_relocs, tls_relocs), .code = CODE_AARCH64,                         \
	ARCH_LIST(reg_names, reg_names), .ra_reg = AARCH64_LR,                           \
	.sp_from_cfa = AARCH64_SP_FROM_CFA, .ra_tracked = true,                          \
	ARCH_LIST(plt_templates, plt_templates), ARCH_LIST(fillers, fillers),            \
	ARCH_LIST(calls, calls), .insn_unit = 4, ARCH_LIST(relocs, relocs),              \
	ARCH_LIST(code_relocs, code_relocs), .reloc_start32 = R_AARCH64_PREL32,          \
	.reloc_start64 = R_AARCH64_PREL64

const struct arch arch_aarch64 = {
    .name = "AArch64",
    .big_endian = false,
    .sframe_abi = SFRAME_ABI_AARCH64_ENDIAN_LITTLE,
    .page = UINT32_C(1) << 16,
    AARCH64_FACTS,
};

const struct arch arch_aarch64_be = {
    .name = "AArch64 (big-endian)",
    .big_endian = true,
    .sframe_abi = SFRAME_ABI_AARCH64_ENDIAN_BIG,
    .page = UINT32_C(1) << 16,
    AARCH64_FACTS,
};
