/* SPDX-License-Identifier: MIT */
/*
 * The on-disk constants of the SFrame format, in the specification's spelling, and the
 * offsets of its fields. Each group names the section of "The SFrame Format" that defines
 * it, version 2 unless said otherwise. Multi-byte fields are in the target's byte order
 * and nothing is aligned.
 */
#ifndef SFRAME_FORMAT_H
#define SFRAME_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

/* 2.1 SFrame Preamble, 2.1.2 SFrame Version */
#define SFRAME_MAGIC 0xdee2
#define SFRAME_VERSION_1 1
#define SFRAME_VERSION_2 2
#define SFRAME_VERSION_3 3

/* 2.1.3 SFrame Flags */
#define SFRAME_F_FDE_SORTED 0x1
#define SFRAME_F_FRAME_POINTER 0x2	  /* versions 1 and 2 */
#define SFRAME_F_FDE_FUNC_START_PCREL 0x4 /* version 2 (Errata 1) and later */

/* 2.2 SFrame Header: offsets from the section's start; the auxiliary header follows. */
enum {
	SFRAME_HDR_MAGIC = 0x00,	       /* u16 */
	SFRAME_HDR_VERSION = 0x02,	       /* u8 */
	SFRAME_HDR_FLAGS = 0x03,	       /* u8 */
	SFRAME_HDR_ABI_ARCH = 0x04,	       /* u8 */
	SFRAME_HDR_CFA_FIXED_FP_OFFSET = 0x05, /* s8 */
	SFRAME_HDR_CFA_FIXED_RA_OFFSET = 0x06, /* s8 */
	SFRAME_HDR_AUXHDR_LEN = 0x07,	       /* u8 */
	SFRAME_HDR_NUM_FDES = 0x08,	       /* u32 */
	SFRAME_HDR_NUM_FRES = 0x0c,	       /* u32 */
	SFRAME_HDR_FRE_LEN = 0x10,	       /* u32 */
	SFRAME_HDR_FDEOFF = 0x14,	       /* u32, from the end of the header */
	SFRAME_HDR_FREOFF = 0x18,	       /* u32, from the end of the header */
	SFRAME_HDR_SIZE = 0x1c,
};

/* 2.2.1 SFrame ABI/arch Identifier */
#define SFRAME_ABI_AARCH64_ENDIAN_BIG 1
#define SFRAME_ABI_AARCH64_ENDIAN_LITTLE 2
#define SFRAME_ABI_AMD64_ENDIAN_LITTLE 3
#define SFRAME_ABI_S390X_ENDIAN_BIG 4 /* version 2 (Errata 1) and later */

/*
 * 2.3 SFrame FDE: offsets from the descriptor's start. Version 1 ends after the info
 * byte.
 */
enum {
	SFRAME_FDE_FUNC_START_ADDRESS = 0x00, /* s32 */
	SFRAME_FDE_FUNC_SIZE = 0x04,	      /* u32 */
	SFRAME_FDE_FUNC_START_FRE_OFF = 0x08, /* u32, from the FRE sub-section */
	SFRAME_FDE_FUNC_NUM_FRES = 0x0c,      /* u32 */
	SFRAME_FDE_FUNC_INFO = 0x10,	      /* u8 */
	SFRAME_FDE_FUNC_REP_SIZE = 0x11,      /* u8, version 2 */
	SFRAME_FDE_FUNC_PADDING2 = 0x12,      /* u16, version 2 */
	SFRAME_V1_FDE_SIZE = 17,
	SFRAME_V2_FDE_SIZE = 20,
};

/*
 * 2.3.1 The SFrame FDE Index and 2.3.2 The SFrame FDE Attribute of version 3: an entry,
 * and what comes before the function's rows.
 */
enum {
	SFRAME_V3_FDE_FUNC_START_OFFSET = 0x00,	 /* s64 */
	SFRAME_V3_FDE_FUNC_SIZE = 0x08,		 /* u32 */
	SFRAME_V3_FDE_FUNC_START_FRE_OFF = 0x0c, /* u32, of the attribute */
	SFRAME_V3_FDE_SIZE = 16,
	SFRAME_V3_ATTR_FUNC_NUM_FRES = 0, /* u16 */
	SFRAME_V3_ATTR_FUNC_INFO = 2,	  /* u8 */
	SFRAME_V3_ATTR_FUNC_INFO2 = 3,	  /* u8 */
	SFRAME_V3_ATTR_FUNC_REP_SIZE = 4, /* u8 */
	SFRAME_V3_ATTR_SIZE = 5,
};

/* 2.3.1 The SFrame FDE Info Word, 2.3.3 The SFrame FRE Types */
#define SFRAME_FRE_TYPE_ADDR1 0 /* u8 start field */
#define SFRAME_FRE_TYPE_ADDR2 1 /* u16 */
#define SFRAME_FRE_TYPE_ADDR4 2 /* u32 */
#define SFRAME_FUNC_INFO_FRE_TYPE_MASK 0x0f
#define SFRAME_FUNC_INFO_PCMASK 0x10	  /* 2.3.2 SFrame FDE Types: PCMASK, else PCINC */
#define SFRAME_FUNC_INFO_PAUTH_KEY_B 0x20 /* AArch64 */
#define SFRAME_FUNC_INFO_SIGNAL 0x80	  /* version 3 */
#define SFRAME_FDE_TYPE_DEFAULT 0
#define SFRAME_FDE_TYPE_FLEX 1

/* 2.4 SFrame FRE, 2.4.1 The SFrame FRE Info Word: follows the row's start field. */
#define SFRAME_FRE_INFO_BASE_REG 0x01
#define SFRAME_FRE_INFO_COUNT_SHIFT 1
#define SFRAME_FRE_INFO_COUNT_MASK 0x0f
#define SFRAME_FRE_INFO_SIZE_SHIFT 5
#define SFRAME_FRE_INFO_SIZE_MASK 0x03
#define SFRAME_FRE_INFO_MANGLED_RA 0x80
#define SFRAME_FRE_OFFSET_1B 0
#define SFRAME_FRE_OFFSET_2B 1
#define SFRAME_FRE_OFFSET_4B 2

/*
 * 3.2 Flexible FDE Type Interpretation of version 3: the control word of a flexible FDE's
 * pair; the register number is in the bits above.
 */
#define SFRAME_V3_CTRL_REG_P 0x1
#define SFRAME_V3_CTRL_DEREF_P 0x2
#define SFRAME_V3_CTRL_ZERO 0x4
#define SFRAME_V3_CTRL_REG_SHIFT 3

/*
 * 3.3 s390x: the CFA word counts doublewords beyond the entry state's 160 bytes; in
 * version 2 a set bit 0 makes an RA or FP word a register number, and an RA word of 0
 * means "not saved".
 */
#define SFRAME_S390X_SP_VAL_OFFSET 160
#define SFRAME_S390X_CFA_SCALE 8

/*
 * Our own bound, not the specification's: rows, counted per function, for each byte of a
 * section. Sharing rows lets a few bytes stand for many rows; this keeps reading time
 * linear.
 */
enum { SF_ROWS_PER_BYTE_MAX = 64 };

/*
 * Our own reading, not the specification's: version 1 does not say how long a block of a
 * PCMASK function is. The one linker that wrote any, GNU ld 2.40, gave rows other than
 * the first to 16-byte PLT entries only.
 */
enum { SF_V1_REP_SIZE = 16 };

/* Facts that an ABI's psABI fixes, as far as SFrame needs them (3 ABI/arch-specific Definition). */
struct sf_abi {
	const char *name;
	uint8_t id;	     /* SFRAME_ABI_* */
	uint8_t since;	     /* the first version that defines it */
	uint8_t sp, fp, ra;  /* DWARF register numbers */
	int8_t fixed_fp_off; /* as the header says it; 0: not fixed */
	int8_t fixed_ra_off;
	bool big_endian;
	bool has_pauth; /* return addresses may be signed */
	bool has_flex;	/* version 3: the GNU tools write flexible FDEs for it */
};

/* NULL when no version defines the identifier. */
const struct sf_abi *sf_abi_find(uint8_t id);

#endif
