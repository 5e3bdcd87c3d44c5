/* SPDX-License-Identifier: MIT */
#include "profile/symbols/inlined.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/regular.h"
#include "base/search.h"
#include "base/sandbox/apart.h"
#include "config.h"
#include "profile/symbols/naming_table.h"

static int inlined_open_debug(
    const struct profile_module *module, const struct naming_options *options)
{
	char path[NAMING_DEBUG_PATH];
	struct stat st;
	int fd = -1;

	for (size_t i = 0;
	     fd < 0 && naming_debug_path(options->debug_dirs, options->n_debug_dirs, i,
			   module->build_id, module->build_id_size, path);
	     i++)
		fd = regular_open(path, &st);
	return fd;
}

/* The name is what a file says of itself, so it is looked for in the folder for such files alone. */
static int inlined_open_alt(const struct naming_options *options, const char *link)
{
	const char *name = strstr(link, "/.dwz/");
	char path[NAMING_DEBUG_PATH];
	struct stat st;
	int fd = -1;

	if (!name || strstr(name, ".."))
		return -1;
	for (size_t i = 0; i < options->n_debug_dirs && fd < 0; i++)
		if (snprintf(path, sizeof(path), "%s%s", options->debug_dirs[i], name) <
		    (int)sizeof(path))
			fd = regular_open(path, &st);
	return fd;
}

/* Asks the servers that the user has named, by elfutils' client where it is installed. -1: none has the file. */
static int inlined_fetch(const struct profile_module *module)
{
	static void *(*begin)(void);
	static int (*find)(void *, const unsigned char *, int, char **);
	static void *client;
	const char *servers = getenv("DEBUGINFOD_URLS");
	void *library;

	if (!servers || !*servers || module->build_id_size < 2)
		return -1;
	if (!client && (library = dlopen("libdebuginfod.so.1", RTLD_NOW))) {
		*(void **)&begin = dlsym(library, "debuginfod_begin");
		*(void **)&find = dlsym(library, "debuginfod_find_debuginfo");
		client = begin && find ? begin() : NULL;
	}
	return client ? find(client, module->build_id, (int)module->build_id_size, NULL)
		      : -1;
}

/* Takes the parts of an answer, and checks them: a process gave it that read what a stranger wrote. */
static bool inlined_take(const struct apart_answer *bytes,
    const struct inlined_answer *answer, struct inlined *inlined)
{
	const uint8_t *at = bytes->bytes + sizeof(*answer);
	const size_t left = bytes->size - sizeof(*answer);
	const size_t n = answer->found ? inlined->n : 0;
	const uint64_t n_places = answer->n_places, n_text = answer->n_text;

	if (n_places > left || n_text > left || n_text == 0 ||
	    n * sizeof(*inlined->chains) + n_places * sizeof(*inlined->places) + n_text !=
		left)
		return false;
	inlined->chains = apart_take(&at, n * sizeof(*inlined->chains));
	inlined->places = apart_take(&at, n_places * sizeof(*inlined->places));
	inlined->text = apart_take(&at, n_text);
	if (!inlined->text || inlined->text[n_text - 1] || (!inlined->places && n_places))
		return false;
	for (size_t i = 0; i < n_places; i++)
		if (inlined->places[i].name >= n_text ||
		    inlined->places[i].file >= n_text)
			return false;
	for (size_t i = 0; inlined->chains && i < n; i++)
		if (inlined->chains[i].n > INLINED_CHAIN_MAX ||
		    inlined->chains[i].first > n_places ||
		    inlined->chains[i].n > n_places - inlined->chains[i].first)
			return false;
	return true;
}

/* Runs the process once. alt: the name of the file of dwz that it needs, in inlined's text, or NULL. */
static bool inlined_run(const struct profile_module *module,
    const int files[APART_MAX_FILES], bool has_alt, struct inlined *inlined,
    const char **alt, struct err *err)
{
	struct inlined_work work = {module, inlined->addresses, inlined->n, has_alt};
	struct inlined_answer answer;
	struct apart_answer bytes = {0};
	struct err why;
	const struct apart_job job = {.files = files,
	    .n_files = APART_MAX_FILES,
	    .work = EH2SFRAME_LIBDW ? inlined_work : NULL,
	    .context = &work,
	    .limits = {.memory = UINT64_C(4) << 30, .seconds = 20},
	    .least = sizeof(answer)};
	bool ok = apart_run(&job, &bytes, &why);

	*alt = NULL;
	if (!ok)
		return why.kind != ERR_NOMEM || err_set_nomem(err);
	memcpy(&answer, bytes.bytes, sizeof(answer));
	inlined_free(inlined);
	if (!inlined_take(&bytes, &answer, inlined))
		inlined_free(inlined);
	else if (answer.alt && answer.alt < answer.n_text)
		*alt = inlined->text + answer.alt;
	apart_free(&bytes);
	return true;
}

bool inlined_read(const struct profile_module *module,
    const struct naming_options *options, struct inlined *inlined, struct err *err)
{
	int files[APART_MAX_FILES] = {-1, -1, -1, -1};
	const char *alt = NULL;
	struct stat st;
	bool ok = true;

	if (!EH2SFRAME_LIBDW || module->image || *module->path != '/' || !inlined->n)
		return true;
	files[0] = regular_open(module->path, &st);
	files[1] = inlined_open_debug(module, options);
	if (files[0] >= 0 || files[1] >= 0)
		ok = inlined_run(module, files, false, inlined, &alt, err);
	if (ok && !alt && !inlined->chains) {
		files[2] = inlined_fetch(module);
		if (files[2] >= 0)
			ok = inlined_run(module, files, false, inlined, &alt, err);
	}
	if (ok && alt) {
		/* Without it, the names that are in it are not known. */
		files[3] = inlined_open_alt(options, alt);
		ok = inlined_run(module, files, true, inlined, &alt, err);
	}
	for (size_t i = 0; i < APART_MAX_FILES; i++)
		if (files[i] >= 0)
			close(files[i]);
	return ok;
}

const struct naming_chain *inlined_find(const struct inlined *inlined, uint64_t address)
{
	const size_t n = inlined->chains ? inlined->n : 0;
	const size_t i = search_from(inlined->addresses, sizeof(uint64_t), n, address);

	return i < n && inlined->addresses[i] == address && inlined->chains[i].n
		   ? &inlined->chains[i]
		   : NULL;
}

void inlined_free(struct inlined *inlined)
{
	free(inlined->chains);
	free(inlined->places);
	free(inlined->text);
	*inlined = (struct inlined){.addresses = inlined->addresses, .n = inlined->n};
}
