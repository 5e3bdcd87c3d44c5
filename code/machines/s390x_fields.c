/* SPDX-License-Identifier: MIT */
/*
 * s390x: from an operation code to the rule that insn_s390x.c applies, and to the operands.
 * z/Architecture Principles of Operation, chapter 5 "Instruction Formats" and appendix B.
 */
#include "code/machines/machines.h"
#include "code/machines/s390x.h"

/* DWARF's order, from the ELF ABI supplement. */
const uint8_t code_s390x_fpr[16] = {
    16, 20, 17, 21, 18, 22, 19, 23, 24, 28, 25, 29, 26, 30, 27, 31};

/* A letter for each first byte. '>': the maps below go on. */
static const char s390x_first[] = ".>..cJJJ..JJJJ??" /* 00 */
				  "wwwwwewwWcwwppww"
				  "ffffffFFecffffff" /* 20 */
				  "ffffffFFfcffffff"
				  "2e1wJJJJWcwwWJ8W" /* 40 */
				  "sw..wcwwWcwwppww"
				  "D......Flcffffff" /* 60 */
				  "4W......fcffffff"
				  "-..?JJJJWWwwpppp" /* 80 */
				  "Nc1nncnnd--Q...."
				  ".....>.>??..11?-" /* a0 */
				  ".w>>..?-.>xy.cPw"
				  ">.>.>->->...>..." /* c0 */
				  "tmmmMcMM.cccmtMt"
				  ".6M>.>>>m6M>>>?d" /* e0 */
				  "kkkk....kckkkk..";

/* The rest of an operation code, from 0; those beyond a map's end have no instruction. */
static const char s390x_01[] = "..?.?..?..?c..-.";
static const char s390x_a5[] = "WWWWwwwewwwweeee";
static const char s390x_a7[] = "ccccJJJJWewewwcc";
static const char s390x_b2[] = "???.?A??????.?.." /* 00 */
			       "???.?....??....."
			       "??W?????????cF??" /* 20 */
			       "?????????????..."
			       ".?..ff???.??c--W" /* 40 */
			       "?.W.?U.?.....UU."
			       "...?............" /* 60 */
			       "....?.??O?..A?.."
			       "?...????......??" /* 80 */
			       ".........-..4-.."
			       ".....???........" /* a0 */
			       "o?......--...-.."
			       "................" /* c0 */
			       "................"
			       "??..??..-...W?.." /* e0 */
			       "........c.-.-...";
static const char s390x_b3[] = "fffffFFFccffffff" /* 00 */
			       "ffffffFfccffffff"
			       "....fFF.......ff" /* 20 */
			       "......FfFFFFFFff"
			       "FFFFfFFFccFFFF.." /* 40 */
			       "ff.E...fff.E...f"
			       "FFFF.FfF.c......" /* 60 */
			       "fffffeFf.......f"
			       "....--......W..." /* 80 */
			       "ffF.ffF.www.www."
			       "ffF.ffF.www.www." /* a0 */
			       "....ffF.www....."
			       ".e..ffF.www..e.." /* c0 */
			       "ffffffffFFFFFFFF"
			       "cwwwcw.wcwppcw.w" /* e0 */
			       ".ffffcff.FFFcFFF";
static const char s390x_b9[] = "wwewe?eeeeeeWp.W" /* 00 */
			       "wwewe.eWewewWp?W"
			       "ce...?WW????????" /* 20 */
			       "cc......?????.??"
			       ".www..J..www...." /* 40 */
			       ".fff.....FFF...."
			       "--..wwww........" /* 60 */
			       "..--wwww........"
			       "wwepeeppww??.???"
			       "????WWppww??.???"
			       ".??.......?.?.??" /* a0 */
			       "????.........?U?"
			       "W.......wwww.c.c" /* c0 */
			       "........wwww.c.c"
			       "uwuWwwwweeeepw.." /* e0 */
			       "W.u.wwwwwwww.w..";
static const char s390x_c0[] = "ee..JJwwWWwewwee";
static const char s390x_c2[] = "WW..ew..ewewccee";
static const char s390x_c4[] = "..W.hWH2L..SgWzs";
static const char s390x_c6[] = "J.-.ccccc.c.cccc";
static const char s390x_c8[] = "c??.pp..........";
static const char s390x_cc[] = "......J.w.ww.c.c";
static const char s390x_e3[] = "..KwL.W.wwwwWpWW" /* 00 */
			       "..wwghzWrwwwWpWW"
			       "cc..SS8...W...68" /* 20 */
			       "ccw.c.-.wwWWW.42"
			       "......JJW-..W-.." /* 40 */
			       "sW.wwcwwWcwwp.ww"
			       "................" /* 60 */
			       "2e1w.wWbWcwwW..."
			       "wwwwpLppww....6p" /* 80 */
			       "BH..WWppww..Wz.W"
			       "................" /* a0 */
			       "................"
			       "W.W1W.W2W.W4.c.c"; /* c0 */
static const char s390x_e5[] = "???.......1...cc"  /* 00 */
			       "................"
			       "................" /* 20 */
			       "................"
			       "....2...8...4..." /* 40 */
			       "....cc..cc..cc.."
			       "JJ.............."; /* 60 */
static const char s390x_e6[] = ".vvvvvvv.284..66"  /* 00 */
			       "................"
			       "................" /* 20 */
			       "....vv.v....66.6"
			       ".........v......" /* 40 */
			       "wvw.vvv.vvvvvvvc"
			       "................" /* 60 */
			       "vvvvvv.cvvvvvvv.";
static const char s390x_e7[] = "vvvvvvvv1284..6." /* 00 */
			       "..vv......--...."
			       ".Wv....w........" /* 20 */
			       "v..v..Vvv.v...q6"
			       "vvvvvvv...v..v.." /* 40 */
			       "v.vv..v.....v..v"
			       "vvv.vvvvvvvvvvvv" /* 60 */
			       "v.vvvv.vv.v.vvvv"
			       "vvv.vvvv..vvvvvv" /* 80 */
			       "....vv.v......vv"
			       ".vvvvvvv.vvvvvvv" /* a0 */
			       "....v...vv.vvv.v"
			       "vvvvvv.v..ccv.v." /* c0 */
			       "....vvvvcc.c..vv"
			       "..vv.v.vv.vv..vv" /* e0 */
			       "vvvv.v.vvv.vvvvv";
static const char s390x_eb[] = "....G.....wwee.-" /* 00 */
			       "....x..?....WW.."
			       "cc.-T?Q....-PP.-" /* 20 */
			       "Xy............Y."
			       "....JJ......W..." /* 40 */
			       ".c1.ncnn........"
			       "..........a...a." /* 60 */
			       "..........A...A."
			       "ww............??" /* 80 */
			       "N.....d.d.-Q...."
			       "................" /* a0 */
			       "................"
			       "c..............." /* c0 */
			       "............wwWW"
			       "u4u8j.jjj.j....." /* e0 */
			       "..u4i.iii.i.....";
static const char s390x_ec[] = "................" /* 00 */
			       "................"
			       "................" /* 20 */
			       "................"
			       "..u.JJu.......u." /* 40 */
			       ".w..weww.e...w.."
			       "....JJ.........." /* 60 */
			       "----..JJ....JJJJ"
			       "................" /* 80 */
			       "................"
			       "................" /* a0 */
			       "................"
			       "................" /* c0 */
			       "........wewe...."
			       "....JJ.........." /* e0 */
			       "......JJ....JJJJ";
static const char s390x_ed[] = "....fFFFccffffff" /* 00 */
			       "ccc.ff.fccffffff"
			       "....fFF.......ff" /* 20 */
			       "....ff.fFFFFFFff"
			       "ff......FF......" /* 40 */
			       "cc..cc..cc......"
			       "....fl4D........" /* 60 */
			       "................"
			       "................" /* 80 */
			       "................"
			       "........MMfFMMfF"; /* a0 */

/* Places of the rest of an operation code. */
static const struct s390x_map {
	uint8_t first, byte, mask;
	uint16_t n;
	const char *rules;
} s390x_maps[] = {
#define MAP(name, byte, mask)                                                            \
	{                                                                                \
		0x##name, byte, mask, sizeof(s390x_##name) - 1, s390x_##name             \
	}
    MAP(a7, 1, 15),
    MAP(c0, 1, 15),
    MAP(b9, 1, 0xff),
    MAP(e3, 5, 0xff),
    MAP(eb, 5, 0xff),
    MAP(ec, 5, 0xff),
    MAP(e5, 1, 0xff),
    MAP(a5, 1, 15),
    MAP(b3, 1, 0xff),
    MAP(c4, 1, 15),
    MAP(b2, 1, 0xff),
    MAP(ed, 5, 0xff),
    MAP(c2, 1, 15),
    MAP(c6, 1, 15),
    MAP(e7, 5, 0xff),
    MAP(e6, 5, 0xff),
    MAP(cc, 1, 15),
    MAP(c8, 1, 15),
    MAP(01, 1, 0xff),
#undef MAP
};

static void s390x_find_rule(struct s390x_fields *fields)
{
	const uint8_t *code = fields->code;
	size_t i = 0;
	uint8_t rest;

	fields->key = (uint16_t)(code[0] << 8);
	fields->rule = (uint8_t)s390x_first[code[0]];
	if (fields->rule != '>')
		return;
	while (s390x_maps[i].first != code[0])
		i++;
	rest = code[s390x_maps[i].byte] & s390x_maps[i].mask;
	fields->key |= rest;
	fields->rule = rest < s390x_maps[i].n ? (uint8_t)s390x_maps[i].rules[rest] : '.';
}

static void s390x_find_registers(struct s390x_fields *fields)
{
	const uint8_t *code = fields->code, rest = (uint8_t)fields->key;

	fields->r1 = code[1] >> 4;
	fields->r2 = fields->r3 = code[1] & 15;
	if (code[0] == 0xb2 || code[0] == 0xb3 || code[0] == 0xb9) {
		fields->r1 = code[3] >> 4;
		fields->r2 = code[3] & 15;
		fields->r3 = code[2] >> 4;
		/* RRD: multiply and add. */
		if (code[0] == 0xb3 && rest < 0x40 && ((rest & 15) >= 14 || rest >= 0x38))
			fields->r1 = code[2] >> 4;
	} else if (code[0] == 0xed && rest < 0x50 &&
		   ((rest & 15) >= 14 || rest >= 0x38)) {
		fields->r1 = code[4] >> 4; /* RXF */
	} else if (code[0] == 0xed && rest >= 0xa8) {
		fields->r1 = code[4] >> 4; /* RSL */
	} else if (code[0] == 0xe7 || code[0] == 0xe6) {
		/* RXB holds a fifth bit of each vector register's number. */
		if (code[0] == 0xe6 && rest >= 0x30 && rest < 0x40)
			fields->r1 = (uint8_t)(code[4] >> 4 | (code[4] & 1) << 4);
		else if (fields->rule == 'v' || fields->rule == 'V' ||
			 fields->rule == 'q')
			fields->r1 |= (code[4] & 8) << 1;
		if (fields->rule == 'V' || fields->rule == 'q')
			fields->r3 |= (code[4] & 4) << 2;
	}
}

static void s390x_find_address(struct s390x_fields *fields)
{
	const uint8_t *code = fields->code, rest = (uint8_t)fields->key;
	bool vector = code[0] == 0xe6 || code[0] == 0xe7;
	bool indexed = (code[0] >= 0x40 && code[0] < 0x80) || code[0] == 0xe3 ||
		       code[0] == 0xed || (vector && (rest < 0x10 || rest == 0x27));

	fields->base = fields->index = CODE_NO_REG;
	if (fields->length == 2)
		return;
	if (code[0] >= 0xc0 && code[0] < 0xd0) { /* RIL */
		if (fields->length == 6)
			fields->off =
			    (int64_t)(fields->pc +
				      2 * (uint64_t)(int32_t)s390x_unsigned32(code + 2));
		return;
	}
	fields->off = (code[2] & 15) << 8 | code[3];
	if (code[0] == 0xe3 || code[0] == 0xeb || (code[0] == 0xed && rest >> 4 == 6))
		fields->off += (int8_t)code[4] * 0x1000;
	/* Register 0 as a base or an index is none. */
	if (code[2] >> 4)
		fields->base = code[2] >> 4;
	if (indexed && code[1] & 15) {
		if (fields->base == CODE_NO_REG)
			fields->base = code[1] & 15;
		else
			fields->index = code[1] & 15;
	}
}

bool code_s390x_fields(
    const uint8_t *code, uint64_t size, uint64_t pc, struct s390x_fields *fields)
{
	static const uint8_t sizes[4] = {2, 4, 4, 6};

	*fields = (struct s390x_fields){
	    .code = code, .size = size, .pc = pc, .length = sizes[code[0] >> 6]};
	if (size < fields->length)
		return false;
	s390x_find_rule(fields);
	if (fields->rule == '.')
		return false;
	s390x_find_registers(fields);
	s390x_find_address(fields);
	return true;
}
