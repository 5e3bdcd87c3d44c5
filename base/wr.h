/* SPDX-License-Identifier: MIT */
/*
 * A growable buffer written in a stated byte order. Running out of memory is sticky:
 * wr->failed stays set and later writes do nothing, so a caller checks once, at the end.
 */
#ifndef BASE_WR_H
#define BASE_WR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wr {
	uint8_t *data; /* owned; freed by wr_deinit */
	size_t size;   /* bytes written */
	size_t cap;
	bool big_endian;
	bool failed;
};

void wr_init(struct wr *wr, bool big_endian);
void wr_deinit(struct wr *wr);

/*
 * Makes room for n bytes more, so that writing them copies nothing. Returns where they will
 * be, or NULL. A caller that puts them there itself tells wr_end where they end.
 */
uint8_t *wr_expect(struct wr *wr, size_t n);
void wr_end(struct wr *wr, const uint8_t *end);

void wr_u8(struct wr *wr, uint8_t v);
void wr_u16(struct wr *wr, uint16_t v);
void wr_u32(struct wr *wr, uint32_t v);
void wr_u64(struct wr *wr, uint64_t v);
void wr_bytes(struct wr *wr, const void *bytes, size_t n);
void wr_zeros(struct wr *wr, size_t n);

/* Overwrites bytes already written; off + width must not exceed size. */
void wr_patch_u32(struct wr *wr, size_t off, uint32_t v);
void wr_patch_u64(struct wr *wr, size_t off, uint64_t v);

#endif
