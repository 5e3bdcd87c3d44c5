/* SPDX-License-Identifier: MIT */
/*
 * libeh2sframe gives ELF files SFrame stack-trace data from the .eh_frame that they have.
 * libeh2sframe(3) explains the library, eh2sframe(1) the options, refusals and rules.
 *
 * Rules for all functions:
 *
 * - The library prints nothing, ends no process, handles no signals and reads no
 *   environment. All its state is in the handles below. Two threads may use different
 *   handles at once, but not the same handle.
 * - Sizes and offsets are bytes. Addresses are those of the file before relocation.
 * - A function that returns bool or a pointer returns false or NULL when it fails, and
 *   says why in *error. error may be NULL. Its text is one line without the file's name.
 * - No other pointer may be NULL, except contexts and where a function says so. For NULL a
 *   function does nothing and returns EH2SFRAME_USAGE, false, NULL or 0.
 * - A file opened by path or descriptor must not become shorter while it is open, and
 *   memory must not change. The library reads the bytes in place, a file's by mmap.
 * - Section names in comments are those of the specification ("The SFrame format", in
 *   binutils).
 */
#ifndef EH2SFRAME_H
#define EH2SFRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EH2SFRAME_API __attribute__((visibility("default")))
#define EH2SFRAME_CHECKED EH2SFRAME_API __attribute__((warn_unused_result))

/* How a call ended; also the exit statuses of the command. Never renumbered. */
enum eh2sframe_status {
	EH2SFRAME_DONE = 0,	/* done, and proven */
	EH2SFRAME_INPUT = 1,	/* input malformed or unsupported, or no place for it */
	EH2SFRAME_USAGE = 2,	/* an option or argument makes no sense */
	EH2SFRAME_IO = 3,	/* cannot read, no space, no permission, out of memory */
	EH2SFRAME_PROOF = 4,	/* the proof failed: nothing written */
	EH2SFRAME_COVERAGE = 5, /* coverage below "min-coverage": nothing written */
	EH2SFRAME_NOTHING = 6,	/* no CFI, or has .sframe and is not to "refresh" */
	EH2SFRAME_BUG = 70,	/* internal error */
};

/* Filled in by a call that fails, and by no other. This layout does not change. */
struct eh2sframe_error {
	enum eh2sframe_status status;
	char text[512];
};

/* Of the library that is running, such as "0.1.0". */
EH2SFRAME_API const char *eh2sframe_version(void);

/* Frees bytes that the library gave away. Accepts NULL. */
EH2SFRAME_API void eh2sframe_free(void *bytes);

/*
 * Where text goes: called with piece after piece of it, without an end mark, until it
 * returns false; the call that writes then fails with EH2SFRAME_IO.
 */
typedef bool eh2sframe_write_fn(void *context, const char *text, size_t size);

/* Options. */

struct eh2sframe_options;

/* The defaults of the command. NULL when memory runs out. */
EH2SFRAME_CHECKED struct eh2sframe_options *eh2sframe_options_new(void);
EH2SFRAME_API void eh2sframe_options_free(struct eh2sframe_options *options);

/*
 * Sets one by the name that it has as a long option of eh2sframe(1), without the dashes:
 * format, no-pcrel, refresh, method, optimize, object-sections, max-rows,
 * exclude-section, exclude-symbol, min-coverage, no-verify, witness, jobs, quiet,
 * verbose. value is copied; NULL for those that take none. EH2SFRAME_USAGE names what is
 * wrong.
 */
EH2SFRAME_CHECKED bool eh2sframe_options_set(struct eh2sframe_options *options,
    const char *name, const char *value, struct eh2sframe_error *error);

/* Whether they go together; opening a file asks the same. */
EH2SFRAME_CHECKED bool eh2sframe_options_check(
    const struct eh2sframe_options *options, struct eh2sframe_error *error);

/*
 * A file is written under a temporary name beside its place. told is called with its path
 * when it begins to exist and when it is gone, for programs that remove it when a signal
 * ends them. The first comes with all signals blocked in the thread that made the call.
 */
EH2SFRAME_API void eh2sframe_options_on_temporary(struct eh2sframe_options *options,
    void (*told)(void *context, const char *path, bool exists), void *context);

/* told is called while libdwarf is the witness, which takes long, with FDEs done and all.
 */
EH2SFRAME_API void eh2sframe_options_on_progress(struct eh2sframe_options *options,
    void (*told)(void *context, size_t done, size_t total), void *context);

/* Files. */

struct eh2sframe;

/*
 * Opens an ELF file and checks its tables. options are copied; NULL: the defaults. name
 * is for messages. The descriptor stays the caller's and can be closed; its position is
 * neither used nor moved. Memory is borrowed until the file is closed, and not written
 * to.
 */
EH2SFRAME_CHECKED struct eh2sframe *eh2sframe_open_path(const char *path,
    const struct eh2sframe_options *options, struct eh2sframe_error *error);
EH2SFRAME_CHECKED struct eh2sframe *eh2sframe_open_fd(int fd, const char *name,
    const struct eh2sframe_options *options, struct eh2sframe_error *error);
EH2SFRAME_CHECKED struct eh2sframe *eh2sframe_open_memory(const void *bytes, size_t size,
    const char *name, const struct eh2sframe_options *options,
    struct eh2sframe_error *error);
EH2SFRAME_API void eh2sframe_close(struct eh2sframe *file); /* accepts NULL */

/* "x86-64", "aarch64", ...: lives as long as the library. */
EH2SFRAME_API const char *eh2sframe_machine(const struct eh2sframe *file);

/* What a file is, as its first 64 bytes say. Never renumbered. */
enum eh2sframe_kind {
	EH2SFRAME_KIND_NOT_ELF = 0,
	EH2SFRAME_KIND_LINKED = 1, /* a program or library, or damaged */
	EH2SFRAME_KIND_RELOCATABLE = 2,
	EH2SFRAME_KIND_CORE = 3,
	EH2SFRAME_KIND_OTHER_MACHINE = 4, /* SFrame has no ABI for it */
};

EH2SFRAME_API enum eh2sframe_kind eh2sframe_kind(const void *bytes, size_t size);

/* Why there is nothing to convert in a file. Never renumbered. */
enum eh2sframe_lack {
	EH2SFRAME_LACK_NOTHING = 0,    /* there is something to do */
	EH2SFRAME_LACK_HAS_SFRAME = 1, /* and is not to "refresh" */
	EH2SFRAME_LACK_NO_CFI = 2,
	EH2SFRAME_LACK_DEBUG_ONLY = 3, /* as objcopy --only-keep-debug leaves it */
};

EH2SFRAME_API enum eh2sframe_lack eh2sframe_lack(const struct eh2sframe *file);

/*
 * Reads the CFI and makes functions and rows, and the section but for its address. They
 * stay until the file is closed. EH2SFRAME_NOTHING without CFI. A second call does
 * nothing.
 */
EH2SFRAME_CHECKED bool eh2sframe_make(
    struct eh2sframe *file, struct eh2sframe_error *error);

/* Whether what was made would be written: EH2SFRAME_INPUT without a function,
 * EH2SFRAME_COVERAGE below "min-coverage". */
EH2SFRAME_CHECKED bool eh2sframe_judge(
    struct eh2sframe *file, struct eh2sframe_error *error);

/*
 * The section's bytes for the address it will be loaded at, linted and proven as
 * --section-only does it; makes them when eh2sframe_make was not called, and does not
 * keep them then. Freed with eh2sframe_free. EH2SFRAME_INPUT for a relocatable object,
 * whose section means nothing without relocations.
 */
EH2SFRAME_CHECKED bool eh2sframe_section(struct eh2sframe *file, uint64_t address,
    void **bytes, size_t *size, struct eh2sframe_error *error);
/* As a file of its own, which appears complete or not at all. */
EH2SFRAME_CHECKED bool eh2sframe_section_path(struct eh2sframe *file, uint64_t address,
    const char *out, struct eh2sframe_error *error);

/*
 * The file with the section in, loaded and covered by PT_GNU_SFRAME, checked and proven.
 * out appears complete or not at all, with mode, owner and extended attributes of the
 * input (from memory: mode 0666 less the umask), and may be the input's path. Into
 * memory: no file system is touched; freed with eh2sframe_free. As with
 * eh2sframe_section, nothing but counts and text is kept unless eh2sframe_make was
 * called.
 */
EH2SFRAME_CHECKED bool eh2sframe_write_path(
    struct eh2sframe *file, const char *out, struct eh2sframe_error *error);
EH2SFRAME_CHECKED bool eh2sframe_write_memory(
    struct eh2sframe *file, void **bytes, size_t *size, struct eh2sframe_error *error);

/* The file as it was before this program put the section in, byte for byte. */
EH2SFRAME_CHECKED bool eh2sframe_remove_path(
    struct eh2sframe *file, const char *out, struct eh2sframe_error *error);
EH2SFRAME_CHECKED bool eh2sframe_remove_memory(
    struct eh2sframe *file, void **bytes, size_t *size, struct eh2sframe_error *error);

/* Functions, rows, and what has none; after eh2sframe_make. */

enum {
	EH2SFRAME_FUNCTION_REPEATS = 1, /* its rows hold for each block of it (PCMASK) */
	EH2SFRAME_FUNCTION_SIGNAL_FRAME = 2,
	EH2SFRAME_FUNCTION_KEY_B = 4, /* AArch64: signed with key B */
};

/*
 * Set struct_size to sizeof before each call: what a later version adds goes last and is
 * left alone where the struct is that of an earlier one.
 *
 * A function is an FDE of the specification: "2.3 SFrame FDE".
 */
struct eh2sframe_function {
	size_t struct_size;
	uint64_t start; /* address */
	uint64_t size;
	uint64_t n_rows;
	uint32_t block_size; /* with EH2SFRAME_FUNCTION_REPEATS, else 0 */
	uint32_t flags;
};

/* How one value of the caller is found. */
enum eh2sframe_place {
	EH2SFRAME_PLACE_NONE = 0,	/* unchanged; RA: where the ABI's call puts it */
	EH2SFRAME_PLACE_AT_CFA = 1,	/* in memory at CFA + offset */
	EH2SFRAME_PLACE_REGISTER = 2,	/* register + offset */
	EH2SFRAME_PLACE_AT_REGISTER = 3 /* in memory at register + offset */
};

enum {
	EH2SFRAME_ROW_SIGNED = 1,    /* AArch64: the return address is signed */
	EH2SFRAME_ROW_OUTERMOST = 2, /* there is no caller; no place means anything */
};

/* "2.4 SFrame FRE"; where RA and FP are without a place: "3 ABI/arch-specific
 * Definition".
 */
struct eh2sframe_row {
	size_t struct_size;
	uint64_t start; /* from the function's start, or from that of a block */
	uint32_t flags;
	/* enum eh2sframe_place, and registers by their DWARF numbers. */
	uint16_t cfa_place, cfa_register;
	uint16_t ra_place, ra_register;
	uint16_t fp_place, fp_register;
	int64_t cfa_offset, ra_offset, fp_offset;
};

/* Code that CFI describes and the section does not. */
struct eh2sframe_gap {
	size_t struct_size;
	uint64_t start, end; /* addresses; end is exclusive */
	uint64_t function;   /* address of the FDE that it belongs to */
	const char *reason;  /* its name: REFUSALS in eh2sframe(1) */
	const char *text;    /* in a sentence; both live as long as the library */
	uint32_t
	    needs_version; /* the lowest that could say it on this machine; 0: none */
};

/*
 * False behind the last one; functions and gaps ascend by address, rows by start. Of an
 * object with "object-sections" the functions come .sframe section by section.
 */
EH2SFRAME_CHECKED bool eh2sframe_function(
    const struct eh2sframe *file, size_t i, struct eh2sframe_function *function);
EH2SFRAME_CHECKED bool eh2sframe_row(
    const struct eh2sframe *file, size_t function, size_t i, struct eh2sframe_row *row);
EH2SFRAME_CHECKED bool eh2sframe_gap(
    const struct eh2sframe *file, size_t i, struct eh2sframe_gap *gap);

/*
 * Addresses in a relocatable object are made up, the same each time it is opened. This is
 * what one of a function or gap stands for: the section's number in the header table, and
 * the offset in it. False in a linked file, and for an address in no section.
 */
EH2SFRAME_CHECKED bool eh2sframe_where(
    const struct eh2sframe *file, uint64_t address, size_t *section, uint64_t *offset);

/* The symbol that covers an address, as the file spells it; NULL when there is none.
 * Lives until the file is written or closed. */
EH2SFRAME_API const char *eh2sframe_symbol(struct eh2sframe *file, uint64_t address);

/* Never renumbered; later versions add to the end. */
enum eh2sframe_count {
	EH2SFRAME_CIES,
	EH2SFRAME_FDES,
	EH2SFRAME_FUNCTIONS,	       /* FDEs with code of their own */
	EH2SFRAME_FUNCTIONS_WITH_ROWS, /* of those */
	EH2SFRAME_FUNCTIONS_WITH_GAPS, /* of those */
	EH2SFRAME_CFI_ROWS,
	EH2SFRAME_CODE_BYTES,	 /* that CFI describes */
	EH2SFRAME_COVERED_BYTES, /* of those, that the section describes */
	EH2SFRAME_EH_FRAME_SIZE,
	EH2SFRAME_EH_FRAME_HDR_SIZE,
	EH2SFRAME_SECTION_SIZE,
	EH2SFRAME_SECTION_FUNCTIONS,
	EH2SFRAME_SECTION_ROWS,
};

/* After eh2sframe_make, or a call that made: else 0. */
EH2SFRAME_API uint64_t eh2sframe_count(
    const struct eh2sframe *file, enum eh2sframe_count which);

/* Text. */

enum eh2sframe_text {
	EH2SFRAME_TEXT_SUMMARY = 0, /* the line of a conversion */
	EH2SFRAME_TEXT_REPORT = 1,  /* as --report; "verbose": also every gap and cost */
	EH2SFRAME_TEXT_GAPS = 2,    /* a line each */
	EH2SFRAME_TEXT_METHOD = 3,  /* after writing: how the section got in */
	EH2SFRAME_TEXT_DAMAGE = 4,  /* a line for each damaged record and each drawback */
};

/* Of what was made; makes it before if need be. */
EH2SFRAME_CHECKED bool eh2sframe_text(struct eh2sframe *file, enum eh2sframe_text what,
    eh2sframe_write_fn *write, void *context, struct eh2sframe_error *error);

/* The section that the file had when it was opened, as --dump prints it. */
EH2SFRAME_CHECKED bool eh2sframe_dump(struct eh2sframe *file, eh2sframe_write_fn *write,
    void *context, struct eh2sframe_error *error);

/* That section against the file's CFI, or that of another file: differences, then a
 * summary. EH2SFRAME_PROOF when there are any. */
EH2SFRAME_CHECKED bool eh2sframe_verify(struct eh2sframe *file, struct eh2sframe *cfi,
    eh2sframe_write_fn *write, void *context, struct eh2sframe_error *error);

/* That section against the rules of "kernel", "glibc", "libsframe" or "all".
 * EH2SFRAME_INPUT when it breaks any. */
EH2SFRAME_CHECKED bool eh2sframe_lint(struct eh2sframe *file, const char *consumer,
    eh2sframe_write_fn *write, void *context, struct eh2sframe_error *error);

/* The report in JSON, about any number of files: JSON REPORT in eh2sframe(1). */

struct eh2sframe_report;

EH2SFRAME_CHECKED struct eh2sframe_report *eh2sframe_report_new(void);
EH2SFRAME_API void eh2sframe_report_free(struct eh2sframe_report *report);

/* Adds what was made of a file, and the status it ended with. "verbose": also its gaps.
 * The file can be closed afterwards. */
EH2SFRAME_CHECKED bool eh2sframe_report_add(struct eh2sframe_report *report,
    const struct eh2sframe *file, enum eh2sframe_status status,
    struct eh2sframe_error *error);
/* Adds what each FDE costs to what eh2sframe_report_add says, and to the verbose text. */
EH2SFRAME_CHECKED bool eh2sframe_costs(
    struct eh2sframe *file, struct eh2sframe_error *error);
/* Adds a file that failed. */
EH2SFRAME_CHECKED bool eh2sframe_report_add_failure(struct eh2sframe_report *report,
    const char *path, const struct eh2sframe_error *why, struct eh2sframe_error *error);
EH2SFRAME_CHECKED bool eh2sframe_report_write(const struct eh2sframe_report *report,
    eh2sframe_write_fn *write, void *context, struct eh2sframe_error *error);

#ifdef __cplusplus
}
#endif

#endif
