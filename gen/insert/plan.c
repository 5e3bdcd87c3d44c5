/* SPDX-License-Identifier: MIT */
/*
 * Asks each method in turn whether it applies and keeps what kept the file from the one
 * before. Places behind the loaded bytes what is the same for both: names, undo record,
 * section headers.
 */
#include "gen/insert/internal.h"

#include "base/num.h"

/* In the order of gen/options/method.h: the one that changes less of the file comes first. */
static enum obstacle (*const planners[N_METHODS])(const struct image *image,
    const struct insert_slots *slots, struct insert_plan *plan, struct err *err) = {
    [METHOD_SLACK] = insert_plan_slack,
    [METHOD_GROW] = insert_plan_grow,
};

void insert_plan_start(
    const struct image *image, enum method method, struct insert_plan *plan)
{
	plan->method = method;
	plan->grown = plan->sframe_entry = plan->table_load = INSERT_NONE;
	plan->dropped[0] = plan->dropped[1] = INSERT_NONE;
	plan->n_phdrs = image->n_phdrs;
	plan->phdr_off = image->ehdr.e_phoff;
	plan->segment_size = 0;
	plan->table_moves_for = OBSTACLE_NONE;
	plan->grow = (struct insert_grow){0};
	plan->add_phdr = false;
	/* The address of a table that stays: only PT_PHDR cares, and says it itself. */
	plan->phdr_addr = 0;
	for (size_t i = 0; i < image->n_phdrs; i++)
		if (image->phdrs[i].p_type == PT_PHDR)
			plan->phdr_addr = image->phdrs[i].p_vaddr;
}

/* The refusal of a method that was asked for, or of the last one. */
static bool plan_refuse(const struct insert_plan *plan, struct err *err)
{
	/* err may have a more exact reason than the obstacle's sentence. */
	if (err->kind == ERR_NONE)
		err_set(err, ERR_UNSUPPORTED,
		    "the method %s does not apply: %s; eh2sframe section writes the "
		    "section alone",
		    method_name(plan->method),
		    obstacle_text(plan->obstacles[plan->method]));
	return false;
}

/* Older releases of Linux start no program whose program header table is longer than a page. */
static bool plan_table_fits(const struct image *image, const struct insert_slots *slots,
    const struct insert_plan *plan)
{
	return slots->library || plan->n_phdrs <= INSERT_MIN_PAGE / INSERT_PHDR_SIZE ||
	       image->n_phdrs > INSERT_MIN_PAGE / INSERT_PHDR_SIZE;
}

/*
 * Linux before 6.7 takes for the .bss of an interpreter what follows its highest file byte: it
 * writes zeros there, and nowhere else. A caller who names the method knows that.
 */
static enum obstacle plan_method(const struct image *image,
    const struct insert_slots *slots, enum method method, bool named,
    struct insert_plan *plan, struct err *err)
{
	enum obstacle obstacle;

	plan->above_loader = slots->loader && method == METHOD_GROW;
	if (plan->above_loader && !named)
		return OBSTACLE_LOADER;
	obstacle = planners[method](image, slots, plan, err);
	if (obstacle != OBSTACLE_NONE)
		return obstacle;
	return plan_table_fits(image, slots, plan) ? OBSTACLE_NONE : OBSTACLE_TABLE_SIZE;
}

static bool choose_method(const struct image *image, const struct insert_slots *slots,
    enum method method, struct insert_plan *plan, struct err *err)
{
	for (enum method i = 0; i < N_METHODS; i++) {
		if (method != METHOD_AUTO && i != method)
			continue;
		/* Only the last method's words are for the user. */
		*err = (struct err){0};
		insert_plan_start(image, i, plan);
		plan->obstacles[i] =
		    plan_method(image, slots, i, method != METHOD_AUTO, plan, err);
		if (plan->obstacles[i] == OBSTACLE_NONE)
			return true;
	}
	return plan_refuse(plan, err);
}

/*
 * Behind the last loaded byte: the grown name table, the undo record, the section
 * headers. The record ends where the headers start, which is how it is found again.
 */
static bool place_tail(const struct image *image, const struct insert_slots *slots,
    struct insert_plan *plan, struct err *err)
{
	uint64_t names_size = insert_names_place(image, slots).size, ranges, end;

	end = plan->segment_size ? plan->segment_off + plan->segment_size : image->size;
	plan->tail_off = plan->segment_size ? plan->sframe_off + plan->sframe_size : end;
	if (names_size) {
		plan->strtab_off = end;
		end += names_size;
	}
	ranges = insert_record_ranges_size(image, plan);
	if (!num_align_up(end, 8, &plan->record_off) || !num_align_up(ranges, 8, &ranges))
		return err_set(err, ERR_LIMIT, "%s", obstacle_text(OBSTACLE_TOO_LARGE));
	plan->record_size = ranges + INSERT_FOOTER_SIZE;
	plan->file_size = plan->record_off + plan->record_size;
	if (!image->n_sections)
		return true;
	plan->n_sections = image->n_sections + (insert_owned(image, plan).size > 0) +
			   (slots->sframe_section == INSERT_NONE) +
			   (slots->record_section == INSERT_NONE);
	plan->shdr_off = plan->file_size;
	plan->file_size += plan->n_sections * INSERT_SHDR_SIZE;
	return true;
}

bool insert_plan(const struct image *image, uint64_t sframe_size, enum method method,
    struct insert_plan *plan, struct err *err)
{
	struct insert_slots slots;

	*plan = (struct insert_plan){.sframe_size = sframe_size};
	return insert_refuse(image, err) && insert_slots_find(image, &slots, err) &&
	       choose_method(image, &slots, method, plan, err) &&
	       (insert_over_old(plan) || insert_refuse_kernel(image, err)) &&
	       place_tail(image, &slots, plan, err);
}
