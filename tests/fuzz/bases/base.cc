// SPDX-License-Identifier: MIT
// A small C++ program for mutation: personality and LSDA in .eh_frame, landing pads, cold
// parts.
#include <cstdio>
#include <stdexcept>
#include <string>

namespace
{

struct noisy {
	int n;
	explicit noisy(int v) : n(v)
	{
	}
	~noisy()
	{
		std::printf("%d\n", n);
	}
};

template <typename T> T risky(T v)
{
	noisy guard(static_cast<int>(v));

	if (v > 2)
		throw std::runtime_error("too much: " + std::to_string(v));
	return v * 2;
}

} // namespace

int main(int argc, char **)
{
	try {
		return static_cast<int>(risky(argc) + risky(static_cast<long>(argc) + 1));
	} catch (const std::exception &e) {
		std::puts(e.what());
	}
	return 0;
}
