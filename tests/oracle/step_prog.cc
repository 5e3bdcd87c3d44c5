// SPDX-License-Identifier: MIT
// What the stepper runs in C++: exceptions, clean-ups, virtual calls and callbacks.
#include <algorithm>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{

struct Guard {
	int &n;
	~Guard()
	{
		n++;
	}
};

struct Shape {
	virtual ~Shape() = default;
	virtual int area(int n) = 0;
};

struct Square : Shape {
	int area(int n) override
	{
		if (n > 5)
			throw std::runtime_error("too large: " + std::to_string(n));
		return n * n;
	}
};

__attribute__((noinline)) int depth(Shape &shape, int n, int &cleaned)
{
	Guard guard{cleaned};

	return n == 0 ? shape.area(cleaned + 6) : depth(shape, n - 1, cleaned) + 1;
}

__attribute__((noinline)) int rethrown(Shape &shape, int &cleaned)
{
	try {
		return depth(shape, 4, cleaned);
	} catch (const std::logic_error &) {
		return -1;
	} catch (...) {
		cleaned += 100;
		throw;
	}
}

} // namespace

int main()
{
	Square square;
	int cleaned = 0, total = 0;
	std::vector<std::string> words{"plum", "fig", "apple", "quince"};
	std::map<std::string, int> count;

	try {
		total = rethrown(square, cleaned);
	} catch (const std::exception &e) {
		total = static_cast<int>(std::string(e.what()).size());
	}
	std::sort(words.begin(), words.end(),
		[&](const std::string &a, const std::string &b) {
			return ++count[a], a < b;
		});
	std::printf("%d %d %s %zu\n", total, cleaned, words[0].c_str(), count.size());
	return 0;
}
