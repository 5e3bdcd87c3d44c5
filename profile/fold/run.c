/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/num.h"
#include "base/plain.h"
#include "base/regular.h"
#include "base/program/fail.h"
#include "base/program/print.h"
#include "config.h"
#include "profile/fold/command.h"
#include "profile/output/output.h"
#include "profile/profile.h"

const char *const fold_formats[FOLD_N_FORMATS][2] = {
    [FOLD_FOLDED] = {"folded", ".folded"},
    [FOLD_HTML] = {"html", ".html"},
    [FOLD_FIREFOX] = {"firefox", ".json"},
};

bool fold_format_of(const char *path, enum fold_format *format)
{
	const char *end = strrchr(path, '.');
	unsigned int i = 0;

	while (i < FOLD_N_FORMATS && (!end || strcmp(end, fold_formats[i][1]) != 0))
		i++;
	*format = (enum fold_format)i;
	return i < FOLD_N_FORMATS;
}

/* Turns an error of the profile into the command's; always false. */
static bool fold_failed(const struct err *err, struct eh2sframe_error *error)
{
	enum eh2sframe_status status = EH2SFRAME_INPUT;

	if (err->kind == ERR_NOMEM)
		status = EH2SFRAME_NO_MEMORY;
	else if (err->kind == ERR_IO)
		status = EH2SFRAME_IO;
	else if (err->kind == ERR_INTERNAL)
		status = EH2SFRAME_BUG;
	return cmd_fail(error, status, "%s%s", err->text,
	    status == EH2SFRAME_INPUT && !strstr(err->text, "; ") ? "; record again"
								  : "");
}

/* Lets each sample count 1 where all have one weight, or where their sum is no number, as in damage. */
static void fold_weigh(struct profile *profile)
{
	uint64_t sum = 0;
	bool differ = false;

	for (size_t i = 0; i < profile->n_samples; i++) {
		differ |= profile->samples[i].weight != profile->samples[0].weight;
		if (profile->samples[i].weight > INT64_MAX - sum)
			sum = INT64_MAX;
		else
			sum += profile->samples[i].weight;
	}
	if (differ && sum < INT64_MAX)
		return;
	*profile->info.unit = '\0';
	for (size_t i = 0; i < profile->n_samples; i++)
		profile->samples[i].weight = 1;
}

static bool fold_read(
    const struct fold_args *args, struct profile *profile, struct eh2sframe_error *error)
{
	const char *path = args->recording;
	bool input = strcmp(path, "-") == 0, ok;
	struct err err = {0};
	int fd = input ? STDIN_FILENO
		       : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0)
		return cmd_fail_errno(error, "cannot open");
	ok = profile_init(profile, &err) &&
	     profile_load(profile, fd, !args->no_guess, &err);
	if (!input)
		close(fd);
	if (ok)
		fold_weigh(profile);
	return ok || fold_failed(&err, error);
}

/* "in.rec: 4204 samples, 98.33% with complete stacks; 68 end: copy of the stack cut off". Percentages are of weights. */
static void fold_summary(const struct fold_args *args, const struct profile *profile)
{
	const size_t n = profile->n_samples;
	struct profile_ends ends = {0};

	for (size_t i = 0; i < n; i++)
		profile_ends_add(
		    &ends, profile->samples[i].why, profile->samples[i].weight);
	fprintf(stderr, "%s: ", print_program);
	plain_print(args->title ? args->title : args->recording, stderr);
	fprintf(stderr, ": %zu sample%s, %.2f%% with complete stacks", n, num_s(n),
	    profile_ends_share(&ends, profile_why_complete));
	if (ends.n[PROFILE_GUESSED])
		fprintf(stderr, ", %.2f%% more with frames by frame pointers",
		    profile_ends_share(&ends, profile_why_guessed));
	for (unsigned int why = 0; why < PROFILE_N_WHYS; why++)
		if (ends.n[why] && !profile_why_outermost(why))
			fprintf(stderr, "; %" PRIu64 " end: %s", ends.n[why],
			    profile_why_text(why));
	fputs(profile_ends_advice(&ends), stderr);
	if (profile->info.lost)
		fprintf(stderr, "; %" PRIu64 " lost", profile->info.lost);
	if (profile->info.n_others)
		fprintf(stderr, "; %" PRIu64 " samples of other events left out",
		    profile->info.n_others);
	if (profile->info.cut_off)
		fputs("; the recording was cut off", stderr);
	if (args->format != FOLD_FOLDED && args->output && !args->title) {
		fputs("; open ", stderr);
		plain_print(args->output, stderr);
		fputs(args->format == FOLD_FIREFOX ? " in https://profiler.firefox.com"
						   : "",
		    stderr);
	}
	fputc('\n', stderr);
}

bool fold_is_no_link(const char *path, FILE *file, struct eh2sframe_error *error)
{
	struct stat named, opened;

	if (!path || regular_no_link(path) == 0 || lstat(path, &named) != 0)
		return true;
	return (!S_ISLNK(named.st_mode) &&
		   (!file || (fstat(fileno(file), &opened) == 0 &&
				 named.st_dev == opened.st_dev &&
				 named.st_ino == opened.st_ino))) ||
	       cmd_fail(error, EH2SFRAME_IO,
		   "is a symbolic link; name the file that it leads to");
}

static bool fold_write(const struct fold_args *args, const struct profile *profile,
    const struct print_out *out, struct eh2sframe_error *error)
{
	const char *version = eh2sframe_version();
	struct naming naming = {0};
	struct err err = {0};
	bool ok = naming_run(profile, &args->naming, &naming, &err);

	if (ok) {
		print_start(out);
		ok = args->format == FOLD_FOLDED
			 ? output_folded(profile, &naming, out->file, &err)
		     : args->format == FOLD_HTML
			 ? output_page(profile, &naming, version, out->file, &err)
			 : output_firefox(profile, &naming, version, out->file, &err);
	}
	naming_free(&naming);
	return ok || fold_failed(&err, error);
}

/* Opens the output before the work, so that an output that cannot be written costs no time. */
static bool fold_output(const struct fold_args *args, const struct profile *profile,
    struct eh2sframe_error *error)
{
	struct print_out out;

	return fold_is_no_link(args->output, NULL, error) &&
	       print_open(args->output, true, &out, error) &&
	       print_close(&out,
		   fold_is_no_link(out.path, out.file, error) &&
		       fold_write(args, profile, &out, error),
		   error);
}

int fold_run(const struct fold_args *args)
{
	struct profile profile = {0};
	struct eh2sframe_error error;
	const char *path = args->title ? args->title : args->recording;
	bool ok = fold_read(args, &profile, &error);

	if (ok && !profile.n_samples)
		ok = cmd_fail(&error, EH2SFRAME_NOTHING, "the recording has no samples");
	if (ok && !fold_output(args, &profile, &error)) {
		ok = false;
		/* The recording is to blame for its contents alone. */
		if (error.status == EH2SFRAME_IO)
			path = args->output ? args->output : "standard output";
	}
	if (ok && !args->quiet)
		fold_summary(args, &profile);
	profile_free(&profile);
	return ok ? EH2SFRAME_DONE : print_error(path, &error);
}
