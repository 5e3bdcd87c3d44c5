/* SPDX-License-Identifier: MIT */
/*
 * What programs were compiled against: types of functions, sizes and places of members,
 * numbers. This file is only ever added to; that it compiles is the test. Written out and
 * not derived from the header, which it is there to hold still. For 64-bit machines.
 */
#include <stddef.h>

#include "include/eh2sframe.h"

#define AT(type, member, off, size)                                                      \
	_Static_assert(offsetof(struct type, member) == (off) &&                         \
			   sizeof(((struct type *)0)->member) == (size),                 \
	    #type "." #member)
#define IS(constant, value) _Static_assert((constant) == (value), #constant)

_Static_assert(sizeof(struct eh2sframe_error) == 516, "eh2sframe_error");
AT(eh2sframe_error, status, 0, 4);
AT(eh2sframe_error, text, 4, 512);

AT(eh2sframe_function, struct_size, 0, 8);
AT(eh2sframe_function, start, 8, 8);
AT(eh2sframe_function, size, 16, 8);
AT(eh2sframe_function, n_rows, 24, 8);
AT(eh2sframe_function, block_size, 32, 4);
AT(eh2sframe_function, flags, 36, 4);

AT(eh2sframe_row, struct_size, 0, 8);
AT(eh2sframe_row, start, 8, 8);
AT(eh2sframe_row, flags, 16, 4);
AT(eh2sframe_row, cfa_place, 20, 2);
AT(eh2sframe_row, cfa_register, 22, 2);
AT(eh2sframe_row, ra_place, 24, 2);
AT(eh2sframe_row, ra_register, 26, 2);
AT(eh2sframe_row, fp_place, 28, 2);
AT(eh2sframe_row, fp_register, 30, 2);
AT(eh2sframe_row, cfa_offset, 32, 8);
AT(eh2sframe_row, ra_offset, 40, 8);
AT(eh2sframe_row, fp_offset, 48, 8);

AT(eh2sframe_gap, struct_size, 0, 8);
AT(eh2sframe_gap, start, 8, 8);
AT(eh2sframe_gap, end, 16, 8);
AT(eh2sframe_gap, function, 24, 8);
AT(eh2sframe_gap, reason, 32, 8);
AT(eh2sframe_gap, text, 40, 8);
AT(eh2sframe_gap, needs_version, 48, 4);

IS(EH2SFRAME_DONE, 0);
IS(EH2SFRAME_INPUT, 1);
IS(EH2SFRAME_USAGE, 2);
IS(EH2SFRAME_IO, 3);
IS(EH2SFRAME_PROOF, 4);
IS(EH2SFRAME_COVERAGE, 5);
IS(EH2SFRAME_NOTHING, 6);
IS(EH2SFRAME_BUG, 70);
IS(EH2SFRAME_FUNCTION_REPEATS, 1);
IS(EH2SFRAME_FUNCTION_SIGNAL_FRAME, 2);
IS(EH2SFRAME_FUNCTION_KEY_B, 4);
IS(EH2SFRAME_PLACE_NONE, 0);
IS(EH2SFRAME_PLACE_AT_CFA, 1);
IS(EH2SFRAME_PLACE_REGISTER, 2);
IS(EH2SFRAME_PLACE_AT_REGISTER, 3);
IS(EH2SFRAME_ROW_SIGNED, 1);
IS(EH2SFRAME_ROW_OUTERMOST, 2);
IS(EH2SFRAME_KIND_NOT_ELF, 0);
IS(EH2SFRAME_KIND_LINKED, 1);
IS(EH2SFRAME_KIND_RELOCATABLE, 2);
IS(EH2SFRAME_KIND_CORE, 3);
IS(EH2SFRAME_KIND_OTHER_MACHINE, 4);
IS(EH2SFRAME_LACK_NOTHING, 0);
IS(EH2SFRAME_LACK_HAS_SFRAME, 1);
IS(EH2SFRAME_LACK_NO_CFI, 2);
IS(EH2SFRAME_LACK_DEBUG_ONLY, 3);
IS(EH2SFRAME_CIES, 0);
IS(EH2SFRAME_FDES, 1);
IS(EH2SFRAME_FUNCTIONS, 2);
IS(EH2SFRAME_FUNCTIONS_WITH_ROWS, 3);
IS(EH2SFRAME_FUNCTIONS_WITH_GAPS, 4);
IS(EH2SFRAME_CFI_ROWS, 5);
IS(EH2SFRAME_CODE_BYTES, 6);
IS(EH2SFRAME_COVERED_BYTES, 7);
IS(EH2SFRAME_EH_FRAME_SIZE, 8);
IS(EH2SFRAME_EH_FRAME_HDR_SIZE, 9);
IS(EH2SFRAME_SECTION_SIZE, 10);
IS(EH2SFRAME_SECTION_FUNCTIONS, 11);
IS(EH2SFRAME_SECTION_ROWS, 12);
IS(EH2SFRAME_TEXT_SUMMARY, 0);
IS(EH2SFRAME_TEXT_REPORT, 1);
IS(EH2SFRAME_TEXT_GAPS, 2);
IS(EH2SFRAME_TEXT_METHOD, 3);
IS(EH2SFRAME_TEXT_DAMAGE, 4);

/* By taking the address of each as what it was. */
static const struct {
	const char *(*version)(void);
	void (*free)(void *bytes);
	struct eh2sframe_options *(*options_new)(void);
	void (*options_free)(struct eh2sframe_options *options);
	bool (*options_set)(struct eh2sframe_options *options, const char *name,
	    const char *value, struct eh2sframe_error *error);
	bool (*options_check)(
	    const struct eh2sframe_options *options, struct eh2sframe_error *error);
	void (*options_on_temporary)(struct eh2sframe_options *options,
	    void (*told)(void *context, const char *path, bool exists), void *context);
	void (*options_on_progress)(struct eh2sframe_options *options,
	    void (*told)(void *context, size_t done, size_t total), void *context);
	struct eh2sframe *(*open_path)(const char *path,
	    const struct eh2sframe_options *options, struct eh2sframe_error *error);
	struct eh2sframe *(*open_fd)(int fd, const char *name,
	    const struct eh2sframe_options *options, struct eh2sframe_error *error);
	struct eh2sframe *(*open_memory)(const void *bytes, size_t size, const char *name,
	    const struct eh2sframe_options *options, struct eh2sframe_error *error);
	void (*close)(struct eh2sframe *file);
	const char *(*machine)(const struct eh2sframe *file);
	enum eh2sframe_kind (*kind)(const void *bytes, size_t size);
	enum eh2sframe_lack (*lack)(const struct eh2sframe *file);
	bool (*make)(struct eh2sframe *file, struct eh2sframe_error *error);
	bool (*judge)(struct eh2sframe *file, struct eh2sframe_error *error);
	bool (*section)(struct eh2sframe *file, uint64_t address, void **bytes,
	    size_t *size, struct eh2sframe_error *error);
	bool (*section_path)(struct eh2sframe *file, uint64_t address, const char *out,
	    struct eh2sframe_error *error);
	bool (*write_path)(
	    struct eh2sframe *file, const char *out, struct eh2sframe_error *error);
	bool (*write_memory)(struct eh2sframe *file, void **bytes, size_t *size,
	    struct eh2sframe_error *error);
	bool (*remove_path)(
	    struct eh2sframe *file, const char *out, struct eh2sframe_error *error);
	bool (*remove_memory)(struct eh2sframe *file, void **bytes, size_t *size,
	    struct eh2sframe_error *error);
	bool (*function)(
	    const struct eh2sframe *file, size_t i, struct eh2sframe_function *function);
	bool (*row)(const struct eh2sframe *file, size_t function, size_t i,
	    struct eh2sframe_row *row);
	bool (*gap)(const struct eh2sframe *file, size_t i, struct eh2sframe_gap *gap);
	bool (*where)(const struct eh2sframe *file, uint64_t address, size_t *section,
	    uint64_t *offset);
	const char *(*symbol)(struct eh2sframe *file, uint64_t address);
	uint64_t (*count)(const struct eh2sframe *file, enum eh2sframe_count which);
	bool (*text)(struct eh2sframe *file, enum eh2sframe_text what,
	    eh2sframe_write_fn *write, void *context, struct eh2sframe_error *error);
	bool (*dump)(struct eh2sframe *file, eh2sframe_write_fn *write, void *context,
	    struct eh2sframe_error *error);
	bool (*verify)(struct eh2sframe *file, struct eh2sframe *cfi,
	    eh2sframe_write_fn *write, void *context, struct eh2sframe_error *error);
	bool (*lint)(struct eh2sframe *file, const char *consumer,
	    eh2sframe_write_fn *write, void *context, struct eh2sframe_error *error);
	struct eh2sframe_report *(*report_new)(void);
	void (*report_free)(struct eh2sframe_report *report);
	bool (*report_add)(struct eh2sframe_report *report, const struct eh2sframe *file,
	    enum eh2sframe_status status, struct eh2sframe_error *error);
	bool (*costs)(struct eh2sframe *file, struct eh2sframe_error *error);
	bool (*report_add_failure)(struct eh2sframe_report *report, const char *path,
	    const struct eh2sframe_error *why, struct eh2sframe_error *error);
	bool (*report_write)(const struct eh2sframe_report *report,
	    eh2sframe_write_fn *write, void *context, struct eh2sframe_error *error);
} functions __attribute__((used)) = {
    .version = eh2sframe_version,
    .free = eh2sframe_free,
    .options_new = eh2sframe_options_new,
    .options_free = eh2sframe_options_free,
    .options_set = eh2sframe_options_set,
    .options_check = eh2sframe_options_check,
    .options_on_temporary = eh2sframe_options_on_temporary,
    .options_on_progress = eh2sframe_options_on_progress,
    .open_path = eh2sframe_open_path,
    .open_fd = eh2sframe_open_fd,
    .open_memory = eh2sframe_open_memory,
    .close = eh2sframe_close,
    .machine = eh2sframe_machine,
    .kind = eh2sframe_kind,
    .lack = eh2sframe_lack,
    .make = eh2sframe_make,
    .judge = eh2sframe_judge,
    .section = eh2sframe_section,
    .section_path = eh2sframe_section_path,
    .write_path = eh2sframe_write_path,
    .write_memory = eh2sframe_write_memory,
    .remove_path = eh2sframe_remove_path,
    .remove_memory = eh2sframe_remove_memory,
    .function = eh2sframe_function,
    .row = eh2sframe_row,
    .gap = eh2sframe_gap,
    .where = eh2sframe_where,
    .symbol = eh2sframe_symbol,
    .count = eh2sframe_count,
    .text = eh2sframe_text,
    .dump = eh2sframe_dump,
    .verify = eh2sframe_verify,
    .lint = eh2sframe_lint,
    .report_new = eh2sframe_report_new,
    .report_free = eh2sframe_report_free,
    .report_add = eh2sframe_report_add,
    .costs = eh2sframe_costs,
    .report_add_failure = eh2sframe_report_add_failure,
    .report_write = eh2sframe_report_write,
};

int main(void)
{
	return functions.version == NULL;
}
