/* SPDX-License-Identifier: MIT */
#include "gen/input/orc_source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "gen/elf/object/object.h"
#include "gen/input/symbols_read.h"

/* An executable section. */
struct orc_area {
	uint64_t start, end; /* addresses; end is exclusive */
};

/* What the records are made of, besides the tables. */
struct orc_text {
	struct orc_area *areas; /* owned; ascending */
	size_t n_areas;
	uint64_t *starts; /* owned; of functions, ascending */
	size_t n_starts;
};

static const struct image_section *find(const struct image *image, const char *name)
{
	for (size_t i = 1; i < image->n_sections; i++) {
		const struct image_section *section = &image->sections[i];

		if (section->hdr.sh_type == SHT_PROGBITS && section->hdr.sh_size &&
		    !strcmp(section->name, name))
			return section;
	}
	return NULL;
}

bool image_has_orc_source(const struct image *image)
{
	return image->ehdr.e_machine == EM_X86_64 &&
	       (find(image, ".orc_unwind") || find(image, ".orc_unwind_ip"));
}

static bool orc_bytes_of(
    const struct image *image, const char *name, struct orc_bytes *bytes, struct err *err)
{
	const struct image_section *section = find(image, name);

	*bytes = (struct orc_bytes){0};
	if (!section)
		return true;
	*bytes = (struct orc_bytes){section->data, (size_t)section->hdr.sh_size};
	return section->data ||
	       err_set(err, ERR_MALFORMED,
		   "%s (section %zu, 0x%" PRIx64 " bytes at offset 0x%" PRIx64
		   ") reaches past the end of the file; rebuild the file",
		   name, (size_t)(section - image->sections), section->hdr.sh_size,
		   section->hdr.sh_offset);
}

/* "6.1" of "6.1.0-50-amd64". */
static void orc_version(const uint8_t *text, size_t size, struct orc_input *input)
{
	unsigned int numbers[2] = {0, 0};
	size_t at = 0;

	for (int i = 0; i < 2; i++) {
		const size_t first = at;

		for (; at < size && at < first + 3 && text[at] >= '0' && text[at] <= '9';
		     at++)
			numbers[i] = numbers[i] * 10 + (unsigned int)(text[at] - '0');
		if (at == first || (i == 0 && (at >= size || text[at++] != '.')))
			return;
	}
	input->major = numbers[0];
	input->minor = numbers[1];
}

/* Looks for words that a version follows. */
static void orc_version_in(
    const struct image_section *section, const char *words, struct orc_input *input)
{
	const size_t length = strlen(words);
	const uint8_t *at = section->data;
	size_t left = (size_t)section->hdr.sh_size;

	while (!input->major && left > length) {
		const uint8_t *found = memmem(at, left, words, length);

		if (!found)
			return;
		left -= (size_t)(found + length - at);
		at = found + length;
		orc_version(at, left, input);
	}
}

/* A module says it in .modinfo, a kernel in the line that it prints first. */
static void find_version(const struct image *image, struct orc_input *input)
{
	for (size_t i = 1; !input->major && i < image->n_sections; i++) {
		const struct image_section *section = &image->sections[i];

		if (!section->data || !(section->hdr.sh_flags & SHF_ALLOC) ||
		    section->hdr.sh_flags & SHF_EXECINSTR)
			continue;
		if (!strcmp(section->name, ".modinfo"))
			orc_version_in(section, "vermagic=", input);
		else if (!image->object)
			orc_version_in(section, "Linux version ", input);
	}
}

static bool find_tables(
    const struct image *image, struct orc_input *input, struct err *err)
{
	const struct image_section *ips = find(image, ".orc_unwind_ip");

	if (!orc_bytes_of(image, ".orc_unwind_ip", &input->ips, err) ||
	    !orc_bytes_of(image, ".orc_unwind", &input->entries, err) ||
	    !orc_bytes_of(image, ".orc_header", &input->header, err))
		return false;
	if (ips)
		input->ips_addr = ips->hdr.sh_addr;
	if (image->object && image->object->orc.err.kind) {
		*err = image->object->orc.err;
		return false;
	}
	if (image->object && ips)
		input->ips.data = image->object->orc.data;
	if (!input->header.data)
		find_version(image, input);
	return true;
}

static bool read_areas(const struct image *image, struct orc_text *text)
{
	text->areas = calloc(image->n_sections + 1, sizeof(*text->areas));
	if (!text->areas)
		return false;
	for (size_t i = 1; i < image->n_sections; i++) {
		const struct image_section *section = &image->sections[i];
		const GElf_Shdr *hdr = &section->hdr;
		uint64_t end;

		if (section->data && hdr->sh_flags & SHF_ALLOC &&
		    hdr->sh_flags & SHF_EXECINSTR &&
		    !__builtin_add_overflow(hdr->sh_addr, hdr->sh_size, &end))
			text->areas[text->n_areas++] =
			    (struct orc_area){hdr->sh_addr, end};
	}
	if (text->n_areas)
		qsort(text->areas, text->n_areas, sizeof(*text->areas), search_order);
	return true;
}

static bool read_starts(const struct image *image, struct orc_text *text, struct err *err)
{
	struct symbols symbols = {0};
	bool ok = symbols_read(image, &symbols, err);

	if (ok && symbols.n) {
		text->starts = calloc(symbols.n, sizeof(*text->starts));
		ok = text->starts || err_set_nomem(err);
	}
	/* A label of hand-written code can be in the middle of a function. */
	for (size_t i = 0; ok && i < symbols.n; i++)
		if (symbols.list[i].rank < SYMBOL_UNTYPED)
			text->starts[text->n_starts++] = symbols.list[i].addr;
	symbols_deinit(&symbols);
	return ok;
}

static uint64_t area_end(const void *context, uint64_t pc)
{
	const struct orc_text *text = context;
	const size_t after = search_list_above(text->areas, text->n_areas, start, pc);

	return after && text->areas[after - 1].end > pc ? text->areas[after - 1].end : 0;
}

bool image_orc_source(
    const struct image *image, struct orc_source *source, struct err *err)
{
	struct orc_text text = {0};
	struct orc_input input = {0};
	struct orc_table table = {0};
	struct orc_code code = {.end = area_end, .context = &text};
	bool ok;

	*source = (struct orc_source){0};
	if (!image_has_orc_source(image))
		return true;
	source->present = true;
	ok = find_tables(image, &input, err) && orc_table_read(&input, &table, err) &&
	     read_starts(image, &text, err) &&
	     (read_areas(image, &text) || err_set_nomem(err));
	source->size = input.ips.size + input.entries.size;
	source->n_entries = input.entries.size / ORC_ENTRY_BYTES;
	source->layout = table.layout;
	code.starts = text.starts;
	code.n_starts = text.n_starts;
	ok = ok && orc_cfi_make(&table, &code, &source->cfi, err);
	free(text.areas);
	free(text.starts);
	orc_table_deinit(&table);
	if (!ok)
		image_orc_source_deinit(source);
	return ok;
}

void image_orc_source_deinit(struct orc_source *source)
{
	orc_cfi_deinit(&source->cfi);
	*source = (struct orc_source){0};
}
