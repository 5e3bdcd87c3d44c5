/* SPDX-License-Identifier: MIT */
/* Hashes are kept in the slots, so that growing need not look at what they stand for. */
#include "base/hash_slots.h"

#include <stdlib.h>

enum { SLOTS_MIN = 256 };

bool slots_grow(struct slots *slots, size_t n)
{
	struct slots grown = {.cap = slots->cap ? slots->cap : SLOTS_MIN};

	while (grown.cap / 2 < n)
		grown.cap *= 2;
	grown.list = calloc(grown.cap, sizeof(*grown.list));
	if (!grown.list)
		return false;
	for (size_t i = 0; i < slots->cap; i++) {
		struct slot *slot;

		if (!slots->list[i].number)
			continue;
		slot = slots_first(&grown, slots->list[i].hash);
		while (slot->number)
			slot = slots_next(&grown, slot);
		*slot = slots->list[i];
	}
	free(slots->list);
	*slots = grown;
	return true;
}
