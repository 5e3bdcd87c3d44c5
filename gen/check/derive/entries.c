/* SPDX-License-Identifier: MIT */
/* Collects the entries that a file names, and those that described code calls. */
#include "gen/check/derive/entries.h"

#include <stdlib.h>

#include "base/rd.h"
#include "base/search.h"
#include "base/task.h"
#include "base/vec.h"
#include "code/state.h"
#include "gen/check/judge.h"
#include "gen/check/relative.h"

bool derive_entries_add(struct derive_entries *entries, uint64_t addr, uint8_t origin,
    const struct cfi_row *row)
{
	if (!vec_reserve(&entries->list, &entries->cap, entries->n + 1))
		return false;
	entries->list[entries->n++] = (struct derive_entry){.addr = addr,
	    .origin = origin,
	    .open = true,
	    .summary.effect.kept = UINT32_MAX,
	    .row = row ? *row : (struct cfi_row){0}};
	return true;
}

/* Joins two entries of one address. */
static void entry_join(struct derive_entry *entry, const struct derive_entry *other)
{
	const uint8_t both = entry->origin | other->origin;

	if (entry->origin & other->origin & DERIVE_FRAGMENT &&
	    !cfi_row_same(&entry->row, &other->row))
		entry->origin |= DERIVE_MIXED;
	if (!(entry->origin & DERIVE_FRAGMENT))
		entry->row = other->row;
	entry->open |= (entry->origin | both) != entry->origin;
	entry->origin |= both;
	/* A part of a function that is called, too. */
	if (entry->origin & DERIVE_FRAGMENT && derive_entry_is_function(entry))
		entry->origin |= DERIVE_MIXED;
}

/* For qsort: at one address, what is known longer comes first. */
static int entries_order(const void *a, const void *b)
{
	const struct derive_entry *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->open != y->open)
		return x->open ? 1 : -1;
	return (int)y->changes - (int)x->changes;
}

void derive_entries_sort(struct derive_entries *entries)
{
	size_t n = 0;

	if (entries->n)
		qsort(entries->list, entries->n, sizeof(*entries->list), entries_order);
	for (size_t i = 0; i < entries->n; i++) {
		if (n && entries->list[n - 1].addr == entries->list[i].addr)
			entry_join(&entries->list[n - 1], &entries->list[i]);
		else
			entries->list[n++] = entries->list[i];
	}
	entries->n = n;
}

void derive_entries_deinit(struct derive_entries *entries)
{
	free(entries->list);
	*entries = (struct derive_entries){0};
}

struct derive_entry *derive_entry_at(const struct derive_entries *entries, uint64_t addr)
{
	size_t i = search_list_from(entries->list, entries->n, addr, addr);

	return i < entries->n && entries->list[i].addr == addr ? &entries->list[i] : NULL;
}

/* ---- what the file says ---- */

struct entries_reader {
	const struct image *image;
	const struct cfi_input *input;
	const struct derive_gaps *gaps;
	struct derive_entries *entries;
};

static bool entries_note(
    const struct entries_reader *reader, uint64_t addr, enum derive_origin origin)
{
	return !derive_gap_at(reader->gaps, addr) ||
	       derive_entries_add(reader->entries, addr, (uint8_t)origin, NULL);
}

static bool entries_note_named(void *context, uint64_t addr)
{
	return entries_note(context, addr, DERIVE_NAMED);
}

enum { SYMBOL_SIZE = 24 };

/* Functions that the dynamic symbol table exports: another file calls them. */
static bool entries_of_exports(
    const struct entries_reader *reader, const struct image_section *table)
{
	struct rd rd;

	rd_init(&rd, table->data, (size_t)table->hdr.sh_size, reader->image->big_endian);
	while (rd.size - rd.pos >= SYMBOL_SIZE) {
		uint8_t info;
		uint16_t section;
		uint64_t addr;

		rd_u32(&rd);
		info = rd_u8(&rd);
		rd_u8(&rd);
		section = rd_u16(&rd);
		addr = rd_u64(&rd);
		rd_u64(&rd);
		if (section != SHN_UNDEF && GELF_ST_TYPE(info) == STT_FUNC &&
		    !entries_note(reader, addr, DERIVE_SURE))
			return false;
	}
	return true;
}

static bool entries_of_symbols(const struct entries_reader *reader)
{
	struct symbols symbols = {0};
	struct err err = {0};
	bool ok = symbols_read(reader->image, &symbols, &err);

	for (size_t i = 0; ok && i < symbols.n; i++)
		ok = symbols.list[i].rank >= SYMBOL_UNTYPED ||
		     entries_note(reader, symbols.list[i].addr, DERIVE_NAMED);
	symbols_deinit(&symbols);
	for (size_t i = 0; ok && i < reader->image->n_sections; i++) {
		const struct image_section *section = &reader->image->sections[i];

		ok = section->hdr.sh_type != SHT_DYNSYM || !section->data ||
		     entries_of_exports(reader, section);
	}
	return ok;
}

/* Adds the functions that the loader calls by these words of an array. Those of a
 * position-independent file are named by relocations, too. */
static bool entries_of_array(
    const struct entries_reader *reader, int64_t tag, int64_t size_tag)
{
	uint64_t addr, size;
	const uint8_t *bytes;
	struct rd rd;

	if (!image_dynamic(reader->image, tag, &addr) ||
	    !image_dynamic(reader->image, size_tag, &size))
		return true;
	bytes = image_at_addr(reader->image, addr, size);
	if (!bytes)
		return true;
	rd_init(&rd, bytes, (size_t)size, reader->image->big_endian);
	while (rd.size - rd.pos >= 8)
		if (!entries_note(reader, rd_u64(&rd), DERIVE_SURE))
			return false;
	return true;
}

static bool entries_of_loader(struct entries_reader *reader)
{
	uint64_t addr;

	return (!image_dynamic(reader->image, DT_INIT, &addr) ||
		   entries_note(reader, addr, DERIVE_SURE)) &&
	       (!image_dynamic(reader->image, DT_FINI, &addr) ||
		   entries_note(reader, addr, DERIVE_SURE)) &&
	       entries_of_array(reader, DT_PREINIT_ARRAY, DT_PREINIT_ARRAYSZ) &&
	       entries_of_array(reader, DT_INIT_ARRAY, DT_INIT_ARRAYSZ) &&
	       entries_of_array(reader, DT_FINI_ARRAY, DT_FINI_ARRAYSZ) &&
	       validate_relative_each(reader->image, entries_note_named, reader);
}

/* ---- addresses in code ---- */

/* True for lea disp(%rip), larl and adr. */
static bool is_pc_relative(enum code_machine machine, const uint8_t *bytes,
    uint8_t length, uint64_t pc, uint64_t value)
{
	const uint8_t *end = bytes + length;
	uint32_t disp;

	if (machine == CODE_S390X)
		return length == 6 && bytes[0] == 0xc0 && !(bytes[1] & 0x0f);
	if (machine == CODE_AARCH64)
		return (bytes[3] & 0x9f) == 0x10;
	if (length < 7)
		return false;
	disp = (uint32_t)end[-4] | (uint32_t)end[-3] << 8 | (uint32_t)end[-2] << 16 |
	       (uint32_t)end[-1] << 24;
	return pc + length + (uint64_t)(int64_t)(int32_t)disp == value;
}

bool derive_makes_address(const struct image *image, enum code_machine machine,
    uint64_t pc, const struct code_insn *insn, const struct code_value *regs,
    uint64_t *addr)
{
	const struct code_effect *effect = &insn->effects[0];
	const uint8_t *bytes = image_at_addr(image, pc, insn->length);

	/* A call puts into a register where it returns to, which is no function. */
	if (insn->n_effects != 1 || effect->kind != CODE_SET || effect->width != 8 ||
	    effect->index != CODE_NO_REG || insn->control != CODE_CONTINUES || !bytes)
		return false;
	*addr = (uint64_t)effect->off;
	if (effect->base == CODE_NO_REG)
		return is_pc_relative(machine, bytes, insn->length, pc, *addr);
	/* An offset behind a page that adrp made. */
	*addr += (uint64_t)regs[effect->base].off;
	return machine == CODE_AARCH64 && regs[effect->base].kind == CODE_CONST &&
	       !(regs[effect->base].off & 4095) && effect->off >= 0 && effect->off < 4096;
}

/* ---- what described code says ---- */

struct entries_scan {
	struct entries_reader reader;
	struct derive_entries found;
	struct cfi_interp interp;
	size_t first, last; /* ranges of the CFI */
	uint32_t fde;	    /* that interp has the rows of; UINT32_MAX: none */
	bool lost; /* the row of what is read now is not known, or it may be data */
	bool nomem;
};

/* Notes a jump: a tail call where the row is an entry's, else into a part of the same function. */
static bool scan_jump(struct entries_scan *scan, uint64_t pc, uint64_t target)
{
	const struct arch *arch = scan->reader.input->arch;
	const struct cfi_row *row;
	struct code_state entry;

	if (!derive_gap_at(scan->reader.gaps, target))
		return true;
	if (scan->lost)
		return entries_note(
		    &scan->reader, target, DERIVE_FRAGMENT | DERIVE_MIXED);
	row = &scan->interp.table.rows[cfi_table_row_at(&scan->interp.table, pc)];
	code_state_entry(code_abi(arch->code), &entry);
	/* A frame without a caller, or without its frame pointer, is no entry's. */
	if (validate_row(arch, row, &entry).verdict == VALIDATE_AGREES &&
	    row->ra.kind != CFI_UNDEFINED && row->fp.kind != CFI_UNDEFINED)
		return entries_note(&scan->reader, target, DERIVE_SURE);
	return derive_entries_add(&scan->found, target, DERIVE_FRAGMENT, row);
}

static bool scan_insn(struct entries_scan *scan, uint64_t pc,
    const struct code_insn *insn, struct code_state *state)
{
	const struct code_abi *abi = code_abi(scan->reader.input->arch->code);

	uint64_t addr;

	if (!scan->lost &&
	    derive_makes_address(scan->reader.image, scan->reader.input->arch->code, pc,
		insn, state->regs, &addr) &&
	    !entries_note(&scan->reader, addr, DERIVE_NAMED))
		return false;
	code_state_step(state, abi, pc, insn);
	switch ((enum code_control)insn->control) {
	case CODE_CALLS:
		return scan->lost ||
		       entries_note(&scan->reader, insn->target, DERIVE_SURE);
	case CODE_BRANCHES:
		return scan_jump(scan, pc, insn->target);
	case CODE_JUMPS:
		code_state_unknown(state);
		return scan_jump(scan, pc, insn->target);
	case CODE_JUMPS_TO:
	case CODE_RETURNS:
	case CODE_STOPS:
		code_state_unknown(state);
		break;
	case CODE_BRANCHES_TO:
	case CODE_CALLS_TO:
	case CODE_CONTINUES:
		break;
	}
	return true;
}

/* Reads the rows of the range. False: out of memory. */
static bool scan_rows(struct entries_scan *scan, const struct cfi_range *range)
{
	const struct cfi_ranges *ranges = &scan->reader.input->ranges;
	const struct cfi_fde *fde = &scan->reader.input->frames.fdes[range->fde];
	struct err broken = {0};

	scan->lost = range->overlapping || fde->program_len > VALIDATE_MAX_ASKED;
	/* An FDE can be divided into as many ranges as it has rows. */
	if (scan->lost || scan->fde == range->fde)
		return true;
	scan->fde = UINT32_MAX;
	scan->interp.max_expr_ops =
	    cfi_ranges_expr_ops(ranges, (size_t)(range - ranges->list));
	if (cfi_interpret(&scan->interp, fde, &broken))
		scan->fde = range->fde;
	else
		scan->lost = true;
	return broken.kind != ERR_NOMEM;
}

static bool scan_range(struct entries_scan *scan, const struct cfi_range *range)
{
	const enum code_machine machine = scan->reader.input->arch->code;
	const uint64_t size = range->end - range->start;
	const uint8_t *bytes = image_at_addr(scan->reader.image, range->start, size);
	const uint8_t step = machine == CODE_X86_64 ? 1 : machine == CODE_S390X ? 2 : 4;
	struct code_state state;
	struct code_insn insn = {.control = CODE_STOPS};

	if (!bytes)
		return true;
	if (!scan_rows(scan, range))
		return false;
	code_state_unknown(&state);
	for (uint64_t at = 0; at < size; at += insn.length) {
		/* Bytes that cannot be read may be data, and so may all that follows. */
		if (!code_insn_read(
			machine, bytes + at, size - at, range->start + at, &insn)) {
			scan->lost = true;
			insn.length = step;
			insn.control = CODE_STOPS;
			continue;
		}
		if (!scan_insn(scan, range->start + at, &insn, &state))
			return false;
	}
	/* The last instruction may run into the code behind it. */
	return (insn.control != CODE_CONTINUES && insn.control != CODE_BRANCHES) ||
	       scan_jump(scan, range->end - 1, range->end);
}

static void scan_run(void *context)
{
	struct entries_scan *scan = context;
	const struct cfi_input *input = scan->reader.input;

	scan->reader.entries = &scan->found;
	scan->fde = UINT32_MAX;
	cfi_interp_init(&scan->interp, &input->frames, &input->arch->cfi);
	for (size_t i = scan->first; i < scan->last && !scan->nomem; i++)
		scan->nomem = !scan_range(scan, &input->ranges.list[i]);
	cfi_interp_deinit(&scan->interp);
}

static bool entries_of_code(const struct entries_reader *reader, unsigned int jobs)
{
	const struct cfi_ranges *ranges = &reader->input->ranges;
	const size_t n = cfi_ranges_n_parts(ranges, jobs);
	struct entries_scan *scans = calloc(n + 1, sizeof(*scans));
	bool ok = scans;

	for (size_t i = 0; ok && i < n; i++)
		scans[i] = (struct entries_scan){.reader = *reader,
		    .first = i ? scans[i - 1].last : 0,
		    .last = cfi_ranges_part_end(ranges, i, n)};
	if (ok)
		task_run_all(scan_run, scans, sizeof(*scans), n);
	for (size_t i = 0; scans && i < n; i++) {
		struct derive_entries *found = &scans[i].found;

		ok = ok && !scans[i].nomem;
		derive_entries_sort(found);
		for (size_t j = 0; ok && j < found->n; j++)
			ok = derive_entries_add(reader->entries, found->list[j].addr,
			    found->list[j].origin, &found->list[j].row);
		derive_entries_deinit(found);
	}
	free(scans);
	return ok;
}

bool derive_entries_read(const struct image *image, const struct cfi_input *input,
    const struct derive_gaps *gaps, unsigned int jobs, struct derive_entries *entries)
{
	struct entries_reader reader = {image, input, gaps, entries};
	bool ok = entries_note(&reader, image->ehdr.e_entry, DERIVE_START) &&
		  entries_of_symbols(&reader) && entries_of_loader(&reader) &&
		  entries_of_code(&reader, jobs);

	derive_entries_sort(entries);
	/* The kernel goes to the program's entry, and no call does: a symbol that names it is no evidence. */
	for (size_t i = 0; ok && i < entries->n; i++)
		if (entries->list[i].origin & DERIVE_START)
			entries->list[i].origin = DERIVE_START;
	return ok;
}
