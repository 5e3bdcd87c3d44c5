/* SPDX-License-Identifier: MIT */
/* From the model of an object to the bytes of its .sframe sections. */
#include <stdlib.h>

#include "gen/object.h"
#include "gen/object_write.h"

bool object_options(const struct options *options, struct err *err)
{
	if (!options->format_given)
		return err_set(err, ERR_USAGE,
			"a relocatable object: name the version that its linker takes, "
			"--format=1 for GNU ld 2.40, 2 for 2.41 to 2.45, 3 from 2.46 on");
	if (options->optimize_given && options->share)
		return err_set(err, ERR_USAGE,
			"--optimize is for linked files: a linker reads the rows of each "
			"function of an object by themselves");
	if (options->method != METHOD_AUTO)
		return err_set(err, ERR_USAGE,
			"--method is for linked files: an object has no segments");
	return true;
}

/* The functions of one section of code follow each other. */
static size_t part_end(
	const struct object *object, const struct sf_section *model, size_t first)
{
	const struct object_place *place =
		object_place_at(object, model->funcs[first].start);
	size_t end = first;

	while (end < model->n_funcs &&
		model->funcs[end].start - place->addr < place->size)
		end++;
	return end;
}

static bool parts_divide(const struct image *image, const struct options *options,
	const struct sf_section *model, struct object_output *output, struct err *err)
{
	const struct object *object = image->object;
	size_t end;

	output->parts = calloc(
		options->object_per_text ? object->n_places : 1, sizeof(*output->parts));
	if (!output->parts)
		return err_set_nomem(err);
	if (!options->object_per_text) {
		output->parts[output->n_parts++].n = model->n_funcs;
		return true;
	}
	for (size_t first = 0; first < model->n_funcs; first = end) {
		end = part_end(object, model, first);
		output->parts[output->n_parts++] = (struct object_part){.first = first,
			.n = end - first,
			.text = object_place_at(object, model->funcs[first].start)
					->section};
	}
	return true;
}

/*
 * As GNU as writes it: not sorted, for only the linker knows the order; nothing shared,
 * for it takes functions one by one.
 */
bool object_encode(const struct image *image, const struct options *options,
	const struct sf_section *model, struct object_output *output,
	struct sf_encode_stats *stats, struct err *err)
{
	const struct sf_encode_options encoding = {.version = options->format,
		.pcrel = options->pcrel && options->format > 1,
		.unsorted = true,
		.jobs = options->jobs};

	output->pcrel = encoding.pcrel;
	output->version = encoding.version;
	if (!parts_divide(image, options, model, output, err))
		return false;
	for (size_t i = 0; i < output->n_parts; i++) {
		struct object_part *part = &output->parts[i];
		struct sf_section section = *model;
		struct sf_encode_stats one;

		section.funcs += part->first;
		section.n_funcs = part->n;
		wr_init(&part->bytes, model->big_endian);
		if (!sf_encode(&section, &encoding, &part->bytes, &one, err))
			return false;
		stats->index_bytes += one.index_bytes;
		stats->row_bytes += one.row_bytes;
		stats->n_funcs += one.n_funcs;
		stats->n_rows += one.n_rows;
	}
	return true;
}

void object_output_deinit(struct object_output *output)
{
	for (size_t i = 0; i < output->n_parts; i++)
		wr_deinit(&output->parts[i].bytes);
	free(output->parts);
	*output = (struct object_output){0};
}
