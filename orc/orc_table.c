/* SPDX-License-Identifier: MIT */
#include "orc/orc_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/rd.h"
#include "base/search.h"

/* The hashes that kernels have (scripts/orc_hash.sh), from Linux 6.5 on. */
static const struct {
	uint8_t hash[ORC_HEADER_BYTES];
	enum orc_layout layout;
} hashes[] = {
    {{0xfe, 0x5d, 0x32, 0xbf, 0x58, 0x1b, 0xd6, 0x3b, 0x2c, 0xa9, 0xa5, 0xc6, 0x5b, 0xa5,
	 0xa6, 0x25, 0xea, 0xb3, 0xfe, 0x24},
	ORC_6_4},
    {{0x13, 0x7c, 0x36, 0xad, 0x76, 0x27, 0xc4, 0xdd, 0x55, 0x93, 0x21, 0x76, 0xbb, 0x0e,
	 0xcd, 0xbd, 0x50, 0x41, 0xfc, 0x82},
	ORC_7_1},
};

enum { N_HASHES = sizeof(hashes) / sizeof(hashes[0]) };

/* A version of Linux as a number that can be compared. */
#define VERSION(major, minor) ((major)*1000u + (minor))

const char *orc_layout_name(enum orc_layout layout)
{
	static const char *const names[ORC_N_LAYOUTS] = {
	    [ORC_4_14] = "Linux 4.14",
	    [ORC_6_3] = "Linux 6.3",
	    [ORC_6_4] = "Linux 6.4",
	    [ORC_7_1] = "Linux 7.1",
	};

	return names[layout];
}

static bool layout_by_header(
    const struct orc_input *input, struct orc_table *table, struct err *err)
{
	const struct orc_bytes *header = &input->header;

	if (header->size != ORC_HEADER_BYTES)
		return err_set(err, ERR_MALFORMED,
		    "%zu bytes are not the hash of an ORC layout, .orc_header+0x0; "
		    "rebuild the file",
		    header->size);
	for (int i = 0; i < N_HASHES; i++) {
		if (memcmp(header->data, hashes[i].hash, ORC_HEADER_BYTES) != 0)
			continue;
		table->layout = hashes[i].layout;
		return true;
	}
	return err_set(err, ERR_UNSUPPORTED,
	    "the layout of the ORC tables is not known, with the hash "
	    "%02x%02x%02x%02x..., "
	    ".orc_header+0x0; a newer eh2sframe may know it",
	    header->data[0], header->data[1], header->data[2], header->data[3]);
}

/* Kernels without .orc_header. Others have taken layouts into old versions, so what is read
 * must look like it. */
static bool layout_by_version(
    const struct orc_input *input, struct orc_table *table, struct err *err)
{
	const unsigned int version = VERSION(input->major, input->minor);

	if (!version)
		return err_set(err, ERR_UNSUPPORTED,
		    "the version of the ORC tables is not known, without .orc_header, "
		    "vermagic and \"Linux version\", .orc_unwind+0x0; read the linked "
		    "module or vmlinux");
	if (version < VERSION(4, 14) || version >= VERSION(6, 5))
		return err_set(err, ERR_UNSUPPORTED,
		    "the layout of the ORC tables of Linux %u.%u without .orc_header is "
		    "not known, .orc_unwind+0x0; a newer eh2sframe may know it",
		    input->major, input->minor);
	table->layout = version >= VERSION(6, 4)   ? ORC_6_4
			: version >= VERSION(6, 3) ? ORC_6_3
						   : ORC_4_14;
	table->sp_indirect_known = version >= VERSION(5, 13);
	return true;
}

static void entry_at(
    const struct orc_table *table, size_t number, struct orc_entry *entry)
{
	orc_read(
	    table->layout, table->input.entries.data + number * ORC_ENTRY_BYTES, entry);
}

void orc_table_entry(const struct orc_table *table, size_t i, struct orc_entry *entry)
{
	entry_at(table, table->places[i].entry, entry);
}

static bool is_nothing(const struct orc_table *table, size_t number)
{
	struct orc_entry entry;

	entry_at(table, number, &entry);
	return entry.type == ORC_NOTHING;
}

static bool same_entry(const struct orc_table *table, size_t a, size_t b)
{
	const uint8_t *data = table->input.entries.data;

	return !memcmp(
	    data + a * ORC_ENTRY_BYTES, data + b * ORC_ENTRY_BYTES, ORC_ENTRY_BYTES);
}

static bool load_places(struct orc_table *table)
{
	const struct orc_input *input = &table->input;
	bool sorted = true;
	struct rd rd;

	table->n = input->ips.size / ORC_IP_BYTES;
	table->places = calloc(table->n, sizeof(*table->places));
	if (!table->places)
		return false;
	rd_init(&rd, input->ips.data, input->ips.size, false);
	for (size_t i = 0; i < table->n; i++) {
		struct orc_place *place = &table->places[i];

		place->pc = input->ips_addr + rd.pos;
		place->pc += (uint64_t)(int64_t)rd_s32(&rd);
		place->entry = i;
		sorted &= !i || place->pc >= place[-1].pc;
	}
	/* The kernel sorts the tables of modules, and linkers of old kernels did not sort. */
	if (!sorted)
		qsort(table->places, table->n, sizeof(*table->places), search_order);
	return true;
}

/* Where one section ends and the next one begins, the end says nothing. Otherwise one address has
 * one entry. */
static bool settle_places(struct orc_table *table, struct err *err)
{
	size_t n = 0;

	for (size_t i = 0; i < table->n; i++) {
		const struct orc_place place = table->places[i];
		struct orc_place *last = n ? &table->places[n - 1] : NULL;

		if (!last || last->pc != place.pc)
			table->places[n++] = place;
		else if (is_nothing(table, last->entry))
			last->entry = place.entry;
		else if (!is_nothing(table, place.entry) &&
			 !same_entry(table, last->entry, place.entry))
			return err_set(err, ERR_MALFORMED,
			    "two entries of ORC are for the code at 0x%" PRIx64
			    ", .orc_unwind_ip+0x%zx; rebuild the file",
			    place.pc,
			    (place.entry > last->entry ? place.entry : last->entry) *
				ORC_IP_BYTES);
	}
	table->n = n;
	return true;
}

/* Most code is left by a return. In another layout its entries would say something else. */
static bool looks_right(const struct orc_table *table, struct err *err)
{
	size_t calls = 0, others = 0;

	for (size_t i = 0; i < table->n; i++) {
		struct orc_entry entry;

		orc_table_entry(table, i, &entry);
		calls += entry.type == ORC_CALL;
		others += entry.type != ORC_CALL && entry.type != ORC_NOTHING;
	}
	return calls >= others || err_set(err, ERR_UNSUPPORTED,
				      "the ORC tables do not have the layout of Linux "
				      "%u.%u, .orc_unwind+0x0; "
				      "a newer eh2sframe may know it",
				      table->input.major, table->input.minor);
}

static bool sizes_agree(const struct orc_input *input, struct err *err)
{
	const size_t n = input->ips.size / ORC_IP_BYTES,
		     whole = input->entries.size / ORC_ENTRY_BYTES,
		     pairs = n < whole ? n : whole;
	const bool behind = input->entries.size > pairs * ORC_ENTRY_BYTES;

	if (input->ips.size % ORC_IP_BYTES == 0 &&
	    input->entries.size % ORC_ENTRY_BYTES == 0 && whole == n)
		return true;
	/* The first bytes that the other section has no entry for. */
	return err_set(err, ERR_MALFORMED,
	    "0x%zx bytes of .orc_unwind_ip and 0x%zx bytes of .orc_unwind are not one "
	    "table, "
	    "%s+0x%zx; rebuild the file",
	    input->ips.size, input->entries.size,
	    behind ? ".orc_unwind" : ".orc_unwind_ip",
	    pairs * (behind ? ORC_ENTRY_BYTES : ORC_IP_BYTES));
}

bool orc_table_read(
    const struct orc_input *input, struct orc_table *table, struct err *err)
{
	bool ok;

	*table = (struct orc_table){.input = *input, .sp_indirect_known = true};
	if (!(input->header.data ? layout_by_header(input, table, err)
				 : layout_by_version(input, table, err)) ||
	    !sizes_agree(input, err))
		return false;
	if (!input->ips.size)
		return true;
	ok = load_places(table) || err_set_nomem(err);
	if (ok && settle_places(table, err) &&
	    (input->header.data || looks_right(table, err)))
		return true;
	orc_table_deinit(table);
	return false;
}

void orc_table_deinit(struct orc_table *table)
{
	free(table->places);
	*table = (struct orc_table){0};
}
