/* SPDX-License-Identifier: MIT */
/*
 * A dynamic programme over the elements of a line. A piece with rows of its own costs a
 * part that depends on where it begins only, one that depends on its end only, and the
 * width of its row starts times their number; so for each width the cheapest beginning
 * is the least one in a window that slides along, and the line costs linear time however
 * long pieces may be.
 */
#include "sframe/compact/cut.h"

#include <stdlib.h>

static const struct {
	int64_t width;
	uint64_t reach;
} widths[] = {{1, UINT8_MAX}, {2, UINT16_MAX}, {4, UINT32_MAX}};

enum { N_WIDTHS = 3 };

struct window {
	struct compact_beginning *queue; /* each cheaper than all before it */
	size_t head, tail;
	uint32_t left;
};

struct cut_run {
	const struct compact *compact;
	const struct compact_line *line;
	struct compact_cut *cut;
	struct window windows[N_WIDTHS];
	uint32_t left; /* the first beginning that the bound on rows allows */
};

static void window_add(struct window *window, uint32_t from, int64_t cost)
{
	while (
	    window->tail > window->head && window->queue[window->tail - 1].cost >= cost)
		window->tail--;
	window->queue[window->tail++] = (struct compact_beginning){cost, from};
}

/* Adds the beginning at from, the last one before to, to the windows. */
static void windows_add(struct cut_run *run, uint32_t from)
{
	const struct compact_element *head = &run->line->list[from], *next = head + 1;
	int64_t cost = run->cut->best[from] +
		       ((int64_t)run->compact->kinds.list[head->kind].len - next->bytes) *
			   COMPACT_BYTE;

	for (int i = 0; i < N_WIDTHS; i++)
		window_add(&run->windows[i], from,
		    cost + widths[i].width * (1 - (int64_t)next->rows) * COMPACT_BYTE);
}

/* Where pieces that end behind inside, the element before to, may begin. */
static void move_left(
    struct cut_run *run, const struct compact_element *inside, uint32_t to)
{
	while (run->left < inside->begin &&
	       compact_rows(run->line, run->left, to) > run->compact->options->max_rows)
		run->left++;
	if (run->left < inside->chain)
		run->left = inside->chain;
}

/* The cheapest piece before to that has rows of its own. before: the last place for a cut in front of it. */
static void cut_own(struct cut_run *run, uint32_t before, uint32_t to)
{
	const struct compact_element *list = run->line->list, *end = &list[to];
	uint64_t last = list[list[to - 1].last].addr;
	int64_t best = INT64_MAX;

	windows_add(run, before);
	move_left(run, &list[to - 1], to);
	for (int i = 0; i < N_WIDTHS; i++) {
		struct window *window = &run->windows[i];
		const struct compact_beginning *first;
		int64_t cost;

		if (window->left < run->left)
			window->left = run->left;
		while (list[window->left].addr < last &&
		       last - list[window->left].addr > widths[i].reach)
			window->left++;
		while (window->head < window->tail &&
		       window->queue[window->head].from < window->left)
			window->head++;
		/* The rows behind the last place for a cut reach further than this width does. */
		if (window->head == window->tail)
			continue;
		first = &window->queue[window->head];
		cost = first->cost + widths[i].width * end->rows * COMPACT_BYTE;
		if (cost >= best)
			continue;
		best = cost;
		run->cut->from[to] = first->from;
	}
	run->cut->block[to] = COMPACT_NO_BLOCK;
	run->cut->best[to] = best + ((int64_t)run->compact->piece_len +
					run->compact->attr_len + end->bytes) *
					COMPACT_BYTE;
}

/* Makes room for n elements; no contents are kept. */
static bool cut_reserve(struct compact_cut *cut, size_t n)
{
	if (n <= cut->cap)
		return true;
	n += n / 2;
	free(cut->best);
	cut->best = calloc(n, sizeof(*cut->best) + N_WIDTHS * sizeof(*cut->queue[0]) +
				  3 * sizeof(*cut->from));
	cut->cap = cut->best ? n : 0;
	if (!cut->best)
		return false;
	cut->queue[0] = (void *)(cut->best + n);
	for (int i = 1; i < N_WIDTHS; i++)
		cut->queue[i] = cut->queue[i - 1] + n;
	cut->from = (void *)(cut->queue[N_WIDTHS - 1] + n);
	cut->to = cut->from + n;
	cut->block = cut->to + n;
	return true;
}

/* Turns what is known by the end of a piece into what is known by its beginning. */
static void cut_reverse(struct compact_cut *cut, uint32_t n)
{
	uint32_t block = cut->block[n];

	for (uint32_t to = n, from; to > 0; to = from) {
		uint32_t before;

		from = cut->from[to];
		before = cut->block[from];
		cut->to[from] = to;
		cut->block[from] = block;
		block = before;
	}
}

bool compact_cut_line(const struct compact *compact, const struct compact_offer *offers,
    size_t n_offers, const uint32_t *price, bool marks_only, struct compact_cut *cut)
{
	struct cut_run run = {.compact = compact, .line = &compact->line, .cut = cut};
	const struct compact_offer *offer = offers,
				   *end = n_offers ? offers + n_offers : offers;

	if (!cut_reserve(cut, compact->line.n + 1))
		return false;
	for (int i = 0; i < N_WIDTHS; i++)
		run.windows[i].queue = cut->queue[i];
	cut->best[0] = 0;
	cut->block[0] = COMPACT_NO_BLOCK;
	for (uint32_t i = 1, before = 0, to; before < compact->line.n; i++, before = to) {
		to = marks_only ? compact->line.marks[i] : i;
		cut_own(&run, before, to);
		for (; offer < end && offer->to == to; offer++) {
			int64_t cost = cut->best[offer->from] +
				       (int64_t)compact->piece_len * COMPACT_BYTE +
				       price[offer->block];

			if (cost > cut->best[to])
				continue;
			cut->best[to] = cost;
			cut->from[to] = offer->from;
			cut->block[to] = offer->block;
		}
		/* Prefers the cut between functions when costs are equal. */
		cut->best[to] += !compact_begins(&compact->line, to);
	}
	cut_reverse(cut, (uint32_t)compact->line.n);
	return true;
}

void compact_cut_deinit(struct compact_cut *cut)
{
	free(cut->best);
}
