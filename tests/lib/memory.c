/* SPDX-License-Identifier: MIT */
/*
 * What this process has mapped. The library itself must be among it, with the section that its file gets. The
 * vDSO must have the section of its bytes, read as memory. And wrong calls must be refused.
 */
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "include/eh2sframe-memory.h"
#include "tests/lib/lib.h"

/* The bytes of the section of an open file, which is closed. */
static struct bytes section_of(struct eh2sframe_file *file)
{
	struct eh2sframe_error error;
	struct eh2sframe_result *result = file ? eh2sframe_convert(file, &error) : NULL;
	struct bytes bytes = {0};

	if (!result || !eh2sframe_result_section(
			   result, 0, (void **)&bytes.data, &bytes.size, &error))
		bytes = (struct bytes){0};
	eh2sframe_result_free(result);
	eh2sframe_close(file);
	return bytes;
}

static void same_section(
    struct eh2sframe_file *file, struct eh2sframe_file *other, const char *what)
{
	struct bytes a = section_of(file), b = section_of(other);

	check(a.size && bytes_same(&a, &b), "%s: %zu bytes of section", what, a.size);
	eh2sframe_free(a.data);
	eh2sframe_free(b.data);
}

/* The program's memory is what the file would be, up to the section headers behind it. */
static void test_vdso(const struct eh2sframe_memory *memory)
{
	const uint8_t *vdso = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	const ElfW(Ehdr) *ehdr = (const void *)vdso;
	struct eh2sframe_error error;

	if (!vdso || !ehdr->e_shoff)
		return;
	same_section(eh2sframe_memory_open(memory, "[vdso]", NULL, NULL, &error),
	    eh2sframe_open_memory(vdso,
		ehdr->e_shoff + (size_t)ehdr->e_shnum * ehdr->e_shentsize, "vdso", NULL,
		&error),
	    "[vdso]");
}

static void test_images(const struct eh2sframe_memory *memory)
{
	struct eh2sframe_memory_image image = {.struct_size = sizeof(image)};
	struct eh2sframe_error error;
	const char *library = NULL;
	uint64_t last = 0;
	size_t n = 0;

	for (; eh2sframe_memory_image(memory, n, &image); n++) {
		check(
		    image.address > last && *image.name, "image %zu: %s", n, image.name);
		last = image.address;
		if (strstr(image.name, "/libeh2sframe.so"))
			library = image.name;
	}
	check(n >= 3 && library, "%zu images", n);
	if (library)
		same_section(eh2sframe_memory_open(memory, library, NULL, NULL, &error),
		    eh2sframe_open_path(library, NULL, &error), library);
	image.struct_size = 8;
	check(!eh2sframe_memory_image(memory, 0, &image), "a struct that is too small");
}

static void test_wrong_calls(const struct eh2sframe_memory *memory)
{
	struct eh2sframe_memory_image image = {.struct_size = sizeof(image)};
	struct eh2sframe_error error = {0};

	check(!eh2sframe_open_core(NULL, &error) && error.status == EH2SFRAME_USAGE,
	    "no path of a core");
	check(!eh2sframe_open_core("/none", &error) && error.status == EH2SFRAME_IO,
	    "no core of that name: %s", error.text);
	check(!eh2sframe_open_core("/proc/self/exe", &error) &&
		  error.status == EH2SFRAME_INPUT,
	    "a program as a core: %s", error.text);
	check(!eh2sframe_open_process(-1, &error) && error.status == EH2SFRAME_IO,
	    "process -1: %s", error.text);
	check(!eh2sframe_memory_open(NULL, "[vdso]", NULL, NULL, &error) &&
		  error.status == EH2SFRAME_USAGE,
	    "no memory");
	check(!eh2sframe_memory_open(memory, NULL, NULL, NULL, &error) &&
		  error.status == EH2SFRAME_USAGE,
	    "no name");
	check(!eh2sframe_memory_open(memory, "/none", NULL, NULL, &error) &&
		  error.status == EH2SFRAME_IO,
	    "a name that is not mapped: %s", error.text);
	check(!eh2sframe_memory_image(NULL, 0, &image) &&
		  !eh2sframe_memory_image(memory, 0, NULL),
	    "NULL has no images");
	eh2sframe_memory_close(NULL);
}

void test_memory(void)
{
	struct eh2sframe_error error;
	struct eh2sframe_memory *self = eh2sframe_open_process(0, &error);
	struct eh2sframe_memory *by_pid = eh2sframe_open_process(getpid(), &error);

	check(self && by_pid, "this process");
	if (self && by_pid) {
		test_images(self);
		test_vdso(by_pid);
		test_wrong_calls(self);
	}
	eh2sframe_memory_close(self);
	eh2sframe_memory_close(by_pid);
}
