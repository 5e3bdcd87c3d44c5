/* SPDX-License-Identifier: MIT */
#include "profile/stacks/facts.h"

#include <elf.h>
#include <string.h>

#include "include/eh2sframe.h"

/* Closes file; why says why it is NULL. */
static bool facts_of_file(struct eh2sframe_file *file, const struct eh2sframe_error *why,
    struct facts *facts, struct err *err)
{
	struct eh2sframe_info info = {.struct_size = sizeof(info)};
	struct eh2sframe_segment at = {.struct_size = sizeof(at)};

	*facts = (struct facts){0};
	if (!file && why->status == EH2SFRAME_NO_MEMORY)
		return err_set_nomem(err);
	if (!file || !eh2sframe_file_info(file, &info)) {
		eh2sframe_close(file);
		return err_set(err, ERR_UNSUPPORTED,
		    "it is not an ELF file of a machine that has rows");
	}
	facts->entry = info.entry;
	if (info.build_id && info.build_id_size <= PROFILE_BUILD_ID_MAX) {
		facts->build_id_size = (uint32_t)info.build_id_size;
		memcpy(facts->build_id, info.build_id, info.build_id_size);
	}
	for (size_t i = 0; eh2sframe_file_segment(file, i, &at); i++) {
		if (at.type != PT_LOAD || at.memory_size > UINT64_MAX - at.address)
			continue;
		if (at.address + at.memory_size > facts->end)
			facts->end = at.address + at.memory_size;
		if (at.flags & PF_X && facts->n_parts < FACTS_MAX_PARTS)
			facts->parts[facts->n_parts++] =
			    (struct facts_part){.offset = at.offset,
				.size = at.file_size,
				.address = at.address};
	}
	eh2sframe_close(file);
	return true;
}

bool facts_read(int fd, struct facts *facts, struct err *err)
{
	struct eh2sframe_error why;
	struct eh2sframe_file *file = eh2sframe_open_fd(fd, "", NULL, &why);

	return facts_of_file(file, &why, facts, err);
}

bool facts_read_memory(
    const uint8_t *bytes, size_t size, struct facts *facts, struct err *err)
{
	struct eh2sframe_error why;
	struct eh2sframe_file *file = eh2sframe_open_memory(bytes, size, "", NULL, &why);

	return facts_of_file(file, &why, facts, err);
}

bool facts_address(const struct facts *facts, uint64_t offset, uint64_t *address)
{
	const struct facts_part *found = NULL;

	/* A mapping starts and ends with a page, a part anywhere; parts can share a page. */
	for (size_t i = 0; i < facts->n_parts; i++) {
		const struct facts_part *part = &facts->parts[i];

		if (offset - part->offset < part->size) {
			found = part;
			break;
		}
		if (!found && part->size > 0 &&
		    offset >= (part->offset & ~UINT64_C(0xfff)) &&
		    offset <= ((part->offset + part->size - 1) | UINT64_C(0xfff)))
			found = part;
	}
	if (found)
		*address = found->address + (offset - found->offset);
	return found;
}
