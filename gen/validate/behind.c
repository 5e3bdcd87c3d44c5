/* SPDX-License-Identifier: MIT */
#include "gen/validate/behind.h"

#include <string.h>

#include "base/search.h"
#include "base/vec.h"

bool validate_behind_add(
    struct validate_behind *behind, uint64_t pc, struct code_value sp)
{
	size_t i = search_list_above(behind->list, behind->n, pc, pc);

	if (i && behind->list[i - 1].pc == pc)
		return true;
	if (behind->n == VALIDATE_MAX_BEHIND) {
		if (i == 0)
			return true;
		memmove(
		    &behind->list[0], &behind->list[1], (--i) * sizeof(behind->list[0]));
		behind->n--;
	} else {
		if (!vec_reserve(&behind->list, &behind->cap, behind->n + 1))
			return false;
		memmove(&behind->list[i + 1], &behind->list[i],
		    (behind->n - i) * sizeof(behind->list[0]));
	}
	behind->list[i] = (struct validate_behind_place){pc, sp};
	behind->n++;
	return true;
}

const struct code_value *validate_behind_find(
    const struct validate_behind *behind, uint64_t pc)
{
	const size_t i = search_list_above(behind->list, behind->n, pc, pc);

	return i && behind->list[i - 1].pc == pc ? &behind->list[i - 1].sp : NULL;
}
