/* SPDX-License-Identifier: MIT */
/*
 * The page: its own lines, and between them the profile as data. Each thread has its nodes, a
 * caller before its callees, as three numbers: the function, by how many levels the caller is
 * above that of the node before, and the weight on top.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "profile/output/json_text.h"
#include "profile/output/output.h"
#include "profile/output/flame_page.h"
#include "profile/output/stack_tree.h"

struct page {
	const struct profile *profile;
	const struct naming *naming;
	const struct tree *tree;
	/* Maps each node to itself, or to the nearest caller that is not left out. */
	uint32_t *kept;
	uint64_t least; /* weight of a node that is not left out */
	uint32_t *path; /* room for the deepest stack */
	FILE *out;
};

/* Files that are none come after the modules, and functions that are none after those named. */
enum { PAGE_JIT = 0, PAGE_UNKNOWN = 1, PAGE_INCOMPLETE = 2, PAGE_NARROW = 3 };
enum { PAGE_LEFT_OUT = PROFILE_N_WHYS };

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

/* How stacks end, in the order of enum profile_why. */
static void page_ends(const struct page *page)
{
	uint64_t counts[PROFILE_N_WHYS] = {0};
	char mark[OUTPUT_MARK_SIZE];
	const char *comma = "";

	for (size_t i = 0; i < page->profile->n_samples; i++)
		counts[page->profile->samples[i].why]++;
	fputs(",\"ends\":[", page->out);
	for (unsigned int why = 0; why < PROFILE_N_WHYS; why++) {
		if (!counts[why])
			continue;
		output_mark(why, mark);
		/* Stacks without a mark in the tree. */
		if (profile_why_outermost(why))
			*mark = '\0';
		fprintf(page->out,
		    "%s{\"why\":\"%s\",\"mark\":\"%s\",\"samples\":%" PRIu64
		    ",\"complete\":%s}",
		    comma, profile_why_text(why), mark, counts[why],
		    profile_why_complete(why) ? "true" : "false");
		comma = ",";
	}
	fputs("]", page->out);
}

static void page_file(
    const char *name, const char *path, const char *kind, const char *comma, FILE *out)
{
	fprintf(out, "%s\n{\"name\":", comma);
	json_text_write(name, out);
	json_text_member("path", path, out);
	json_text_member("kind", kind, out);
	fputs("}", out);
}

static void page_files(const struct page *page)
{
	const struct profile *profile = page->profile;

	fputs(",\"files\":[", page->out);
	for (size_t i = 0; i < profile->n_modules; i++) {
		const struct profile_module *module = &profile->modules[i];

		page_file(naming_base(module->path), module->path,
		    module->flags & PROFILE_MODULE_KERNEL ? "kernel" : "file",
		    i ? "," : "", page->out);
	}
	page_file("[compiled at run time]", "", "jit", profile->n_modules ? "," : "",
	    page->out);
	page_file("[unknown]", "", "unknown", ",", page->out);
	page_file("", "", "incomplete", ",", page->out);
	page_file("", "", "left", ",", page->out);
	fputs("]", page->out);
}

static size_t page_file_of(
    const struct page *page, const struct naming_function *function)
{
	size_t n = page->profile->n_modules;

	if (function->kind == PROFILE_FRAME_JIT)
		return n + PAGE_JIT;
	if (function->kind == PROFILE_FRAME_UNKNOWN)
		return n + PAGE_UNKNOWN;
	return function->module;
}

void output_names(const struct naming *naming, FILE *out)
{
	char mark[OUTPUT_MARK_SIZE];

	for (size_t i = 0; i < naming->n_functions; i++, fputs(",\n", out))
		json_text_write(naming->functions[i].name, out);
	for (unsigned int why = 0; why < PROFILE_N_WHYS; why++) {
		output_mark(why, mark);
		fprintf(out, "%s\"%s\"", why ? "," : "", mark);
	}
}

static void page_functions(const struct page *page)
{
	const struct naming *naming = page->naming;

	fputs(",\"functions\":{\"name\":[", page->out);
	output_names(naming, page->out);
	fputs(",\"[left out: few samples each]\"],\"file\":[", page->out);
	for (size_t i = 0; i < naming->n_functions; i++)
		fprintf(page->out, "%zu,", page_file_of(page, &naming->functions[i]));
	for (size_t i = 0; i < PROFILE_N_WHYS; i++)
		fprintf(page->out, "%zu,", page->profile->n_modules + PAGE_INCOMPLETE);
	fprintf(page->out, "%zu]}", page->profile->n_modules + PAGE_NARROW);
}

/* One pass over the lines: of each thread, the path to the node before. */
struct page_pass {
	const struct page *page;
	uint32_t *path;	 /* nodes by depth - 1, of the line before */
	uint32_t length; /* of path */
	uint32_t why;	 /* of the line before */
	uint32_t level;	 /* levels of what was written last: marks count, too */
	uint64_t n_nodes;
	bool written; /* otherwise they are only counted */
	bool first;   /* in its thread */
};

static void page_node(
    struct page_pass *pass, uint32_t function, uint32_t level, uint64_t weight)
{
	FILE *out = pass->page->out;

	pass->n_nodes++;
	if (pass->written)
		fprintf(out, "%s%" PRIu32 ",%" PRIu32 ",%" PRIu64, pass->first ? "" : ",",
		    function, pass->level + 1 - level, weight);
	pass->first = false;
	pass->level = level;
}

/* Writes the nodes of a line that the line before does not have. */
static void page_line(
    struct page_pass *pass, const struct tree_line *line, uint64_t weight)
{
	const struct page *page = pass->page;
	const struct tree_node *nodes = page->tree->nodes;
	uint32_t marks = (uint32_t)page->naming->n_functions;
	uint32_t base = line->why ? 1 : 0, node = page->kept[line->node], shared, depth;
	bool left_out = node != line->node;

	if (pass->why != line->why)
		pass->length = 0;
	depth = nodes[node].depth;
	if (line->why && (pass->first || pass->why != line->why))
		page_node(pass, marks + line->why, 1, depth || left_out ? 0 : weight);
	pass->why = line->why;
	shared = depth;
	for (uint32_t at = node; at; at = nodes[at].parent, shared--) {
		if (shared <= pass->length && pass->path[shared - 1] == at)
			break;
		pass->path[shared - 1] = at;
	}
	for (uint32_t i = shared; i < depth; i++)
		page_node(pass, nodes[pass->path[i]].function, base + i + 1,
		    i + 1 == depth && !left_out ? weight : 0);
	pass->length = depth;
	if (left_out)
		page_node(pass, marks + PAGE_LEFT_OUT, base + depth + 1, weight);
}

/* How many lines from here on are of one thread and end in one node of the page. */
static size_t page_same(const struct page *page, size_t first, uint64_t *weight)
{
	const struct tree *tree = page->tree;
	const struct tree_line *line = &tree->lines[first];
	size_t n = 0;

	*weight = 0;
	for (; first + n < tree->n_lines; n++) {
		const struct tree_line *other = &tree->lines[first + n];

		if (other->group != line->group || other->why != line->why ||
		    page->kept[other->node] != page->kept[line->node] ||
		    (page->kept[other->node] == other->node) !=
			(page->kept[line->node] == line->node))
			break;
		*weight += other->weight;
	}
	return n;
}

/* self: what has no frame. */
static void page_thread(
    struct page_pass *pass, uint32_t index, uint64_t self, bool begins)
{
	const struct profile_thread *thread = &pass->page->profile->threads[index];
	FILE *out = pass->page->out;

	pass->length = pass->level = pass->why = 0;
	pass->first = true;
	if (!pass->written)
		return;
	fprintf(out, "%s\n{\"pid\":%u,\"tid\":%u", begins ? "" : "]},", thread->pid,
	    thread->tid);
	json_text_member("comm", thread->comm, out);
	fprintf(out, ",\"self\":%" PRIu64 ",\"nodes\":[", self);
}

/* Gives how many nodes there are, as far as they are not more than the page may have. */
static uint64_t page_nodes(const struct page *page, bool written)
{
	struct page_pass pass = {.page = page, .path = page->path, .written = written};
	const struct tree *tree = page->tree;
	uint64_t weight;
	size_t same;

	for (size_t i = 0; i < tree->n_lines; i += same) {
		const struct tree_line *line = &tree->lines[i];

		same = page_same(page, i, &weight);
		if (!i || line->group != line[-1].group)
			page_thread(&pass, line->group,
			    line->why || line->node ? 0 : weight, i == 0);
		page_line(&pass, line, weight);
		if (!written && pass.n_nodes > OUTPUT_PAGE_NODES)
			break;
	}
	if (written)
		fputs(tree->n_lines ? "]}" : "", page->out);
	return pass.n_nodes;
}

/* Leaves out light nodes until the page has room. */
static void page_choose(struct page *page)
{
	const struct tree *tree = page->tree;
	uint64_t n = page->profile->n_samples, total = tree->nodes[0].weight;
	uint64_t mean = n ? total / n : 0; /* of a sample */

	for (page->least = 1;; page->least += page->least > mean ? page->least : mean) {
		for (uint32_t i = 0; i < tree->n_nodes; i++)
			page->kept[i] = !i || tree->nodes[i].weight >= page->least
					    ? i
					    : page->kept[tree->nodes[i].parent];
		if (page->least > total || page_nodes(page, false) <= OUTPUT_PAGE_NODES)
			return;
	}
}

static bool page_write(struct page *page, const char *version, struct err *err)
{
	size_t n = page->tree->n_nodes;

	page->kept = calloc(n, sizeof(*page->kept));
	/* No stack is deeper than there are nodes. */
	page->path = calloc(n, sizeof(*page->path));
	if (page->kept && page->path) {
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
	n = page->kept && page->path;
	free(page->kept);
	free(page->path);
	return n || err_set_nomem(err);
}

bool output_page(const struct profile *profile, const struct naming *naming,
    const char *version, FILE *out, struct err *err)
{
	struct page page = {.profile = profile, .naming = naming, .out = out};
	uint32_t *groups = calloc(profile->n_threads + 1, sizeof(*groups));
	struct tree tree = {0};
	bool ok;

	if (!groups)
		return err_set_nomem(err);
	for (size_t i = 0; i < profile->n_threads; i++)
		groups[i] = (uint32_t)i;
	ok = tree_make(profile, naming, groups, &tree, err);
	page.tree = &tree;
	ok = ok && page_write(&page, version, err);
	tree_free(&tree);
	free(groups);
	return ok;
}
