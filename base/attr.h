/* SPDX-License-Identifier: MIT */
/* Compiler attributes, under names that say what they ask for. */
#ifndef BASE_ATTR_H
#define BASE_ATTR_H

#define ATTR_MUST_CHECK __attribute__((warn_unused_result))
/* For rare paths, so that they cost the caller no registers. */
#define ATTR_NOINLINE __attribute__((noinline))
#define ATTR_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

#endif
