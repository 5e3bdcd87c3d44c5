/* SPDX-License-Identifier: MIT */
/*
 * libeh2sframe gives ELF files SFrame stack-trace data, by which profilers find the callers of a function, from the
 * call frame information (CFI) that they have. It reads 64-bit programs, shared libraries and relocatable objects of
 * x86-64, AArch64 and s390x, and proves each section that it makes against the CFI, at every address where either
 * changes. The command eh2sframe(1) is a program over this library. eh2sframe-convert(1) explains the options, and
 * eh2sframe-sframe(7) refusals, readers and their rules.
 *
 * There are three phases, and each has a handle of its own:
 *
 *   1. struct eh2sframe_options says what is wanted.
 *   2. struct eh2sframe_file is an open ELF file, as it is.
 *   3. struct eh2sframe_result is what a conversion made of it: functions, rows, gaps, counts, the section's bytes. A
 *      result can be written.
 *
 * Rules for all functions:
 *
 * - The library prints nothing, handles no signals and reads no environment. It ends the process only when an
 *   assertion fails, which is a bug. It changes nothing that belongs to the process: umask, locale, directory, the
 *   position of a descriptor. Text is as in the C locale.
 * - All its state is in the handles below, so two threads may use different files at once. Only one thread at a time
 *   may use a file and its results. With the option jobs above 1 a call starts threads, and has ended them when it
 *   returns. A call needs a stack of 64 KiB.
 * - Sizes and offsets are bytes. Addresses are those of the file before relocation.
 * - A function that returns bool or a pointer returns false or NULL when it fails, and says why in *error, which may
 *   be NULL. It then has written nothing: a file of that name is as it was.
 * - No other pointer may be NULL, except contexts and where a function says so. For NULL a function does nothing and
 *   returns EH2SFRAME_USAGE, false, NULL or 0.
 * - A call can be made as often as one likes, in any order, and gives the same answer.
 * - Others may write to a file while it is open. A call then gives a result of the bytes that it saw, refuses the
 *   file, or fails with EH2SFRAME_IO because the file changed: what is parsed is copied before it is checked. All
 *   else is read in place, by mmap(2). So a file must not become shorter, because a SIGBUS would end the program.
 *   Memory of the caller must not change.
 * - Symbols are versioned. Within a soname they stay, and so do numbers and layouts; structs that begin with
 *   struct_size grow at their end, and enumerations get more members there.
 * - Section names in comments are those of "The SFrame format", in binutils.
 */
#ifndef EH2SFRAME_H
#define EH2SFRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eh2sframe-walk.h"

#ifdef __cplusplus
extern "C" {
#endif

#define EH2SFRAME_API __attribute__((visibility("default")))
#define EH2SFRAME_CHECKED EH2SFRAME_API __attribute__((warn_unused_result))

/* Errors. */

/* Says how a call ended. The exit statuses of the command are the same numbers, and 8: a file is converted, but writing
 * the report or the summary failed. Never renumbered. */
enum eh2sframe_status {
	/* The call is done. What it wrote is checked, and proven unless "no-verify" is set. */
	EH2SFRAME_DONE = 0,
	/* The input cannot be converted: it is not ELF, is damaged, or is of a kind or machine that is not supported; or
	 * no function can be described, a limit was reached, or the file has no place for the section. */
	EH2SFRAME_INPUT = 1,
	/* The caller made a mistake: an unknown option or value, options that contradict each other, or NULL where a
	 * pointer is needed. */
	EH2SFRAME_USAGE = 2,
	/* The system refused to read or write (no such file, no permission, no space), or the caller's
	 * eh2sframe_write_fn returned false. */
	EH2SFRAME_IO = 3,
	/* The section that was made and the CFI do not say the same: a bug of the library. */
	EH2SFRAME_PROOF = 4,
	/* The section covers less code than "min-coverage" demands or is larger than "max-size" allows, or the file
	 * grows more than "max-growth" allows. */
	EH2SFRAME_COVERAGE = 5,
	/* There is nothing to do: the file has no CFI, has a section while "refresh" is not set, or has none to take
	 * out. */
	EH2SFRAME_NOTHING = 6,
	/* Memory ran out. The same call can succeed later. */
	EH2SFRAME_NO_MEMORY = 7,
	/* The library has a bug: what it wrote failed its own checks. */
	EH2SFRAME_BUG = 70,
};

/*
 * Says what failed. A call that fails fills it in, and no other call does. The text is one line without the name of
 * the file. Control characters in it are a backslash and 3 octal digits, as in all text that the library makes,
 * except for the line ends. This layout does not change.
 */
struct eh2sframe_error {
	enum eh2sframe_status status;
	char text[512];
};

/* Returns the version of the library that is running, such as "1.0.0-rc2". */
EH2SFRAME_API const char *eh2sframe_version(void);

/* Frees memory that the library gave away, as free(3) does. Accepts NULL. */
EH2SFRAME_API void eh2sframe_free(void *bytes);

/* Takes text: a function of the caller. It gets piece after piece, without a zero at the end, until it returns false.
 * The call that writes then fails with EH2SFRAME_IO. */
typedef bool eh2sframe_write_fn(void *context, const char *text, size_t size);

/* Phase 1: options. */

struct eh2sframe_options;

/* Makes options with the defaults of the command, and frees them. NULL when memory runs out; files that were opened
 * with options have a copy. */
EH2SFRAME_CHECKED struct eh2sframe_options *eh2sframe_options_new(void);
EH2SFRAME_API void eh2sframe_options_free(struct eh2sframe_options *options);

/*
 * Sets the option of this name, which eh2sframe-convert(1) explains as a long option. value is copied; it is NULL for
 * those that take none. EH2SFRAME_USAGE names what is wrong. A second value takes the place of the first, except
 * where the list says "each call adds one". These are the names and their values:
 *
 * - for: the name of a reader, as under READERS in eh2sframe-sframe(7)
 * - format: the version of SFrame: 1, 2 or 3
 * - no-pcrel, refresh, allow-unmatched, no-verify, derive: none
 * - method: auto, slack or grow
 * - optimize: none, share or size
 * - object-sections: one, group or text
 * - exclude-section, exclude-symbol: a pattern as of glob(7); each call adds one
 * - min-coverage: per cent, from 0 to 100
 * - min-coverage-of: cfi or text
 * - max-growth: per cent
 * - max-size: bytes
 * - witness: own, libdwarf or code
 * - code: ignore, refuse or repair
 * - source: one or more of eh_frame, go, debug_frame and derived, with commas between them
 * - debug-file, debug-dir: a path
 * - jobs: how many threads a call may use, from 1 to 1024
 * - quiet, verbose: none; texts of the command depend on them, and nothing here does
 */
EH2SFRAME_CHECKED bool eh2sframe_options_set(struct eh2sframe_options *options,
    const char *name, const char *value, struct eh2sframe_error *error);

/* Checks that the options can be combined. Opening a file checks the same. */
EH2SFRAME_CHECKED bool eh2sframe_options_check(
    const struct eh2sframe_options *options, struct eh2sframe_error *error);

/*
 * Sets a function that is told of temporary files. The library writes a file under a temporary name beside its place,
 * and calls notify with that path when the file begins to exist and when it is gone. So a program can remove the file
 * when a signal ends it. In the first call the thread blocks all signals.
 */
EH2SFRAME_API void eh2sframe_options_on_temporary(struct eh2sframe_options *options,
    void (*notify)(void *context, const char *path, bool exists), void *context);

/* Phase 2: an open file. */

struct eh2sframe_file;

/*
 * Opens an ELF file and checks its tables. options are copied; NULL means the defaults. name is for messages. The
 * descriptor stays the caller's and can be closed; its position is neither used nor moved. Memory is borrowed until
 * the file is closed, and is only read.
 */
EH2SFRAME_CHECKED struct eh2sframe_file *eh2sframe_open_path(const char *path,
    const struct eh2sframe_options *options, struct eh2sframe_error *error);
EH2SFRAME_CHECKED struct eh2sframe_file *eh2sframe_open_fd(int fd, const char *name,
    const struct eh2sframe_options *options, struct eh2sframe_error *error);
EH2SFRAME_CHECKED struct eh2sframe_file *eh2sframe_open_memory(const void *bytes,
    size_t size, const char *name, const struct eh2sframe_options *options,
    struct eh2sframe_error *error);

/* Describes CFI in memory that no ELF file has: what a JIT engine gives to __register_frame. It is .eh_frame as LSB
 * core, "Exception Frames", has it: 64-bit addresses, CIEs and FDEs. */
struct eh2sframe_frames {
	size_t struct_size; /* set by the caller: sizeof(struct eh2sframe_frames) */
	const void *bytes;  /* of .eh_frame, with or without its terminator */
	size_t size;	    /* bytes */
	/* Address of the first byte: encoded pointers count from their own address. */
	uint64_t address;
	/* Addresses of the code, the end exclusive. Both 0: what the FDEs describe, from the
	 * first byte to the last. FDEs outside get no rows. */
	uint64_t text_start, text_end;
	uint32_t machine;    /* e_machine of ELF: 62 x86-64, 183 AArch64, 22 s390x */
	uint32_t big_endian; /* 0 or 1 (else EH2SFRAME_USAGE); s390x: 1 */
};

/*
 * Opens CFI in memory. The bytes are copied, so the caller may free them afterwards. name, options and errors are as
 * for the calls above, and EH2SFRAME_USAGE says that addresses do not ascend, or that a later version's struct has a
 * member that is not 0. Everything works with such a file except what reads instructions: a check of the code fails
 * with EH2SFRAME_INPUT. examples/jit is a program that does it.
 */
EH2SFRAME_CHECKED struct eh2sframe_file *eh2sframe_open_frames(
    const struct eh2sframe_frames *frames, const char *name,
    const struct eh2sframe_options *options, struct eh2sframe_error *error);

/* Closes a file, after the results that were made of it are freed. Accepts NULL. */
EH2SFRAME_API void eh2sframe_close(struct eh2sframe_file *file);

/* Returns "x86-64", "aarch64" or another name, which lives as long as the library. */
EH2SFRAME_API const char *eh2sframe_file_machine(const struct eh2sframe_file *file);

/* Gives the addresses of an open file's code, from the first executable byte to the end of the last one. A walker
 * wants them beside the section (eh2sframe_walk_add). false: a relocatable object, or no code. */
EH2SFRAME_CHECKED bool eh2sframe_file_text(
    const struct eh2sframe_file *file, uint64_t *start, uint64_t *end);

/* Says what the headers and notes of an open file have. */
struct eh2sframe_info {
	size_t struct_size;	 /* set by the caller: sizeof(struct eh2sframe_info) */
	uint64_t entry;		 /* address of the first instruction; 0: none */
	const uint8_t *build_id; /* GNU's, until the file is closed; NULL: none */
	uint64_t build_id_size;	 /* bytes */
};

/* Fills in the members that struct_size has room for; false without any, or when it is no
 * multiple of 8, as that of every version is. */
EH2SFRAME_CHECKED bool eh2sframe_file_info(
    const struct eh2sframe_file *file, struct eh2sframe_info *info);

/* A program header of ELF, as it is there: its bytes may reach past the end of the file. */
struct eh2sframe_segment {
	size_t struct_size;	    /* set by the caller, as above */
	uint64_t type;		    /* p_type: 1 is loaded (PT_LOAD) */
	uint64_t flags;		    /* p_flags: 1 executable, 2 writable, 4 readable */
	uint64_t offset, file_size; /* bytes in the file */
	uint64_t address, memory_size;
};

/* Gives program header i; false behind the last one. */
EH2SFRAME_CHECKED bool eh2sframe_file_segment(
    const struct eh2sframe_file *file, size_t i, struct eh2sframe_segment *segment);

/* Names a source of a file's functions. Never renumbered. */
enum eh2sframe_origin {
	/* .symtab; without functions in it, .dynsym and .gopclntab. */
	EH2SFRAME_ORIGIN_SYMBOLS = 0,
	EH2SFRAME_ORIGIN_EH_FRAME = 1, /* the FDEs of .eh_frame, which have no names */
	/* The entries of PLTs, with the name of the function that each goes to. objdump and perf show it as "strlen@plt".
	 * Without a name: a PLT's header, and what goes to a function that has none. */
	EH2SFRAME_ORIGIN_PLT = 2,
};

/* Flags of a symbol, to be combined. Never renumbered. */
enum eh2sframe_symbol_flags {
	/* Not of .symtab: a separate debug file may have more. */
	EH2SFRAME_SYMBOL_DYNAMIC = 1,
};

/* A function of a file. */
struct eh2sframe_symbol {
	size_t struct_size; /* set by the library */
	uint64_t start;	    /* address */
	uint64_t size;	    /* bytes; 0: not known, as for labels of hand-written code */
	/* As the file spells it, also with the version that a linker put behind it ("fopen@@V"),
	 * but never with control characters. Lives until the file is closed; NULL: none. */
	const char *name;
	uint64_t flags; /* enum eh2sframe_symbol_flags */
};

/* Takes one symbol, which lives until it returns. false: no more are wanted. */
typedef bool eh2sframe_symbol_fn(void *context, const struct eh2sframe_symbol *symbol);

/*
 * Calls give for each function that origin knows, ascending by address. Of several names at one address the best
 * comes last: a global one before a local one, one with a size before a label. What is damaged is left out. The table
 * is read anew in each call. A separate debug file is a file of its own: open it, and compare the build-ids.
 * EH2SFRAME_INPUT when .eh_frame cannot be read at all; it is no error that there is none, or that give ends it.
 */
EH2SFRAME_CHECKED bool eh2sframe_file_functions(const struct eh2sframe_file *file,
    enum eh2sframe_origin origin, eh2sframe_symbol_fn *give, void *context,
    struct eh2sframe_error *error);

/* Kinds of files, by their first 64 bytes. Never renumbered. */
enum eh2sframe_kind {
	EH2SFRAME_KIND_NOT_ELF = 0,
	EH2SFRAME_KIND_LINKED = 1, /* a program or library, or damaged */
	EH2SFRAME_KIND_RELOCATABLE = 2,
	EH2SFRAME_KIND_CORE = 3,
	EH2SFRAME_KIND_OTHER_MACHINE = 4, /* SFrame has no ABI for it */
};

/* Returns what a file of these first bytes is, before it is opened. A damaged header is LINKED. */
EH2SFRAME_API enum eh2sframe_kind eh2sframe_kind(const void *bytes, size_t size);

/* Reasons why a conversion of a file would do nothing, or is not to be tried. Never renumbered. */
enum eh2sframe_skip {
	EH2SFRAME_SKIP_NOT = 0,	       /* there is something to do */
	EH2SFRAME_SKIP_HAS_SFRAME = 1, /* and "refresh" is not set */
	EH2SFRAME_SKIP_NO_CFI = 2,
	EH2SFRAME_SKIP_DEBUG_ONLY = 3, /* as objcopy --only-keep-debug leaves it */
	/* A program interpreter (ld.so), see eh2sframe-convert(1). */
	EH2SFRAME_SKIP_LOADER = 4,
};

/* Returns why a conversion of the file would come to nothing, by the options that it was opened with. The program
 * interpreter is left alone because Linux before 6.7 could start no program by the result. */
EH2SFRAME_API enum eh2sframe_skip eh2sframe_file_skip(const struct eh2sframe_file *file);

/*
 * Writes the file as it was before this program inserted the section, byte for byte, as eh2sframe_result_write_path
 * and _write_memory write it. EH2SFRAME_NOTHING when this program inserted none, EH2SFRAME_INPUT when another one has
 * rewritten the file since.
 */
EH2SFRAME_CHECKED bool eh2sframe_file_remove_path(
    const struct eh2sframe_file *file, const char *out, struct eh2sframe_error *error);
EH2SFRAME_CHECKED bool eh2sframe_file_remove_memory(const struct eh2sframe_file *file,
    void **bytes, size_t *size, struct eh2sframe_error *error);

/* Phase 3: a conversion and its result. */

struct eh2sframe_result;

/*
 * Reads the CFI and makes functions, rows and the section. EH2SFRAME_NOTHING without CFI. With "refresh", the file
 * counts as it was before this program inserted a section. Otherwise a section in the file is ignored here, and
 * prevents writing.
 *
 * out is NULL, or the path of a new file, which is then written as eh2sframe_result_write_path writes it. That is
 * faster than to do so afterwards: the file is copied while rows are made, and what prevents writing is found first.
 */
EH2SFRAME_CHECKED struct eh2sframe_result *eh2sframe_convert(
    const struct eh2sframe_file *file, const char *out, struct eh2sframe_error *error);

/* Frees a result, before its file is closed. A file can have several at once. Accepts NULL. */
EH2SFRAME_API void eh2sframe_result_free(struct eh2sframe_result *result);

/*
 * Checks that the result is worth writing. EH2SFRAME_USAGE when a pattern matches nothing, unless "allow-unmatched"
 * is set. EH2SFRAME_INPUT when no function has rows, EH2SFRAME_COVERAGE below "min-coverage" or above "max-size".
 * Each call that writes checks the same. Those that write the file also check "max-growth".
 */
EH2SFRAME_CHECKED bool eh2sframe_result_check(
    const struct eh2sframe_result *result, struct eh2sframe_error *error);

/*
 * Gives the section's bytes for the address that it will be loaded at, linted and proven. Free them with
 * eh2sframe_free. EH2SFRAME_INPUT for a relocatable object, whose section means nothing without relocations. A
 * section in the file does not matter.
 */
EH2SFRAME_CHECKED bool eh2sframe_result_section(struct eh2sframe_result *result,
    uint64_t address, void **bytes, size_t *size, struct eh2sframe_error *error);
/* Writes these bytes to a file, which appears complete or not at all. Its mode is 0666 less the umask. */
EH2SFRAME_CHECKED bool eh2sframe_result_section_path(struct eh2sframe_result *result,
    uint64_t address, const char *out, struct eh2sframe_error *error);

/*
 * Writes the file with the section in, loaded and covered by PT_GNU_SFRAME, checked and proven. out appears complete
 * or not at all, and may be the input's path. Mode, owner and extended attributes are the input's, or 0666 less the
 * umask for memory; security.ima and security.evm are left out, because they sign the old bytes. EH2SFRAME_NOTHING
 * when the file has a section and "refresh" is not set. A result stays as it is, and can be written again.
 */
EH2SFRAME_CHECKED bool eh2sframe_result_write_path(
    struct eh2sframe_result *result, const char *out, struct eh2sframe_error *error);
/* Writes the same into memory, without touching a file system. Free it with eh2sframe_free. Meanwhile the bytes are
 * in a memfd_create(2) file, so RLIMIT_FSIZE counts for them. */
EH2SFRAME_CHECKED bool eh2sframe_result_write_memory(struct eh2sframe_result *result,
    void **bytes, size_t *size, struct eh2sframe_error *error);

/* Contents of a result. */

/*
 * The caller sets struct_size to the sizeof of the struct before each call. A later version adds members at the end,
 * and leaves them alone where the struct is an earlier one. false: it has room for no member, or is no multiple of 8.
 *
 * A function is an FDE of the specification: "2.3 SFrame FDE". It may stand for several functions of the file whose
 * rows are equal, unless "optimize" is none, and with size for parts of them. With "format" 1 a function that repeats
 * is one function for each of its blocks.
 */
struct eh2sframe_function {
	size_t struct_size;
	uint64_t start; /* address */
	uint64_t size;
	uint64_t n_rows;
	uint32_t block_size; /* with EH2SFRAME_FLAG_REPEATS, else 0 */
	uint32_t flags;	     /* enum eh2sframe_flags: SIGNAL_FRAME, KEY_B, REPEATS */
};

/* A row is an FRE: "2.4 SFrame FRE". It holds to the start of the next one. Its rule is whole: it has the flags of
 * the function, and a place for RA also where only the header of a section says it. */
struct eh2sframe_row {
	size_t struct_size;
	uint64_t start; /* from the start of the function, or of a block */
	struct eh2sframe_rule rule;
};

/* Code that CFI describes and the section does not. */
struct eh2sframe_gap {
	size_t struct_size;
	uint64_t start, end; /* addresses; end is exclusive */
	uint64_t function;   /* address of the FDE that it belongs to */
	const char *reason;  /* its name: REFUSALS in eh2sframe-sframe(7) */
	const char *text;    /* in a sentence; both live as long as the library */
	/* The lowest version that could express it on this machine; 0: none. */
	uint32_t needs_version;
};

/* Give function, row or gap i, and return false behind the last one. Functions and gaps ascend by address, rows by
 * start. An object with "object-sections" gives the functions of one .sframe section after the other. */
EH2SFRAME_CHECKED bool eh2sframe_result_function(
    const struct eh2sframe_result *result, size_t i, struct eh2sframe_function *function);
EH2SFRAME_CHECKED bool eh2sframe_result_row(const struct eh2sframe_result *result,
    size_t function, size_t i, struct eh2sframe_row *row);
EH2SFRAME_CHECKED bool eh2sframe_result_gap(
    const struct eh2sframe_result *result, size_t i, struct eh2sframe_gap *gap);

/*
 * Gives rule i for a gap, or for a part of one, as CFI has it; false behind the last one. A stack walker that follows
 * these rules beside the section loses fewer frames (eh2sframe_walk_open_extra). They ascend by address and do not
 * overlap. A gap has none where the reason is not what CFI says (two FDEs overlap, a pattern leaves it out, its
 * instructions contradict it) or CFI says more than this. A relocatable object has none. Registers are below 32, and
 * cfa_shift is below 8.
 */
EH2SFRAME_CHECKED bool eh2sframe_result_extra(
    const struct eh2sframe_result *result, size_t i, struct eh2sframe_extra *extra);

/*
 * Gives the place of an address of a function or gap in a relocatable object, whose addresses are made up, the same
 * each time it is opened: the section's number in the header table, and the offset in it. False in a linked file, and
 * for an address in no section.
 */
EH2SFRAME_CHECKED bool eh2sframe_result_section_offset(
    const struct eh2sframe_result *result, uint64_t address, size_t *section,
    uint64_t *offset);

/* Returns the name of the symbol that covers an address, as the file spells it; NULL when there is none. It lives
 * until the result is freed. */
EH2SFRAME_API const char *eh2sframe_result_symbol(
    struct eh2sframe_result *result, uint64_t address);

/* Counts of a result; eh2sframe(1) makes percentages of them (COVERAGE). Never renumbered; later versions add to the
 * end. */
enum eh2sframe_count {
	EH2SFRAME_COUNT_CIES = 0,
	EH2SFRAME_COUNT_FDES = 1,
	EH2SFRAME_COUNT_FUNCTIONS = 2,		 /* FDEs with code of their own */
	EH2SFRAME_COUNT_FUNCTIONS_WITH_ROWS = 3, /* of those */
	EH2SFRAME_COUNT_FUNCTIONS_WITH_GAPS = 4, /* of those */
	EH2SFRAME_COUNT_CFI_ROWS = 5,
	EH2SFRAME_COUNT_CODE_BYTES = 6,	   /* that CFI describes */
	EH2SFRAME_COUNT_COVERED_BYTES = 7, /* of those, that the section describes */
	EH2SFRAME_COUNT_EH_FRAME_SIZE = 8,
	EH2SFRAME_COUNT_EH_FRAME_HDR_SIZE = 9,
	EH2SFRAME_COUNT_SECTION_SIZE = 10,
	EH2SFRAME_COUNT_SECTION_FUNCTIONS = 11,
	EH2SFRAME_COUNT_SECTION_ROWS = 12,
	EH2SFRAME_COUNT_EXECUTABLE_BYTES = 13, /* with CFI or without, less padding */
	EH2SFRAME_COUNT_TEMPLATE_BYTES = 14,   /* PLT stubs without CFI that have rows */
	/* without rows, but the frame has no caller */
	EH2SFRAME_COUNT_OUTERMOST_BYTES = 15,
	/* without CFI, with rows that are concluded from the code */
	EH2SFRAME_COUNT_DERIVED_BYTES = 16,
};

/* Returns a count; 0 for a number that is not in the list. */
EH2SFRAME_API uint64_t eh2sframe_result_count(
    const struct eh2sframe_result *result, enum eh2sframe_count which);

/*
 * Writes a result as a JSON object, with the status that its file ended with: a member of "files" under JSON REPORT
 * in eh2sframe-report(5). details: also what the file is, its sections, the rule of each gap and code without CFI,
 * for which it reads the CFI and the symbols again, and which stays in the result. It is written piece by piece, so that it takes no memory.
 */
EH2SFRAME_CHECKED bool eh2sframe_result_json(struct eh2sframe_result *result,
    bool details, enum eh2sframe_status status, eh2sframe_write_fn *write, void *context,
    struct eh2sframe_error *error);

/* Rows for libeh2sframe-walk. */

/*
 * Makes rows for libeh2sframe-walk of an open file: a section, and extra rules for code that none can describe. Open
 * the file with the option "format" at "3": that version can say most, and reaches code from any address. The caller
 * sets struct_size; the call sets bytes, size, address, extra and n_extra. Free bytes and extra with eh2sframe_free.
 * The statuses are those of eh2sframe_convert and eh2sframe_result_section; after a failure module is as before.
 */
EH2SFRAME_CHECKED bool eh2sframe_rows(const struct eh2sframe_file *file,
    struct eh2sframe_walk_module *module, struct eh2sframe_error *error);

/*
 * Makes rows for a file that is mapped into this process, as the member rows of struct eh2sframe_walk_options wants
 * them. A program that sets it links both libraries. The conversion of a file takes milliseconds, and of the largest
 * libraries a second. It reads the file again by module->path; false: that is another one now, cannot be read, or
 * cannot be converted. context is not used.
 */
EH2SFRAME_API bool eh2sframe_rows_module(
    void *context, struct eh2sframe_walk_module *module);

#ifdef __cplusplus
}
#endif

#endif
