/* SPDX-License-Identifier: MIT */
/* Finds the record of an insertion, decides whether it still leads back, and follows it.
 */
#include "base/newfile.h"
#include "gen/insert/undo.h"

#include <string.h>

#include "base/num.h"
#include "base/rd.h"
#include "gen/insert/internal.h"

/* Offset at which insert_image ends the record: at the section headers, or at the end of the file. */
static uint64_t footer_off(const struct image *image)
{
	uint64_t end = image->ehdr.e_shoff ? image->ehdr.e_shoff : image->size;

	return end < INSERT_FOOTER_SIZE ? 0 : end - INSERT_FOOTER_SIZE;
}

static bool read_footer(
    const struct image *image, struct insert_footer *footer, bool *found, struct err *err)
{
	uint64_t off = footer_off(image);

	*found = false;
	if (!off || !num_range_inside(off, INSERT_FOOTER_SIZE, image->size))
		return true;
	if (!image_own(image, image->bytes + off, INSERT_FOOTER_SIZE, err))
		return false;
	*found = insert_footer_decode(image->bytes + off, image->big_endian, footer);
	return !*found || footer->ranges_size > off ||
	       image_own(image, image->bytes + off - footer->ranges_size,
		   footer->ranges_size, err);
}

/*
 * strip and objcopy may keep the section that the record is in, but it is at the section
 * headers no more; those that drop it may keep .phdrs.
 */
static bool has_traces(const struct image *image)
{
	bool phdrs = false, sframe = false, record = false;

	for (size_t i = 0; i < image->n_sections; i++) {
		phdrs |= strcmp(image->sections[i].name, ".phdrs") == 0;
		record |= strcmp(image->sections[i].name, ".eh2sframe") == 0;
		sframe |= image_is_sframe(&image->sections[i]);
	}
	return record || (phdrs && sframe);
}

bool undo_next(const struct undo *undo, size_t *pos, struct image_patch *range)
{
	uint64_t size, stored;
	struct rd rd;

	rd_init(&rd, undo->ranges, undo->ranges_size, undo->big_endian);
	rd_seek(&rd, *pos);
	range->off = rd_u64(&rd);
	size = rd_u64(&rd);
	stored = rd_u64(&rd);
	if (rd.failed || !size || !num_range_inside(range->off, size, undo->size) ||
	    (stored && stored != size) || !num_size(size, &range->size))
		return false;
	range->data = stored ? rd_skip(&rd, stored) : NULL;
	*pos = rd.pos;
	return !rd.failed;
}

/*
 * Hashes the other ranges that undoing would put back. A tool may have edited them since
 * (chrpath changes .dynamic).
 */
static uint64_t hash_ranges(
    uint64_t hash, const struct image *image, const struct undo *undo)
{
	struct image_patch range;
	size_t pos = 0;

	for (size_t i = 0; i < undo->n_ranges && undo_next(undo, &pos, &range); i++) {
		bool known = !range.off || range.off == image->ehdr.e_phoff;

		for (size_t k = 0; k < image->n_phdrs; k++)
			known |= image->phdrs[k].p_type == IMAGE_PT_GNU_SFRAME &&
				 image->phdrs[k].p_offset == range.off;
		if (!known)
			hash = insert_record_hash(
			    hash, image->bytes + range.off, range.size);
	}
	return hash;
}

/* Size of the file without the signature of a module that was signed afterwards. It is
 * behind all else, and nothing else changes then. */
static uint64_t unsigned_size(const struct image *image)
{
	struct err ignored = {0};
	size_t signature;

	if (image->ehdr.e_type != ET_REL || !image_signature(image, &signature, &ignored))
		return image->size;
	return image->size - signature;
}

/* A tool that rewrites a file always touches one of these: the size, the header or a
 * table. */
static bool tables_unchanged(const struct image *image,
    const struct insert_footer *footer, const struct undo *undo)
{
	static const uint8_t no_hash[sizeof(uint64_t)];
	uint64_t at = footer_off(image) + INSERT_FOOTER_HASH, hash = INSERT_HASH_START,
		 size = unsigned_size(image);

	if (footer->new_size != size || footer->tail_off > at)
		return false;
	hash = insert_record_hash(hash, image->bytes, INSERT_EHDR_SIZE);
	/* Without entries the offset may be anything. */
	if (image->n_phdrs)
		hash = insert_record_hash(hash, image->bytes + image->ehdr.e_phoff,
		    image->n_phdrs * INSERT_PHDR_SIZE);
	hash = insert_record_hash(
	    hash, image->bytes + footer->tail_off, (size_t)(at - footer->tail_off));
	hash = insert_record_hash(hash, no_hash, sizeof(no_hash));
	at += sizeof(no_hash);
	if (at > size)
		return false;
	hash = insert_record_hash(hash, image->bytes + at, (size_t)(size - at));
	hash = hash_ranges(hash, image, undo);
	return hash == footer->hash;
}

/*
 * True if all ranges are there, in order; the first is the ELF header, and it must be one
 * of this very file, whose tables a cut to the old size leaves whole.
 */
static bool leads_back(const struct image *image, const struct undo *undo)
{
	struct image_patch range;
	uint64_t phoff, shoff, phdrs_size, shdrs_size, end = 0;
	const uint8_t *ehdr = NULL;
	uint16_t n_phdrs;
	size_t pos = 0;
	struct rd rd;

	for (size_t i = 0; i < undo->n_ranges; i++) {
		if (i >= INSERT_MAX_RANGES || !undo_next(undo, &pos, &range) ||
		    range.off < end)
			return false;
		if (!i && (range.off || range.size != INSERT_EHDR_SIZE))
			return false;
		if (!i)
			ehdr = range.data;
		end = range.off + range.size;
	}
	if (!ehdr || memcmp(ehdr, image->bytes, INSERT_E_PHOFF) != 0)
		return false;
	rd_init(&rd, ehdr, INSERT_EHDR_SIZE, image->big_endian);
	rd_skip(&rd, INSERT_E_PHOFF);
	phoff = rd_u64(&rd);
	shoff = rd_u64(&rd);
	rd_skip(&rd, INSERT_E_PHNUM - INSERT_E_PHOFF - 16);
	n_phdrs = rd_u16(&rd);
	/* With PN_XNUM the number is in the first section header. */
	phdrs_size = n_phdrs == PN_XNUM ? 0 : (uint64_t)n_phdrs * INSERT_PHDR_SIZE;
	rd_skip(&rd, INSERT_E_SHNUM - INSERT_E_PHNUM - 2);
	shdrs_size = (uint64_t)rd_u16(&rd) * INSERT_SHDR_SIZE;
	/* Without entries the offset may be anything. */
	return (!n_phdrs || num_range_inside(phoff, phdrs_size, undo->size)) &&
	       num_range_inside(shoff, shdrs_size, undo->size);
}

/* The record's ranges stand before the footer and behind the original file. */
static bool open_record(
    const struct image *image, const struct insert_footer *footer, struct undo *undo)
{
	uint64_t off = footer_off(image);

	if (footer->ranges_size > off || footer->n_ranges > INSERT_MAX_RANGES ||
	    footer->old_size < INSERT_EHDR_SIZE || footer->old_size > footer->tail_off ||
	    footer->tail_off > off - footer->ranges_size)
		return false;
	*undo = (struct undo){.size = footer->old_size,
	    .ranges = image->bytes + off - footer->ranges_size,
	    .ranges_size = (size_t)footer->ranges_size,
	    .n_ranges = (size_t)footer->n_ranges,
	    .big_endian = image->big_endian};
	return leads_back(image, undo);
}

/* No record and no trace is not an error: most files were never converted. */
bool undo_find(const struct image *image, struct undo *undo, bool *found, struct err *err)
{
	struct insert_footer footer;
	bool record;

	*found = false;
	*undo = (struct undo){0};
	if (!read_footer(image, &footer, &record, err))
		return false;
	*found = record && open_record(image, &footer, undo) &&
		 tables_unchanged(image, &footer, undo);
	if (*found || (!record && !has_traces(image)))
		return true;
	return err_set(err, ERR_UNSUPPORTED,
	    "another tool has rewritten the file since, so the record in .eh2sframe is"
	    " void; %sobjcopy --remove-section .sframe FILE NEW removes the "
	    "section",
	    insert_refuse(image, err) ? "--refresh replaces the section, " : "");
}

size_t undo_patches(
    const struct undo *undo, struct image_patch patches[IMAGE_MAX_RESTORED])
{
	size_t pos = 0, n = 0;

	while (n < undo->n_ranges && n < IMAGE_MAX_RESTORED &&
	       undo_next(undo, &pos, &patches[n]))
		n++;
	return n;
}

static bool write_zeros(int fd, size_t size, uint64_t off, struct err *err)
{
	static const uint8_t zeros[INSERT_MIN_PAGE];

	while (size) {
		size_t part = size < sizeof(zeros) ? size : sizeof(zeros);

		if (!newfile_write_at(fd, zeros, part, off, err))
			return false;
		off += part;
		size -= part;
	}
	return true;
}

/*
 * The ranges are written over the copied bytes: a file cut off halfway is not mistaken
 * for whole, because its caller renames only what was finished.
 */
bool undo_write(
    const struct image *image, const struct undo *undo, int fd, struct err *err)
{
	struct image_patch range;
	size_t pos = 0;

	if (!insert_copy(image, undo->size, fd, err))
		return false;
	for (size_t i = 0; i < undo->n_ranges && undo_next(undo, &pos, &range); i++)
		if (!(range.data
			    ? newfile_write_at(fd, range.data, range.size, range.off, err)
			    : write_zeros(fd, range.size, range.off, err)))
			return false;
	return true;
}
