/* SPDX-License-Identifier: MIT */
/* What stacks.c loads while it runs. */
static volatile int called;

void call(void (*function)(void));
void call(void (*function)(void))
{
	function();
	called++;
}
