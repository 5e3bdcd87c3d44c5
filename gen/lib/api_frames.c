/* SPDX-License-Identifier: MIT */
/* The public interface: CFI in memory. */
#include "gen/lib/api.h"

#include "gen/sources/image_frames.h"

/* A later version's members are 0 when they ask for nothing; this one could not do it. */
static bool api_frames_known(const struct eh2sframe_frames *frames, struct err *err)
{
	const unsigned char *bytes = (const unsigned char *)frames;

	if (frames->struct_size < sizeof(*frames))
		return err_set(err, ERR_USAGE,
		    "struct_size is %zu, and struct eh2sframe_frames has %zu bytes",
		    frames->struct_size, sizeof(*frames));
	for (size_t i = sizeof(*frames); i < frames->struct_size; i++)
		if (bytes[i] != 0)
			return err_set(err, ERR_USAGE,
			    "byte %zu of struct eh2sframe_frames is not 0, and this "
			    "version knows %zu; set it to 0, or use a later libeh2sframe",
			    i, sizeof(*frames));
	return true;
}

static bool api_frames_given(
    const struct eh2sframe_frames *frames, const char *name, struct err *err)
{
	if (!api_given(frames && name && (frames->bytes || frames->size == 0), err))
		return false;
	if (!api_frames_known(frames, err))
		return false;
	if (frames->big_endian > 1)
		return err_set(err, ERR_USAGE, "big_endian is %u; set it to 0 or 1",
		    (unsigned int)frames->big_endian);
	return frames->machine <= UINT16_MAX ||
	       err_set(err, ERR_USAGE, "e_machine %u has more than 16 bits",
		   (unsigned int)frames->machine);
}

struct eh2sframe_file *eh2sframe_open_frames(const struct eh2sframe_frames *frames,
    const char *name, const struct eh2sframe_options *options,
    struct eh2sframe_error *error)
{
	struct err err = {0};
	struct eh2sframe_file *file = NULL;
	struct image_frames made;
	struct wr bytes = {0};

	if (api_frames_given(frames, name, &err)) {
		made = (struct image_frames){.cfi = {.data = frames->bytes,
						 .size = frames->size,
						 .addr = frames->address,
						 .big_endian = frames->big_endian != 0,
						 .addr_size = 8},
		    .machine = (uint16_t)frames->machine,
		    .text_start = frames->text_start,
		    .text_end = frames->text_end};
		if (image_frames_make(&made, &bytes, &err))
			file = eh2sframe_open_memory(
			    bytes.data, bytes.size, name, options, error);
		if (file) {
			file->made = bytes.data;
			return file;
		}
	}
	wr_deinit(&bytes);
	if (err.kind != ERR_NONE)
		(void)api_return(false, &err, error);
	return NULL;
}

bool eh2sframe_file_text(
    const struct eh2sframe_file *file, uint64_t *start, uint64_t *end)
{
	const struct image *image;
	bool found = false;

	if (!file || !start || !end || file->image.object)
		return false;
	image = &file->image;
	for (size_t i = 0; i < image->n_phdrs; i++) {
		const GElf_Phdr *load = &image->phdrs[i];

		if (load->p_type != PT_LOAD || !(load->p_flags & PF_X) ||
		    load->p_memsz == 0 || load->p_vaddr > UINT64_MAX - load->p_memsz)
			continue;
		if (!found || load->p_vaddr < *start)
			*start = load->p_vaddr;
		if (!found || load->p_vaddr + load->p_memsz > *end)
			*end = load->p_vaddr + load->p_memsz;
		found = true;
	}
	return found;
}
