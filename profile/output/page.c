/* SPDX-License-Identifier: MIT */
/*
 * The page: its own lines, and between them the profile as data. Nodes, a caller before its callees, are two numbers: the
 * function, and by how many levels the caller is above that of the node before. Each thread has the numbers of nodes, which
 * begin at 1, and the weight on top of each.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/search.h"
#include "profile/output/output.h"
#include "profile/output/stack_tree.h"

struct page {
	const struct profile *profile;
	const struct naming *naming;
	const struct tree *tree;
	uint64_t least; /* weight of a node that is not left out */
	/* For each node, the one that has its samples: itself, or the first of those beside each other that are left out with
	 * all that they call. */
	uint32_t *kept;
	FILE *out;
};

/* The weight of a thread on top of a node of the page. */
struct page_line {
	uint64_t thread, node; /* first, for search_order_pairs */
	uint64_t weight;
};

/* A browser shows this many nodes within a moment. Above, those of least samples are left out. */
enum { PAGE_NODES = 2 * 1000 * 1000 };

static void page_lines(const char *const *lines, FILE *out)
{
	for (; *lines; lines++)
		fputs(*lines, out);
}

static void page_info(const struct page *page, const char *version)
{
	const struct profile_info *info = &page->profile->info;
	const struct profile_sample *samples = page->profile->samples;
	size_t n = page->profile->n_samples;

	fprintf(page->out, "{\"tool\":\"eh2sframe-fold\",\"version\":\"%s\"", version);
	json_text_member("command", info->command, page->out);
	json_text_member("release", info->release, page->out);
	json_text_member("event", info->event, page->out);
	fprintf(page->out,
	    ",\"frequency\":%" PRIu32 ",\"seconds\":%.3f,\"lost\":%" PRIu64
	    ",\"samples\":%zu,\"least\":%" PRIu64 ",\"total\":%" PRIu64,
	    info->frequency,
	    n ? (double)(samples[n - 1].time - samples[0].time) / 1e9 : 0.0, info->lost,
	    n, page->least, page->tree->nodes[0].weight);
	json_text_member("unit", info->unit, page->out);
}

/* The weight of stacks that end so, in the order of enum profile_why. */
static void page_ends(const struct page *page)
{
	uint64_t weights[PROFILE_N_WHYS] = {0};
	const char *comma = "";

	for (size_t i = 0; i < page->profile->n_samples; i++)
		weights[page->profile->samples[i].why] +=
		    page->profile->samples[i].weight;
	fputs(",\"ends\":[", page->out);
	for (unsigned int why = 0; why < PROFILE_N_WHYS; why++) {
		if (!weights[why])
			continue;
		fprintf(page->out,
		    "%s{\"why\":\"%s\",\"marked\":%s,\"weight\":%" PRIu64
		    ",\"complete\":%s}",
		    comma, profile_why_text(why),
		    profile_why_outermost(why) ? "false" : "true", weights[why],
		    profile_why_complete(why) ? "true" : "false");
		comma = ",";
	}
	fputs("]", page->out);
}

static void page_file(
    const char *name, const char *path, const char *kind, const char *end, FILE *out)
{
	fputs("\n{\"name\":", out);
	json_text_write(name, out);
	json_text_member("path", path, out);
	json_text_member("kind", kind, out);
	fputs(end, out);
}

static void page_files(const struct page *page)
{
	const struct profile *profile = page->profile;

	fputs(",\"files\":[", page->out);
	for (size_t i = 0; i < profile->n_modules; i++) {
		const struct profile_module *module = &profile->modules[i];

		page_file(naming_base(module->path), module->path,
		    module->flags & PROFILE_MODULE_KERNEL ? "kernel" : "file", "},",
		    page->out);
	}
	/* The other kinds of frames follow in their order. */
	page_file("[compiled at run time]", "", "jit", "},", page->out);
	page_file("", "", "incomplete", "},", page->out);
	page_file("", "", "thread", "},", page->out);
	page_file("[unknown]", "", "unknown", "},", page->out);
	page_file("", "", "left", "}]", page->out);
}

void output_names(const struct naming *naming, FILE *out)
{
	for (size_t i = 0; i < naming->n_functions; i++) {
		fputs(i ? ",\n" : "", out);
		json_text_write(naming->functions[i].name, out);
	}
}

static void page_functions(const struct page *page)
{
	const struct naming *naming = page->naming;
	const size_t n = page->profile->n_modules;

	fputs(",\"functions\":{\"name\":[", page->out);
	output_names(naming, page->out);
	fputs(",\"[left out: few samples each]\"],\"file\":[", page->out);
	for (size_t i = 0; i < naming->n_functions; i++) {
		const struct naming_function *function = &naming->functions[i];

		fprintf(page->out, "%zu,",
		    function->kind < PROFILE_FRAME_JIT
			? function->module
			: n + function->kind - PROFILE_FRAME_JIT);
	}
	fprintf(page->out, "%zu]}", n + PROFILE_FRAME_UNKNOWN - PROFILE_FRAME_JIT + 1);
}

/* Marks and the names of threads are never left out. */
static bool page_is_light(const struct page *page, uint32_t node)
{
	const struct tree_node *one = &page->tree->nodes[node];
	const uint32_t kind = page->naming->functions[one->function].kind;

	return node && one->weight < page->least && kind != PROFILE_FRAME_MARK &&
	       kind != PROFILE_FRAME_THREAD;
}

/* Leaves out light nodes until the page has room. */
static void page_choose(struct page *page)
{
	const struct tree *tree = page->tree;
	uint64_t n = page->profile->n_samples, total = tree->nodes[0].weight;
	uint64_t mean = n ? total / n : 0; /* of a sample */

	for (page->least = 1;; page->least += page->least > mean ? page->least : mean) {
		size_t n_kept = 0;

		for (uint32_t i = 1; i < tree->n_nodes; i++) {
			uint32_t caller = tree->nodes[i].parent,
				 beside = page->kept[i - 1];

			page->kept[i] = i;
			if (page_is_light(page, i) && page_is_light(page, caller))
				page->kept[i] = page->kept[caller];
			else if (page_is_light(page, i) && page_is_light(page, beside) &&
				 tree->nodes[beside].parent == caller)
				page->kept[i] = beside;
			n_kept += page->kept[i] == i;
		}
		if (page->least > total || n_kept <= PAGE_NODES)
			return;
	}
}

/* Writes the nodes that are kept, and numbers them. */
static void page_nodes(struct page *page)
{
	const struct tree *tree = page->tree;
	uint32_t level = 0, n = 0;

	fputs(",\"nodes\":[", page->out);
	for (uint32_t i = 1; i < tree->n_nodes; i++) {
		const struct tree_node *node = &tree->nodes[i];

		if (page->kept[i] != i) {
			page->kept[i] = page->kept[page->kept[i]];
			continue;
		}
		page->kept[i] = ++n;
		fprintf(page->out, "%s%zu,%" PRIu32, n > 1 ? "," : "",
		    page_is_light(page, i) ? page->naming->n_functions : node->function,
		    level + 1 - node->depth);
		level = node->depth;
	}
	fputs("]", page->out);
}

/* Writes the threads with their weights; lines has room for one of each sample. */
static void page_threads(const struct page *page, struct page_line *lines)
{
	const struct profile *profile = page->profile;
	const size_t n = profile->n_samples;

	for (size_t i = 0; i < n; i++) {
		const struct profile_sample *sample = &profile->samples[i];

		lines[i] = (struct page_line){sample->thread,
		    page->kept[page->tree->of_stack[sample->stack]], sample->weight};
	}
	qsort(lines, n, sizeof(*lines), search_order_pairs);
	fputs(",\"threads\":[", page->out);
	for (size_t i = 0, end; i < n; i = end) {
		const struct profile_thread *thread = &profile->threads[lines[i].thread];
		const bool first = !i || lines[i - 1].thread != lines[i].thread;
		uint64_t weight = 0;

		for (end = i; end < n && !search_order_pairs(&lines[i], &lines[end]);)
			weight += lines[end++].weight;
		if (first) {
			fprintf(page->out, "%s\n{\"pid\":%u,\"tid\":%u", i ? "]}," : "",
			    thread->pid, thread->tid);
			json_text_member("comm", thread->comm, page->out);
			fputs(",\"weights\":[", page->out);
		}
		fprintf(page->out, "%s%" PRIu64 ",%" PRIu64, first ? "" : ",",
		    lines[i].node, weight);
	}
	fputs(n ? "]}]" : "]", page->out);
}

static void page_write(struct page *page, const char *version, struct page_line *lines)
{
	page_choose(page);
	page_lines(output_page_head, page->out);
	page_info(page, version);
	page_ends(page);
	page_files(page);
	page_functions(page);
	page_nodes(page);
	page_threads(page, lines);
	fputs("}", page->out);
	page_lines(output_page_tail, page->out);
}

bool output_page(const struct profile *profile, const struct naming *naming,
    const char *version, FILE *out, struct err *err)
{
	struct page page = {.profile = profile, .naming = naming, .out = out};
	struct page_line *lines = calloc(profile->n_samples + 1, sizeof(*lines));
	struct tree tree = {0};
	bool ok = lines ? tree_make(profile, naming, &tree, err) : err_set_nomem(err);

	page.tree = &tree;
	if (ok) {
		page.kept = calloc(tree.n_nodes, sizeof(*page.kept));
		ok = page.kept || err_set_nomem(err);
	}
	if (ok)
		page_write(&page, version, lines);
	free(page.kept);
	free(lines);
	tree_free(&tree);
	return ok;
}
