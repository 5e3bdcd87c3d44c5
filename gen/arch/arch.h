/* SPDX-License-Identifier: MIT */
/*
 * Facts about each machine: one file per machine under gen/arch/, all of the same shape.
 * Nothing outside those files tests e_machine.
 */
#ifndef GEN_ARCH_ARCH_H
#define GEN_ARCH_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cfi/interp.h"
#include "code/code.h"

/* Members of the structures below: the bytes of a stub; a list and how many it has. */
#define ARCH_CODE(...)                                                                   \
	.code = (const uint8_t[])                                                        \
	{                                                                                \
		__VA_ARGS__                                                              \
	}
#define ARCH_LIST(member, list)                                                          \
	.member = list, .n_##member = sizeof(list) / sizeof(list[0])

/* Stub of a linker's PLT, for PLTs that carry no CFI. */
struct arch_plt_stub {
	uint8_t size;	     /* bytes of code */
	const uint8_t *code; /* size bytes */
	const uint8_t *mask; /* size bytes; a bit that is 0 may have any value */
	/* Bytes that may stand at other_at in the place of those of code; NULL: none. */
	const uint8_t *other;
	uint8_t other_at, other_size; /* bytes from the stub's start; bytes */
	/* CFA = SP + cfa_off from offset start on, ascending, ended by the array's
	 * length. */
	uint8_t n_rows;
	struct arch_plt_row {
		uint8_t start; /* bytes from the stub's start */
		uint8_t cfa_off;
		int8_t ra_off; /* RA is at CFA + this; 0: fixed, or in its register */
	} rows[4];
};

/* A section is the header, then entries, then the tail. */
struct arch_plt_template {
	const char *linker;  /* for people: who lays its PLT out like this */
	const char *section; /* ".plt", ".plt.got", ... */
	const struct arch_plt_stub *header; /* NULL: none */
	const struct arch_plt_stub *entry;
	/* NULL, or what some of the entries look like: of entry's size and rows. */
	const struct arch_plt_stub *entry_too;
	/* NULL, or what may stand behind the entries, or in their place. */
	const struct arch_plt_stub *tail;
};

/* Bytes with which assemblers and linkers fill the space between functions. */
struct arch_filler {
	uint8_t size; /* bytes */
	uint8_t bytes[4];
};

/* An instruction that calls, as the last bytes of a function: these bits have these values, and whatever the mask
 * leaves out may be anything. */
struct arch_call {
	uint8_t size; /* bytes of the instruction */
	uint8_t mask[4], bits[4];
};

/* A relocation of .eh_frame, .sframe or what they refer to: it writes width bytes, the
 * symbol's value plus the addend, less its own place if pcrel. */
struct arch_reloc {
	const char *name; /* of the psABI */
	uint32_t type;
	uint8_t width; /* bytes; 0: nothing is written, what it was for is gone */
	bool pcrel;
};

/* Value of a relocation of code, and where it goes. */
enum {
	ARCH_RELOC_PCREL = 1, /* the distance from the place that it is for */
	ARCH_RELOC_PAGES = 2, /* the distance in memory pages of 4 KiB */
	ARCH_RELOC_LOW = 4,   /* the lowest 12 bits */
	/* Refers to a place that holds the address, not to the address itself. */
	ARCH_RELOC_GOT = 8,
	ARCH_RELOC_ADR = 16,	/* the lowest 2 bits go to bits 29 and 30 of the word */
	ARCH_RELOC_LITTLE = 32, /* the word is little-endian in data of either order */
};

/* A relocation of code, or of a table beside it. The value is the symbol's address plus the
 * addend. */
struct arch_code_reloc {
	uint32_t type;
	uint8_t bytes;	   /* of the word that it is for */
	uint8_t bits, lsb; /* that the value gets in the word */
	uint8_t shift;	   /* bits that the value loses before */
	uint8_t flags;	   /* ARCH_RELOC_* */
};

struct arch {
	const char *name;
	uint16_t elf_machine; /* EM_* */
	bool big_endian;
	uint8_t sframe_abi; /* SFRAME_ABI_* */
	uint32_t page;	    /* bytes of the largest page by which Linux maps files */
	struct cfi_machine cfi;
	enum code_machine code;
	/* For people, by DWARF number; a number behind the end has no name. */
	const char *const *reg_names;
	size_t n_reg_names;
	uint16_t ra_reg;     /* the CIE's return address column */
	int64_t sp_from_cfa; /* the caller's SP is CFA + this */
	bool sp_saved;	 /* a callee saves SP, and what it saves is CFA + sp_from_cfa */
	bool ra_tracked; /* RA has words of its own in a row, not a fixed place; until it
			    is saved it is in ra_reg */
	int8_t fixed_ra_off; /* when not tracked: RA is at CFA + this */
	const struct arch_plt_template *plt_templates;
	size_t n_plt_templates;
	const struct arch_filler *fillers;
	size_t n_fillers;
	const struct arch_call *calls;
	size_t n_calls;
	/* The first n_direct calls end in four bytes, little-endian, that lead from their end to code. */
	size_t n_direct;
	uint8_t insn_unit; /* bytes that every instruction is a multiple of */
	/* Relocations that occur in CFI. Two of them are for starts in .sframe, of 4 and 8 bytes. */
	const struct arch_reloc *relocs;
	size_t n_relocs;
	uint32_t reloc_start32, reloc_start64;
	/* Relocations of code, as far as they say where control goes and where constants are. */
	const struct arch_code_reloc *code_relocs;
	size_t n_code_relocs;
	/* Dynamic relocations of thread-local storage: their addends are no addresses. */
	const uint32_t *tls_relocs;
	size_t n_tls_relocs;
};

extern const struct arch arch_x86_64, arch_aarch64, arch_aarch64_be, arch_s390x;

/* Returns NULL for a type that does not occur in CFI. */
const struct arch_reloc *arch_reloc_find(const struct arch *arch, uint32_t type);

/* Returns NULL for a type that the machine's file does not have. */
const struct arch_code_reloc *arch_code_reloc_find(
    const struct arch *arch, uint32_t type);

/* True if a dynamic relocation is of thread-local storage. */
bool arch_reloc_is_tls(const struct arch *arch, uint32_t type);

/* Returns the machine of an ELF header, or NULL when SFrame is not defined for it. */
const struct arch *arch_find(uint16_t elf_machine, bool big_endian);

/* For messages: the customary name of any e_machine, "machine 0xN" when unknown. is_32 is
 * for those that a 64-bit machine has for its 32-bit programs, too. The result is static,
 * or buf. */
const char *arch_machine_name(uint16_t elf_machine, bool is_32, char *buf, size_t size);

#endif
