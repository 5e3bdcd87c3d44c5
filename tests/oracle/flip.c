/* SPDX-License-Identifier: MIT */
/*
 * flip LIST FILE...: converts each file in every version that its machine has, flips every bit of
 * the section, and asks the proof and the rules of readers. A flip that neither finds must be at a
 * place that LIST names with its reason, and the walker, which shares no code with either, must
 * answer every address as before. An entry of LIST that no flip needs fails. TAP.
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/check/derive/derive.h"
#include "gen/convert.h"
#include "gen/verify/lint.h"
#include "gen/verify/verify.h"
#include "include/eh2sframe-walk.h"
#include "sframe/cursor.h"
#include "sframe/format.h"
#include "tests/oracle/flip_place.h"

enum found {
	BY_NOTHING,
	BY_OPENING, /* the section cannot be read */
	BY_CHECKS,  /* it breaks the format, or its header is another machine's */
	BY_ROWS,    /* a row differs from CFI, template or code */
	BY_MISSING, /* code could have a row and has none */
	BY_LINT,    /* a rule of a reader alone */
	N_FOUND,
};

/* A line of LIST: "VERSIONS PLACE: REASON". */
struct entry {
	char *text, *versions, *place;
	bool needed;
};

static struct entry *entries;
static size_t n_entries;
static unsigned int n_checks, n_failed;

/* Kinds of rows and functions, and of proofs for rows. */
enum kind {
	PCMASK,
	FLEXIBLE,
	SIGNAL_FRAME,
	RA_SIGNED,
	KEY_B,
	OUTERMOST,
	PADDING,
	TEMPLATE,
	DERIVED,
	N_KINDS,
};

static const char *const kind_names[N_KINDS] = {"a PCMASK function",
    "a flexible function", "a signal frame", "a signed return address", "key B",
    "an outermost row", "a row over padding", "a row of a PLT template", "a derived row"};
static bool kinds[N_KINDS], has_aarch64;

/* A converted file, and all that its proof reads beside the section. */
struct subject {
	char name[256];
	void *elf;
	struct image image;
	struct options options;
	struct cfi_input input;
	struct sf_view view;
	uint8_t *bytes; /* the section, to be flipped */
	uint64_t *pcs;	/* that the walker is asked */
	size_t n_pcs;
	struct eh2sframe_walk_section walk;
	size_t by[N_FOUND], n_bad;
};

static void check(bool ok, const char *name)
{
	printf("%s %u - %s\n", ok ? "ok" : "not ok", ++n_checks, name);
	n_failed += !ok;
}

static void read_list(const char *path)
{
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t size = 0;

	if (!file)
		err(EXIT_FAILURE, "%s", path);
	while (getline(&line, &size, file) > 0) {
		struct entry entry = {.text = line};
		char *rest = line;

		if (*line == '#')
			continue;
		entry.versions = strsep(&rest, " ");
		entry.place = strsep(&rest, ":");
		if (!rest || !rest[1])
			errx(EXIT_FAILURE, "%s: an entry without a reason", path);
		entries = reallocarray(entries, n_entries + 1, sizeof(entry));
		if (!entries)
			err(EXIT_FAILURE, "%s", path);
		entries[n_entries++] = entry;
		line = NULL;
	}
	free(line);
	fclose(file);
}

/* The flip is at a place where no reader looks; notes that the entry is needed. */
static bool listed(const struct subject *subject, const char *place)
{
	bool any = false;

	for (size_t i = 0; i < n_entries; i++) {
		struct entry *entry = &entries[i];

		if (strcmp(entry->place, place) != 0 ||
		    !strchr(entry->versions, '0' + subject->view.version))
			continue;
		entry->needed = any = true;
	}
	return any;
}

static bool make(struct subject *subject, const char *path, struct err *err)
{
	struct conversion conv;
	struct image image;
	size_t size;
	bool ok;

	if (!image_open(path, &image, err))
		return false;
	/* Shared rows break a rule of readers there, unless they are asked for. */
	if (image.big_endian)
		subject->options.optimize_given = false;
	convert_begin(&conv, &image, &subject->options);
	ok = convert_write(&conv, NULL, err) &&
	     newfile_take(&conv.install.output, &subject->elf, &size, err) &&
	     image_open_memory(subject->elf, size, path, &subject->image, err);
	newfile_abort(&conv.install.output);
	convert_deinit(&conv);
	image_close(&image);
	return ok;
}

static enum found judge(struct subject *subject, struct err *err)
{
	const struct cfi_input *cfi = &subject->input;
	struct verify_result result = {0};
	struct lint_result lint;
	struct sf_view view;
	enum found found = BY_NOTHING;
	unsigned int readers;

	if (!sf_view_open(
		subject->bytes, subject->view.size, subject->view.addr, &view, err))
		return BY_OPENING;
	readers = lint_readers_of(&view);
	lint_section(&view, &subject->image, readers, false, &lint);
	if (!readers || lint.n_broken)
		found = BY_LINT;
	if (!lint_format(&subject->image, &view, err) ||
	    !verify_own(
		&(struct verify_input){&view, &cfi->frames, &cfi->ranges, &cfi->policy},
		&result, err))
		found = BY_CHECKS;
	else if (result.n_differences)
		found = BY_ROWS;
	else if (result.missing_bytes)
		found = BY_MISSING;
	kinds[PADDING] |= result.padding_bytes > 0;
	kinds[TEMPLATE] |= result.held.template_bytes > 0;
	kinds[DERIVED] |= result.held.derived_bytes > 0;
	verify_result_deinit(&result);
	return found;
}

static bool same_place(
    const struct eh2sframe_location *a, const struct eh2sframe_location *b)
{
	return a->place == b->place && a->reg == b->reg && a->offset == b->offset;
}

static bool same_rule(const struct eh2sframe_rule *a, const struct eh2sframe_rule *b)
{
	/* Then nothing else means anything. */
	if (a->flags & b->flags & EH2SFRAME_FLAG_OUTERMOST)
		return true;
	return a->flags == b->flags && same_place(&a->cfa, &b->cfa) &&
	       same_place(&a->ra, &b->ra) && same_place(&a->fp, &b->fp);
}

/* The walker reads from the flipped bytes what it reads from those of the file. */
static bool walks_as_before(const struct subject *subject)
{
	const struct sf_view *view = &subject->view;
	struct eh2sframe_walk_section now;

	if (!eh2sframe_walk_open(
		&now, subject->bytes, view->size, view->addr, 0, UINT64_MAX))
		return false;
	for (size_t i = 0; i < subject->n_pcs; i++) {
		struct eh2sframe_rule was = {0}, is = {0};
		enum eh2sframe_walk_why why =
		    eh2sframe_walk_look_up(&subject->walk, subject->pcs[i], &was);

		if (eh2sframe_walk_look_up(&now, subject->pcs[i], &is) != why ||
		    (why == EH2SFRAME_WALK_WHY_GOES_ON && !same_rule(&was, &is)))
			return false;
	}
	return true;
}

static void flip(struct subject *subject, size_t at, unsigned int bit)
{
	struct err ignored = {0};
	char place[FLIP_PLACE];
	enum found found;

	subject->bytes[at] ^= (uint8_t)(1u << bit);
	found = judge(subject, &ignored);
	subject->by[found]++;
	if (found == BY_NOTHING) {
		bool known, same = walks_as_before(subject);

		flip_place(&subject->view, at, bit, place);
		known = listed(subject, place);
		if ((!known || !same) && subject->n_bad++ < 10)
			printf("# %s: .sframe+0x%zx, bit %u, %s: %s\n", subject->name, at,
			    bit, place,
			    same ? "not on the list" : "the walker acts on it");
	}
	subject->bytes[at] ^= (uint8_t)(1u << bit);
}

static void add_pc(struct subject *subject, uint64_t pc)
{
	subject->pcs =
	    reallocarray(subject->pcs, subject->n_pcs + 1, sizeof(*subject->pcs));
	if (!subject->pcs)
		errx(EXIT_FAILURE, "out of memory");
	subject->pcs[subject->n_pcs++] = pc;
}

/* Notes the kinds of rows that there are, and where each begins and ends. */
static void look_at_rows(struct subject *subject, struct err *err)
{
	struct sf_segment segment;
	struct sf_cursor cursor;
	bool ok = sf_cursor_init(&cursor, &subject->view, err);

	while (ok && sf_cursor_next(&cursor, UINT64_MAX, &segment, err)) {
		const struct sf_row *row = segment.row;

		add_pc(subject, segment.start - 1);
		add_pc(subject, segment.start);
		add_pc(subject, segment.end - 1);
		add_pc(subject, segment.end);
		kinds[PCMASK] |= cursor.func.func.pcmask;
		kinds[FLEXIBLE] |= cursor.func.flex;
		kinds[SIGNAL_FRAME] |= segment.signal_frame;
		kinds[KEY_B] |= segment.pauth_b;
		kinds[RA_SIGNED] |= row->ra_signed;
		kinds[OUTERMOST] |= row->outermost;
	}
	ok = ok && !cursor.failed;
	sf_cursor_deinit(&cursor);
	if (!ok)
		errx(EXIT_FAILURE, "%s: %s", subject->name, err->text);
}

static void set(struct subject *subject, const char *name, const char *value)
{
	struct err err = {0};

	if (!options_set(&subject->options, name, value, &err))
		errx(EXIT_FAILURE, "%s", err.text);
}

/* False when the machine has no version 1. */
static bool begin(struct subject *subject, const char *path, const char *version,
    const char *optimize, struct err *err)
{
	snprintf(subject->name, sizeof(subject->name), "%s, version %s, %s", path,
	    version, optimize);
	options_init(&subject->options);
	set(subject, "format", version);
	set(subject, "optimize", optimize);
	set(subject, "derive", NULL);
	subject->options.jobs = 1;
	if (!make(subject, path, err) ||
	    !lint_view(&subject->image, &subject->view, err) ||
	    !cfi_input_read(&subject->image, &subject->image, &subject->options,
		&subject->input, err) ||
	    !derive_rows(&subject->image, &subject->input, &subject->options, err)) {
		if (err->kind != ERR_UNSUPPORTED || *version != '1')
			errx(EXIT_FAILURE, "%s: %s", subject->name, err->text);
		return false;
	}
	has_aarch64 |= sf_abi_find(subject->view.abi)->has_pauth;
	look_at_rows(subject, err);
	if (!eh2sframe_walk_open(&subject->walk, subject->view.data, subject->view.size,
		subject->view.addr, 0, UINT64_MAX))
		errx(EXIT_FAILURE, "%s: the walker does not open it", subject->name);
	subject->bytes = malloc(subject->view.size);
	if (!subject->bytes)
		errx(EXIT_FAILURE, "out of memory");
	memcpy(subject->bytes, subject->view.data, subject->view.size);
	if (judge(subject, err) != BY_NOTHING)
		errx(EXIT_FAILURE, "%s: broken before a bit is flipped", subject->name);
	return true;
}

static void end(struct subject *subject)
{
	free(subject->bytes);
	free(subject->pcs);
	cfi_input_deinit(&subject->input);
	image_close(&subject->image);
	free(subject->elf);
	options_deinit(&subject->options);
}

static void flip_all(const char *path, const char *version, const char *optimize)
{
	struct subject subject = {0};
	const size_t *by = subject.by;
	struct err err = {0};
	char said[512];

	if (!begin(&subject, path, version, optimize, &err)) {
		end(&subject);
		return;
	}
	for (size_t at = 0; at < subject.view.size; at++)
		for (unsigned int bit = 0; bit < 8; bit++)
			flip(&subject, at, bit);
	snprintf(said, sizeof(said),
	    "%s: %zu bits: %zu unreadable, %zu malformed, %zu another row, %zu no row, "
	    "%zu against a rule of readers, %zu without effect",
	    subject.name, subject.view.size * 8, by[BY_OPENING], by[BY_CHECKS],
	    by[BY_ROWS], by[BY_MISSING], by[BY_LINT], by[BY_NOTHING]);
	check(subject.n_bad == 0, said);
	end(&subject);
}

int main(int argc, char **argv)
{
	static const char *const versions[] = {"1", "2", "3"};

	if (argc < 3)
		errx(EXIT_FAILURE, "usage: flip LIST FILE...");
	read_list(argv[1]);
	for (int i = 2; i < argc; i++)
		for (size_t v = 0; v < 3; v++) {
			flip_all(argv[i], versions[v], "none");
			flip_all(argv[i], versions[v], "share");
		}
	for (size_t i = 0; i < N_KINDS; i++)
		if (!has_aarch64 && (i == RA_SIGNED || i == KEY_B))
			printf("ok %u - %s # SKIP no file of AArch64\n", ++n_checks,
			    kind_names[i]);
		else
			check(kinds[i], kind_names[i]);
	for (size_t i = 0; i < n_entries; i++)
		check(entries[i].needed, entries[i].place);
	printf("1..%u\n", n_checks);
	return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
