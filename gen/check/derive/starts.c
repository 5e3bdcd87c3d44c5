/* SPDX-License-Identifier: MIT */
#include "gen/check/derive/starts.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/task.h"
#include "base/vec.h"
#include "code/insn.h"
#include "gen/check/relative.h"

bool derive_starts_add(
    struct derive_starts *starts, uint64_t addr, enum derive_doubt doubt)
{
	if (!vec_reserve(&starts->list, &starts->cap, starts->n + 1))
		return false;
	starts->list[starts->n++] = (struct derive_start){addr, (uint8_t)doubt};
	return true;
}

void derive_starts_sort(struct derive_starts *starts)
{
	size_t n = 0;

	if (starts->n)
		qsort(starts->list, starts->n, sizeof(*starts->list), search_order);
	for (size_t i = 0; i < starts->n; i++) {
		struct derive_start *last = n ? &starts->list[n - 1] : NULL;

		if (!last || last->addr != starts->list[i].addr)
			starts->list[n++] = starts->list[i];
		else if (starts->list[i].doubt < last->doubt)
			last->doubt = starts->list[i].doubt;
	}
	starts->n = n;
}

void derive_starts_deinit(struct derive_starts *starts)
{
	free(starts->list);
	*starts = (struct derive_starts){0};
}

/* ---- what the file says ---- */

struct starts_reader {
	const struct image *image;
	const struct cfi_input *input;
	const struct derive_gaps *gaps;
	struct derive_starts *starts;
};

/* The program's own entry is not a function: the kernel goes there without a return address. */
static bool starts_note(
    const struct starts_reader *reader, uint64_t addr, enum derive_doubt doubt)
{
	return addr == reader->image->ehdr.e_entry ||
	       !derive_gap_at(reader->gaps, addr) ||
	       derive_starts_add(reader->starts, addr, doubt);
}

static bool starts_of_symbols(const struct starts_reader *reader)
{
	struct symbols symbols = {0};
	struct err err = {0};
	bool ok = symbols_read(reader->image, &symbols, &err);

	for (size_t i = 0; ok && i < symbols.n; i++)
		ok = starts_note(reader, symbols.list[i].addr,
		    symbols.list[i].rank < SYMBOL_UNTYPED ? DERIVE_SURE : DERIVE_WEAK);
	symbols_deinit(&symbols);
	return ok;
}

static bool starts_note_weak(void *context, uint64_t addr)
{
	return starts_note(context, addr, DERIVE_WEAK);
}

static bool starts_of_sections(struct starts_reader *reader)
{
	for (size_t i = 0; i < reader->image->n_sections; i++) {
		const struct image_section *section = &reader->image->sections[i];

		if (section->data &&
		    (!strcmp(section->name, ".init") ||
			!strcmp(section->name, ".fini")) &&
		    !starts_note(reader, section->hdr.sh_addr, DERIVE_SURE))
			return false;
	}
	return validate_relative_each(reader->image, starts_note_weak, reader);
}

/* ---- what described code says ---- */

/* Constants in registers, along a stretch of code without jumps. */
struct starts_scan {
	struct starts_reader reader;
	struct derive_starts found;
	struct validate_refs refs;
	bool in_gaps;
	size_t first, last; /* ranges of the CFI */
	uint64_t regs[CODE_N_REGS];
	bool known[CODE_N_REGS];
	bool nomem;
};

/* Follows the constants through one effect. Whether *value is a new one. */
static bool scan_effect(
    struct starts_scan *scan, const struct code_effect *effect, uint64_t *value)
{
	bool is_set = effect->kind == CODE_SET && effect->index == CODE_NO_REG &&
		      (effect->base == CODE_NO_REG || scan->known[effect->base]);

	if (effect->kind == CODE_STORE || effect->kind == CODE_COMPARE ||
	    effect->dst == CODE_NO_REG)
		return false;
	scan->known[effect->dst] = is_set;
	if (!is_set)
		return false;
	*value = (uint64_t)effect->off;
	if (effect->base != CODE_NO_REG)
		*value += scan->regs[effect->base];
	scan->regs[effect->dst] = *value;
	return true;
}

/* An address that code refers to. */
static bool scan_note_ref(struct starts_scan *scan, uint64_t addr)
{
	return !image_at_addr(scan->reader.image, addr, 1) ||
	       validate_refs_add(&scan->refs, addr);
}

/* Memory at a constant address. */
static bool scan_access(struct starts_scan *scan, const struct code_effect *effect)
{
	if ((effect->kind != CODE_LOAD && effect->kind != CODE_STORE) ||
	    (effect->base != CODE_NO_REG && !scan->known[effect->base]))
		return true;
	return scan_note_ref(
	    scan, (uint64_t)effect->off +
		      (effect->base != CODE_NO_REG ? scan->regs[effect->base] : 0));
}

static bool scan_insn(struct starts_scan *scan, const struct code_insn *insn)
{
	uint64_t value;

	for (uint8_t i = 0; i < insn->n_effects; i++)
		if (!scan_access(scan, &insn->effects[i]) ||
		    (scan_effect(scan, &insn->effects[i], &value) &&
			(!scan_note_ref(scan, value) ||
			    !starts_note(&scan->reader, value, DERIVE_WEAK))))
			return false;
	for (uint8_t i = 0; i < 32; i++)
		if ((insn->writes | insn->unsure) >> i & 1)
			scan->known[i] = false;
	switch ((enum code_control)insn->control) {
	case CODE_CALLS:
		return starts_note(&scan->reader, insn->target, DERIVE_SURE);
	case CODE_JUMPS:
	case CODE_BRANCHES:
		memset(scan->known, 0, sizeof(scan->known));
		return starts_note(&scan->reader, insn->target, DERIVE_WEAK);
	case CODE_JUMPS_TO:
	case CODE_RETURNS:
	case CODE_STOPS:
		memset(scan->known, 0, sizeof(scan->known));
		break;
	case CODE_BRANCHES_TO:
	case CODE_CALLS_TO:
	case CODE_CONTINUES:
		break;
	}
	return true;
}

static bool scan_bytes(
    struct starts_scan *scan, const uint8_t *bytes, uint64_t start, uint64_t size)
{
	const enum code_machine machine = scan->reader.input->arch->code;
	struct code_insn insn;
	uint64_t at = 0;

	memset(scan->known, 0, sizeof(scan->known));
	while (at < size) {
		if (!code_insn_read(machine, bytes + at, size - at, start + at, &insn)) {
			at += machine == CODE_X86_64 ? 1 : machine == CODE_S390X ? 2 : 4;
			memset(scan->known, 0, sizeof(scan->known));
			continue;
		}
		at += insn.length;
		if (!scan_insn(scan, &insn))
			return false;
	}
	return true;
}

static bool scan_range(struct starts_scan *scan, const struct cfi_range *range)
{
	const uint64_t size = range->end - range->start;
	const uint8_t *bytes = image_at_addr(scan->reader.image, range->start, size);

	return !bytes || scan_bytes(scan, bytes, range->start, size);
}

/* What code without CFI refers to. It may be data: so it says nothing of starts. */
static bool scan_gaps(struct starts_scan *scan)
{
	const struct derive_gaps *gaps = scan->reader.gaps;

	for (size_t i = 0; i < gaps->n; i++) {
		const struct derive_gap *gap = &gaps->list[i];

		if (!scan_bytes(scan, gap->bytes, gap->start, gap->end - gap->start))
			return false;
		scan->found.n = 0;
	}
	return true;
}

static void scan_run(void *context)
{
	struct starts_scan *scan = context;
	const struct cfi_ranges *ranges = &scan->reader.input->ranges;

	scan->reader.starts = &scan->found;
	scan->nomem = scan->in_gaps && !scan_gaps(scan);
	for (size_t i = scan->first; i < scan->last && !scan->nomem; i++)
		scan->nomem = !scan_range(scan, &ranges->list[i]);
}

/* One scan is of the gaps, the others are of ranges of the CFI. */
static bool starts_of_code(
    const struct starts_reader *reader, unsigned int jobs, struct validate_refs *refs)
{
	const struct cfi_ranges *ranges = &reader->input->ranges;
	const size_t n = cfi_ranges_n_parts(ranges, jobs) + 1;
	struct starts_scan *scans = calloc(n, sizeof(*scans));
	bool ok = scans;

	for (size_t i = 0; ok && i < n; i++)
		scans[i] = (struct starts_scan){.reader = *reader,
		    .in_gaps = i == 0,
		    .first = i ? scans[i - 1].last : 0,
		    .last = i ? cfi_ranges_part_end(ranges, i - 1, n - 1) : 0};
	if (ok)
		task_run_all(scan_run, scans, sizeof(*scans), n);
	for (size_t i = 0; scans && i < n; i++) {
		ok = ok && !scans[i].nomem && validate_refs_take(refs, &scans[i].refs);
		for (size_t j = 0; ok && j < scans[i].found.n; j++)
			ok =
			    derive_starts_add(reader->starts, scans[i].found.list[j].addr,
				(enum derive_doubt)scans[i].found.list[j].doubt);
		derive_starts_deinit(&scans[i].found);
		validate_refs_deinit(&scans[i].refs);
	}
	free(scans);
	return ok;
}

bool derive_starts_read(const struct image *image, const struct cfi_input *input,
    const struct derive_gaps *gaps, unsigned int jobs, struct derive_starts *starts,
    struct validate_refs *refs)
{
	struct starts_reader reader = {image, input, gaps, starts};

	*starts = (struct derive_starts){0};
	if (gaps->n && (!starts_of_symbols(&reader) || !starts_of_sections(&reader) ||
			   !starts_of_code(&reader, jobs, refs))) {
		derive_starts_deinit(starts);
		return false;
	}
	derive_starts_sort(starts);
	return true;
}
