/* SPDX-License-Identifier: MIT */
/* Prints one stack as three walkers find it: by SFrame rows, by frame pointers, and by libgcc from .eh_frame. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unwind.h>

#include "eh2sframe-walk.h"

enum { MAX = 32 };

struct stack {
	uintptr_t pcs[MAX];
	size_t n;
};

static _Alignas(64) char memory[EH2SFRAME_WALK_MEMORY];
static char *top_of_stack;

/* Each frame record is the caller's frame pointer and the return address. */
static void by_frame_pointers(struct stack *stack, void *const *frame)
{
	stack->n = 0;
	while (stack->n < MAX && (char *)frame < top_of_stack && frame[1]) {
		void *const *next = frame[0];

		stack->pcs[stack->n++] = (uintptr_t)frame[1];
		if (next <= frame || (uintptr_t)next % sizeof(*next) != 0)
			break;
		frame = next;
	}
}

static _Unwind_Reason_Code add(struct _Unwind_Context *context, void *data)
{
	struct stack *stack = data;

	if (stack->n == MAX || !_Unwind_GetIP(context))
		return _URC_END_OF_STACK;
	stack->pcs[stack->n++] = _Unwind_GetIP(context);
	return _URC_NO_REASON;
}

static void print(const struct stack *stack, size_t i)
{
	if (i < stack->n)
		printf("  %16" PRIxPTR, stack->pcs[i]);
	else
		printf("  %16s", "-");
}

/* The first PC of two walkers is in this function, where it calls them. */
static __attribute__((noinline)) void show(void)
{
	struct stack rows, pointers, libgcc = {.n = 0};
	enum eh2sframe_walk_why why;

	rows.n = eh2sframe_walk_backtrace(NULL, rows.pcs, MAX, &why);
	by_frame_pointers(&pointers, __builtin_frame_address(0));
	_Unwind_Backtrace(add, &libgcc);
	printf("  %16s  %16s  %16s\n", "SFrame rows", "frame pointers", "libgcc");
	for (size_t i = 1; i < rows.n || i < libgcc.n || i <= pointers.n; i++) {
		print(&rows, i);
		print(&pointers, i - 1);
		print(&libgcc, i);
		printf("\n");
	}
	printf("the walk by rows ended: %s\n", eh2sframe_walk_why_text(why));
}

static int compare(const void *a, const void *b)
{
	static int calls;

	if (calls++ == 0)
		show();
	return *(const int *)a - *(const int *)b;
}

static __attribute__((noinline)) int nested(int depth)
{
	int numbers[] = {3, 1, 2};

	if (depth > 0)
		return nested(depth - 1) + 1;
	qsort(numbers, 3, sizeof(numbers[0]), compare);
	return numbers[0];
}

int main(void)
{
	top_of_stack = __builtin_frame_address(0);
	if (!eh2sframe_walk_init(memory, sizeof(memory), NULL))
		return 2;
	return nested(3) == 4 ? 0 : 1;
}
