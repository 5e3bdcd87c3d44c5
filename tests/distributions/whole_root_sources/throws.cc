// SPDX-License-Identifier: MIT
// Exceptions through libraries, threads and destructors, and what they print.
#include <algorithm>
#include <future>
#include <iostream>
#include <regex>
#include <stdexcept>
#include <thread>
#include <vector>

struct Named {
	const char *name;
	~Named()
	{
		std::cout << "end of " << name << '\n';
	}
};

static int deep(int n)
{
	Named named{"a frame"};
	if (n == 0)
		throw std::out_of_range("deep");
	return deep(n - 1) + 1;
}

int main()
{
	try {
		deep(3);
	} catch (const std::logic_error &error) {
		std::cout << error.what() << '\n';
	}
	try {
		std::regex regex("(");
	} catch (const std::regex_error &error) {
		std::cout << "no regex\n";
	}
	std::vector<int> numbers{3, 1, 2};
	try {
		std::sort(numbers.begin(), numbers.end(), [](int a, int b) -> bool {
			if (a + b == 3)
				throw a + b;
			return a < b;
		});
	} catch (int sum) {
		std::cout << sum << '\n';
	}
	std::thread([] {
		try {
			std::vector<int>().at(1);
		} catch (...) {
			std::cout << "in a thread\n";
		}
	}).join();
	std::promise<int> promise;
	std::thread([&] { promise.set_exception(std::make_exception_ptr(7)); }).join();
	try {
		promise.get_future().get();
	} catch (int number) {
		std::cout << number << '\n';
	}
	return 0;
}
