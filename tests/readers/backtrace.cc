// SPDX-License-Identifier: MIT
// backtrace() against libgcc with frames of libstdc++ between: a stream that calls its buffer,
// a thread, and a function that an exception has left before.
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <thread>

#include "compare.h"

static int failed;

static void say(const char *name, int n)
{
	std::printf("%s %d\n", name, n);
	failed |= n < 3;
}

static int result;

struct buffer : std::streambuf {
	int overflow(int c) override
	{
		result = compare_frames();
		return c;
	}
};

__attribute__((noinline)) static void thrower(int depth)
{
	if (depth == 0)
		throw std::runtime_error("thrown");
	thrower(depth - 1);
}

int main()
{
	buffer into;
	std::ostream stream(&into);

	stream << 12345;
	say("stream", result);
	std::thread([] { result = compare_frames(); }).join();
	say("std::thread", result);
	try {
		thrower(10);
	} catch (const std::runtime_error &) {
		result = compare_frames();
	}
	say("catch", result);
	return failed;
}
