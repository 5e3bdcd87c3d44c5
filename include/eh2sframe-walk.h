/* SPDX-License-Identifier: MIT */
/*
 * libeh2sframe-walk finds the callers of a function by SFrame sections, which say for each
 * instruction where the caller's frame is, so that no frame pointers are needed. It walks
 * stacks of this process, also in a signal handler, and of anything else whose memory the
 * caller can read (a copy of a stack, a core file, another process). docs/WALK.md explains it.
 *
 * Rules for all functions:
 *
 * - Only eh2sframe_walk_init, _refresh, _thread, _add and _remove may not be called in a
 *   signal handler. The others allocate no memory, take no lock and leave errno alone. They
 *   call nothing of libc but _dl_find_object, where it has that, and memcmp, memcpy, memmove
 *   and memset, which compilers call for copies, too; all may be called in a handler.
 * - The library reads a section's bytes in place and checks each place before it reads
 *   there. A damaged section ends a walk with a reason, or gives wrong frames; it does no
 *   other harm.
 * - A file may not be unmapped by dlclose(3) while a thread has frames in it.
 * - No handler may leave the walk that it interrupted, or its own, by longjmp(3): changes of the
 *   tables wait for its end. A thread that changes them is cancelled only behind that.
 * - eh2sframe_walk_refresh, _add and _remove wait for each other by a lock. The library
 *   never waits for dlopen(3) or dlclose(3) while it has the lock, so constructors and
 *   destructors of files may call all functions. But with keep_loaded a destructor may not
 *   refresh, because its file goes away all the same. A callback of dl_iterate_phdr(3) may not
 *   call these three, eh2sframe_walk_init, or fork(2).
 * - fork(2) waits for that lock, too, and the child may use all functions. But a refresh needs the
 *   loader: with glibc, the child of a thread that forked while another one used dlopen(3),
 *   dlclose(3) or dl_iterate_phdr(3) can wait for ever. In handlers of pthread_atfork(3) these
 *   three change nothing. A signal handler calls _Fork(3) instead. After _Fork the child may walk,
 *   but not refresh, add or remove. After vfork(2) it may not walk either, because it has this
 *   process's memory.
 * - Members named reserved are 0. Later versions give them a meaning, and 0 is what is
 *   done now.
 * - Sizes and offsets are bytes. Addresses are those of the walked program as it runs.
 * - Registers have their DWARF numbers.
 */
#ifndef EH2SFRAME_WALK_H
#define EH2SFRAME_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EH2SFRAME_WALK_API __attribute__((visibility("default")))

/* Machines whose stacks can be walked. */
enum eh2sframe_walk_machine {
	EH2SFRAME_WALK_X86_64 = 1,
	EH2SFRAME_WALK_AARCH64 = 2, /* little or big endian; the section says which */
	EH2SFRAME_WALK_S390X = 3,
};

/* Reasons why a walk ended. Never renumbered. */
enum eh2sframe_walk_why {
	/* The walk has not ended. */
	EH2SFRAME_WALK_WHY_GOES_ON = 0,
	/* Its row says that the frame has no caller: the stack is complete. Where a frame was guessed it may lack
	 * others: eh2sframe_walk_backtrace gives NO_ROW then. */
	EH2SFRAME_WALK_WHY_OUTERMOST = 1,
	/* The caller's array is full. */
	EH2SFRAME_WALK_WHY_LIMIT = 2,
	/* The address is in no known file. */
	EH2SFRAME_WALK_WHY_NO_MODULE = 3,
	/* Its file has no rows, or none for this address. eh2sframe(1) writes no row for _start
	 * in versions 1 and 2, so a walk that ends there is complete all the same. */
	EH2SFRAME_WALK_WHY_NO_ROW = 4,
	/* The row needs a register that is not known here. */
	EH2SFRAME_WALK_WHY_LOST_REGISTER = 5,
	/* A row leads to memory that cannot be read. */
	EH2SFRAME_WALK_WHY_CUT_OFF = 6,
	/* The caller's frame would not be above this one. */
	EH2SFRAME_WALK_WHY_CONTRADICTION = 7,
	/* The section breaks its format here. */
	EH2SFRAME_WALK_WHY_DAMAGED = 8,
	/* The return address is 0. Some code ends its stack so; a wrong row that leads to a 0 ends
	 * there, too, so the stack may lack frames. */
	EH2SFRAME_WALK_WHY_ZERO = 9,
};

/* Returns "outermost frame", "no row", ...; lives as long as the library. */
EH2SFRAME_WALK_API const char *eh2sframe_walk_why_text(enum eh2sframe_walk_why why);

/* Rules. */

/* Flags of a rule, or of a function or row of libeh2sframe, to be combined. Never
 * renumbered. */
enum eh2sframe_flags {
	/* The frame has no caller; locations mean nothing. */
	EH2SFRAME_FLAG_OUTERMOST = 1,
	EH2SFRAME_FLAG_SIGNAL_FRAME = 2, /* its caller was interrupted: it did not call */
	EH2SFRAME_FLAG_SIGNED = 4,	 /* AArch64: the return address is signed */
	EH2SFRAME_FLAG_KEY_B = 8,	 /* AArch64: with key B, where it is signed */
	/* A function alone: its rows hold for each block of it (PCMASK). */
	EH2SFRAME_FLAG_REPEATS = 16,
};

/* Places of a value of the caller: "2.4 SFrame FRE". Never renumbered. */
enum eh2sframe_place {
	EH2SFRAME_PLACE_SAME = 0,	 /* as in this frame: FP, or RA in its register */
	EH2SFRAME_PLACE_AT_CFA = 1,	 /* in memory at CFA + offset */
	EH2SFRAME_PLACE_REGISTER = 2,	 /* register + offset */
	EH2SFRAME_PLACE_AT_REGISTER = 3, /* in memory at register + offset */
	/* The CFA alone: in memory at register + (cfa_index << cfa_shift) + offset. No
	 * version of SFrame can say it. */
	EH2SFRAME_PLACE_AT_SUM = 4,
};

struct eh2sframe_location {
	uint8_t place; /* enum eh2sframe_place */
	uint8_t reg;   /* by its DWARF number, where the place has one */
	int32_t offset;
};

/* Leads from a frame to its caller. */
struct eh2sframe_rule {
	struct eh2sframe_location cfa; /* REGISTER, AT_REGISTER or AT_SUM */
	/* Added to a CFA that was read from memory; no version of SFrame can say it. */
	int32_t cfa_add;
	struct eh2sframe_location ra, fp;
	uint32_t flags;		      /* enum eh2sframe_flags */
	uint8_t cfa_index, cfa_shift; /* AT_SUM: a register, and bits below 64 */
	uint8_t reserved[6];	      /* 0 */
};

/* A rule that CFI has and no version of SFrame can say, for code from start to end. */
struct eh2sframe_extra {
	/* Less the base of eh2sframe_walk_open_extra; end is exclusive. */
	uint64_t start, end;
	struct eh2sframe_rule rule;
};

/* Sections. */

/*
 * An opened section. The caller owns the memory of this struct, of the bytes, of the index
 * and of the extra rules, and keeps all four while a walk can use them. A copy of the struct
 * is as good as the struct.
 */
struct eh2sframe_walk_section {
	uint64_t opaque[24];
};

/*
 * Opens size bytes of a section ("2.1 SFrame Header", versions 1, 2 and 3) that the walked
 * program has at address. Rows count for PCs from text_start to text_end alone. The bytes
 * may be a copy. false: it is not a section of a known version and machine, its tables are
 * not inside size, or its functions are not sorted; section is then one without rows, whose
 * look-ups are NO_ROW and whose index has size 0.
 */
EH2SFRAME_WALK_API bool eh2sframe_walk_open(struct eh2sframe_walk_section *section,
    const void *bytes, size_t size, uint64_t address, uint64_t text_start,
    uint64_t text_end);

/* Adds rules for what has no row. They ascend and do not overlap; base is added to each. */
EH2SFRAME_WALK_API void eh2sframe_walk_open_extra(struct eh2sframe_walk_section *section,
    const struct eh2sframe_extra *extra, size_t n, uint64_t base);

/*
 * A page index makes a look-up two to five times as fast. eh2sframe_walk_index_size says
 * the bytes that it takes, and eh2sframe_walk_index_make writes it to memory of that size,
 * aligned to 4 bytes. It holds offsets alone, so a file can keep it and map it again.
 * eh2sframe_walk_index_use takes one that was made before, and returns false when it
 * cannot be one of this section. Whatever an index says, a look-up checks the function
 * that it finds.
 */
EH2SFRAME_WALK_API size_t eh2sframe_walk_index_size(
    const struct eh2sframe_walk_section *section);
EH2SFRAME_WALK_API void eh2sframe_walk_index_make(
    struct eh2sframe_walk_section *section, void *memory);
EH2SFRAME_WALK_API bool eh2sframe_walk_index_use(
    struct eh2sframe_walk_section *section, const void *memory, size_t size);

/* Gives the rule for pc: GOES_ON, NO_ROW or DAMAGED. */
EH2SFRAME_WALK_API enum eh2sframe_walk_why eh2sframe_walk_look_up(
    const struct eh2sframe_walk_section *section, uint64_t pc,
    struct eh2sframe_rule *rule);

/* Keeps rules by PC. A cache may be used by many threads and signal handlers at once. */
struct eh2sframe_walk_cache {
	/* Relaxed atomic accesses; word 0 is the PC's tag XOR word 1, so torn pairs do not match. */
	uint64_t (*entries)[2];
	size_t n_entries; /* a power of 2 */
	/* Another number makes all entries stale: after code went away, or for another
	 * process. Read with a relaxed atomic access. */
	uint64_t generation;
	uint64_t reserved[5]; /* 0 */
};

/* Steps. */

enum eh2sframe_walk_frame_flags {
	/* pc is the next instruction to run: first frame, or above a signal frame. Otherwise it
	 * is a return address, and the call is in front of it. */
	EH2SFRAME_WALK_FRAME_EXACT = 1,
	/* The frame that led here is a signal frame: this one was interrupted. */
	EH2SFRAME_WALK_FRAME_SIGNAL = 2,
	EH2SFRAME_WALK_FRAME_GUESSED = 4, /* found by a frame pointer, without a row */
	EH2SFRAME_WALK_FRAME_NO_FP = 8,	  /* fp is not known */
	EH2SFRAME_WALK_FRAME_RA = 16, /* ra is known: AArch64 and s390x, first frame */
};

enum { EH2SFRAME_WALK_N_REGISTERS = 33 };

/* A frame. The caller fills it in for the first one, or eh2sframe_walk_begin does. */
struct eh2sframe_walk_frame {
	uint64_t pc, sp, fp, ra;
	/* All registers by DWARF number, for rows of the first frame that need others than SP
	 * and FP; NULL when they are not known. A step sets it to NULL. */
	const uint64_t *registers;
	uint32_t flags;	      /* enum eh2sframe_walk_frame_flags */
	uint32_t reserved[5]; /* 0 */
};

/* Describes what is walked. */
struct eh2sframe_walk_space {
	enum eh2sframe_walk_machine machine;
	/* Where a row is missing, or needs a register that is lost: false stops; true follows
	 * a frame pointer that is plausible, and marks the caller as guessed. Not on s390x. */
	bool guess;
	/* AArch64: bits of an address that a signature takes. As the instruction XPACLRI does,
	 * a step gives them the value of bit 55. */
	uint64_t signature_mask;
	/* Reads 8 bytes in the byte order of the program. false: they cannot be read. */
	bool (*read)(void *context, uint64_t address, uint64_t *value);
	/* The section with rows for pc: GOES_ON, NO_MODULE or NO_ROW. It stays until the next
	 * call. */
	enum eh2sframe_walk_why (*find)(
	    void *context, uint64_t pc, const struct eh2sframe_walk_section **section);
	void *context;
	struct eh2sframe_walk_cache *cache; /* or NULL */
	uint64_t reserved[4];		    /* 0 */
};

/*
 * Makes a frame its caller. GOES_ON when that is found; any other value is why not, and
 * the frame is as before. Count the steps: a signal frame may lead to another stack, so a
 * damaged stack can lead back to an earlier frame.
 */
EH2SFRAME_WALK_API enum eh2sframe_walk_why eh2sframe_walk_step(
    const struct eh2sframe_walk_space *space, struct eh2sframe_walk_frame *frame);

/* This process. */

/* A file without a section, and what the function rows of the options finds for it. */
struct eh2sframe_walk_module {
	/* The size that the walker, or a caller of eh2sframe_rows, knows. */
	size_t struct_size;
	const char *path; /* "" is the program */
	uint64_t bias;	  /* what the loader added to the addresses of the file */
	const void *header, *headers; /* its ELF and its program headers in memory */
	/* The answer. The bytes and the extra rules stay as long as the process. */
	const void *bytes;
	size_t size;
	uint64_t address; /* that the section was made for, before relocation */
	const struct eh2sframe_extra *extra;
	size_t n_extra;
};

/*
 * Says how a process walks its own stacks. All zeros but for struct_size are the defaults.
 */
struct eh2sframe_walk_options {
	size_t struct_size; /* set by the caller: sizeof(struct eh2sframe_walk_options) */
	/*
	 * Called by eh2sframe_walk_refresh with rows_context for each file without a section;
	 * NULL: such files have no rows. It returns false when it has none either.
	 * eh2sframe_rows_module of libeh2sframe is such a function. It is called with the
	 * library's lock: it may fork, but not call dlopen, dlclose or dlsym, and
	 * eh2sframe_walk_refresh, _add and _remove do nothing in it.
	 */
	bool (*rows)(void *context, struct eh2sframe_walk_module *module);
	void *rows_context;
	/*
	 * Files that dlclose can unmap are looked up with the loader, by their own section
	 * only and without the cache. true: eh2sframe_walk_refresh tells the loader to keep
	 * each file that it finds (RTLD_NODELETE), as a profiler wants it.
	 */
	bool keep_loaded;
	/* Lets a walk guess at code without a row: see guess in struct eh2sframe_walk_space. */
	bool guess;
	uint8_t reserved[6]; /* 0 */
};

/*
 * Gives the library memory for its tables: modules, page indexes and a cache. It is the
 * caller's and stays in use until the process ends; EH2SFRAME_WALK_MEMORY is enough for most
 * programs. A larger one has room for more indexes. Then it calls eh2sframe_walk_refresh.
 * options are copied; NULL means the defaults, by which only files with a section have rows. false: size is below 64 KiB, memory is not
 * aligned to 64 bytes, struct_size is too small, an earlier call succeeded or is under way, or options ask
 * for what this version does not know: a reserved byte, or one behind the members, is not 0.
 */
enum { EH2SFRAME_WALK_MEMORY = 1 << 20 };
EH2SFRAME_WALK_API bool eh2sframe_walk_init(
    void *memory, size_t size, const struct eh2sframe_walk_options *options);

/*
 * Takes note of the files that are mapped now. Files of later dlopen calls are found without
 * it where libc has _dl_find_object (glibc 2.35), but only by a section in the file, and
 * without an index. Returns how many files have rows. Threads may walk meanwhile.
 */
EH2SFRAME_WALK_API size_t eh2sframe_walk_refresh(void);

/*
 * Takes note of the bounds of this thread's stack: optional, and once in a thread. Without
 * it, a walk asks the kernel once for each page of the stack that it reads.
 */
EH2SFRAME_WALK_API void eh2sframe_walk_thread(void);

/*
 * Adds rows for code that no file has (a JIT engine's), and removes them. Both lists are
 * read without locks. false: it is not a section, or the memory of eh2sframe_walk_init is
 * full. After eh2sframe_walk_remove returns, no walk uses the bytes.
 */
EH2SFRAME_WALK_API bool eh2sframe_walk_add(const void *bytes, size_t size,
    uint64_t address, uint64_t text_start, uint64_t text_end);
EH2SFRAME_WALK_API void eh2sframe_walk_remove(const void *bytes);

/* Fills in the first frame from the ucontext_t that a signal handler gets; registers has
 * EH2SFRAME_WALK_N_REGISTERS elements and stays as long as the frame. */
EH2SFRAME_WALK_API void eh2sframe_walk_begin(
    struct eh2sframe_walk_frame *frame, const void *ucontext, uint64_t *registers);

/* Makes a step in this process and thread, as eh2sframe_walk_step does. */
EH2SFRAME_WALK_API enum eh2sframe_walk_why eh2sframe_walk_next(
    struct eh2sframe_walk_frame *frame);

/*
 * Walks this thread's stack: from where a signal interrupted it (ucontext), or from the
 * caller of this function (NULL), through files that have rows. Writes at most max PCs. Each is a return address, but the
 * first one for a ucontext and those above signal frames are of the next instruction to run.
 * Returns how many. why may be NULL.
 */
EH2SFRAME_WALK_API size_t eh2sframe_walk_backtrace(
    const void *ucontext, uintptr_t *pcs, size_t max, enum eh2sframe_walk_why *why);

#ifdef __cplusplus
}
#endif

#endif
