/* SPDX-License-Identifier: MIT */
/* Shared by the two files that include libdwarf: its types, and one section as libdwarf reads it. */
#ifndef CFI_LIBDWARF_INTERNAL_H
#define CFI_LIBDWARF_INTERNAL_H

#include "base/attr.h"
#include "cfi/libdwarf.h"

#if __has_include(<libdwarf/libdwarf.h>)
#include <libdwarf/libdwarf.h>
#else
#include <libdwarf.h>
#endif

/* Pseudo register numbers. The table holds registers below its size; libdwarf refuses
 * programs that name others. */
#define LIBDWARF_TABLE_SIZE 188
#define LIBDWARF_UNDEFINED 40000
#define LIBDWARF_SAME 40001
#define LIBDWARF_CFA 40002

/* ---- the two interfaces of libdwarf ---- */

#ifdef DW_LIBDWARF_VERSION
typedef Dwarf_Obj_Access_Interface_a object_interface;
typedef Dwarf_Obj_Access_Methods_a object_methods;
typedef Dwarf_Obj_Access_Section_a object_section;
typedef Dwarf_Unsigned section_index;
typedef Dwarf_Small byte_order;
#define OBJECT_MEMBER(name) om_##name
#define SECTION_MEMBER(name) as_##name
#define INTERFACE_MEMBER(name) ai_##name
#define BIG_ENDIAN_ORDER DW_END_big
#define LITTLE_ENDIAN_ORDER DW_END_little
#define fde_list_dealloc dwarf_dealloc_fde_cie_list
#define object_finish(dbg) dwarf_object_finish(dbg)
typedef Dwarf_Small *program_ptr;
#ifndef DW_END_big /* dwarf.h has them, and a hundred names of ours */
#define DW_END_big 1
#define DW_END_little 2
#endif
#else
typedef Dwarf_Obj_Access_Interface object_interface;
typedef Dwarf_Obj_Access_Methods object_methods;
typedef Dwarf_Obj_Access_Section object_section;
typedef Dwarf_Half section_index;
typedef Dwarf_Endianness byte_order;
#define OBJECT_MEMBER(name) name
#define SECTION_MEMBER(name) name
#define INTERFACE_MEMBER(name) name
#define BIG_ENDIAN_ORDER DW_OBJECT_MSB
#define LITTLE_ENDIAN_ORDER DW_OBJECT_LSB
#define fde_list_dealloc dwarf_fde_cie_list_dealloc
#define object_finish(dbg) dwarf_object_finish((dbg), NULL)
typedef Dwarf_Ptr program_ptr;
#endif

/* The section as libdwarf lists it. */
struct reading {
	Dwarf_Debug dbg;
	Dwarf_Cie *cies;
	Dwarf_Fde *fdes;
	Dwarf_Signed n_cies, n_fdes;
};

/* Where a record is in the section, and its number in libdwarf's order. */
struct listed {
	uint64_t off; /* first, for search_order */
	size_t i;
};

/*
 * Since 0.8 libdwarf accepts only "same value" and "undefined" for a register that has no
 * rule. Neither can be told from a rule that says the same. So the section is read twice:
 * a register has no rule where each reading gives its own default.
 */
struct cfi_libdwarf {
	struct cfi_section section;
	struct cfi_machine machine;
	object_interface interface;
	struct reading same, undefined; /* by what a register without a rule is */
	struct listed *listed;		/* the FDEs, ascending by off */
	struct cfi_table table;
	uint64_t
	    expr_ops; /* of all tables: code that FDEs claim may be none of the file's */
	bool spent;   /* a rule of this table could not be evaluated for that */
};

/* One column at one PC, as libdwarf says it. */
struct cell {
	bool unspecified; /* no rule; nothing below is set */
	Dwarf_Small type; /* DW_EXPR_* */
	bool has_offset;
	int64_t reg, offset;
	const uint8_t *block;
	uint64_t block_len;
	Dwarf_Addr next_pc;
	Dwarf_Bool has_next;
};

/* Turns an error of libdwarf's into err and frees it; always false. */
bool cfi_libdwarf_refuse(const struct reading *r, int status, Dwarf_Error error,
    const char *what, struct err *err);

/*
 * Asks for the rule of a register of FDE number i at pc; LIBDWARF_CFA asks for the CFA.
 * ERR_UNSUPPORTED when libdwarf cannot tell.
 */
ATTR_MUST_CHECK bool cfi_libdwarf_ask(const struct cfi_libdwarf *w, size_t i,
    Dwarf_Half column, Dwarf_Addr pc, struct cell *c, struct err *err);

#endif
