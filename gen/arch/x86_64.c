/* SPDX-License-Identifier: MIT */
/*
 * x86-64: what the System V psABI fixes for this machine, and how the code of its
 * linkers' PLTs looks. The second part is here because some linkers give their PLTs no
 * CFI at all.
 *
 * Who describes its PLT by .eh_frame (linked and read back: GNU ld 2.40, 2.44 and 2.47,
 * gold 1.16, lld 14, 19 and 21, mold 1.10, 2.37 and 3.0; lazy and -z now, CET-marked and
 * not, all give the same answer):
 *
 *             .plt           .plt.sec   .plt.got   .iplt
 *   GNU ld    yes (1)        yes        yes        (in .plt)
 *   gold      yes            -          -          (in .plt)
 *   lld       no             no         -          no
 *   mold      no             -          no         (in .plt.got)
 *
 *   (1) except in a static non-PIE program, whose .plt (IRELATIVE calls only) has none;
 * and GNU ld and gold write no CFI for any PLT under --no-ld-generated-unwind-info.
 *
 * Left out on purpose: the .plt of lld -z retpolineplt (lazy). The end of its header runs
 * both above an entry's return address and above the header's own, so CFA is SP + 16 or
 * SP + 32 at one PC. Sections that end in a TLSDESC stub, where the CFI was turned off by
 * option, match nothing.
 */
#include "gen/arch/arch.h"

#include <elf.h>

#include "sframe/format.h"

/* A stub's rows follow from two facts: call has just pushed the return address, so CFA is
 * SP + 8 at the entry; and each push moves SP by 8. A header is entered by jmp, from an
 * entry that may have pushed already. Padding after the last jmp or ret never runs and
 * keeps the last row. */

#define DISP 0x00, 0x00, 0x00, 0x00  /* of a branch or of a GOT slot: any */
#define INDEX 0x00, 0x00, 0x00, 0x00 /* of the relocation: any */
#define ANY 0x00, 0x00, 0x00, 0x00   /* in a mask */
#define ENDBR64 0xf3, 0x0f, 0x1e, 0xfa
#define FIX2 0xff, 0xff
#define FIX4 0xff, 0xff, 0xff, 0xff
#define INT3_4 0xcc, 0xcc, 0xcc, 0xcc
#define ONE_ROW .n_rows = 1, .rows = {{.start = 0, .cfa_off = 8}}

/* Code that never runs has other bytes with other linkers. */
static const uint8_t gold_nops[] = {0x90, 0x90, 0x90, 0x90}, mold_int3[] = {0xcc, 0xcc};
#define OTHER(at, bytes) .other = bytes, .other_at = (at), .other_size = sizeof(bytes)

/* Entered from an entry that pushed its index: CFA is SP + 16 already. */
static const struct arch_plt_stub lazy_header = {
    .size = 16,
    ARCH_CODE(0xff, 0x35, DISP,	 /* 0: push GOT+8(%rip) */
	0xff, 0x25, DISP,	 /* 6: jmp *GOT+16(%rip) */
	0x0f, 0x1f, 0x40, 0x00), /* c: nopl 0(%rax) */
    .mask = (const uint8_t[]){FIX2, ANY, FIX2, ANY, FIX4},
    OTHER(12, gold_nops),
    .n_rows = 2,
    .rows = {{.start = 0, .cfa_off = 16}, {.start = 6, .cfa_off = 24}},
};

static const struct arch_plt_stub lazy_entry = {
    .size = 16,
    ARCH_CODE(0xff, 0x25, DISP, /* 0: jmp *slot(%rip) */
	0x68, INDEX,		/* 6: push $index */
	0xe9, DISP),		/* b: jmp header */
    .mask = (const uint8_t[]){FIX2, ANY, 0xff, ANY, 0xff, ANY},
    .n_rows = 2,
    .rows = {{.start = 0, .cfa_off = 8}, {.start = 11, .cfa_off = 16}},
};

static const struct arch_plt_stub ibt_lazy_entry = {
    .size = 16,
    ARCH_CODE(ENDBR64, /* 0 */
	0x68, INDEX,   /* 4: push $index */
	0xe9, DISP,    /* 9: jmp header */
	0x66, 0x90),   /* e: xchg %ax,%ax */
    .mask = (const uint8_t[]){FIX4, 0xff, ANY, 0xff, ANY, FIX2},
    .n_rows = 2,
    .rows = {{.start = 0, .cfa_off = 8}, {.start = 9, .cfa_off = 16}},
};

static const struct arch_plt_stub non_lazy_entry = {
    .size = 8,
    ARCH_CODE(0xff, 0x25, DISP, /* 0: jmp *slot(%rip) */
	0x66, 0x90),		/* 6: xchg %ax,%ax */
    .mask = (const uint8_t[]){FIX2, ANY, FIX2},
    OTHER(6, mold_int3),
    ONE_ROW,
};

static const struct arch_plt_stub ibt_non_lazy_entry = {
    .size = 16,
    ARCH_CODE(ENDBR64,			     /* 0 */
	0xff, 0x25, DISP,		     /* 4: jmp *slot(%rip) */
	0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00), /* a: nopw 0(%rax,%rax,1) */
    .mask = (const uint8_t[]){FIX4, FIX2, ANY, FIX2, FIX4},
    ONE_ROW,
};

/* As older GNU ld wrote it, when every branch of an IBT PLT had the BND prefix. */
static const struct arch_plt_stub bnd_ibt_non_lazy_entry = {
    .size = 16,
    ARCH_CODE(ENDBR64,		       /* 0 */
	0xf2, 0xff, 0x25, DISP,	       /* 4: bnd jmp *slot(%rip) */
	0x0f, 0x1f, 0x44, 0x00, 0x00), /* b: nopl 0(%rax,%rax,1) */
    .mask = (const uint8_t[]){FIX4, 0xff, FIX2, ANY, 0xff, FIX4},
    ONE_ROW,
};

/* mold's entries pass the index in %r11 and push nothing, so its header is entered at SP
 * + 8. */
static const struct arch_plt_stub mold_header = {
    .size = 32,
    ARCH_CODE(ENDBR64,			     /* 0 */
	0x41, 0x53,			     /* 4: push %r11 */
	0xff, 0x35, DISP,		     /* 6: push GOT+8(%rip) */
	0xff, 0x25, DISP,		     /* c: jmp *GOT+16(%rip) */
	INT3_4, INT3_4, INT3_4, 0xcc, 0xcc), /* 12 */
    .mask = (const uint8_t[]){FIX4, FIX2, FIX2, ANY, FIX2, ANY, FIX4, FIX4, FIX4, FIX2},
    .n_rows = 3,
    .rows = {{.start = 0, .cfa_off = 8}, {.start = 6, .cfa_off = 16},
	{.start = 12, .cfa_off = 24}},
};

static const struct arch_plt_stub mold_entry = {
    .size = 16,
    ARCH_CODE(ENDBR64,	   /* 0 */
	0x41, 0xbb, INDEX, /* 4: mov $index,%r11d */
	0xff, 0x25, DISP), /* a: jmp *slot(%rip) */
    .mask = (const uint8_t[]){FIX4, FIX2, ANY, FIX2, ANY},
    ONE_ROW,
};

/* mold since 2.3: a landing pad only where the address is taken. */
static const struct arch_plt_stub mold_plain_entry = {
    .size = 16,
    ARCH_CODE(0x41, 0xbb, INDEX, /* 0: mov $index,%r11d */
	0xff, 0x25, DISP,	 /* 6: jmp *slot(%rip) */
	INT3_4),		 /* c */
    .mask = (const uint8_t[]){FIX2, ANY, FIX2, ANY, FIX4},
    ONE_ROW,
};

static const struct arch_plt_stub mold_got_entry = {
    .size = 16,
    ARCH_CODE(ENDBR64,	     /* 0 */
	0xff, 0x25, DISP,    /* 4: jmp *slot(%rip) */
	INT3_4, 0xcc, 0xcc), /* a */
    .mask = (const uint8_t[]){FIX4, FIX2, ANY, FIX4, FIX2},
    ONE_ROW,
};

/* The target's address is in %r11; call pushes a place for it, which mov overwrites and
 * ret pops. What follows the call catches speculation only and never runs. */
static const struct arch_plt_stub retpoline_now_header = {
    .size = 32,
    ARCH_CODE(0xe8, 0x0b, 0x00, 0x00, 0x00, /* 0: call 10 */
	0xf3, 0x90,			    /* 5: pause */
	0x0f, 0xae, 0xe8,		    /* 7: lfence */
	0xeb, 0xf9,			    /* a: jmp 5 */
	INT3_4,				    /* c */
	0x4c, 0x89, 0x1c, 0x24,		    /* 10: mov %r11,(%rsp) */
	0xc3,				    /* 14: ret */
	INT3_4, INT3_4, 0xcc, 0xcc, 0xcc),  /* 15 */
    .mask = (const uint8_t[]){FIX4, FIX4, FIX4, FIX4, FIX4, FIX4, FIX4, FIX4},
    .n_rows = 2,
    .rows = {{.start = 0, .cfa_off = 8}, {.start = 16, .cfa_off = 16}},
};

static const struct arch_plt_stub retpoline_now_entry = {
    .size = 16,
    ARCH_CODE(0x4c, 0x8b, 0x1d, DISP, /* 0: mov slot(%rip),%r11 */
	0xe9, DISP,		      /* 7: jmp header */
	INT3_4),		      /* c */
    .mask = (const uint8_t[]){0xff, FIX2, ANY, 0xff, ANY, FIX4},
    ONE_ROW,
};

/* The call does not come back: it ends in the target, with SP as it was here. */
static const struct arch_plt_stub retpoline_lazy_entry = {
    .size = 32,
    ARCH_CODE(0x4c, 0x8b, 0x1d, DISP, /* 0: mov slot(%rip),%r11 */
	0xe8, DISP,		      /* 7: call .plt+0x20 */
	0xe9, DISP,		      /* c: jmp .plt+0x12, speculation only */
	0x68, INDEX,		      /* 11: push $index, where an unbound slot points */
	0xe9, DISP,		      /* 16: jmp .plt */
	INT3_4, 0xcc),		      /* 1b */
    .mask = (const uint8_t[]){0xff, FIX2, ANY, 0xff, ANY, 0xff, ANY, 0xff, ANY, 0xff, ANY,
	FIX4, 0xff},
    .n_rows = 2,
    .rows = {{.start = 0, .cfa_off = 8}, {.start = 22, .cfa_off = 16}},
};

/* Sorted by section. No section's bytes can match two of its templates with different
 * rows. */
static const struct arch_plt_template plt_templates[] = {
    {.linker = "lld, GNU ld, gold",
	.section = ".plt",
	.header = &lazy_header,
	.entry = &lazy_entry},
    {.linker = "lld, GNU ld, IBT",
	.section = ".plt",
	.header = &lazy_header,
	.entry = &ibt_lazy_entry},
    {.linker = "mold",
	.section = ".plt",
	.header = &mold_header,
	.entry = &mold_plain_entry,
	.entry_too = &mold_entry},
    {.linker = "lld, retpoline, now",
	.section = ".plt",
	.header = &retpoline_now_header,
	.entry = &retpoline_now_entry},
    {.linker = "GNU ld, static", .section = ".plt", .entry = &non_lazy_entry},
    {.linker = "GNU ld, static, IBT", .section = ".plt", .entry = &ibt_non_lazy_entry},
    {.linker = "GNU ld, static, IBT, BND",
	.section = ".plt",
	.entry = &bnd_ibt_non_lazy_entry},
    {.linker = "lld, GNU ld, IBT", .section = ".plt.sec", .entry = &ibt_non_lazy_entry},
    {.linker = "mold, before 2.3", .section = ".plt.got", .entry = &mold_got_entry},
    {.linker = "GNU ld, mold", .section = ".plt.got", .entry = &non_lazy_entry},
    {.linker = "GNU ld, IBT", .section = ".plt.got", .entry = &ibt_non_lazy_entry},
    {.linker = "lld", .section = ".iplt", .entry = &lazy_entry},
    {.linker = "lld, IBT", .section = ".iplt", .entry = &ibt_non_lazy_entry},
    {.linker = "lld, retpoline", .section = ".iplt", .entry = &retpoline_lazy_entry},
    {.linker = "lld, retpoline, now", .section = ".iplt", .entry = &retpoline_now_entry},
};

/*
 * Intel SDM, volume 2, NOP: "Recommended Multi-Byte Sequence of NOP Instruction", in
 * front of which more prefixes may stand. What is left of one is zeros. lld and mold fill
 * up with INT3.
 */
static const struct arch_filler fillers[] = {
    {1, {0xcc}},
    {1, {0x00}},
    {1, {0x90}},
    {1, {0x66}},
    {1, {0x2e}},
    {3, {0x0f, 0x1f, 0x00}},
    {3, {0x0f, 0x1f, 0x40}},
    {3, {0x0f, 0x1f, 0x44}},
    {3, {0x0f, 0x1f, 0x80}},
    {3, {0x0f, 0x1f, 0x84}},
};

/* Intel's manual, "CALL": E8 rel32, and FF /2 with each form of ModRM that the psABI's compilers use. */
static const struct arch_call calls[] = {
    {5, {0xff}, {0xe8}},
    {6, {0xff, 0xff}, {0xff, 0x15}},
    {2, {0xff, 0xf8}, {0xff, 0xd0}},
    {2, {0xff, 0xf8}, {0xff, 0x10}},
    {3, {0xff, 0xf8}, {0xff, 0x50}},
    {4, {0xff, 0xff}, {0xff, 0x54}},
    {6, {0xff, 0xf8}, {0xff, 0x90}},
    {7, {0xff, 0xff}, {0xff, 0x94}},
};

/* psABI, "Relocation Types". The absolute ones are for handlers and their data in code
 * that is not position independent. */
static const struct arch_reloc relocs[] = {
    {"R_X86_64_NONE", R_X86_64_NONE, 0, false},
    {"R_X86_64_64", R_X86_64_64, 8, false},
    {"R_X86_64_PC32", R_X86_64_PC32, 4, true},
    {"R_X86_64_32", R_X86_64_32, 4, false},
    {"R_X86_64_32S", R_X86_64_32S, 4, false},
    {"R_X86_64_PC64", R_X86_64_PC64, 8, true},
};

/* psABI 4.4.1, "Relocation Types". Those of thread-local storage are left out: what they write is
 * no address. */
static const struct arch_code_reloc code_relocs[] = {
    {R_X86_64_64, 8, 64, 0, 0, 0},
    {R_X86_64_32, 4, 32, 0, 0, 0},
    {R_X86_64_32S, 4, 32, 0, 0, 0},
    {R_X86_64_PC64, 8, 64, 0, 0, ARCH_RELOC_PCREL},
    {R_X86_64_PC32, 4, 32, 0, 0, ARCH_RELOC_PCREL},
    {R_X86_64_PLT32, 4, 32, 0, 0, ARCH_RELOC_PCREL},
    {R_X86_64_PC8, 1, 8, 0, 0, ARCH_RELOC_PCREL},
    {R_X86_64_GOTPCREL, 4, 32, 0, 0, ARCH_RELOC_PCREL | ARCH_RELOC_GOT},
    {R_X86_64_GOTPCRELX, 4, 32, 0, 0, ARCH_RELOC_PCREL | ARCH_RELOC_GOT},
    {R_X86_64_REX_GOTPCRELX, 4, 32, 0, 0, ARCH_RELOC_PCREL | ARCH_RELOC_GOT},
};

static const uint32_t x86_64_tls_relocs[] = {
    R_X86_64_DTPMOD64, R_X86_64_DTPOFF64, R_X86_64_TPOFF64, R_X86_64_TLSDESC};

static const char *const x86_64_reg_names[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi",
    "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip"};

const struct arch arch_x86_64 = {
    .name = "x86-64",
    .elf_machine = EM_X86_64,
    /* psABI 4.1.1, Machine Information: e_ident[EI_DATA] is ELFDATA2LSB. */
    .big_endian = false,
    .sframe_abi = SFRAME_ABI_AMD64_ENDIAN_LITTLE,
    .page = 4096,
    .cfi =
	{
	    /* psABI 3.6.2, Figure "DWARF Register Number Mapping": stack
			 * pointer register %rsp 7, frame pointer register %rbp 6, return
			 * address RA 16. */
	    .sp_reg = 7,
	    .fp_reg = 6,
	    /* Number 16 as well: expressions of linkers name the PC by it (breg16). */
	    .pc_reg = 16,
	    .aarch64_ra_state = false,
	},
    .code = CODE_X86_64,
    ARCH_LIST(reg_names, x86_64_reg_names),
    ARCH_LIST(tls_relocs, x86_64_tls_relocs),
    .ra_reg = 16,
    /* DWARF 5, 6.4: "Typically, the CFA is defined to be the value of the stack
	 * pointer at the call site in the previous frame". psABI 3.2.2: "Once control has
	 * been transferred to the function entry point, i.e. immediately after the return
	 * address has been pushed, %rsp points to the return address": 8 bytes, right
	 * below the call site's SP. */
    .sp_from_cfa = 0,
    .ra_tracked = false,
    .fixed_ra_off = -8,
    ARCH_LIST(plt_templates, plt_templates),
    ARCH_LIST(fillers, fillers),
    ARCH_LIST(calls, calls),
    .n_direct = 1,
    .insn_unit = 1,
    ARCH_LIST(relocs, relocs),
    ARCH_LIST(code_relocs, code_relocs),
    .reloc_start32 = R_X86_64_PC32,
    .reloc_start64 = R_X86_64_PC64,
};
