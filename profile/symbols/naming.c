/* SPDX-License-Identifier: MIT */
/*
 * Frames are named group by group: those of one file, of the kernel, of one process. So one
 * table of names at a time is in memory.
 */
#include "profile/symbols/naming.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "base/plain.h"
#include "base/search.h"
#include "base/vec.h"
#include "base/names/demangle.h"
#include "profile/jit.h"
#include "profile/owner.h"
#include "profile/symbols/inlined.h"
#include "profile/symbols/naming_table.h"

/* Limit for all files together. A recording that names many large files must end, too. */
enum { NAMING_MAX_SYMBOLS = 100 * 1000 * 1000 };
/* Limit of time for all maps of compilers at run time together, in ns. */
#define NAMING_MAX_NS (UINT64_C(30) * 1000000000)

const char *naming_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] && *path != '[' ? slash + 1 : path;
}

/* The number of the group that a frame belongs to. */
static uint64_t naming_group(const struct profile_frame *frame)
{
	bool file = frame->kind == PROFILE_FRAME_FILE;
	uint64_t kind = frame->kind == PROFILE_FRAME_KERNEL ? 1 : file ? 0 : 2;

	return kind << 32 | (kind == 0 ? frame->module : kind == 1 ? 0 : frame->pid);
}

/* In the order of search_order_pairs. */
struct naming_order {
	uint64_t group, frame;
};

/* Tells where a name is from: the symbols of a file, debug information of what is inlined, or elsewhere. */
enum naming_origin { NAMING_SYMBOL, NAMING_INLINED, NAMING_OTHER };

/* A name as it was found, and the function that it stands for. */
struct naming_known {
	uint32_t module, kind; /* as those of the function */
	uint64_t origin;       /* enum naming_origin */
	char *name;
	uint32_t function; /* 1 + its index; 0: it is not made yet */
};

/* The frames of a group, and what they are named by. */
struct naming_work {
	const struct profile *profile;
	const struct naming_options *options;
	struct naming *naming;
	bool here;			/* as naming_is_here */
	size_t n_symbols;		/* that were read for all groups */
	uint64_t ns;			/* of reading what compilers at run time wrote */
	char readable[SYMBOL_READABLE]; /* a name */
	struct naming_known *knowns;
	size_t n_knowns, cap_knowns;
	struct slots known_slots;
	const struct naming_order *order;
	size_t n;
	const struct profile_frame *first;
	struct table table;
	struct inlined inlined;
	uint64_t *addresses;
	struct apart_answer answer; /* names of frames in no file, in their order */
	size_t at;		    /* the next one */
};

/* The index of an equal function, or of a new one. Takes the name over. */
static bool naming_add(struct naming *naming, struct naming_function *function,
    uint32_t *index, struct err *err)
{
	bool ok = function->name ? profile_add(PROFILE_LIST(naming, function, name),
				       function, index, err)
				 : err_set_nomem(err);

	free(function->name);
	return ok;
}

/* Makes the text that is shown for a name; NULL when memory runs out. A version is left out of symbols of files; entries of PLTs have none. */
static char *naming_text(struct naming_work *work, const struct naming_known *known)
{
	const bool symbol = known->origin == NAMING_SYMBOL,
		   mark = known->kind == PROFILE_FRAME_MARK;
	const size_t size = symbol ? symbol_name_size(known->name) : strlen(known->name);
	char *name = strndup(known->name, size), *text = NULL, *plain;
	/* perf, too, tells functions that are inlined from others by this word. */
	const char *shown = name, *end = known->origin == NAMING_INLINED ? " (inlined)"
					 : mark				 ? "]"
									 : "";

	if (symbol && strcmp(known->name + size, "@plt") == 0)
		end = "@plt";
	if (name && !work->options->no_demangle && known->kind != PROFILE_FRAME_THREAD &&
	    symbol_readable(name, work->readable))
		shown = work->readable;
	if (!name ||
	    asprintf(&text, "%s%s%s", mark ? "[incomplete: " : "", shown, end) < 0)
		text = NULL;
	plain = text ? plain_dup(text) : NULL;
	free(text);
	free(name);
	return plain;
}

/* Finds the function of a name, or makes it. Readable names take long to make, and most names come again. */
static bool naming_named(struct naming_work *work, const struct naming_known *found,
    uint32_t *index, struct err *err)
{
	struct naming_function function = {.module = found->module, .kind = found->kind};
	struct naming_known *known;
	uint32_t at;

	if (!profile_add(PROFILE_LIST(work, known, name), found, &at, err))
		return false;
	known = &work->knowns[at];
	if (!known->function) {
		function.name = naming_text(work, known);
		if (!naming_add(work->naming, &function, index, err))
			return false;
		known->function = *index + 1;
	}
	*index = known->function - 1;
	return true;
}

/* The text for a function whose name is not known: its start in its file, or else the file. */
static char *naming_unknown(const struct profile *profile,
    const struct profile_frame *frame, const struct symbol *start)
{
	const char *path =
	    frame->kind == PROFILE_FRAME_FILE || frame->kind == PROFILE_FRAME_KERNEL
		? profile->modules[frame->module].path
		: "unknown";
	const char *base = naming_base(path);
	char *text = NULL, *plain;

	if (*base == '[' && !start)
		return plain_dup(base);
	if ((start ? asprintf(&text, "%s+0x%" PRIx64, base, start->addr)
		   : asprintf(&text, "[%s]", *base ? base : "unknown")) < 0)
		return NULL;
	plain = plain_dup(text);
	free(text);
	return plain;
}

/* The address to look up. false: it is not known where in memory the file had it. */
static bool naming_address(
    const struct profile *profile, const struct profile_frame *frame, uint64_t *address)
{
	*address =
	    frame->address - (frame->address && !(frame->flags & PROFILE_FRAME_EXACT));
	return frame->kind != PROFILE_FRAME_FILE ||
	       !(profile->modules[frame->module].flags & PROFILE_MODULE_OFFSETS);
}

/*
 * The address to ask the table for. Of a file that is gone nobody knows the frame's own address, but a recorder that knew no name has
 * written where the function starts, as naming_unknown does, and a debug file can name it. false: there is nothing to ask.
 */
static bool naming_asks(
    const struct profile *profile, const struct profile_frame *frame, uint64_t *address)
{
	const char *start = frame->name ? strrchr(frame->name, '+') : NULL;
	char *end;

	if (frame->kind != PROFILE_FRAME_FILE && frame->name)
		return false;
	if (naming_address(profile, frame, address))
		return true;
	if (!start || strncmp(start, "+0x", 3) != 0 ||
	    strncmp(frame->name, naming_base(profile->modules[frame->module].path),
		(size_t)(start - frame->name)) != 0)
		return false;
	*address = strtoull(start + 3, &end, 16);
	return *end == '\0';
}

/* Names the function that has the code of a frame. other: its name where no table has one, or NULL. */
static bool naming_function(struct naming_work *work, const struct profile_frame *frame,
    const char *other, uint32_t *named, struct err *err)
{
	const bool file = frame->kind == PROFILE_FRAME_FILE;
	const bool unknown = other && frame->kind == PROFILE_FRAME_UNKNOWN;
	struct naming_function function = {.kind = frame->kind, .module = frame->module};
	struct naming_known known = {frame->module,
	    unknown ? PROFILE_FRAME_JIT : frame->kind, NAMING_OTHER, frame->name, 0};
	struct table *table = &work->table;
	const struct symbol *symbol = NULL, *start = NULL;
	uint64_t address;

	if (naming_asks(work->profile, frame, &address)) {
		symbol = symbols_find(&table->symbols, address);
		if (!symbol && file && !frame->name) {
			if (!table_read_starts(table, err))
				return false;
			start = symbols_find(&table->starts, address);
		}
	}
	if (symbol)
		known.name = (char *)(uintptr_t)symbol->name;
	if (known.name && file)
		known.origin = NAMING_SYMBOL;
	else if (!known.name)
		known.name = (char *)(uintptr_t)other;
	if (known.name)
		return naming_named(work, &known, named, err);
	function.name = naming_unknown(work->profile, frame, start);
	return naming_add(work->naming, &function, named, err);
}

/* The index of a source's path, which the list has once. */
static bool naming_file(
    struct naming *naming, const char *path, uint32_t *index, struct err *err)
{
	const struct naming_file file = {plain_dup(path)};
	bool ok = file.path
		      ? profile_add(PROFILE_LIST(naming, file, path), &file, index, err)
		      : err_set_nomem(err);

	free(file.path);
	return ok;
}

static bool naming_frame(struct naming_work *work, uint64_t index, struct err *err)
{
	const struct profile_frame *frame = &work->profile->frames[index];
	const struct inlined_place none = {0}, *places = &none;
	struct naming *naming = work->naming;
	struct naming_chain *named = &naming->of_frame[index];
	const char *other = jit_text(&work->answer, &work->at),
		   *text = work->inlined.text;
	const struct naming_chain *chain = NULL;
	uint64_t address;

	if (frame->kind == PROFILE_FRAME_FILE &&
	    naming_address(work->profile, frame, &address))
		chain = inlined_find(&work->inlined, address);
	if (chain)
		places = &work->inlined.places[chain->first];
	if (places->name)
		other = text + places->name;
	*named = (struct naming_chain){(uint32_t)naming->n_places, chain ? chain->n : 1};
	for (uint32_t i = 0; i < named->n; i++) {
		const uint32_t name = places[i].name, file = places[i].file;
		const struct naming_known inlined = {frame->module, frame->kind,
		    NAMING_INLINED, (char *)(uintptr_t)(name ? text + name : "[unknown]"),
		    0};
		struct naming_place place = {.line = places[i].line};

		if (!(i ? naming_named(work, &inlined, &place.function, err)
			: naming_function(work, frame, other, &place.function, err)) ||
		    (file && !naming_file(naming, text + file, &place.file, err)))
			return false;
		if (naming->n_places >= UINT32_MAX)
			return err_set(
			    err, ERR_LIMIT, "more than 4294967295 places in functions");
		if (!vec_reserve(
			&naming->places, &naming->cap_places, naming->n_places + 1))
			return err_set_nomem(err);
		naming->places[naming->n_places++] = place;
	}
	return true;
}

/* True if addresses of the kernel and numbers of processes still mean what they meant. */
static bool naming_is_here(const struct profile *profile)
{
	struct timespec now, up;
	int64_t booted;

	if (!profile_is_here(&profile->info) || clock_gettime(CLOCK_REALTIME, &now) < 0 ||
	    clock_gettime(CLOCK_BOOTTIME, &up) < 0)
		return false;
	booted = (int64_t)now.tv_sec - (int64_t)up.tv_sec;
	/* Clocks are set at times. A few seconds do not matter to who starts a recording. */
	return (int64_t)profile->info.start + 5 >= booted;
}

/* True if a name of the group is missing: reading a table for nothing would take long. */
static bool naming_is_wanted(const struct naming_work *work)
{
	uint64_t address;

	for (size_t i = 0; i < work->n; i++)
		if (naming_asks(work->profile,
			&work->profile->frames[work->order[i].frame], &address))
			return work->n_symbols < NAMING_MAX_SYMBOLS;
	return false;
}

static bool naming_table(struct naming_work *work, struct err *err)
{
	const struct profile *profile = work->profile;

	if (work->first->kind == PROFILE_FRAME_FILE)
		return table_read_module(&profile->modules[work->first->module],
		    work->options, &work->table, err);
	return work->first->kind != PROFILE_FRAME_KERNEL || !work->here ||
	       table_read_kernel(
		   "/proc/kallsyms", profile->info.kernel_text, &work->table, err);
}

/* Asks for the names of frames in no file. */
static bool naming_ask(struct naming_work *work, size_t n, struct err *err)
{
	struct jit_home home;
	struct err why;
	bool ok;

	jit_home_open(&home, work->first->pid, owner_of(work->first->pid).user);
	ok = jit_ask(&home, work->addresses, n, &work->answer, &why) ||
	     why.kind != ERR_NOMEM || err_set_nomem(err);
	jit_home_close(&home);
	work->ns += work->answer.ns;
	return ok;
}

/* Looks up what is inlined in the frames of one file, or asks for the names of frames in none. */
static bool naming_look_up(struct naming_work *work, struct err *err)
{
	const bool file = work->first->kind == PROFILE_FRAME_FILE;
	size_t kept = 0, distinct = 0;
	uint64_t *list;

	if (file ? work->options->no_inline
		 : !work->here || work->first->kind == PROFILE_FRAME_KERNEL ||
		       work->ns >= NAMING_MAX_NS)
		return true;
	list = work->addresses = malloc((work->n + 1) * sizeof(*list));
	if (!list)
		return err_set_nomem(err);
	for (size_t i = 0; i < work->n; i++)
		kept += naming_address(work->profile,
		    &work->profile->frames[work->order[i].frame], &list[kept]);
	if (!file)
		return naming_ask(work, kept, err);
	if (kept)
		qsort(list, kept, sizeof(*list), search_order);
	for (size_t i = 0; i < kept; i++)
		if (!distinct || list[distinct - 1] != list[i])
			list[distinct++] = list[i];
	work->inlined.addresses = list;
	work->inlined.n = distinct;
	return inlined_read(&work->profile->modules[work->first->module], work->options,
	    &work->inlined, err);
}

/* Names the frames of a group, which are n from order on. */
static bool naming_of_group(
    struct naming_work *work, const struct naming_order *order, size_t n, struct err *err)
{
	bool ok;

	work->order = order;
	work->n = n;
	work->first = &work->profile->frames[order->frame];
	work->at = 0;
	ok = !naming_is_wanted(work) ||
	     (naming_table(work, err) && naming_look_up(work, err));
	for (size_t i = 0; ok && i < n; i++)
		ok = naming_frame(work, order[i].frame, err);
	work->n_symbols += work->table.symbols.n + work->table.starts.n;
	table_free(&work->table);
	inlined_free(&work->inlined);
	apart_free(&work->answer);
	free(work->addresses);
	work->addresses = NULL;
	return ok;
}

bool naming_run(const struct profile *profile, const struct naming_options *options,
    struct naming *naming, struct err *err)
{
	const size_t n = profile->n_frames;
	struct naming_order *order = calloc(n + 1, sizeof(*order));
	struct naming_work work = {.profile = profile,
	    .options = options,
	    .naming = naming,
	    .here = naming_is_here(profile)};
	uint32_t none;
	bool ok;

	naming->of_frame = calloc(n + 1, sizeof(*naming->of_frame));
	ok = (order && naming->of_frame) || err_set_nomem(err);
	ok = ok && profile_add(PROFILE_LIST(naming, file, path),
		       &(const struct naming_file){0}, &none, err);
	for (size_t i = 0; ok && i < n; i++)
		order[i] = (struct naming_order){naming_group(&profile->frames[i]), i};
	if (ok)
		qsort(order, n, sizeof(*order), search_order_pairs);
	for (size_t i = 0, end; ok && i < n; i = end) {
		for (end = i; end < n && order[end].group == order[i].group;)
			end++;
		ok = naming_of_group(&work, order + i, end - i, err);
	}
	for (size_t i = 0; i < work.n_knowns; i++)
		free(work.knowns[i].name);
	free(work.knowns);
	free(work.known_slots.list);
	free(order);
	return ok;
}

void naming_free(struct naming *naming)
{
	for (size_t i = 0; i < naming->n_functions; i++)
		free(naming->functions[i].name);
	for (size_t i = 0; i < naming->n_files; i++)
		free(naming->files[i].path);
	free(naming->functions);
	free(naming->places);
	free(naming->files);
	free(naming->of_frame);
	free(naming->function_slots.list);
	free(naming->file_slots.list);
	*naming = (struct naming){0};
}
