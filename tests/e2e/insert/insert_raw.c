/* SPDX-License-Identifier: MIT */
/*
 * The insertion alone, without the conversion: puts a hand-made section into a file,
 * takes it out again, or tries a list of files. So that a test of the layout needs no CFI
 * and no encoder.
 *
 *   insert_raw add IN OUT [SIZE [METHOD]]  an empty but valid SFrame v2 header and filler
 *   insert_raw undo IN OUT
 *   insert_raw try SCRATCH [METHOD [SIZE]] paths from standard input: add, check, undo,
 * compare; one line each, with the method and the growth. METHOD "each" goes through all
 * methods. SIZE 0 is that of .eh_frame, which a real section is close to.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/wr.h"
#include "cmd/common/temporary.h"
#include "gen/input/input.h"
#include "base/newfile.h"
#include "lib/api.h"
#include "gen/input/symbols_read.h"
#include "gen/insert/undo.h"
#include "gen/insert/insert.h"
#include "names/demangle.h"

#define DEFAULT_SIZE 5000

static const struct newfile_watch watch = {temporary_note, NULL};

/* sframe-spec v2: preamble, ABI AMD64 little-endian, RA at CFA - 8, no FDEs. */
static bool make_section(struct wr *wr, size_t size, bool big_endian)
{
	wr_init(wr, big_endian);
	wr_u16(wr, 0xdee2);
	wr_u8(wr, 2);
	wr_u8(wr, 1);
	wr_u8(wr, 3);
	wr_u8(wr, 0);
	wr_u8(wr, 0xf8);
	wr_u8(wr, 0);
	for (int i = 0; i < 5; i++)
		wr_u32(wr, 0);
	for (size_t i = wr->size; i < size; i++)
		wr_u8(wr, (uint8_t)(i * 7 + (i >> 8)));
	return !wr->failed;
}

static bool check_file(const struct image *in, const struct insert_plan *plan,
    const char *path, struct err *err)
{
	struct image out;
	bool ok;

	if (!image_open(path, &out, err))
		return err_prefix(err, "reading the output");
	ok = insert_check(in, plan, &out, err);
	image_close(&out);
	return ok;
}

static enum method method_of(const char *name)
{
	for (int i = 0; i < N_METHODS; i++)
		if (strcmp(method_name((enum method)i), name) == 0)
			return (enum method)i;
	if (strcmp(name, "auto") != 0 && strcmp(name, "each") != 0) {
		fprintf(stderr, "insert_raw: no method %s\n", name);
		exit(2);
	}
	return METHOD_AUTO;
}

static bool add(const struct image *image, const char *to, size_t size,
    enum method method, struct err *err)
{
	struct insert_plan plan;
	struct newfile output;
	struct wr wr;
	bool ok;

	if (!insert_plan(image, size, method, &plan, err))
		return false;
	if (!make_section(&wr, size, image->big_endian))
		return err_set_nomem(err);
	ok = newfile_begin(to, image->fd, &watch, &output, err);
	if (ok) {
		ok = insert_body(image, output.fd, err) &&
		     insert_image(image, &plan, wr.data, output.fd, err) &&
		     check_file(image, &plan, output.temp, err) &&
		     newfile_commit(&output, image->fd, err);
		newfile_abort(&output);
	}
	wr_deinit(&wr);
	return ok;
}

static bool undo(const struct image *image, const char *to, struct err *err)
{
	struct undo record;
	struct newfile output;
	bool found, ok;

	if (!undo_find(image, &record, &found, err))
		return false;
	if (!found)
		return err_set(err, ERR_NOTHING, "no section that this program put in");
	if (!newfile_begin(to, image->fd, &watch, &output, err))
		return false;
	ok = undo_write(image, &record, output.fd, err) &&
	     newfile_commit(&output, image->fd, err);
	newfile_abort(&output);
	return ok;
}

static bool same_bytes(const struct image *a, const char *path, struct err *err)
{
	struct image b;
	bool same;

	if (!image_open(path, &b, err))
		return false;
	same = a->size == b.size && memcmp(a->bytes, b.bytes, a->size) == 0;
	image_close(&b);
	return same || err_set(err, ERR_INTERNAL, "undo does not give the original");
}

static bool go_back(
    const struct image *in, const struct image *out, const char *scratch, struct err *err)
{
	struct undo record;
	FILE *file;
	bool found, ok;

	if (!undo_find(out, &record, &found, err))
		return false;
	/* The name goes, the mapping stays. */
	unlink(scratch);
	file = fopen(scratch, "w+");
	if (!file)
		return err_set_errno(err, "%s", scratch);
	ok = undo_write(out, &record, fileno(file), err);
	fclose(file);
	return ok && same_bytes(in, scratch, err);
}

/* Add to a scratch file without the costs of a safe replacement, check, undo, compare. */
static bool round_trip(const struct image *in, const char *scratch, size_t size,
    struct insert_plan *plan, struct err *err)
{
	struct image out = {.fd = -1};
	struct wr wr;
	FILE *file;
	bool ok;

	if (!make_section(&wr, size, in->big_endian))
		return err_set_nomem(err);
	file = fopen(scratch, "w+");
	if (!file) {
		wr_deinit(&wr);
		return err_set_errno(err, "%s", scratch);
	}
	ok = insert_body(in, fileno(file), err) &&
	     insert_image(in, plan, wr.data, fileno(file), err) &&
	     image_open(scratch, &out, err) && insert_check(in, plan, &out, err);
	fclose(file);
	wr_deinit(&wr);
	if (!ok && err->kind != ERR_IO && err->kind != ERR_NOMEM)
		err->kind = ERR_INTERNAL;
	ok = ok && go_back(in, &out, scratch, err);
	image_close(&out);
	unlink(scratch);
	return ok;
}

/* All that reads the file, for hostile ones; what they say is not of interest here. */
static bool look_around(const struct image *image)
{
	struct err err = {0};
	struct cfi_section section;
	struct symbols symbols;
	const uint8_t *data;
	size_t size;
	uint64_t addr;
	uint32_t sum = 0;
	bool found;

	if (image_eh_frame(image, &section, &found, &addr, &err) && found)
		for (size_t i = 0; i < section.size; i++)
			sum += section.data[i];
	if (image_sframe(image, &data, &size, &addr, &err) && data)
		for (size_t i = 0; i < size; i++)
			sum += data[i];
	if (!symbols_read(image, &symbols, &err))
		return false;
	for (size_t i = 0; i < symbols.n && i < 200; i++) {
		const struct symbol *symbol =
		    symbols_find(&symbols, symbols.list[i].addr + 1);
		char *name = symbol ? symbol_demangle(symbol->name) : NULL;

		sum += name ? (uint32_t)strlen(name) : 0;
		free(name);
	}
	symbols_deinit(&symbols);
	return sum != 1;
}

struct trial {
	const char *scratch;
	enum method method;
	bool each;
	size_t size; /* of the section; 0: as large as .eh_frame */
};

static size_t trial_size(const struct trial *trial, const struct image *image)
{
	struct cfi_section section;
	struct err err = {0};
	bool found;

	if (trial->size)
		return trial->size;
	if (image_eh_frame(image, &section, &found, NULL, &err) && found)
		return section.size;
	return DEFAULT_SIZE;
}

/* One line for one way; false for what is this program's own fault. */
static bool try_method(const struct trial *trial, const struct image *image,
    enum method method, const char *path)
{
	struct err err = {0};
	struct insert_plan plan;
	bool ok = insert_plan(image, trial_size(trial, image), method, &plan, &err) &&
		  round_trip(image, trial->scratch, plan.sframe_size, &plan, &err);

	printf("%d %s: ", api_status(err.kind), path);
	if (ok)
		printf("ok %s, %jd bytes more\n", method_name(plan.method),
		    (intmax_t)(plan.file_size - image->size));
	else
		printf("%s\n", err.text);
	return err.kind != ERR_INTERNAL;
}

static int try_all(const struct trial *trial)
{
	char path[4096];
	bool fine = true;

	while (fgets(path, sizeof(path), stdin)) {
		struct err err = {0};
		struct image image;

		path[strcspn(path, "\n")] = 0;
		if (!image_open(path, &image, &err)) {
			printf("%d %s: %s\n", api_status(err.kind), path, err.text);
			continue;
		}
		look_around(&image);
		for (int i = 0; trial->each && i < N_METHODS; i++)
			fine &= try_method(trial, &image, (enum method)i, path);
		if (!trial->each)
			fine &= try_method(trial, &image, trial->method, path);
		image_close(&image);
	}
	return !fine;
}

int main(int argc, char **argv)
{
	struct err err = {0};
	struct image image;
	bool ok;

	if (argc >= 3 && strcmp(argv[1], "try") == 0) {
		const char *method = argc > 3 ? argv[3] : "auto";
		struct trial trial = {.scratch = argv[2],
		    .method = method_of(method),
		    .each = strcmp(method, "each") == 0,
		    .size = argc > 4 ? strtoul(argv[4], NULL, 0) : DEFAULT_SIZE};

		return try_all(&trial);
	}
	if (argc < 4)
		return 2;
	ok = image_open(argv[2], &image, &err);
	if (ok) {
		size_t size = argc > 4 ? strtoul(argv[4], NULL, 0) : DEFAULT_SIZE;
		enum method method = argc > 5 ? method_of(argv[5]) : METHOD_AUTO;

		ok = strcmp(argv[1], "undo") == 0
			 ? undo(&image, argv[3], &err)
			 : add(&image, argv[3], size, method, &err);
		image_close(&image);
	}
	if (!ok)
		fprintf(stderr, "insert_raw: %s: %s\n", argv[2], err.text);
	return api_status(err.kind);
}
