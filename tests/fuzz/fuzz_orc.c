/* SPDX-License-Identifier: MIT */
/*
 * Both ORC tables, behind a byte that says of which layout they are. What comes out must be CFI that can be read,
 * of code that ascends.
 */
#include "tests/fuzz/fuzz.h"

#include "cfi/frames.h"
#include "cfi/interp.h"
#include "orc/orc_cfi.h"

const char *const fuzz_section = ".orc_tables";

/* Code, and where the first table is. */
enum { CODE = 0x1000, CODE_END = 0x9000, IPS = 0x40000 };

static const uint8_t hashes[][ORC_HEADER_BYTES] = {
    {0xfe, 0x5d, 0x32, 0xbf, 0x58, 0x1b, 0xd6, 0x3b, 0x2c, 0xa9, 0xa5, 0xc6, 0x5b, 0xa5,
	0xa6, 0x25, 0xea, 0xb3, 0xfe, 0x24},
    {0x13, 0x7c, 0x36, 0xad, 0x76, 0x27, 0xc4, 0xdd, 0x55, 0x93, 0x21, 0x76, 0xbb, 0x0e,
	0xcd, 0xbd, 0x50, 0x41, 0xfc, 0x82},
};

static uint64_t code_end(const void *context, uint64_t pc)
{
	(void)context;
	return pc >= CODE && pc < CODE_END ? CODE_END : 0;
}

static void check_cfi(const struct orc_cfi *cfi)
{
	static const struct cfi_machine machine = {
	    .sp_reg = 7, .fp_reg = 6, .pc_reg = 16};
	const struct cfi_section section = {
	    .data = cfi->records.data, .size = cfi->records.size, .addr_size = 8};
	struct cfi_frames frames;
	struct cfi_interp interp;
	struct err err;

	FUZZ_ASSERT(cfi_frames_read(&section, &frames, &err), "%s", err.text);
	cfi_interp_init(&interp, &frames, &machine);
	FUZZ_ASSERT(frames.n_diags == 0, "%s", frames.diags[0].text);
	FUZZ_ASSERT(frames.n_fdes == cfi->n_records, "%zu FDEs", frames.n_fdes);
	for (size_t i = 0; i < frames.n_fdes; i++) {
		const struct cfi_fde *fde = &frames.fdes[i];

		FUZZ_ASSERT(!i || fde[-1].pc + fde[-1].range <= fde->pc, "FDE %zu", i);
		FUZZ_ASSERT(
		    fde->pc >= CODE && fde->pc + fde->range <= CODE_END, "FDE %zu", i);
		FUZZ_ASSERT(cfi_interpret(&interp, fde, &err), "%s", err.text);
	}
	for (size_t i = 1; i < cfi->n_left; i++)
		FUZZ_ASSERT(
		    cfi->left[i - 1].start + cfi->left[i - 1].size <= cfi->left[i].start,
		    "left %zu", i);
	cfi_interp_deinit(&interp);
	cfi_frames_deinit(&frames);
}

static void read_tables(const struct orc_input *input)
{
	static const uint64_t starts[] = {
	    CODE, CODE + 0x12, CODE + 0x12, CODE + 0x30, CODE_END};
	const struct orc_code code = {.end = code_end,
	    .starts = starts,
	    .n_starts = sizeof(starts) / sizeof(*starts)};
	struct orc_cfi cfi = {0};
	struct orc_table table;
	struct err err = {0};

	if (orc_table_read(input, &table, &err)) {
		if (orc_cfi_make(&table, &code, &cfi, &err))
			check_cfi(&cfi);
		orc_table_deinit(&table);
	}
	FUZZ_ASSERT(err.kind == ERR_NONE || err.kind == ERR_MALFORMED ||
			err.kind == ERR_UNSUPPORTED,
	    "kind %d: %s", (int)err.kind, err.text);
	orc_cfi_deinit(&cfi);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t n = size ? (size - 1) / (ORC_IP_BYTES + ORC_ENTRY_BYTES) : 0;
	struct orc_input input = {.ips_addr = IPS, .major = 6};

	if (!size)
		return 0;
	input.ips = (struct orc_bytes){data + 1, n * ORC_IP_BYTES};
	input.entries =
	    (struct orc_bytes){data + 1 + input.ips.size, size - 1 - input.ips.size};
	/* A rest of bytes is an error in itself. */
	if (data[0] & 0x80)
		input.entries.size = n * ORC_ENTRY_BYTES;
	for (unsigned int layout = 0; layout < 4; layout++) {
		input.minor = 1 + layout;
		if (layout >= 2)
			input.header =
			    (struct orc_bytes){hashes[layout - 2], ORC_HEADER_BYTES};
		read_tables(&input);
	}
	return 0;
}
