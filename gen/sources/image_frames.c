/* SPDX-License-Identifier: MIT */
/* Makes the headers of a program around CFI. */
#include "gen/sources/image_frames.h"

#include <elf.h>
#include <inttypes.h>

#include "cfi/frames.h"

/* The section name table, and where the names are in it. */
static const char NAMES[] = "\0.text\0.eh_frame\0.shstrtab";
enum { NAME_TEXT = 1, NAME_EH_FRAME = 7, NAME_NAMES = 17, N_SECTIONS = 4 };

/* Offset of .eh_frame: behind both headers. Names and section headers follow. */
enum { FRAMES_AT = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) };

/* Finds the code that FDEs describe, where the caller did not say it. */
static bool frames_text(struct image_frames *frames, struct err *err)
{
	struct cfi_frames read;

	if (!cfi_frames_read(&frames->cfi, &read, err))
		return false;
	for (size_t i = 0; i < read.n_fdes; i++) {
		const struct cfi_fde *fde = &read.fdes[i];

		if (i == 0 || fde->pc < frames->text_start)
			frames->text_start = fde->pc;
		if (i == 0 || fde->pc + fde->range > frames->text_end)
			frames->text_end = fde->pc + fde->range;
	}
	if (read.n_fdes == 0 && read.n_diags > 0)
		err_set(err, ERR_MALFORMED,
		    "no FDE can be read; the first problem: %s, .eh_frame+0x%" PRIx64,
		    read.diags[0].text, read.diags[0].off);
	else if (read.n_fdes == 0)
		err_set(err, ERR_NOTHING, "no CFI: no FDE, nothing to do");
	cfi_frames_deinit(&read);
	return frames->text_end > frames->text_start;
}

static void frames_header(
    const struct image_frames *frames, uint64_t shoff, struct wr *wr)
{
	const uint8_t ident[EI_NIDENT] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
	    wr->big_endian ? ELFDATA2MSB : ELFDATA2LSB, EV_CURRENT};

	wr_bytes(wr, ident, sizeof(ident));
	wr_u16(wr, ET_EXEC);
	wr_u16(wr, frames->machine);
	wr_u32(wr, EV_CURRENT);
	wr_u64(wr, 0); /* entry */
	wr_u64(wr, sizeof(Elf64_Ehdr));
	wr_u64(wr, shoff);
	wr_u32(wr, 0); /* flags */
	wr_u16(wr, sizeof(Elf64_Ehdr));
	wr_u16(wr, sizeof(Elf64_Phdr));
	wr_u16(wr, 1);
	wr_u16(wr, sizeof(Elf64_Shdr));
	wr_u16(wr, N_SECTIONS);
	wr_u16(wr, N_SECTIONS - 1);
	/* The segment of the code, of which the file has no byte. */
	wr_u32(wr, PT_LOAD);
	wr_u32(wr, PF_R | PF_X);
	wr_u64(wr, 0);
	wr_u64(wr, frames->text_start);
	wr_u64(wr, frames->text_start);
	wr_u64(wr, 0);
	wr_u64(wr, frames->text_end - frames->text_start);
	wr_u64(wr, 1);
}

static void frames_section(struct wr *wr, uint32_t name, uint32_t type, uint64_t flags,
    uint64_t address, uint64_t offset, uint64_t size)
{
	wr_u32(wr, name);
	wr_u32(wr, type);
	wr_u64(wr, flags);
	wr_u64(wr, address);
	wr_u64(wr, offset);
	wr_u64(wr, size);
	wr_u64(wr, 0); /* link, info */
	wr_u64(wr, 1); /* alignment */
	wr_u64(wr, 0); /* size of entries */
}

bool image_frames_make(struct image_frames *frames, struct wr *bytes, struct err *err)
{
	const struct cfi_section *cfi = &frames->cfi;
	uint64_t size = cfi->size, names = FRAMES_AT + size, shoff;

	if (frames->text_start == 0 && frames->text_end == 0 && !frames_text(frames, err))
		return false;
	if (frames->text_end <= frames->text_start || cfi->addr > UINT64_MAX - size)
		return err_set(err, ERR_USAGE,
		    "code from 0x%" PRIx64 " to 0x%" PRIx64 ", %" PRIu64
		    " bytes of .eh_frame at 0x%" PRIx64 ": the addresses do not ascend",
		    frames->text_start, frames->text_end, size, cfi->addr);
	shoff = (names + sizeof(NAMES) + 7) & ~UINT64_C(7);
	wr_init(bytes, cfi->big_endian);
	frames_header(frames, shoff, bytes);
	wr_bytes(bytes, cfi->data, cfi->size);
	wr_bytes(bytes, NAMES, sizeof(NAMES));
	wr_zeros(bytes, (size_t)(shoff - names - sizeof(NAMES)));
	frames_section(bytes, 0, SHT_NULL, 0, 0, 0, 0);
	frames_section(bytes, NAME_TEXT, SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR,
	    frames->text_start, FRAMES_AT, frames->text_end - frames->text_start);
	frames_section(
	    bytes, NAME_EH_FRAME, SHT_PROGBITS, SHF_ALLOC, cfi->addr, FRAMES_AT, size);
	frames_section(bytes, NAME_NAMES, SHT_STRTAB, 0, 0, names, sizeof(NAMES));
	return !bytes->failed || err_set_nomem(err);
}
