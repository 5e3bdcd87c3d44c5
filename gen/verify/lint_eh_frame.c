/* SPDX-License-Identifier: MIT */
/* .eh_frame_hdr first, then each FDE by the table in it: the reader finds no other. */
#include "gen/verify/lint_eh_frame.h"

#include <stdlib.h>

#include "base/search.h"
#include "cfi/pointer.h"
#include "cfi/ranges.h"
#include "gen/verify/lint_eh_program.h"

const struct lint_eh_words lint_eh_words[LINT_EH_KEPT] = {
#define LINT_EH_WORDS(id, name, severity, text)                                          \
	[LINT_EH_##id] = {name, text, LINT_EH_##severity},
    LINT_EH_RULES(LINT_EH_WORDS)
#undef LINT_EH_WORDS
};

bool lint_eh_reads(const struct image *image)
{
	return !image->object &&
	       (image->ehdr.e_machine == EM_X86_64 || image->ehdr.e_machine == EM_S390);
}

void lint_eh_broken(
    struct lint_eh *eh, enum lint_eh_rule rule, uint64_t off, uint64_t pc, uint64_t bytes)
{
	struct lint_eh_frame *result = eh->result;

	result->rules[rule].bytes += bytes;
	result->severe[lint_eh_words[rule].severity].bytes += bytes;
	result->dropped |= lint_eh_words[rule].severity == LINT_EH_DROPS;
	if (result->rules[rule].times++)
		return;
	result->n_broken++;
	result->rules[rule].off = off;
	result->rules[rule].pc = pc;
}

struct lint_eh_table {
	struct cfi_section hdr; /* .eh_frame_hdr */
	struct rd rd;		/* stands at the first entry */
	uint64_t n;		/* entries in the file */
	uint8_t encoding;	/* of both pointers of an entry */
	/* Entries that lead to an FDE, or that a linker would have made. */
	struct lint_eh_entry {
		uint64_t pc;
		const struct cfi_fde *fde;
	} * list;
	size_t n_list;
};

/* Bytes of an entry with an encoding that the reader goes by; 0: it does not. */
static uint64_t lint_eh_width(uint8_t encoding)
{
	static const uint8_t widths[] = {16, 0, 4, 8, 16};
	const uint8_t width =
	    encoding & (DW_EH_PE_format_mask & ~(unsigned int)DW_EH_PE_signed);

	/* Neither indirect, nor aligned, nor relative to a function. */
	return encoding < DW_EH_PE_funcrel && width < sizeof(widths) ? widths[width] : 0;
}

/* Finds the header by its segment. LINT_EH_KEPT with a table. */
static enum lint_eh_rule lint_eh_hdr(struct lint_eh *eh, struct lint_eh_table *table)
{
	const GElf_Phdr *phdr = image_segment_find(eh->image, PT_GNU_EH_FRAME);
	const struct cfi_section *section = &eh->frames.section;
	struct cfi_section *hdr = &table->hdr;
	struct rd *rd = &table->rd;
	uint8_t version, encoding, count;
	struct cfi_pointer start;

	*hdr = *section;
	hdr->data = phdr && phdr->p_filesz ? image_segment_bytes(eh->image, phdr) : NULL;
	if (!hdr->data ||
	    hdr->data != image_at_addr(eh->image, phdr->p_vaddr, phdr->p_filesz))
		return LINT_EH_PHDR;
	hdr->size = (size_t)phdr->p_filesz;
	hdr->addr = hdr->data_base = phdr->p_vaddr;
	hdr->has_data_base = true;
	rd_init(rd, hdr->data, hdr->size, hdr->big_endian);
	version = rd_u8(rd);
	encoding = rd_u8(rd);
	count = rd_u8(rd);
	table->encoding = rd_u8(rd);
	start = cfi_pointer_read(rd, hdr, encoding, 0);
	table->n = cfi_pointer_read(rd, hdr, count, 0).value;
	if (version != 1 || rd->failed || start.status != CFI_POINTER_OK ||
	    count == DW_EH_PE_omit || !lint_eh_width(table->encoding) ||
	    start.value - section->addr >= section->size)
		return LINT_EH_HDR;
	eh->start = start.value - section->addr;
	return table->n &&
		       table->n <= (rd->size - rd->pos) / lint_eh_width(table->encoding)
		   ? LINT_EH_KEPT
		   : LINT_EH_TABLE_SIZE;
}

static void lint_eh_read(struct lint_eh *eh, struct lint_eh_table *table)
{
	const struct cfi_frames *frames = &eh->frames;
	uint64_t last = 0;

	for (uint64_t i = 0; i < table->n; i++) {
		const uint64_t at = table->rd.pos;
		const uint64_t pc =
		    cfi_pointer_read(&table->rd, &table->hdr, table->encoding, 0).value;
		const uint64_t off =
		    cfi_pointer_read(&table->rd, &table->hdr, table->encoding, 0).value -
		    frames->section.addr;
		const size_t found =
		    search_list_from(frames->fdes, frames->n_fdes, off, off);

		if (i && pc <= last)
			lint_eh_broken(eh, LINT_EH_TABLE_ORDER, at, pc, 0);
		else if (found < frames->n_fdes && frames->fdes[found].off == off &&
			 frames->fdes[found].pc == pc)
			table->list[table->n_list++] =
			    (struct lint_eh_entry){pc, &frames->fdes[found]};
		/* An FDE for no code is never looked up, and is none of those read. */
		else if (!frames->diag_counts[CFI_DIAG_ZERO_RANGE])
			lint_eh_broken(eh, LINT_EH_TABLE_FDE, at, pc, 0);
		last = pc > last ? pc : last;
	}
}

static void lint_eh_make(const struct cfi_frames *frames, struct lint_eh_table *table)
{
	struct lint_eh_entry *list = table->list;

	for (size_t i = 0; i < frames->n_fdes; i++)
		list[i] = (struct lint_eh_entry){frames->fdes[i].pc, &frames->fdes[i]};
	if (frames->n_fdes)
		qsort(list, frames->n_fdes, sizeof(*list), search_order);
	for (size_t i = 0; i < frames->n_fdes; i++)
		if (i == 0 || list[i].pc != list[i - 1].pc)
			list[table->n_list++] = list[i];
}

/* Code of FDEs that the table lacks, or for which another FDE is found. */
static void lint_eh_left(struct lint_eh *eh, const struct lint_eh_table *table)
{
	struct lint_eh_frame *result = eh->result;
	const uint64_t bytes = result->all.bytes - result->walked.bytes -
			       result->severe[0].bytes - result->severe[1].bytes;

	for (size_t i = 0; bytes && i < eh->frames.n_fdes; i++) {
		const struct cfi_fde *fde = &eh->frames.fdes[i];
		const size_t at =
		    search_list_from(table->list, table->n_list, pc, fde->pc);

		if (at < table->n_list && table->list[at].fde == fde)
			continue;
		lint_eh_broken(eh, LINT_EH_TABLE_ALL, fde->off, fde->pc,
		    result->rules[LINT_EH_TABLE_ALL].times ? 0 : bytes);
		result->severe[LINT_EH_ENDS].functions++;
	}
}

static bool lint_eh_judge(struct lint_eh *eh, struct err *err)
{
	struct lint_eh_table table = {
	    .list = calloc(eh->frames.n_fdes + 1, sizeof(*table.list))};
	const enum lint_eh_rule hdr = lint_eh_hdr(eh, &table);

	if (!table.list)
		return err_set_nomem(err);
	if (hdr == LINT_EH_KEPT)
		lint_eh_read(eh, &table);
	else
		lint_eh_make(&eh->frames, &table);
	for (size_t i = 0; i < table.n_list; i++) {
		const struct cfi_fde *fde = table.list[i].fde;
		const bool is_cut =
		    i + 1 < table.n_list && table.list[i + 1].pc - fde->pc < fde->range;

		lint_eh_func(
		    eh, fde, is_cut ? table.list[i + 1].pc : fde->pc + fde->range);
	}
	lint_eh_left(eh, &table);
	eh->result->lacks_hdr = hdr == LINT_EH_PHDR && !eh->result->dropped;
	if (hdr != LINT_EH_KEPT)
		lint_eh_broken(eh, hdr, 0, 0, 0);
	free(table.list);
	return true;
}

bool lint_eh_frame(
    const struct image *image, struct lint_eh_frame *result, struct err *err)
{
	struct lint_eh eh = {.image = image, .result = result};
	struct cfi_section section;
	struct cfi_ranges ranges = {0};
	bool found, ok;

	*result = (struct lint_eh_frame){0};
	eh.arch = arch_find(image->ehdr.e_machine, image->big_endian);
	if (!image_eh_frame(image, &section, &found, NULL, err))
		return false;
	if (!found)
		return err_set(err, ERR_NOTHING, "no .eh_frame, nothing to do");
	if (!cfi_frames_read(&section, &eh.frames, err))
		return false;
	ok = eh.frames.n_fdes || eh.frames.n_diags ||
	     err_set(err, ERR_NOTHING, "no CFI: no FDE, nothing to do");
	ok = ok && cfi_ranges_read(&eh.frames, &ranges, err);
	result->all = (struct lint_eh_sum){
	    eh.frames.n_fdes - ranges.n_duplicates, ranges.code_bytes};
	ok = ok && lint_eh_judge(&eh, err);
	cfi_ranges_deinit(&ranges);
	cfi_frames_deinit(&eh.frames);
	return ok;
}
