/* SPDX-License-Identifier: MIT */
/* Loaded by stacks.c while it runs. */
static volatile int called;

void call(void (*function)(void));
void call(void (*function)(void))
{
	function();
	called++;
}
