/* SPDX-License-Identifier: MIT */
/*
 * The page: its own lines, and between them the profile as data. Each thread has its nodes, a
 * caller before its callees, as three numbers: the function, by how many levels the caller is
 * above that of the node before, and the weight on top.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
	/* A pass over the lines. */
	uint32_t *seen; /* 1 + the last group that has each node */
	uint32_t *path; /* room for the deepest stack */
	uint32_t level; /* of the node that was written last */
	uint64_t n_nodes;
	bool written; /* otherwise they are only counted */
};

/* Files that are none come after the modules, and functions that are none after those named. */
enum { PAGE_JIT = 0, PAGE_UNKNOWN = 1, PAGE_INCOMPLETE = 2, PAGE_NARROW = 3 };
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
	json_text_member("unit", page->tree->weighted ? info->unit : "", page->out);
}

/* The weight of stacks that end so, in the order of enum profile_why. */
static void page_ends(const struct page *page)
{
	uint64_t weights[PROFILE_N_WHYS] = {0};
	char mark[OUTPUT_MARK_SIZE];
	const char *comma = "";

	for (size_t i = 0; i < page->profile->n_samples; i++) {
		const struct profile_sample *sample = &page->profile->samples[i];

		weights[sample->why] += page->tree->weighted ? sample->weight : 1;
	}
	fputs(",\"ends\":[", page->out);
	for (unsigned int why = 0; why < PROFILE_N_WHYS; why++) {
		if (!weights[why])
			continue;
		fprintf(page->out,
		    "%s{\"why\":\"%s\",\"mark\":\"%s\",\"weight\":%" PRIu64
		    ",\"complete\":%s}",
		    comma, profile_why_text(why),
		    profile_why_outermost(why)
			? ""
			: output_name(
			      page->naming, page->naming->n_functions + why, mark),
		    weights[why], profile_why_complete(why) ? "true" : "false");
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
	page_file("[compiled at run time]", "", "jit", "},", page->out);
	page_file("[unknown]", "", "unknown", "},", page->out);
	page_file("", "", "incomplete", "},", page->out);
	page_file("", "", "left", "}]", page->out);
}

void output_names(const struct naming *naming, FILE *out)
{
	char mark[OUTPUT_MARK_SIZE];

	for (size_t i = 0; i < naming->n_functions + PROFILE_N_WHYS; i++) {
		fputs(i ? ",\n" : "", out);
		json_text_write(output_name(naming, i, mark), out);
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
		    function->kind == PROFILE_FRAME_JIT	      ? n + PAGE_JIT
		    : function->kind == PROFILE_FRAME_UNKNOWN ? n + PAGE_UNKNOWN
							      : function->module);
	}
	for (size_t i = 0; i < PROFILE_N_WHYS; i++)
		fprintf(page->out, "%zu,", n + PAGE_INCOMPLETE);
	fprintf(page->out, "%zu]}", n + PAGE_NARROW);
}

/* Marks are never left out. */
static bool page_is_light(const struct page *page, uint32_t node)
{
	return node && page->tree->nodes[node].weight < page->least &&
	       page->tree->nodes[node].function < page->naming->n_functions;
}

/* self: what has no frame. */
static void page_thread(struct page *page, uint32_t index, uint64_t self)
{
	const struct profile_thread *thread = &page->profile->threads[index];

	page->level = 0;
	page->seen[0] = index + 1;
	if (!page->written)
		return;
	fprintf(page->out, "\n{\"pid\":%u,\"tid\":%u", thread->pid, thread->tid);
	json_text_member("comm", thread->comm, page->out);
	fprintf(page->out, ",\"self\":%" PRIu64 ",\"nodes\":[", self);
}

/* Writes a node with samples, and those of its callers that its thread does not have yet. */
static void page_node(struct page *page, uint32_t node, uint32_t group, uint64_t weight)
{
	const struct tree_node *nodes = page->tree->nodes;
	const uint32_t left_out = (uint32_t)page->naming->n_functions + PROFILE_N_WHYS;
	uint32_t n = 0;

	for (; page->seen[node] != group + 1; node = nodes[node].parent) {
		page->seen[node] = group + 1;
		page->path[n++] = node;
	}
	page->n_nodes += n;
	while (page->written && n-- > 0) {
		const uint32_t at = page->path[n], depth = nodes[at].depth;

		fprintf(page->out, "%s%" PRIu32 ",%" PRIu32 ",%" PRIu64,
		    page->level ? "," : "",
		    page_is_light(page, at) ? left_out : nodes[at].function,
		    page->level + 1 - depth, n ? 0 : weight);
		page->level = depth;
	}
}

/* Passes over all lines, or, while nothing is written, over those that the page has room for. */
static void page_nodes(struct page *page, bool written)
{
	const struct tree_line *lines = page->tree->lines;
	const size_t n = page->tree->n_lines;

	page->written = written;
	page->n_nodes = 0;
	memset(page->seen, 0, page->tree->n_nodes * sizeof(*page->seen));
	for (size_t i = 0; i < n && (written || page->n_nodes <= PAGE_NODES);) {
		const size_t first = i;
		const uint32_t group = (uint32_t)lines[i].group,
			       node = page->kept[lines[i].node];
		uint64_t weight = 0;

		while (
		    i < n && lines[i].group == group && page->kept[lines[i].node] == node)
			weight += lines[i++].weight;
		if (!first || lines[first - 1].group != group)
			page_thread(page, group, node ? 0 : weight);
		page_node(page, node, group, weight);
		if (written && (i == n || lines[i].group != group))
			fputs(i == n ? "]}" : "]},", page->out);
	}
}

/* Leaves out light nodes until the page has room. */
static void page_choose(struct page *page)
{
	const struct tree *tree = page->tree;
	uint64_t n = page->profile->n_samples, total = tree->nodes[0].weight;
	uint64_t mean = n ? total / n : 0; /* of a sample */

	for (page->least = 1;; page->least += page->least > mean ? page->least : mean) {
		for (uint32_t i = 1; i < tree->n_nodes; i++) {
			uint32_t caller = tree->nodes[i].parent,
				 beside = page->kept[i - 1];

			page->kept[i] = i;
			if (page_is_light(page, i) && page_is_light(page, caller))
				page->kept[i] = page->kept[caller];
			else if (page_is_light(page, i) && page_is_light(page, beside) &&
				 tree->nodes[beside].parent == caller)
				page->kept[i] = beside;
		}
		page_nodes(page, false);
		if (page->least > total || page->n_nodes <= PAGE_NODES)
			return;
	}
}

static void page_write(struct page *page, const char *version)
{
	page_choose(page);
	page_lines(output_page_head, page->out);
	page_info(page, version);
	page_ends(page);
	page_files(page);
	page_functions(page);
	fputs(",\"threads\":[", page->out);
	page_nodes(page, true);
	fputs("]}", page->out);
	page_lines(output_page_tail, page->out);
}

bool output_page(const struct profile *profile, const struct naming *naming,
    const char *version, FILE *out, struct err *err)
{
	struct page page = {.profile = profile, .naming = naming, .out = out};
	struct tree tree = {0};
	bool ok = tree_make(profile, naming, NULL, &tree, err);

	page.tree = &tree;
	if (ok) {
		page.kept = calloc(tree.n_nodes, 3 * sizeof(*page.kept));
		ok = page.kept || err_set_nomem(err);
	}
	if (ok) {
		page.seen = page.kept + tree.n_nodes;
		/* No stack is deeper than there are nodes. */
		page.path = page.seen + tree.n_nodes;
		page_write(&page, version);
	}
	free(page.kept);
	tree_free(&tree);
	return ok;
}
