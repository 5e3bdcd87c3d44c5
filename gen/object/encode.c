/* SPDX-License-Identifier: MIT */
/* Makes the bytes of an object's .sframe sections from its model. */
#include <stdlib.h>

#include "gen/elf/object/object.h"
#include "gen/object/write.h"

/* The command line cannot be refused earlier: only the file says that it is an object. */
bool object_options(const struct options *options, struct err *err)
{
	if (!options->format_given && !options->reader)
		return err_set(err, ERR_USAGE,
		    "a relocatable object needs the version that its linker takes: "
		    "--format=1 for GNU ld 2.40, 2 for 2.41 to 2.45, 3 from 2.46 on and "
		    "for kernel modules");
	if (options->optimize_given && options->share)
		return err_set(err, ERR_USAGE,
		    "--optimize is for linked files: a linker reads the rows of each "
		    "function of an object separately");
	if (options->method != METHOD_AUTO)
		return err_set(err, ERR_USAGE,
		    "--method is for linked files: an object has no segments");
	return true;
}

/* A function and what it shares an .sframe with. */
struct encode_key {
	size_t number; /* of a section or group; 0: one .sframe for all */
	struct sf_func func;
};

/* Returns the number of the section or group by which the .sframe sections are ordered. */
static size_t key_number(const struct image *image, const struct options *options,
    const struct object_place *place)
{
	switch (options->object_sections) {
	case OBJECT_SECTIONS_ONE:
		return 0;
	case OBJECT_SECTIONS_GROUP:
		return image->object->users[place->section].group;
	case OBJECT_SECTIONS_TEXT:
		return place->section;
	}
	return 0;
}

static int key_compare(const void *a, const void *b)
{
	const struct encode_key *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->func.start < y->func.start ? -1 : x->func.start > y->func.start;
}

/* Sorts the functions so that those of one section follow each other, ascending. */
static bool sframes_sort(const struct image *image, const struct options *options,
    struct sf_section *model, struct encode_key **ret)
{
	struct encode_key *keys = calloc(model->n_funcs, sizeof(*keys));

	if (!keys)
		return false;
	for (size_t i = 0; i < model->n_funcs; i++) {
		const struct object_place *place =
		    object_place_at(image->object, model->funcs[i].start);

		keys[i] = (struct encode_key){
		    key_number(image, options, place), model->funcs[i]};
	}
	qsort(keys, model->n_funcs, sizeof(*keys), key_compare);
	for (size_t i = 0; i < model->n_funcs; i++)
		model->funcs[i] = keys[i].func;
	*ret = keys;
	return true;
}

/* Divides the functions into .sframe sections: at most as many as functions. */
static bool sframes_divide(const struct image *image, const struct options *options,
    struct sf_section *model, struct object_output *output, struct err *err)
{
	struct encode_key *keys;
	size_t end;

	if (model->n_funcs == 0)
		return true;
	output->sframes = calloc(model->n_funcs, sizeof(*output->sframes));
	if (!output->sframes || !sframes_sort(image, options, model, &keys))
		return err_set_nomem(err);
	for (size_t first = 0; first < model->n_funcs; first = end) {
		struct object_sframe *sframe = &output->sframes[output->n_sframes++];

		for (end = first + 1;
		     end < model->n_funcs && keys[end].number == keys[first].number;)
			end++;
		sframe->first = first;
		sframe->n = end - first;
		if (options->object_sections == OBJECT_SECTIONS_TEXT)
			sframe->text = keys[first].number;
		if (options->object_sections != OBJECT_SECTIONS_ONE)
			sframe->group = image->object
					    ->users[object_place_at(
						image->object, keys[first].func.start)
							->section]
					    .group;
	}
	free(keys);
	return true;
}

/*
 * GNU as writes the same. The functions are not sorted, because only the linker knows their
 * order. They share nothing, because the linker takes them one by one.
 */
bool object_encode(const struct image *image, const struct options *options,
    struct sf_section *model, struct object_output *output, struct sf_encode_stats *stats,
    struct err *err)
{
	const struct sf_encode_options encoding = {.version = options->format,
	    .pcrel = options_pcrel(options),
	    .unsorted = true};

	output->pcrel = encoding.pcrel;
	output->version = encoding.version;
	if (!sframes_divide(image, options, model, output, err))
		return false;
	for (size_t i = 0; i < output->n_sframes; i++) {
		struct object_sframe *sframe = &output->sframes[i];
		struct sf_section section = *model;
		struct sf_encode_stats one;

		section.funcs += sframe->first;
		section.n_funcs = sframe->n;
		wr_init(&sframe->bytes, model->big_endian);
		if (!sf_encode(&section, &encoding, &sframe->bytes, &one, err))
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
	for (size_t i = 0; i < output->n_sframes; i++)
		wr_deinit(&output->sframes[i].bytes);
	free(output->sframes);
	*output = (struct object_output){0};
}
