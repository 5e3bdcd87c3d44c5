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

/* The group that a frame belongs to. */
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

static uint32_t naming_hash(const char *text)
{
	return hash_fold(hash_bytes((const uint8_t *)text, strlen(text)));
}

/* The index of an equal function, or of a new one. Takes the name over. */
static bool naming_add(struct naming *naming, struct naming_function *function,
    uint32_t *index, struct err *err)
{
	uint32_t hash;
	struct slot *slot;

	if (!function->name ||
	    !vec_reserve(
		&naming->functions, &naming->cap_functions, naming->n_functions + 1) ||
	    !slots_reserve(&naming->slots, naming->n_functions + 1)) {
		free(function->name);
		return err_set_nomem(err);
	}
	if (naming->n_functions >= UINT32_MAX - 1) {
		free(function->name);
		return err_set(err, ERR_LIMIT, "more than 4294967294 functions");
	}
	/* Odd, so each module has a hash of its own. */
	hash = naming_hash(function->name) ^
	       (function->module << 2 | function->kind) * UINT32_C(0x9e3779b1);
	for (slot = slots_first(&naming->slots, hash); slot->number;
	     slot = slots_next(&naming->slots, slot)) {
		const struct naming_function *old = &naming->functions[slot->number - 1];

		if (slot->hash != hash || old->module != function->module ||
		    old->kind != function->kind || strcmp(old->name, function->name) != 0)
			continue;
		*index = slot->number - 1;
		free(function->name);
		return true;
	}
	*index = (uint32_t)naming->n_functions;
	naming->functions[naming->n_functions++] = *function;
	*slot = (struct slot){hash, (uint32_t)naming->n_functions};
	return true;
}

/* A readable name without control characters; NULL when memory runs out. */
static char *naming_readable(
    struct naming *naming, const struct naming_options *options, const char *name)
{
	if (!options->no_demangle && symbol_readable(name, naming->readable))
		name = naming->readable;
	return plain_dup(name);
}

/*
 * The name of a symbol of a file without its version. Names of other origins may have this character. Behind that of an entry of a PLT
 * it has no version.
 */
static char *naming_symbol(
    struct naming *naming, const struct naming_options *options, const char *symbol)
{
	const size_t size = symbol_name_size(symbol);
	const char *end = strcmp(symbol + size, "@plt") ? "" : "@plt";
	char *name = strndup(symbol, size), *entry = NULL;
	char *readable = name ? naming_readable(naming, options, name) : NULL;

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

/* The address to look up. false: it is not known where in memory the file had it. */
static bool naming_address(
    const struct profile *profile, const struct profile_frame *frame, uint64_t *address)
{
	*address =
	    frame->address - (frame->address && !(frame->flags & PROFILE_FRAME_EXACT));
	return frame->kind != PROFILE_FRAME_FILE ||
	       !(profile->modules[frame->module].flags & PROFILE_MODULE_OFFSETS);
}

/* The symbol at an address, or else, in a file, the start of its function. */
static bool naming_find(const struct profile_frame *frame, struct table *table,
    uint64_t address, const struct symbol **symbol, const struct symbol **start,
    struct err *err)
{
	*symbol = symbols_find(&table->symbols, address);
	if (*symbol || frame->kind != PROFILE_FRAME_FILE)
		return true;
	if (!table_read_starts(table, err))
		return false;
	*start = symbols_find(&table->starts, address);
	return true;
}

/* True if the symbol was seen before in the same file: then its name need not be made again. */
static bool naming_known(
    struct table *table, const struct symbol *symbol, uint32_t *named)
{
	uint32_t function = 0;

	if (!table->functions)
		table->functions = calloc(table->symbols.n, sizeof(*table->functions));
	else
		function = table->functions[symbol - table->symbols.list];
	if (function)
		*named = function - 1;
	return function;
}

/* Names the function that has the code of a frame. other: its name where no table has one, or NULL. */
static bool naming_function(const struct profile *profile,
    const struct naming_options *options, struct table *table,
    const struct profile_frame *frame, const char *other, struct naming *naming,
    uint32_t *named, struct err *err)
{
	struct naming_function function = {.kind = frame->kind};
	const struct symbol *symbol = NULL, *start = NULL;
	const char *name;
	uint64_t address;

	if (frame->kind == PROFILE_FRAME_FILE || frame->kind == PROFILE_FRAME_KERNEL)
		function.module = frame->module;
	if (!frame->name && naming_address(profile, frame, &address) &&
	    !naming_find(frame, table, address, &symbol, &start, err))
		return false;
	if (other && frame->kind == PROFILE_FRAME_UNKNOWN)
		function.kind = PROFILE_FRAME_JIT;
	if (symbol && frame->kind == PROFILE_FRAME_FILE &&
	    naming_known(table, symbol, named))
		return true;
	name = frame->name ? frame->name : symbol ? symbol->name : NULL;
	if (name && frame->kind == PROFILE_FRAME_FILE)
		function.name = naming_symbol(naming, options, name);
	else if (name || other)
		function.name = naming_readable(naming, options, name ? name : other);
	else
		function.name = naming_unknown(profile, frame, start);
	if (!naming_add(naming, &function, named, err))
		return false;
	if (symbol && table->functions)
		table->functions[symbol - table->symbols.list] = *named + 1;
	return true;
}

static bool naming_add_place(
    struct naming *naming, const struct naming_place *place, struct err *err)
{
	if (naming->n_places >= UINT32_MAX)
		return err_set(
		    err, ERR_LIMIT, "more than 4294967295 places in functions");
	if (!vec_reserve(&naming->places, &naming->cap_places, naming->n_places + 1))
		return err_set_nomem(err);
	naming->places[naming->n_places++] = *place;
	return true;
}

/* The index of a source's path, which the list has once. */
static bool naming_file(
    struct naming *naming, const char *path, uint32_t *index, struct err *err)
{
	uint32_t hash = naming_hash(path);
	struct slot *slot;

	if (!vec_reserve(&naming->files, &naming->cap_files, naming->n_files + 2) ||
	    !slots_reserve(&naming->file_slots, naming->n_files + 2))
		return err_set_nomem(err);
	if (!naming->n_files)
		naming->files[naming->n_files++] = NULL;
	for (slot = slots_first(&naming->file_slots, hash); slot->number;
	     slot = slots_next(&naming->file_slots, slot))
		if (slot->hash == hash &&
		    strcmp(naming->files[slot->number], path) == 0) {
			*index = slot->number;
			return true;
		}
	naming->files[naming->n_files] = plain_dup(path);
	if (!naming->files[naming->n_files])
		return err_set_nomem(err);
	*index = (uint32_t)naming->n_files++;
	*slot = (struct slot){hash, *index};
	return true;
}

/* perf, too, tells functions that are inlined from others by this word. at: where the name begins in the text. */
static bool naming_inlined(struct naming *naming, const struct naming_options *options,
    const struct profile_frame *frame, struct inlined *inlined, uint32_t at,
    uint32_t *index, struct err *err)
{
	struct naming_function function = {.kind = frame->kind, .module = frame->module};
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
	readable =
	    naming_readable(naming, options, at ? inlined->text + at : "[unknown]");
	if (!readable || asprintf(&function.name, "%s (inlined)", readable) < 0)
		function.name = NULL;
	free(readable);
	if (!naming_add(naming, &function, index, err))
		return false;
	inlined->n_functions++;
	*slot = (struct slot){hash, *index + 1};
	return true;
}

static bool naming_frame(const struct profile *profile,
    const struct naming_options *options, struct table *table, struct inlined *inlined,
    uint32_t index, const char *other, struct naming *naming, struct err *err)
{
	const struct profile_frame *frame = &profile->frames[index];
	const struct inlined_chain *chain = NULL;
	const struct inlined_place *places = NULL;
	uint64_t address;

	if (frame->kind == PROFILE_FRAME_FILE && naming_address(profile, frame, &address))
		chain = inlined_find(inlined, address);
	if (chain) {
		places = &inlined->places[chain->first];
		other = places->name ? inlined->text + places->name : NULL;
	}
	naming->of_frame[index] =
	    (struct naming_chain){(uint32_t)naming->n_places, chain ? chain->n : 1};
	for (uint32_t i = 0; i < naming->of_frame[index].n; i++) {
		struct naming_place place = {0};

		if (i == 0 ? !naming_function(profile, options, table, frame, other,
				 naming, &place.function, err)
			   : !naming_inlined(naming, options, frame, inlined,
				 places[i].name, &place.function, err))
			return false;
		if (places && places[i].file &&
		    !naming_file(
			naming, inlined->text + places[i].file, &place.file, err))
			return false;
		place.line = places ? places[i].line : 0;
		if (!naming_add_place(naming, &place, err))
			return false;
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
static bool naming_is_wanted(
    const struct profile *profile, const struct naming_order *order, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!profile->frames[order[i].frame].name)
			return true;
	return false;
}

static bool naming_table(const struct profile *profile,
    const struct naming_options *options, const struct profile_frame *first, bool here,
    struct table *table, struct err *err)
{
	if (first->kind == PROFILE_FRAME_FILE)
		return table_read_module(
		    &profile->modules[first->module], options, table, err);
	return first->kind != PROFILE_FRAME_KERNEL || !here ||
	       table_read_kernel("/proc/kallsyms", profile->info.kernel_text, table, err);
}

/* Asks for the names of addresses of a process in no file, and adds the time to ns. ERR_NOMEM. */
static bool naming_ask(uint32_t pid, const uint64_t *addresses, size_t n, uint64_t *ns,
    struct apart_answer *answer, struct err *err)
{
	struct jit_home home;
	struct err why;
	bool ok;

	jit_home_open(&home, pid, owner_of(pid).user);
	ok = jit_ask(&home, addresses, n, answer, &why) || why.kind != ERR_NOMEM ||
	     err_set_nomem(err);
	jit_home_close(&home);
	*ns += answer->ns;
	return ok;
}

/* Looks up what is inlined in the frames of one file, or asks for the names of frames in none. The caller frees addresses. */
static bool naming_look_up(const struct profile *profile,
    const struct naming_options *options, const struct naming_order *order, size_t n,
    struct naming *naming, uint64_t **addresses, struct inlined *inlined,
    struct apart_answer *answer, struct err *err)
{
	const struct profile_frame *first = &profile->frames[order->frame];
	const bool file = first->kind == PROFILE_FRAME_FILE;
	size_t kept = 0, distinct = 0;
	uint64_t *list;

	if (file ? options->no_inline
		 : first->kind == PROFILE_FRAME_KERNEL || naming->ns >= NAMING_MAX_NS)
		return true;
	list = *addresses = malloc((n + 1) * sizeof(*list));
	if (!list)
		return err_set_nomem(err);
	for (size_t i = 0; i < n; i++)
		kept += naming_address(
		    profile, &profile->frames[order[i].frame], &list[kept]);
	if (!file)
		return naming_ask(first->pid, list, kept, &naming->ns, answer, err);
	if (kept)
		qsort(list, kept, sizeof(*list), search_order);
	for (size_t i = 0; i < kept; i++)
		if (!distinct || list[distinct - 1] != list[i])
			list[distinct++] = list[i];
	inlined->addresses = list;
	inlined->n = distinct;
	return inlined_read(&profile->modules[first->module], options, inlined, err);
}

/* Names the frames of a group. */
static bool naming_of_group(const struct profile *profile,
    const struct naming_options *options, const struct naming_order *order, size_t n,
    bool here, struct naming *naming, struct err *err)
{
	struct table table = {0};
	struct inlined inlined = {0};
	struct apart_answer answer = {0};
	const struct profile_frame *first = &profile->frames[order->frame];
	const bool wanted =
	    naming->n_symbols < NAMING_MAX_SYMBOLS && naming_is_wanted(profile, order, n);
	uint64_t *addresses = NULL;
	bool ok = true;
	size_t at = 0;

	if (wanted)
		ok = naming_table(profile, options, first, here, &table, err);
	if (ok && wanted && (here || first->kind == PROFILE_FRAME_FILE))
		ok = naming_look_up(profile, options, order, n, naming, &addresses,
		    &inlined, &answer, err);
	for (size_t i = 0; ok && i < n; i++)
		ok = naming_frame(profile, options, &table, &inlined,
		    (uint32_t)order[i].frame, jit_text(&answer, &at), naming, err);
	naming->n_symbols += table.symbols.n + table.starts.n;
	table_free(&table);
	inlined_free(&inlined);
	apart_free(&answer);
	free(addresses);
	return ok;
}

bool naming_run(const struct profile *profile, const struct naming_options *options,
    struct naming *naming, struct err *err)
{
	const size_t n = profile->n_frames;
	struct naming_order *order = calloc(n + 1, sizeof(*order));
	const bool here = naming_is_here(profile);
	bool ok;

	naming->of_frame = calloc(n + 1, sizeof(*naming->of_frame));
	naming->readable = malloc(SYMBOL_READABLE);
	ok = (order && naming->of_frame && naming->readable) || err_set_nomem(err);
	for (size_t i = 0; ok && i < n; i++)
		order[i] = (struct naming_order){naming_group(&profile->frames[i]), i};
	if (ok)
		qsort(order, n, sizeof(*order), search_order_pairs);
	for (size_t i = 0, end; ok && i < n; i = end) {
		for (end = i; end < n && order[end].group == order[i].group;)
			end++;
		ok = naming_of_group(
		    profile, options, order + i, end - i, here, naming, err);
	}
	free(order);
	return ok;
}

void naming_free(struct naming *naming)
{
	for (size_t i = 0; i < naming->n_functions; i++)
		free(naming->functions[i].name);
	for (size_t i = 0; i < naming->n_files; i++)
		free(naming->files[i]);
	free(naming->functions);
	free(naming->places);
	free(naming->files);
	free(naming->of_frame);
	free(naming->slots.list);
	free(naming->file_slots.list);
	free(naming->readable);
	*naming = (struct naming){0};
}
