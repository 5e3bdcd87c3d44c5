/* SPDX-License-Identifier: MIT */
/* Finds the record of an insertion, decides whether it still leads back, and follows it.
 */
#include "gen/undo.h"

#include <inttypes.h>
#include <string.h>

#include "base/num.h"
#include "base/rd.h"
#include "gen/write_parts.h"

_Static_assert(sizeof(((struct undo *)0)->ehdr) == WRITE_EHDR_SIZE, "one ELF header");

/* Offsets come from the file, so each is compared with its size. */
static bool record_at(
	const struct image *image, uint64_t off, struct write_record *record)
{
	return num_range_inside(off, WRITE_RECORD_SIZE, image->size) &&
	       write_record_decode(image->bytes + off, image->big_endian, record);
}

/* Where write_image puts it: as far before the program header table as that is long. */
static uint64_t record_off(const struct image *image)
{
	return image->ehdr.e_phoff - image->n_phdrs * WRITE_PHDR_SIZE;
}

static bool record_in_place(const struct image *image, struct write_record *record)
{
	uint64_t gap = image->n_phdrs * WRITE_PHDR_SIZE;

	return gap >= WRITE_RECORD_SIZE && gap <= image->ehdr.e_phoff &&
	       record_at(image, record_off(image), record);
}

/* A tool that moved the program header table may have left the segment's start alone. */
static bool record_elsewhere(const struct image *image)
{
	struct write_record record;

	for (size_t i = 0; i < image->n_phdrs; i++)
		if (image->phdrs[i].p_type == PT_LOAD &&
			record_at(image, image->phdrs[i].p_offset, &record))
			return true;
	return false;
}

/* strip and objcopy keep sections but not what stands between them, so not the record. */
static bool has_traces(const struct image *image)
{
	bool phdrs = false, sframe = false;

	for (size_t i = 0; i < image->n_sections; i++) {
		phdrs |= strcmp(image->sections[i].name, ".phdrs") == 0;
		sframe |= image_is_sframe(&image->sections[i]);
	}
	return phdrs && sframe;
}

/* A tool that rewrites a file always touches one of these: the size, the header or a
 * table. */
static bool tables_unchanged(const struct image *image, const struct write_record *record)
{
	uint64_t hash = WRITE_HASH_START;

	if (record->new_size != image->size || record->tail_off > image->size)
		return false;
	hash = write_record_hash(hash, image->bytes, WRITE_EHDR_SIZE);
	hash = write_record_hash(hash, image->bytes + image->ehdr.e_phoff,
		image->n_phdrs * WRITE_PHDR_SIZE);
	hash = write_record_hash(hash, image->bytes + record->tail_off,
		(size_t)(image->size - record->tail_off));
	return write_record_seal(hash, image->bytes + record_off(image)) == record->hash;
}

/* The old header must be one of this very file that a cut to the old size leaves whole.
 */
static bool leads_back(const struct image *image, const struct write_record *record)
{
	struct rd rd;
	uint64_t phoff, shoff, phdrs_size, shdrs_size;

	if (memcmp(record->ehdr, image->bytes, WRITE_E_PHOFF) != 0)
		return false;
	rd_init(&rd, record->ehdr, WRITE_EHDR_SIZE, image->big_endian);
	rd_skip(&rd, WRITE_E_PHOFF);
	phoff = rd_u64(&rd);
	shoff = rd_u64(&rd);
	rd_skip(&rd, WRITE_E_PHNUM - WRITE_E_PHOFF - 16);
	phdrs_size = (uint64_t)rd_u16(&rd) * WRITE_PHDR_SIZE;
	rd_skip(&rd, WRITE_E_SHNUM - WRITE_E_PHNUM - 2);
	shdrs_size = (uint64_t)rd_u16(&rd) * WRITE_SHDR_SIZE;
	return record->old_size >= WRITE_EHDR_SIZE &&
	       record->old_size < record->tail_off &&
	       num_range_inside(phoff, phdrs_size, record->old_size) &&
	       num_range_inside(shoff, shdrs_size, record->old_size);
}

/* No record and no trace is not an error: most files were never converted. */
bool undo_find(const struct image *image, struct undo *undo, bool *found, struct err *err)
{
	struct write_record record;

	*found = false;
	if (!record_in_place(image, &record)) {
		if (record_elsewhere(image) || has_traces(image))
			return err_set(err, ERR_UNSUPPORTED,
				"the section was put in by this program, but the file "
				"was rewritten "
				"since (strip, objcopy or the like), so the way back is "
				"lost");
		return true;
	}
	if (!tables_unchanged(image, &record) || !leads_back(image, &record))
		return err_set(err, ERR_UNSUPPORTED,
			"the header tables were changed since the section was put in, so "
			"the record "
			"at offset 0x%" PRIx64 " no longer leads back",
			record_off(image));
	undo->size = record.old_size;
	memcpy(undo->ehdr, record.ehdr, sizeof(undo->ehdr));
	*found = true;
	return true;
}

/*
 * The header is written over the copied one: a file cut off halfway is not mistaken for
 * whole, because its caller renames only what was finished.
 */
bool undo_write(
	const struct image *image, const struct undo *undo, int fd, struct err *err)
{
	return write_copy(image, undo->size, fd, err) &&
	       write_at(fd, undo->ehdr, sizeof(undo->ehdr), 0, err);
}
