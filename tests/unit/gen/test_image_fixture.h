/* SPDX-License-Identifier: MIT */
/* A small program made by hand. Tests damage it at known places. */
#ifndef TESTS_UNIT_GEN_TEST_IMAGE_FIXTURE_H
#define TESTS_UNIT_GEN_TEST_IMAGE_FIXTURE_H

#include <check.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/wr.h"
#include "gen/sources/input.h"

enum {
	FIX_PHDRS = 64,
	FIX_N_PHDRS = 4,
	FIX_EH_HDR = 0x400,
	FIX_EH = 0x440,
	/* A record of 12, the terminator at 12, then 16 of something else. */
	FIX_EH_SIZE = 32,
	FIX_SYMTAB = 0x900,
	FIX_N_SYMS = 5,
	FIX_STRTAB = 0xa00,
	FIX_SHSTRTAB = 0xa40,
	FIX_SHDRS = 0xb00,
	FIX_N_SHDRS = 7,
	FIX_SIZE = FIX_SHDRS + FIX_N_SHDRS * 64,
	FIX_ADDR = 0x10000, /* of file offset 0 */
};

static inline void fix_to(struct wr *wr, size_t off)
{
	wr_zeros(wr, off - wr->size);
}

static inline void fix_phdr(struct wr *wr, uint32_t type, uint32_t flags, uint64_t off,
    uint64_t addr, uint64_t file_size, uint64_t size)
{
	wr_u32(wr, type);
	wr_u32(wr, flags);
	wr_u64(wr, off);
	wr_u64(wr, addr);
	wr_u64(wr, addr);
	wr_u64(wr, file_size);
	wr_u64(wr, size);
	wr_u64(wr, 0x1000);
}

static inline void fix_shdr(struct wr *wr, uint32_t name, uint32_t type, uint64_t flags,
    uint64_t off, uint64_t size, uint32_t link)
{
	wr_u32(wr, name);
	wr_u32(wr, type);
	wr_u64(wr, flags);
	wr_u64(wr, flags & SHF_ALLOC ? FIX_ADDR + off : 0);
	wr_u64(wr, off);
	wr_u64(wr, size);
	wr_u32(wr, link);
	wr_u32(wr, 0);
	wr_u64(wr, 1);
	wr_u64(wr, 0);
}

static inline void fix_symbol(
    struct wr *wr, uint32_t name, uint8_t info, uint64_t addr, uint64_t size)
{
	wr_u32(wr, name);
	wr_u8(wr, info);
	wr_u8(wr, 0);
	wr_u16(wr, info ? 1 : 0);
	wr_u64(wr, addr);
	wr_u64(wr, size);
}

static inline void fix_header(struct wr *wr)
{
	static const uint8_t ident[EI_NIDENT] = {
	    0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT};

	wr_bytes(wr, ident, sizeof(ident));
	wr_u16(wr, ET_EXEC);
	wr_u16(wr, EM_X86_64);
	wr_u32(wr, EV_CURRENT);
	wr_u64(wr, FIX_ADDR + 0x200);
	wr_u64(wr, FIX_PHDRS);
	wr_u64(wr, FIX_SHDRS);
	wr_u32(wr, 0);
	wr_u16(wr, 64);
	wr_u16(wr, 56);
	wr_u16(wr, FIX_N_PHDRS);
	wr_u16(wr, 64);
	wr_u16(wr, FIX_N_SHDRS);
	wr_u16(wr, FIX_N_SHDRS - 1);
}

static inline void fix_symbols(struct wr *wr)
{
	uint8_t global_func = STB_GLOBAL << 4 | STT_FUNC, local_func = STT_FUNC;

	fix_to(wr, FIX_SYMTAB);
	fix_symbol(wr, 0, 0, 0, 0);
	fix_symbol(wr, 9, STT_NOTYPE | STB_GLOBAL << 4, FIX_ADDR + 0x240, 0);
	fix_symbol(wr, 5, local_func, FIX_ADDR + 0x200, 0x80);
	fix_symbol(wr, 1, global_func, FIX_ADDR + 0x200, 0x80);
	fix_symbol(wr, 15, global_func, FIX_ADDR + 0x280, 0);
	fix_to(wr, FIX_STRTAB);
	wr_bytes(wr, "\0one\0two\0label\0_Z5threei", 25);
}

static inline void fix_sections(struct wr *wr)
{
	static const char names[] = "\0.text\0.eh_frame_hdr\0.eh_frame\0.symtab\0.strtab";

	fix_to(wr, FIX_SHSTRTAB);
	wr_bytes(wr, names, sizeof(names));
	fix_to(wr, FIX_SHDRS);
	fix_shdr(wr, 0, SHT_NULL, 0, 0, 0, 0);
	fix_shdr(wr, 1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x200, 0x100, 0);
	fix_shdr(wr, 7, SHT_PROGBITS, SHF_ALLOC, FIX_EH_HDR, 12, 0);
	fix_shdr(wr, 21, SHT_PROGBITS, SHF_ALLOC, FIX_EH, FIX_EH_SIZE, 0);
	fix_shdr(wr, 31, SHT_SYMTAB, 0, FIX_SYMTAB, FIX_N_SYMS * 24, 5);
	fix_shdr(wr, 39, SHT_STRTAB, 0, FIX_STRTAB, 25, 0);
	fix_shdr(wr, 39, SHT_STRTAB, 0, FIX_SHSTRTAB, sizeof(names), 0);
}

/* Makes the whole file. The caller frees it with wr_deinit. */
static inline void fix_make(struct wr *wr)
{
	wr_init(wr, false);
	fix_header(wr);
	fix_phdr(wr, PT_LOAD, PF_R | PF_X, 0, FIX_ADDR, 0x800, 0x800);
	fix_phdr(wr, PT_LOAD, PF_R | PF_W, 0x800, FIX_ADDR + 0x1800, 0x100, 0x3000);
	fix_phdr(wr, PT_GNU_EH_FRAME, PF_R, FIX_EH_HDR, FIX_ADDR + FIX_EH_HDR, 12, 12);
	fix_phdr(wr, PT_GNU_STACK, PF_R | PF_W, 0, 0, 0, 0);
	fix_to(wr, FIX_EH_HDR);
	/* Version 1; eh_frame_ptr pcrel sdata4; no table. */
	wr_bytes(wr, "\x01\x1b\xff\xff", 4);
	wr_u32(wr, FIX_EH - FIX_EH_HDR - 4);
	fix_to(wr, FIX_EH);
	wr_u32(wr, 8);
	wr_zeros(wr, 8);
	wr_u32(wr, 0);
	for (int i = 0; i < 16; i++)
		wr_u8(wr, 0xee);
	fix_symbols(wr);
	fix_sections(wr);
	ck_assert_uint_eq(wr->size, FIX_SIZE);
}

/* Opens size bytes as a file. */
static inline bool fix_open(
    const uint8_t *data, size_t size, struct image *image, struct err *err)
{
	char path[64];
	int fd = memfd_create("image", MFD_CLOEXEC);
	bool ok;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq((int)write(fd, data, size), (int)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	*err = (struct err){0};
	ok = image_open(path, image, err);
	close(fd);
	return ok;
}

#endif
