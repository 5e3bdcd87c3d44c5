/* SPDX-License-Identifier: MIT */
/*
 * cfi_rows [--vector] [--machine=NAME] FILE...: prints the rows of every FDE, for the
 * oracles and the vectors to compare. --vector prints what a person can predict:
 * addresses relative to the FDE, offsets, diagnostics and errors.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/oracle/eh_file.h"
#include "tests/oracle/rule_text.h"

struct options {
	bool vector;
	bool has_machine;
	struct cfi_machine machine;
};

/* The table of an FDE, or without one (t is NULL) why there is none. */
static void print_fde(const struct options *opt, const struct cfi_fde *fde,
    const struct cfi_table *t, const struct err *err)
{
	uint64_t base = opt->vector ? fde->pc : 0;
	const char *prefix = opt->vector ? "+" : "";

	printf("fde %s%" PRIx64 "..%s%" PRIx64 "%s\n", prefix, fde->pc - base, prefix,
	    fde->pc + fde->range - base,
	    opt->vector && t && t->pc_dependent ? " pc-dependent" : "");
	if (!t)
		/* The offset in front depends on the assembler: only the words count. */
		printf("error%s\n", strchr(err->text, ':'));
	for (size_t i = 0; t && i < t->n_rows; i++) {
		printf("%s%" PRIx64, prefix, t->rows[i].pc - base);
		row_print(stdout, &t->rows[i]);
	}
}

static void print_diags(const struct cfi_frames *frames)
{
	for (size_t i = 0; i < frames->n_diags; i++) {
		const struct cfi_diag *d = &frames->diags[i];

		printf("diag %s: %s\n", cfi_diag_name(d->kind), d->text);
	}
}

static bool print_file(const struct options *opt, const struct eh_file *file)
{
	struct err err = {0};
	struct cfi_frames frames;
	struct cfi_interp interp;

	if (!cfi_frames_read(&file->section, &frames, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return false;
	}
	cfi_interp_init(
	    &interp, &frames, opt->has_machine ? &opt->machine : &file->machine);
	for (size_t i = 0; i < frames.n_fdes; i++) {
		bool ok = cfi_interpret(&interp, &frames.fdes[i], &err);

		print_fde(opt, &frames.fdes[i], ok ? &interp.table : NULL, &err);
	}
	if (opt->vector)
		print_diags(&frames);
	cfi_interp_deinit(&interp);
	cfi_frames_deinit(&frames);
	return true;
}

int main(int argc, char **argv)
{
	static const char machine_option[] = "--machine=";
	struct options opt = {0};
	int i;

	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		if (strcmp(argv[i], "--vector") == 0)
			opt.vector = true;
		else if (strncmp(argv[i], machine_option, strlen(machine_option)) == 0 &&
			 eh_machine(argv[i] + strlen(machine_option), &opt.machine))
			opt.has_machine = true;
		else
			return fprintf(stderr, "cfi_rows: bad option %s\n", argv[i]), 2;
	}
	for (; i < argc; i++) {
		struct eh_file file;
		bool ok;

		if (!eh_file_open(argv[i], &file)) {
			fprintf(stderr, "cfi_rows: %s: no CFI to read\n", argv[i]);
			return 1;
		}
		ok = print_file(&opt, &file);
		eh_file_close(&file);
		if (!ok)
			return 1;
	}
	return EXIT_SUCCESS;
}
