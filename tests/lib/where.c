/* SPDX-License-Identifier: MIT */
/* where FILE prints the functions of an object, one line each: section, offset, size,
 * name. */
#include <inttypes.h>
#include <stdio.h>

#include "include/eh2sframe.h"

int main(int argc, char **argv)
{
	struct eh2sframe_function function = {.struct_size = sizeof(function)};
	struct eh2sframe_options *options = eh2sframe_options_new();
	struct eh2sframe_error error;
	struct eh2sframe_file *file = NULL;
	struct eh2sframe_result *result;
	uint64_t offset;
	size_t section;

	if (argc == 2 && eh2sframe_options_set(options, "format", "2", &error))
		file = eh2sframe_open_path(argv[1], options, &error);
	result = file ? eh2sframe_convert(file, NULL, &error) : NULL;
	if (!result)
		return 1;
	for (size_t i = 0; eh2sframe_result_function(result, i, &function); i++) {
		const char *name = eh2sframe_result_symbol(result, function.start);

		if (eh2sframe_result_section_offset(
			result, function.start, &section, &offset))
			printf("%zu %" PRIu64 " %" PRIu64 " %s\n", section, offset,
			    function.size, name ? name : "-");
		else
			printf("nowhere 0x%" PRIx64 "\n", function.start);
	}
	eh2sframe_result_free(result);
	eh2sframe_close(file);
	eh2sframe_options_free(options);
	return 0;
}
