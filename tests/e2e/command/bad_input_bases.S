/* SPDX-License-Identifier: MIT */
/* Records relative to the text and to the data, beside a usual one. LSB counts from .text and from the GOT or .eh_frame_hdr,
 * GNU ld from _GLOBAL_OFFSET_TABLE_, and libgcc, as readelf, from 0. */
#include "raw.h"
	.macro	relative name, encoding, at:vararg
	cie_head \name\()_cie, 1, zR
	.uleb128 1
	.byte	\encoding
	usual_rules \name\()_cie
	begin	\name
	.long	. - \name\()_cie
	.quad	\at, 16
	.uleb128 0
	end	\name
	.endm

	relative text, 0x2c, func + 0x20 - text_begins
	relative data, 0x3c, func@GOTOFF + 0x40
	usual_cie cie
	fde	one, cie, 0, 0x10
	end	one
	.set	text_begins, func
	.data
	.quad	func@GOT	/* so that there is one */
