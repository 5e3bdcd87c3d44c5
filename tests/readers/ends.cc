// SPDX-License-Identifier: MIT
// backtrace() against libgcc, out of functions that end in a call that does not return. Says how many walks were the same,
// how many were not, and how many could not be, since another function begins at the return address.
#include <csetjmp>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/wait.h>

#include "compare.h"
#include "ends.h"

struct counts {
	int same, differ, touched;
};
static counts *all;
static std::jmp_buf back;
static bool leaves;

// Every return address of it that is the first one of a function.
static bool touches(const compare_walk *walk)
{
	for (int i = 1; i < walk->n; i++)
		if (_Unwind_FindEnclosingFunction(static_cast<char *>(walk->pcs[i]) + 1) == walk->pcs[i])
			return true;
	return false;
}

static void look()
{
	compare_walk walk;

	if (compare_walks(&walk) > 0)
		all->same++;
	else if (touches(&walk))
		all->touched++;
	else
		all->differ++;
}

extern "C" void ends_look(void)
{
	look();
	std::longjmp(back, 1);
}

// In place of the C library's, which end the process.
extern "C" void abort(void) noexcept { ends_look(); }
extern "C" void __assert_fail(const char *, const char *, unsigned int, const char *) noexcept { ends_look(); }
extern "C" void __stack_chk_fail(void) { ends_look(); }
// Rust's own frames are never unwound: its core library alone names this.
extern "C" void rust_eh_personality(void) {}

template <int N> __attribute__((noipa)) static void throws(int value)
{
	__asm__ volatile(".rept %c0\n\tnop\n\t.endr" ::"i"(N));
	throw std::runtime_error(value ? "some" : "none");
}

template <int... N> static void all_throws(std::integer_sequence<int, N...>)
{
	for (void (*one)(int) : {throws<N>...})
		if (!setjmp(back))
			one(1);
}

// exit() runs this by libc's own functions.
static void at_exit()
{
	if (leaves)
		look();
}

static void one(void (*function)(int), bool exits)
{
	if (!exits) {
		if (!setjmp(back))
			function(0);
		return;
	}
	pid_t child = fork();

	if (child == 0) {
		leaves = true;
		function(0);
	}
	waitpid(child, nullptr, 0);
}

int main()
{
	all = static_cast<counts *>(mmap(nullptr, sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	std::atexit(at_exit);
	std::set_terminate(ends_look);
	for (int i = 0; i < 10; i++) {
		for (int kind = 0; kind < ENDS_KINDS; kind++)
			for (auto function : ends_c[kind])
				one(function, kind == ENDS_EXIT);
		all_throws(std::make_integer_sequence<int, ENDS_SIZES>());
		for (int which = 0; which < ENDS_SIZES; which++)
			if (!setjmp(back))
				ends_rust(which);
	}
	std::printf("%d same, %d differ, %d touched\n", all->same, all->differ, all->touched);
	return all->same + all->differ + all->touched != 10 * ENDS_SIZES * (ENDS_KINDS + 2);
}
