/* SPDX-License-Identifier: MIT */
/*
 * .debug_frame in a file. It is not loaded, so tools may compress it: by the gABI
 * (SHF_COMPRESSED), or as binutils did before (.zdebug_frame). zlib and zstd are called
 * themselves, because libelf keeps what it decompresses, and not every release knows zstd.
 */
#include <inttypes.h>
#include <string.h>

#include <zlib.h>

#include "base/rd.h"
#include "config.h"
#include "gen/elf/image.h"

#if EH2SFRAME_ZSTD
#include <zstd.h>
#endif

/* zlib cannot shrink anything more than this; zstd can, but no CFI is that regular. So the
 * memory is bounded by the file's size. */
enum { MAX_RATIO = 1032 };

/* Not in Debian 12's elf.h. */
enum { CHDR_ZSTD = 2 };

enum { CHDR_SIZE = 24, ZDEBUG_SIZE = 12 };

static bool is_zdebug(const struct image_section *section)
{
	return strcmp(section->name, ".zdebug_frame") == 0;
}

bool image_is_debug_frame(const struct image_section *section)
{
	return (strcmp(section->name, ".debug_frame") == 0 || is_zdebug(section)) &&
	       section->hdr.sh_type == SHT_PROGBITS && section->hdr.sh_size;
}

/* Says which section it is before what is wrong with it. */
static bool debug_frame_blame(const struct image *image, size_t i, struct err *err)
{
	const struct image_section *section = &image->sections[i];

	return err_prefix(err,
	    "%s (section %zu, 0x%" PRIx64 " bytes at offset 0x%" PRIx64 ")",
	    section->name, i, section->hdr.sh_size, section->hdr.sh_offset);
}

/* Reads the header of a compressed section; rd stands behind it. */
static bool read_packing(struct rd *rd, bool zdebug, struct image_debug_frame *frame,
    uint64_t *size, struct err *err)
{
	uint32_t type;

	if (zdebug) {
		const uint8_t *magic = rd_skip(rd, 4);

		rd->big_endian = true;
		*size = rd_u64(rd);
		frame->packing = IMAGE_ZLIB;
		return (!rd->failed && memcmp(magic, "ZLIB", 4) == 0) ||
		       err_set(err, ERR_MALFORMED, "does not begin with ZLIB and a size");
	}
	type = rd_u32(rd);
	rd_skip(rd, 4);
	*size = rd_u64(rd);
	rd_skip(rd, 8);
	if (rd->failed)
		return err_set(err, ERR_MALFORMED,
		    "is smaller than the header of a compressed section");
	if (type != ELFCOMPRESS_ZLIB && type != CHDR_ZSTD)
		return err_set(err, ERR_UNSUPPORTED,
		    "has the unknown compression type %" PRIu32, type);
	frame->packing = type == CHDR_ZSTD ? IMAGE_ZSTD : IMAGE_ZLIB;
	if (frame->packing == IMAGE_ZSTD && !EH2SFRAME_ZSTD)
		return err_set(err, ERR_UNSUPPORTED,
		    "is compressed with zstd, which this build cannot read; run objcopy "
		    "--decompress-debug-sections");
	return true;
}

static bool debug_frame_at(const struct image_section *section, bool big_endian,
    struct image_debug_frame *frame, struct err *err)
{
	uint64_t size;
	struct rd rd;

	if (!section->data)
		return err_set(err, ERR_MALFORMED,
		    "reaches past the end of the file; rebuild the file");
	frame->bytes = section->data;
	frame->size = frame->stored = (size_t)section->hdr.sh_size;
	if (!(section->hdr.sh_flags & SHF_COMPRESSED) && !is_zdebug(section))
		return true;
	rd_init(&rd, section->data, frame->stored, big_endian);
	if (!read_packing(&rd, is_zdebug(section), frame, &size, err))
		return false;
	frame->bytes += rd.pos;
	frame->stored -= rd.pos;
	if (size / MAX_RATIO > frame->stored)
		return err_set(err, ERR_MALFORMED,
		    "cannot have 0x%" PRIx64 " bytes when it is decompressed", size);
	frame->size = (size_t)size;
	return true;
}

bool image_debug_frame_at(
    const struct image *image, size_t i, struct image_debug_frame *frame, struct err *err)
{
	*frame = (struct image_debug_frame){.index = i};
	if (debug_frame_at(&image->sections[i], image->big_endian, frame, err))
		return true;
	frame->size = 0;
	return debug_frame_blame(image, i, err);
}

/* objcopy --only-keep-debug leaves code without bytes. */
bool image_is_debug_only(const struct image *image)
{
	bool found = false;

	for (size_t i = 0; i < image->n_sections; i++) {
		const GElf_Shdr *hdr = &image->sections[i].hdr;

		if (!(hdr->sh_flags & SHF_ALLOC) || !(hdr->sh_flags & SHF_EXECINSTR))
			continue;
		/* A program may have room for code of its own, too. */
		if (hdr->sh_type != SHT_NOBITS && hdr->sh_size)
			return false;
		found |= hdr->sh_type == SHT_NOBITS;
	}
	return found;
}

/* NULL when the stream is complete and of the size that the header says. */
static const char *unpack(const struct image_debug_frame *frame, uint8_t *to)
{
#if EH2SFRAME_ZSTD
	if (frame->packing == IMAGE_ZSTD) {
		size_t n = ZSTD_decompress(to, frame->size, frame->bytes, frame->stored);

		return ZSTD_isError(n)	  ? ZSTD_getErrorName(n)
		       : n != frame->size ? "it has fewer bytes than its header says"
					  : NULL;
	}
#endif
	uLongf size = frame->size;
	int status = uncompress(to, &size, frame->bytes, frame->stored);

	if (status != Z_OK)
		return status == Z_BUF_ERROR
			   ? "it has more bytes than its header says, or it "
			     "is cut off"
			   : "the data is damaged";
	return size == frame->size ? NULL : "it has fewer bytes than its header says";
}

bool image_debug_frame_read(const struct image *image,
    const struct image_debug_frame *frame, uint8_t *to, struct err *err)
{
	const char *why;

	if (frame->packing == IMAGE_PLAIN) {
		memcpy(to, frame->bytes, frame->size);
		return true;
	}
	why = unpack(frame, to);
	if (!why)
		return true;
	err_set(err, ERR_MALFORMED, "cannot be decompressed: %s", why);
	return debug_frame_blame(image, frame->index, err);
}
