/* SPDX-License-Identifier: MIT */
/* A program without a library, for mutation: jumps by a table of distances and by one of addresses. */
int pick(int n, int value);
int jump(int n, int value);
void _start(void);

static volatile int sink;

__attribute__((noinline)) int pick(int n, int value)
{
	switch (n) {
	case 0:
		sink = value;
		return value + 3;
	case 1:
		sink = value * value;
		break;
	case 2:
		return value / 7;
	case 3:
		sink += 5;
		return sink;
	case 4:
		sink ^= value;
		break;
	case 5:
		return pick(value, n) - 1;
	case 6:
		sink = -value;
		return value << 2;
	default:
		return 0;
	}
	return sink;
}

__attribute__((noinline)) int jump(int n, int value)
{
	static const void *const places[] = {&&first, &&second, &&third, &&fourth};

	goto *places[n & 3];
first:
	value += sink;
	goto *places[value & 3];
second:
	sink = value;
	return pick(value, n);
third:
	value *= 3;
fourth:
	return value - sink;
}

void _start(void)
{
	sink = pick(sink, 2) + jump(sink, 3);
	__asm__ volatile("syscall" : : "a"(60), "D"(0));
}
