/* SPDX-License-Identifier: MIT */
#include "tests/bench/compare/file.h"

#include <string.h>

static bool file_code(const void *context, uint64_t addr, uint8_t *bytes, size_t size)
{
	const uint8_t *code = image_at_addr(context, addr, size);

	if (code)
		memcpy(bytes, code, size);
	return code;
}

static uint64_t file_base(const struct image *image)
{
	uint64_t base = UINT64_MAX;

	for (size_t i = 0; i < image->n_phdrs; i++)
		if (image->phdrs[i].p_type == PT_LOAD && image->phdrs[i].p_vaddr < base)
			base = image->phdrs[i].p_vaddr;
	return base;
}

static struct formats_input file_input(const struct formats_file *file)
{
	const struct arch *arch = file->cfi.arch;

	return (struct formats_input){.frames = &file->cfi.frames,
	    .ranges = &file->cfi.ranges,
	    .machine = {.isa = arch->sframe_abi == SFRAME_ABI_AMD64_ENDIAN_LITTLE
				   ? FORMATS_X86_64
			       : arch->sframe_abi == SFRAME_ABI_S390X_ENDIAN_BIG
				   ? FORMATS_S390X
				   : FORMATS_AARCH64,
		.cfi = arch->cfi,
		.ra_reg = arch->ra_reg,
		.sp_from_cfa = arch->sp_from_cfa,
		.sp_saved = arch->sp_saved,
		.big_endian = arch->big_endian},
	    .base = file_base(&file->image),
	    .code = file_code,
	    .context = &file->image};
}

bool formats_file_open(struct formats_file *file, const char *path, struct err *err)
{
	*file = (struct formats_file){0};
	options_init(&file->options);
	if (!image_open(path, &file->image, err))
		return false;
	if (file->image.object)
		return err_set(err, ERR_UNSUPPORTED, "%s: a relocatable object", path);
	if (!cfi_input_read(&file->image, &file->image, &file->options, &file->cfi, err))
		return false;
	file->input = file_input(file);
	return true;
}

void formats_file_close(struct formats_file *file)
{
	cfi_input_deinit(&file->cfi);
	image_close(&file->image);
	options_deinit(&file->options);
}
