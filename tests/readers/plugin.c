/* SPDX-License-Identifier: MIT */
/* A library that dlopen() loads, and that calls back. */
void plugin_call(void (*call)(void));

static volatile int n_calls;

void plugin_call(void (*call)(void))
{
	call();
	n_calls++;
}
