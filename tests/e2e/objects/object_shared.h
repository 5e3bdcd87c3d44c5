/* SPDX-License-Identifier: MIT */
/* Inline functions and templates, of which two objects have a copy each (COMDAT). */
#ifndef OBJECT_SHARED_H
#define OBJECT_SHARED_H

#include <stdexcept>
#include <string>
#include <vector>

extern "C" {
int plain(int n);
int asm_twice(int (*call)(int), int n);
int asm_other(int (*call)(int), int n);
}
int other(int n);

inline int limited(int n)
{
	if (n > 5)
		throw std::runtime_error("over the limit: " + std::to_string(n));
	return n * 2;
}

template <class T> T sum_of_copies(T one, int n)
{
	std::vector<T> all;

	for (int i = 0; i < n; i++)
		all.push_back(one);
	one = T();
	for (const T &each : all)
		one += each;
	return one;
}

struct noisy {
	explicit noisy(const char *what) : name(what)
	{
	}
	virtual ~noisy()
	{
		std::string("gone: " + name).swap(name);
	}
	virtual int value(int n) const
	{
		return n + static_cast<int>(name.size());
	}
	std::string name;
};

#endif
