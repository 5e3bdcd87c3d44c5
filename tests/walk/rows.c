/* SPDX-License-Identifier: MIT */
/*
 * walk_rows FILE...: compares what eh2sframe_walk_look_up says with this project's decoder:
 * where a row starts, in the last byte that it holds for, and around functions. Each PC is
 * looked up without an index, with one, and through the words of the cache. Prints a line for
 * each file; fails when a file has no section or an answer differs.
 */
#include <err.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sframe/decode.h"
#include "sframe/format.h"
#include "walk/quick.h"

struct rows {
	const char *path;
	struct sf_view view;
	struct eh2sframe_walk_section plain, indexed;
	const struct sf_abi *abi;
	size_t n_checked, n_packed, n_quick, n_wrong;
};

static struct eh2sframe_location location(struct sf_loc loc, int32_t off)
{
	static const uint8_t places[] = {
	    [SF_LOC_NONE] = EH2SFRAME_PLACE_SAME,
	    [SF_LOC_AT_CFA] = EH2SFRAME_PLACE_AT_CFA,
	    [SF_LOC_REG] = EH2SFRAME_PLACE_REGISTER,
	    [SF_LOC_AT_REG] = EH2SFRAME_PLACE_AT_REGISTER,
	};

	return (struct eh2sframe_location){
	    .place = places[loc.kind], .reg = loc.reg, .offset = loc.kind ? off : 0};
}

/* The decoder's row in the words of the walker. */
static struct eh2sframe_rule expected(
    const struct rows *rows, const struct sf_func *func, const struct sf_row *row)
{
	struct eh2sframe_rule rule = {.cfa = location(row->cfa, row->cfa_off),
	    .ra = location(row->ra, row->ra_off),
	    .fp = location(row->fp, row->fp_off)};

	if (rule.ra.place == EH2SFRAME_PLACE_SAME && rows->view.fixed_ra_off)
		rule.ra = (struct eh2sframe_location){
		    .place = EH2SFRAME_PLACE_AT_CFA, .offset = rows->view.fixed_ra_off};
	if (row->outermost)
		rule.flags |= EH2SFRAME_FLAG_OUTERMOST;
	if (func->signal_frame)
		rule.flags |= EH2SFRAME_FLAG_SIGNAL_FRAME;
	if (row->ra_signed && rows->abi->has_pauth)
		rule.flags |= EH2SFRAME_FLAG_SIGNED;
	if (func->pauth_b && rows->abi->has_pauth)
		rule.flags |= EH2SFRAME_FLAG_KEY_B;
	return rule;
}

static bool same_place(
    const struct eh2sframe_location *a, const struct eh2sframe_location *b)
{
	return a->place == b->place && a->reg == b->reg && a->offset == b->offset;
}

static bool same_rule(const struct eh2sframe_rule *a, const struct eh2sframe_rule *b)
{
	if (a->flags != b->flags)
		return false;
	return a->flags & EH2SFRAME_FLAG_OUTERMOST ||
	       (same_place(&a->cfa, &b->cfa) && same_place(&a->ra, &b->ra) &&
		   same_place(&a->fp, &b->fp) && a->cfa_add == b->cfa_add);
}

static void wrong(struct rows *rows, uint64_t pc, const char *what)
{
	if (rows->n_wrong++ < 10)
		printf("%s: 0x%" PRIx64 ": %s\n", rows->path, pc, what);
}

/* The rule, NULL for none, at pc. */
static void check_at(struct rows *rows, uint64_t pc, const struct eh2sframe_rule *rule)
{
	enum eh2sframe_walk_machine machine = walk_machine(walk_opened(&rows->plain));
	const struct eh2sframe_walk_section *sections[] = {&rows->plain, &rows->indexed};
	struct eh2sframe_rule got = {0};
	uint64_t word, quick;

	rows->n_checked++;
	for (size_t i = 0; i < 2; i++) {
		enum eh2sframe_walk_why why =
		    eh2sframe_walk_look_up(sections[i], pc, &got);

		if (why !=
		    (rule ? EH2SFRAME_WALK_WHY_GOES_ON : EH2SFRAME_WALK_WHY_NO_ROW))
			wrong(rows, pc, eh2sframe_walk_why_text(why));
		else if (rule && !same_rule(rule, &got))
			wrong(
			    rows, pc, i ? "another rule with an index" : "another rule");
		quick = walk_quick(walk_opened(sections[i]), machine, pc);
		if (quick == 0)
			continue;
		rows->n_quick++;
		got = walk_unpack(machine, quick);
		if (!rule || !same_rule(rule, &got))
			wrong(rows, pc, "another rule on the quick way");
	}
	if (!rule || !walk_pack(machine, rule, &word))
		return;
	rows->n_packed++;
	got = walk_unpack(machine, word);
	if (!same_rule(rule, &got))
		wrong(rows, pc, "another rule out of the cache");
}

/* Where a row holds: in [start, end) of the function or of its first, second and last block. */
static void check_row(struct rows *rows, const struct sf_func *func,
    const struct eh2sframe_rule *rule, uint64_t start, uint64_t end)
{
	uint64_t step = func->pcmask ? func->rep_size : func->size,
		 last = (func->size - 1) / step;

	for (uint64_t block = 0; block <= last; block = block < 1      ? block + 1
							: block < last ? last
								       : last + 1) {
		uint64_t from = block * step + start, to = block * step + end;

		if (to > func->size)
			to = func->size;
		if (from >= to)
			continue;
		check_at(rows, func->start + from, rule);
		check_at(rows, func->start + to - 1, rule);
	}
}

static void check_function(struct rows *rows, const struct sf_view_func *view)
{
	const struct sf_func *func = &view->func;
	uint64_t size = func->pcmask ? func->rep_size : func->size;
	bool none = func->pcmask && rows->view.version == 1, have = false;
	struct eh2sframe_rule rule;
	struct sf_row_iter iter;
	struct err error = {0};
	uint64_t start = 0;
	struct sf_row row;

	if (func->size == 0)
		return;
	for (sf_rows_begin(&rows->view, view, &iter);
	     sf_rows_next(&iter, &row, &error);) {
		if (row.start > start)
			check_row(
			    rows, func, have && !none ? &rule : NULL, start, row.start);
		rule = expected(rows, func, &row);
		start = row.start;
		have = true;
	}
	if (iter.failed)
		errx(EXIT_FAILURE, "%s: %s", rows->path, error.text);
	check_row(rows, func, have && !none ? &rule : NULL, start, size);
}

/* All functions, and the bytes beside them that have no rows. */
static void check_section(struct rows *rows)
{
	uint64_t end = 0;

	for (uint32_t i = 0; i < rows->view.n_funcs; i++) {
		struct sf_view_func func;
		struct err error = {0};

		if (!sf_view_func(&rows->view, i, &func, &error))
			errx(EXIT_FAILURE, "%s: %s", rows->path, error.text);
		if (func.func.start > end) {
			check_at(rows, end, NULL);
			check_at(rows, func.func.start - 1, NULL);
		}
		check_function(rows, &func);
		end = func.func.start + func.func.size;
	}
	check_at(rows, end, NULL);
	check_at(rows, UINT64_MAX - 1, NULL);
}

static bool check_bytes(
    const char *path, const void *bytes, size_t size, uint64_t address)
{
	struct rows rows = {.path = path};
	struct err error = {0};
	uint8_t *copy = malloc(size);
	void *index;

	if (!copy)
		errx(EXIT_FAILURE, "out of memory");
	/* A block of that size, so that a sanitizer sees a read past the end. */
	memcpy(copy, bytes, size);
	if (!sf_view_open(copy, size, address, &rows.view, &error))
		errx(EXIT_FAILURE, "%s: %s", path, error.text);
	rows.abi = sf_abi_find(rows.view.abi);
	if (!eh2sframe_walk_open(&rows.plain, copy, size, address, 0, UINT64_MAX))
		errx(EXIT_FAILURE, "%s: the walker does not open the section", path);
	rows.indexed = rows.plain;
	index = malloc(eh2sframe_walk_index_size(&rows.indexed));
	if (!index)
		errx(EXIT_FAILURE, "out of memory");
	eh2sframe_walk_index_make(&rows.indexed, index);
	walk_opening(&rows.indexed)->index = NULL;
	if (!eh2sframe_walk_index_use(
		&rows.indexed, index, eh2sframe_walk_index_size(&rows.indexed)))
		errx(EXIT_FAILURE, "%s: the index of the section is not taken", path);
	check_section(&rows);
	printf("%s: version %u, %" PRIu32
	       " functions, %zu PCs, %zu in the cache's words, %zu on the "
	       "quick way, %zu wrong\n",
	    path, rows.view.version, rows.view.n_funcs, rows.n_checked, rows.n_packed,
	    rows.n_quick / 2, rows.n_wrong);
	/* Versions 2 and 3 of the machines that need no other way have it. */
	if (walk_opened(&rows.plain)->quick && rows.view.n_funcs > 20 &&
	    rows.n_quick < rows.n_checked)
		rows.n_wrong++;
	free(index);
	free(copy);
	return rows.n_wrong == 0 && rows.n_checked > rows.view.n_funcs;
}

/* The first section of that name, with its bytes. */
static bool check_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	Elf_Scn *scn = NULL;
	size_t names;
	bool good = false;

	if (!elf || elf_getshdrstrndx(elf, &names) != 0)
		errx(EXIT_FAILURE, "%s: not an ELF file", path);
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name;
		Elf_Data *data;
		GElf_Shdr shdr;

		if (!gelf_getshdr(scn, &shdr))
			continue;
		name = elf_strptr(elf, names, shdr.sh_name);
		if (!name || strcmp(name, ".sframe") != 0)
			continue;
		data = elf_rawdata(scn, NULL);
		good = data && check_bytes(path, data->d_buf, data->d_size, shdr.sh_addr);
		break;
	}
	if (!scn)
		printf("%s: no section\n", path);
	elf_end(elf);
	close(fd);
	return good;
}

int main(int argc, char **argv)
{
	bool good = argc > 1;

	elf_version(EV_CURRENT);
	for (int i = 1; i < argc; i++)
		good &= check_file(argv[i]);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
