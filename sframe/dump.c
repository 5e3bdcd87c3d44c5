/* SPDX-License-Identifier: MIT */
/* A section as text for people, and for comparing with readelf's dump line by line. */
#include "sframe/dump.h"

#include <inttypes.h>

#include "sframe/format.h"

struct flag_name {
	uint8_t flag;
	const char *name;
};

static const struct flag_name flag_names[] = {
    {SFRAME_F_FDE_SORTED, "SFRAME_F_FDE_SORTED"},
    {SFRAME_F_FRAME_POINTER, "SFRAME_F_FRAME_POINTER"},
    {SFRAME_F_FDE_FUNC_START_PCREL, "SFRAME_F_FDE_FUNC_START_PCREL"},
};

/* Prints one flag to a line; bits without a name as a number. */
static void dump_flags(uint8_t flags, FILE *out)
{
	const char *before = "    Flags: ";

	if (!flags)
		fprintf(out, "%sNONE", before);
	for (size_t i = 0; i < sizeof(flag_names) / sizeof(*flag_names); i++) {
		if (!(flags & flag_names[i].flag))
			continue;
		fprintf(out, "%s%s", before, flag_names[i].name);
		before = ",\n           ";
		flags &= (uint8_t)~flag_names[i].flag;
	}
	if (flags)
		fprintf(out, "%s0x%x", before, flags);
	fputc('\n', out);
}

static void dump_header(const struct sf_view *view, const char *name, FILE *out)
{
	fprintf(out, "Contents of the SFrame section %s:\n  Header :\n\n", name);
	fprintf(out, "    Version: SFRAME_VERSION_%u\n", view->version);
	dump_flags(view->flags, out);
	if (view->fixed_fp_off)
		fprintf(out, "    CFA fixed FP offset: %d\n", view->fixed_fp_off);
	if (view->fixed_ra_off)
		fprintf(out, "    CFA fixed RA offset: %d\n", view->fixed_ra_off);
	fprintf(out, "    Num FDEs: %" PRIu32 "\n    Num FREs: %" PRIu32 "\n",
	    view->n_funcs, view->n_rows);
	fprintf(out, "\n  Function Index :\n");
}

/*
 * A place in the customary letters: c is the CFA; brackets mean the memory at an address,
 * which for an offset from the CFA goes without saying.
 */
static void format_loc(const struct sf_abi *abi, struct sf_loc loc, int32_t off,
    const char *none, char *buf, size_t size)
{
	char reg[8];

	if (loc.reg == abi->sp)
		snprintf(reg, sizeof(reg), "sp");
	else if (loc.reg == abi->fp)
		snprintf(reg, sizeof(reg), "fp");
	else if (loc.reg == SF_REG_NONE)
		snprintf(reg, sizeof(reg), "r?");
	else
		snprintf(reg, sizeof(reg), "r%u", loc.reg);
	switch (loc.kind) {
	case SF_LOC_AT_CFA:
		snprintf(buf, size, "c%+" PRId32, off);
		break;
	case SF_LOC_REG:
		snprintf(buf, size, "%s%+" PRId32, reg, off);
		break;
	case SF_LOC_AT_REG:
		snprintf(buf, size, "(%s%+" PRId32 ")", reg, off);
		break;
	default:
		snprintf(buf, size, "%s", none);
		break;
	}
}

/* Where RA or FP is. In a default function a register is one by itself, without an
 * offset.
 */
static void format_save(const struct sf_row_iter *iter, struct sf_loc loc, int32_t off,
    const char *none, char *buf, size_t size)
{
	if (loc.kind == SF_LOC_REG && !iter->flex)
		snprintf(buf, size, "r%u", loc.reg);
	else
		format_loc(iter->abi, loc, off, none, buf, size);
}

/*
 * pc is the row's address; in a PCMASK function, which repeats its rows, the offset in
 * a block.
 */
static void dump_row(
    const struct sf_row_iter *iter, const struct sf_row *row, uint64_t pc, FILE *out)
{
	const struct sf_view *view = iter->view;
	const char *no_ra = "u";
	char cfa[32], fp[32], ra[32];

	if (row->outermost) {
		fprintf(out, "    %016" PRIx64 "  RA undefined\n", pc);
		return;
	}
	format_loc(iter->abi, row->cfa, row->cfa_off, "u", cfa, sizeof(cfa));
	format_save(
	    iter, row->fp, row->fp_off, view->fixed_fp_off ? "f" : "u", fp, sizeof(fp));
	/* A padding word is not quite nothing. */
	if (row->fp.kind != SF_LOC_NONE)
		no_ra = "U";
	format_save(
	    iter, row->ra, row->ra_off, view->fixed_ra_off ? "f" : no_ra, ra, sizeof(ra));
	fprintf(out, "    %016" PRIx64 "  %-9s %-9s %s%s\n", pc, cfa, fp, ra,
	    row->ra_signed ? "[s]" : "");
}

static bool dump_func(const struct sf_view *view, uint32_t i, FILE *out, struct err *err)
{
	struct sf_view_func func;
	struct sf_row_iter iter;
	struct sf_row row;

	if (!sf_view_func(view, i, &func, err))
		return false;
	fprintf(out,
	    "\n    func idx [%" PRIu32 "]: pc = 0x%" PRIx64 ", size = %" PRIu32 " bytes",
	    i, func.func.start, func.func.size);
	if (func.func.signal_frame || func.flex)
		fprintf(out, ", attr = \"%s%s\"", func.func.signal_frame ? "S" : "",
		    func.flex ? "F" : "");
	if (view->version >= SFRAME_VERSION_2 && func.func.pcmask)
		fprintf(out, ", PCMASK, rep_size = %u", func.func.rep_size);
	fprintf(out, "%s\n    STARTPC%s         CFA       FP        RA\n",
	    func.func.pauth_b ? ", pauth = B key" : "", func.func.pcmask ? "[m]" : "   ");
	sf_rows_begin(view, &func, &iter);
	while (sf_rows_next(&iter, &row, err))
		dump_row(&iter, &row,
		    (func.func.pcmask ? 0 : func.func.start) + row.start, out);
	return !iter.failed;
}

bool sf_dump(const struct sf_view *view, const char *name, FILE *out, struct err *err)
{
	dump_header(view, name, out);
	for (uint32_t i = 0; i < view->n_funcs; i++) {
		if (!dump_func(view, i, out, err))
			return false;
	}
	if (ferror(out))
		return err_set_errno(err, "%s: cannot print", name);
	return true;
}
