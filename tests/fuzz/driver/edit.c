/* SPDX-License-Identifier: MIT */
/* Damage: made up, done, written down and read back. */
#include "tests/fuzz/driver/edit.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* splitmix64 (Steele, Lea, Flood 2014): good enough, and one word of state. */
static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static size_t below(uint64_t *state, size_t n)
{
	return n ? (size_t)(next(state) % n) : 0;
}

static const struct region *pick(const struct map *map, uint64_t *state)
{
	size_t at = below(state, map->weights);

	for (size_t i = 0; i < map->n; i++) {
		if (at < map->list[i].weight)
			return &map->list[i];
		at -= map->list[i].weight;
	}
	return &map->list[0];
}

static uint64_t read_le(const uint8_t *data, size_t size, size_t off, size_t width)
{
	uint64_t value = 0;

	for (size_t i = 0; i < width && off + i < size; i++)
		value |= (uint64_t)data[off + i] << 8 * i;
	return value;
}

/* Numbers that programs get wrong, of which some depend on the file or on what was there.
 */
static uint64_t interesting(uint64_t old, size_t size, size_t width, uint64_t *state)
{
	uint64_t top = UINT64_C(1) << (8 * width - 1);
	const uint64_t numbers[] = {0, 1, 2, 3, 4, 7, 8, 16, 0x7f, 0x80, 0xff, 0x100,
	    0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xfffffff0,
	    0xffffffff, 0x100000000, top - 1, top, top + 1, ~UINT64_C(0),
	    ~UINT64_C(0) - 7, ~UINT64_C(0) - 4095, size, size - 1, size + 1, size / 2,
	    old + 1, old - 1, old + 8, old - 8, old * 2, old / 2, ~old, 0 - old,
	    old + 0x1000, old - 0x1000, old << 8, old | top};

	switch (next(state) % 4) {
	case 0:
		return old ^ UINT64_C(1) << below(state, 8 * width);
	case 1:
		return next(state);
	default:
		return numbers[below(state, sizeof(numbers) / sizeof(numbers[0]))];
	}
}

static bool is_header(const struct region *region)
{
	return !strncmp(region->name + 1, "hdr", 3);
}

/* Eight bytes that stand elsewhere: of a header, an address, offset or size. */
static uint64_t another(
    const struct map *map, const uint8_t *data, size_t size, uint64_t *state)
{
	const struct region *region = &map->list[below(state, map->n)];
	size_t off = below(state, region->size) & ~(size_t)7;

	return read_le(data, size, region->off + off, 8);
}

static struct edit random_set(
    const struct map *map, const uint8_t *data, size_t size, uint64_t *state)
{
	struct edit edit = {.kind = EDIT_SET, .region = pick(map, state)};
	uint64_t old;

	edit.off = below(state, edit.region->size);
	edit.n = (size_t)1 << below(state, 4);
	/* Fields of headers are aligned; of CFI most are single bytes. */
	if (is_header(edit.region) || next(state) % 2)
		edit.off -= edit.off % edit.n;
	else if (next(state) % 4)
		edit.n = 1;
	old = read_le(data, size, edit.region->off + edit.off, edit.n);
	edit.value = next(state) % 8 ? interesting(old, size, edit.n, state)
				     : another(map, data, size, state);
	if (edit.n < 8)
		edit.value &= (UINT64_C(1) << 8 * edit.n) - 1;
	return edit;
}

static struct edit random_block(const struct map *map, uint64_t *state)
{
	struct edit edit = {.kind = next(state) % 4 ? EDIT_COPY : EDIT_FILL};

	edit.region = pick(map, state);
	edit.off = below(state, edit.region->size);
	edit.n = 1 + below(state, next(state) % 4 ? 64 : 4096);
	if (edit.kind == EDIT_FILL) {
		edit.value = next(state) % 2 ? 0 : next(state) & 0xff;
		return edit;
	}
	edit.to = next(state) % 4 ? edit.region : pick(map, state);
	edit.to_off = below(state, edit.to->size);
	return edit;
}

size_t edit_random(const struct map *map, const uint8_t *data, size_t size,
    uint64_t *state, struct edit edits[EDIT_MAX])
{
	size_t n = 0, wanted = 1;

	/* One number after the other: a seed means the same with every compiler. */
	if (below(state, 2))
		wanted += below(state, EDIT_MAX - 1);
	if (next(state) % 10 == 0)
		edits[n++] = (struct edit){.kind = EDIT_BARE};
	/* Bytes that ELF leaves open choose options in fuzz_elf. */
	if (map->n > 1 && !strcmp(map->list[1].name, "ehdr") && next(state) % 2)
		edits[n++] = (struct edit){.kind = EDIT_SET,
		    .region = &map->list[1],
		    .off = EI_PAD,
		    .n = 4,
		    .value = next(state) & UINT32_MAX};
	while (n < wanted) {
		switch (next(state) % 24) {
		case 0:
			edits[n++] =
			    (struct edit){.kind = EDIT_CUT, .n = below(state, size)};
			break;
		case 1:
			edits[n] =
			    (struct edit){.kind = EDIT_GROW, .n = 1 + below(state, 256)};
			edits[n++].value = next(state) & 0xff;
			break;
		case 2:
		case 3:
		case 4:
			edits[n++] = random_block(map, state);
			break;
		default:
			edits[n++] = random_set(map, data, size, state);
		}
	}
	return n;
}

/* How much of [off, off + n) is there. */
static size_t clip(const struct wr *bytes, size_t off, size_t n)
{
	if (off >= bytes->size)
		return 0;
	return n < bytes->size - off ? n : bytes->size - off;
}

static void set(struct wr *bytes, size_t off, size_t width, uint64_t value)
{
	size_t n = clip(bytes, off, width);

	for (size_t i = 0; i < n; i++)
		bytes->data[off + i] = (uint8_t)(value >> 8 * i);
}

void edit_apply(const struct edit *edit, struct wr *bytes)
{
	size_t off = edit->region ? edit->region->off + edit->off : 0;
	size_t to = edit->to ? edit->to->off + edit->to_off : 0, n;

	switch (edit->kind) {
	case EDIT_SET:
		set(bytes, off, edit->n, edit->value);
		break;
	case EDIT_COPY:
		n = clip(bytes, to, clip(bytes, off, edit->n));
		if (n)
			memmove(bytes->data + to, bytes->data + off, n);
		break;
	case EDIT_FILL:
		n = clip(bytes, off, edit->n);
		if (n)
			memset(bytes->data + off, (int)edit->value, n);
		break;
	case EDIT_CUT:
		if (edit->n < bytes->size)
			bytes->size = edit->n;
		break;
	case EDIT_GROW:
		for (size_t i = 0; i < edit->n; i++)
			wr_u8(bytes, (uint8_t)edit->value);
		break;
	case EDIT_BARE: /* e_shoff, e_shnum, e_shstrndx */
		set(bytes, 40, 8, 0);
		set(bytes, 60, 4, 0);
		break;
	}
}

void edit_print(const struct edit *edits, size_t n, char *text)
{
	size_t used = 0;

	*text = '\0';
	for (size_t i = 0; i < n && used + 200 < EDIT_TEXT; i++) {
		const struct edit *e = &edits[i];
		const char *name = e->region ? e->region->name : "";
		char *at = text + used;
		size_t room = EDIT_TEXT - used;

		switch (e->kind) {
		case EDIT_SET:
			snprintf(at, room, "set %s+0x%zx %zu 0x%" PRIx64, name, e->off,
			    e->n, e->value);
			break;
		case EDIT_COPY:
			snprintf(at, room, "copy %s+0x%zx %s+0x%zx %zu", name, e->off,
			    e->to->name, e->to_off, e->n);
			break;
		case EDIT_FILL:
			snprintf(at, room, "fill %s+0x%zx %zu 0x%" PRIx64, name, e->off,
			    e->n, e->value);
			break;
		case EDIT_CUT:
			snprintf(at, room, "cut 0x%zx", e->n);
			break;
		case EDIT_GROW:
			snprintf(at, room, "grow %zu 0x%" PRIx64, e->n, e->value);
			break;
		case EDIT_BARE:
			snprintf(at, room, "bare");
			break;
		}
		used += strlen(at);
		if (i + 1 < n)
			used += (size_t)snprintf(text + used, EDIT_TEXT - used, "; ");
	}
}

/* "NAME+0xOFF". */
static bool parse_place(
    const struct map *map, const char *word, const struct region **region, size_t *off)
{
	const char *plus = strrchr(word, '+');
	size_t len = plus ? (size_t)(plus - word) : 0;

	for (size_t i = 0; plus && i < map->n; i++) {
		if (strlen(map->list[i].name) != len ||
		    strncmp(map->list[i].name, word, len))
			continue;
		*region = &map->list[i];
		*off = (size_t)strtoull(plus + 1, NULL, 0);
		return true;
	}
	return false;
}

static bool parse_one(const struct map *map, const char *text, struct edit *edit)
{
	char verb[8] = "", a[EDIT_NAME + 24] = "", b[EDIT_NAME + 24] = "", c[24] = "";
	int words = sscanf(text, " %7s %71s %71s %23s", verb, a, b, c);

	*edit = (struct edit){.kind = EDIT_BARE};
	if (!strcmp(verb, "bare"))
		return words == 1;
	if (!strcmp(verb, "cut")) {
		edit->kind = EDIT_CUT;
		edit->n = (size_t)strtoull(a, NULL, 0);
		return words == 2;
	}
	if (!strcmp(verb, "grow")) {
		edit->kind = EDIT_GROW;
		edit->n = (size_t)strtoull(a, NULL, 0);
		edit->value = strtoull(b, NULL, 0);
		return words == 3;
	}
	if (words != 4 || !parse_place(map, a, &edit->region, &edit->off))
		return false;
	if (!strcmp(verb, "copy")) {
		edit->kind = EDIT_COPY;
		edit->n = (size_t)strtoull(c, NULL, 0);
		return parse_place(map, b, &edit->to, &edit->to_off);
	}
	edit->kind = strcmp(verb, "fill") ? EDIT_SET : EDIT_FILL;
	edit->n = (size_t)strtoull(b, NULL, 0);
	edit->value = strtoull(c, NULL, 0);
	return edit->kind == EDIT_FILL ||
	       (!strcmp(verb, "set") && edit->n >= 1 && edit->n <= 8);
}

bool edit_parse(
    const struct map *map, const char *text, struct edit edits[EDIT_MAX], size_t *n)
{
	*n = 0;
	while (text) {
		const char *semicolon = strchr(text, ';');
		size_t len = semicolon ? (size_t)(semicolon - text) : strlen(text);
		char one[EDIT_TEXT];

		snprintf(one, sizeof(one), "%.*s", (int)len, text);
		if (*n == EDIT_MAX || !parse_one(map, one, &edits[*n]))
			return false;
		++*n;
		text = semicolon ? semicolon + 1 : NULL;
	}
	return true;
}
