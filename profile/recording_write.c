/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "profile/recording.h"

/* What is kept before it is written. */
enum { WRITE_SIZE = 256 << 10 };

static void write_number(struct wr *wr, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		wr_u8(wr, (uint8_t)(value | 0x80));
	wr_u8(wr, (uint8_t)value);
}

static void write_bytes(struct wr *wr, const void *bytes, size_t size)
{
	write_number(wr, size);
	if (size)
		wr_bytes(wr, bytes, size);
}

/* A text that is too long for an entry loses its end. */
static void write_text(struct wr *wr, const char *text)
{
	size_t size = strlen(text);

	write_bytes(
	    wr, text, size < RECORDING_MAX_ENTRY / 8 ? size : RECORDING_MAX_ENTRY / 8);
}

static bool write_out(struct recording_writer *writer, struct err *err)
{
	size_t done = 0;

	if (writer->wr.failed || writer->entry.failed)
		return err_set_nomem(err);
	while (done < writer->wr.size) {
		ssize_t n =
		    write(writer->fd, writer->wr.data + done, writer->wr.size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_set_errno(err, "writing the recording failed");
		done += (size_t)n;
	}
	writer->wr.size = 0;
	return true;
}

static struct wr *write_entry(struct recording_writer *writer)
{
	writer->entry.size = 0;
	return &writer->entry;
}

static bool write_entry_end(
    struct recording_writer *writer, enum recording_kind kind, struct err *err)
{
	wr_u8(&writer->wr, (uint8_t)kind);
	write_bytes(&writer->wr, writer->entry.data, writer->entry.size);
	return writer->wr.size < WRITE_SIZE || write_out(writer, err);
}

static bool write_info(
    struct recording_writer *writer, const struct profile_info *info, struct err *err)
{
	struct wr *wr = write_entry(writer);

	write_number(wr, info->machine);
	write_number(wr, info->frequency);
	write_number(wr, info->start);
	write_number(wr, info->monotonic);
	write_number(wr, info->raw);
	write_text(wr, info->event);
	write_text(wr, info->unit);
	write_text(wr, info->command);
	write_text(wr, info->host);
	write_text(wr, info->release);
	return write_entry_end(writer, RECORDING_INFO, err);
}

static bool write_module(
    struct recording_writer *writer, const struct profile_module *module, struct err *err)
{
	struct wr *wr = write_entry(writer);
	bool fits = module->image_size <= RECORDING_MAX_ENTRY / 2;

	write_number(wr, module->flags);
	write_bytes(wr, module->build_id, module->build_id_size);
	write_text(wr, module->path);
	write_bytes(wr, module->image, fits ? module->image_size : 0);
	return write_entry_end(writer, RECORDING_MODULE, err);
}

static bool write_frame(
    struct recording_writer *writer, const struct profile_frame *frame, struct err *err)
{
	struct wr *wr = write_entry(writer);

	wr_u8(wr, frame->kind);
	wr_u8(wr, frame->flags);
	write_number(wr, frame->module);
	write_number(wr, frame->pid);
	write_number(wr, frame->address);
	write_text(wr, frame->name ? frame->name : "");
	return write_entry_end(writer, RECORDING_FRAME, err);
}

static bool write_thread(
    struct recording_writer *writer, const struct profile_thread *thread, struct err *err)
{
	struct wr *wr = write_entry(writer);

	write_number(wr, thread->pid);
	write_number(wr, thread->tid);
	write_text(wr, thread->comm);
	return write_entry_end(writer, RECORDING_THREAD, err);
}

static bool write_stack(
    struct recording_writer *writer, const struct profile_stack *stack, struct err *err)
{
	struct wr *wr = write_entry(writer);

	write_number(wr, stack->caller);
	write_number(wr, stack->frame);
	return write_entry_end(writer, RECORDING_STACK, err);
}

static bool write_sample(
    struct recording_writer *writer, const struct profile_sample *sample, struct err *err)
{
	struct wr *wr = write_entry(writer);

	write_number(wr, sample->time);
	write_number(wr, sample->weight);
	write_number(wr, sample->cpu);
	write_number(wr, sample->thread);
	write_number(wr, sample->stack);
	wr_u8(wr, sample->why);
	return write_entry_end(writer, RECORDING_SAMPLE, err);
}

bool recording_begin(struct recording_writer *writer, int fd,
    const struct profile *profile, struct err *err)
{
	memset(writer, 0, sizeof(*writer));
	writer->fd = fd;
	writer->n_stacks = 1;
	wr_init(&writer->wr, false);
	wr_init(&writer->entry, false);
	wr_bytes(&writer->wr, RECORDING_MAGIC, RECORDING_MAGIC_SIZE);
	return write_info(writer, &profile->info, err) && write_out(writer, err);
}

bool recording_more(
    struct recording_writer *writer, const struct profile *profile, struct err *err)
{
	for (; writer->n_modules < profile->n_modules; writer->n_modules++)
		if (!write_module(writer, &profile->modules[writer->n_modules], err))
			return false;
	for (; writer->n_frames < profile->n_frames; writer->n_frames++)
		if (!write_frame(writer, &profile->frames[writer->n_frames], err))
			return false;
	for (; writer->n_stacks < profile->n_stacks; writer->n_stacks++)
		if (!write_stack(writer, &profile->stacks[writer->n_stacks], err))
			return false;
	for (; writer->n_threads < profile->n_threads; writer->n_threads++)
		if (!write_thread(writer, &profile->threads[writer->n_threads], err))
			return false;
	for (; writer->n_samples < profile->n_samples; writer->n_samples++)
		if (!write_sample(writer, &profile->samples[writer->n_samples], err))
			return false;
	return !writer->wr.failed || err_set_nomem(err);
}

bool recording_name(struct recording_writer *writer, const struct profile *profile,
    uint32_t frame, struct err *err)
{
	struct wr *wr = write_entry(writer);

	write_number(wr, frame);
	write_text(wr, profile->frames[frame].name);
	return write_entry_end(writer, RECORDING_NAME, err);
}

bool recording_event(
    struct recording_writer *writer, const void *bytes, size_t size, struct err *err)
{
	wr_bytes(write_entry(writer), bytes, size);
	return write_entry_end(writer, RECORDING_EVENT, err);
}

bool recording_again(struct recording_writer *writer, struct err *err)
{
	writer->n_stacks = 1;
	writer->n_samples = 0;
	write_entry(writer);
	return write_entry_end(writer, RECORDING_AGAIN, err);
}

bool recording_end(
    struct recording_writer *writer, const struct profile *profile, struct err *err)
{
	struct wr *wr;

	if (!recording_more(writer, profile, err))
		return false;
	wr = write_entry(writer);
	write_number(wr, profile->info.end);
	write_number(wr, profile->info.lost);
	return write_entry_end(writer, RECORDING_END, err) && write_out(writer, err);
}

void recording_free(struct recording_writer *writer)
{
	wr_deinit(&writer->wr);
	wr_deinit(&writer->entry);
}

bool profile_write(const struct profile *profile, int fd, struct err *err)
{
	struct recording_writer writer = {0};
	bool ok = recording_begin(&writer, fd, profile, err) &&
		  recording_end(&writer, profile, err);

	recording_free(&writer);
	return ok;
}
