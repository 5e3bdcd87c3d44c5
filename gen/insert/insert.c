/* SPDX-License-Identifier: MIT */
/* Writes what gen/insert/plan.c planned: the body by copying, then the few new bytes. */
#include "gen/insert/internal.h"

#include "base/newfile.h"

/* The last three are for the method "grow", and in the order of the file. */
enum {
	BUFFER_EHDR,
	BUFFER_PHDRS,
	BUFFER_TAIL,
	BUFFER_SHIFTED,
	BUFFER_DYNAMIC,
	BUFFER_SYMBOLS,
	N_BUFFERS
};

/*
 * Hashes the header and both tables as they are in the output, the record, and what stands elsewhere
 * than before. Not the section's bytes and the program's others, which may be edited in place without
 * harm to the way back. The record's own hash is 0 while it is computed.
 */
static void insert_seal(struct wr *buffers, const struct insert_plan *plan)
{
	size_t at = (size_t)(plan->record_off - plan->tail_off + plan->record_size) -
		    INSERT_FOOTER_SIZE + INSERT_FOOTER_HASH;
	uint64_t hash = INSERT_HASH_START;

	for (size_t i = 0; i < N_BUFFERS; i++)
		hash = insert_record_hash(hash, buffers[i].data, buffers[i].size);
	wr_patch_u64(&buffers[BUFFER_TAIL], at, hash);
}

/* Appends what moves, to the first page or to the segment. */
static void insert_put_moves(struct wr *wr, const struct image *image,
    const struct insert_grow *grow, bool to_segment, uint64_t start)
{
	for (size_t i = 0; i < grow->n_moves; i++) {
		const struct insert_move *move = &grow->moves[i];

		if (move->to_segment != to_segment)
			continue;
		wr_zeros(wr, (size_t)(move->to - start) - wr->size);
		wr_bytes(wr, image->bytes + move->off, (size_t)move->size);
	}
}

/* Appends the moved bytes, the grown name table, the undo record and the section header table. */
static void insert_put_tail(struct wr *wr, const struct image *image,
    const struct insert_slots *slots, const struct insert_plan *plan)
{
	insert_put_moves(
	    wr, image, &plan->grow, true, plan->tail_off - plan->segment_off);
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
	/* An input that this program has converted before gets its old bytes back first. */
	for (size_t i = 0; i < image->n_restored; i++)
		if (!newfile_write_at(fd, image->bytes + image->restored[i].off,
			image->restored[i].size, image->restored[i].off, err))
			return false;
	return true;
}

/*
 * Writes the header last: until then the file is the input with bytes behind it. Gaps are
 * never written: they are holes, which read as zeros.
 */
static bool insert_buffers(const struct insert_plan *plan, const struct wr *buffers,
    const uint8_t *sframe, int fd, struct err *err)
{
	const struct insert_grow *grow = &plan->grow;

	return newfile_write_at(fd, buffers[BUFFER_SHIFTED].data,
		   buffers[BUFFER_SHIFTED].size, grow->shifted_off, err) &&
	       newfile_write_at(fd, buffers[BUFFER_DYNAMIC].data,
		   buffers[BUFFER_DYNAMIC].size, grow->dynamic_off, err) &&
	       newfile_write_at(fd, buffers[BUFFER_SYMBOLS].data,
		   buffers[BUFFER_SYMBOLS].size, grow->symbols_off, err) &&
	       newfile_write_at(fd, buffers[BUFFER_PHDRS].data,
		   buffers[BUFFER_PHDRS].size, plan->phdr_off, err) &&
	       newfile_write_at(
		   fd, sframe, (size_t)plan->sframe_size, plan->sframe_off, err) &&
	       newfile_write_at(fd, buffers[BUFFER_TAIL].data, buffers[BUFFER_TAIL].size,
		   plan->tail_off, err) &&
	       newfile_write_at(
		   fd, buffers[BUFFER_EHDR].data, buffers[BUFFER_EHDR].size, 0, err);
}

/* Puts what shifts, and all references to what moves, into the buffers. */
static void insert_put_grow(
    struct wr *buffers, const struct image *image, const struct insert_plan *plan)
{
	const struct insert_grow *grow = &plan->grow;
	struct wr *shifted = &buffers[BUFFER_SHIFTED];

	insert_put_moves(shifted, image, grow, false, grow->shifted_off);
	wr_zeros(shifted, (size_t)(grow->unused - grow->shifted_off) - shifted->size);
	insert_put_dynamic(&buffers[BUFFER_DYNAMIC], image, plan);
	if (grow->symbols_size)
		insert_put_symbols(&buffers[BUFFER_SYMBOLS], image, plan);
}

/* Everything small is made in memory first, so that running out of it leaves the file
 * untouched. */
bool insert_image(const struct image *image, const struct insert_plan *plan,
    const uint8_t *sframe, int fd, struct err *err)
{
	struct insert_slots slots;
	struct wr buffers[N_BUFFERS];
	bool ok = false, failed = false;

	if (!insert_slots_find(image, &slots, err))
		return false;
	for (size_t i = 0; i < N_BUFFERS; i++)
		wr_init(&buffers[i], image->big_endian);
	insert_put_header(&buffers[BUFFER_EHDR], image, plan);
	insert_put_phdrs(&buffers[BUFFER_PHDRS], image, &slots, plan);
	insert_put_tail(&buffers[BUFFER_TAIL], image, &slots, plan);
	insert_put_grow(buffers, image, plan);
	for (size_t i = 0; i < N_BUFFERS; i++)
		failed |= buffers[i].failed;
	if (failed) {
		err_set_nomem(err);
	} else {
		insert_seal(buffers, plan);
		ok = insert_buffers(plan, buffers, sframe, fd, err);
	}
	for (size_t i = 0; i < N_BUFFERS; i++)
		wr_deinit(&buffers[i]);
	return ok;
}
