/* SPDX-License-Identifier: MIT */
/*
 * Other people's walkers. Each is found through the handle of its own library, because libunwind.so.8 exports
 * backtrace and _Unwind_Backtrace, too. Libraries that are not installed are left out. Their headers are not
 * needed: contexts and cursors are memory that is large enough.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "tests/bench/walk/walkers.h"

/* LLVM's context has 136 bytes on x86-64 and its cursor 96; nongnu's have 968 and 1,016. */
struct opaque {
	_Alignas(64) unsigned char bytes[8192];
};

/* DWARF numbers: nongnu's UNW_REG_IP is RIP's, LLVM's is -1. */
enum { NONGNU_IP = 16, LLVM_IP = -1 };

uintptr_t stack_low, stack_high;

void stack_find(void)
{
	pthread_attr_t attributes;
	void *low;
	size_t size;

	if (pthread_getattr_np(pthread_self(), &attributes) != 0)
		return;
	if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
		stack_low = (uintptr_t)low;
		stack_high = stack_low + size;
	}
	pthread_attr_destroy(&attributes);
}

/* Functions of one library. */
struct unw {
	int (*get_context)(struct opaque *context);
	int (*init)(struct opaque *cursor, struct opaque *context);
	int (*step)(struct opaque *cursor);
	int (*get)(struct opaque *cursor, int reg, uintptr_t *value);
};

static struct unw nongnu, llvm;
static int (*nongnu_backtrace)(void **pcs, int max);
static int (*glibc_backtrace)(void **pcs, int max);
static int (*gperftools_trace)(void **pcs, int max, int skip);

/* The Itanium ABI's interface, which libgcc has. */
struct unwind_context;
static int (*gcc_backtrace)(
    int (*each)(struct unwind_context *context, void *list), void *list);
static uintptr_t (*gcc_get_ip)(struct unwind_context *context);

static inline size_t unw_walk(const struct unw *unw, int ip, uintptr_t *pcs, size_t max)
{
	struct opaque context, cursor;
	size_t n = 0;

	unw->get_context(&context);
	unw->init(&cursor, &context);
	while (n < max && unw->get(&cursor, ip, &pcs[n]) == 0) {
		n++;
		if (unw->step(&cursor) <= 0)
			break;
	}
	return n;
}

static size_t walk_nongnu(uintptr_t *pcs, size_t max)
{
	return unw_walk(&nongnu, NONGNU_IP, pcs, max);
}

static size_t walk_llvm(uintptr_t *pcs, size_t max)
{
	return unw_walk(&llvm, LLVM_IP, pcs, max);
}

static size_t walk_nongnu_cached(uintptr_t *pcs, size_t max)
{
	return (size_t)nongnu_backtrace((void **)pcs, (int)max);
}

static size_t walk_glibc(uintptr_t *pcs, size_t max)
{
	return (size_t)glibc_backtrace((void **)pcs, (int)max);
}

static size_t walk_gperftools(uintptr_t *pcs, size_t max)
{
	return (size_t)gperftools_trace((void **)pcs, (int)max, 0);
}

struct list {
	uintptr_t *pcs;
	size_t n, max;
};

static int take(struct unwind_context *context, void *to)
{
	struct list *list = to;

	if (list->n == list->max)
		return 5; /* _URC_END_OF_STACK */
	list->pcs[list->n++] = gcc_get_ip(context);
	return 0;
}

static size_t walk_libgcc(uintptr_t *pcs, size_t max)
{
	struct list list = {pcs, 0, max};

	gcc_backtrace(take, &list);
	return list.n;
}

/* Nothing but the chain, and the bounds that keep it from faults. */
static size_t walk_frame_pointers(uintptr_t *pcs, size_t max)
{
	const uintptr_t *frame = __builtin_frame_address(0);
	uintptr_t last = (uintptr_t)frame;
	size_t n = 0;

	while (n < max) {
		pcs[n++] = frame[1];
		frame = (const uintptr_t *)frame[0];
		if ((uintptr_t)frame <= last || (uintptr_t)frame > stack_high - 16 ||
		    (uintptr_t)frame % 8 != 0)
			break;
		last = (uintptr_t)frame;
	}
	return n;
}

/* POSIX lets dlsym's pointer be a function's, C does not. */
static bool find(void *library, const char *name, void *function)
{
	void *found = library ? dlsym(library, name) : NULL;

	memcpy(function, &found, sizeof(found));
	return found != NULL;
}

static void *open_llvm(void)
{
	char path[64];
	void *library = NULL;

	for (int version = 30; !library && version >= 11; version--) {
		snprintf(
		    path, sizeof(path), "/usr/lib/llvm-%d/lib/libunwind.so.1", version);
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	return library;
}

static size_t add(struct walker *list, size_t n, bool there, const char *name,
    size_t (*walk)(uintptr_t *pcs, size_t max))
{
	if (!there) {
		printf("# not installed: %s\n", name);
		return n;
	}
	list[n] = (struct walker){name, walk};
	return n + 1;
}

size_t peers_list(struct walker *list, size_t n)
{
	void *gcc = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
	void *c = dlopen("libc.so.6", RTLD_NOW | RTLD_LOCAL);
	void *unwind = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
	void *llvms = open_llvm();
	void *profiler = dlopen("libprofiler.so.0", RTLD_NOW | RTLD_LOCAL);
	bool there;

	there = find(gcc, "_Unwind_Backtrace", &gcc_backtrace) &&
		find(gcc, "_Unwind_GetIP", &gcc_get_ip);
	n = add(list, n, there, "libgcc `_Unwind_Backtrace`", walk_libgcc);
	there = find(c, "backtrace", &glibc_backtrace);
	n = add(list, n, there, "glibc `backtrace`", walk_glibc);
	there = find(llvms, "unw_getcontext", &llvm.get_context) &&
		find(llvms, "unw_init_local", &llvm.init) &&
		find(llvms, "unw_step", &llvm.step) &&
		find(llvms, "unw_get_reg", &llvm.get);
	n = add(list, n, there, "LLVM libunwind `unw_step`", walk_llvm);
	there = find(unwind, "_Ux86_64_getcontext", &nongnu.get_context) &&
		find(unwind, "_ULx86_64_init_local", &nongnu.init) &&
		find(unwind, "_ULx86_64_step", &nongnu.step) &&
		find(unwind, "_ULx86_64_get_reg", &nongnu.get);
	n = add(list, n, there, "nongnu `unw_step`", walk_nongnu);
	there = find(unwind, "unw_backtrace", &nongnu_backtrace);
	n = add(list, n, there, "nongnu `unw_backtrace`", walk_nongnu_cached);
	there = find(profiler, "_Z13GetStackTracePPvii", &gperftools_trace);
	n = add(list, n, there, "gperftools `GetStackTrace`", walk_gperftools);
	return add(list, n, true, "frame pointers", walk_frame_pointers);
}
