/* SPDX-License-Identifier: MIT */
/*
 * A program without libraries that calls through its PLT, for plt_walk.py: it relocates
 * its own slots and is its own resolver, so that every call goes through entry and
 * header. So any byte order and linker will do. With STATIC it has no dynamic section and
 * calls IRELATIVE entries only; with ADDRESS it takes a function's address, which makes
 * its PLT entry the function.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	DT_PLTRELSZ = 2,
	DT_PLTGOT = 3,
	DT_RELA = 7,
	DT_RELASZ = 8,
	DT_JMPREL = 23,
	DT_TLSDESC_PLT = 0x6ffffef6,
	DT_TLSDESC_GOT = 0x6ffffef7,
	E_TYPE = 16, /* offset in the ELF header */
	ET_EXEC = 2,
#ifdef __aarch64__
	JUMP_SLOT = 1026,
	IRELATIVE = 1032,
#else
	JUMP_SLOT = 11,
	IRELATIVE = 61,
#endif
};

struct dyn {
	uint64_t tag, value;
};

struct rela {
	uint64_t offset, info;
	int64_t addend;
};

#define HIDDEN __attribute__((visibility("hidden")))

/* All are the function that the resolver ends in. */
int first(int), second(int), third(int);

HIDDEN void resolver(void);
HIDDEN void tlsdesc_resolver(void);

#ifdef __aarch64__
/* Takes from the stack what the header, or the TLSDESC stub, has put there. */
__asm__(".hidden resolver, tlsdesc_resolver\n"
	".globl resolver, tlsdesc_resolver, _start\n"
	"resolver:\n"
	"	hint #36\n" /* bti j */
	"	ldp x16, x30, [sp], #16\n"
	"	add w0, w0, #1\n"
	"	ret\n"
	"tlsdesc_resolver:\n"
	"	hint #36\n"
	"	ldp x2, x3, [sp], #16\n"
	"	ret\n"
	"_start:\n"
	"	bl run\n");

static void leave(long status)
{
	register long x0 __asm__("x0") = status;
	register long x8 __asm__("x8") = 93; /* exit */

	__asm__ volatile("svc #0" : : "r"(x0), "r"(x8));
}

/* As the code for a thread-local variable does before its first use. */
static void call_tlsdesc(uint64_t stub)
{
	register uint64_t x1 __asm__("x1") = stub;

	__asm__ volatile("blr x1" : "+r"(x1) : : "x0", "x30", "cc", "memory");
}
#else
__asm__(".hidden resolver\n"
	".globl resolver, _start\n"
	"resolver:\n"
	"	aghi %r2,1\n"
	"	br %r14\n"
	"_start:\n"
	"	aghi %r15,-160\n"
	"	brasl %r14,run\n");

static void leave(long status)
{
	register long r2 __asm__("r2") = status;

	__asm__ volatile("svc 1" : : "r"(r2)); /* exit */
}
#endif

HIDDEN int twice(int n)
{
	return 2 * n;
}

/* Opaque: clang calls what a resolver always picks without a PLT. */
static void *pick(void)
{
	void *picked = (void *)twice;

	__asm__("" : "+r"(picked));
	return picked;
}

HIDDEN int chosen(int) __attribute__((ifunc("pick")));

static void relocate(uint64_t base, uint64_t at, uint64_t size)
{
	const struct rela *rela = (const struct rela *)at;

	for (size_t i = 0; i < size / sizeof(*rela); i++) {
		uint64_t *slot = (uint64_t *)(base + rela[i].offset);

		if ((uint32_t)rela[i].info == JUMP_SLOT)
			*slot += base;
		else if ((uint32_t)rela[i].info == IRELATIVE)
			*slot = ((uint64_t(*)(void))(base + rela[i].addend))();
	}
}

#ifdef STATIC
extern HIDDEN const struct rela __rela_iplt_start[], __rela_iplt_end[];

__attribute__((used)) HIDDEN void run(void)
{
	relocate(0, (uint64_t)__rela_iplt_start,
	    (uint64_t)__rela_iplt_end - (uint64_t)__rela_iplt_start);
	leave(chosen(4) != 8);
}
#else
#if defined(__aarch64__) && !defined(ADDRESS)
/* Defined, but in a library it may be another's, so its address takes a descriptor. */
__thread int variable;

int *address_of_variable(void)
{
	return &variable;
}
#endif

extern HIDDEN const uint8_t __ehdr_start[];
extern HIDDEN const struct dyn _DYNAMIC[];

__attribute__((used)) HIDDEN void run(void)
{
	uint64_t base = (uint64_t)__ehdr_start, value[DT_JMPREL + 1] = {0}, tlsdesc = 0;
	bool failed;

	if (*(const uint16_t *)(__ehdr_start + E_TYPE) == ET_EXEC)
		base = 0;
	for (const struct dyn *dyn = _DYNAMIC; dyn->tag; dyn++) {
		if (dyn->tag <= DT_JMPREL)
			value[dyn->tag] = dyn->value;
		else if (dyn->tag == DT_TLSDESC_PLT)
			tlsdesc = base + dyn->value;
#ifdef __aarch64__
		else if (dyn->tag == DT_TLSDESC_GOT)
			*(uint64_t *)(base + dyn->value) = (uint64_t)tlsdesc_resolver;
#endif
	}
	((uint64_t *)(base + value[DT_PLTGOT]))[2] = (uint64_t)resolver;
	relocate(base, base + value[DT_JMPREL], value[DT_PLTRELSZ]);
	if (value[DT_RELA] != value[DT_JMPREL])
		relocate(base, base + value[DT_RELA], value[DT_RELASZ]);
	failed =
	    first(1) != 2 || second(first(3)) != 5 || third(5) != 6 || chosen(4) != 8;
#ifdef ADDRESS
	int (*volatile pointer)(int) = second;
	failed = failed || pointer(6) != 7;
#endif
#ifdef __aarch64__
	if (tlsdesc)
		call_tlsdesc(tlsdesc);
#else
	(void)tlsdesc;
#endif
	leave(failed);
}
#endif
