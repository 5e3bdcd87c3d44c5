/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a table of Go, for both machines: with code that does not change, and with the bytes themselves as
 * code. What comes out must be CFI that can be read, of functions that ascend.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "cfi/frames.h"
#include "cfi/interp.h"
#include "gen/sources/go/go_cfi.h"

const char *const fuzz_section = ".gopclntab";

/* Addresses have the code that is here at their lowest bits. */
enum { CODE_SIZE = 4096 };

/* Functions of Go, one after the other. */
static const uint8_t x86_64[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10, 0xe8,
    0x10, 0x00, 0x00, 0x00, 0x48, 0x83, 0xc4, 0x10, 0x5d, 0xc3, 0x90, 0xc3, 0x48, 0x83,
    0xe4, 0xf0, 0xc3, 0xeb, 0xfe, 0x0f, 0x0b, 0x06, 0x90};
static const uint8_t aarch64[] = {0xfe, 0x0f, 0x1e, 0xf8, 0xfd, 0x83, 0x1f, 0xf8, 0xfd,
    0x23, 0x00, 0xd1, 0xfd, 0xfb, 0x7f, 0xa9, 0xff, 0x83, 0x00, 0x91, 0xc0, 0x03, 0x5f,
    0xd6, 0x41, 0x00, 0x00, 0x58, 0x00, 0x00, 0x00, 0x14};

struct code {
	uint8_t bytes[CODE_SIZE];
};

static const uint8_t *code_at(const void *context, uint64_t addr, uint64_t len)
{
	const struct code *code = context;
	const uint64_t at = addr % CODE_SIZE;

	return len <= CODE_SIZE - at ? code->bytes + at : NULL;
}

static void check_cfi(const struct go_cfi *cfi, const struct cfi_machine *machine)
{
	const struct cfi_section section = {
	    .data = cfi->records.data, .size = cfi->records.size, .addr_size = 8};
	struct cfi_frames frames;
	struct cfi_interp interp;
	struct err err;

	FUZZ_ASSERT(cfi_frames_read(&section, &frames, &err), "%s", err.text);
	cfi_interp_init(&interp, &frames, machine);
	/* Bytes behind the last instruction have a record of their own. */
	FUZZ_ASSERT(frames.n_fdes <= 2 * cfi->n_funcs, "%zu FDEs", frames.n_fdes);
	for (size_t i = 0; i < frames.n_fdes; i++) {
		const struct cfi_fde *fde = &frames.fdes[i];

		FUZZ_ASSERT(!i || fde[-1].pc + fde[-1].range <= fde->pc, "FDE %zu", i);
		FUZZ_ASSERT(cfi_interpret(&interp, fde, &err), "%s", err.text);
	}
	for (size_t i = 1; i < cfi->n_left; i++)
		FUZZ_ASSERT(cfi->left[i - 1].start < cfi->left[i].start, "left %zu", i);
	cfi_interp_deinit(&interp);
	cfi_frames_deinit(&frames);
}

static void code_repeat(struct code *code, const uint8_t *bytes, size_t size)
{
	size_t n;

	memset(code->bytes, 0, size ? 0 : sizeof(code->bytes));
	for (size_t at = 0; size && at < sizeof(code->bytes); at += n) {
		n = sizeof(code->bytes) - at < size ? sizeof(code->bytes) - at : size;
		memcpy(code->bytes + at, bytes, n);
	}
}

static void read_as(
    const uint8_t *data, size_t size, enum code_machine machine, const struct code *code)
{
	static const struct cfi_machine machines[] = {
	    [CODE_X86_64] = {.sp_reg = 7, .fp_reg = 6, .pc_reg = 16},
	    [CODE_AARCH64] = {.sp_reg = 31, .fp_reg = 29, .pc_reg = 32},
	};
	const struct go_text text = {machine, code_at, code};
	struct go_cfi cfi = {0};
	struct go_table table;
	struct err err = {0};

	if (!go_cfi_can(machine))
		return;
	if (go_table_read(fuzz_section, data, size, &table, &err) &&
	    go_cfi_make(&table, &text, &cfi, &err))
		check_cfi(&cfi, &machines[machine]);
	else
		FUZZ_ASSERT(err.kind == ERR_MALFORMED || err.kind == ERR_UNSUPPORTED ||
				err.kind == ERR_LIMIT,
		    "kind %d: %s", (int)err.kind, err.text);
	go_cfi_deinit(&cfi);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct code code;

	code_repeat(&code, x86_64, sizeof(x86_64));
	read_as(data, size, CODE_X86_64, &code);
	code_repeat(&code, aarch64, sizeof(aarch64));
	read_as(data, size, CODE_AARCH64, &code);
	code_repeat(&code, data, size);
	read_as(data, size, CODE_X86_64, &code);
	read_as(data, size, CODE_AARCH64, &code);
	return 0;
}
