/* SPDX-License-Identifier: MIT */
/* A64 instructions as their effects: words from an assembler, and what no word may do. */
#include "tests/unit/code/effects_text.h"

static const struct {
	uint32_t word;
	const char *name, *text;
} words[] = {
    {0xa9be7bfd, "stp x29, x30, [sp, #-32]!", "31=31-32; [31]=29; [31+8]=30"},
    {0xa8c27bfd, "ldp x29, x30, [sp], #32", "29=[31]; 30=[31+8]; 31=31+32"},
    {0xa90153f3, "stp x19, x20, [sp, #16]", "[31+16]=19; [31+24]=20"},
    {0xa92053ff, "stp xzr, x20, [sp, #-512]", "[31-512]=?; [31-504]=20"},
    {0xa9400400, "ldp x0, x1, [x0]", "1=[0+8]; 0=[0]"},
    {0x297f0440, "ldp w0, w1, [x2, #-8]", "0=[2-8] w4; 1=[2-4] w4"},
    {0x69400440, "ldpsw x0, x1, [x2]", "0=signed[2] w4; 1=signed[2+4] w4"},
    {0xad0227e8, "stp q8, q9, [sp, #64]", "[31+64]=? w32"},
    {0x6dbf27e8, "stp d8, d9, [sp, #-16]!", "31=31-16; [31]=? w16"},
    {0x6cc127e8, "ldp d8, d9, [sp], #16", "31=31+16"},
    {0x690107e0, "stgp x0, x1, [sp, #32]", "[31+32]=0; [31+40]=1"},
    {0xf81f0ffe, "str x30, [sp, #-16]!", "31=31-16; [31]=30"},
    {0xf84107fe, "ldr x30, [sp], #16", "30=[31]; 31=31+16"},
    {0xb9000fff, "str wzr, [sp, #12]", "[31+12]=? w4"},
    {0xb9000fe1, "str w1, [sp, #12]", "[31+12]=1 w4"},
    {0xf81f83a0, "stur x0, [x29, #-8]", "[29-8]=0"},
    {0xf85f83a0, "ldur x0, [x29, #-8]", "0=[29-8]"},
    {0x39c00020, "ldrsb w0, [x1]", "0=signed[1] w1; 0=0 w4"},
    {0x39800020, "ldrsb x0, [x1]", "0=signed[1] w1"},
    {0xb9800420, "ldrsw x0, [x1, #4]", "0=signed[1+4] w4"},
    {0x38604821, "ldrb w1, [x1, w0, uxtw]", "1=[1+0:32] w1"},
    {0x78605821, "ldrh w1, [x1, w0, uxtw #1]", "1=[1+0:32<<1] w2"},
    {0xf8607821, "ldr x1, [x1, x0, lsl #3]", "1=[1+0<<3]"},
    {0xb8a0d821, "ldrsw x1, [x1, w0, sxtw #2]", "1=signed[1+0:32s<<2] w4"},
    {0x58000080, "ldr x0, .+16", "0=[+65552]"},
    {0xf94003ff, "ldr xzr, [sp]", ""},
    {0xf8008421, "str x1, [x1], #8", "[1]=?; writes 0x2"},
    {0xa9bf0420, "stp x0, x1, [x1, #-16]!", "[1-16]=? w16; writes 0x2"},
    {0xa9400822, "ldp x2, x2, [x1]", "writes 0x4"},
    {0x3cc107e0, "ldr q0, [sp], #16", "31=31+16"},
    {0x3d8007e0, "str q0, [sp, #16]", "[31+16]=? w16"},
    {0x3d0003e0, "str b0, [sp]", "[31]=? w1"},
    {0xf9800000, "prfm pldl1keep, [x0]", ""},
    {0xc85f7c20, "ldxr x0, [x1]", "0=[1]"},
    {0xc8007c41, "stxr w0, x1, [x2]", "[2]=?; writes 0x1"},
    {0x88208861, "stlxp w0, w1, w2, [x3]", "[3]=?; writes 0x1"},
    {0xc87f8861, "ldaxp x1, x2, [x3]", "1=[3]; 2=[3+8]"},
    {0x88dffc20, "ldar w0, [x1]", "0=[1] w4"},
    {0xc89ffc20, "stlr x0, [x1]", "[1]=0"},
    {0xf8e00041, "ldaddal x0, x1, [x2]", "[2]=?; writes 0x2"},
    {0xb82083e1, "swp w0, w1, [sp]", "[31]=? w4; writes 0x2"},
    {0xf820003f, "stadd x0, [x1]", "[1]=?"},
    {0xc8a07c41, "cas x0, x1, [x2]", "[2]=?; writes 0x1"},
    {0x48227cc4, "casp x2, x3, x4, x5, [x6]", "[6]=? w16; writes 0xc"},
    {0xf8bfc020, "ldapr x0, [x1]", "0=[1]"},
    {0xd95f8020, "ldapur x0, [x1, #-8]", "0=[1-8]"},
    {0xf8201c20, "ldraa x0, [x1, #8]!", "writes 0x3"},
    {0x4c9fa000, "st1 {v0.16b, v1.16b}, [x0], #32", "[0]=? w32; 0=0+32"},
    {0x0cc17000, "ld1 {v0.8b}, [x0], x1", "0=0+1"},
    {0x0d9f93e0, "st1 {v0.s}[1], [sp], #4", "[31]=? w4; 31=31+4"},
    {0x4dffe400, "ld4r {v0.8h, v1.8h, v2.8h, v3.8h}, [x0], #8", "0=0+8"},
    {0xd92017ff, "stg sp, [sp], #16", "31=31+16"},
    {0xd9e02be0, "stz2g x0, [sp, #32]", "[31+32]=? w32"},
    {0xd9600020, "ldg x0, [x1]", "writes 0x1"},
    {0x1d010440, "cpyfp [x0]!, [x1]!, x2!", "[0]=? w255; writes 0x7"},
    {0xd10043ff, "sub sp, sp, #16", "31=31-16"},
    {0xd14007ff, "sub sp, sp, #1, lsl #12", "31=31-4096"},
    {0x910043fd, "add x29, sp, #16", "29=31+16"},
    {0x910003bf, "mov sp, x29", "31=29"},
    {0x910003fd, "mov x29, sp", "29=31"},
    {0x11000420, "add w0, w1, #1", "0=1+1 w4"},
    {0xcb3063ff, "sub sp, sp, x16", "31=31-16"},
    {0xcb2153ff, "sub sp, sp, w1, uxtw #4", "31=31-1:32<<4"},
    {0x8b218801, "add x1, x0, w1, sxtb #2", "1=0+1:8s<<2"},
    {0x8b21a801, "add x1, x0, w1, sxth #2", "1=0+1:16s<<2"},
    {0x8b020c20, "add x0, x1, x2, lsl #3", "0=1+2<<3"},
    {0x8b820c20, "add x0, x1, x2, asr #3", "writes 0x1"},
    {0x8b1f0020, "add x0, x1, xzr", "0=1"},
    {0xcb0103e0, "neg x0, x1", "0=-1"},
    {0x927be93f, "and sp, x9, #0xffffffffffffffe0", "31=9&-32"},
    {0x121c6c20, "and w0, w1, #0xfffffff0", "0=1&-16 w4"},
    {0x12000820, "and w0, w1, #7", "0<=7"},
    {0x927c0420, "and x0, x1, #0x30", "0<=48"},
    {0x92441c20, "and x0, x1, #0xf00000000000000f", "writes 0x1"},
    {0x72000820, "ands w0, w1, #7", "0<=7; flags"},
    {0x7200083f, "tst w1, #7", "flags"},
    {0xb2400020, "orr x0, x1, #1", "writes 0x1"},
    {0xb2089fe0, "mov x0, #0xff00ff00ff00ff00", "0=-71777214294589696"},
    {0xd2800020, "mov x0, #1", "0=+1"},
    {0x12800000, "mov w0, #-1", "0=+4294967295 w4"},
    {0x92800000, "mov x0, #-1", "0=-1"},
    {0xd2a00020, "mov x0, #0x10000", "0=+65536"},
    {0xf2a00040, "movk x0, #2, lsl #16", "s=0&-4294967296; 0=s+0:16+131072"},
    {0xaa0103e0, "mov x0, x1", "0=1"},
    {0x2a0103e0, "mov w0, w1", "0=1 w4"},
    {0xaa1f03e0, "mov x0, xzr", "0=+0"},
    {0xaa2103e0, "mvn x0, x1", "writes 0x1"},
    {0xaa020020, "orr x0, x1, x2", "writes 0x1"},
    {0x8a020020, "and x0, x1, x2", "writes 0x1"},
    {0xea22003f, "bics xzr, x1, x2", "flags"},
    {0x53001c20, "uxtb w0, w1", "0<=255"},
    {0x53003c20, "uxth w0, w1", "0<=65535"},
    {0xd3442020, "ubfx x0, x1, #4, #5", "0<=31"},
    {0x531c7c20, "lsr w0, w1, #28", "0<=15"},
    {0xd37cec20, "lsl x0, x1, #4", "0=+1<<4"},
    {0x531c6c20, "lsl w0, w1, #4", "0=+1<<4 w4"},
    {0xd37e1c20, "ubfiz x0, x1, #2, #8", "0=+1:8<<2"},
    {0x93407c20, "sxtw x0, w1", "0=+1:32s"},
    {0x13001c20, "sxtb w0, w1", "0=+1:8s w4"},
    {0x9344fc20, "asr x0, x1, #4", "writes 0x1"},
    {0xb37c0c20, "bfi x0, x1, #4, #4", "writes 0x1"},
    {0x93c11020, "ror x0, x1, #4", "writes 0x1"},
    {0x10000040, "adr x0, .+8", "0=+65544"},
    {0xd0000000, "adrp x0, .+0x2000", "0=+73728"},
    {0x7100201f, "cmp w0, #8", "compare 0,8 w4"},
    {0xeb01001f, "cmp x0, x1", "compare 0,x1"},
    {0xeb1f001f, "cmp x0, xzr", "compare 0,0"},
    {0x6b21001f, "cmp w0, w1, uxtb", "flags"},
    {0xeb2063ff, "cmp sp, x0", "compare 31,x0"},
    {0xeb0003ff, "cmp xzr, x0", "flags"},
    {0x71001401, "subs w1, w0, #5", "compare 0,5 w4; 1=0-5 w4"},
    {0x71000400, "subs w0, w0, #1", "0=0-1 w4; flags"},
    {0xab020020, "adds x0, x1, x2", "0=1+2; flags"},
    {0xb100041f, "cmn x0, #1", "flags"},
    {0xfa410800, "ccmp x0, #1, #0, eq", "flags"},
    {0xba020020, "adcs x0, x1, x2", "writes 0x1; flags"},
    {0x9a820020, "csel x0, x1, x2, eq", "writes 0x1"},
    {0x1a9f17e0, "cset w0, eq", "0<=1"},
    {0x9ac20820, "udiv x0, x1, x2", "writes 0x1"},
    {0x9b020c3e, "madd x30, x1, x2, x3", "writes 0x40000000"},
    {0x9b027c3f, "mul xzr, x1, x2", ""},
    {0x9adf103f, "irg sp, x1", "writes 0x80000000"},
    {0x918107ff, "addg sp, sp, #16, #1", "writes 0x80000000"},
    {0xd503233f, "paciasp", "sign 30 by 31"},
    {0xd503237f, "pacibsp", "sign 30 by 31"},
    {0xd503231f, "paciaz", "sign 30 by ?"},
    {0xd50323bf, "autiasp", "auth 30 by 31"},
    {0xd50323ff, "autibsp", "auth 30 by 31"},
    {0xd50320ff, "xpaclri", "auth 30 by ?"},
    {0xd503211f, "pacia1716", "sign 17 by 16"},
    {0xdac103fe, "pacia x30, sp", "sign 30 by 31"},
    {0xdac11441, "autib x1, x2", "auth 1 by 2"},
    {0xdac123e3, "paciza x3", "sign 3 by ?"},
    {0xdac143e3, "xpaci x3", "auth 3 by ?"},
    {0x9ac23020, "pacga x0, x1, x2", "writes 0x1"},
    {0xdac1a3fe, "paciasppc", "sign 30 by 31"},
    {0xf380001f, "autiasppc", "auth 30 by 31"},
    {0xdac18bfe, "pacia171615", "sign 17 by 16"},
    {0xd65f0bff, "retaa", "auth 30 by 31; return"},
    {0xd65f0fff, "retab", "auth 30 by 31; return"},
    {0x5500003f, "retaasppc", "auth 30 by 31; return"},
    {0xd65f03c0, "ret", "return"},
    {0xd65f0020, "ret x1", "jump to 1"},
    {0xd61f0200, "br x16", "jump to 16"},
    {0xd71f083f, "braa x1, sp", "jump to 1"},
    {0xd63f0020, "blr x1", "30=+65540; call to 1"},
    {0xd63f03c0, "blr x30", "writes 0x40000000; call to 30"},
    {0xd63f083f, "blraaz x1", "30=+65540; call to 1"},
    {0x17ffffff, "b .-4", "jump -4"},
    {0x94000002, "bl .+8", "30=+65540; call +8"},
    {0x54000040, "b.eq .+8", "branch = +8"},
    {0x54000041, "b.ne .+8", "branch != +8"},
    {0x54000048, "b.hi .+8", "branch > +8"},
    {0x54000042, "b.hs .+8", "branch >= +8"},
    {0x54000043, "b.lo .+8", "branch < +8"},
    {0x54ffffc9, "b.ls .-8", "branch <= -8"},
    {0x5400004a, "b.ge .+8", "branch +8"},
    {0x5400004e, "b.al .+8", "jump +8"},
    {0x34000040, "cbz w0, .+8", "branch +8"},
    {0xb5ffffc0, "cbnz x0, .-8", "branch -8"},
    {0xb6080040, "tbz x0, #33, .+8", "branch +8"},
    {0x370fffc0, "tbnz w0, #1, .-8", "branch -8"},
    {0xd4000001, "svc #0", "writes 0x1"},
    {0xd4000002, "hvc #0", "writes 0x3ffff"},
    {0xd4200020, "brk #1", "stop"},
    {0xd4400020, "hlt #1", "stop"},
    {0x00000000, "udf #0", "none"},
    {0xd503201f, "nop", "filler"},
    {0xd503245f, "bti c", ""},
    {0xd5033bbf, "dmb ish", ""},
    {0xd50330ff, "sb", ""},
    {0xd53bd040, "mrs x0, tpidr_el0", "writes 0x1"},
    {0xd51b4200, "msr nzcv, x0", "flags"},
    {0xd50b7420, "dc zva, x0", "s=0&-64; [s]=? w64"},
    {0x9e660000, "fmov x0, d0", "writes 0x1"},
    {0x9e670000, "fmov d0, x0", ""},
    {0x1e380000, "fcvtzs w0, s0", "writes 0x1"},
    {0x9e620000, "scvtf d0, x0", ""},
    {0x0e033c00, "umov w0, v0.b[1]", "writes 0x1"},
    {0x1e612000, "fcmp d0, d1", "flags"},
    {0x043f57ff, "addvl sp, sp, #-1", "writes 0x80000000; flags"},
    {0x04bf5020, "rdvl x0, #1", "writes 0x1; flags"},
    {0x04f0e3e0, "incd x0", "writes 0x1; flags"},
    {0x02000000, "not allocated", "none"},
};

UNIT_EACH(effects, words)
{
	const uint32_t word = words[_i].word;
	const uint8_t code[] = {(uint8_t)word, (uint8_t)(word >> 8),
	    (uint8_t)(word >> 16), (uint8_t)(word >> 24)};
	uint8_t length;
	const char *text = insn_text(CODE_AARCH64, code, sizeof(code), &length);

	ck_assert_msg(!strcmp(text, words[_i].text), "%s: \"%s\", not \"%s\"",
	    words[_i].name, text, words[_i].text);
}

/* Not enough bytes are no instruction. */
UNIT(cut_off)
{
	const uint8_t nop[] = {0x1f, 0x20, 0x03, 0xd5};
	struct code_insn insn;

	for (uint64_t size = 1; size < 4; size++)
		ck_assert(!code_insn_read(CODE_AARCH64, nop, size, 0, &insn));
	ck_assert(code_insn_read(CODE_AARCH64, nop, 4, 0, &insn));
}

/* Whatever the word is, what it gives is well formed. */
UNIT(total)
{
	uint32_t word = 1;

	for (size_t i = 0; i < 200000; i++) {
		uint8_t code[4];
		struct code_insn insn;

		word = word * 1664525 + 1013904223;
		for (size_t k = 0; k < 4; k++)
			code[k] = (uint8_t)((word ^ word >> 15) >> 8 * k);
		if (!code_insn_read(CODE_AARCH64, code, 4, i * 4, &insn))
			continue;
		check_insn(&insn, code, sizeof(code));
		ck_assert_uint_eq(insn.length, 4);
		ck_assert(
		    insn.condition == CODE_IF_OTHER || insn.control == CODE_BRANCHES);
	}
}
