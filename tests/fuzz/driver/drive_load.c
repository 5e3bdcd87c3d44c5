/* SPDX-License-Identifier: MIT */
/* Reads files, sections of files, and the ledger; makes and removes the scratch
 * directory. */
#include <ftw.h>
#include <elf.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "tests/fuzz/driver/drive.h"

static char scratch[PATH_MAX];

static bool complain(const char *path, const char *what)
{
	fprintf(stderr, "%s: %s\n", path, what);
	return false;
}

static bool read_file(const char *path, struct wr *bytes)
{
	FILE *in = fopen(path, "rb");
	char chunk[4096];
	size_t n;

	wr_init(bytes, false);
	if (!in)
		return complain(path, "cannot open");
	while ((n = fread(chunk, 1, sizeof(chunk), in)) > 0)
		wr_bytes(bytes, chunk, n);
	fclose(in);
	return !bytes->failed || complain(path, "out of memory");
}

/* Reduces the file to the section the target reads. */
static bool take_section(const char *path, struct wr *bytes)
{
	const struct region *found = NULL;
	struct map map;

	if (!fuzz_section || bytes->size < SELFMAG ||
	    memcmp(bytes->data, ELFMAG, SELFMAG) != 0)
		return true;
	map_read(bytes->data, bytes->size, &map);
	for (size_t i = 0; i < map.n; i++)
		if (!strcmp(map.list[i].name, fuzz_section))
			found = &map.list[i];
	if (!found)
		return complain(path, "has no such section");
	memmove(bytes->data, bytes->data + found->off, found->size);
	bytes->size = found->size;
	return true;
}

static bool load_base(struct drive_base *base, char *argument)
{
	char *equals = strchr(argument, '=');
	const char *path = equals ? equals + 1 : argument;

	base->name = argument;
	if (equals)
		*equals = '\0';
	else if (strrchr(argument, '/'))
		base->name = strrchr(argument, '/') + 1;
	if (!read_file(path, &base->bytes) || !take_section(path, &base->bytes))
		return false;
	map_read(base->bytes.data, base->bytes.size, &base->map);
	return true;
}

static struct drive_case *add_case(struct drive *drive, const struct drive_base *base)
{
	if (!vec_reserve(&drive->listed, &drive->cap_listed, drive->n_listed + 1))
		return NULL;
	drive->listed[drive->n_listed] = (struct drive_case){.base = base};
	return &drive->listed[drive->n_listed++];
}

static bool list_edits(
    struct drive *drive, const struct drive_base *base, const char *text)
{
	struct drive_case *one = add_case(drive, base);

	return one && (edit_parse(&base->map, text, one->edits, &one->n_edits) ||
			  complain(text, "is no damage for this file"));
}

/* "BASE: EDITS # story". */
static bool ledger_line(struct drive *drive, char *line)
{
	char *colon = strstr(line, ": "), *story = strchr(line, '#');

	if (story)
		*story = '\0';
	if (!*line || line[strspn(line, " \t\n")] == '\0')
		return true;
	if (!colon || (story && colon > story))
		return complain(line, "is no line of a ledger");
	*colon = '\0';
	for (size_t i = 0; i < drive->n_bases; i++)
		if (!strcmp(drive->bases[i].name, line))
			return list_edits(drive, &drive->bases[i], colon + 2);
	return true;
}

static bool read_ledger(struct drive *drive)
{
	FILE *in = fopen(drive->ledger, "r");
	char line[EDIT_TEXT * 2];
	bool ok = true;

	if (!in)
		return complain(drive->ledger, "cannot open");
	while (ok && fgets(line, sizeof(line), in))
		ok = ledger_line(drive, line);
	fclose(in);
	return ok;
}

bool drive_load(struct drive *drive, char **files, size_t n)
{
	drive->bases = calloc(n, sizeof(*drive->bases));
	if (!drive->bases)
		return complain("drive", "out of memory");
	for (size_t i = 0; i < n; i++) {
		drive->n_bases++;
		if (!load_base(&drive->bases[i], files[i]) ||
		    !add_case(drive, &drive->bases[i]))
			return false;
	}
	if (drive->edit && !list_edits(drive, &drive->bases[0], drive->edit))
		return false;
	return !drive->ledger || read_ledger(drive);
}

void drive_deinit(struct drive *drive)
{
	for (size_t i = 0; i < drive->n_bases; i++)
		wr_deinit(&drive->bases[i].bytes);
	free(drive->bases);
	free(drive->listed);
	*drive = (struct drive){.bases = NULL};
}

void drive_make_dir(void)
{
	const char *tmp = getenv("TMPDIR");

	if (!tmp)
		tmp = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
	snprintf(scratch, sizeof(scratch), "%s/fuzz.XXXXXX", tmp);
	if (!mkdtemp(scratch) || setenv(FUZZ_DIR, scratch, 1) < 0) {
		perror(scratch);
		exit(EXIT_FAILURE);
	}
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

void drive_remove_dir(void)
{
	nftw(scratch, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
