/* SPDX-License-Identifier: MIT */
/*
 * x86-64: the operation codes of the instructions that most code consists of. Intel SDM, volume 2,
 * appendix A, has the maps, and chapters 3 to 6 the prefixes of vector instructions.
 */
#include "code/machines/x86_64_common.h"

/* A letter for each operation code. '.': Zydis reads it. */
const char code_x86_first[] = "aaaaAA..aaaaAA.." /* 00 */
			      "aaaaAA..aaaaAA.."
			      "aaaaAA..aaaaAA.." /* 20 */
			      "aaaaAA..aaaaAA.."
			      "................" /* 40 */
			      "ppppppppoooooooo"
			      "...e....PiQH...." /* 60 */
			      "jjjjjjjjjjjjjjjj"
			      "gg.Gtt..mmmm.l.." /* 80 */
			      "n.......c......."
			      "........TT......" /* a0 */
			      "DDDDDDDDMMMMMMMM"
			      "SS.r..NN.L......" /* c0 */
			      "ssss............"
			      "........CJ.O...." /* e0 */
			      "......uu......ff";
const char code_x86_second[] = "................" /* 00 */
			       "vkhKvvhK.......0"
			       "........vkvKwwFF" /* 20 */
			       "................"
			       "qqqqqqqqqqqqqqqq" /* 40 */
			       "Wvvvvvvvvvvvvvvv"
			       "vvvvvvvvvvvvvvvv" /* 60 */
			       "V...vvv.....vv7k"
			       "yyyyyyyyyyyyyyyy" /* 80 */
			       "bbbbbbbbbbbbbbbb"
			       "...............I" /* a0 */
			       "......zz......zz"
			       "..V.V.V........." /* c0 */
			       "vvvvvvkWvvvvvvvv"
			       "vvvvvvvKvvvvvvvv" /* e0 */
			       ".vvvvvv.vvvvvvv.";
/* With which prefixes a vector instruction is one: the sum of 1 none, 2 66, 4 F3, 8 F2. */
const char code_x86_prefixes[] = "................" /* 00 */
				 "fff33373........"
				 "........33f3cc33" /* 20 */
				 "................"
				 "................" /* 40 */
				 "3f553333fff7ffff"
				 "3333333333332237" /* 60 */
				 "f...333.....aa77"
				 "................" /* 80 */
				 "................"
				 "................" /* a0 */
				 "................"
				 "..f.3.3........." /* c0 */
				 "a333332333333333"
				 "333333e333333333" /* e0 */
				 ".333333.3333333.";

const uint32_t code_x86_forms[128] = {
    ['a'] = FORM_USUAL | FORM_FLAGS | FORM_TURNS,
    ['A'] = FORM_PLAIN | FORM_BYTES | FORM_PREFIX_66 | FORM_IMM | FORM_FLAGS | FORM_RAX |
	    FORM_VALUE,
    ['g'] = FORM_USUAL | FORM_IMM | FORM_FLAGS | FORM_RM | FORM_VALUE,
    ['G'] = FORM_WORDS | FORM_SEGMENT | FORM_IMM8 | FORM_FLAGS | FORM_RM | FORM_VALUE,
    ['t'] = FORM_USUAL | FORM_FLAGS,
    ['T'] = FORM_PLAIN | FORM_BYTES | FORM_PREFIX_66 | FORM_IMM | FORM_FLAGS,
    ['m'] = FORM_USUAL | FORM_TURNS,
    ['N'] = FORM_USUAL | FORM_IMM | FORM_RM | FORM_VALUE,
    ['M'] = FORM_PLAIN | FORM_IMM | FORM_CODE_REG | FORM_VALUE,
    ['D'] = FORM_PLAIN | FORM_IMM8 | FORM_CODE_REG,
    ['l'] = FORM_WORDS | FORM_REG | FORM_RM,
    ['e'] = FORM_MODRM | FORM_REG | FORM_RM,
    ['z'] = FORM_WORDS | FORM_SEGMENT | FORM_REG | FORM_RM,
    ['p'] = FORM_PLAIN | FORM_CODE_REG | FORM_READS,
    ['P'] = FORM_PLAIN | FORM_IMM | FORM_VALUE | FORM_READS,
    ['Q'] = FORM_PLAIN | FORM_IMM8 | FORM_VALUE | FORM_READS,
    ['o'] = FORM_PLAIN | FORM_CODE_REG,
    ['L'] = FORM_PLAIN,
    ['i'] = FORM_WORDS | FORM_IMM | FORM_FLAGS | FORM_REG,
    ['H'] = FORM_WORDS | FORM_IMM8 | FORM_FLAGS | FORM_REG,
    ['I'] = FORM_WORDS | FORM_FLAGS | FORM_REG,
    ['s'] = FORM_USUAL | FORM_FLAGS | FORM_RM,
    ['S'] = FORM_USUAL | FORM_IMM8 | FORM_FLAGS | FORM_RM,
    ['u'] = FORM_USUAL | FORM_FLAGS | FORM_RM,
    ['f'] = FORM_MODRM | FORM_BYTES | FORM_RM,
    ['q'] = FORM_WORDS | FORM_REG | FORM_MAYBE,
    ['b'] = FORM_MODRM | FORM_RM,
    ['c'] = FORM_PLAIN | FORM_RAX,
    ['n'] = FORM_PLAIN | FORM_PREFIX_66,
    ['0'] = FORM_WORDS,
    ['r'] = FORM_PLAIN,
    ['j'] = FORM_PLAIN | FORM_IMM8,
    ['y'] = FORM_PLAIN | FORM_IMM,
    ['C'] = FORM_PLAIN | FORM_IMM,
    ['J'] = FORM_PLAIN | FORM_IMM,
    ['O'] = FORM_PLAIN | FORM_IMM8,
    ['v'] = FORM_VECTORS,
    ['V'] = FORM_VECTORS | FORM_IMM8,
    ['h'] = FORM_VECTORS,
    ['k'] = FORM_VECTORS | FORM_RM,
    ['K'] = FORM_VECTORS | FORM_RM,
    ['F'] = FORM_VECTORS | FORM_FLAGS,
    ['w'] = FORM_VECTORS | FORM_REG,
    ['W'] = FORM_VECTORS | FORM_REG,
    ['7'] = FORM_VECTORS | FORM_RM,
};

/* Instructions with effects of their own, or that go elsewhere. */
const uint16_t code_x86_mnemonics[128] = {
    ['N'] = ZYDIS_MNEMONIC_MOV,
    ['M'] = ZYDIS_MNEMONIC_MOV,
    ['e'] = ZYDIS_MNEMONIC_MOVSXD,
    ['p'] = ZYDIS_MNEMONIC_PUSH,
    ['P'] = ZYDIS_MNEMONIC_PUSH,
    ['Q'] = ZYDIS_MNEMONIC_PUSH,
    ['o'] = ZYDIS_MNEMONIC_POP,
    ['L'] = ZYDIS_MNEMONIC_LEAVE,
    ['n'] = ZYDIS_MNEMONIC_NOP,
    ['0'] = ZYDIS_MNEMONIC_NOP,
    ['r'] = ZYDIS_MNEMONIC_RET,
};
const uint8_t code_x86_categories[128] = {
    ['r'] = ZYDIS_CATEGORY_RET,
};
