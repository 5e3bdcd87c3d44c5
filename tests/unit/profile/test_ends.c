/* SPDX-License-Identifier: MIT */
/* How the stacks of samples end, and which of them are complete. */
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profile/perfdata/event.h"
#include "profile/record/recorder.h"
#include "profile/stacks/unwinder.h"
#include "tests/unit/unit.h"

static struct err err;
static uint8_t record[EVENT_MAX_SIZE];
static size_t record_size;
static struct perfdata_walked walked;
static struct unwinder unwinder;

/* x86-64: the registers of a sample, and where SP and PC are among them. */
enum { REGISTERS = 20, SP = 7, PC = 8, STACK_WORDS = 8 };

static void put(uint64_t value)
{
	memcpy(record + record_size, &value, sizeof(value));
	record_size += sizeof(value);
}

static void setup(void)
{
	ck_assert(unwinder_begin(&unwinder, PROFILE_X86_64, &err));
}

static void teardown(void)
{
	unwinder_free(&unwinder);
}
UNIT_FIXTURE(setup, teardown)

/* Makes the record of a sample of this process that has n frames in the kernel. pc: of the program, which has words
 * zeros on its stack; 0: the kernel gave no registers. */
static void sample(uint64_t weight, size_t n, uint64_t pc, size_t words)
{
	struct perf_event_header header = {.type = PERF_RECORD_SAMPLE};
	const uint64_t pid = (uint64_t)getpid();

	record_size = sizeof(header);
	put(pc);
	put(pid | pid << 32);
	put(1000); /* time */
	put(0);
	put(weight);
	put(n ? n + 1 : 0);
	if (n)
		put(PERF_CONTEXT_KERNEL);
	for (size_t i = 0; i < n; i++)
		put(UINT64_C(0xffffffff81000000) + i);
	put(pc ? PERF_SAMPLE_REGS_ABI_64 : PERF_SAMPLE_REGS_ABI_NONE);
	for (int i = 0; pc && i < REGISTERS; i++)
		put(i == SP ? 0x70000000 : i == PC ? pc : 0);
	put(8 * words);
	for (size_t i = 0; i < words; i++)
		put(0);
	if (words)
		put(8 * words);
	header.size = (uint16_t)record_size;
	memcpy(record, &header, sizeof(header));
}

/* Why the stack of such a sample ended. */
static enum profile_why why_of(size_t n, uint64_t pc, size_t words)
{
	const struct event_layout layout = {
	    .sample_type = EVENT_SAMPLE_TYPE, .registers = 0xff0fff, .id_all = true};
	struct event event;

	sample(1, n, pc, words);
	ck_assert(event_read(record, record_size, &layout, &event));
	ck_assert(unwinder_walk(
	    &unwinder, space_find(&unwinder.spaces, event.pid), &event, &walked, &err));
	return walked.why;
}

/* The code of this program, as the kernel tells of it. */
static int map_code(struct dl_phdr_info *info, size_t size, void *path)
{
	struct event map = {.kind = EVENT_MAP,
	    .pid = (uint32_t)getpid(),
	    .tid = (uint32_t)getpid(),
	    .text = path};

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_flags & PF_X) {
			map.start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
			map.size = info->dlpi_phdr[i].p_memsz;
			map.offset = info->dlpi_phdr[i].p_offset;
			break;
		}
	ck_assert(unwinder_take(&unwinder, &map, &err));
	return 1;
}

/* Threads of the kernel alone have no frames of a program. */
UNIT(in_the_kernel)
{
	struct event comm = {.kind = EVENT_COMM,
	    .pid = (uint32_t)getpid(),
	    .tid = (uint32_t)getpid(),
	    .text = "iou-wrk-7"};
	char path[] = "/nonexistent";

	/* Nothing is known of the thread: it has ended, and its memory is taken away. */
	ck_assert_int_eq(why_of(9, 0, 0), PROFILE_CUT_OFF);
	ck_assert(unwinder_take(&unwinder, &comm, &err));
	ck_assert_int_eq(why_of(1, 0, 0), PROFILE_NO_STACK);
	ck_assert_int_eq(why_of(9, 0, 0), PROFILE_NO_STACK);
	/* The kernel replaces the program: the registers are those of the old one. */
	ck_assert_int_eq(why_of(1, 0x1234, 0), PROFILE_CUT_OFF);
	ck_assert_uint_eq(walked.n, 0);
	/* A program enters the kernel, and a thread of the kernel works for it. */
	dl_iterate_phdr(map_code, path);
	ck_assert_int_eq(why_of(1, 0, 0), PROFILE_CUT_OFF);
	ck_assert_int_eq(why_of(9, 0, 0), PROFILE_NO_STACK);
}

/* A frame whose row says that it has no caller ends a stack of zeros, and so does any other one. */
UNIT(at_a_zero)
{
#if defined(__x86_64__)
	dl_iterate_phdr(map_code, unit_path());
	ck_assert_int_eq(why_of(0, getauxval(AT_ENTRY), STACK_WORDS), PROFILE_OUTERMOST);
	ck_assert_int_eq(why_of(0, (uintptr_t)setup, STACK_WORDS), PROFILE_ZERO);
	ck_assert_int_eq(why_of(0, (uintptr_t)setup, 0), PROFILE_CUT_OFF);
#endif
	for (unsigned int why = 0; why < PROFILE_N_WHYS; why++)
		ck_assert_int_eq(profile_why_complete(why),
		    why == PROFILE_OUTERMOST || why == PROFILE_NO_STACK);
	ck_assert(profile_why_outermost(PROFILE_GUESSED));
	ck_assert(!profile_why_outermost(PROFILE_GIVEN));
}

static void queue_sample(struct queue *queue, uint64_t weight, uint64_t pc)
{
	sample(weight, 1, pc, 0);
	memcpy(queue_room(queue, record_size, true), record, record_size);
	queue_put(queue, record_size);
}

/* A recorder's summary has percentages of weights. */
UNIT(weights)
{
	static struct recorder recorder;
	const struct record_args args = {.frequency = 99};
	const struct event comm = {.kind = EVENT_COMM,
	    .pid = (uint32_t)getpid(),
	    .tid = (uint32_t)getpid(),
	    .text = "kworker"};
	char line[1024] = "";
	const int before = dup(STDERR_FILENO), file = memfd_create("summary", 0);

	recorder.args = &args;
	recorder.perf.attr = (struct perf_event_attr){.sample_type = EVENT_SAMPLE_TYPE,
	    .sample_regs_user = 0xff0fff,
	    .sample_id_all = 1};
	ck_assert(queue_begin(&recorder.queue, &err));
	ck_assert(unwinder_begin(&recorder.unwinder, PROFILE_X86_64, &err));
	ck_assert(perfdata_begin(&recorder.writer, memfd_create("recording", 0),
	    &recorder.perf.attr, true, &err));
	ck_assert(unwinder_take(&recorder.unwinder, &comm, &err));
	/* One of a thread of the kernel, and one of a program that is replaced. */
	queue_sample(&recorder.queue, 3, 0);
	queue_sample(&recorder.queue, 1, 0x1234);
	queue_close(&recorder.queue);
	recorder_walk(&recorder);
	dup2(file, STDERR_FILENO);
	recorder_summary(&recorder, "x");
	dup2(before, STDERR_FILENO);
	ck_assert_int_gt(pread(file, line, sizeof(line) - 1, 0), 0);
	ck_assert_msg(
	    strstr(line,
		"2 samples, 1 reach the outermost frame (75.00 %); ended early: "
		"1 copy of the stack cut off; a stack larger than its copy needs"),
	    "%s", line);
	unwinder_free(&recorder.unwinder);
	perfdata_writer_free(&recorder.writer);
}
