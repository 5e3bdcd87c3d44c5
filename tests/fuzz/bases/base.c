/* SPDX-License-Identifier: MIT */
/* A small program for mutation: a lazy PLT, frame pointers, alloca, a realigned stack. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef WIDE
/* More than is copied with its neighbours. */
__asm__(".pushsection .text\n.fill 100000, 1, 0x90\n.rept "
	"500\n.cfi_startproc\nret\n.cfi_endproc\n.endr\n"
	".popsection");
__asm__(".pushsection .rodata\n.fill 100000\n.popsection");
__asm__(".pushsection .data\n.fill 100000, 1, 1\n.popsection");
#endif

int uses_alloca(int n);
int realigns(int n);
int with_frame(int n);

__attribute__((noinline)) int uses_alloca(int n)
{
	char *p = __builtin_alloca((size_t)n + 16);

	memset(p, n, (size_t)n + 16);
	return p[n / 2];
}

__attribute__((noinline)) int realigns(int n)
{
	char block[128] __attribute__((aligned(64)));

	snprintf(block, sizeof(block), "%d", n);
	return (int)strlen(block);
}

__attribute__((noinline, optimize("no-omit-frame-pointer"))) int with_frame(int n)
{
	return n > 1 ? with_frame(n - 1) + realigns(n) : uses_alloca(n);
}

int main(int argc, char **argv)
{
	char *text = getenv("HOME");

	(void)argv;
	printf("%d %s\n", with_frame(argc), text ? text : "");
	return 0;
}
