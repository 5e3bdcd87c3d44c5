/* SPDX-License-Identifier: MIT */
/* The comparison and the summary of a run. */
#include "cmd/report/news.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/random.h>

#include "cmd/report/github.h"

/* Until the token GitHub takes no line for a command, whatever names of files and functions
 * are in it. A name in a file cannot contain the token. */
static bool news_stop_commands(struct report_news *news, struct eh2sframe_error *error)
{
	uint64_t random;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return cmd_fail_errno(error, "cannot get random bytes");
	snprintf(news->token, sizeof(news->token), "%016" PRIx64, random);
	printf("::stop-commands::%s\n", news->token);
	fflush(stdout);
	return true;
}

static void news_take_commands(struct report_news *news)
{
	if (news->token[0])
		printf("::%s::\n", news->token);
	news->token[0] = '\0';
}

const char *report_news_page(const struct args *args)
{
	const char *page = args->github ? getenv("GITHUB_STEP_SUMMARY") : NULL;

	return page && *page ? page : NULL;
}

bool report_news_open(struct report_news *news, const struct args *args, const char **at,
    struct eh2sframe_error *error)
{
	const char *page = report_news_page(args);

	*news = (struct report_news){.github = args->github, .keeps = args->github};
	*at = args->baseline;
	if (!report_gate_open(&news->gate, args->baseline,
		!args->batch &&
		    (args->n_paths == 1 || (args->command != COMMAND_REPORT &&
					       args->command != COMMAND_CHECK_CODE)),
		error))
		return false;
	*at = NULL;
	if (!news->github)
		return true;
	if (page) {
		*at = news->page_path = page;
		/* Other steps of a job have written to it. */
		news->page = fopen(page, "ae");
		if (!news->page)
			return cmd_fail_errno(error, "cannot open the summary");
	}
	*at = NULL;
	return news_stop_commands(news, error);
}

void report_news_deinit(struct report_news *news)
{
	news_take_commands(news);
	if (news->page)
		fclose(news->page);
	report_gate_deinit(&news->gate);
	report_table_deinit(&news->table);
	*news = (struct report_news){0};
}

/* Takes the object; NULL: error has the reason already. */
static bool news_judge_object(
    struct report_news *news, json_t *file, struct eh2sframe_error *error)
{
	struct eh2sframe_error late;
	bool ok;

	if (!file)
		return false;
	ok = report_gate_judge(&news->gate, file, error);
	if (!report_gate_note(&news->gate, file, &late)) {
		*error = late;
		ok = false;
	}
	json_decref(file);
	return ok;
}

bool report_news_judge(struct report_news *news, struct eh2sframe_result *result,
    struct eh2sframe_error *error)
{
	return !news->gate.path ||
	       news_judge_object(news, report_of_result(result, error), error);
}

bool report_news_judge_check(struct report_news *news,
    const struct eh2sframe_check *check, struct eh2sframe_error *error)
{
	return news->gate.path
		   ? news_judge_object(news, report_of_check(check, true, error), error)
		   : eh2sframe_check_judge(check, error);
}

bool report_news_add(struct report_news *news, const char *path,
    const struct eh2sframe_result *result, const struct eh2sframe_error *why,
    struct eh2sframe_error *error)
{
	return !news->keeps || report_table_add(&news->table, path, result, why, error);
}

bool report_news_add_file(
    struct report_news *news, json_t *file, struct eh2sframe_error *error)
{
	return (!news->gate.path || report_gate_note(&news->gate, file, error)) &&
	       (!news->keeps || report_table_add_file(&news->table, file, error));
}

/* Closes the page. Returns the status with this. */
static int news_page_end(struct report_news *news, const char *done, int status)
{
	struct eh2sframe_error error;
	bool ok;

	if (!news->page)
		return status;
	ok = !ferror(news->page);
	if (fclose(news->page) != 0)
		ok = false;
	news->page = NULL;
	if (ok)
		return status;
	cmd_fail_errno(&error, "cannot write the summary");
	if (done)
		return print_late(status, done, news->page_path, &error);
	return print_worse(status, print_error(news->page_path, &error));
}

int report_news_print(
    struct report_news *news, const struct args *args, const char *done, int status)
{
	status = print_worse(status, report_gate_print(&news->gate, args->verbosity < 0));
	if (!news->github)
		return status;
	news_take_commands(news);
	report_table_sort(&news->table);
	report_github_annotations(&news->table, &news->gate, stdout);
	report_github_page(
	    &news->table, &news->gate, args->top, news->page ? news->page : stdout);
	return news_page_end(news, done, status);
}
