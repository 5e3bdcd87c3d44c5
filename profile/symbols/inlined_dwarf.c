/* SPDX-License-Identifier: MIT */
/*
 * In the process that reads debug information: which functions are inlined at addresses. The units that have some are walked once, and only into what
 * has one of the addresses.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/hash_slots.h"
#include "base/search.h"
#include "base/vec.h"
#include "base/sandbox/apart.h"
#include "profile/symbols/inlined.h"

enum {
	DEPTH = 256,	   /* of nested functions and blocks */
	TEXT_MAX = 1 << 28 /* bytes */
};

#define NO_UNIT UINT32_MAX

/* A function that has an address, or is inlined there. In the order of the walk, outer ones come before inner ones. In the order of search_order_pairs. */
struct reader_hit {
	uint64_t address, number; /* the index of one, and of the hit in the walk */
	uint32_t name;
	uint32_t file, line; /* of the call, in the function around it */
	bool inlined;
};

struct reader {
	const struct inlined_work *work;
	Dwarf *dwarf;
	Dwarf_Files *files; /* of the unit that is walked */
	uint32_t unit;	    /* that one's number */
	uint32_t *units;    /* of each address, or NO_UNIT */
	Dwarf_Die *dies;    /* of the units that have some */
	size_t n_dies, cap_dies;
	struct reader_hit *hits;
	size_t n_hits, cap_hits;
	struct inlined_place *places;
	size_t n_places, cap_places;
	struct naming_chain *chains;
	char *text;
	size_t n_text, cap_text, n_strings;
	struct slots slots; /* of strings, by where they begin */
	bool failed;	    /* memory ran out */
};

/* Where a string begins in the text, which has it once; 0: none. */
static uint32_t reader_text(struct reader *r, const char *string)
{
	size_t size = string ? strlen(string) + 1 : 1;
	uint32_t hash, at = (uint32_t)r->n_text;
	struct slot *slot;

	if (size == 1 || size > INLINED_NAME_MAX || r->n_text + size > TEXT_MAX)
		return 0;
	if (!slots_reserve(&r->slots, r->n_strings + 1) ||
	    !vec_reserve(&r->text, &r->cap_text, r->n_text + size)) {
		r->failed = true;
		return 0;
	}
	hash = hash_fold(hash_bytes((const uint8_t *)string, size));
	for (slot = slots_first(&r->slots, hash); slot->number;
	     slot = slots_next(&r->slots, slot))
		if (slot->hash == hash && strcmp(r->text + slot->number, string) == 0)
			return slot->number;
	memcpy(r->text + at, string, size);
	r->n_text += size;
	r->n_strings++;
	*slot = (struct slot){hash, at};
	return at;
}

/* The name that a linker knows is that of the symbol, too, and says the types of its parameters. */
static uint32_t reader_name(struct reader *r, Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr) ||
	    dwarf_attr_integrate(die, DW_AT_name, &attr))
		name = dwarf_formstring(&attr);
	return reader_text(r, name);
}

static uint64_t reader_number(Dwarf_Die *die, unsigned int which)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	return dwarf_attr(die, which, &attr) && dwarf_formudata(&attr, &value) == 0
		   ? value
		   : 0;
}

/* The next range of an element that has code, as dwarf_ranges gives it. What a linker discarded begins at 0 or 1. */
static ptrdiff_t reader_range(
    Dwarf_Die *die, ptrdiff_t at, Dwarf_Addr *low, Dwarf_Addr *high)
{
	Dwarf_Addr base;

	do
		at = dwarf_ranges(die, at, &base, low, high);
	while (at > 0 && *low <= 1);
	return at;
}

/* Adds a hit for each address that a function has; without a hit to add it only says if there is one. */
static bool reader_hit(struct reader *r, Dwarf_Die *die, struct reader_hit *hit)
{
	Dwarf_Addr low, high;
	ptrdiff_t at = 0;
	bool any = false;

	while ((at = reader_range(die, at, &low, &high)) > 0)
		for (size_t i = search_from(
			 r->work->addresses, sizeof(uint64_t), r->work->n, low);
		     i < r->work->n && r->work->addresses[i] < high; i++) {
			if (r->units[i] != r->unit)
				continue;
			any = true;
			if (!hit)
				break;
			hit->address = i;
			hit->number = r->n_hits;
			if (!vec_reserve(&r->hits, &r->cap_hits, r->n_hits + 1)) {
				r->failed = true;
				return false;
			}
			r->hits[r->n_hits++] = *hit;
		}
	return any;
}

static bool reader_function(struct reader *r, Dwarf_Die *die, bool inlined)
{
	struct reader_hit hit = {.inlined = inlined};

	if (!reader_hit(r, die, NULL))
		return false;
	hit.name = reader_name(r, die);
	if (inlined) {
		hit.line = (uint32_t)reader_number(die, DW_AT_call_line);
		hit.file = reader_text(
		    r, r->files ? dwarf_filesrc(r->files,
				      reader_number(die, DW_AT_call_file), NULL, NULL)
				: NULL);
	}
	return reader_hit(r, die, &hit);
}

/* True if functions with code can be among what is in an element. Ada has functions in functions, Rust in types. */
static bool reader_enter(struct reader *r, Dwarf_Die *die, bool *code)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
		*code = reader_function(r, die, false);
		return *code || dwarf_hasattr(die, DW_AT_low_pc) ||
		       dwarf_hasattr(die, DW_AT_ranges);
	case DW_TAG_inlined_subroutine:
		return *code && reader_function(r, die, true);
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return *code && reader_hit(r, die, NULL);
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		*code = false;
		return true;
	default:
		return false;
	}
}

/* Walks the children of an element, and theirs. */
static void reader_walk(struct reader *r, const Dwarf_Die *root)
{
	static Dwarf_Die path[DEPTH];
	static bool code[DEPTH]; /* the parent of an element has one of the addresses */
	size_t depth = 0;
	Dwarf_Die parent = *root;

	if (dwarf_child(&parent, &path[0]) != 0)
		return;
	code[0] = false;
	for (;;) {
		bool inside = code[depth];

		if (r->failed)
			return;
		if (depth + 1 < DEPTH && reader_enter(r, &path[depth], &inside) &&
		    dwarf_child(&path[depth], &path[depth + 1]) == 0) {
			code[++depth] = inside;
			continue;
		}
		while (dwarf_siblingof(&path[depth], &path[depth]) != 0)
			if (depth-- == 0)
				return;
	}
}

/* Finds the unit of each address. */
static bool reader_units(struct reader *r)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	bool found = false;

	while (dwarf_get_units(r->dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0) {
		Dwarf_Addr low, high;
		ptrdiff_t at = 0;
		bool any = false;

		found = true;
		if (!vec_reserve(&r->dies, &r->cap_dies, r->n_dies + 1))
			return false;
		while ((at = reader_range(&die, at, &low, &high)) > 0)
			for (size_t i = search_from(
				 r->work->addresses, sizeof(uint64_t), r->work->n, low);
			     i < r->work->n && r->work->addresses[i] < high; i++)
				if (r->units[i] == NO_UNIT) {
					r->units[i] = (uint32_t)r->n_dies;
					any = true;
				}
		if (any)
			r->dies[r->n_dies++] = die;
	}
	return found;
}

static void reader_place(struct reader *r, const struct inlined_place *place)
{
	if (!vec_reserve(&r->places, &r->cap_places, r->n_places + 1))
		r->failed = true;
	else
		r->places[r->n_places++] = *place;
}

/* Makes the chain of an address of its hits. The call of one is where the one before is. */
static void reader_chain(
    struct reader *r, size_t i, const struct reader_hit *hits, size_t n)
{
	struct inlined_place place = {0};
	struct naming_chain *chain = &r->chains[i];
	Dwarf_Line *line = NULL;
	size_t first = 0;
	int number = 0;

	/* A function in a function comes behind it, and has the code. */
	for (size_t k = 0; k < n; k++)
		if (!hits[k].inlined)
			first = k;
	if (n - first > INLINED_CHAIN_MAX)
		n = first + INLINED_CHAIN_MAX;
	chain->first = (uint32_t)r->n_places;
	for (size_t k = first; k < n; k++) {
		place.name = hits[k].name;
		if (k + 1 < n) {
			place.file = hits[k + 1].file;
			place.line = hits[k + 1].line;
			reader_place(r, &place);
		}
	}
	place.file = place.line = 0;
	if (r->units[i] != NO_UNIT)
		line = dwarf_getsrc_die(&r->dies[r->units[i]], r->work->addresses[i]);
	if (line && dwarf_lineno(line, &number) == 0 && number > 0) {
		place.line = (uint32_t)number;
		place.file = reader_text(r, dwarf_linesrc(line, NULL, NULL));
	}
	reader_place(r, &place);
	chain->n = (uint32_t)(r->n_places - chain->first);
}

static bool reader_chains(struct reader *r)
{
	const size_t n = r->work->n;
	size_t at = 0;

	r->chains = calloc(n + 1, sizeof(*r->chains));
	if (!r->chains || !vec_reserve(&r->hits, &r->cap_hits, 1)) {
		r->failed = true;
		return false;
	}
	qsort(r->hits, r->n_hits, sizeof(*r->hits), search_order_pairs);
	for (size_t i = 0, end; i < n; i++, at = end) {
		for (end = at; end < r->n_hits && r->hits[end].address == i;)
			end++;
		reader_chain(r, i, r->hits + at, end - at);
	}
	return !r->failed;
}

/* Opens a file whose build-id is this one; no bytes: whose is not asked for. NULL: it is missing, or another one. */
static Dwarf *reader_begin(int fd, const void *id, ssize_t size)
{
	Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);
	const void *own = NULL;

	if (!dwarf || !size ||
	    (dwelf_elf_gnu_build_id(dwarf_getelf(dwarf), &own) == size &&
		memcmp(own, id, (size_t)size) == 0))
		return dwarf;
	dwarf_end(dwarf);
	return NULL;
}

/* The first file that has debug information, with that of dwz. */
static bool reader_open(struct reader *r, uint64_t *alt)
{
	const struct profile_module *module = r->work->module;
	const int last = APART_FIRST_FILE + APART_MAX_FILES - 1;
	const char *name;
	const void *id;
	ssize_t size;

	elf_version(EV_CURRENT);
	for (int fd = APART_FIRST_FILE; fd < last && !r->dwarf; fd++) {
		r->dwarf = reader_begin(fd, module->build_id, module->build_id_size);
		/* One with lines alone, or with the unwinding information of strip, has none. */
		if (r->dwarf && dwarf_get_units(r->dwarf, NULL, &(Dwarf_CU *){NULL}, NULL,
				    NULL, NULL, NULL) != 0) {
			dwarf_end(r->dwarf);
			r->dwarf = NULL;
		}
	}
	if (!r->dwarf)
		return false;
	size = dwelf_dwarf_gnu_debugaltlink(r->dwarf, &name, &id);
	if (size <= 0)
		return true;
	if (r->work->has_alt)
		dwarf_setalt(r->dwarf, reader_begin(last, id, size));
	else
		*alt = reader_text(r, name);
	return true;
}

static bool reader_read(struct reader *r, uint64_t *alt)
{
	r->units = malloc((r->work->n + 1) * sizeof(*r->units));
	if (!r->units || !vec_reserve(&r->text, &r->cap_text, 1))
		return false;
	r->text[r->n_text++] = '\0';
	memset(r->units, 0xff, (r->work->n + 1) * sizeof(*r->units));
	if (!reader_open(r, alt) || *alt || !reader_units(r))
		return false;
	for (; r->unit < r->n_dies; r->unit++) {
		size_t n;

		if (dwarf_getsrcfiles(&r->dies[r->unit], &r->files, &n) != 0)
			r->files = NULL;
		reader_walk(r, &r->dies[r->unit]);
	}
	return reader_chains(r);
}

bool inlined_work(void *context, int out)
{
	struct reader r = {.work = context};
	struct inlined_answer answer = {0};

	answer.found = reader_read(&r, &answer.alt);
	answer.n_text = r.n_text;
	answer.n_places = answer.found ? r.n_places : 0;
	return !r.failed && apart_write(out, &answer, sizeof(answer)) &&
	       (!answer.found ||
		   apart_write(out, r.chains, r.work->n * sizeof(*r.chains))) &&
	       apart_write(out, r.places, answer.n_places * sizeof(*r.places)) &&
	       apart_write(out, r.text, r.n_text);
}
