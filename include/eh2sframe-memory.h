/* SPDX-License-Identifier: MIT */
/*
 * ELF images in the memory of a process or in a core file, as files that
 * include/eh2sframe.h works with: the vDSO, libraries whose file is gone, what a program had
 * mapped when it died. libeh2sframe(3) explains it.
 */
#ifndef EH2SFRAME_MEMORY_H
#define EH2SFRAME_MEMORY_H

#include "eh2sframe.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a process has mapped, or had. Only one thread at a time may use it. */
struct eh2sframe_memory;

/*
 * Opens the memory of a running process, which goes on meanwhile. 0 is the calling process. NULL with
 * error set: EH2SFRAME_IO when the process does not exist or must not be read (ptrace(2)).
 */
EH2SFRAME_CHECKED struct eh2sframe_memory *eh2sframe_open_process(
    int pid, struct eh2sframe_error *error);
/* Opens a core file of any machine that SFrame knows. EH2SFRAME_INPUT when it is damaged; a core
 * that was cut off has the images whose bytes it still has. */
EH2SFRAME_CHECKED struct eh2sframe_memory *eh2sframe_open_core(
    const char *path, struct eh2sframe_error *error);

/* Files that were opened from it stay open. Accepts NULL. */
EH2SFRAME_API void eh2sframe_memory_close(struct eh2sframe_memory *memory);

/* An image with code. The caller sets struct_size, as for struct eh2sframe_function. */
struct eh2sframe_memory_image {
	size_t struct_size;
	/* As /proc/PID/maps has it: a path, "[vdso]"; "[0xADDRESS]" where it has no name. Where another
	 * image of a lower address has the name, "NAME@0xADDRESS". Lives until the memory is closed. */
	const char *name;
	uint64_t address; /* of its ELF header in memory */
};

/* Image i, in the order of addresses. A file that is loaded twice is there once: device and inode
 * say so, and in a core the headers and notes. Other images of one name are all there. False behind the
 * last one. */
EH2SFRAME_CHECKED bool eh2sframe_memory_image(const struct eh2sframe_memory *memory,
    size_t i, struct eh2sframe_memory_image *image);

/*
 * Opens the image of that name: see struct eh2sframe_memory_image; also without " (deleted)", by a
 * link to the path, or by the last part of it. "@0xADDRESS" behind each of these chooses among images of
 * one name; without it the lowest address counts. Addresses are those of the file, not those in memory.
 *
 * The bytes are copied from memory. The image's own file gives the rest, such as symbols, if its
 * build-id and headers are the same. It also gives what a core lacks, if its build-id is the same. Without
 * a build-id of GNU, that of Go's linker counts.
 * Its place is root and the name: root is a folder, "" or NULL. NULL: where the process has it.
 *
 * NULL with error set: see eh2sframe_open_path. EH2SFRAME_INPUT when a core lacks bytes and no file
 * has them, EH2SFRAME_IO for a name that there is not.
 */
EH2SFRAME_CHECKED struct eh2sframe_file *eh2sframe_memory_open(
    const struct eh2sframe_memory *memory, const char *name, const char *root,
    const struct eh2sframe_options *options, struct eh2sframe_error *error);

#ifdef __cplusplus
}
#endif

#endif
