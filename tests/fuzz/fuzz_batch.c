/* SPDX-License-Identifier: MIT */
/*
 * Fuzzes the parts of eh2sframe tree that read input outside of the sandbox, in the process that starts the workers: the
 * messages of a worker that may have been taken over, and of a relocatable object the names of sections and the end. And
 * archives, which one process reads.
 */
#include "tests/fuzz/fuzz.h"

#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd/archive/archive.h"
#include "cmd/batch/module.h"
#include "cmd/batch/worker.h"
#include "cmd/report/report.h"

const char *const fuzz_section = NULL;

/* A descriptor at the beginning of the bytes. */
static int open_bytes(const uint8_t *data, size_t size)
{
	int fd = memfd_create("bytes", MFD_CLOEXEC);

	FUZZ_ASSERT(fd >= 0 && write(fd, data, size) == (ssize_t)size &&
			lseek(fd, 0, SEEK_SET) == 0,
	    "cannot write %zu bytes", size);
	return fd;
}

static void check_report(struct report_document *document, json_t *report)
{
	struct eh2sframe_error error;
	json_int_t before =
	    document->sums.done + document->sums.failed + document->sums.skipped;
	bool ok;

	FUZZ_ASSERT(json_string_value(json_object_get(report, "path")), "no %s", "path");
	FUZZ_ASSERT(
	    json_is_integer(json_object_get(report, "status")), "no %s", "status");
	ok = report_document_add(document, report, true, &error);
	FUZZ_ASSERT(ok || error.status == EH2SFRAME_INPUT, "%s", error.text);
	FUZZ_ASSERT(
	    document->sums.done + document->sums.failed + document->sums.skipped <=
		before + 1,
	    "more than one %s", "file");
	json_decref(report);
}

/* The bytes as what comes out of the worker's pipe. */
static void read_messages(const uint8_t *data, size_t size)
{
	/* No process has this number. */
	struct batch_worker worker = {.pid = INT_MAX, .fd = open_bytes(data, size)};
	struct report_document document;
	struct eh2sframe_error error;
	bool ended = false;
	json_t *report;
	size_t file;
	FILE *out;

	FUZZ_ASSERT(report_document_init(&document, &error), "%s", error.text);
	while (!ended) {
		FUZZ_ASSERT(batch_worker_read(&worker, &ended, &error), "%s", error.text);
		while (batch_worker_next(&worker, &file, &report))
			check_report(&document, report);
		FUZZ_ASSERT(!worker.broken || worker.n == 0, "%zu bytes of a broken one",
		    worker.n);
	}
	report_document_sort(&document);
	out = fopen("/dev/null", "w");
	FUZZ_ASSERT(out && report_write_all(&document, fputs, out), "no %s", "document");
	fclose(out);
	report_document_deinit(&document);
	close(worker.fd);
	free(worker.bytes);
}

/* The bytes as a file in a tree. */
static void look_at_object(const uint8_t *data, size_t size)
{
	struct stat st = {.st_size = (off_t)size};
	struct args args = {.verb = VERB_CONVERT, .modules = true};
	int fd = open_bytes(data, size);
	const char *skip = batch_module_skip(&args, fd, &st);

	FUZZ_ASSERT(
	    !skip || !strcmp(skip, "relocatable") || !strcmp(skip, "signed-module"), "%s",
	    skip);
	args.drop_signatures = true;
	skip = batch_module_skip(&args, fd, &st);
	FUZZ_ASSERT(!skip || !strcmp(skip, "relocatable"), "%s", skip);
	close(fd);
}

/* The bytes as an archive, written again with the same bodies. */
static void rewrite_archive(const uint8_t *data, size_t size)
{
	int fd = open_bytes(data, size);
	struct archive_writer writer = {0};
	struct eh2sframe_error error;
	struct archive archive;
	size_t n = 8;
	char *out;
	bool ok = archive_open(fd, "archive", &archive, &error);

	FUZZ_ASSERT(asprintf(&out, "%s/new.a", getenv(FUZZ_DIR)) > 0, "no %s", "memory");
	if (ok && archive.bytes)
		ok = archive_write_begin(&writer, &archive, out, NULL, &error);
	for (size_t i = 0; ok && i < archive.n; i++) {
		const struct archive_member *member = &archive.members[i];
		char *name = archive_name(&archive, i);

		FUZZ_ASSERT(name && member->body <= member->end && member->next <= size,
		    "%s", name);
		ok = archive_kind(&archive, i) == EH2SFRAME_KIND_RELOCATABLE
			 ? archive_write_member(&writer, i, archive.bytes + member->body,
			       member->end - member->body, &error)
			 : archive_write_member(&writer, i, NULL, 0, &error);
		n += member->next - member->at;
		free(name);
	}
	ok = ok && writer.in && archive_write_end(&writer, &error);
	FUZZ_ASSERT(!ok || writer.at == n || writer.at == n + 1, "%zu bytes, not %zu",
	    writer.at, n);
	newfile_abort(&writer.output);
	archive_close(&archive);
	free(out);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_messages(data, size);
	look_at_object(data, size);
	rewrite_archive(data, size);
	return 0;
}
