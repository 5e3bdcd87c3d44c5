/* SPDX-License-Identifier: MIT */
/* What is stepped for what exceptions do to the stack: a throw through frames of each kind. */
#include <alloca.h>
#include <stdexcept>
#include <stdio.h>
#include <string.h>

static volatile int sink;

struct counted {
	int by;
	explicit counted(int n) : by(n) { sink += by; }
	~counted() { sink -= by; }
};

__attribute__((noinline)) static int deep(int n)
{
	counted one(n);

	if (n == 0)
		throw std::runtime_error("the end");
	return deep(n - 1) + one.by;
}

__attribute__((noinline)) static int dynamic(int n)
{
	char *room = static_cast<char *>(alloca(static_cast<size_t>(n)));

	memset(room, n, static_cast<size_t>(n));
	try {
		return deep(n % 5) + room[0];
	} catch (const std::logic_error &) {
		return 1;
	}
}

__attribute__((noinline)) static int again(int n)
{
	try {
		return dynamic(n);
	} catch (const std::exception &e) {
		counted two(n);

		if (n > 40)
			throw;
		return static_cast<int>(strlen(e.what())) + two.by;
	}
}

int main()
{
	int n = 0;

	for (int i = 16; i < 60; i += 30) {
		try {
			n += again(i);
		} catch (...) {
			n += i;
		}
	}
	printf("%d %d\n", n, sink);
	return sink;
}
