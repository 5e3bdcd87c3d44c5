/* SPDX-License-Identifier: MIT */
/* Files of others that are mapped here, and may become shorter meanwhile. */
#ifndef PROFILE_MAPPED_H
#define PROFILE_MAPPED_H

/*
 * From now on, reading a page that a mapped file has lost gives zeros, which every reader takes for damage.
 * Without it, whoever truncates a file that was recorded ends this program.
 */
void profile_survive_truncation(void);

#endif
