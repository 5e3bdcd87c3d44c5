/* SPDX-License-Identifier: MIT */
/* s390x instructions as their effects: known ones, and whatever bytes there are. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/code.h"
#include "code/insn.h"
#include "unit.h"

enum { PC = 0x1000 };

static char text[2048];

static void __attribute__((format(printf, 1, 2))) put(const char *format, ...)
{
	size_t at = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + at, sizeof(text) - at, format, args);
	va_end(args);
}

static void put_register(unsigned int reg)
{
	static const uint8_t fpr[16] = {
	    0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15};

	if (reg < 16)
		put("r%u", reg);
	else if (reg < 32)
		put("f%u", (unsigned int)fpr[reg - 16]);
	else
		put(reg == CODE_SCRATCH ? "t" : "?");
}

/* base, index and offset, as in "r1+u32:r2<<3-8". */
static void put_sum(const struct code_effect *effect, char sign)
{
	const char *plus = "";

	if (effect->base != CODE_NO_REG) {
		put_register(effect->base);
		plus = "+";
	}
	if (effect->index != CODE_NO_REG) {
		put("%s", sign == '-' ? "-" : plus);
		if (effect->index_bits != 64)
			put("%c%u:", effect->index_signed ? 's' : 'u',
			    (unsigned int)effect->index_bits);
		put_register(effect->index);
		if (effect->shift)
			put("<<%u", (unsigned int)effect->shift);
		plus = "+";
	}
	if (effect->off || !*plus)
		put("%s%#llx", effect->off < 0 ? "-" : plus,
		    effect->off < 0 ? -(unsigned long long)effect->off
				    : (unsigned long long)effect->off);
}

static void put_effect(const struct code_effect *effect)
{
	const unsigned int width = effect->width;

	if (effect->kind == CODE_STORE) {
		put("%u[", width);
		put_sum(effect, '+');
		put("]=");
		put_register(effect->dst);
	} else {
		put_register(effect->dst);
	}
	switch ((enum code_effect_kind)effect->kind) {
	case CODE_SET:
	case CODE_SUBTRACT:
		put("=");
		put_sum(effect, effect->kind == CODE_SET ? '+' : '-');
		break;
	case CODE_ALIGN:
		put("=");
		put_register(effect->base);
		put("&-%#llx", -(unsigned long long)effect->off);
		break;
	case CODE_BOUND:
		put("<=%#llx", (unsigned long long)effect->off);
		break;
	case CODE_LOAD:
		put("=%s%u[", effect->load_signed ? "s" : "", width);
		put_sum(effect, '+');
		put("]");
		break;
	case CODE_COMPARE:
		put("?%u:", width);
		put_sum(effect, '+');
		break;
	case CODE_STORE:
	case CODE_SIGN:
	case CODE_AUTHENTICATE:
		break;
	}
	put("; ");
}

static void put_control(const struct code_insn *insn)
{
	static const char *const controls[] = {[CODE_JUMPS] = "jumps",
	    [CODE_BRANCHES] = "branches",
	    [CODE_JUMPS_TO] = "jumps",
	    [CODE_BRANCHES_TO] = "branches",
	    [CODE_CALLS] = "calls",
	    [CODE_CALLS_TO] = "calls",
	    [CODE_RETURNS] = "returns",
	    [CODE_STOPS] = "stops"};
	static const char *const conditions[] = {
	    "", " ==", " !=", " >", " >=", " <", " <="};

	if (insn->control == CODE_CONTINUES)
		return;
	put("%s", controls[insn->control]);
	if (insn->via != CODE_NO_REG) {
		put(" ");
		put_register(insn->via);
	} else if (insn->control != CODE_STOPS) {
		put(" %#llx", (unsigned long long)insn->target);
	}
	put("%s; ", conditions[insn->condition]);
}

static void put_mask(const char *name, uint32_t mask)
{
	if (!mask)
		return;
	put("%s", name);
	if (mask == UINT32_MAX)
		put(" all");
	for (unsigned int reg = 0; reg < 32 && mask != UINT32_MAX; reg++)
		if (mask >> reg & 1) {
			put(" ");
			put_register(reg);
		}
	put("; ");
}

static const char *insn_text(const void *code, size_t size, uint8_t *length)
{
	struct code_insn insn;

	text[0] = 0;
	*length = 0;
	if (!code_insn_read(CODE_S390X, code, size, PC, &insn))
		return "none";
	*length = insn.length;
	ck_assert_uint_le(insn.n_effects, CODE_MAX_EFFECTS);
	for (uint8_t i = 0; i < insn.n_effects; i++)
		put_effect(&insn.effects[i]);
	put_mask("writes", insn.writes);
	put_mask("unsure", insn.unsure);
	put_control(&insn);
	if (insn.ends_compare)
		put("cc; ");
	if (insn.filler)
		put("filler; ");
	if (text[0])
		text[strlen(text) - 2] = 0;
	return text;
}

static const struct {
	const char *name;
	const char bytes[17];
	uint8_t size; /* more than an instruction's where it reads another */
	const char *expected;
} known[] = {
    {"la %r15,160(%r15)", "\x41\xf0\xf0\xa0", 4, "r15=r15+0xa0"},
    {"la %r1,8(%r2,%r3)", "\x41\x12\x30\x08", 4, "r1=r3+r2+0x8"},
    {"lay %r15,-168(%r15)", "\xe3\xf0\xff\x58\xff\x71", 6, "r15=r15-0xa8"},
    {"larl %r13,.+0x100", "\xc0\xd0\x00\x00\x00\x80", 6, "r13=0x1100"},
    {"lgr %r11,%r15", "\xb9\x04\x00\xbf", 4, "r11=r15"},
    {"ltgr %r2,%r3", "\xb9\x02\x00\x23", 4, "r2=r3; cc"},
    {"lr %r1,%r2", "\x18\x12", 2, "writes r1"},
    {"lgfr %r1,%r2", "\xb9\x14\x00\x12", 4, "r1=s32:r2"},
    {"llgfr %r1,%r2", "\xb9\x16\x00\x12", 4, "r1=u32:r2"},
    {"lghr %r1,%r2", "\xb9\x07\x00\x12", 4, "r1=s16:r2"},
    {"lhi %r1,-1", "\xa7\x18\xff\xff", 4, "writes r1"},
    {"lghi %r1,-1", "\xa7\x19\xff\xff", 4, "r1=-0x1"},
    {"lgfi %r1,-100000", "\xc0\x11\xff\xfe\x79\x60", 6, "r1=-0x186a0"},
    {"llilf %r1,0xffffffff", "\xc0\x1f\xff\xff\xff\xff", 6, "r1=0xffffffff"},
    {"llihf %r1,0x80000000", "\xc0\x1e\x80\x00\x00\x00", 6, "r1=-0x8000000000000000"},
    {"llilh %r1,0xffff", "\xa5\x1e\xff\xff", 4, "r1=0xffff0000"},
    {"llihl %r1,1", "\xa5\x1d\x00\x01", 4, "r1=0x100000000"},
    {"llihh %r1,1", "\xa5\x1c\x00\x01", 4, "r1=0x1000000000000"},
    {"aghi %r15,-160", "\xa7\xfb\xff\x60", 4, "r15=r15-0xa0; cc"},
    {"ahi %r2,1", "\xa7\x2a\x00\x01", 4, "writes r2; cc"},
    {"agfi %r15,-80000", "\xc2\xf8\xff\xfe\xc7\x80", 6, "r15=r15-0x13880; cc"},
    {"algfi %r15,0x80000000", "\xc2\xfa\x80\x00\x00\x00", 6, "r15=r15+0x80000000; cc"},
    {"slgfi %r15,80000", "\xc2\xf4\x00\x01\x38\x80", 6, "r15=r15-0x13880; cc"},
    {"agr %r15,%r1", "\xb9\x08\x00\xf1", 4, "r15=r15+r1; cc"},
    {"agfr %r1,%r2", "\xb9\x18\x00\x12", 4, "r1=r1+s32:r2; cc"},
    {"algfr %r1,%r2", "\xb9\x1a\x00\x12", 4, "r1=r1+u32:r2; cc"},
    {"sgr %r15,%r1", "\xb9\x09\x00\xf1", 4, "r15=r15-r1; cc"},
    {"slgfr %r1,%r2", "\xb9\x1b\x00\x12", 4, "writes r1; cc"},
    {"agrk %r1,%r2,%r3", "\xb9\xe8\x30\x12", 4, "r1=r2+r3; cc"},
    {"sgrk %r1,%r2,%r3", "\xb9\xe9\x30\x12", 4, "r1=r2-r3; cc"},
    {"aghik %r1,%r15,-160", "\xec\x1f\xff\x60\x00\xd9", 6, "r1=r15-0xa0; cc"},
    {"ngr %r15,%r1", "\xb9\x80\x00\xf1", 4, "writes r15; cc"},
    {"nill %r15,0xfff0", "\xa5\xf7\xff\xf0", 4, "r15=r15&-0x10; cc"},
    {"nill %r15,0x7fff", "\xa5\xf7\x7f\xff", 4, "writes r15; cc"},
    {"nilf %r15,0xfffff000", "\xc0\xfb\xff\xff\xf0\x00", 6, "r15=r15&-0x1000; cc"},
    {"nilf %r1,15", "\xc0\x1b\x00\x00\x00\x0f", 6, "writes r1; cc"},
    {"nihf %r1,0", "\xc0\x1a\x00\x00\x00\x00", 6, "writes r1; cc"},
    {"xgr %r1,%r1", "\xb9\x82\x00\x11", 4, "r1=0; cc"},
    {"xgr %r1,%r2", "\xb9\x82\x00\x12", 4, "writes r1; cc"},
    {"xr %r1,%r1", "\x17\x11", 2, "writes r1; cc"},
    {"risbg %r15,%r15,0,128+59,0", "\xec\xff\x00\xbb\x00\x55", 6, "r15=r15&-0x10; cc"},
    {"risbg %r1,%r2,60,128+63,0", "\xec\x12\x3c\xbf\x00\x55", 6, "r1=u4:r2; cc"},
    {"risbg %r1,%r2,32,128+60,3", "\xec\x12\x20\xbc\x03\x55", 6, "r1=u29:r2<<3; cc"},
    {"risbgn %r1,%r2,56,128+63,8", "\xec\x12\x38\xbf\x08\x59", 6, "r1<=0xff"},
    {"risbg %r1,%r2,0,63,0", "\xec\x12\x00\x3f\x00\x55", 6, "writes r1; cc"},
    {"risbg %r1,%r2,60,128+10,0", "\xec\x12\x3c\x8a\x00\x55", 6, "writes r1; cc"},
    {"rosbg %r1,%r2,32,63,0", "\xec\x12\x20\x3f\x00\x56", 6, "writes r1; cc"},
    {"sllg %r1,%r2,3", "\xeb\x12\x00\x03\x00\x0d", 6, "r1=r2<<3"},
    {"sllg %r1,%r2,0(%r3)", "\xeb\x12\x30\x00\x00\x0d", 6, "writes r1"},
    {"srlg %r1,%r2,60", "\xeb\x12\x00\x3c\x00\x0c", 6, "r1<=0xf"},
    {"srlg %r1,%r2,0", "\xeb\x12\x00\x00\x00\x0c", 6, "r1=r2"},
    {"srag %r1,%r2,3", "\xeb\x12\x00\x03\x00\x0a", 6, "writes r1; cc"},
    {"sll %r1,2", "\x89\x10\x00\x02", 4, "writes r1"},
    {"lg %r14,272(%r15)", "\xe3\xe0\xf1\x10\x00\x04", 6, "r14=8[r15+0x110]"},
    {"lg %r1,-8(%r2,%r3)", "\xe3\x12\x3f\xf8\xff\x04", 6, "r1=8[r3+r2-0x8]"},
    {"ltg %r1,0(%r2)", "\xe3\x10\x20\x00\x00\x02", 6, "r1=8[r2]; cc"},
    {"lgrl %r1,.+0x100", "\xc4\x18\x00\x00\x00\x80", 6, "r1=8[0x1100]"},
    {"l %r1,0(%r2)", "\x58\x10\x20\x00", 4, "writes r1"},
    {"lgf %r1,0(%r2)", "\xe3\x10\x20\x00\x00\x14", 6, "r1=s4[r2]"},
    {"agf %r1,8(%r2,%r3)", "\xe3\x12\x30\x08\x00\x18", 6, "t=s4[r3+r2+0x8]; r1=r1+t; cc"},
    {"llgf %r1,0(%r2)", "\xe3\x10\x20\x00\x00\x16", 6, "r1=4[r2]"},
    {"lgh %r1,0(%r2)", "\xe3\x10\x20\x00\x00\x15", 6, "r1=s2[r2]"},
    {"llgh %r1,0(%r2)", "\xe3\x10\x20\x00\x00\x91", 6, "r1=2[r2]"},
    {"lgb %r1,0(%r2)", "\xe3\x10\x20\x00\x00\x77", 6, "r1=s1[r2]"},
    {"llgc %r1,0(%r2)", "\xe3\x10\x20\x00\x00\x90", 6, "r1=1[r2]"},
    {"ic %r1,0(%r2)", "\x43\x10\x20\x00", 4, "writes r1; cc"},
    {"stg %r14,112(%r15)", "\xe3\xe0\xf0\x70\x00\x24", 6, "8[r15+0x70]=r14"},
    {"st %r1,4(%r15)", "\x50\x10\xf0\x04", 4, "4[r15+0x4]=r1"},
    {"sty %r1,-4(%r15)", "\xe3\x10\xff\xfc\xff\x50", 6, "4[r15-0x4]=r1"},
    {"sth %r1,4(%r2,%r15)", "\x40\x12\xf0\x04", 4, "2[r15+r2+0x4]=?"},
    {"stc %r1,4(%r15)", "\x42\x10\xf0\x04", 4, "1[r15+0x4]=?"},
    {"stgrl %r1,.+0x100", "\xc4\x1b\x00\x00\x00\x80", 6, "8[0x1100]=r1"},
    {"stmg %r13,%r15,104(%r15)", "\xeb\xdf\xf0\x68\x00\x24", 6,
	"8[r15+0x68]=r13; 8[r15+0x70]=r14; 8[r15+0x78]=r15"},
    {"stmg %r15,%r0,-8(%r11)", "\xeb\xf0\xbf\xf8\xff\x24", 6,
	"8[r11-0x8]=r15; 8[r11]=r0"},
    {"lmg %r13,%r15,264(%r15)", "\xeb\xdf\xf1\x08\x00\x04", 6,
	"r13=8[r15+0x108]; r14=8[r15+0x110]; r15=8[r15+0x118]"},
    {"lmg %r11,%r13,88(%r11)", "\xeb\xbd\xb0\x58\x00\x04", 6,
	"r12=8[r11+0x60]; r13=8[r11+0x68]; r11=8[r11+0x58]"},
    {"lmg %r14,%r1,0(%r2)", "\xeb\xe1\x20\x00\x00\x04", 6,
	"r14=8[r2]; r15=8[r2+0x8]; r0=8[r2+0x10]; r1=8[r2+0x18]"},
    {"lm %r6,%r8,24(%r15)", "\x98\x68\xf0\x18", 4, "writes r6 r7 r8"},
    {"stmy %r6,%r6,-4(%r15)", "\xeb\x66\xff\xfc\xff\x90", 6, "4[r15-0x4]=r6"},
    {"mvc 160(8,%r15),0(%r2)", "\xd2\x07\xf0\xa0\x20\x00", 6, "8[r15+0xa0]=?"},
    {"mvc 0(256,%r1),0(%r2)", "\xd2\xff\x10\x00\x20\x00", 6, "128[r1]=?; 128[r1+0x80]=?"},
    {"xc 160(8,%r15),160(%r15)", "\xd7\x07\xf0\xa0\xf0\xa0", 6, "8[r15+0xa0]=?; cc"},
    {"clc 0(8,%r1),0(%r2)", "\xd5\x07\x10\x00\x20\x00", 6, "cc"},
    {"tr 0(4,%r1),0(%r2)", "\xdc\x03\x10\x00\x20\x00", 6, "4[r1]=?"},
    {"trt 0(4,%r1),0(%r2)", "\xdd\x03\x10\x00\x20\x00", 6, "4[r1]=?; unsure r1 r2; cc"},
    {"zap 0(8,%r1),0(8,%r2)", "\xf8\x77\x10\x00\x20\x00", 6, "8[r1]=?; cc"},
    {"mvi 160(%r15),1", "\x92\x01\xf0\xa0", 4, "1[r15+0xa0]=?"},
    {"oi 160(%r15),1", "\x96\x01\xf0\xa0", 4, "1[r15+0xa0]=?; cc"},
    {"mviy -1(%r15),1", "\xeb\x01\xff\xff\xff\x52", 6, "1[r15-0x1]=?"},
    {"mvghi 160(%r15),0", "\xe5\x48\xf0\xa0\x00\x00", 6, "8[r15+0xa0]=?"},
    {"mvhi 160(%r15),0", "\xe5\x4c\xf0\xa0\x00\x00", 6, "4[r15+0xa0]=?"},
    {"agsi 160(%r15),1", "\xeb\x01\xf0\xa0\x00\x7a", 6, "8[r15+0xa0]=?; cc"},
    {"asi 160(%r15),1", "\xeb\x01\xf0\xa0\x00\x6a", 6, "4[r15+0xa0]=?; cc"},
    {"stcm %r1,5,160(%r15)", "\xbe\x15\xf0\xa0", 4, "2[r15+0xa0]=?"},
    {"icm %r1,5,160(%r15)", "\xbf\x15\xf0\xa0", 4, "writes r1; cc"},
    {"ldgr %f0,%r14", "\xb3\xc1\x00\x0e", 4, "f0=r14"},
    {"ldgr %f2,%r15", "\xb3\xc1\x00\x2f", 4, "f2=r15"},
    {"lgdr %r15,%f2", "\xb3\xcd\x00\xf2", 4, "r15=f2"},
    {"ldr %f8,%f1", "\x28\x81", 2, "f8=f1"},
    {"lzdr %f15", "\xb3\x75\x00\xf0", 4, "f15=0"},
    {"std %f8,160(%r15)", "\x60\x80\xf0\xa0", 4, "8[r15+0xa0]=f8"},
    {"stdy %f8,-8(%r15)", "\xed\x80\xff\xf8\xff\x67", 6, "8[r15-0x8]=f8"},
    {"ld %f8,160(%r15)", "\x68\x80\xf0\xa0", 4, "f8=8[r15+0xa0]"},
    {"ste %f8,160(%r15)", "\x70\x80\xf0\xa0", 4, "4[r15+0xa0]=?"},
    {"le %f8,160(%r15)", "\x78\x80\xf0\xa0", 4, "writes f8; cc"},
    {"adbr %f1,%f2", "\xb3\x1a\x00\x12", 4, "writes f1; cc"},
    {"axbr %f0,%f1", "\xb3\x4a\x00\x01", 4, "writes f0 f2; cc"},
    {"cdbr %f1,%f2", "\xb3\x19\x00\x12", 4, "cc"},
    {"madbr %f4,%f5,%f6", "\xb3\x1e\x40\x56", 4, "writes f4; cc"},
    {"madb %f4,%f5,0(%r1)", "\xed\x50\x10\x00\x40\x1e", 6, "writes f4; cc"},
    {"diebr %f1,%f2,%f3,4", "\xb3\x53\x24\x13", 4, "writes f2 f1; cc"},
    {"cgdbr %r2,5,%f0", "\xb3\xa9\x50\x20", 4, "writes r2; cc"},
    {"cdgbr %f0,%r2", "\xb3\xa5\x00\x02", 4, "writes f0; cc"},
    {"vl %v8,0(%r2)", "\xe7\x80\x20\x00\x00\x06", 6, "writes f8; cc"},
    {"vl %v24,0(%r2)", "\xe7\x80\x20\x00\x08\x06", 6, "cc"},
    {"vst %v24,160(%r2,%r15)", "\xe7\x82\xf0\xa0\x08\x0e", 6, "16[r15+r2+0xa0]=?"},
    {"vlm %v14,%v17,0(%r2)", "\xe7\xe1\x20\x00\x04\x36", 6, "writes f14 f15"},
    {"vstm %v24,%v31,160(%r15)", "\xe7\x8f\xf0\xa0\x0c\x3e", 6, "128[r15+0xa0]=?"},
    {"vlgvg %r2,%v24,1", "\xe7\x28\x00\x01\x34\x21", 6, "writes r2"},
    {"vlvgp %v9,%r2,%r3", "\xe7\x92\x30\x00\x00\x62", 6, "writes f9; cc"},
    {"va %v0,%v16,%v24,3", "\xe7\x00\x80\x00\x36\xf3", 6, "writes f0; cc"},
    {"vsteg %v0,160(%r15),0", "\xe7\x00\xf0\xa0\x00\x0a", 6, "8[r15+0xa0]=?"},
    {"vlrl %v9,160(%r15),3", "\xe6\x03\xf0\xa0\x90\x35", 6, "writes f9; cc"},
    {"vceqbs %v1,%v2,%v3", "\xe7\x12\x30\x10\x00\xf8", 6, "writes f1; cc"},
    {"cr %r1,%r2", "\x19\x12", 2, "cc"},
    {"clr %r1,%r2", "\x15\x12", 2, "r1?4:r2"},
    {"clgr %r1,%r2", "\xb9\x21\x00\x12", 4, "r1?8:r2"},
    {"clgfi %r1,0xffffffff", "\xc2\x1e\xff\xff\xff\xff", 6, "r1?8:0xffffffff"},
    {"clfi %r1,0x80000000", "\xc2\x1f\x80\x00\x00\x00", 6, "r1?4:0x80000000"},
    {"clg %r1,0(%r2)", "\xe3\x10\x20\x00\x00\x21", 6, "cc"},
    {"tm 0(%r1),1", "\x91\x01\x10\x00", 4, "cc"},
    {"cli 0(%r1),1", "\x95\x01\x10\x00", 4, "cc"},
    {"j .+0x100", "\xa7\xf4\x00\x80", 4, "jumps 0x1100"},
    {"je .-0x100", "\xa7\x84\xff\x80", 4, "branches 0xf00 =="},
    {"jne .+0x100", "\xa7\x74\x00\x80", 4, "branches 0x1100 !="},
    {"jh .+0x100", "\xa7\x24\x00\x80", 4, "branches 0x1100 >"},
    {"jl .+0x100", "\xa7\x44\x00\x80", 4, "branches 0x1100 <"},
    {"jle .+0x100", "\xa7\xc4\x00\x80", 4, "branches 0x1100 <="},
    {"jo .+0x100", "\xa7\x14\x00\x80", 4, "branches 0x1100"},
    {"jg .+0x10000", "\xc0\xf4\x00\x00\x80\x00", 6, "jumps 0x11000"},
    {"j .+2", "\xa7\xf4\x00\x01", 4, "stops"},
    {"jne .+2", "\xa7\x74\x00\x01", 4, ""},
    {"jg .+2", "\xc0\xf4\x00\x00\x00\x01", 6, "stops"},
    {"brasl %r14,.+0x10000", "\xc0\xe5\x00\x00\x80\x00", 6,
	"writes r14; calls 0x11000; cc"},
    {"brasl %r0,.+0x10000", "\xc0\x05\x00\x00\x80\x00", 6,
	"writes r0; calls 0x11000; cc"},
    {"bras %r14,.+0x100", "\xa7\xe5\x00\x80", 4, "writes r14; calls 0x1100; cc"},
    {"bras %r13,.+12", "\xa7\xd5\x00\x06", 4, "r13=0x1004; jumps 0x100c"},
    {"basr %r14,%r1", "\x0d\xe1", 2, "writes r14; calls r1; cc"},
    {"basr %r14,%r14", "\x0d\xee", 2, "t=r14; writes r14; calls t; cc"},
    {"basr %r13,%r0", "\x0d\xd0", 2, "r13=0x1002"},
    {"basr %r1,%r2", "\x0d\x12", 2, "r1=0x1002; jumps r2"},
    {"basr %r1,%r1", "\x0d\x11", 2, "t=r1; r1=0x1002; jumps t"},
    {"bas %r14,8(%r1)", "\x4d\xe0\x10\x08", 4, "t=r1+0x8; writes r14; calls t; cc"},
    {"br %r14", "\x07\xfe", 2, "returns r14"},
    {"br %r1", "\x07\xf1", 2, "jumps r1"},
    {"ber %r14", "\x07\x8e", 2, "branches r14 =="},
    {"b 0(%r1)", "\x47\xf0\x10\x00", 4, "jumps r1"},
    {"b 4(%r1,%r2)", "\x47\xf1\x20\x04", 4, "t=r2+r1+0x4; jumps t"},
    {"bi 8(%r1)", "\xe3\xf0\x10\x08\x00\x47", 6, "t=8[r1+0x8]; jumps t"},
    {"crj %r1,%r2,8,.+0x100", "\xec\x12\x00\x80\x80\x76", 6,
	"r1?4:r2; branches 0x1100 ==; cc"},
    {"crj %r1,%r2,2,.+0x100", "\xec\x12\x00\x80\x20\x76", 6, "branches 0x1100; cc"},
    {"clrj %r1,%r2,2,.+0x100", "\xec\x12\x00\x80\x20\x77", 6,
	"r1?4:r2; branches 0x1100 >; cc"},
    {"cgrj %r1,%r2,6,.+0x100", "\xec\x12\x00\x80\x60\x64", 6,
	"r1?8:r2; branches 0x1100 !=; cc"},
    {"clgrj %r1,%r2,10,.+0x100", "\xec\x12\x00\x80\xa0\x65", 6,
	"r1?8:r2; branches 0x1100 >=; cc"},
    {"clgrj %r1,%r2,14,.+0x100", "\xec\x12\x00\x80\xe0\x65", 6, "jumps 0x1100"},
    {"cij %r1,-1,8,.+0x100", "\xec\x18\x00\x80\xff\x7e", 6,
	"r1?4:0xffffffff; branches 0x1100 ==; cc"},
    {"cgij %r1,-1,8,.+0x100", "\xec\x18\x00\x80\xff\x7c", 6,
	"r1?8:-0x1; branches 0x1100 ==; cc"},
    {"cgij %r1,-1,4,.+0x100", "\xec\x14\x00\x80\xff\x7c", 6, "branches 0x1100; cc"},
    {"clij %r1,255,2,.+0x100", "\xec\x12\x00\x80\xff\x7f", 6,
	"r1?4:0xff; branches 0x1100 >; cc"},
    {"clgij %r1,7,12,.+0x100", "\xec\x1c\x00\x80\x07\x7d", 6,
	"r1?8:0x7; branches 0x1100 <=; cc"},
    {"clgij %r1,7,12,.+2", "\xec\x1c\x00\x01\x07\x7d", 6, "r1?8:0x7; cc"},
    {"cgrb %r1,%r2,8,0(%r14)", "\xec\x12\xe0\x00\x80\xe4", 6,
	"r1?8:r2; branches r14 ==; cc"},
    {"clgib %r1,7,2,8(%r3)", "\xec\x12\x30\x08\x07\xfd", 6,
	"r1?8:0x7; t=r3+0x8; branches t >; cc"},
    {"brct %r1,.-0x100", "\xa7\x16\xff\x80", 4, "writes r1; branches 0xf00"},
    {"brctg %r1,.-0x100", "\xa7\x17\xff\x80", 4, "writes r1; branches 0xf00"},
    {"brxh %r1,%r2,.+0x100", "\x84\x12\x00\x80", 4, "writes r1; branches 0x1100"},
    {"brxhg %r1,%r2,.+0x100", "\xec\x12\x00\x80\x00\x44", 6,
	"writes r1; branches 0x1100"},
    {"bctr %r1,%r0", "\x06\x10", 2, "writes r1"},
    {"bctr %r1,%r1", "\x06\x11", 2, "t=r1; writes r1; branches t"},
    {"bctgr %r1,%r2", "\xb9\x46\x00\x12", 4, "writes r1; branches r2"},
    {"bct %r1,0(%r1)", "\x46\x10\x10\x00", 4, "t=r1; writes r1; branches t"},
    {"bxle %r1,%r2,0(%r3)", "\x87\x12\x30\x00", 4, "writes r1; branches r3"},
    {"exrl %r1,.+6; mvc 160(1,%r15),0(%r2)",
	"\xc6\x10\x00\x00\x00\x03\xd2\x00\xf0\xa0\x20\x00", 12, "1[r15+0xa0]=?; cc"},
    {"exrl %r1,.+6; clc 0(1,%r3),0(%r2)",
	"\xc6\x10\x00\x00\x00\x03\xd5\x00\x30\x00\x20\x00", 12, "cc"},
    {"exrl %r1,.+6; lgr %r15,%r2", "\xc6\x10\x00\x00\x00\x03\xb9\x04\x00\xf2", 10,
	"unsure all; cc"},
    {"exrl %r1,.+0x100", "\xc6\x10\x00\x00\x00\x80", 6, "unsure all; cc"},
    {"ex %r1,0(%r2)", "\x44\x10\x20\x00", 4, "unsure all; cc"},
    {"svc 1", "\x0a\x01", 2, "writes r2; cc"},
    {"trap2", "\x01\xff", 2, "none"},
    {"crt %r1,%r2,8", "\xb9\x72\x80\x12", 4, ""},
    {"cgit %r1,0,8", "\xec\x10\x00\x00\x80\x70", 6, ""},
    {"nopr %r0", "\x07\x00", 2, "filler"},
    {"nopr %r7", "\x07\x07", 2, "filler"},
    {"bcr 15,%r0", "\x07\xf0", 2, ""},
    {"brcl 0,.+4", "\xc0\x04\x00\x00\x00\x02", 6, "filler"},
    {"ear %r1,%a0", "\xb2\x4f\x00\x10", 4, "writes r1"},
    {"sar %a2,%r1", "\xb2\x4e\x00\x21", 4, ""},
    {"cs %r1,%r2,0(%r3)", "\xba\x12\x30\x00", 4, "4[r3]=?; unsure r1; cc"},
    {"csg %r1,%r2,0(%r3)", "\xeb\x12\x30\x00\x00\x30", 6, "8[r3]=?; unsure r1; cc"},
    {"cdsg %r2,%r4,0(%r6)", "\xeb\x24\x60\x00\x00\x3e", 6, "16[r6]=?; unsure r2 r3; cc"},
    {"laag %r1,%r2,0(%r3)", "\xeb\x12\x30\x00\x00\xe8", 6, "8[r3]=?; writes r1; cc"},
    {"mvcle %r2,%r4,0", "\xa8\x24\x00\x00", 4, "unsure r0 r1 r2 r3 r4 r5; cc"},
    {"srst %r2,%r3", "\xb2\x5e\x00\x23", 4, "unsure r2 r3; cc"},
    {"clst %r2,%r4", "\xb2\x5d\x00\x24", 4, "unsure r2 r4; cc"},
    {"flogr %r2,%r4", "\xb9\x83\x00\x24", 4, "writes r2 r3; cc"},
    {"mlgr %r2,%r4", "\xb9\x86\x00\x24", 4, "writes r2 r3; cc"},
    {"msgr %r2,%r4", "\xb9\x0c\x00\x24", 4, "writes r2"},
    {"locgr %r1,%r2,8", "\xb9\xe2\x80\x12", 4, "unsure r1"},
    {"locg %r1,0(%r2),8", "\xeb\x18\x20\x00\x00\xe2", 6, "unsure r1"},
    {"locghi %r1,1,8", "\xec\x18\x00\x01\x00\x46", 6, "unsure r1"},
    {"selgr %r1,%r2,%r3,8", "\xb9\xe3\x38\x12", 4, "writes r1"},
    {"stocg %r1,160(%r15),8", "\xeb\x18\xf0\xa0\x00\xe3", 6, "8[r15+0xa0]=?"},
    {"stfle 160(%r15)", "\xb2\xb0\xf0\xa0", 4, "8[r15+0xa0]=?; unsure r0; cc"},
    {"stck 160(%r15)", "\xb2\x05\xf0\xa0", 4, "8[r15+0xa0]=?; cc"},
    {"stcke 160(%r15)", "\xb2\x78\xf0\xa0", 4, "16[r15+0xa0]=?; cc"},
    {"cvd %r1,160(%r15)", "\x4e\x10\xf0\xa0", 4, "8[r15+0xa0]=?"},
    {"ipm %r2", "\xb2\x22\x00\x20", 4, "writes r2"},
    {"kmac %r2,%r4", "\xb9\x1e\x00\x24", 4, "unsure r0 r1 r2 r3 r4 r5; cc"},
    {"epsw %r1,%r2", "\xb9\x8d\x00\x12", 4, "unsure r0 r1 r2 r3; cc"},
    {"tbegin 0,0xff0c", "\xe5\x60\x00\x00\xff\x0c", 6,
	"unsure f0 f2 f4 f6 f1 f3 f5 f7 f8 f10 f12 f14 f9 f11 f13 f15; cc"},
    {"tend", "\xb2\xf8\x00\x00", 4, "cc"},
    {"lpq %r2,0(%r4)", "\xe3\x20\x40\x00\x00\x8f", 6, "writes r2 r3; cc"},
    {"stpq %r2,160(%r15)", "\xe3\x20\xf0\xa0\x00\x8e", 6, "16[r15+0xa0]=?"},
};
enum { N_KNOWN = sizeof(known) / sizeof(known[0]) };

START_TEST(knows)
{
	uint8_t length, shorter;
	const char *got = insn_text(known[_i].bytes, known[_i].size, &length);

	ck_assert_msg(strcmp(got, known[_i].expected) == 0, "%s: %s instead of %s",
	    known[_i].name, got, known[_i].expected);
	/* An instruction that is cut off is none. */
	for (uint8_t size = 1; size < length; size++)
		ck_assert_str_eq(insn_text(known[_i].bytes, size, &shorter), "none");
}
END_TEST

/* Of any bytes: as long as the first two bits say, and it names what there is. */
START_TEST(total)
{
	static const uint8_t sizes[4] = {2, 4, 4, 6};

	srandom(1);
	for (uint32_t round = 0; round < 1u << 17; round++) {
		uint8_t code[12];
		struct code_insn insn;

		for (size_t i = 0; i < sizeof(code); i++)
			code[i] = (uint8_t)(random() >> 8);
		code[0] = (uint8_t)round;
		code[1] = (uint8_t)(round >> 8);
		code[5] = (uint8_t)(round >> 9);
		if (!code_insn_read(CODE_S390X, code, sizeof(code), PC, &insn))
			continue;
		ck_assert_uint_eq(insn.length, sizes[code[0] >> 6]);
		ck_assert_uint_le(insn.n_effects, CODE_MAX_EFFECTS);
		ck_assert_uint_le(insn.control, CODE_STOPS);
		ck_assert(insn.control == CODE_BRANCHES ||
			  insn.control == CODE_BRANCHES_TO ||
			  insn.condition == CODE_IF_OTHER);
		ck_assert(
		    (insn.via != CODE_NO_REG) ==
		    (insn.control == CODE_JUMPS_TO || insn.control == CODE_BRANCHES_TO ||
			insn.control == CODE_CALLS_TO || insn.control == CODE_RETURNS));
		for (uint8_t i = 0; i < insn.n_effects; i++) {
			const struct code_effect *effect = &insn.effects[i];

			ck_assert(
			    effect->dst < CODE_N_REGS ||
			    (effect->kind == CODE_STORE && effect->dst == CODE_NO_REG));
			ck_assert(
			    effect->base < CODE_N_REGS || effect->base == CODE_NO_REG);
			ck_assert(
			    effect->index < CODE_N_REGS || effect->index == CODE_NO_REG);
			ck_assert_uint_gt(effect->width, 0);
			ck_assert_uint_lt(effect->shift, 64);
			ck_assert(effect->index_bits >= 1 && effect->index_bits <= 64);
			ck_assert(effect->kind != CODE_BOUND || effect->off >= 0);
		}
	}
}
END_TEST

/* The instruction that is executed is not in sight. */
START_TEST(executes)
{
	static const uint8_t exrl[] = {0xc6, 0x10, 0xff, 0xff, 0xff, 0x80};
	static const uint8_t mvc[] = {0xd2, 0x03, 0xf0, 0xa0, 0x20, 0x00};
	static const uint8_t clc[] = {0xd5, 0x03, 0xf0, 0xa0, 0x20, 0x00};
	static const uint8_t lgr[] = {0xb9, 0x04, 0x00, 0xf2, 0x07, 0x00};
	struct code_insn insn, other;

	ck_assert(code_insn_read(CODE_S390X, exrl, sizeof(exrl), PC, &insn));
	ck_assert(insn.executes);
	ck_assert_uint_eq(insn.target, PC - 0x100);
	ck_assert_uint_eq(insn.unsure, UINT32_MAX);
	other = insn;
	code_insn_execute(CODE_S390X, lgr, &other);
	ck_assert_uint_eq(other.unsure, UINT32_MAX);
	other = insn;
	code_insn_execute(CODE_S390X, clc, &other);
	ck_assert_uint_eq(other.unsure, 0);
	ck_assert_uint_eq(other.n_effects, 0);
	code_insn_execute(CODE_S390X, mvc, &insn);
	ck_assert_uint_eq(insn.unsure, 0);
	ck_assert_uint_eq(insn.n_effects, 1);
	ck_assert_uint_eq(insn.effects[0].kind, CODE_STORE);
	ck_assert_uint_eq(insn.effects[0].base, 15);
	ck_assert_uint_eq(insn.effects[0].width, 4);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("insn_s390x");
	TCase *tcase = tcase_create("insn_s390x");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, knows, 0, N_KNOWN);
	tcase_add_test(tcase, total);
	tcase_add_test(tcase, executes);
	suite_add_tcase(suite, tcase);
	return unit_main(suite);
}
