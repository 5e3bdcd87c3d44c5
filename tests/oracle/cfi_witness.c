/* SPDX-License-Identifier: MIT */
/*
 * cfi_libdwarf [--max-rows=N] FILE...: the interpreter against libdwarf, FDE by FDE and
 * row by row. Files without CFI, and sections that libdwarf refuses as a whole, are
 * counted and passed over; any difference, or nothing compared at all, is a failure.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cfi/libdwarf.h"
#include "tests/oracle/eh_file.h"
#include "tests/oracle/rule_text.h"

#define MAX_SHOWN 5u

struct counts {
	size_t files, fdes, rows, no_cfi, refused, cut, errors, differences;
};

static int compare_pc(const void *a, const void *b)
{
	const struct cfi_fde *x = a, *y = b;

	if (x->pc != y->pc)
		return x->pc < y->pc ? -1 : 1;
	return x->range < y->range ? -1 : x->range > y->range;
}

/* A rule that is opaque to us cannot disagree. */
static bool rule_agrees(const struct cfi_rule *own, const struct cfi_rule *other)
{
	return own->kind == CFI_OPAQUE || cfi_rule_equal(own, other);
}

/* Both tables up to where the witness was asked, wherever either has a row. */
static bool tables_agree(const struct cfi_table *own, const struct cfi_table *other)
{
	size_t i = 0, k = 0;

	while (i < own->n_rows && own->rows[i].pc < other->end && k < other->n_rows) {
		const struct cfi_row *a = &own->rows[i], *b = &other->rows[k];
		uint64_t a_end = i + 1 < own->n_rows ? own->rows[i + 1].pc : own->end;
		uint64_t b_end =
		    k + 1 < other->n_rows ? other->rows[k + 1].pc : other->end;

		if (!rule_agrees(&a->cfa, &b->cfa) || !rule_agrees(&a->sp, &b->sp) ||
		    !rule_agrees(&a->fp, &b->fp) || !rule_agrees(&a->ra, &b->ra))
			return false;
		i += a_end <= b_end;
		k += b_end <= a_end;
	}
	return own->rows[0].pc == other->rows[0].pc && k == other->n_rows;
}

static void show(const char *who, const struct cfi_table *t)
{
	printf(" %s %" PRIx64 "..%" PRIx64 "\n", who, t->start, t->end);
	for (size_t i = 0; i < t->n_rows && i < 40; i++) {
		printf("  %" PRIx64, t->rows[i].pc);
		row_print(stdout, &t->rows[i]);
	}
}

struct pair {
	struct cfi_interp interp;
	struct cfi_libdwarf *witness;
	size_t max_rows;
};

static void compare_fde(struct pair *p, size_t i, const char *path, struct counts *counts)
{
	const struct cfi_frames *frames = p->interp.frames;
	const struct cfi_table *other;
	struct err err = {0};
	struct cfi_fde key = {0}, *own;
	uint64_t end;

	if (!cfi_libdwarf_table(p->witness, i, p->max_rows, &other, &end, &err)) {
		printf("%s: %s\n", path, err.text);
		counts->errors++;
		return;
	}
	key.pc = other->start;
	/* A cut table has a nearer end, so the range is looked up by address alone then.
	 */
	own = NULL;
	for (size_t lo = 0, hi = frames->n_fdes; lo < hi;) {
		size_t mid = lo + (hi - lo) / 2;

		if (frames->fdes[mid].pc == key.pc) {
			own = &frames->fdes[mid];
			break;
		}
		if (frames->fdes[mid].pc < key.pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!own && (other->start == 0 || other->start == other->end))
		return;
	if (own && !cfi_interpret(&p->interp, own, &err)) {
		printf("%s: %s\n", path, err.text);
		counts->errors++;
		return;
	}
	if (!own || !tables_agree(&p->interp.table, other)) {
		if (counts->differences++ < MAX_SHOWN) {
			printf("%s: difference %s\n", path,
			    own ? err.text : "(no such FDE)");
			show("libdwarf", other);
			if (own)
				show("own", &p->interp.table);
		}
		return;
	}
	counts->fdes++;
	counts->rows += other->n_rows;
	counts->cut += other->end < end;
}

static bool compare_file(
    const char *path, const struct eh_file *file, size_t max_rows, struct counts *counts)
{
	struct err err = {0};
	struct cfi_frames frames;
	struct pair p = {.max_rows = max_rows};
	size_t n;

	if (file->section.size == 0) {
		counts->no_cfi++;
		return true;
	}
	p.witness = cfi_libdwarf_new(&file->section, &file->machine, &err);
	if (!p.witness) {
		printf("%s: %s\n", path, err.text);
		counts->refused++;
		return err.kind == ERR_UNSUPPORTED;
	}
	if (!cfi_frames_read(&file->section, &frames, &err)) {
		cfi_libdwarf_free(p.witness);
		return false;
	}
	if (frames.n_fdes)
		qsort(frames.fdes, frames.n_fdes, sizeof(*frames.fdes), compare_pc);
	cfi_interp_init(&p.interp, &frames, &file->machine);
	n = cfi_libdwarf_n_fdes(p.witness);
	if (n < frames.n_fdes) {
		printf("%s: libdwarf lists %zu FDEs, the reader %zu\n", path, n,
		    frames.n_fdes);
		counts->differences++;
	}
	for (size_t i = 0; i < n; i++)
		compare_fde(&p, i, path, counts);
	counts->files++;
	cfi_interp_deinit(&p.interp);
	cfi_frames_deinit(&frames);
	cfi_libdwarf_free(p.witness);
	return true;
}

int main(int argc, char **argv)
{
	static const char max_option[] = "--max-rows=";
	struct counts counts = {0};
	size_t max_rows = 256;
	bool ok = true;

	for (int i = 1; i < argc; i++) {
		struct eh_file file;

		if (strncmp(argv[i], max_option, strlen(max_option)) == 0) {
			max_rows = strtoul(argv[i] + strlen(max_option), NULL, 10);
			continue;
		}
		if (!eh_file_open(argv[i], &file)) {
			counts.no_cfi++;
			continue;
		}
		ok = compare_file(argv[i], &file, max_rows, &counts) && ok;
		eh_file_close(&file);
	}
	printf("libdwarf: %zu files, %zu FDEs and %zu rows equal, %zu cut short, %zu "
	       "different, "
	       "%zu FDEs refused, %zu sections refused, %zu files without CFI\n",
	    counts.files, counts.fdes, counts.rows, counts.cut, counts.differences,
	    counts.errors, counts.refused, counts.no_cfi);
	if (!ok || counts.differences || counts.rows == 0)
		return EXIT_FAILURE;
	return EXIT_SUCCESS;
}
