/* SPDX-License-Identifier: MIT */
#include "profile/stacks/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sandbox/sandbox.h"

/* The answer of the process, in memory that both have: this, the section, the rules, the symbols,
 * and the text of their names. */
struct apart_answer {
	struct err err; /* kind ERR_NONE: it went well */
	uint64_t size, address, n_extra, n_symbols, n_text, dynamic;
};

struct apart_symbol {
	uint64_t addr, size;
	uint32_t name, rank; /* name: where it begins in the text */
};

/* Bytes of one answer: no table of an honest file is larger. */
#define APART_MAX (UINT64_C(1) << 30)

static bool apart_write(int fd, const void *bytes, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t put = write(fd, (const uint8_t *)bytes + done, size - done);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		done += (size_t)put;
	}
	return true;
}

static bool apart_write_symbols(int fd, const struct rows *rows)
{
	for (size_t i = 0; i < rows->symbols.n; i++) {
		const struct symbol *symbol = &rows->symbols.list[i];
		const struct apart_symbol one = {symbol->addr, symbol->size,
		    (uint32_t)(symbol->name - rows->names), symbol->rank};

		if (!apart_write(fd, &one, sizeof(one)))
			return false;
	}
	return true;
}

/* Gives up what the work does not need. The limit of memory counts what is mapped already. */
static void apart_enter(int file, int out, const struct apart_limits *limits)
{
	const struct rlimit none = {0}, time = {limits->seconds, limits->seconds};
	/* Memory that descriptors have is not part of the limit of memory. */
	const struct rlimit file_size = {APART_MAX, APART_MAX}, files = {8, 8};
	struct rlimit memory = {limits->memory, limits->memory};
	struct sandbox_state state;
	struct sandbox box;
	unsigned long long pages = 0;
	FILE *statm = fopen("/proc/self/statm", "re");

	if (statm && fscanf(statm, "%llu", &pages) == 1)
		memory.rlim_cur = memory.rlim_max =
		    limits->memory + pages * (uint64_t)sysconf(_SC_PAGESIZE);
	if (statm)
		fclose(statm);
	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_CPU, &time);
	setrlimit(RLIMIT_AS, &memory);
	setrlimit(RLIMIT_FSIZE, &file_size);
	dup2(file, 3);
	dup2(out, 4);
	/* Linux 5.9. */
	if (syscall(SYS_close_range, 6, ~0U, 0) != 0)
		for (int fd = 6; fd < 65536; fd++)
			close(fd);
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	sandbox_init(&box, false);
	setrlimit(RLIMIT_NOFILE, &files);
	sandbox_enter(&box, &state);
}

/* The process: both descriptors are above 5, which keeps the pipe open. */
static _Noreturn void apart_work(
    int file, int out, const char *path, bool names, const struct apart_limits *limits)
{
	struct apart_answer answer = {0};
	struct rows rows = {0};

	apart_enter(file, out, limits);
	if (!rows_make_here(3, path, names, &rows, &answer.err) &&
	    answer.err.kind == ERR_NONE)
		answer.err.kind = ERR_UNSUPPORTED;
	answer.size = rows.size;
	answer.address = rows.address;
	answer.n_extra = rows.n_extra;
	answer.n_symbols = rows.symbols.n;
	answer.n_text = rows.n_names;
	answer.dynamic = rows.symbols.dynamic;
	_exit(apart_write(4, &answer, sizeof(answer)) &&
		      apart_write(4, rows.section, rows.size) &&
		      apart_write(4, rows.extra, rows.n_extra * sizeof(*rows.extra)) &&
		      apart_write_symbols(4, &rows) &&
		      apart_write(4, rows.names, rows.n_names)
		  ? 0
		  : 1);
}

/* A descriptor above those that the process uses. */
static int apart_above(int fd)
{
	int above = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 10);

	if (fd >= 0)
		close(fd);
	return above;
}

static bool apart_location(const struct eh2sframe_location *location)
{
	return location->place <= EH2SFRAME_PLACE_AT_SUM &&
	       location->reg < EH2SFRAME_WALK_N_REGISTERS;
}

static bool apart_check_extra(const struct rows *rows)
{
	for (size_t i = 0; i < rows->n_extra; i++) {
		const struct eh2sframe_rule *rule = &rows->extra[i].rule;

		if (!apart_location(&rule->cfa) || !apart_location(&rule->ra) ||
		    !apart_location(&rule->fp) ||
		    rule->cfa_index >= EH2SFRAME_WALK_N_REGISTERS || rule->cfa_shift > 63)
			return false;
	}
	return true;
}

/* n bytes of the answer in memory of their own; NULL for none, and when memory runs out. */
static void *apart_take(const uint8_t **at, uint64_t n)
{
	void *copy = n ? malloc(n) : NULL;

	if (copy)
		memcpy(copy, *at, n);
	*at += n;
	return copy;
}

static bool apart_take_symbols(
    const struct apart_answer *answer, const struct apart_symbol *from, struct rows *rows)
{
	rows->n_names = answer->n_text;
	rows->symbols.dynamic = answer->dynamic != 0;
	if (answer->n_text && (!rows->names || rows->names[answer->n_text - 1]))
		return false;
	for (size_t i = 0; i < answer->n_symbols; i++) {
		const struct symbol symbol = {.addr = from[i].addr,
		    .size = from[i].size,
		    .name = rows->names + from[i].name,
		    .rank = (uint8_t)from[i].rank};

		/* In their order, as the one that is shown is the last of its address. */
		if (from[i].name >= answer->n_text ||
		    (i && from[i].addr < from[i - 1].addr) ||
		    !symbols_add(&rows->symbols, &symbol))
			return false;
	}
	return true;
}

/* bytes: of the whole answer, which nobody writes to any more. */
static bool apart_read(
    const uint8_t *bytes, uint64_t size, struct rows *rows, struct err *err)
{
	struct apart_answer answer;
	const uint8_t *at = bytes + sizeof(answer);
	struct apart_symbol *symbols;
	uint64_t left = size - sizeof(answer), extra_size, symbols_size;
	bool ok;

	memcpy(&answer, bytes, sizeof(answer));
	answer.err.text[sizeof(answer.err.text) - 1] = '\0';
	if (answer.err.kind != ERR_NONE)
		return err_set(err,
		    answer.err.kind == ERR_NOMEM ? ERR_LIMIT : ERR_UNSUPPORTED, "%s",
		    answer.err.text);
	if (answer.n_extra > left || answer.n_symbols > left)
		return err_set(err, ERR_INTERNAL, "an answer that is no answer");
	extra_size = answer.n_extra * sizeof(*rows->extra);
	symbols_size = answer.n_symbols * sizeof(*symbols);
	if (answer.size > left || answer.n_text > left ||
	    answer.size + extra_size + symbols_size + answer.n_text != left)
		return err_set(err, ERR_INTERNAL, "an answer that is no answer");
	rows->size = answer.size;
	rows->address = answer.address;
	rows->n_extra = answer.n_extra;
	rows->section = apart_take(&at, answer.size);
	rows->extra = apart_take(&at, extra_size);
	symbols = apart_take(&at, symbols_size);
	rows->names = apart_take(&at, answer.n_text);
	ok = !rows->section == !answer.size && !rows->extra == !extra_size &&
	     !symbols == !symbols_size && apart_check_extra(rows) &&
	     apart_take_symbols(&answer, symbols, rows);
	free(symbols);
	/* A walk must not find rules that were refused. */
	if (!ok)
		rows_free(rows);
	return ok || err_set(err, ERR_INTERNAL, "an answer that is no answer");
}

/*
 * Waits for the end of the process, which is when nobody else has the writing end of the pipe. One that closed it and goes on is ended;
 * one that ends has its status already.
 */
static bool apart_wait(
    pid_t child, int pipe_end, const struct apart_limits *limits, struct err *err)
{
	struct pollfd one = {.fd = pipe_end, .events = POLLIN};
	int status = -1, n;

	do
		n = poll(&one, 1, (int)limits->seconds * 3000);
	while (n < 0 && errno == EINTR);
	kill(child, SIGKILL);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return (n > 0 && status == 0) ||
	       err_set(err, ERR_LIMIT,
		   "the file takes more than %u s or %llu MiB to convert, or ended the "
		   "process that tried",
		   limits->seconds, (unsigned long long)limits->memory >> 20);
}

static bool apart_answer_of(int out, struct rows *rows, struct err *err)
{
	struct stat st;
	uint8_t *bytes;
	bool ok;

	if (fstat(out, &st) != 0 || st.st_size < (off_t)sizeof(struct apart_answer) ||
	    (uint64_t)st.st_size > APART_MAX)
		return err_set(err, ERR_INTERNAL, "an answer that is no answer");
	/* The process has ended. */
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, out, 0);
	if (bytes == MAP_FAILED)
		return err_set_nomem(err);
	ok = apart_read(bytes, (uint64_t)st.st_size, rows, err);
	munmap(bytes, (size_t)st.st_size);
	return ok;
}

bool apart_make(int fd, const char *path, bool names, const struct apart_limits *limits,
    struct rows *rows, struct err *err)
{
	int out = apart_above(memfd_create("rows", MFD_CLOEXEC));
	int file = fcntl(fd, F_DUPFD_CLOEXEC, 10), ends[2] = {-1, -1};
	pid_t child = -1;
	bool ok = false;

	if (out >= 0 && file >= 0 && pipe2(ends, O_CLOEXEC) == 0)
		child = fork();
	if (child == 0) {
		/* The writing end is the last one to go. */
		if (ends[1] != 5 && dup2(ends[1], 5) < 0)
			_exit(1);
		apart_work(file, out, path, names, limits);
	}
	if (ends[1] >= 0)
		close(ends[1]);
	if (child < 0)
		err_set_errno(err, "%s: a process to convert it cannot be started", path);
	else
		ok = apart_wait(child, ends[0], limits, err) &&
		     apart_answer_of(out, rows, err);
	if (ends[0] >= 0)
		close(ends[0]);
	if (out >= 0)
		close(out);
	if (file >= 0)
		close(file);
	return ok;
}
