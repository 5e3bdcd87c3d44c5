/* SPDX-License-Identifier: MIT */
/* Another object with the same inline functions. */
#include "object_shared.h"

int other(int n)
{
	noisy object("other");

	return limited(n) + sum_of_copies(n, 2) + static_cast<int>(sum_of_copies(1L, 4)) +
	       object.value(n) + static_cast<int>(sum_of_copies(std::string("x"), n).size());
}
