/* SPDX-License-Identifier: MIT */
/*
 * An object that was written, against the input: what was there is there, byte for byte,
 * and the way back is complete. The proof finds out if the new sections are right.
 */
#include <inttypes.h>
#include <string.h>

#include "gen/elf/object/internal.h"
#include "gen/object/write.h"
#include "gen/insert/undo.h"
#include "gen/insert/internal.h"

/* A breach is this program's fault, whatever the input. */
static bool check_off(struct err *err, const char *what, size_t i)
{
	return err_set(err, ERR_INTERNAL, "the written object is wrong: %s %zu", what, i);
}

/* True if a section that grew begins with its old bytes. */
static bool check_grown(
    const struct image_section *before, const struct image_section *after)
{
	return before->data && after->data && after->hdr.sh_size > before->hdr.sh_size &&
	       memcmp(before->data, after->data, (size_t)before->hdr.sh_size) == 0;
}

/* Compares the bytes of section header i, without offset and size if the section may move. */
static bool check_header_bytes(
    const struct image *input, const struct image *written, size_t i, bool moves)
{
	const uint8_t *a = input->bytes + input->ehdr.e_shoff + i * INSERT_SHDR_SIZE;
	const uint8_t *b = written->bytes + written->ehdr.e_shoff + i * INSERT_SHDR_SIZE;

	if (!moves)
		return memcmp(a, b, INSERT_SHDR_SIZE) == 0;
	/* sh_offset and sh_size are 16 bytes from 24 on. */
	return memcmp(a, b, 24) == 0 &&
	       memcmp(a + 40, b + 40, INSERT_SHDR_SIZE - 40) == 0;
}

/* Sections keep their numbers, by which everything else refers to them. */
static bool check_old_sections(const struct image *input,
    const struct object_output *output, const struct image *written, struct err *err)
{
	bool many = written->n_sections >= SHN_LORESERVE;

	if (written->n_sections != input->n_sections + 2 * output->n_sframes)
		return check_off(err, "number of sections", (size_t)written->n_sections);
	for (size_t i = 0; i < input->n_sections; i++) {
		const struct image_section *before = &input->sections[i],
					   *after = &written->sections[i];
		bool grown = i == input->names ||
			     (before->hdr.sh_type == SHT_GROUP &&
				 before->hdr.sh_offset != after->hdr.sh_offset);

		if (!check_header_bytes(input, written, i, grown || (many && i == 0)) ||
		    (grown && !check_grown(before, after)) ||
		    strcmp(before->name, after->name) != 0)
			return check_off(err, "section", i);
	}
	return true;
}

/* The bytes that were proven are those of the file; where they belong is what the linker
 * will go by. */
static bool check_new_sframe(const struct object_output *output, size_t i, size_t n_old,
    const struct image *written)
{
	const struct object_sframe *want = &output->sframes[i];
	const struct image_section *sframe = &written->sections[n_old + 2 * i],
				   *rela = sframe + 1;
	const struct object_user *users = written->object->users;

	return strcmp(sframe->name, ".sframe") == 0 &&
	       strcmp(rela->name, ".rela.sframe") == 0 && sframe->data && rela->data &&
	       sframe->hdr.sh_size == want->bytes.size &&
	       memcmp(sframe->data, want->bytes.data, want->bytes.size) == 0 &&
	       rela->hdr.sh_size == want->n * OBJECT_RELA_SIZE &&
	       rela->hdr.sh_info == n_old + 2 * i && sframe->hdr.sh_link == want->text &&
	       users[n_old + 2 * i].group == want->group &&
	       users[n_old + 2 * i + 1].group == want->group;
}

bool object_check(const struct image *input, const struct object_output *output,
    const struct image *written, struct err *err)
{
	const uint8_t *before = input->bytes, *after = written->bytes;
	struct undo undo;
	bool found;

	if (written->size < input->size ||
	    memcmp(before + INSERT_EHDR_SIZE, after + INSERT_EHDR_SIZE,
		input->size - INSERT_EHDR_SIZE) != 0)
		return check_off(err, "original bytes, size", input->size);
	/* e_shoff and e_shnum are all of the header that may change. */
	if (memcmp(before, after, 40) != 0 || memcmp(before + 48, after + 48, 12) != 0 ||
	    memcmp(before + 62, after + 62, 2) != 0)
		return check_off(err, "ELF header, size", INSERT_EHDR_SIZE);
	if (!check_old_sections(input, output, written, err))
		return false;
	for (size_t i = 0; i < output->n_sframes; i++)
		if (!check_new_sframe(output, i, input->n_sections, written))
			return check_off(err, ".sframe section", i);
	if (!undo_find(written, &undo, &found, err)) {
		err->kind = err->kind == ERR_NOMEM ? ERR_NOMEM : ERR_INTERNAL;
		return false;
	}
	if (!found || undo.size != input->size)
		return check_off(err, "undo record, size", input->size);
	return true;
}
