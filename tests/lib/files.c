/* SPDX-License-Identifier: MIT */
/*
 * The library makes files as the header says, and changes nothing that belongs to the
 * caller.
 */
#include "tests/lib/lib.h"

#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

/* notify counts calls here. */
struct temporary {
	size_t begun, gone;
	bool right;
	char path[300];
};

static void notify(void *context, const char *path, bool exists)
{
	struct temporary *temporary = context;
	struct stat st;
	sigset_t now;

	if (exists) {
		temporary->begun++;
		sigprocmask(SIG_BLOCK, NULL, &now);
		snprintf(temporary->path, sizeof(temporary->path), "%s", path);
		temporary->right &=
		    stat(path, &st) == 0 && sigismember(&now, SIGTERM) == 1;
	} else {
		temporary->gone++;
		temporary->right &= stat(path, &st) < 0 && !strcmp(path, temporary->path);
	}
}

/* The library calls notify when each temporary file begins to exist and when it is gone. */
static void temporaries(const char *path)
{
	struct eh2sframe_options *options = eh2sframe_options_new();
	struct temporary seen = {.right = true};
	struct eh2sframe_error error;
	struct eh2sframe_result *result, *at_once;
	struct eh2sframe_file *file;
	bool ok;

	eh2sframe_options_on_temporary(options, notify, &seen);
	file = eh2sframe_open_path(path, options, &error);
	result = eh2sframe_convert(file, NULL, &error);
	check(result && seen.begun == 0, "no temporary file of a conversion");
	ok = eh2sframe_result_write_path(result, scratch_path("out"), &error);
	check(ok && seen.right && seen.begun == 1 && seen.gone == 1, "one of a file");
	ok = eh2sframe_result_section_path(result, 0, scratch_path("bare"), &error);
	check(ok && seen.right && seen.begun == 2 && seen.gone == 2, "one of a section");
	at_once = eh2sframe_convert(file, scratch_path("out"), &error);
	check(at_once && seen.right && seen.begun == 3 && seen.gone == 3,
	    "one of a file converted at once");
	ok = eh2sframe_result_write_path(result, "/dev/null", &error);
	check(!ok && seen.begun == 3, "none where nothing can be: %s", error.text);
	ok = !eh2sframe_convert(file, "/dev/null", &error);
	check(ok && seen.begun == 3, "none at once: %s", error.text);
	eh2sframe_result_free(result);
	eh2sframe_result_free(at_once);
	eh2sframe_close(file);
	file = eh2sframe_open_path(scratch_path("out"), options, &error);
	ok = eh2sframe_file_remove_path(file, scratch_path("removed"), &error);
	check(ok && seen.right && seen.begun == 4 && seen.gone == 4, "one of a removal");
	eh2sframe_close(file);
	eh2sframe_options_free(options);
}

static bool has_mode(const char *path, unsigned int mode)
{
	struct stat st;

	return stat(path, &st) == 0 && (st.st_mode & 07777) == mode;
}

/* Without an input that has a mode, the mode is 0666 less the umask. No other thread sets
 * the umask. */
static void modes(const char *path)
{
	struct bytes bytes = file_read(path);
	const char *out = scratch_path("out"), *bare = scratch_path("bare");
	struct eh2sframe_error error;
	struct eh2sframe_result *result, *at_once;
	struct eh2sframe_file *file;
	mode_t before = umask(027);

	unlink(bare);
	file = eh2sframe_open_memory(bytes.data, bytes.size, "x", NULL, &error);
	result = eh2sframe_convert(file, NULL, &error);
	check(eh2sframe_result_section_path(result, 0, bare, &error) &&
		  has_mode(bare, 0640),
	    "the mode of a section");
	unlink(out);
	check(eh2sframe_result_write_path(result, out, &error) && has_mode(out, 0640),
	    "the mode of a file from memory");
	unlink(out);
	at_once = eh2sframe_convert(file, out, &error);
	check(at_once && has_mode(out, 0640), "the mode of a file converted at once");
	check(umask(before) == 027, "the umask is what it was");
	eh2sframe_result_free(result);
	eh2sframe_result_free(at_once);
	eh2sframe_close(file);
	/* An input file passes its mode on. */
	file_write(scratch_path("own"), bytes.data, bytes.size);
	chmod(scratch_path("own"), 0750);
	file = eh2sframe_open_path(scratch_path("own"), NULL, &error);
	result = eh2sframe_convert(file, NULL, &error);
	unlink(out);
	check(eh2sframe_result_write_path(result, out, &error) && has_mode(out, 0750),
	    "the mode of a file from a file");
	eh2sframe_result_free(result);
	unlink(out);
	result = eh2sframe_convert(file, out, &error);
	check(result && has_mode(out, 0750), "the mode of it at once");
	eh2sframe_result_free(result);
	eh2sframe_close(file);
	bytes_free(&bytes);
}

/* The library does not change what it borrows. */
static void borrowed(const char *path)
{
	struct bytes bytes = file_read(path), got = {0};
	size_t room = (bytes.size + 8191) & ~(size_t)4095;
	char *whole = aligned_alloc(4096, room);
	struct eh2sframe_error error;
	struct eh2sframe_result *result;
	struct eh2sframe_file *file;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool ok;

	/* These are whole pages, so only the library's care keeps them unchanged. */
	memcpy(whole, bytes.data, bytes.size);
	file = eh2sframe_open_memory(whole, bytes.size, "x", NULL, &error);
	result = eh2sframe_convert(file, NULL, &error);
	ok = eh2sframe_result_write_memory(result, (void **)&got.data, &got.size, &error);
	eh2sframe_result_free(result);
	eh2sframe_close(file);
	check(ok && !memcmp(whole, bytes.data, bytes.size), "memory stays as it was");
	eh2sframe_free(got.data);
	free(whole);
	lseek(fd, 17, SEEK_SET);
	file = eh2sframe_open_fd(fd, "x", NULL, &error);
	result = eh2sframe_convert(file, NULL, &error);
	ok = eh2sframe_result_write_memory(result, (void **)&got.data, &got.size, &error);
	check(ok && lseek(fd, 0, SEEK_CUR) == 17, "a descriptor stays where it was");
	eh2sframe_result_free(result);
	eh2sframe_close(file);
	check(close(fd) == 0, "and open");
	eh2sframe_free(got.data);
	bytes_free(&bytes);
}

/* The vDSO, which no file has: its section headers are behind the segment, on the same pages. */
static void vdso(void)
{
	const void *bytes = (const void *)getauxval(AT_SYSINFO_EHDR);
	const ElfW(Ehdr) *ehdr = bytes;
	struct eh2sframe_error error;
	struct eh2sframe_result *result;
	struct eh2sframe_file *file;
	struct bytes got = {0};

	if (!bytes || !ehdr->e_shoff)
		return;
	file = eh2sframe_open_memory(bytes,
	    ehdr->e_shoff + (size_t)ehdr->e_shnum * ehdr->e_shentsize, "vdso", NULL,
	    &error);
	result = eh2sframe_convert(file, NULL, &error);
	check(
	    eh2sframe_result_section(result, 0, (void **)&got.data, &got.size, &error) &&
		got.size,
	    "the section of the vDSO: %zu bytes", got.size);
	eh2sframe_result_free(result);
	eh2sframe_close(file);
	eh2sframe_free(got.data);
}

void test_files(const char *path)
{
	temporaries(path);
	modes(path);
	borrowed(path);
	vdso();
}
