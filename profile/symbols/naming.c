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
#include <sys/utsname.h>
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

/* The frames of a group, and what they are named by. */
struct naming_work {
	const struct profile *profile;
	const struct naming_options *options;
	struct naming *naming;
	bool here;			/* as naming_is_here */
	size_t n_symbols;		/* that were read for all groups */
	uint64_t ns;			/* of reading what compilers at run time wrote */
	char readable[SYMBOL_READABLE]; /* a name */
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

/* A readable name without control characters; NULL when memory runs out. */
static char *naming_readable(struct naming_work *work, const char *name)
{
	if (!work->options->no_demangle && symbol_readable(name, work->readable))
		name = work->readable;
	return plain_dup(name);
}

/*
 * The name of a symbol of a file without its version. Names of other origins may have this character. Behind that of an entry of a PLT
 * it has no version.
 */
static char *naming_symbol(struct naming_work *work, const char *symbol)
{
	const size_t size = symbol_name_size(symbol);
	const char *end = strcmp(symbol + size, "@plt") ? "" : "@plt";
	char *name = strndup(symbol, size), *entry = NULL;
	char *readable = name ? naming_readable(work, name) : NULL;

	if (readable && asprintf(&entry, "%s%s", readable, end) < 0)
		entry = NULL;
	free(readable);
	free(name);
	return entry;
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

static char *naming_mark(const char *why)
{
	char *name;

	return asprintf(&name, "[incomplete: %s]", why) < 0 ? NULL : name;
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
 * The address to ask the table for. A recorder that knew no name has written where the function starts, as naming_unknown does, and a
 * debug file can name it; of a file that is gone nobody knows the frame's own address. false: there is nothing to ask.
 */
static bool naming_asks(
    const struct profile *profile, const struct profile_frame *frame, uint64_t *address)
{
	const char *start = frame->name ? strrchr(frame->name, '+') : NULL;
	char *end;

	if (!frame->name)
		return naming_address(profile, frame, address);
	if (frame->kind != PROFILE_FRAME_FILE || !start ||
	    strncmp(start, "+0x", 3) != 0 ||
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
	struct naming_function function = {.kind = frame->kind, .module = frame->module};
	struct table *table = &work->table;
	const struct symbol *symbol = NULL, *start = NULL;
	uint32_t *known = NULL;
	const char *name;
	uint64_t address;

	if (naming_asks(work->profile, frame, &address)) {
		symbol = symbols_find(&table->symbols, address);
		if (!symbol && file && !frame->name) {
			if (!table_read_starts(table, err))
				return false;
			start = symbols_find(&table->starts, address);
		}
	}
	if (other && frame->kind == PROFILE_FRAME_UNKNOWN)
		function.kind = PROFILE_FRAME_JIT;
	/* The name of a symbol that was seen before need not be made again. */
	if (symbol && file && !table->functions)
		table->functions = calloc(table->symbols.n, sizeof(*table->functions));
	if (symbol && table->functions)
		known = &table->functions[symbol - table->symbols.list];
	if (known && *known) {
		*named = *known - 1;
		return true;
	}
	name = symbol ? symbol->name : frame->name;
	if (name && file)
		function.name = naming_symbol(work, name);
	else if (frame->kind == PROFILE_FRAME_THREAD)
		function.name = plain_dup(name);
	else if (frame->kind == PROFILE_FRAME_MARK)
		function.name = naming_mark(name);
	else if (name || other)
		function.name = naming_readable(work, name ? name : other);
	else
		function.name = naming_unknown(work->profile, frame, start);
	if (!naming_add(work->naming, &function, named, err))
		return false;
	if (known)
		*known = *named + 1;
	return true;
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

/* perf, too, tells functions that are inlined from others by this word. at: where the name begins in the text. */
static bool naming_inlined(struct naming_work *work, const struct profile_frame *frame,
    uint32_t at, uint32_t *index, struct err *err)
{
	struct naming_function function = {.kind = frame->kind, .module = frame->module};
	struct inlined *inlined = &work->inlined;
	/* Odd, so each place has a hash of its own. */
	const uint32_t hash = at * UINT32_C(0x9e3779b1);
	struct slot *slot;
	char *readable;

	if (!slots_reserve(&inlined->functions, inlined->n_functions + 1))
		return err_set_nomem(err);
	for (slot = slots_first(&inlined->functions, hash); slot->number;
	     slot = slots_next(&inlined->functions, slot))
		if (slot->hash == hash) {
			*index = slot->number - 1;
			return true;
		}
	readable = naming_readable(work, at ? inlined->text + at : "[unknown]");
	if (!readable || asprintf(&function.name, "%s (inlined)", readable) < 0)
		function.name = NULL;
	free(readable);
	if (!naming_add(work->naming, &function, index, err))
		return false;
	inlined->n_functions++;
	*slot = (struct slot){hash, *index + 1};
	return true;
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
		struct naming_place place = {.line = places[i].line};

		if (!(i ? naming_inlined(work, frame, name, &place.function, err)
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
	struct utsname name;
	int64_t booted;

	if (uname(&name) < 0 || strcmp(name.release, profile->info.release) != 0 ||
	    strcmp(name.nodename, profile->info.host) != 0 ||
	    clock_gettime(CLOCK_REALTIME, &now) < 0 ||
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
