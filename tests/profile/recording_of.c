/* SPDX-License-Identifier: MIT */
/*
 * recording_of OUT: writes a recording from a description on standard input, by the functions of the recorder. Lines:
 *
 *     info COMMAND EVENT UNIT FREQUENCY HOST RELEASE
 *     module BUILD-ID PATH           BUILD-ID in hexadecimal digits
 *     frame KIND ADDRESS MODULE PID FLAGS NAME
 *     thread PID TID COMM
 *     sample TIME WEIGHT CPU THREAD WHY FRAME...   frames by number, outermost first
 *
 * "-" is an empty text or no name. %41 in a text is the byte 0x41. Numbers count from 0. Each
 * process maps each module that its samples have, at an address of its own.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "profile/perfdata/write.h"
#include "profile/profile.h"

struct module {
	char *path;
	uint8_t build_id[EVENT_MAX_BUILD_ID];
	uint32_t build_id_size;
	uint32_t pid; /* that was the last one to map it */
};

struct frame {
	uint8_t kind, flags;
	uint64_t pc;
	size_t module;
	char *name;
	uint32_t named; /* in which process */
};

struct thread {
	uint32_t pid, tid;
	char *comm;
};

struct maker {
	struct perfdata_writer writer;
	struct perf_event_attr attr;
	char *command, *event, *host, *release;
	struct module *modules;
	struct frame *frames;
	struct thread *threads;
	size_t n_modules, n_frames, n_threads, cap_modules, cap_frames, cap_threads;
	size_t thread; /* that had the last sample */
};

static struct err err;

static void must(bool ok)
{
	if (ok)
		return;
	fprintf(stderr, "recording_of: %s\n", err.text);
	exit(1);
}

/* The next word, with its escapes replaced. NULL at the end. */
static char *word(char **line)
{
	char *start = strsep(line, " "), *to = start;

	if (!start || strcmp(start, "-") == 0)
		return NULL;
	for (char *at = start; *at; at++) {
		char hex[3] = {at[0] == '%' ? at[1] : '\0', at[1], '\0'};

		if (*hex)
			hex[1] = at[2];
		*to++ = *hex ? (char)strtoul(hex, NULL, 16) : *at;
		at += *hex ? 2 : 0;
	}
	*to = '\0';
	return start;
}

static char *text(char **line)
{
	char *found = word(line);
	char *copy = strdup(found ? found : "");

	must(copy);
	return copy;
}

static unsigned long long number(char **line)
{
	char *found = word(line);

	return found ? strtoull(found, NULL, 0) : 0;
}

static void add_info(struct maker *maker, char *line)
{
	maker->command = text(&line);
	maker->event = text(&line);
	free(text(&line)); /* the unit comes from the event */
	maker->attr = (struct perf_event_attr){.size = sizeof(maker->attr),
	    .type = strcmp(maker->event, "cpu-clock") ? PERF_TYPE_HARDWARE
						      : PERF_TYPE_SOFTWARE,
	    .freq = 1,
	    .sample_freq = number(&line),
	    .sample_type = EVENT_SAMPLE_TYPE,
	    .sample_id_all = 1};
	maker->host = text(&line);
	maker->release = text(&line);
	must(perfdata_begin(&maker->writer, maker->writer.fd, &maker->attr, true, &err));
}

static void add_module(struct maker *maker, char *line)
{
	struct module module = {.pid = UINT32_MAX};
	const char *hex = word(&line);

	for (; hex && hex[0] && hex[1]; hex += 2) {
		char byte[] = {hex[0], hex[1], '\0'};

		module.build_id[module.build_id_size++] =
		    (uint8_t)strtoul(byte, NULL, 16);
	}
	module.path = text(&line);
	must(vec_reserve(&maker->modules, &maker->cap_modules, maker->n_modules + 1));
	maker->modules[maker->n_modules++] = module;
}

/* Where in its file an address is; the address itself where there is no file. */
static uint64_t offset_of(const char *path, uint64_t address)
{
	Elf64_Ehdr header;
	Elf64_Phdr part;
	FILE *file = fopen(path, "r");
	uint64_t offset = address;

	if (file && fread(&header, sizeof(header), 1, file) == 1)
		for (size_t i = 0; i < header.e_phnum; i++)
			if (fseek(file, (long)(header.e_phoff + i * sizeof(part)),
				SEEK_SET) == 0 &&
			    fread(&part, sizeof(part), 1, file) == 1 &&
			    part.p_type == PT_LOAD &&
			    address - part.p_vaddr <= part.p_filesz)
				offset = address - part.p_vaddr + part.p_offset;
	if (file)
		fclose(file);
	return offset;
}

static uint64_t base_of(size_t module)
{
	return (uint64_t)(module + 1) << 32;
}

static void add_frame(struct maker *maker, char *line)
{
	struct frame frame = {.kind = (uint8_t)number(&line), .named = UINT32_MAX};

	frame.pc = number(&line);
	frame.module = number(&line);
	number(&line); /* the process is the one of its samples */
	frame.flags = (uint8_t)number(&line);
	frame.name = text(&line);
	if (frame.kind == PROFILE_FRAME_FILE)
		frame.pc = base_of(frame.module) +
			   offset_of(maker->modules[frame.module].path, frame.pc);
	must(vec_reserve(&maker->frames, &maker->cap_frames, maker->n_frames + 1));
	maker->frames[maker->n_frames++] = frame;
}

static void add_thread(struct maker *maker, char *line)
{
	struct thread thread = {
	    .pid = (uint32_t)number(&line), .tid = (uint32_t)number(&line)};

	thread.comm = text(&line);
	must(vec_reserve(&maker->threads, &maker->cap_threads, maker->n_threads + 1));
	maker->threads[maker->n_threads++] = thread;
}

static void put(struct maker *maker, size_t (*make)(uint8_t *to, const struct event *),
    const struct event *event)
{
	uint8_t bytes[EVENT_MAX_SIZE];

	must(perfdata_put(&maker->writer, bytes, make(bytes, event), &err));
}

/* The module is mapped, and the frame named, before a sample has it. */
static void prepare(struct maker *maker, struct frame *frame, struct event *event)
{
	const bool kernel = frame->kind == PROFILE_FRAME_KERNEL;
	const uint32_t pid = kernel ? UINT32_MAX - 1 : event->pid;
	struct module *module = &maker->modules[frame->module];

	if (*frame->name && frame->named != pid) {
		frame->named = pid;
		must(perfdata_put_name(
		    &maker->writer, kernel ? UINT32_MAX : pid, frame->pc, frame->name));
	}
	if (frame->kind != PROFILE_FRAME_FILE || module->pid == pid)
		return;
	module->pid = pid;
	event->text = module->path;
	event->start = base_of(frame->module);
	event->size = UINT64_C(1) << 32;
	event->build_id = module->build_id;
	event->build_id_size = module->build_id_size;
	event->build_id_known = true;
	put(maker, event_make_map, event);
}

static void add_sample(struct maker *maker, char *line)
{
	uint64_t pcs[4096], chain[4096];
	uint8_t flags[4096];
	struct event event = {.time = number(&line), .cpu_mode = PERF_RECORD_MISC_USER};
	struct perfdata_walked walked = {pcs, flags, 0, 0};
	const struct thread *thread;
	size_t number_of, list[4096], n = 0;

	event.weight = number(&line);
	event.cpu = (uint32_t)number(&line);
	number_of = number(&line);
	thread = &maker->threads[number_of];
	event.pid = thread->pid;
	event.tid = thread->tid;
	walked.why = (uint8_t)number(&line);
	if (maker->thread != number_of) {
		event.text = thread->comm;
		put(maker, event_make_comm, &event);
		maker->thread = number_of;
	}
	while (line && n < sizeof(list) / sizeof(*list))
		list[n++] = number(&line);
	event.chain = (const uint8_t *)chain;
	while (n > 0) {
		struct frame *frame = &maker->frames[list[--n]];

		prepare(maker, frame, &event);
		if (frame->kind == PROFILE_FRAME_KERNEL) {
			if (!event.n_chain)
				chain[event.n_chain++] = (uint64_t)PERF_CONTEXT_KERNEL;
			chain[event.n_chain++] = frame->pc;
		} else {
			flags[walked.n] = frame->flags;
			pcs[walked.n++] = frame->pc;
		}
	}
	must(perfdata_put_walked(&maker->writer, &event, &walked, &err));
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*add)(struct maker *maker, char *line);
	} kinds[] = {{"info", add_info}, {"module", add_module}, {"frame", add_frame},
	    {"thread", add_thread}, {"sample", add_sample}};
	/* Never freed: all that it made is needed until the program ends. */
	static struct maker maker = {.thread = SIZE_MAX};
	struct perfdata_about about;
	char *line = NULL, *words[2] = {NULL};
	char machine[] = "x86_64";
	size_t cap = 0;
	ssize_t got;

	maker.writer.fd =
	    argc == 2 ? open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
	if (maker.writer.fd < 0) {
		fputs("recording_of: no output\n", stderr);
		return 1;
	}
	while ((got = getline(&line, &cap, stdin)) > 0) {
		char *rest = line, *kind;

		line[got - 1] = '\0';
		kind = strsep(&rest, " ");
		for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
			if (strcmp(kind, kinds[i].name) == 0)
				kinds[i].add(&maker, rest);
	}
	words[0] = maker.command;
	about = (struct perfdata_about){
	    maker.host, maker.release, machine, maker.event, words, 0};
	must(perfdata_end(&maker.writer, &about, &err));
	perfdata_writer_free(&maker.writer);
	free(line);
	return 0;
}
