/* SPDX-License-Identifier: MIT */
/*
 * The program that is converted: it uses what a wrong layout would break (TLS, zeroed
 * .bss, the heap behind it, relocated data, its own program headers) and says "fine".
 *
 *     probe mapped [-l LIBRARY] [NAME...]
 *     probe library NAME...
 *     probe load LIBRARY
 *
 * With "mapped" it looks at itself as an in-process unwinder would: it walks
 * dl_iterate_phdr, finds PT_GNU_SFRAME of each module and reads header and functions
 * through the mapping; AT_PHDR must be the program headers that the file has. It prints a
 * line per module. The program itself and each module with NAME in its path must have a
 * section; -l opens a library first. "library" asks this of the libraries alone, because the
 * program was not converted. With "load" it takes its library by dlopen.
 */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#ifndef BSS
#define BSS 5000
#endif

static char zeros[BSS];
static __thread int per_thread = 17;
static __thread char thread_zeros[300];
static const char *volatile const pointers[] = {"a", "b", zeros};

#ifdef WITH_LIBRARY
int insert_library(int);
#endif

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

#define PT_GNU_SFRAME 0x6474e554

/* SFrame version 2: the header, and the fields of a function. */
enum {
	MAGIC = 0xdee2,
	FLAG_SORTED = 1,
	FLAG_PCREL = 4,
	ABI_X86_64 = 3,
	HEADER = 28,
	FUNCTION = 20,
};

struct seen {
	int library;	     /* the program itself has no section */
	const char *program; /* its file; /proc/self/exe may be ld.so */
	int n, bad;
	char **names;
	int *found;
};

static int problem(struct seen *seen, const char *name, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	printf("%s: ", name);
	vprintf(format, args);
	putchar('\n');
	va_end(args);
	seen->bad++;
	return 0;
}

static uint32_t u32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* The segment that maps size bytes at addr (unbiased), with these flags exactly. */
static const ElfW(Phdr) *
    segment(const struct dl_phdr_info *info, uint64_t addr, uint64_t size, uint32_t flags)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];

		if (phdr->p_type == PT_LOAD && phdr->p_flags == flags &&
		    addr >= phdr->p_vaddr &&
		    addr - phdr->p_vaddr + size <= phdr->p_filesz)
			return phdr;
	}
	return NULL;
}

static int is_code(const struct dl_phdr_info *info, uint64_t addr, uint64_t size)
{
	return segment(info, addr, size, PF_R | PF_X) ||
	       segment(info, addr, size, PF_X) ||
	       segment(info, addr, size, PF_R | PF_W | PF_X);
}

/* In memory, and in the file the module came from: the same bytes. */
static void compare_with_file(struct seen *seen, const char *name, const char *path,
    const ElfW(Phdr) * phdr, const uint8_t *data)
{
	uint8_t *copy = malloc(phdr->p_filesz);
	int fd = open(path, O_RDONLY);

	if (fd < 0 || !copy ||
	    pread(fd, copy, phdr->p_filesz, (off_t)phdr->p_offset) !=
		(ssize_t)phdr->p_filesz ||
	    memcmp(copy, data, phdr->p_filesz) != 0)
		problem(seen, name, "the mapping is not the file's bytes");
	if (fd >= 0)
		close(fd);
	free(copy);
}

/* Functions in order, disjoint, in code; gives the one that pc is in, or -1. */
static int64_t find_function(struct seen *seen, const char *name,
    const struct dl_phdr_info *info, const uint8_t *functions, uint64_t n, uint64_t pc)
{
	uint64_t end = 0;
	int64_t found = -1;

	for (uint64_t i = 0; i < n; i++) {
		const uint8_t *at = functions + i * FUNCTION;
		uint64_t addr = (uint64_t)(uintptr_t)at - info->dlpi_addr +
				(uint64_t)(int64_t)(int32_t)u32(at);
		uint64_t size = u32(at + 4);

		if (addr < end || !is_code(info, addr, size))
			return problem(seen, name, "function %ju: 0x%jx + 0x%jx",
			    (uintmax_t)i, (uintmax_t)addr, (uintmax_t)size);
		end = addr + size;
		if (pc - info->dlpi_addr >= addr && pc - info->dlpi_addr < end)
			found = (int64_t)i;
	}
	return found;
}

static int check_section(struct seen *seen, const char *name, const char *path,
    const struct dl_phdr_info *info, const ElfW(Phdr) * phdr, uint64_t pc)
{
	const uint8_t *data = (const uint8_t *)(info->dlpi_addr + phdr->p_vaddr);
	uint64_t size = phdr->p_memsz, n, starts, rows;
	const ElfW(Phdr) *load = segment(info, phdr->p_vaddr, size, PF_R);
	int64_t at;

	if (size < HEADER || phdr->p_filesz != size)
		return problem(seen, name, "PT_GNU_SFRAME of %ju bytes", (uintmax_t)size);
	if (!load)
		return problem(seen, name, "not in a read-only PT_LOAD");
	if (load->p_vaddr - load->p_offset != phdr->p_vaddr - phdr->p_offset)
		return problem(seen, name, "p_offset and p_vaddr do not fit PT_LOAD's");
	compare_with_file(seen, name, path, phdr, data);
	if (data[0] != (MAGIC & 255) || data[1] != MAGIC >> 8)
		return problem(seen, name, "magic %02x%02x", data[1], data[0]);
	n = u32(data + 8);
	starts = HEADER + (uint64_t)data[7] + u32(data + 20);
	rows = HEADER + (uint64_t)data[7] + u32(data + 24);
	printf("%s: version %d, flags %d, ABI %d, %ju functions, %ju rows\n", name,
	    data[2], data[3], data[4], (uintmax_t)n, (uintmax_t)u32(data + 12));
	if (data[2] != 2 || (data[3] & FLAG_SORTED) == 0 || (data[3] & FLAG_PCREL) == 0 ||
	    data[4] != ABI_X86_64 || (int8_t)data[6] != -8)
		return problem(seen, name, "the header is not that of version 2, sorted");
	if (!n || starts + n * FUNCTION > size || rows + u32(data + 16) > size)
		return problem(seen, name, "tables outside the section");
	at = find_function(seen, name, info, data + starts, n, pc);
	if (pc && at < 0)
		return problem(seen, name, "the running function is not in it");
	return 1;
}

/*
 * The kernel says where the table is; the file says so in e_phoff, by way of a segment,
 * and in PT_PHDR. ld.so and static start-up code take the kernel's word.
 */
static void check_at_phdr(struct seen *seen, const struct dl_phdr_info *info)
{
	uintptr_t at = getauxval(AT_PHDR), by_offset = 0;
	size_t size = info->dlpi_phnum * sizeof(*info->dlpi_phdr);
	int fd = open(seen->program, O_RDONLY);
	ElfW(Ehdr) ehdr = {0};
	uint8_t *table = malloc(size);

	if (fd < 0 || read(fd, &ehdr, sizeof(ehdr)) != sizeof(ehdr) || !table ||
	    pread(fd, table, size, (off_t)ehdr.e_phoff) != (ssize_t)size)
		problem(seen, "AT_PHDR", "cannot read the program's file");
	else if (memcmp(table, (const void *)at, size) != 0)
		problem(seen, "AT_PHDR", "not the table of the file");
	if (fd >= 0)
		close(fd);
	free(table);
	if (at != (uintptr_t)info->dlpi_phdr)
		problem(seen, "AT_PHDR", "not where dl_iterate_phdr has the table");
	if (getauxval(AT_PHNUM) != info->dlpi_phnum || ehdr.e_phnum != info->dlpi_phnum)
		problem(seen, "AT_PHNUM", "%ju, and %d in the file",
		    (uintmax_t)getauxval(AT_PHNUM), ehdr.e_phnum);
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];

		if (phdr->p_type == PT_LOAD && ehdr.e_phoff >= phdr->p_offset &&
		    ehdr.e_phoff - phdr->p_offset + size <= phdr->p_filesz)
			by_offset = info->dlpi_addr + phdr->p_vaddr + ehdr.e_phoff -
				    phdr->p_offset;
		if (phdr->p_type == PT_PHDR &&
		    (at != info->dlpi_addr + phdr->p_vaddr || phdr->p_memsz != size))
			problem(seen, "AT_PHDR", "not where PT_PHDR says, or as large");
	}
	if (at != by_offset)
		problem(seen, "AT_PHDR", "not where e_phoff leads");
}

static int see_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct seen *seen = arg;
	int is_main = seen->n++ == 0, wanted = is_main && !seen->library, has = 0;
	const char *name = is_main ? "main" : info->dlpi_name;
	const char *path = is_main ? seen->program : info->dlpi_name;

	(void)size;
	if (is_main)
		check_at_phdr(seen, info);
	for (int i = 0; seen->names[i]; i++) {
		if (strstr(info->dlpi_name, seen->names[i])) {
			seen->found[i] = 1;
			wanted = 1;
		}
	}
	for (int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_GNU_SFRAME && wanted) {
			has++;
			check_section(seen,
			    strrchr(name, '/') ? strrchr(name, '/') + 1 : name, path,
			    info, &info->dlpi_phdr[i],
			    is_main ? (uint64_t)(uintptr_t)see_module : 0);
		}
	}
	if (has != wanted)
		problem(seen, name, "%d times PT_GNU_SFRAME", has);
	return 0;
}

/* Returns how many things are not as they must be. */
static int look_around(char *program, int library, char **names, int n)
{
	struct seen seen = {
	    library, program, 0, 0, names, calloc((size_t)n + 1, sizeof(int))};

#ifdef WITH_DLOPEN
	if (n > 1 && strcmp(names[0], "-l") == 0) {
		if (!dlopen(names[1], RTLD_NOW))
			problem(&seen, names[1], "%s", dlerror());
		seen.names += 2;
	}
#endif
	dl_iterate_phdr(see_module, &seen);
	for (int i = 0; seen.names[i]; i++)
		if (!seen.found[i])
			problem(&seen, seen.names[i], "no such module");
	printf("%d modules, %d problems\n", seen.n, seen.bad);
	return seen.bad;
}

#ifdef WITH_DLOPEN
static int load(const char *path)
{
	void *handle = dlopen(path, RTLD_NOW);
	int (*function)(int) = NULL;
	void *symbol = handle ? dlsym(handle, "insert_library") : NULL;

	memcpy(&function, &symbol, sizeof(function));
	printf("dlopen %d\n", function ? function(4) : -1);
	return !function;
}
#endif

int main(int argc, char **argv)
{
	int status = work(3), at_phdr = 0;

	dl_iterate_phdr(auxv_phdr, &at_phdr);
	printf("work %d, AT_PHDR %s\n", status, at_phdr ? "right" : "wrong");
#ifdef WITH_LIBRARY
	printf("library %d\n", insert_library(4));
#endif
#ifdef WITH_DLOPEN
	if (argc > 2 && strcmp(argv[1], "load") == 0)
		status |= load(argv[2]);
#endif
	if (argc > 1 &&
	    (strcmp(argv[1], "mapped") == 0 || strcmp(argv[1], "library") == 0))
		return look_around(argv[0], *argv[1] == 'l', argv + 2, argc - 2) != 0;
	puts("fine");
	return status;
}
