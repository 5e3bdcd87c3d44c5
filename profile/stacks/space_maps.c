/* SPDX-License-Identifier: MIT */
#include "profile/stacks/space_maps.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/vec.h"

static void space_maps_leave(struct space_maps_block *block)
{
	if (--block->users == 0)
		free(block);
}

void space_maps_free(struct space_maps *maps)
{
	for (size_t i = 0; i < maps->n_places; i++)
		space_maps_leave(maps->places[i].block);
	free(maps->places);
	*maps = (struct space_maps){0};
}

/* A mapping in the list; place is n_places behind the last one. */
struct space_maps_at {
	size_t place;
	uint32_t index;
};

static struct space_map *space_maps_get(
    const struct space_maps *maps, struct space_maps_at at)
{
	return &maps->places[at.place].block->maps[at.index];
}

/* Where the first mapping is that ends above address. */
static struct space_maps_at space_maps_search(
    const struct space_maps *maps, uint64_t address)
{
	size_t place = search_list_above(maps->places, maps->n_places, start, address);
	const struct space_maps_block *block;
	uint32_t index;

	if (place == 0)
		return (struct space_maps_at){0, 0};
	block = maps->places[place - 1].block;
	index = (uint32_t)search_list_above(block->maps, block->n, start, address);
	if (block->maps[index - 1].end > address)
		return (struct space_maps_at){place - 1, index - 1};
	if (index < block->n)
		return (struct space_maps_at){place - 1, index};
	return (struct space_maps_at){place, 0};
}

const struct space_map *space_maps_from(const struct space_maps *maps, uint64_t address)
{
	struct space_maps_at at = space_maps_search(maps, address);

	return at.place < maps->n_places ? space_maps_get(maps, at) : NULL;
}

/* Makes a block with room for cap mappings, and the first n of from. NULL: no memory. */
static struct space_maps_block *space_maps_block_new(
    uint32_t cap, const struct space_map *from, uint32_t n)
{
	struct space_maps_block *block =
	    malloc(sizeof(*block) + cap * sizeof(*block->maps));

	if (!block)
		return NULL;
	*block = (struct space_maps_block){.users = 1, .n = n, .cap = cap};
	if (n)
		memcpy(block->maps, from, n * sizeof(*from));
	return block;
}

/* Makes a block the list's own, with room for n mappings. */
static bool space_maps_own(struct space_maps_place *place, uint32_t n)
{
	struct space_maps_block *block = place->block, *own;
	uint32_t cap = 2 * n < SPACE_MAPS_BLOCK ? 2 * n : SPACE_MAPS_BLOCK;

	if (block->users == 1 && n <= block->cap)
		return true;
	own = space_maps_block_new(cap, block->maps, block->n);
	if (!own)
		return false;
	space_maps_leave(block);
	place->block = own;
	return true;
}

static bool space_maps_insert_place(
    struct space_maps *maps, size_t at, struct space_maps_block *block)
{
	struct space_maps_place *place;

	if (!block ||
	    !vec_reserve(&maps->places, &maps->cap_places, maps->n_places + 1)) {
		free(block);
		return false;
	}
	place = maps->places + at;
	memmove(place + 1, place, (maps->n_places - at) * sizeof(*place));
	*place = (struct space_maps_place){block->maps[0].start, block};
	maps->n_places++;
	return true;
}

/* Moves the second half of a full block to a new one. */
static bool space_maps_split(struct space_maps *maps, size_t at)
{
	const uint32_t half = SPACE_MAPS_BLOCK / 2;
	struct space_maps_block *block = maps->places[at].block;

	if (!space_maps_insert_place(maps, at + 1,
		space_maps_block_new(
		    SPACE_MAPS_BLOCK, block->maps + half, block->n - half)))
		return false;
	block->n = half;
	return true;
}

/* Puts in a mapping that covers no other. */
static bool space_maps_insert(struct space_maps *maps, const struct space_map *map)
{
	size_t at = search_list_above(maps->places, maps->n_places, start, map->start);
	struct space_maps_place *place;
	struct space_maps_block *block;
	uint32_t index;

	if (maps->n_places == 0) {
		maps->n = 1;
		return space_maps_insert_place(maps, 0, space_maps_block_new(2, map, 1));
	}
	at -= at > 0;
	if (maps->places[at].block->n == SPACE_MAPS_BLOCK) {
		if (!space_maps_own(&maps->places[at], SPACE_MAPS_BLOCK) ||
		    !space_maps_split(maps, at))
			return false;
		at += map->start > maps->places[at + 1].start;
	}
	place = &maps->places[at];
	if (!space_maps_own(place, place->block->n + 1))
		return false;
	block = place->block;
	index = (uint32_t)search_list_above(block->maps, block->n, start, map->start);
	memmove(block->maps + index + 1, block->maps + index,
	    (block->n - index) * sizeof(*block->maps));
	block->maps[index] = *map;
	block->n++;
	maps->n++;
	place->start = block->maps[0].start;
	return true;
}

/* Takes out a mapping of a block that is the list's own. */
static void space_maps_remove(struct space_maps *maps, struct space_maps_at at)
{
	struct space_maps_place *place = &maps->places[at.place];
	struct space_maps_block *block = place->block;

	maps->n--;
	block->n--;
	memmove(block->maps + at.index, block->maps + at.index + 1,
	    (block->n - at.index) * sizeof(*block->maps));
	if (block->n) {
		place->start = block->maps[0].start;
		return;
	}
	space_maps_leave(block);
	maps->n_places--;
	memmove(place, place + 1, (maps->n_places - at.place) * sizeof(*place));
}

static void space_map_start_at(struct space_map *map, uint64_t start)
{
	map->offset += start - map->start;
	map->start = start;
}

/* Makes room for a mapping. At most one is cut in two. */
static bool space_maps_clear(struct space_maps *maps, const struct space_map *map)
{
	for (;;) {
		struct space_maps_at at = space_maps_search(maps, map->start);
		struct space_map *old, rest;

		if (at.place >= maps->n_places ||
		    space_maps_get(maps, at)->start >= map->end)
			return true;
		if (!space_maps_own(
			&maps->places[at.place], maps->places[at.place].block->n))
			return false;
		old = space_maps_get(maps, at);
		rest = *old;
		if (old->start < map->start) {
			old->end = map->start;
			if (rest.end <= map->end)
				continue;
			space_map_start_at(&rest, map->end);
			return space_maps_insert(maps, &rest);
		}
		if (old->end > map->end) {
			space_map_start_at(old, map->end);
			if (at.index == 0)
				maps->places[at.place].start = map->end;
			return true;
		}
		space_maps_remove(maps, at);
	}
}

bool space_maps_add(struct space_maps *maps, const struct space_map *map)
{
	return space_maps_clear(maps, map) && space_maps_insert(maps, map);
}

bool space_maps_forget(struct space_maps *maps, uint32_t now, uint32_t n)
{
	struct space_maps kept = {0};

	for (size_t i = 0; i < maps->n_places; i++) {
		const struct space_maps_block *block = maps->places[i].block;

		for (uint32_t k = 0; k < block->n; k++)
			if (now - block->maps[k].added < n &&
			    !space_maps_insert(&kept, &block->maps[k])) {
				space_maps_free(&kept);
				return false;
			}
	}
	space_maps_free(maps);
	*maps = kept;
	return true;
}

bool space_maps_copy(struct space_maps *to, const struct space_maps *from)
{
	if (!vec_reserve(&to->places, &to->cap_places, from->n_places))
		return false;
	for (size_t i = 0; i < from->n_places; i++) {
		to->places[i] = from->places[i];
		to->places[i].block->users++;
	}
	to->n_places = from->n_places;
	to->n = from->n;
	return true;
}
