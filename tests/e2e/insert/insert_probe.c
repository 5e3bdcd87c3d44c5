/* SPDX-License-Identifier: MIT */
/*
 * The program that is converted: it uses what a wrong layout would break (TLS, zeroed
 * .bss, the heap behind it, relocated data, its own program headers) and says "fine".
 * With the argument "mapped" it also demands that it, or the library named next, has a
 * PT_GNU_SFRAME, and reads the section through the mapping. With "load PATH" it takes its
 * library by dlopen.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#ifndef BSS
#define BSS 5000
#endif
#define PT_GNU_SFRAME 0x6474e554

static char zeros[BSS];
static __thread int per_thread = 17;
static __thread char thread_zeros[300];
static const char *volatile const pointers[] = {"a", "b", zeros};

#ifdef WITH_LIBRARY
int insert_library(int);
#endif

static const ElfW(Phdr) *
    load_of(const struct dl_phdr_info *info, uint64_t addr, uint64_t size)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];

		if (phdr->p_type == PT_LOAD && phdr->p_flags == PF_R &&
		    addr >= phdr->p_vaddr && addr + size <= phdr->p_vaddr + phdr->p_memsz)
			return phdr;
	}
	return NULL;
}

struct want {
	const char *name;
	int seen, modules;
};

static int see_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct want *want = arg;
	unsigned char magic[3];

	(void)size;
	/* The program itself comes first, under a name or (glibc) none. */
	if (*want->name ? !strstr(info->dlpi_name, want->name) : want->modules++ > 0)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];

		if (phdr->p_type != PT_GNU_SFRAME)
			continue;
		if (!load_of(info, phdr->p_vaddr, phdr->p_memsz))
			return 0;
		memcpy(magic, (const char *)(info->dlpi_addr + phdr->p_vaddr),
		    sizeof(magic));
		want->seen += magic[0] == 0xe2 && magic[1] == 0xde && magic[2] == 2;
	}
	return 0;
}

__attribute__((noinline)) int work(int n)
{
	char *heap = malloc(300000), *small = malloc(20), *top = sbrk(0);

	if (!heap || !small ||
	    (top != (char *)-1 && sbrk(8192) != (char *)-1 && top[0] + top[8191]))
		return 1;
	memset(heap, n, 300000);
	for (size_t i = 0; i < sizeof(zeros); i++)
		if (zeros[i])
			return 2;
	memset(zeros, 1, sizeof(zeros));
	if (per_thread != 17 || thread_zeros[0] || thread_zeros[299])
		return 3;
	per_thread++;
	if (*pointers[0] != 'a' || *pointers[1] != 'b' || *pointers[2] != 1)
		return 4;
	free(heap);
	free(small);
	return 0;
}

/* AT_PHDR is where the kernel thinks that the table is; e_phoff leads there through a
 * segment. */
static int auxv_phdr(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	*(int *)arg = (const void *)getauxval(AT_PHDR) == (const void *)info->dlpi_phdr &&
		      getauxval(AT_PHNUM) == info->dlpi_phnum;
	return 1;
}

int main(int argc, char **argv)
{
	struct want want = {argc > 2 ? argv[2] : "", 0, 0};
	int status = work(3), at_phdr = 0;

	dl_iterate_phdr(auxv_phdr, &at_phdr);
	printf("work %d, AT_PHDR %s\n", status, at_phdr ? "right" : "wrong");
#ifdef WITH_LIBRARY
	printf("library %d\n", insert_library(4));
#endif
#ifdef WITH_DLOPEN
	if (argc > 2 && strcmp(argv[1], "load") == 0) {
		void *handle = dlopen(argv[2], RTLD_NOW);
		int (*function)(int) = NULL;
		void *symbol = handle ? dlsym(handle, "insert_library") : NULL;

		memcpy(&function, &symbol, sizeof(function));
		printf("dlopen %d\n", function ? function(4) : -1);
		argc = 1;
	}
#endif
	if (argc > 1 && strcmp(argv[1], "mapped") == 0) {
		dl_iterate_phdr(see_module, &want);
		printf("sframe %d\n", want.seen);
		return want.seen != 1;
	}
	puts("fine");
	return status;
}
