/* SPDX-License-Identifier: MIT */
/*
 * The walk over .eh_frame. Two passes over the record headers: the first reads the CIEs,
 * the second the FDEs, so that an FDE may precede its CIE and a CIE pointer is only ever
 * looked up among real record starts.
 */
#include "cfi/frames.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/rd.h"
#include "base/search.h"
#include "base/vec.h"
#include "cfi/pointer.h"

/* One record, as the walk meets it. */
struct record {
	uint64_t off;	 /* of the length field */
	uint64_t id_off; /* of the CIE id or pointer */
	uint64_t end;	 /* offset after the record */
	uint32_t id; /* 0 for a CIE, otherwise the distance from id_off back to the CIE */
};

struct walk {
	struct rd rd; /* over the whole section; stands at the next record */
	struct cfi_frames *frames;
	/* Offsets of CIEs that could not be read, ascending: their FDEs are lost, not
	 * damaged. */
	uint64_t *bad_cies;
	size_t n_bad_cies, cap_bad_cies;
	uint32_t last_cie; /* index found by the last look-up; most FDEs share a CIE */
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
	struct cfi_frames *f = w->frames;
	struct cfi_diag *d;
	va_list ap;

	if (!w->diagnose)
		return;
	f->diag_counts[kind]++;
	if (f->n_diags == CFI_MAX_DIAGS ||
	    !vec_reserve(&f->diags, &f->cap_diags, f->n_diags + 1))
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
		w->rd.pos += 4;
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
		for (; rd->pos < rd->size; rd->pos++) {
			if (rd->data[rd->pos] == 0)
				continue;
			diag(w, CFI_DIAG_TRUNCATED, off, "a record without a length");
			break;
		}
		return false;
	}
	length = rd_u32(rd);
	if (length == 0) {
		rd->pos = off;
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
	rd->pos += length;
	return true;
}

/* Whether a record with contents begins here. */
static inline bool read_record(struct walk *w, struct record *rec)
{
	struct rd *rd = &w->rd;
	uint64_t off = rd->pos;
	uint32_t length;

	if (!rd_has(rd, 8))
		return false;
	length = rd_u32(rd);
	if (length < 4 || length == UINT32_MAX || length > rd->size - rd->pos) {
		rd->pos = off;
		return false;
	}
	rec->off = off;
	rec->id_off = rd->pos;
	rec->end = rec->id_off + length;
	rec->id = rd_u32(rd);
	rd->pos = rec->end;
	return true;
}

/* Finds the next record and stands after it; false at the end of the section. */
static inline bool next_record(struct walk *w, struct record *rec)
{
	while (!read_record(w, rec))
		if (!pass_odd(w))
			return false;
	return true;
}

/* A reader that stands at the record's contents and ends with it, offsets from the
 * section. */
static struct rd record_reader(const struct walk *w, const struct record *rec)
{
	struct rd rd;

	rd_init(&rd, w->rd.data, rec->end, w->rd.big_endian);
	rd.pos = rec->id_off + 4;
	return rd;
}

/* The reasons why a CIE cannot be used; NULL when it can. */
typedef const char *cie_fault;

/*
 * Letters and their data. rd ends with the augmentation data (or the record, without z).
 *
 * An unknown letter under z hides the layout of what follows it: only letters without
 * data are still read then, which is enough unless R, the encoding of addresses, is among
 * the hidden.
 */
static cie_fault read_augmentation_letters(struct rd *rd, const struct cfi_section *sec,
    const char *letters, struct cfi_cie *cie)
{
	bool hidden = false;

	for (const char *p = letters; *p; p++) {
		switch (*p) {
		case 'R':
			if (hidden)
				return "unknown augmentation before R";
			cie->fde_encoding = rd_u8(rd);
			break;
		case 'L':
			if (!hidden)
				rd_u8(rd);
			break;
		case 'P':
			if (!hidden) {
				uint8_t encoding = rd_u8(rd);

				/* A bad personality does not matter, except that what
				 * follows is lost. */
				if (encoding != DW_EH_PE_omit &&
				    cfi_pointer_read(rd, sec, encoding, 0).status ==
					CFI_POINTER_BAD)
					return "unreadable personality pointer";
			}
			break;
		case 'S':
			cie->signal_frame = true;
			break;
		case 'B':
			cie->b_key = true;
			break;
		case 'G': /* AArch64 MTE tagged frame: nothing that a row shows */
			break;
		default:
			if (!cie->has_aug_data)
				return "unknown augmentation without z";
			hidden = true;
		}
	}
	return rd->failed ? "augmentation data passes its end" : NULL;
}

static bool usable_encoding(uint8_t encoding)
{
	uint8_t application = encoding & DW_EH_PE_application_mask;

	/* funcrel is relative to the value of pc_begin itself; indirect needs the
	 * memory. */
	return encoding != DW_EH_PE_omit && application != DW_EH_PE_funcrel &&
	       !(encoding & DW_EH_PE_indirect);
}

static cie_fault read_cie(
    const struct walk *w, const struct record *rec, struct cfi_cie *cie)
{
	const struct cfi_section *sec = &w->frames->section;
	struct rd rd = record_reader(w, rec), aug;
	const char *letters;
	cie_fault fault;

	*cie = (struct cfi_cie){.off = rec->off, .fde_encoding = DW_EH_PE_absptr};
	cie->version = rd_u8(&rd);
	if (cie->version != 1 && cie->version != 3 && cie->version != 4)
		return "unknown CIE version";
	letters = rd_cstr(&rd);
	if (!letters)
		return "augmentation string does not end";
	if (letters[0] == 'e' && letters[1] == 'h') {
		/* gcc 2: the address of an exception table */
		rd_skip(&rd, sec->addr_size);
		letters += 2;
	}
	if (cie->version == 4) {
		uint8_t addr_size = rd_u8(&rd), segment_size = rd_u8(&rd);

		if (addr_size != sec->addr_size || segment_size != 0)
			return "CIE has another address size";
	}
	cie->code_align = rd_uleb(&rd);
	cie->data_align = rd_sleb(&rd);
	cie->ra_reg = cie->version == 1 ? rd_u8(&rd) : rd_uleb(&rd);
	aug = rd;
	if (letters[0] == 'z') {
		uint64_t len = rd_uleb(&rd);

		letters++;
		cie->has_aug_data = true;
		aug = rd;
		if (!rd_skip(&rd, len))
			return "augmentation data passes the record";
		aug.size = rd.pos;
	}
	if (rd.failed)
		return "truncated CIE";
	fault = read_augmentation_letters(&aug, sec, letters, cie);
	if (fault)
		return fault;
	if (!usable_encoding(cie->fde_encoding))
		return "address encoding that cannot be resolved";
	cie->program_off = cie->has_aug_data ? rd.pos : aug.pos;
	cie->program_len = rec->end - cie->program_off;
	return NULL;
}

static bool read_cies(struct walk *w, size_t *n_fdes, struct err *err)
{
	struct cfi_frames *f = w->frames;
	struct record rec;

	while (next_record(w, &rec)) {
		if (rec.id != 0) {
			++*n_fdes;
			continue;
		}
		if (!vec_reserve(&f->cies, &f->cap_cies, f->n_cies + 1))
			return err_set_nomem(err);
		if (!read_cie(w, &rec, &f->cies[f->n_cies])) {
			f->n_cies++;
			continue;
		}
		if (!vec_reserve(&w->bad_cies, &w->cap_bad_cies, w->n_bad_cies + 1))
			return err_set_nomem(err);
		w->bad_cies[w->n_bad_cies++] = rec.off;
	}
	return true;
}

/* Index of the CIE at off, for the FDE rec; false with a diagnostic. */
static bool find_cie(struct walk *w, const struct record *rec, uint32_t *index)
{
	struct cfi_frames *f = w->frames;
	/* The distance back to the CIE; past the start of the section it is negative
	 * (libgcc reads it as signed), and the CIE comes later. */
	uint64_t off = rec->id <= rec->id_off ? rec->id_off - rec->id
					      : rec->id_off - (uint64_t)(int32_t)rec->id;
	size_t at;

	if (w->last_cie < f->n_cies && f->cies[w->last_cie].off == off) {
		*index = w->last_cie;
		return true;
	}
	at = search_list_from(f->cies, f->n_cies, off, off);
	if (at < f->n_cies && f->cies[at].off == off && num_u32(at, index)) {
		w->last_cie = *index;
		return true;
	}
	at = search_from(w->bad_cies, sizeof(*w->bad_cies), w->n_bad_cies, off);
	if (at < w->n_bad_cies && w->bad_cies[at] == off)
		diag(w, CFI_DIAG_BAD_CIE, rec->off, "FDE of the unreadable CIE at 0x%llx",
		    (unsigned long long)off);
	else
		diag(w, CFI_DIAG_BAD_CIE_PTR, rec->off,
		    "CIE pointer 0x%x does not point to a CIE", rec->id);
	return false;
}

/* Whether [pc, pc + range) stays inside the address space. */
static bool range_fits(const struct cfi_section *sec, uint64_t pc, uint64_t range)
{
	uint64_t end;

	return !__builtin_add_overflow(pc, range, &end) &&
	       (sec->addr_size != 4 || end <= UINT32_MAX);
}

/* Appends the FDE to frames, where room was reserved, or says why not. */
static void read_fde(struct walk *w, const struct record *rec)
{
	struct cfi_frames *f = w->frames;
	struct cfi_fde *fde = &f->fdes[f->n_fdes];
	struct rd rd = record_reader(w, rec);
	struct cfi_pointer pc, range;
	const struct cfi_cie *cie;
	uint32_t index;

	if (!find_cie(w, rec, &index))
		return;
	cie = &f->cies[index];
	pc = cfi_pointer_read(&rd, &f->section, cie->fde_encoding, 0);
	range = cfi_pointer_read_size(&rd, &f->section, cie->fde_encoding);
	if (cie->has_aug_data)
		rd_skip(&rd, rd_uleb(&rd));
	if (rd.failed || pc.status == CFI_POINTER_BAD || range.status == CFI_POINTER_BAD)
		diag(w, CFI_DIAG_BAD_FDE, rec->off,
		    "truncated FDE or unknown address encoding");
	else if (pc.status == CFI_POINTER_UNRESOLVED)
		diag(
		    w, CFI_DIAG_BAD_FDE, rec->off, "address relative to an unknown base");
	else if (pc.value == 0)
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
		/* A record with a 32-bit length holds no more than 32 bits of program. */
		fde->program_len = (uint32_t)(rec->end - rd.pos);
		f->n_fdes++;
	}
}

static void read_fdes(struct walk *w)
{
	struct record rec;
	struct cfi_cie cie;
	cie_fault fault;

	while (next_record(w, &rec)) {
		if (rec.id != 0) {
			read_fde(w, &rec);
		} else if (w->n_bad_cies) {
			/* Read it again for the text; the first pass kept only the
			 * offset. */
			fault = read_cie(w, &rec, &cie);
			if (fault)
				diag(w, CFI_DIAG_BAD_CIE, rec.off, "%s", fault);
		}
	}
}

bool cfi_frames_read(
    const struct cfi_section *section, struct cfi_frames *frames, struct err *err)
{
	struct walk w = {.frames = frames, .last_cie = UINT32_MAX};
	size_t n_fdes = 0;
	bool ok;

	*frames = (struct cfi_frames){.section = *section};
	rd_init(&w.rd, section->data, section->size, section->big_endian);
	ok = read_cies(&w, &n_fdes, err);
	if (ok && !vec_reserve(&frames->fdes, &frames->cap_fdes, n_fdes))
		ok = err_set_nomem(err);
	if (ok) {
		w.rd.pos = 0;
		w.rd.failed = false;
		w.diagnose = true;
		read_fdes(&w);
	}
	free(w.bad_cies);
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
