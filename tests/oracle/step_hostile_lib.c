/* SPDX-License-Identifier: MIT */
/* Callees of the hostile functions in another file, so that nothing is known of them there. */
#include <setjmp.h>

void hostile_work(long *value);
void hostile_register(void (*callback)(long *));
void hostile_fatal(void);
int hostile_catches(void (*function)(void *), void *value);
void hostile_call_back(long *value);

static jmp_buf out;
static void (*registered)(long *);

void hostile_work(long *value)
{
	*value = 3;
}

void hostile_register(void (*callback)(long *))
{
	registered = callback;
}

void hostile_call_back(long *value)
{
	if (registered)
		registered(value);
}

/* Never returns. */
void hostile_fatal(void)
{
	longjmp(out, 1);
}

/* 1 when the function ended by hostile_fatal. */
int hostile_catches(void (*function)(void *), void *value)
{
	if (setjmp(out))
		return 1;
	function(value);
	return 0;
}
