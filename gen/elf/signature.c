/* SPDX-License-Identifier: MIT */
/*
 * The signature of a kernel module stands behind the file, and no section knows of it
 * (Linux, Documentation/admin-guide/module-signing.rst): the signature, 12 bytes about
 * it of which the last four are its length, and a line of text.
 */
#include <inttypes.h>
#include <string.h>

#include "base/rd.h"
#include "gen/elf/image.h"

static const char signature_mark[] = "~Module signature appended~\n";

enum { MARK_SIZE = sizeof(signature_mark) - 1, ABOUT_SIZE = 12, LENGTH_OFF = 8 };

bool image_signature(const struct image *image, size_t *size, struct err *err)
{
	uint32_t length;
	struct rd rd;

	*size = 0;
	if (image->size < MARK_SIZE + ABOUT_SIZE ||
	    memcmp(image->bytes + image->size - MARK_SIZE, signature_mark, MARK_SIZE) !=
		0)
		return true;
	/* Big-endian whatever the machine. */
	rd_init(&rd, image->bytes, image->size, true);
	rd_seek(&rd, image->size - MARK_SIZE - ABOUT_SIZE + LENGTH_OFF);
	length = rd_u32(&rd);
	if (length > image->size - MARK_SIZE - ABOUT_SIZE)
		return err_set(err, ERR_MALFORMED,
		    "the module signature at the end claims 0x%" PRIx32
		    " bytes, more than the file; remove it or sign the module again",
		    length);
	*size = MARK_SIZE + ABOUT_SIZE + length;
	return true;
}
