/* SPDX-License-Identifier: MIT */
/* Writes, proves and installs the output. */
#include "gen/install.h"

#include <inttypes.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "gen/elf/window.h"
#include "gen/insert/undo.h"
#include "gen/verify/lint.h"
#include "gen/verify/prove.h"

/* Below this a thread costs more than it saves. */
#define BESIDE_SIZE ((size_t)1 << 20)

bool install_open(struct install *install, const char *out, struct newfile_input *input,
    const struct options *options, struct err *err)
{
	return out ? newfile_begin(out, input, &options->watch, &install->output, err)
		   : newfile_begin_memory(&install->output, err);
}

static void copy_body(void *context)
{
	struct install *install = context;

	install->copied =
	    insert_body(install->image, install->output.fd, &install->copy_err);
	newfile_written(&install->output);
}

void install_begin(struct install *install, const struct image *image,
    const struct options *options, const char *out)
{
	install->image = image;
	install->options = options;
	install->copied = false;
	install->copy_err = (struct err){0};
	/* Without CFI most conversions come to nothing, so the copy can wait. */
	if (!options_derives(options) && !cfi_sources_any(image, options))
		return;
	if (!install_open(install, out, install->input, options, &install->copy_err))
		return;
	install->beside = options->jobs > 1 && image->size >= BESIDE_SIZE;
	if (install->beside)
		task_start(&install->copying, copy_body, install);
	else
		copy_body(install);
}

bool install_copied(struct install *install, struct err *err)
{
	task_wait(&install->copying);
	if (!install->copied)
		*err = install->copy_err;
	return install->copied;
}

/* True if all bytes of the output are there. In memory, looking at a mapped hole allocates a page, and where there is no room for it, ends
 * the process. */
static bool is_solid(const struct install *install)
{
	struct stat st;

	return fstat(install->output.fd, &st) == 0 && st.st_blocks >= st.st_size / 512;
}

void install_show(struct install *install)
{
	void *map = MAP_FAILED;

	task_wait(&install->copying);
	if (install->copied && !image_memory(install->image) && is_solid(install))
		map = mmap(NULL, install->image->size, PROT_READ, MAP_PRIVATE,
		    install->output.fd, 0);
	if (map == MAP_FAILED)
		return;
	install->shown = map;
	image_use_copy(install->image, map);
}

void install_hide(struct install *install)
{
	if (!install->shown)
		return;
	image_use_copy(install->image, NULL);
	munmap(install->shown, install->image->size);
	install->shown = NULL;
}

/* The file that was written: as a file, and by the rules of its readers. */
struct file_check {
	const struct install *install;
	const struct object_output *object;
	struct image written;
	struct err err;
	bool ok;
	bool with_rules; /* in the same go */
	struct insert_changes changes;
};

static void check_file(void *context)
{
	struct file_check *check = context;
	const struct install *install = check->install;

	if (install->image->object)
		check->ok = object_check(
		    install->image, check->object, &check->written, &check->err);
	else
		check->ok = insert_check(install->image, &install->plan, &check->written,
		    &check->changes, &check->err);
	if (check->with_rules && check->ok)
		check->ok =
		    lint_own_file(&check->written, install->options->reader, &check->err);
}

/* Proves the rows. Without a proof, checks the readers' rules at the same time. */
static bool check_rows(const struct file_check *check, struct install *install,
    const struct coverage *written, struct err *err)
{
	struct verify_result result = {0};
	struct options options;
	struct sf_view view;
	bool ok;

	if (!install->options->prove)
		return check->with_rules ||
		       lint_own_file(&check->written, install->options->reader, err);
	/* The link to the debug file may be relative to the input's place. */
	options = *install->options;
	options.debug_file =
	    install->debug_path ? install->debug_path : options.debug_file;
	ok = lint_view(&check->written, &view, err) &&
	     prove_section(
		 &check->written, &check->written, &view, &options, &result, err);
	/* Objects leave partly covered functions out on purpose; those bytes are not
	 * missing. */
	if (result.missing_bytes == install->left_whole)
		result.missing_bytes = 0;
	ok = ok && prove_judge(&result, written, err);
	install->held = result.held;
	verify_result_deinit(&result);
	return ok;
}

/* True if bytes of the input, which are as many in the output, are there without a change. */
static bool check_same(struct image_window *input, uint64_t was,
    struct image_window *output, uint64_t is, uint64_t size,
    const struct insert_changes *changes)
{
	bool changed = was != is;

	for (size_t i = 0; i < changes->n; i++)
		changed |= was < changes->list[i].off + changes->list[i].size &&
			   was + size > changes->list[i].off;
	return !changed || image_window_same(input, was, output, is, size);
}

/* Checks that an insertion changes no code: a program header that lies can call the
 * file's headers code, for one. */
static bool check_same_code(
    const struct file_check *check, const struct sf_section *model, struct err *err)
{
	const struct image *input = check->install->image, *output = &check->written;
	struct image_window before = {.image = input}, after = {.image = output};
	bool ok = true;

	for (size_t i = 0; !input->object && ok && i < model->n_funcs; i++) {
		const struct sf_func *func = &model->funcs[i];
		const uint8_t *was = image_at_addr(input, func->start, func->size);
		const uint8_t *is = image_at_addr(output, func->start, func->size);

		ok = !was ||
		     (is && check_same(&before, (uint64_t)(was - input->bytes), &after,
				(uint64_t)(is - output->bytes), func->size,
				&check->changes)) ||
		     err_set(err, ERR_MALFORMED,
			 "the function at 0x%" PRIx64
			 " has bytes at offset 0x%tx that an insertion changes: a "
			 "program header is damaged",
			 func->start, was - input->bytes);
	}
	image_window_free(&before);
	image_window_free(&after);
	return ok;
}

bool install_prove(struct install *install, const struct object_output *object,
    const struct sf_section *model, const struct coverage *written, struct err *err)
{
	struct file_check check = {.install = install, .object = object};
	struct task checking = {0};
	const char *path;
	bool ok;

	newfile_written(&install->output);
	path = install->output.memory ? install->image->path : install->output.temp;
	if (is_solid(install))
		ok = image_open_ours(install->output.fd, path, &check.written, err);
	else if (install->output.memory)
		ok = image_open_fd(install->output.fd, path, &check.written, err);
	else
		ok = image_open(path, &check.written, err);
	if (!ok)
		return false;
	check.with_rules = !install->beside || install->options->prove;
	if (install->beside)
		task_start(&checking, check_file, &check);
	else
		check_file(&check);
	if (install->beside || check.ok)
		ok = check_rows(&check, install, written, err);
	task_wait(&checking);
	/* Faults of the file come before faults of its rows. */
	if (!check.ok)
		*err = check.err;
	else if (!check_same_code(&check, model, err))
		ok = false;
	image_close(&check.written);
	/* If the input has changed, the copy has bytes that are not those that were read. What was copied late is only
	 * compared with what there is now. */
	return ok && check.ok ? image_is_unchanged(install->image, err)
			      : image_blame_change(install->image, err);
}

bool install_original(struct install *install, const struct image *image,
    const struct options *options, const char *out, struct err *err)
{
	const uint8_t *data = NULL;
	struct err ignored = {0};
	struct undo undo;
	uint64_t addr;
	size_t size;
	bool ok, found = false;

	install->image = image;
	ok = undo_find(image, &undo, &found, err);
	if (ok && !found)
		ok = err_set(err, ERR_NOTHING, "no .sframe that eh2sframe added%s",
		    image_sframe(image, &data, &size, &addr, &ignored) && data
			? "; objcopy --remove-section .sframe FILE NEW removes that of "
			  "another producer"
			: ", nothing to do");
	ok = ok && install_open(install, out, install->input, options, err) &&
	     undo_write(image, &undo, install->output.fd, err) &&
	     install_commit(install, err);
	install_end(install, ok);
	return ok;
}

bool install_commit(struct install *install, struct err *err)
{
	/* A debug file that was found is an input, too. */
	if (newfile_replaces(&install->output, install->debug_path))
		return err_set(err, ERR_USAGE,
		    "OUT is the debug file %.200s, which is an input; give another name",
		    install->debug_path);
	if (install->output.memory)
		return true;
	return (!install->ready || install->ready(install->context, err)) &&
	       newfile_commit(&install->output, err);
}

void install_end(struct install *install, bool keep)
{
	task_wait(&install->copying);
	install_hide(install);
	if (!keep || !install->output.memory)
		newfile_abort(&install->output);
}
