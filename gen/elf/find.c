/* SPDX-License-Identifier: MIT */
/* Looks things up in an open image: sections, addresses, .eh_frame and .sframe. */
#include "gen/elf/image.h"

#include <inttypes.h>
#include <string.h>

#include "base/num.h"
#include "base/rd.h"
#include "cfi/pointer.h"

#define EH_FRAME_HDR_VERSION 1

/* Linear: it is asked for a handful of names per file, and the names of a damaged table
 * repeat. */
const struct image_section *image_section_find(
    const struct image *image, const char *name)
{
	for (size_t i = 0; i < image->n_sections; i++) {
		const struct image_section *section = &image->sections[i];

		if (section->data && strcmp(section->name, name) == 0)
			return section;
	}
	return NULL;
}

/* Returns the file bytes from addr to the end of those its PT_LOAD has, NULL when addr has none. */
static const uint8_t *bytes_from_addr(
    const struct image *image, uint64_t addr, uint64_t *len)
{
	for (size_t i = 0; i < image->n_phdrs; i++) {
		const GElf_Phdr *phdr = &image->phdrs[i];
		uint64_t into = addr - phdr->p_vaddr;

		if (phdr->p_type != PT_LOAD || addr < phdr->p_vaddr ||
		    into >= phdr->p_filesz ||
		    !num_range_inside(phdr->p_offset, phdr->p_filesz, image->size))
			continue;
		*len = phdr->p_filesz - into;
		return image->bytes + phdr->p_offset + into;
	}
	return NULL;
}

const uint8_t *image_segment_bytes(const struct image *image, const GElf_Phdr *phdr)
{
	return num_range_inside(phdr->p_offset, phdr->p_filesz, image->size)
		   ? image->bytes + phdr->p_offset
		   : NULL;
}

/*
 * A range that crosses from one segment into the next is not one piece of the file even
 * where the two touch in memory, so it is refused.
 */
const uint8_t *image_at_addr(const struct image *image, uint64_t addr, uint64_t len)
{
	uint64_t there;
	const uint8_t *bytes = bytes_from_addr(image, addr, &there);

	return bytes && len <= there ? bytes : NULL;
}

/*
 * Memory size, not file size: code is never zero-filled in practice, but the loader maps
 * it executable all the same, and that is what is asked.
 */
const GElf_Phdr *image_code_segment(
    const struct image *image, uint64_t addr, uint64_t len)
{
	for (size_t i = image->first_code; i < image->n_phdrs; i++) {
		const GElf_Phdr *phdr = &image->phdrs[i];

		if (phdr->p_type == PT_LOAD && phdr->p_flags & PF_X &&
		    addr >= phdr->p_vaddr &&
		    num_range_inside(addr - phdr->p_vaddr, len, phdr->p_memsz))
			return phdr;
	}
	return NULL;
}

bool image_section_cut(const struct image *image, size_t i, struct err *err)
{
	const struct image_section *section = &image->sections[i];

	return err_set(err, ERR_MALFORMED,
	    "section %zu (%.60s, 0x%" PRIx64 " bytes at offset 0x%" PRIx64
	    ") reaches past the end of the file (0x%zx): truncated or damaged; rebuild "
	    "the file or copy it again",
	    i, section->name, section->hdr.sh_size, section->hdr.sh_offset, image->size);
}

bool image_section_inside(const struct image *image, size_t i, struct err *err)
{
	const struct image_section *section = &image->sections[i];
	const GElf_Shdr *hdr = &section->hdr;

	return section->data || hdr->sh_type == SHT_NULL || hdr->sh_type == SHT_NOBITS ||
	       !hdr->sh_size || image_section_cut(image, i, err);
}

bool image_is_zero(const struct image *image, uint64_t off, uint64_t end)
{
	for (; off < end; off++)
		if (image->bytes[off])
			return false;
	return true;
}

bool image_is_plt_name(const char *name)
{
	return !strncmp(name, ".plt", 4) || !strcmp(name, ".iplt");
}

const GElf_Phdr *image_segment_find(const struct image *image, uint32_t type)
{
	for (size_t i = 0; i < image->n_phdrs; i++)
		if (image->phdrs[i].p_type == type)
			return &image->phdrs[i];
	return NULL;
}

/*
 * Through the segment and not the section .dynamic: it is what the dynamic loader reads,
 * and it is there when the section headers are gone. An entry cut off by the end counts
 * as the end.
 */
bool image_dynamic(const struct image *image, int64_t tag, uint64_t *value)
{
	const GElf_Phdr *phdr = image_segment_find(image, PT_DYNAMIC);
	struct rd rd;

	if (!phdr || !num_range_inside(phdr->p_offset, phdr->p_filesz, image->size))
		return false;
	rd_init(&rd, image->bytes + phdr->p_offset, (size_t)phdr->p_filesz,
	    image->big_endian);
	while (!rd_at_end(&rd)) {
		int64_t entry_tag = rd_s64(&rd);
		uint64_t entry_value = rd_u64(&rd);

		if (rd.failed || entry_tag == DT_NULL)
			return false;
		if (entry_tag == tag) {
			*value = entry_value;
			return true;
		}
	}
	return false;
}

/* True if the entry point may be one that a linker gave: the start of .text, in a library
 * without one. Older loaders have it there, too. */
static bool entry_is_start(const struct image *image)
{
	for (size_t i = 1; i < image->n_sections; i++)
		if (image->sections[i].hdr.sh_flags & SHF_EXECINSTR &&
		    image->sections[i].hdr.sh_addr == image->ehdr.e_entry)
			return true;
	return !image->n_sections;
}

/* True if the file's dynamic strings have a name that debuggers look for in a loader. */
static bool has_debugger_names(const struct image *image)
{
	static const char *const names[] = {
	    "_r_debug", "_dl_debug_addr", "_dl_debug_state"};
	uint64_t addr, size;
	const uint8_t *strings;

	if (!image_dynamic(image, DT_STRTAB, &addr) ||
	    !image_dynamic(image, DT_STRSZ, &size))
		return false;
	strings = image_at_addr(image, addr, size);
	for (size_t i = 0; strings && i < sizeof(names) / sizeof(*names); i++)
		if (memmem(strings, (size_t)size, names[i], strlen(names[i]) + 1))
			return true;
	return false;
}

bool image_is_loader(const struct image *image)
{
	uint64_t value = 0;

	return image->ehdr.e_type == ET_DYN && image->ehdr.e_entry &&
	       !image_segment_find(image, PT_INTERP) &&
	       !image_dynamic(image, DT_NEEDED, &value) &&
	       !(image_dynamic(image, DT_FLAGS_1, &value) && value & DF_1_PIE) &&
	       (!entry_is_start(image) || has_debugger_names(image));
}

/* Zeros between two sections, a terminator among them, are no more than this. */
#define MAX_GAP 16

/*
 * True if another .eh_frame begins here. It begins with a CIE: its length, the id 0, a
 * version, and letters of augmentations that exist.
 */
static bool is_cie(struct rd rd)
{
	uint32_t len = rd_u32(&rd), id;
	uint8_t version, letter;

	if (!rd_has(&rd, len))
		return false;
	rd.size = rd.pos + len;
	id = rd_u32(&rd);
	version = rd_u8(&rd);
	/* Each byte is read once: another program may write to them. */
	do
		letter = rd_u8(&rd);
	while (letter && strchr("zRPLSBGeh", letter));
	return !rd.failed && id == 0 && !letter &&
	       (version == 1 || version == 3 || version == 4);
}

/*
 * Nothing but a zero length says where a section found by address ends: libgcc stops
 * there, too. But another section may follow. Without a zero length, or when a length leads
 * out of the segment first, the whole rest is handed on.
 */
static size_t size_to_terminator(const uint8_t *data, size_t size, bool big_endian)
{
	size_t end = 0;
	struct rd rd;

	rd_init(&rd, data, size, big_endian);
	while (!rd_at_end(&rd)) {
		uint64_t len = rd_u32(&rd);

		if (!rd.failed && len == 0) {
			end = end ? end : rd.pos;
			if (is_cie(rd))
				end = 0;
			else if (rd.pos - end >= MAX_GAP)
				return end;
			continue;
		}
		if (end)
			return end;
		if (len == UINT32_MAX)
			len = rd_u64(&rd);
		rd_skip(&rd, len);
	}
	return end ? end : size;
}

/* Finds .eh_frame through .eh_frame_hdr (LSB core, "Exception Frame Header"): version,
 * encodings, eh_frame_ptr. */
static bool eh_frame_by_segment(
    const struct image *image, struct cfi_section *section, bool *found, struct err *err)
{
	const GElf_Phdr *phdr = image_segment_find(image, PT_GNU_EH_FRAME);
	struct cfi_section hdr = {.big_endian = image->big_endian, .addr_size = 8};
	struct cfi_pointer start;
	struct rd rd;
	uint8_t version, encoding;
	uint64_t len;

	if (!phdr || !phdr->p_filesz)
		return true;
	if (!num_range_inside(phdr->p_offset, phdr->p_filesz, image->size))
		return err_set(err, ERR_MALFORMED,
		    "PT_GNU_EH_FRAME (0x%" PRIx64 " bytes at offset 0x%" PRIx64
		    ") reaches past the end of the file",
		    phdr->p_filesz, phdr->p_offset);
	hdr.data = image->bytes + phdr->p_offset;
	hdr.size = (size_t)phdr->p_filesz;
	hdr.addr = hdr.data_base = phdr->p_vaddr;
	hdr.has_data_base = true;
	rd_init(&rd, hdr.data, hdr.size, hdr.big_endian);
	version = rd_u8(&rd);
	encoding = rd_u8(&rd);
	rd_skip(&rd, 2);
	if (rd.failed || version != EH_FRAME_HDR_VERSION)
		return err_set(err, ERR_MALFORMED,
		    ".eh_frame_hdr at offset 0x%" PRIx64 ": version %u is not 1",
		    phdr->p_offset, version);
	if (encoding == DW_EH_PE_omit)
		return true;
	start = cfi_pointer_read(&rd, &hdr, encoding, 0);
	section->data = start.status == CFI_POINTER_OK
			    ? bytes_from_addr(image, start.value, &len)
			    : NULL;
	if (!section->data)
		return err_set(err, ERR_MALFORMED,
		    ".eh_frame_hdr at offset 0x%" PRIx64
		    ": eh_frame_ptr (encoding 0x%x, value "
		    "0x%" PRIx64 ") does not point into the file",
		    phdr->p_offset, encoding, start.value);
	section->size = size_to_terminator(section->data, (size_t)len, image->big_endian);
	section->addr = start.value;
	*found = true;
	return image_own(image, section->data, section->size, err);
}

bool image_is_eh_frame(const struct image_section *section)
{
	return strcmp(section->name, ".eh_frame") == 0 && section->hdr.sh_size &&
	       (section->hdr.sh_type == SHT_PROGBITS ||
		   section->hdr.sh_type == IMAGE_SHT_X86_64_UNWIND);
}

bool image_eh_frame_readable(const struct image *image, size_t i, struct err *err)
{
	const struct image_section *section = &image->sections[i];

	if (!section->data)
		return image_section_cut(image, i, err);
	if (section->hdr.sh_flags & SHF_COMPRESSED)
		return err_set(err, ERR_UNSUPPORTED,
		    ".eh_frame (section %zu) is compressed, which no %s reads", i,
		    image->ehdr.e_type == ET_REL ? "linker" : "loader");
	return true;
}

bool image_eh_frame_mapped(const struct image *image, size_t i, struct err *err)
{
	const struct image_section *section = &image->sections[i];

	return image_is_debug_only(image) ||
	       image_at_addr(image, section->hdr.sh_addr, section->hdr.sh_size) ==
		   section->data ||
	       err_set(err, ERR_MALFORMED,
		   ".eh_frame (section %zu): no segment maps its bytes to its address "
		   "0x%" PRIx64,
		   i, section->hdr.sh_addr);
}

bool image_is_loaded_eh_frame(const struct image_section *section)
{
	return image_is_eh_frame(section) && section->hdr.sh_flags & SHF_ALLOC;
}

/* Finds the named section whose bytes matter; *ret is NULL when there is none or it is empty. */
static bool eh_frame_by_section(
    const struct image *image, const struct image_section **ret, struct err *err)
{
	bool named = false;

	*ret = NULL;
	for (size_t i = 0; i < image->n_sections; i++) {
		const struct image_section *section = &image->sections[i];

		named |= *section->name != '\0';
		if (!image_is_loaded_eh_frame(section))
			continue;
		if (!image_eh_frame_readable(image, i, err) ||
		    !image_eh_frame_mapped(image, i, err))
			return false;
		*ret = section;
		return true;
	}
	/* Without names, .eh_frame may be there unseen. */
	if (!named && image->n_sections > 1)
		return err_set(err, ERR_MALFORMED,
		    "no section has a readable name (e_shstrndx is %u), so .eh_frame "
		    "cannot be found",
		    image->ehdr.e_shstrndx);
	return true;
}

/* A section is believed over the segment, because it has an end; the segment only has a
 * start. */
bool image_linked_eh_frame(const struct image *image, struct cfi_section *section,
    bool *found, uint64_t *hdr_size, struct err *err)
{
	const struct image_section *by_name,
	    *hdr = image_section_find(image, ".eh_frame_hdr");
	const GElf_Phdr *phdr = image_segment_find(image, PT_GNU_EH_FRAME);

	*section = (struct cfi_section){.big_endian = image->big_endian, .addr_size = 8};
	*found = false;
	if (hdr_size)
		*hdr_size = hdr ? hdr->hdr.sh_size : phdr ? phdr->p_filesz : 0;
	/* With section headers a missing .eh_frame is missing: in a separate debug file
	 * the segment's range is some other part of the file. */
	if (image->cfi.data) {
		section->data = image->cfi.data;
		section->size = image->cfi.size;
		section->gaps = image->cfi.gaps;
		section->addr = image->cfi.addr;
		*found = true;
		return true;
	}
	if (!image->n_sections)
		return eh_frame_by_segment(image, section, found, err);
	if (!eh_frame_by_section(image, &by_name, err))
		return false;
	if (by_name) {
		section->data = by_name->data;
		section->size = (size_t)by_name->hdr.sh_size;
		section->addr = by_name->hdr.sh_addr;
		*found = true;
	}
	return true;
}

bool image_is_sframe(const struct image_section *section)
{
	return section->hdr.sh_type == IMAGE_SHT_GNU_SFRAME ||
	       strcmp(section->name, ".sframe") == 0;
}

/* False if a reader in memory finds other bytes at the address. One that no segment maps has no such reader, as objcopy adds it, at 0. */
static bool sframe_is_what_is_loaded(const struct image *image, const uint8_t *data,
    size_t size, uint64_t addr, struct err *err)
{
	return !addr || !image_at_addr(image, addr, 1) ||
	       image_at_addr(image, addr, size) == data || image_is_debug_only(image) ||
	       err_set(err, ERR_MALFORMED,
		   ".sframe: other bytes of the file are loaded at its address 0x%" PRIx64
		   "; objcopy --remove-section .sframe makes room for another",
		   addr);
}

/*
 * By section first, as readelf and libsframe do; a file with section headers but without
 * the section has a PT_GNU_SFRAME that some tool left behind over other bytes.
 */
bool image_linked_sframe(const struct image *image, const uint8_t **data, size_t *size,
    uint64_t *addr, struct err *err)
{
	const GElf_Phdr *phdr = image_segment_find(image, IMAGE_PT_GNU_SFRAME);

	*data = NULL;
	*size = 0;
	*addr = 0;
	for (size_t i = 0; i < image->n_sections; i++) {
		const struct image_section *section = &image->sections[i];

		if (!image_is_sframe(section) || !section->hdr.sh_size ||
		    section->hdr.sh_type == SHT_NOBITS)
			continue;
		if (!section->data)
			return image_section_cut(image, i, err);
		*data = section->data;
		*size = (size_t)section->hdr.sh_size;
		*addr = section->hdr.sh_addr;
		return sframe_is_what_is_loaded(image, *data, *size, *addr, err);
	}
	if (image->n_sections || !phdr || !phdr->p_filesz)
		return true;
	if (!num_range_inside(phdr->p_offset, phdr->p_filesz, image->size))
		return err_set(err, ERR_MALFORMED,
		    "PT_GNU_SFRAME (0x%" PRIx64 " bytes at offset 0x%" PRIx64
		    ") reaches past the end of the file",
		    phdr->p_filesz, phdr->p_offset);
	*data = image->bytes + phdr->p_offset;
	*size = (size_t)phdr->p_filesz;
	*addr = phdr->p_vaddr;
	return sframe_is_what_is_loaded(image, *data, *size, *addr, err);
}

uint64_t image_first_code(const struct image *image)
{
	uint64_t start = UINT64_MAX;

	for (size_t i = 0; i < image->n_sections; i++) {
		const GElf_Shdr *hdr = &image->sections[i].hdr;

		if (hdr->sh_flags & SHF_ALLOC && hdr->sh_flags & SHF_EXECINSTR &&
		    hdr->sh_addr < start)
			start = hdr->sh_addr;
	}
	for (size_t i = 0; start == UINT64_MAX && i < image->n_phdrs; i++)
		if (image->phdrs[i].p_type == PT_LOAD && image->phdrs[i].p_flags & PF_X)
			return image->phdrs[i].p_vaddr;
	return start;
}
