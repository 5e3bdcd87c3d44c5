/* SPDX-License-Identifier: MIT */
/* .eh_frame_hdr first, then each FDE by the table in it: the reader finds no other. */
#include "gen/verify/lint_eh_frame.h"

#include <stdlib.h>

#include "base/rd.h"
#include "base/search.h"
#include "cfi/pointer.h"
#include "cfi/ranges.h"
#include "gen/verify/lint_eh_program.h"

static const struct {
	const char *name, *text;
	enum lint_eh_severity severity;
} rules[LINT_EH_N_RULES] = {
#define LINT_EH_WORDS(id, name, severity, text)                                          \
	[LINT_EH_##id] = {name, text, LINT_EH_##severity},
    LINT_EH_RULES(LINT_EH_WORDS)
#undef LINT_EH_WORDS
};

const char *lint_eh_rule_name(enum lint_eh_rule rule)
{
	return rules[rule].name;
}

const char *lint_eh_rule_text(enum lint_eh_rule rule)
{
	return rules[rule].text;
}

const char *lint_eh_rule_section(enum lint_eh_rule rule)
{
	return rule < LINT_EH_TABLE_ALL ? ".eh_frame_hdr" : ".eh_frame";
}

enum lint_eh_severity lint_eh_rule_severity(enum lint_eh_rule rule)
{
	return rules[rule].severity;
}

const char *lint_eh_severity_text(enum lint_eh_severity severity)
{
	return severity == LINT_EH_DROPS ? "drops the module" : "ends the stack";
}

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
	result->severe[rules[rule].severity].bytes += bytes;
	result->dropped |= rules[rule].severity == LINT_EH_DROPS;
	if (result->rules[rule].times++)
		return;
	result->n_broken++;
	result->rules[rule].off = off;
	result->rules[rule].pc = pc;
}

struct lint_eh_entry {
	uint64_t pc, off; /* of an FDE */
	uint64_t end;	  /* of its code */
};

struct lint_eh_table {
	struct cfi_section hdr;	    /* .eh_frame_hdr */
	struct rd rd;		    /* stands at the first entry */
	uint64_t n;		    /* entries in the file */
	uint8_t encoding;	    /* of both pointers of an entry */
	struct lint_eh_entry *list; /* those that lead to an FDE, one for each at most */
	size_t n_list;
};

/* Bytes of a pointer with an encoding that the reader can go by in a table; 0: none is. */
static uint64_t lint_eh_width(uint8_t encoding)
{
	const uint8_t application = encoding & DW_EH_PE_application_mask,
		      width = encoding & (DW_EH_PE_format_mask & ~DW_EH_PE_signed);

	if (encoding & DW_EH_PE_indirect || application == DW_EH_PE_funcrel ||
	    application == DW_EH_PE_aligned || application > DW_EH_PE_aligned ||
	    width == DW_EH_PE_uleb128 || width > DW_EH_PE_udata8)
		return 0;
	return width == DW_EH_PE_udata2 ? 2 : width == DW_EH_PE_udata4 ? 4 : 8;
}

/* Finds the header by its segment. LINT_EH_KEPT with a table. */
static enum lint_eh_rule lint_eh_hdr(struct lint_eh *eh, struct lint_eh_table *table)
{
	const GElf_Phdr *phdr = image_segment_find(eh->image, PT_GNU_EH_FRAME);
	struct rd *rd = &table->rd;
	uint8_t version, start_encoding, count_encoding;
	struct cfi_pointer start;

	table->hdr = eh->section;
	table->hdr.data =
	    phdr && phdr->p_filesz ? image_segment_bytes(eh->image, phdr) : NULL;
	if (!table->hdr.data ||
	    table->hdr.data != image_at_addr(eh->image, phdr->p_vaddr, phdr->p_filesz))
		return LINT_EH_PHDR;
	table->hdr.size = (size_t)phdr->p_filesz;
	table->hdr.addr = table->hdr.data_base = eh->section.data_base = phdr->p_vaddr;
	table->hdr.has_data_base = eh->section.has_data_base = true;
	rd_init(rd, table->hdr.data, table->hdr.size, table->hdr.big_endian);
	version = rd_u8(rd);
	start_encoding = rd_u8(rd);
	count_encoding = rd_u8(rd);
	table->encoding = rd_u8(rd);
	start = cfi_pointer_read(rd, &table->hdr, start_encoding, 0);
	table->n = cfi_pointer_read(rd, &table->hdr, count_encoding, 0).value;
	if (version != 1 || rd->failed || start.status != CFI_POINTER_OK ||
	    count_encoding == DW_EH_PE_omit || !lint_eh_width(table->encoding) ||
	    start.value - eh->section.addr >= eh->section.size)
		return LINT_EH_HDR;
	eh->start = start.value - eh->section.addr;
	return table->n && table->n <=
			       (rd->size - rd->pos) / (2 * lint_eh_width(table->encoding))
		   ? LINT_EH_KEPT
		   : LINT_EH_TABLE_SIZE;
}

/* The index of the FDE at off; n_fdes when there is none. */
static size_t lint_eh_find(const struct cfi_frames *frames, uint64_t off)
{
	const size_t i = search_list_from(frames->fdes, frames->n_fdes, off, off);

	return i < frames->n_fdes && frames->fdes[i].off == off ? i : frames->n_fdes;
}

/* An entry for which there is no FDE with code: damaged, or one that is for no code. */
static enum lint_eh_rule lint_eh_other(struct lint_eh *eh, uint64_t off, uint64_t pc)
{
	struct lint_eh_fde fde;
	const enum lint_eh_rule rule =
	    off < eh->section.size ? lint_eh_read(eh, off, &fde) : LINT_EH_TABLE_FDE;

	return rule == LINT_EH_KEPT && (fde.pc != pc || fde.size) ? LINT_EH_TABLE_FDE
								  : rule;
}

static void lint_eh_entries(
    struct lint_eh *eh, const struct cfi_frames *frames, struct lint_eh_table *table)
{
	uint64_t last = 0;

	for (uint64_t i = 0; i < table->n; i++) {
		const uint64_t at = table->rd.pos;
		const uint64_t pc =
		    cfi_pointer_read(&table->rd, &table->hdr, table->encoding, 0).value;
		const uint64_t off =
		    cfi_pointer_read(&table->rd, &table->hdr, table->encoding, 0).value -
		    eh->section.addr;
		const size_t found = lint_eh_find(frames, off);
		enum lint_eh_rule rule = LINT_EH_TABLE_FDE;

		eh->at = at;
		if (i && pc <= last) {
			lint_eh_broken(eh, LINT_EH_TABLE_ORDER, at, pc, 0);
			continue;
		}
		last = pc;
		if (found < frames->n_fdes && frames->fdes[found].pc == pc) {
			table->list[table->n_list++] = (struct lint_eh_entry){
			    pc, off, pc + frames->fdes[found].range};
			continue;
		}
		if (found == frames->n_fdes)
			rule = lint_eh_other(eh, off, pc);
		if (rule != LINT_EH_KEPT)
			lint_eh_broken(
			    eh, rule, rule == LINT_EH_TABLE_FDE ? at : eh->at, pc, 0);
	}
}

/* The table that a linker would have made. */
static void lint_eh_make(const struct cfi_frames *frames, struct lint_eh_table *table)
{
	for (size_t i = 0; i < frames->n_fdes; i++)
		table->list[i] = (struct lint_eh_entry){frames->fdes[i].pc,
		    frames->fdes[i].off, frames->fdes[i].pc + frames->fdes[i].range};
	if (frames->n_fdes)
		qsort(table->list, frames->n_fdes, sizeof(*table->list),
		    search_order_pairs);
	for (size_t i = 0; i < frames->n_fdes; i++)
		if (i == 0 || table->list[i].pc != table->list[i - 1].pc)
			table->list[table->n_list++] = table->list[i];
}

/* Code of FDEs that the table lacks, or for which another FDE is found. */
static void lint_eh_left(struct lint_eh *eh, const struct cfi_frames *frames,
    const struct lint_eh_table *table)
{
	struct lint_eh_frame *result = eh->result;
	const uint64_t counted =
	    result->walked.bytes + result->severe[0].bytes + result->severe[1].bytes;

	if (counted >= result->all.bytes)
		return;
	for (size_t i = 0; i < frames->n_fdes; i++) {
		const struct cfi_fde *fde = &frames->fdes[i];
		const size_t at =
		    search_list_from(table->list, table->n_list, pc, fde->pc);

		if (at < table->n_list && table->list[at].off == fde->off)
			continue;
		lint_eh_broken(eh, LINT_EH_TABLE_ALL, fde->off, fde->pc, 0);
		result->severe[LINT_EH_ENDS].functions++;
	}
	result->rules[LINT_EH_TABLE_ALL].bytes = result->all.bytes - counted;
	result->severe[LINT_EH_ENDS].bytes += result->all.bytes - counted;
}

static bool lint_eh_judge(
    struct lint_eh *eh, const struct cfi_frames *frames, struct err *err)
{
	struct lint_eh_table table = {
	    .list = calloc(frames->n_fdes + 1, sizeof(*table.list))};
	const enum lint_eh_rule hdr = lint_eh_hdr(eh, &table);

	if (!table.list)
		return err_set_nomem(err);
	if (hdr == LINT_EH_KEPT)
		lint_eh_entries(eh, frames, &table);
	else
		lint_eh_make(frames, &table);
	for (size_t i = 0; i < table.n_list; i++) {
		const struct lint_eh_entry *entry = &table.list[i];

		lint_eh_func(eh, entry->off, entry->pc,
		    i + 1 < table.n_list && entry[1].pc < entry->end ? entry[1].pc
								     : entry->end);
	}
	lint_eh_left(eh, frames, &table);
	eh->result->lacks_hdr = hdr == LINT_EH_PHDR && !eh->result->dropped;
	if (hdr != LINT_EH_KEPT)
		lint_eh_broken(eh, hdr, 0, 0, 0);
	free(table.list);
	return true;
}

bool lint_eh_frame(
    const struct image *image, struct lint_eh_frame *result, struct err *err)
{
	struct lint_eh eh = {.image = image,
	    .arch = arch_find(image->ehdr.e_machine, image->big_endian),
	    .result = result};
	struct cfi_frames frames;
	struct cfi_ranges ranges = {0};
	bool found, ok;

	*result = (struct lint_eh_frame){0};
	if (!image_eh_frame(image, &eh.section, &found, NULL, err))
		return false;
	if (!found)
		return err_set(err, ERR_NOTHING, "no .eh_frame, nothing to do");
	if (!cfi_frames_read(&eh.section, &frames, err))
		return false;
	/* The reader takes the code that was asked for, not .text. */
	eh.section.has_text_base = image->first_code < image->n_phdrs;
	if (eh.section.has_text_base)
		eh.section.text_base = image->phdrs[image->first_code].p_vaddr;
	ok = cfi_ranges_read(&frames, &ranges, err);
	if (ok) {
		result->all = (struct lint_eh_sum){
		    frames.n_fdes - ranges.n_duplicates, ranges.code_bytes};
		ok = lint_eh_judge(&eh, &frames, err);
	}
	cfi_ranges_deinit(&ranges);
	cfi_frames_deinit(&frames);
	return ok;
}
