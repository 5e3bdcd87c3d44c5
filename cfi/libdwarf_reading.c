/* SPDX-License-Identifier: MIT */
/* Opens and reads one section through either of libdwarf's 2 interfaces: that of the
 * 2021 release (Debian 12), or that of 0.x and later. */
#include "cfi/libdwarf_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"

/* Asks for one column; LIBDWARF_CFA asks for the CFA. A DW_DLV_ status. */
static int ask(
    Dwarf_Fde fde, Dwarf_Half column, Dwarf_Addr pc, struct cell *c, Dwarf_Error *error)
{
	Dwarf_Addr row_pc;
	int status;
#ifdef DW_LIBDWARF_VERSION
	Dwarf_Unsigned relevant = 0, reg = 0, offset = 0;
	Dwarf_Block block = {0};
#else
	Dwarf_Signed relevant = 0, reg = 0, offset = 0;
	Dwarf_Ptr block = NULL;
#endif

	if (column == LIBDWARF_CFA)
		status = dwarf_get_fde_info_for_cfa_reg3_b(fde, pc, &c->type, &relevant,
		    &reg, &offset, &block, &row_pc, &c->has_next, &c->next_pc, error);
	else
		status =
		    dwarf_get_fde_info_for_reg3_b(fde, column, pc, &c->type, &relevant,
			&reg, &offset, &block, &row_pc, &c->has_next, &c->next_pc, error);
#ifdef DW_LIBDWARF_VERSION
	c->block = block.bl_data;
	c->block_len = block.bl_len;
#else
	c->block = block;
	c->block_len = (uint64_t)offset;
#endif
	c->has_offset = relevant != 0;
	c->reg = (int64_t)reg;
	c->offset = (int64_t)offset;
	return status;
}

/* True for a .debug_frame. */
static bool is_debug(const struct cfi_libdwarf *w)
{
	return cfi_section_debug(&w->section) != NULL;
}

static const char *section_name(const struct cfi_libdwarf *w)
{
	return is_debug(w) ? ".debug_frame" : ".eh_frame";
}

/* The object: section 0 is the customary empty one, section 1 is that with the CFI. */
static int get_section_info(
    void *obj, section_index index, object_section *ret, int *error)
{
	const struct cfi_libdwarf *w = obj;

	(void)error;
	memset(ret, 0, sizeof(*ret));
	ret->SECTION_MEMBER(name) = index == 1 ? section_name(w) : "";
	if (index == 1) {
		ret->SECTION_MEMBER(addr) = w->section.addr;
		ret->SECTION_MEMBER(size) = w->section.size;
		ret->SECTION_MEMBER(type) = 1; /* SHT_PROGBITS */
	}
	return index <= 1 ? DW_DLV_OK : DW_DLV_NO_ENTRY;
}

static byte_order get_byte_order(void *obj)
{
	const struct cfi_libdwarf *w = obj;

	return w->section.big_endian ? BIG_ENDIAN_ORDER : LITTLE_ENDIAN_ORDER;
}

/* With 8, big-endian zero terminators would be taken for IRIX 64-bit lengths. */
static Dwarf_Small get_length_size(void *obj)
{
	(void)obj;
	return 4;
}

static Dwarf_Small get_pointer_size(void *obj)
{
	return ((const struct cfi_libdwarf *)obj)->section.addr_size;
}

static Dwarf_Unsigned get_section_count(void *obj)
{
	(void)obj;
	return 2;
}

static int load_section(void *obj, section_index index, Dwarf_Small **ret, int *error)
{
	const struct cfi_libdwarf *w = obj;

	(void)error;
	if (index != 1)
		return DW_DLV_NO_ENTRY;
	/* libdwarf has no const; it does not write where there is nothing to relocate. */
	memcpy(ret, &w->section.data, sizeof(*ret));
	return DW_DLV_OK;
}

#ifdef DW_LIBDWARF_VERSION
static Dwarf_Unsigned get_filesize(void *obj)
{
	return ((const struct cfi_libdwarf *)obj)->section.size;
}
#endif

static const object_methods libdwarf_methods = {
    .OBJECT_MEMBER(get_section_info) = get_section_info,
    .OBJECT_MEMBER(get_byte_order) = get_byte_order,
    .OBJECT_MEMBER(get_length_size) = get_length_size,
    .OBJECT_MEMBER(get_pointer_size) = get_pointer_size,
    .OBJECT_MEMBER(get_section_count) = get_section_count,
    .OBJECT_MEMBER(load_section) = load_section,
#ifdef DW_LIBDWARF_VERSION
    .om_get_filesize = get_filesize,
#endif
};

/* ---- opening and closing ---- */

bool cfi_libdwarf_refuse(const struct reading *r, int status, Dwarf_Error error,
    const char *what, struct err *err)
{
	const bool failed = status == DW_DLV_ERROR;

	err_set(err, ERR_UNSUPPORTED, "libdwarf: %s: %s; leave out --witness=libdwarf",
	    what, failed ? dwarf_errmsg(error) : "no entry");
	if (failed)
		dwarf_dealloc_error(r->dbg, error);
	return false;
}

static bool reading_open(
    struct cfi_libdwarf *w, struct reading *r, Dwarf_Half initial, struct err *err)
{
	Dwarf_Error error = NULL;
	int status = dwarf_object_init_b(
	    &w->interface, NULL, NULL, DW_GROUPNUMBER_ANY, &r->dbg, &error);

	if (status != DW_DLV_OK)
		return cfi_libdwarf_refuse(
		    r, status, error, "cannot open the section with CFI", err);
	dwarf_set_frame_rule_table_size(r->dbg, LIBDWARF_TABLE_SIZE);
	dwarf_set_frame_undefined_value(r->dbg, LIBDWARF_UNDEFINED);
	dwarf_set_frame_same_value(r->dbg, LIBDWARF_SAME);
	dwarf_set_frame_cfa_value(r->dbg, LIBDWARF_CFA);
	dwarf_set_frame_rule_initial_value(r->dbg, initial);
	status = (is_debug(w) ? dwarf_get_fde_list : dwarf_get_fde_list_eh)(
	    r->dbg, &r->cies, &r->n_cies, &r->fdes, &r->n_fdes, &error);
	return status != DW_DLV_ERROR ||
	       cfi_libdwarf_refuse(r, status, error,
		   is_debug(w) ? "cannot list .debug_frame" : "cannot list .eh_frame",
		   err);
}

static void reading_close(struct reading *r)
{
	if (r->fdes)
		fde_list_dealloc(r->dbg, r->cies, r->n_cies, r->fdes, r->n_fdes);
	if (r->dbg)
		object_finish(r->dbg);
}

/* Looks up where each FDE is, to tell which records libdwarf lists. */
static bool list_places(struct cfi_libdwarf *w, struct err *err)
{
	const size_t n = cfi_libdwarf_n_fdes(w);

	w->listed = calloc(n + 1, sizeof(*w->listed));
	if (!w->listed)
		return err_set_nomem(err);
	for (size_t i = 0; i < n; i++) {
		Dwarf_Error error = NULL;
		Dwarf_Off off, cie;
		int status = dwarf_fde_section_offset(
		    w->same.dbg, w->same.fdes[i], &off, &cie, &error);

		if (status != DW_DLV_OK)
			return cfi_libdwarf_refuse(
			    &w->same, status, error, "cannot tell where an FDE is", err);
		w->listed[i] = (struct listed){off, i};
	}
	qsort(w->listed, n, sizeof(*w->listed), search_order);
	return true;
}

static bool open_section(struct cfi_libdwarf *w, struct err *err)
{
	w->interface.INTERFACE_MEMBER(object) = w;
	w->interface.INTERFACE_MEMBER(methods) = &libdwarf_methods;
	return reading_open(w, &w->same, LIBDWARF_SAME, err) &&
	       reading_open(w, &w->undefined, LIBDWARF_UNDEFINED, err) &&
	       list_places(w, err);
}

struct cfi_libdwarf *cfi_libdwarf_new(
    const struct cfi_section *section, const struct cfi_machine *machine, struct err *err)
{
	struct cfi_libdwarf *w = calloc(1, sizeof(*w));

	if (!w) {
		err_set_nomem(err);
		return NULL;
	}
	w->section = *section;
	w->machine = *machine;
	if (!open_section(w, err)) {
		cfi_libdwarf_free(w);
		return NULL;
	}
	return w;
}

void cfi_libdwarf_free(struct cfi_libdwarf *reader)
{
	if (!reader)
		return;
	reading_close(&reader->same);
	reading_close(&reader->undefined);
	free(reader->listed);
	free(reader->table.rows);
	free(reader);
}

size_t cfi_libdwarf_n_fdes(const struct cfi_libdwarf *reader)
{
	return (size_t)reader->same.n_fdes;
}

bool cfi_libdwarf_find(const struct cfi_libdwarf *reader, uint64_t off, size_t *i)
{
	const size_t n = cfi_libdwarf_n_fdes(reader);
	const size_t at = search_list_from(reader->listed, n, off, off);

	if (at == n || reader->listed[at].off != off)
		return false;
	*i = reader->listed[at].i;
	return true;
}

/* Asks reading r for a column of FDE number i. */
static bool ask_reading(const struct reading *r, size_t i, Dwarf_Half column,
    Dwarf_Addr pc, struct cell *c, struct err *err)
{
	Dwarf_Error error = NULL;
	int status = ask(r->fdes[i], column, pc, c, &error);

	return status == DW_DLV_OK ||
	       cfi_libdwarf_refuse(r, status, error, "cannot read a row", err);
}

static bool is_default(const struct cell *c, int64_t initial)
{
	return c->type == DW_EXPR_OFFSET && !c->has_offset && c->reg == initial;
}

/* The second reading is asked only where the first gives its default. */
bool cfi_libdwarf_ask(const struct cfi_libdwarf *w, size_t i, Dwarf_Half column,
    Dwarf_Addr pc, struct cell *c, struct err *err)
{
	struct cell other;

	c->unspecified = false;
	if (!ask_reading(&w->same, i, column, pc, c, err))
		return false;
	if (!is_default(c, LIBDWARF_SAME))
		return true;
	if (!ask_reading(&w->undefined, i, column, pc, &other, err))
		return false;
	c->unspecified = is_default(&other, LIBDWARF_UNDEFINED);
	return true;
}
