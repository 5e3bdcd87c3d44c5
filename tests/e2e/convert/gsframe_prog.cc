/* SPDX-License-Identifier: MIT */
/* Ordinary C++: exceptions, templates, virtual functions, functions in sections of their
 * own. */
#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

struct base {
	std::string text;
	virtual ~base() = default;
	virtual size_t value(size_t n)
	{
		if (n > 3)
			throw std::runtime_error("too much: " + text);
		return n + text.size();
	}
};

struct derived : base {
	size_t value(size_t n) override
	{
		return base::value(n) + 1;
	}
};

template <class T> static T first(std::vector<T> &list)
{
	std::sort(list.begin(), list.end());
	return list.at(0);
}

int main(int argc, char **argv)
{
	std::vector<std::string> words(argv, argv + argc);
	derived d;

	words.emplace_back("last");
	try {
		d.value(static_cast<size_t>(argc) + 3);
	} catch (const std::exception &e) {
		std::puts(e.what());
	}
	std::puts(first(words).c_str());
	return 0;
}
