/* SPDX-License-Identifier: MIT */
/*
 * s390x: what the "ELF Application Binary Interface s390x Supplement" fixes. 31-bit s390
 * programs have the same e_machine and are 32-bit files.
 */
#include "gen/arch/arch.h"

#include <elf.h>

#include "sframe/format.h"

/*
 * The PLTs of linkers (linked and read back: GNU ld 2.40, 2.44 and 2.47, gold 1.16, lld 19
 * and 22, mold 1.10, 2.37 and 3.0; lazy and -z now write the same code):
 *
 *             .plt              .iplt           .plt.got   .eh_frame
 *   GNU ld    header, entries   (in .plt)       -          since 2.46 (2)
 *   gold      header, entries   (in .plt)       -          yes (1)
 *   lld       header, entries   entries         -          none
 *   mold      header, entries   (in .plt.got)   entries    none
 *
 *   (1) wrong: it says that the CFA is %r15 + 32, refused as cfa-near-sp
 *   (2) except entries of IRELATIVE slots, which stand at the end
 *
 * A static non-PIE program of GNU ld has entries only (for IRELATIVE). mold since 2.2 has
 * other stubs than before.
 */

/* All stubs have one row. BRASL leaves %r15 as it is and the return address in %r14; no
 * stub writes either. What the headers store at 48(%r15) and 56(%r15) goes into the
 * register save area of the caller's frame, which is there for the callee's use. */
#define ONE_ROW .n_rows = 1, .rows = {{.start = 0, .cfa_off = 160}}

#define DISP 0x00, 0x00, 0x00, 0x00   /* of a branch or of a GOT slot: any */
#define OFFSET 0x00, 0x00, 0x00, 0x00 /* of the relocation, in .rela.plt: any */
#define ANY4 0x00, 0x00, 0x00, 0x00   /* in a mask */
#define FIX2 0xff, 0xff
#define FIX4 0xff, 0xff, 0xff, 0xff
#define FIX6 0xff, 0xff, 0xff, 0xff, 0xff, 0xff
#define NOPR 0x07, 0x00
#define BR_R1 0x07, 0xf1
#define LARL_R1 0xc0, 0x10, DISP		     /* larl %r1,... */
#define LG_R1 0xe3, 0x10, 0x10, 0x00, 0x00, 0x04     /* lg %r1,0(%r1) */
#define LG_R1_16 0xe3, 0x10, 0x10, 0x10, 0x00, 0x04  /* lg %r1,16(%r1) */
#define MVC_48 0xd2, 0x07, 0xf0, 0x30, 0x10, 0x08    /* mvc 48(8,%r15),8(%r1) */
#define STG_R0_56 0xe3, 0x00, 0xf0, 0x38, 0x00, 0x24 /* stg %r0,56(%r15) */
#define STG_R1_56 0xe3, 0x10, 0xf0, 0x38, 0x00, 0x24 /* stg %r1,56(%r15) */

static const struct arch_plt_stub plt_header = {
    .size = 32,
    .code =
	(const uint8_t[]){STG_R1_56, LARL_R1, MVC_48, LG_R1_16, BR_R1, NOPR, NOPR, NOPR},
    .mask = (const uint8_t[]){FIX6, FIX2, ANY4, FIX6, FIX6, FIX2, FIX6},
    ONE_ROW,
};

static const struct arch_plt_stub plt_entry = {
    .size = 32,
    ARCH_CODE(LARL_R1, LG_R1, BR_R1,	    /* 0 */
	0x0d, 0x10,			    /* e: basr %r1,%r0 */
	0xe3, 0x10, 0x10, 0x0c, 0x00, 0x14, /* 10: lgf %r1,12(%r1) */
	0xc0, 0xf4, DISP,		    /* 16: jg header */
	OFFSET),			    /* 1c: data */
    .mask = (const uint8_t[]){FIX2, ANY4, FIX6, FIX2, FIX2, FIX6, FIX2, ANY4, ANY4},
    ONE_ROW,
};

static const struct arch_plt_stub mold_header = {
    .size = 32,
    .code =
	(const uint8_t[]){STG_R0_56, LARL_R1, MVC_48, LG_R1_16, BR_R1, NOPR, NOPR, NOPR},
    .mask = (const uint8_t[]){FIX6, FIX2, ANY4, FIX6, FIX6, FIX2, FIX6},
    ONE_ROW,
};

static const struct arch_plt_stub mold_entry = {
    .size = 32,
    ARCH_CODE(LARL_R1, LG_R1,			    /* 0 */
	0xc0, 0x01, OFFSET,			    /* c: lgfi %r0,... */
	BR_R1, NOPR, NOPR, NOPR, NOPR, NOPR, NOPR), /* 12 */
    .mask = (const uint8_t[]){FIX2, ANY4, FIX6, FIX2, ANY4, FIX2, FIX6, FIX6},
    ONE_ROW,
};

/* mold 2.41 and later fill up with zeros. */
static const uint8_t zeros[4] = {0};
#define NOPR_OR_ZEROS(at, bytes) .other = zeros, .other_at = (at), .other_size = (bytes)

/* The header finds the entry's number by %r0, which BASR leaves behind the entry. */
static const struct arch_plt_stub mold_2_header = {
    .size = 48,
    ARCH_CODE(0xb9, 0x09, 0x00, 0x01,				  /* 0: sgr %r0,%r1 */
	0xa7, 0x0b, 0xff, 0xc2,					  /* 4: aghi %r0,-62 */
	0xeb, 0x10, 0x00, 0x01, 0x00, 0x0c,			  /* 8: srlg %r1,%r0,1 */
	0xb9, 0x08, 0x00, 0x01,					  /* e: agr %r0,%r1 */
	STG_R0_56, LARL_R1, MVC_48, LG_R1_16, BR_R1, NOPR, NOPR), /* 12 */
    .mask = (const uint8_t[]){FIX6, FIX6, FIX6, FIX6, FIX2, ANY4, FIX6, FIX6, FIX6},
    NOPR_OR_ZEROS(44, 4),
    ONE_ROW,
};

static const struct arch_plt_stub mold_2_entry = {
    .size = 16,
    ARCH_CODE(LARL_R1, LG_R1, /* 0 */
	0x0d, 0x01,	      /* c: basr %r0,%r1, which does not come back */
	NOPR),		      /* e */
    .mask = (const uint8_t[]){FIX2, ANY4, FIX6, FIX4},
    NOPR_OR_ZEROS(14, 2),
    ONE_ROW,
};

static const struct arch_plt_stub mold_got_entry = {
    .size = 16,
    .code = (const uint8_t[]){LARL_R1, LG_R1, BR_R1, NOPR},
    .mask = (const uint8_t[]){FIX2, ANY4, FIX6, FIX4},
    NOPR_OR_ZEROS(14, 2),
    ONE_ROW,
};

/* Sorted by section. No section's bytes can match two of its templates with different
 * rows. */
static const struct arch_plt_template plt_templates[] = {
    {.linker = "GNU ld, lld",
	.section = ".plt",
	.header = &plt_header,
	.entry = &plt_entry},
    {.linker = "mold", .section = ".plt", .header = &mold_header, .entry = &mold_entry},
    {.linker = "mold 2",
	.section = ".plt",
	.header = &mold_2_header,
	.entry = &mold_2_entry},
    {.linker = "GNU ld, static", .section = ".plt", .entry = &plt_entry},
    {.linker = "mold", .section = ".plt.got", .entry = &mold_got_entry},
    {.linker = "lld", .section = ".iplt", .entry = &plt_entry},
};

/* Principles of Operation, BRANCH ON CONDITION: with a mask of 0 it is "a no-operation";
 * BCR, BC and BRCL, the last two followed by zeros. */
static const struct arch_filler fillers[] = {
    {2, {0x07, 0x07}},
    {2, {0x07, 0x00}},
    {2, {0x47, 0x00}},
    {2, {0xc0, 0x04}},
    {2, {0x00, 0x00}},
};

/* Principles of Operation: BRASL, BRAS and BASR. */
static const struct arch_call calls[] = {
    {6, {0xff, 0x0f}, {0xc0, 0x05}},
    {4, {0xff, 0x0f}, {0xa7, 0x05}},
    {2, {0xff}, {0x0d}},
};

/* "Relocation Types". */
static const struct arch_reloc relocs[] = {
    {"R_390_NONE", R_390_NONE, 0, false},
    {"R_390_32", R_390_32, 4, false},
    {"R_390_PC32", R_390_PC32, 4, true},
    {"R_390_64", R_390_64, 8, false},
    {"R_390_PC64", R_390_PC64, 8, true},
};

/* Not in Debian 12's elf.h. */
enum {
	S390X_PC12DBL = 62,
	S390X_PLT12DBL = 63,
	S390X_PC24DBL = 64,
	S390X_PLT24DBL = 65,
};

/* "Relocation Types": DBL ones count in half words, as branches do. */
static const struct arch_code_reloc code_relocs[] = {
    {R_390_64, 8, 64, 0, 0, 0},
    {R_390_32, 4, 32, 0, 0, 0},
    {R_390_PC64, 8, 64, 0, 0, ARCH_RELOC_PCREL},
    {R_390_PC32, 4, 32, 0, 0, ARCH_RELOC_PCREL},
    {R_390_PC16, 2, 16, 0, 0, ARCH_RELOC_PCREL},
    {S390X_PC12DBL, 2, 12, 0, 1, ARCH_RELOC_PCREL},
    {S390X_PLT12DBL, 2, 12, 0, 1, ARCH_RELOC_PCREL},
    {R_390_PC16DBL, 2, 16, 0, 1, ARCH_RELOC_PCREL},
    {R_390_PLT16DBL, 2, 16, 0, 1, ARCH_RELOC_PCREL},
    {S390X_PC24DBL, 3, 24, 0, 1, ARCH_RELOC_PCREL},
    {S390X_PLT24DBL, 3, 24, 0, 1, ARCH_RELOC_PCREL},
    {R_390_PC32DBL, 4, 32, 0, 1, ARCH_RELOC_PCREL},
    {R_390_PLT32DBL, 4, 32, 0, 1, ARCH_RELOC_PCREL},
    {R_390_GOTENT, 4, 32, 0, 1, ARCH_RELOC_PCREL | ARCH_RELOC_GOT},
};

static const uint32_t s390x_tls_relocs[] = {
    R_390_TLS_DTPMOD, R_390_TLS_DTPOFF, R_390_TLS_TPOFF};

/* "DWARF register number mapping": the floating-point registers are in pairs. */
static const char *const s390x_reg_names[] = {"r0", "r1", "r2", "r3", "r4", "r5", "r6",
    "r7", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "f0", "f2", "f4", "f6",
    "f1", "f3", "f5", "f7", "f8", "f10", "f12", "f14", "f9", "f11", "f13", "f15"};

const struct arch arch_s390x = {
    .name = "s390x",
    .elf_machine = EM_S390,
    /* 4.1.1, Machine Information: e_ident[EI_DATA] is ELFDATA2MSB. */
    .big_endian = true,
    .sframe_abi = SFRAME_ABI_S390X_ENDIAN_BIG,
    .page = 4096,
    .cfi =
	{
	    /* "DWARF register number mapping": 0-15 are %r0-%r15, 16-31 the
			 * floating point registers, 64 the PSW mask and 65 the PSW
			 * address. 1.2.2.1, "Register Roles": %r15 is the stack pointer;
			 * none is the frame pointer by rule, compilers take %r11. */
	    .sp_reg = 15,
	    .fp_reg = 11,
	    .pc_reg = 65,
	    .aarch64_ra_state = false,
	},
    /* 1.2.2.1: %r14 holds the return address. */
    .code = CODE_S390X,
    ARCH_LIST(reg_names, s390x_reg_names),
    ARCH_LIST(tls_relocs, s390x_tls_relocs),
    .ra_reg = 14,
    /* 1.2.2.2, "The Stack Frame": the caller leaves a register save area of 160 bytes
	 * at the low end of its frame; the CFA is the address behind it. */
    .sp_from_cfa = -160,
    /* 1.2.2.1: %r15 is preserved across calls. So what is saved of it, in its place
	 * of the register save area or in a register, is what it held at the entry: CFA -
	 * 160 again. Each function that saves it has such a rule. */
    .sp_saved = true,
    .ra_tracked = true,
    ARCH_LIST(plt_templates, plt_templates),
    ARCH_LIST(fillers, fillers),
    ARCH_LIST(calls, calls),
    .insn_unit = 2,
    ARCH_LIST(relocs, relocs),
    ARCH_LIST(code_relocs, code_relocs),
    .reloc_start32 = R_390_PC32,
    .reloc_start64 = R_390_PC64,
};
