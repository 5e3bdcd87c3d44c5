// SPDX-License-Identifier: MIT
// Unwinds by .eh_frame after the conversion, too.
#include <cstdio>
#include <stdexcept>
#include <string>

static int deep(int n)
{
	if (n == 0)
		throw std::runtime_error("thrown");
	return deep(n - 1) + 1;
}

int main()
{
	try {
		return deep(20);
	} catch (const std::exception &e) {
		std::puts(e.what());
	}
	std::puts("fine");
	return 0;
}
