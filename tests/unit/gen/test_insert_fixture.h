/* SPDX-License-Identifier: MIT */
/* Plans, writes, checks and undoes insertions into files in memory. */
#ifndef TESTS_UNIT_GEN_TEST_INSERT_FIXTURE_H
#define TESTS_UNIT_GEN_TEST_INSERT_FIXTURE_H

#include "gen/insert/undo.h"
#include "gen/insert/insert.h"
#include "tests/unit/gen/test_image_fixture.h"

#define PAYLOAD_SIZE 300

static struct wr file; /* the input; made by the test */
static struct image in, out;
static struct err err;
static struct insert_plan plan;
static enum method method;
static uint8_t payload[PAYLOAD_SIZE];

static inline void fix_writing(void)
{
	method = METHOD_AUTO;
	memset(payload, 0x5a, sizeof(payload));
}

static inline void teardown(void)
{
	image_close(&in);
	image_close(&out);
	wr_deinit(&file);
}

static inline bool plan_it(void)
{
	ck_assert_msg(fix_open(file.data, file.size, &in, &err), "%s", err.text);
	return insert_plan(&in, PAYLOAD_SIZE, method, &plan, &err);
}

/* Reads a file in memory. The caller frees the bytes. */
static inline void fix_read(int fd, struct wr *written)
{
	uint8_t byte;

	wr_init(written, false);
	for (off_t at = 0; pread(fd, &byte, 1, at) == 1; at++)
		wr_u8(written, byte);
	close(fd);
}

/* Writes a file in memory. *written gets its bytes, which the caller frees. */
static inline void write_it(struct wr *written)
{
	int fd = memfd_create("out", MFD_CLOEXEC);

	ck_assert_msg(plan_it(), "%s", err.text);
	ck_assert_msg(insert_body(&in, fd, &err), "%s", err.text);
	ck_assert_msg(insert_image(&in, &plan, payload, fd, &err), "%s", err.text);
	fix_read(fd, written);
	ck_assert_uint_eq(written->size, plan.file_size);
}

static inline void open_out(const struct wr *written)
{
	ck_assert_msg(fix_open(written->data, written->size, &out, &err), "%s", err.text);
}

/* Inserts, checks and maps the section, and removes it again, byte for byte. */
static inline void fix_round_trip(void)
{
	struct wr written, back;
	struct undo undo;
	const uint8_t *data;
	size_t size;
	uint64_t addr;
	bool found;
	int fd = memfd_create("back", MFD_CLOEXEC);

	write_it(&written);
	open_out(&written);
	ck_assert_msg(insert_check(&in, &plan, &out, &(struct insert_changes){0}, &err),
	    "%s", err.text);
	ck_assert(image_sframe(&out, &data, &size, &addr, &err));
	ck_assert_uint_eq(size, PAYLOAD_SIZE);
	ck_assert_uint_eq(addr, plan.sframe_addr);
	ck_assert_mem_eq(data, payload, PAYLOAD_SIZE);
	ck_assert_ptr_eq(image_at_addr(&out, addr, size), data);
	ck_assert(undo_find(&out, &undo, &found, &err) && found);
	ck_assert(undo_write(&out, &undo, fd, &err));
	fix_read(fd, &back);
	ck_assert_uint_eq(back.size, file.size);
	ck_assert_mem_eq(back.data, file.data, file.size);
	wr_deinit(&back);
	wr_deinit(&written);
}

/* Changes one byte after another, except in the section and the program. */
static inline void fix_undo_notices(void)
{
	struct wr written;
	struct undo undo;
	bool found;

	write_it(&written);
	for (size_t i = 0; i < written.size; i++) {
		bool header = i < 64, tail = i >= plan.tail_off;
		bool table = i >= plan.phdr_off && i < plan.phdr_off + plan.n_phdrs * 56;

		if (!header && !tail && !table)
			continue;
		written.data[i] ^= 0x40;
		if (fix_open(written.data, written.size, &out, &err)) {
			bool ok = undo_find(&out, &undo, &found, &err);

			ck_assert_msg(!ok || !found, "byte 0x%zx", i);
			image_close(&out);
		}
		written.data[i] ^= 0x40;
	}
	wr_deinit(&written);
}

/* insert_check finds each changed byte that must not change. */
static inline void fix_check_notices(const size_t *offs, size_t n)
{
	struct wr written;

	write_it(&written);
	for (size_t i = 0; i < n; i++) {
		written.data[offs[i]] ^= 1;
		if (fix_open(written.data, written.size, &out, &err)) {
			ck_assert_msg(!insert_check(&in, &plan, &out,
					  &(struct insert_changes){0}, &err),
			    "offset %zx", offs[i]);
			ck_assert_int_eq(err.kind, ERR_INTERNAL);
			image_close(&out);
		}
		written.data[offs[i]] ^= 1;
	}
	wr_deinit(&written);
}

#endif
