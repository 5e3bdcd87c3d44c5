/* SPDX-License-Identifier: MIT */
/*
 * The walk over .eh_frame and .debug_frame. Two passes over the record headers: the first
 * reads the CIEs, the second the FDEs, so that an FDE may precede its CIE and a CIE pointer
 * is only ever looked up among real record starts.
 */
#include "cfi/frames_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/hash_slots.h"
#include "base/num.h"
#include "base/rd.h"
#include "base/search.h"
#include "base/vec.h"
#include "cfi/pointer.h"

struct walk {
	struct rd rd; /* up to the end of the part; stands at the next record */
	struct cfi_frames *frames;
	size_t start; /* of the part */
	bool debug;   /* it is in the form of .debug_frame */
	/* Offsets of CIEs that could not be read, ascending: their FDEs are lost, not
	 * damaged. */
	uint64_t *bad_cies;
	size_t n_bad_cies, cap_bad_cies;
	struct slots slots; /* CIEs by what they say */
	uint32_t last_cie;  /* index found by the last look-up; most FDEs share a CIE */
	bool diagnose; /* the first pass is silent, so that diags are in section order */
};

const char *cfi_diag_name(enum cfi_diag_kind kind)
{
	static const char *const names[CFI_N_DIAGS] = {
	    [CFI_DIAG_TRUNCATED] = "truncated",
	    [CFI_DIAG_DWARF64] = "dwarf64",
	    [CFI_DIAG_BAD_CIE] = "bad-cie",
	    [CFI_DIAG_BAD_CIE_PTR] = "bad-cie-pointer",
	    [CFI_DIAG_BAD_FDE] = "bad-fde",
	    [CFI_DIAG_ZERO_RANGE] = "zero-range",
	    [CFI_DIAG_DISCARDED] = "discarded",
	    [CFI_DIAG_TERMINATOR] = "terminator",
	};

	return (unsigned int)kind < CFI_N_DIAGS ? names[kind] : "unknown";
}

/* Counts the diagnostic, and keeps its text while there is room. Losing text for lack
 * of memory does no harm. */
ATTR_PRINTF(4, 5)
static void diag(
    struct walk *w, enum cfi_diag_kind kind, uint64_t off, const char *fmt, ...)
{
	const size_t most = CFI_MAX_DIAGS - (kind > CFI_DIAG_LAST_DAMAGE);
	struct cfi_frames *f = w->frames;
	struct cfi_diag *d;
	va_list ap;

	if (!w->diagnose)
		return;
	f->diag_counts[kind]++;
	if (f->n_diags >= most || !vec_reserve(&f->diags, &f->cap_diags, f->n_diags + 1))
		return;
	d = &f->diags[f->n_diags++];
	d->kind = kind;
	d->off = off;
	va_start(ap, fmt);
	vsnprintf(d->text, sizeof(d->text), fmt, ap);
	va_end(ap);
}

/* Skips a run of zero words; adds a diagnostic when something follows it. */
static void pass_terminator(struct walk *w)
{
	uint64_t off = w->rd.pos;
	const uint8_t *data = w->rd.data;
	size_t size = w->rd.size;

	while (size - w->rd.pos >= 4 && memcmp(data + w->rd.pos, "\0\0\0\0", 4) == 0)
		rd_skip(&w->rd, 4);
	if (size - w->rd.pos >= 4)
		diag(w, CFI_DIAG_TERMINATOR, off, "records follow a zero terminator");
}

/* A 64-bit length: skip the record without reading its contents. */
static bool pass_dwarf64(struct walk *w, uint64_t off)
{
	uint64_t length = rd_u64(&w->rd);

	if (w->rd.failed || !rd_skip(&w->rd, length)) {
		diag(w, CFI_DIAG_TRUNCATED, off,
		    "a 64-bit record passes the end of the section");
		return false;
	}
	diag(w, CFI_DIAG_DWARF64, off, "a 64-bit record, skipped");
	return true;
}

/* Skips what is not a record with contents. False at the end of the section, or where
 * no next record can be found. */
ATTR_NOINLINE static bool pass_odd(struct walk *w)
{
	struct rd *rd = &w->rd;
	uint64_t off = rd->pos;
	uint32_t length;

	if (rd->size - rd->pos < 4) {
		while (!rd_at_end(rd))
			if (rd_u8(rd)) {
				diag(w, CFI_DIAG_TRUNCATED, off,
				    "a record without a length");
				break;
			}
		return false;
	}
	length = rd_u32(rd);
	if (length == 0) {
		rd_seek(rd, off);
		pass_terminator(w);
		return true;
	}
	if (length == UINT32_MAX)
		return pass_dwarf64(w, off);
	if (length > rd->size - rd->pos) {
		diag(w, CFI_DIAG_TRUNCATED, off,
		    "length 0x%x passes the end of the section", length);
		return false;
	}
	diag(w, CFI_DIAG_BAD_FDE, off, "length %u has no room for a CIE pointer", length);
	rd_skip(rd, length);
	return true;
}

/* True if a record with contents and a 32-bit length begins here. */
static inline bool read_record(struct walk *w, struct cfi_record *rec)
{
	struct rd *rd = &w->rd;
	uint64_t off = rd->pos;
	uint32_t length;

	if (!rd_has(rd, 8))
		return false;
	length = rd_u32(rd);
	if (length < 4 || length == UINT32_MAX || length > rd->size - rd->pos) {
		rd_seek(rd, off);
		return false;
	}
	rec->off = off;
	rec->id_off = rd->pos;
	rec->end = rec->id_off + length;
	rec->id = rd_u32(rd);
	rec->body = rd->pos;
	rec->is_cie = rec->id == (w->debug ? UINT32_MAX : 0);
	rd_seek(rd, rec->end);
	return true;
}

/* As read_record, with a 64-bit length. A record that needs one is larger than any function's. */
ATTR_NOINLINE static bool read_wide(struct walk *w, struct cfi_record *rec)
{
	struct rd rd = w->rd;
	uint64_t length;

	if (!rd_has(&rd, 20) || rd_u32(&rd) != UINT32_MAX)
		return false;
	length = rd_u64(&rd);
	if (length < 8 || length > UINT32_MAX || length > rd.size - rd.pos)
		return false;
	rec->off = w->rd.pos;
	rec->id_off = rd.pos;
	rec->end = rec->id_off + length;
	rec->id = rd_u64(&rd);
	rec->body = rd.pos;
	rec->is_cie = rec->id == UINT64_MAX;
	rd_seek(&w->rd, rec->end);
	return true;
}

/* Finds the next record and stands after it; false at the end of the section. */
static inline bool next_record(struct walk *w, struct cfi_record *rec)
{
	while (!read_record(w, rec)) {
		if (w->debug && read_wide(w, rec))
			return true;
		if (!pass_odd(w))
			return false;
	}
	return true;
}

/* Hashes all that cies_alike compares, or CIEs that differ in the rest would be one long chain. */
static uint32_t cie_hash(const struct cfi_section *section, const struct cfi_cie *cie)
{
	const uint64_t words[] = {
	    hash_bytes(section->data + cie->program_off, cie->program_len),
	    cie->code_align, (uint64_t)cie->data_align, cie->ra_reg,
	    (uint64_t)cie->version | (uint64_t)cie->fde_encoding << 8 |
		(uint64_t)cie->addr_size << 16 | (uint64_t)cie->segment_size << 24 |
		(uint64_t)cie->has_aug_data << 32 | (uint64_t)cie->signal_frame << 33 |
		(uint64_t)cie->b_key << 34 | (uint64_t)cie->debug << 35};

	return hash_fold(hash_bytes((const uint8_t *)words, sizeof(words)));
}

static bool cies_alike(
    const struct cfi_section *section, const struct cfi_cie *a, const struct cfi_cie *b)
{
	return a->code_align == b->code_align && a->data_align == b->data_align &&
	       a->ra_reg == b->ra_reg && a->program_len == b->program_len &&
	       a->version == b->version && a->fde_encoding == b->fde_encoding &&
	       a->addr_size == b->addr_size && a->segment_size == b->segment_size &&
	       a->has_aug_data == b->has_aug_data && a->signal_frame == b->signal_frame &&
	       a->b_key == b->b_key && a->debug == b->debug &&
	       !memcmp(section->data + a->program_off, section->data + b->program_off,
		   a->program_len);
}

/* Finds the first CIE with the contents of the last one. */
static bool find_alike(struct walk *w)
{
	const struct cfi_frames *f = w->frames;
	const uint32_t last = (uint32_t)(f->n_cies - 1);
	struct slot *slot;
	uint32_t hash;

	if (f->n_cies >= UINT32_MAX || !slots_reserve(&w->slots, f->n_cies))
		return false;
	hash = cie_hash(&f->section, &f->cies[last]);
	for (slot = slots_first(&w->slots, hash); slot->number;
	     slot = slots_next(&w->slots, slot)) {
		if (slot->hash != hash ||
		    !cies_alike(&f->section, &f->cies[slot->number - 1], &f->cies[last]))
			continue;
		f->cies[last].alike = slot->number - 1;
		return true;
	}
	f->cies[last].alike = last;
	*slot = (struct slot){hash, last + 1};
	return true;
}

static bool read_cies(struct walk *w, size_t *n_fdes, struct err *err)
{
	struct cfi_frames *f = w->frames;
	struct cfi_record rec;

	while (next_record(w, &rec)) {
		if (!rec.is_cie) {
			++*n_fdes;
			continue;
		}
		if (!vec_reserve(&f->cies, &f->cap_cies, f->n_cies + 1))
			return err_set_nomem(err);
		if (!cfi_cie_read(&f->section, &rec, w->debug, &f->cies[f->n_cies])) {
			f->n_cies++;
			if (!find_alike(w))
				return err_set_nomem(err);
			continue;
		}
		if (!vec_reserve(&w->bad_cies, &w->cap_bad_cies, w->n_bad_cies + 1))
			return err_set_nomem(err);
		w->bad_cies[w->n_bad_cies++] = rec.off;
	}
	return true;
}

/* Returns where the CIE of the FDE rec begins, from the start of the data. */
static uint64_t cie_place(const struct walk *w, const struct cfi_record *rec)
{
	if (w->debug)
		return rec->id < w->rd.size ? w->start + rec->id : UINT64_MAX;
	/* The distance back to the CIE; past the start of the section it is negative
	 * (libgcc reads it as signed), and the CIE comes later. */
	return rec->id <= rec->id_off ? rec->id_off - rec->id
				      : rec->id_off - (uint64_t)(int32_t)rec->id;
}

/* Index of the CIE of the FDE rec; false with a diagnostic. */
static bool find_cie(struct walk *w, const struct cfi_record *rec, uint32_t *index)
{
	struct cfi_frames *f = w->frames;
	uint64_t off = cie_place(w, rec);
	size_t at;

	if (w->last_cie < f->n_cies && f->cies[w->last_cie].off == off) {
		*index = w->last_cie;
		return true;
	}
	at = search_list_from(f->cies, f->n_cies, off, off);
	if (at < f->n_cies && f->cies[at].off == off && off >= w->start &&
	    off < w->rd.size && num_u32(at, index)) {
		w->last_cie = *index;
		return true;
	}
	at = search_from(w->bad_cies, sizeof(*w->bad_cies), w->n_bad_cies, off);
	if (at < w->n_bad_cies && w->bad_cies[at] == off)
		diag(w, CFI_DIAG_BAD_CIE, rec->off, "FDE of the unreadable CIE at 0x%llx",
		    (unsigned long long)(off - w->start));
	else
		diag(w, CFI_DIAG_BAD_CIE_PTR, rec->off,
		    "CIE pointer 0x%llx does not point to a CIE",
		    (unsigned long long)rec->id);
	return false;
}

/* True if [pc, pc + range) stays inside the address space. */
static bool range_fits(const struct cfi_section *sec, uint64_t pc, uint64_t range)
{
	uint64_t end;

	return !__builtin_add_overflow(pc, range, &end) &&
	       (sec->addr_size != 4 || end <= UINT32_MAX);
}

/* True for addresses of code that the linker discarded: 0; in .debug_frame all ones, too,
 * or one less (DWARF 6 proposes the former). */
static bool is_tombstone(const struct walk *w, const struct cfi_cie *cie, uint64_t pc)
{
	uint64_t highest = cie->addr_size == 4 ? UINT32_MAX : UINT64_MAX;

	return pc == 0 || (w->debug && pc >= highest - 1);
}

/* The number of a segment before an address: only the flat address space has code. */
static bool read_segment(struct rd *rd, const struct cfi_cie *cie)
{
	bool flat = true;

	for (uint8_t i = 0; i < cie->segment_size; i++)
		flat &= rd_u8(rd) == 0;
	return flat;
}

/* Appends the FDE to frames, where room was reserved, or says why not. */
static void read_fde(struct walk *w, const struct cfi_record *rec)
{
	struct cfi_frames *f = w->frames;
	struct cfi_fde *fde = &f->fdes[f->n_fdes];
	struct rd rd = cfi_record_reader(&f->section, rec);
	struct cfi_pointer pc, range;
	const struct cfi_cie *cie;
	uint32_t index;
	bool flat;

	if (!find_cie(w, rec, &index))
		return;
	/* Linkers join CIEs of .eh_frame, but .debug_frame has one for each object; later stages are cheaper for FDEs of one. */
	if (w->debug)
		index = f->cies[index].alike;
	cie = &f->cies[index];
	flat = !cie->segment_size || read_segment(&rd, cie);
	pc = cfi_pointer_read(&rd, &f->section, cie->fde_encoding, 0);
	range = cfi_pointer_read_size(&rd, &f->section, cie->fde_encoding);
	if (cie->has_aug_data)
		rd_skip(&rd, rd_uleb(&rd));
	if (rd.failed || pc.status == CFI_POINTER_BAD || range.status == CFI_POINTER_BAD)
		diag(w, CFI_DIAG_BAD_FDE, rec->off,
		    "truncated FDE or unknown address encoding");
	else if (!flat)
		diag(w, CFI_DIAG_BAD_FDE, rec->off, "code of another segment");
	else if (pc.status == CFI_POINTER_UNRESOLVED)
		diag(w, CFI_DIAG_BAD_FDE, rec->off,
		    "the address is relative to text or data, which has no defined base");
	else if (is_tombstone(w, cie, pc.value))
		diag(w, CFI_DIAG_DISCARDED, rec->off, "the function was discarded");
	else if (range.value == 0)
		diag(w, CFI_DIAG_ZERO_RANGE, rec->off, "no code at 0x%llx",
		    (unsigned long long)pc.value);
	else if (!range_fits(&f->section, pc.value, range.value))
		diag(w, CFI_DIAG_BAD_FDE, rec->off, "range 0x%llx at 0x%llx wraps around",
		    (unsigned long long)range.value, (unsigned long long)pc.value);
	else {
		*fde = (struct cfi_fde){
		    .off = rec->off, .pc = pc.value, .range = range.value};
		fde->cie = index;
		fde->program_off = rd.pos;
		/* Fits, because no larger record is read. */
		fde->program_len = (uint32_t)(rec->end - rd.pos);
		f->n_fdes++;
	}
}

static void read_fdes(struct walk *w)
{
	struct cfi_record rec;
	struct cfi_cie cie;
	const char *fault;

	while (next_record(w, &rec)) {
		if (!rec.is_cie) {
			read_fde(w, &rec);
		} else if (w->n_bad_cies) {
			/* Read it again for the text; the first pass kept only the
			 * offset. */
			fault = cfi_cie_read(&w->frames->section, &rec, w->debug, &cie);
			if (fault)
				diag(w, CFI_DIAG_BAD_CIE, rec.off, "%s", fault);
		}
	}
}

/* Stands at the start of part i. */
static void enter(struct walk *w, size_t i)
{
	const struct cfi_section *section = &w->frames->section;
	const struct cfi_part *part = &section->parts[i];

	rd_init(&w->rd, section->data, part->off + part->size, section->big_endian);
	rd_seek(&w->rd, part->off);
	w->start = part->off;
	w->debug = part->debug;
	w->last_cie = UINT32_MAX;
}

/* A section without parts counts as one part. */
static void take_section(struct cfi_frames *frames, const struct cfi_section *section)
{
	*frames = (struct cfi_frames){.section = *section};
	if (section->n_parts || !section->size)
		return;
	frames->section.parts[0] =
	    (struct cfi_part){.name = ".eh_frame", .size = section->size};
	frames->section.n_parts = 1;
}

bool cfi_frames_read(
    const struct cfi_section *section, struct cfi_frames *frames, struct err *err)
{
	struct walk w = {.frames = frames};
	size_t n_fdes = 0;
	bool ok = true;

	take_section(frames, section);
	for (size_t i = 0; ok && i < frames->section.n_parts; i++) {
		enter(&w, i);
		ok = read_cies(&w, &n_fdes, err);
	}
	if (ok && !vec_reserve(&frames->fdes, &frames->cap_fdes, n_fdes))
		ok = err_set_nomem(err);
	w.diagnose = true;
	for (size_t i = 0; ok && i < frames->section.n_parts; i++) {
		enter(&w, i);
		read_fdes(&w);
	}
	free(w.bad_cies);
	free(w.slots.list);
	if (!ok)
		cfi_frames_deinit(frames);
	return ok;
}

void cfi_frames_forget(struct cfi_frames *frames)
{
	free(frames->cies);
	free(frames->fdes);
	frames->cies = NULL;
	frames->fdes = NULL;
	frames->cap_cies = frames->cap_fdes = 0;
}

void cfi_frames_deinit(struct cfi_frames *frames)
{
	free(frames->cies);
	free(frames->fdes);
	free(frames->diags);
	*frames = (struct cfi_frames){0};
}
