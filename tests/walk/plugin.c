/* SPDX-License-Identifier: MIT */
/* A library that comes and goes: it calls back from a frame of its own. */
void plugin_call(void (*call)(void));
/* The program's, if it has one. */
void plugin_begins(void) __attribute__((weak));

__attribute__((constructor)) static void begin(void)
{
	if (plugin_begins)
		plugin_begins();
}

void plugin_call(void (*call)(void))
{
	volatile char space[100];

	space[0] = 1;
	call();
	space[1] = space[0];
}
