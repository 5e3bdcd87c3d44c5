/* SPDX-License-Identifier: MIT */
/*
 * The methods of insertion, and why a method does not apply to a file, as values with
 * names: options, reports and the writer speak of the same ones.
 */
#ifndef GEN_OPTIONS_METHOD_H
#define GEN_OPTIONS_METHOD_H

/* In the order in which they are tried. */
#define METHODS(X)                                                                       \
	X(METHOD_SLACK, "slack")                                                         \
	X(METHOD_GROW, "grow")

#define METHOD_ENUM(id, name) id,
enum method {
	METHODS(METHOD_ENUM) N_METHODS,
	METHOD_AUTO = N_METHODS, /* not a method: the first that applies */
};
#undef METHOD_ENUM

/* Sentences that end "the method does not apply: ". */
#define OBSTACLES(X)                                                                     \
	X(OBSTACLE_NONE, "it applies")                                                   \
	X(OBSTACLE_TABLE,                                                                \
	    "the program header table overlaps another header or a section")             \
	X(OBSTACLE_NO_SLOT, "no spare program header: no PT_NULL, no PT_NOTE that only " \
			    "repeats PT_GNU_PROPERTY, no free bytes after the table")    \
	X(OBSTACLE_NO_SLACK,                                                             \
	    "no read-only segment has enough unused padding after it on its own pages")  \
	X(OBSTACLE_NO_ROOM, "no room above the highest address in use")                  \
	X(OBSTACLE_TOO_LARGE, "the section is too large")                                \
	X(OBSTACLE_HOLE,                                                                 \
	    "the program headers would stand after a large .bss or wide gaps between "   \
	    "segments, and the file would grow by as much; what often helps is to link " \
	    "it by GNU ld with -z separate-code, or as a PIE (-pie, -static-pie), or "   \
	    "to convert it before another tool changes its headers")                     \
	X(OBSTACLE_GROW_SECTIONS,                                                        \
	    "without section headers it is not known what may move after the program "   \
	    "header table")                                                              \
	X(OBSTACLE_GROW_KIND, "dynamic symbols must move, but the file is neither a "    \
			      "program nor a library")                                   \
	X(OBSTACLE_GROW_TABLE,                                                           \
	    "the program header table does not follow the ELF header in a read-only "    \
	    "segment, or the notes would leave the first page")                          \
	X(OBSTACLE_GROW_BLOCK,                                                           \
	    "too little can move after the program header table: only .interp, notes "   \
	    "of the toolchain, hash tables and dynamic symbols can")                     \
	X(OBSTACLE_GROW_SEGMENT,                                                         \
	    "a segment holds a part of what follows the program header table")           \
	X(OBSTACLE_GROW_DYNAMIC, "the dynamic section does not point to the hash "       \
				 "tables and symbols that must move")                    \
	X(OBSTACLE_GROW_SYMBOL, "a symbol or relocation points to what must move")       \
	X(OBSTACLE_LOADER, "the file is a program interpreter (ld.so), and Linux "       \
			   "before 6.7 starts none "                                     \
			   "that has a segment above its .bss")                          \
	X(OBSTACLE_TABLE_SIZE, "the program header table would be longer than a page, "  \
			       "and older kernels start no such program")

#define OBSTACLE_ENUM(id, text) id,
enum obstacle { OBSTACLES(OBSTACLE_ENUM) N_OBSTACLES };
#undef OBSTACLE_ENUM

const char *method_name(enum method method); /* "auto" for METHOD_AUTO */
const char *obstacle_text(enum obstacle obstacle);

#endif
