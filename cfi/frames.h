/* SPDX-License-Identifier: MIT */
/*
 * .eh_frame and .debug_frame as a list of CIEs and FDEs (LSB core, "Exception Frames";
 * DWARF 5, 6.4.1). One damaged record costs that record: it is described in diags and the walk goes on.
 */
#ifndef CFI_FRAMES_H
#define CFI_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "cfi/section.h"

struct cfi_cie {
	uint64_t off;	      /* of its length field, from the start of the section */
	uint64_t code_align;  /* factor of advance_loc operands */
	int64_t data_align;   /* factor of register offset operands */
	uint64_t ra_reg;      /* DWARF number of the return address column */
	uint64_t program_off; /* initial instructions, from the start of the section */
	uint64_t program_len; /* bytes */
	uint32_t alike;	      /* index of the first CIE with the same contents */
	uint8_t version;      /* 1, 3 or 4 */
	uint8_t fde_encoding; /* DW_EH_PE_* of pc_begin; absptr without augmentation R */
	uint8_t addr_size;    /* bytes of an address, in FDEs and instructions */
	uint8_t segment_size; /* of what comes before an address; only .debug_frame */
	bool debug;	      /* of .debug_frame, as are its FDEs */
	bool has_aug_data; /* augmentation z: FDEs carry a length of augmentation data */
	bool signal_frame; /* augmentation S */
	bool b_key; /* augmentation B: AArch64 return addresses signed with key B */
};

struct cfi_fde {
	uint64_t off;	      /* of its length field, from the start of the section */
	uint64_t pc;	      /* address of the first byte described */
	uint64_t range;	      /* bytes described; never 0, and pc + range does not wrap */
	uint64_t program_off; /* instructions, from the start of the section */
	uint32_t program_len; /* bytes */
	/* Index into cies; in .debug_frame that of the first CIE with the same contents. */
	uint32_t cie;
};

/* Why a record is not among the FDEs. The first group is damage, the second is not. */
enum cfi_diag_kind {
	CFI_DIAG_TRUNCATED, /* the length passes the end of the section: the walk ends */
	CFI_DIAG_DWARF64,   /* 64-bit length in .eh_frame, where readers disagree on its
			   * meaning, or one above 4 GiB; skipped */
	CFI_DIAG_BAD_CIE, /* unreadable CIE: its FDEs are lost too (counted one by one) */
	CFI_DIAG_BAD_CIE_PTR, /* the CIE pointer of an FDE is not the start of a CIE */
	CFI_DIAG_BAD_FDE,     /* unreadable FDE */
	CFI_DIAG_LAST_DAMAGE = CFI_DIAG_BAD_FDE,
	CFI_DIAG_ZERO_RANGE, /* describes no code */
	CFI_DIAG_DISCARDED,  /* its function was discarded by the linker: pc 0, or in
			      * .debug_frame all ones */
	CFI_DIAG_TERMINATOR, /* a zero terminator with records after it: the walk goes on
			      */
	CFI_N_DIAGS,
};

struct cfi_diag {
	enum cfi_diag_kind kind;
	uint64_t off;	/* of the record, from the start of the section */
	char text[120]; /* one clause in plain words, without path or offset */
};

/* Only this many diagnostics are kept, the first damage among them; the counters count all. */
#define CFI_MAX_DIAGS 64

struct cfi_frames {
	/* Borrows the section's bytes, which must outlive this. */
	struct cfi_section section;
	struct cfi_cie *cies; /* by ascending off; only the readable ones */
	size_t n_cies, cap_cies;
	/* In the order of the parts, and in each part in that of its bytes. */
	struct cfi_fde *fdes;
	size_t n_fdes, cap_fdes;
	struct cfi_diag *diags;
	size_t n_diags, cap_diags;
	size_t diag_counts[CFI_N_DIAGS];
};

/* Returns a static name such as "bad-fde". */
const char *cfi_diag_name(enum cfi_diag_kind kind);

/*
 * Reads all parts; the caller frees frames with cfi_frames_deinit. False only when memory runs out, with
 * nothing to free. A CIE pointer is accepted only when it names the start of a record that the walk meets
 * (before or after the FDE), so the work is linear in the size of the section whatever it contains.
 */
ATTR_MUST_CHECK bool cfi_frames_read(
    const struct cfi_section *section, struct cfi_frames *frames, struct err *err);

/* True if an FDE is of .debug_frame. */
static inline bool cfi_fde_is_debug(
    const struct cfi_frames *frames, const struct cfi_fde *fde)
{
	return frames->cies[fde->cie].debug;
}

/* The caller's number of the source that an FDE is from. */
static inline unsigned int cfi_fde_source(
    const struct cfi_frames *frames, const struct cfi_fde *fde)
{
	return cfi_section_part(&frames->section, fde->off)->source;
}

/* Frees the lists of CIEs and FDEs; their numbers and the diagnostics stay. */
void cfi_frames_forget(struct cfi_frames *frames);

/* Frees what cfi_frames_read allocated; accepts a zeroed struct. */
void cfi_frames_deinit(struct cfi_frames *frames);

#endif
