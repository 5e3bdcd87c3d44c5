/* SPDX-License-Identifier: MIT */
/* Writes what gen/insert/plan.c planned: the body by copying, then the few new bytes. */
#include "gen/insert/insert_internal.h"

/* The last three are for the method "grow", and in the order of the file. */
enum {
	PART_EHDR,
	PART_PHDRS,
	PART_TAIL,
	PART_SLIDE,
	PART_DYNAMIC,
	PART_SYMBOLS,
	N_PARTS
};

/*
 * Over the header and both tables as they are in the output, and the record. Not over the
 * section's bytes and the program's, which may be edited in place without harm to the way
 * back. The record's own hash is 0 while it is computed.
 */
static void seal(struct wr *parts, const struct insert_plan *plan)
{
	size_t at = (size_t)(plan->record_off - plan->tail_off + plan->record_size) -
		    INSERT_FOOTER_SIZE + INSERT_FOOTER_HASH;
	uint64_t hash = INSERT_HASH_START;

	for (size_t i = 0; i < N_PARTS; i++)
		hash = insert_record_hash(hash, parts[i].data, parts[i].size);
	wr_patch_u64(&parts[PART_TAIL], at, hash);
}

/* The grown name table, the undo record, the section header table. */
static void put_tail(struct wr *wr, const struct image *image,
    const struct insert_slots *slots, const struct insert_plan *plan)
{
	if (slots->names != INSERT_NONE) {
		const struct image_section *old = &image->sections[slots->names];

		wr_bytes(wr, old->data, (size_t)old->hdr.sh_size);
		wr_u8(wr, 0);
		wr_bytes(wr, ".phdrs", sizeof(".phdrs"));
		wr_bytes(wr, ".sframe", sizeof(".sframe"));
		wr_bytes(wr, ".eh2sframe", sizeof(".eh2sframe"));
	}
	if (wr->failed)
		return;
	wr_zeros(wr, (size_t)(plan->record_off - plan->tail_off) - wr->size);
	insert_record_encode(wr, image, plan);
	insert_put_shdrs(wr, image, slots, plan);
}

bool insert_body(const struct image *image, int fd, struct err *err)
{
	if (!insert_copy(image, image->size, fd, err))
		return false;
	/* The file behind the image may be one that this program has converted before. */
	for (size_t i = 0; i < image->n_restored; i++)
		if (!insert_at(fd, image->bytes + image->restored[i].off,
			image->restored[i].size, image->restored[i].off, err))
			return false;
	return true;
}

static bool insert_lifted(
    const struct image *image, const struct insert_plan *plan, int fd, struct err *err)
{
	for (size_t i = 0; i < plan->grow.n_moves; i++) {
		const struct insert_move *move = &plan->grow.moves[i];

		if (move->lifted &&
		    !insert_at(fd, image->bytes + move->off, (size_t)move->size,
			plan->segment_off + move->to, err))
			return false;
	}
	return true;
}

/*
 * The header last: until then the file is the input with bytes behind it. Gaps are never
 * written: they are holes, which read as zeros.
 */
static bool insert_parts(const struct image *image, const struct insert_plan *plan,
    const struct wr *parts, const uint8_t *sframe, int fd, struct err *err)
{
	const struct insert_grow *grow = &plan->grow;

	return insert_lifted(image, plan, fd, err) &&
	       insert_at(fd, parts[PART_SLIDE].data, parts[PART_SLIDE].size,
		   grow->slide_off, err) &&
	       insert_at(fd, parts[PART_DYNAMIC].data, parts[PART_DYNAMIC].size,
		   grow->dynamic_off, err) &&
	       insert_at(fd, parts[PART_SYMBOLS].data, parts[PART_SYMBOLS].size,
		   grow->symbols_off, err) &&
	       insert_at(fd, parts[PART_PHDRS].data, parts[PART_PHDRS].size,
		   plan->phdr_off, err) &&
	       insert_at(fd, sframe, (size_t)plan->sframe_size, plan->sframe_off, err) &&
	       insert_at(fd, parts[PART_TAIL].data, parts[PART_TAIL].size, plan->tail_off,
		   err) &&
	       insert_at(fd, parts[PART_EHDR].data, parts[PART_EHDR].size, 0, err);
}

/* What slides, and what leads to all that moves. */
static void put_grow(
    struct wr *parts, const struct image *image, const struct insert_plan *plan)
{
	const struct insert_grow *grow = &plan->grow;
	struct wr *slide = &parts[PART_SLIDE];

	for (size_t i = 0; i < grow->n_moves; i++) {
		const struct insert_move *move = &grow->moves[i];

		if (move->lifted)
			continue;
		wr_zeros(slide, (size_t)(move->to - grow->slide_off) - slide->size);
		wr_bytes(slide, image->bytes + move->off, (size_t)move->size);
	}
	insert_put_dynamic(&parts[PART_DYNAMIC], image, plan);
	if (grow->symbols_size)
		insert_put_symbols(&parts[PART_SYMBOLS], image, plan);
}

/* Everything small is made in memory first, so that running out of it leaves the file
 * untouched. */
bool insert_image(const struct image *image, const struct insert_plan *plan,
    const uint8_t *sframe, int fd, struct err *err)
{
	struct insert_slots slots;
	struct wr parts[N_PARTS];
	bool ok = false, failed = false;

	if (!insert_slots_find(image, &slots, err))
		return false;
	for (size_t i = 0; i < N_PARTS; i++)
		wr_init(&parts[i], image->big_endian);
	insert_put_header(&parts[PART_EHDR], image, plan);
	insert_put_phdrs(&parts[PART_PHDRS], image, &slots, plan);
	put_tail(&parts[PART_TAIL], image, &slots, plan);
	put_grow(parts, image, plan);
	for (size_t i = 0; i < N_PARTS; i++)
		failed |= parts[i].failed;
	if (failed) {
		err_set_nomem(err);
	} else {
		seal(parts, plan);
		ok = insert_parts(image, plan, parts, sframe, fd, err);
	}
	for (size_t i = 0; i < N_PARTS; i++)
		wr_deinit(&parts[i]);
	return ok;
}
