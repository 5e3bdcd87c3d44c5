/* SPDX-License-Identifier: MIT */
/*
 * Programs were compiled against these types of functions, sizes and places of members,
 * and numbers. The test passes when it compiles. After a release, only add lines. They
 * are written by hand, so that no change of the header goes unnoticed. Sizes are those on
 * 64-bit machines.
 */
#include <stddef.h>

#include "include/eh2sframe.h"
#include "include/eh2sframe-frames.h"
#include "include/eh2sframe-memory.h"
#include "include/eh2sframe-rules.h"

#define AT(type, member, off, size)                                                      \
	_Static_assert(offsetof(struct type, member) == (off) &&                         \
			   sizeof(((struct type *)0)->member) == (size),                 \
	    #type "." #member)
#define SIZE(type, size) _Static_assert(sizeof(struct type) == (size), #type)
#define IS(constant, value) _Static_assert((constant) == (value), #constant)

SIZE(eh2sframe_error, 516);
AT(eh2sframe_error, status, 0, 4);
AT(eh2sframe_error, text, 4, 512);

AT(eh2sframe_frames, struct_size, 0, 8);
AT(eh2sframe_frames, bytes, 8, 8);
AT(eh2sframe_frames, size, 16, 8);
AT(eh2sframe_frames, address, 24, 8);
AT(eh2sframe_frames, text_start, 32, 8);
AT(eh2sframe_frames, text_end, 40, 8);
AT(eh2sframe_frames, machine, 48, 4);
AT(eh2sframe_frames, big_endian, 52, 4);
SIZE(eh2sframe_frames, 56);
AT(eh2sframe_memory_image, struct_size, 0, 8);
AT(eh2sframe_memory_image, name, 8, 8);
AT(eh2sframe_memory_image, address, 16, 8);
SIZE(eh2sframe_memory_image, 24);

AT(eh2sframe_function, struct_size, 0, 8);
AT(eh2sframe_function, start, 8, 8);
AT(eh2sframe_function, size, 16, 8);
AT(eh2sframe_function, n_rows, 24, 8);
AT(eh2sframe_function, block_size, 32, 4);
AT(eh2sframe_function, flags, 36, 4);

SIZE(eh2sframe_location, 16);
AT(eh2sframe_location, place, 0, 4);
AT(eh2sframe_location, reg, 4, 4);
AT(eh2sframe_location, offset, 8, 8);

AT(eh2sframe_row, struct_size, 0, 8);
AT(eh2sframe_row, start, 8, 8);
AT(eh2sframe_row, flags, 16, 4);
AT(eh2sframe_row, cfa, 24, 16);
AT(eh2sframe_row, ra, 40, 16);
AT(eh2sframe_row, fp, 56, 16);

AT(eh2sframe_gap, struct_size, 0, 8);
AT(eh2sframe_gap, start, 8, 8);
AT(eh2sframe_gap, end, 16, 8);
AT(eh2sframe_gap, function, 24, 8);
AT(eh2sframe_gap, reason, 32, 8);
AT(eh2sframe_gap, text, 40, 8);
AT(eh2sframe_gap, needs_version, 48, 4);

AT(eh2sframe_rule, struct_size, 0, 8);
AT(eh2sframe_rule, start, 8, 8);
AT(eh2sframe_rule, end, 16, 8);
AT(eh2sframe_rule, flags, 24, 4);
AT(eh2sframe_rule, cfa_add, 28, 4);
AT(eh2sframe_rule, cfa, 32, 16);
AT(eh2sframe_rule, ra, 48, 16);
AT(eh2sframe_rule, fp, 64, 16);
AT(eh2sframe_rule, index, 80, 4);
AT(eh2sframe_rule, shift, 84, 4);

IS(EH2SFRAME_DONE, 0);
IS(EH2SFRAME_INPUT, 1);
IS(EH2SFRAME_USAGE, 2);
IS(EH2SFRAME_IO, 3);
IS(EH2SFRAME_PROOF, 4);
IS(EH2SFRAME_COVERAGE, 5);
IS(EH2SFRAME_NOTHING, 6);
IS(EH2SFRAME_NO_MEMORY, 7);
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
IS(EH2SFRAME_RULE_SIGNED, 1);
IS(EH2SFRAME_RULE_OUTERMOST, 2);
IS(EH2SFRAME_RULE_SIGNAL_FRAME, 4);
IS(EH2SFRAME_RULE_KEY_B, 8);
IS(EH2SFRAME_RULE_INDEXED, 16);
IS(EH2SFRAME_KIND_NOT_ELF, 0);
IS(EH2SFRAME_KIND_LINKED, 1);
IS(EH2SFRAME_KIND_RELOCATABLE, 2);
IS(EH2SFRAME_KIND_CORE, 3);
IS(EH2SFRAME_KIND_OTHER_MACHINE, 4);
IS(EH2SFRAME_SKIP_NOT, 0);
IS(EH2SFRAME_SKIP_HAS_SFRAME, 1);
IS(EH2SFRAME_SKIP_NO_CFI, 2);
IS(EH2SFRAME_SKIP_DEBUG_ONLY, 3);
IS(EH2SFRAME_SKIP_LOADER, 4);
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
IS(EH2SFRAME_EXECUTABLE_BYTES, 13);
IS(EH2SFRAME_TEMPLATE_BYTES, 14);
IS(EH2SFRAME_OUTERMOST_BYTES, 15);
IS(EH2SFRAME_DERIVED_BYTES, 16);
IS(EH2SFRAME_TEXT_SUMMARY, 0);
IS(EH2SFRAME_TEXT_REPORT, 1);
IS(EH2SFRAME_TEXT_GAPS, 2);
IS(EH2SFRAME_TEXT_METHOD, 3);
IS(EH2SFRAME_TEXT_DAMAGE, 4);
IS(EH2SFRAME_TEXT_FUNCTIONS, 5);

/* Takes the address of each function as the type that it had. */
static const struct {
	const char *(*version)(void);
	const char *(*features)(void);
	void (*free)(void *bytes);
	struct eh2sframe_options *(*options_new)(void);
	void (*options_free)(struct eh2sframe_options *options);
	bool (*options_set)(struct eh2sframe_options *options, const char *name,
	    const char *value, struct eh2sframe_error *error);
	bool (*options_check)(
	    const struct eh2sframe_options *options, struct eh2sframe_error *error);
	void (*options_on_temporary)(struct eh2sframe_options *options,
	    void (*notify)(void *context, const char *path, bool exists), void *context);
	void (*options_on_progress)(struct eh2sframe_options *options,
	    void (*notify)(void *context, size_t done, size_t total), void *context);
	struct eh2sframe_file *(*open_path)(const char *path,
	    const struct eh2sframe_options *options, struct eh2sframe_error *error);
	struct eh2sframe_file *(*open_fd)(int fd, const char *name,
	    const struct eh2sframe_options *options, struct eh2sframe_error *error);
	struct eh2sframe_file *(*open_memory)(const void *bytes, size_t size,
	    const char *name, const struct eh2sframe_options *options,
	    struct eh2sframe_error *error);
	void (*close)(struct eh2sframe_file *file);
	const char *(*file_machine)(const struct eh2sframe_file *file);
	enum eh2sframe_kind (*kind)(const void *bytes, size_t size);
	enum eh2sframe_skip (*file_skip)(const struct eh2sframe_file *file);
	bool (*file_check_code)(const struct eh2sframe_file *file,
	    eh2sframe_write_fn *write, void *context, struct eh2sframe_error *error);
	bool (*file_dump)(const struct eh2sframe_file *file, eh2sframe_write_fn *write,
	    void *context, struct eh2sframe_error *error);
	bool (*file_verify)(const struct eh2sframe_file *file,
	    const struct eh2sframe_file *cfi, eh2sframe_write_fn *write, void *context,
	    struct eh2sframe_error *error);
	bool (*file_lint)(const struct eh2sframe_file *file, const char *reader,
	    eh2sframe_write_fn *write, void *context, struct eh2sframe_error *error);
	bool (*file_remove_path)(const struct eh2sframe_file *file, const char *out,
	    struct eh2sframe_error *error);
	bool (*file_remove_memory)(const struct eh2sframe_file *file, void **bytes,
	    size_t *size, struct eh2sframe_error *error);
	struct eh2sframe_result *(*convert)(
	    const struct eh2sframe_file *file, struct eh2sframe_error *error);
	struct eh2sframe_result *(*convert_path)(const struct eh2sframe_file *file,
	    const char *out, struct eh2sframe_error *error);
	void (*result_free)(struct eh2sframe_result *result);
	bool (*result_check)(
	    const struct eh2sframe_result *result, struct eh2sframe_error *error);
	bool (*result_section)(struct eh2sframe_result *result, uint64_t address,
	    void **bytes, size_t *size, struct eh2sframe_error *error);
	bool (*result_section_path)(struct eh2sframe_result *result, uint64_t address,
	    const char *out, struct eh2sframe_error *error);
	bool (*result_write_path)(struct eh2sframe_result *result, const char *out,
	    struct eh2sframe_error *error);
	bool (*result_write_memory)(struct eh2sframe_result *result, void **bytes,
	    size_t *size, struct eh2sframe_error *error);
	bool (*result_function)(const struct eh2sframe_result *result, size_t i,
	    struct eh2sframe_function *function);
	bool (*result_row)(const struct eh2sframe_result *result, size_t function,
	    size_t i, struct eh2sframe_row *row);
	bool (*result_gap)(
	    const struct eh2sframe_result *result, size_t i, struct eh2sframe_gap *gap);
	struct eh2sframe_file *(*open_frames)(const struct eh2sframe_frames *frames,
	    const char *name, const struct eh2sframe_options *options,
	    struct eh2sframe_error *error);
	struct eh2sframe_memory *(*open_process)(int pid, struct eh2sframe_error *error);
	struct eh2sframe_memory *(*open_core)(
	    const char *path, struct eh2sframe_error *error);
	void (*memory_close)(struct eh2sframe_memory *memory);
	bool (*memory_image)(const struct eh2sframe_memory *memory, size_t i,
	    struct eh2sframe_memory_image *image);
	struct eh2sframe_file *(*memory_open)(const struct eh2sframe_memory *memory,
	    const char *name, const char *root, const struct eh2sframe_options *options,
	    struct eh2sframe_error *error);
	bool (*file_text)(
	    const struct eh2sframe_file *file, uint64_t *start, uint64_t *end);
	bool (*result_rule)(
	    const struct eh2sframe_result *result, size_t i, struct eh2sframe_rule *rule);
	bool (*result_section_offset)(const struct eh2sframe_result *result,
	    uint64_t address, size_t *section, uint64_t *offset);
	const char *(*result_symbol)(struct eh2sframe_result *result, uint64_t address);
	bool (*result_unmatched)(const struct eh2sframe_result *result, size_t i,
	    const char **option, const char **pattern);
	uint64_t (*result_count)(
	    const struct eh2sframe_result *result, enum eh2sframe_count which);
	bool (*result_print)(const struct eh2sframe_result *result,
	    enum eh2sframe_text what, eh2sframe_write_fn *write, void *context,
	    struct eh2sframe_error *error);
	bool (*result_add_costs)(
	    struct eh2sframe_result *result, struct eh2sframe_error *error);
	bool (*result_add_details)(
	    struct eh2sframe_result *result, struct eh2sframe_error *error);
	bool (*result_add_formats)(
	    struct eh2sframe_result *result, struct eh2sframe_error *error);
	struct eh2sframe_report *(*report_new)(
	    eh2sframe_write_fn *write, void *context, struct eh2sframe_error *error);
	void (*report_free)(struct eh2sframe_report *report);
	bool (*report_add)(struct eh2sframe_report *report,
	    const struct eh2sframe_result *result, enum eh2sframe_status status,
	    struct eh2sframe_error *error);
	bool (*report_add_failure)(struct eh2sframe_report *report, const char *path,
	    const struct eh2sframe_error *why, struct eh2sframe_error *error);
	bool (*report_end)(
	    struct eh2sframe_report *report, struct eh2sframe_error *error);
	struct eh2sframe_check *(*check_file)(
	    const struct eh2sframe_file *file, struct eh2sframe_error *error);
	void (*check_free)(struct eh2sframe_check *check);
	bool (*check_judge)(
	    const struct eh2sframe_check *check, struct eh2sframe_error *error);
	bool (*check_print)(const struct eh2sframe_check *check,
	    eh2sframe_write_fn *write, void *context, struct eh2sframe_error *error);
	bool (*report_add_check)(struct eh2sframe_report *report,
	    const struct eh2sframe_check *check, bool lists, enum eh2sframe_status status,
	    struct eh2sframe_error *error);
} functions __attribute__((used)) = {
    .version = eh2sframe_version,
    .features = eh2sframe_features,
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
    .file_machine = eh2sframe_file_machine,
    .kind = eh2sframe_kind,
    .file_skip = eh2sframe_file_skip,
    .file_check_code = eh2sframe_file_check_code,
    .file_dump = eh2sframe_file_dump,
    .file_verify = eh2sframe_file_verify,
    .file_lint = eh2sframe_file_lint,
    .file_remove_path = eh2sframe_file_remove_path,
    .file_remove_memory = eh2sframe_file_remove_memory,
    .convert = eh2sframe_convert,
    .convert_path = eh2sframe_convert_path,
    .result_free = eh2sframe_result_free,
    .result_check = eh2sframe_result_check,
    .result_section = eh2sframe_result_section,
    .result_section_path = eh2sframe_result_section_path,
    .result_write_path = eh2sframe_result_write_path,
    .result_write_memory = eh2sframe_result_write_memory,
    .result_function = eh2sframe_result_function,
    .result_row = eh2sframe_result_row,
    .result_gap = eh2sframe_result_gap,
    .open_frames = eh2sframe_open_frames,
    .open_process = eh2sframe_open_process,
    .open_core = eh2sframe_open_core,
    .memory_close = eh2sframe_memory_close,
    .memory_image = eh2sframe_memory_image,
    .memory_open = eh2sframe_memory_open,
    .file_text = eh2sframe_file_text,
    .result_rule = eh2sframe_result_rule,
    .result_section_offset = eh2sframe_result_section_offset,
    .result_symbol = eh2sframe_result_symbol,
    .result_unmatched = eh2sframe_result_unmatched,
    .result_count = eh2sframe_result_count,
    .result_print = eh2sframe_result_print,
    .result_add_costs = eh2sframe_result_add_costs,
    .result_add_details = eh2sframe_result_add_details,
    .result_add_formats = eh2sframe_result_add_formats,
    .report_new = eh2sframe_report_new,
    .report_free = eh2sframe_report_free,
    .report_add = eh2sframe_report_add,
    .report_add_failure = eh2sframe_report_add_failure,
    .report_end = eh2sframe_report_end,
    .check_file = eh2sframe_check_file,
    .check_free = eh2sframe_check_free,
    .check_judge = eh2sframe_check_judge,
    .check_print = eh2sframe_check_print,
    .report_add_check = eh2sframe_report_add_check,
};

int main(void)
{
	return functions.version == NULL;
}
