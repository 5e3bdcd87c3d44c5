/* SPDX-License-Identifier: MIT */
/*
 * libdw_rows FILE: rows of a section, from standard input (row_lines.h), beside what elfutils' dwarf_cfi_addrframe says
 * of the file's CFI. Each row is asked for at its start, and again where elfutils' own row ends.
 */
#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/corpus/row_lines.h"

static const struct machine {
	int e_machine, fp, ra;
} machines[] = {{EM_X86_64, 6, 16}, {EM_AARCH64, 29, 30}, {EM_S390, 11, 14}};

struct witness {
	Dwarf_CFI *cfi;
	const struct machine *machine;
};

static struct line_rule cfa_rule(const Dwarf_Op *ops, size_t n)
{
	struct line_rule rule = {LINE_ANY, 0, 0};

	if (n != 1)
		return rule;
	if (ops->atom >= DW_OP_breg0 && ops->atom <= DW_OP_breg31)
		rule = (struct line_rule){
		    LINE_REGISTER, ops->atom - DW_OP_breg0, (int64_t)ops->number};
	else if (ops->atom == DW_OP_bregx)
		rule = (struct line_rule){
		    LINE_REGISTER, (unsigned)ops->number, (int64_t)ops->number2};
	return rule;
}

static struct line_rule saved_rule(const Dwarf_Op *ops, size_t n)
{
	struct line_rule rule = {LINE_ANY, 0, 0};

	/* Undefined and the same value: neither is saved. */
	if (n == 0)
		rule.kind = LINE_UNSAVED;
	else if (n == 1 && ops[0].atom == DW_OP_regx)
		rule = (struct line_rule){LINE_REGISTER, (unsigned)ops[0].number, 0};
	else if (n == 1 && ops[0].atom == DW_OP_call_frame_cfa)
		rule.kind = LINE_AT_CFA;
	else if (n == 2 && ops[0].atom == DW_OP_call_frame_cfa &&
		 ops[1].atom == DW_OP_plus_uconst)
		rule = (struct line_rule){LINE_AT_CFA, 0, (int64_t)ops[1].number};
	return rule;
}

/* The rules at pc, and in found->end where they may change; false where there are none. */
static bool ask(const struct witness *w, uint64_t pc, struct row_line *found)
{
	Dwarf_Op memory[3], *ops;
	Dwarf_Frame *frame;
	Dwarf_Addr start, end;
	bool signal_frame, ok;
	size_t n;

	if (dwarf_cfi_addrframe(w->cfi, pc, &frame) != 0)
		return false;
	ok = dwarf_frame_info(frame, &start, &end, &signal_frame) >= 0 &&
	     dwarf_frame_cfa(frame, &ops, &n) == 0;
	if (ok) {
		found->start = pc;
		found->end = end;
		found->cfa = cfa_rule(ops, n);
		ok = dwarf_frame_register(frame, w->machine->fp, memory, &ops, &n) == 0;
	}
	if (ok) {
		found->fp = saved_rule(ops, n);
		ok = dwarf_frame_register(frame, w->machine->ra, memory, &ops, &n) == 0;
	}
	if (ok)
		found->ra = saved_rule(ops, n);
	free(frame);
	return ok;
}

static void compare(
    const struct witness *w, const struct row_line *row, struct row_counts *counts)
{
	struct row_line found;
	uint64_t pc = row->start;

	while (pc < row->end) {
		counts->asked++;
		/* Without a row there is no place where the next one begins. */
		if (!ask(w, pc, &found)) {
			counts->none++;
			return;
		}
		row_line_compare(row, pc, &found, counts);
		if (found.end <= pc)
			return;
		pc = found.end;
	}
}

static bool witness_open(Elf *elf, struct witness *w)
{
	GElf_Ehdr header;

	if (!elf || !gelf_getehdr(elf, &header))
		return false;
	w->machine = NULL;
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
		if (machines[i].e_machine == header.e_machine)
			w->machine = &machines[i];
	}
	w->cfi = w->machine ? dwarf_getcfi_elf(elf) : NULL;
	return w->cfi != NULL;
}

int main(int argc, char **argv)
{
	struct row_counts counts = {0};
	struct witness w;
	struct row_line row;
	Elf *elf;
	int fd, status;

	elf_version(EV_CURRENT);
	fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
	elf = fd >= 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
	if (!witness_open(elf, &w)) {
		fprintf(stderr, "libdw_rows: give a linked file with CFI\n");
		return 2;
	}
	while (row_line_read(stdin, &row))
		compare(&w, &row, &counts);
	if (!feof(stdin)) {
		fprintf(stderr, "libdw_rows: a line is no row\n");
		return 2;
	}
	status = row_counts_print(&counts);
	dwarf_cfi_end(w.cfi);
	elf_end(elf);
	close(fd);
	return status;
}
