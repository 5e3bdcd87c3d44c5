/* SPDX-License-Identifier: MIT */
/*
 * Each version of SFrame in turn; random CFI through the
 * whole line (walker, ranges, interpreter, reducer, PLT, encoder, decoder), and the row
 * found for each PC against what the program was made to mean. A PC has no row exactly
 * when no row can say it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "gen/rows/collect.h"
#include "gen/rows/optimize.h"
#include "gen/rows/plt.h"
#include "gen/verify/verify.h"
#include "sframe/check.h"
#include "sframe/encode.h"
#include "tests/prop/prop_rows.h"

enum { MAX_FUNCS = 1 << 18, MAX_ROWS = 1 << 20, CODE_SIZE = 0x20000000 };

/* The line's results for one program. */
struct line {
	struct cfi_frames frames;
	struct cfi_ranges ranges;
	struct sf_section model;
	struct coverage coverage;
	struct wr bytes;
	struct sf_view view;
};

/* The section decoded into arrays, to be searched from end to end. */
struct found {
	struct sf_func funcs[MAX_FUNCS];
	size_t n_funcs;
	struct sf_row *rows; /* MAX_ROWS */
	size_t n_rows;
};

static struct {
	uint64_t seed, iteration;
	uint64_t pcs, sayable, pcmask, flex, outermost, signal;
	/* On machines that have such a thing. */
	uint64_t in_register, is_signed, b_key, fp_alone;
	uint64_t spent;			     /* PCs behind too many operations */
	uint64_t padding;		     /* by what optimises: PCs in it */
	uint64_t together, together_padding; /* --optimize=share: functions, PCs */
	bool compacted;
	uint8_t version;
	uint8_t machine; /* of truth_machines */
} run;

static void fail(const char *what, uint64_t pc, const char *detail)
{
	printf("not ok: %s at 0x%" PRIx64 ": %s\nprop_rows 1 0x%" PRIx64
	       " does it again (iteration %" PRIu64 ")\n",
	    what, pc, detail, run.seed, run.iteration);
	exit(EXIT_FAILURE);
}

static void must(bool ok, const char *what, const struct err *err)
{
	if (!ok)
		fail(what, 0, err->text);
}

/* ---- the truth ---- */

/* Rules that depend on the PC are the same again after so many. */
enum { PERIOD = 256 };

/* True if the CFA was elsewhere than at the entry before pc, which is in segment i, since SP has a rule. */
static bool has_moved(
    const struct program *p, const struct program_fde *fde, size_t i, uint64_t pc)
{
	const struct program_seg *segs = &p->segs[fde->first_seg];
	uint64_t end = pc;

	for (;; i--) {
		for (uint64_t at = segs[i].pc; at < end && at - segs[i].pc < PERIOD; at++)
			if (!truth_is_at_entry(p->machine, &segs[i].state, at))
				return true;
		/* The last one of several at one PC holds. */
		end = segs[i].pc;
		while (i > 0 && segs[i - 1].pc == end)
			i--;
		if (i == 0 || segs[i - 1].state.sp.how == TRUTH_NO_RULE)
			return false;
	}
}

/* Returns the rules at pc, by walking over everything that was made up; *fde is the one that has them. */
static struct truth_answer wanted_at(
    const struct program *p, uint64_t pc, const struct program_fde **fde)
{
	struct truth_target target = {p->machine, run.version, false, false};
	const struct program_fde *speaker = NULL;
	const struct program_seg *seg;

	for (size_t i = 0; i < p->n_fdes; i++) {
		const struct program_fde *one = &p->fdes[i];

		if (pc < one->pc || pc >= one->end || one->duplicate)
			continue;
		if (speaker) /* two of them, and they were made to differ */
			return (struct truth_answer){0};
		speaker = one;
	}
	if (!speaker || speaker->lost)
		return (struct truth_answer){0};
	*fde = speaker;
	target.signal = speaker->signal;
	seg = &p->segs[speaker->first_seg];
	for (size_t i = 1; i < speaker->n_segs; i++)
		if (p->segs[speaker->first_seg + i].pc <= pc)
			seg = &p->segs[speaker->first_seg + i];
	target.moved =
	    p->machine->sp_saved &&
	    has_moved(p, speaker, (size_t)(seg - &p->segs[speaker->first_seg]), pc);
	return truth_answer_at(&target, &seg->state, pc);
}

/* ---- the section ---- */

static void read_back(const struct sf_view *view, struct found *found)
{
	struct sf_view_func func;
	struct sf_row_iter iter;
	struct err err = {0};

	found->n_funcs = found->n_rows = 0;
	for (uint32_t i = 0; i < view->n_funcs; i++) {
		struct sf_func *copy = &found->funcs[found->n_funcs++];

		if (found->n_funcs == MAX_FUNCS)
			fail("too many functions", 0, "");
		must(sf_view_func(view, i, &func, &err), "sf_view_func", &err);
		*copy = func.func;
		copy->first_row = found->n_rows;
		run.pcmask += copy->pcmask;
		sf_rows_begin(view, &func, &iter);
		while (sf_rows_next(&iter, &found->rows[found->n_rows], &err))
			if (++found->n_rows == MAX_ROWS)
				fail("too many rows", 0, "");
		must(!iter.failed, "sf_rows_next", &err);
		if (found->n_rows - copy->first_row != copy->n_rows)
			fail("number of rows", copy->start, "");
	}
}

/* The row for pc as a reader finds it, and its function; NULL when there is none. */
static const struct sf_row *found_at(
    const struct found *found, uint64_t pc, const struct sf_func **owner)
{
	const struct sf_row *row = NULL;
	size_t n = 0;

	for (size_t i = 0; i < found->n_funcs; i++) {
		const struct sf_func *func = &found->funcs[i];
		uint64_t off = pc - func->start;

		if (pc < func->start || off >= func->size)
			continue;
		if (++n > 1)
			fail("two functions", pc, "");
		*owner = func;
		if (func->pcmask)
			off %= func->rep_size;
		for (uint32_t j = 0; j < func->n_rows; j++)
			if (found->rows[func->first_row + j].start <= off)
				row = &found->rows[func->first_row + j];
	}
	return row;
}

static bool same_place(const struct truth_place *wanted, struct sf_loc loc, int32_t off)
{
	static const uint8_t kinds[] = {[SF_LOC_NONE] = TRUTH_NOWHERE,
	    [SF_LOC_AT_CFA] = TRUTH_AT_CFA,
	    [SF_LOC_REG] = TRUTH_VALUE,
	    [SF_LOC_AT_REG] = TRUTH_AT_REG};

	return wanted->kind == kinds[loc.kind] && wanted->reg == loc.reg &&
	       wanted->off == off;
}

static bool same_answer(const struct truth_answer *wanted, const struct sf_row *row)
{
	if (!wanted->sayable || !row)
		return !wanted->sayable && !row;
	return wanted->outermost == row->outermost &&
	       wanted->is_signed == row->ra_signed &&
	       same_place(&wanted->cfa, row->cfa, row->cfa_off) &&
	       same_place(&wanted->ra, row->ra, row->ra_off) &&
	       same_place(&wanted->fp, row->fp, row->fp_off);
}

/* Too few of something would make the test say little. */
static void count(const struct truth_answer *wanted, const struct sf_func *func)
{
	bool elsewhere = wanted->ra.kind == TRUTH_VALUE || wanted->fp.kind == TRUTH_VALUE;

	run.pcs++;
	run.sayable += wanted->sayable;
	run.outermost += wanted->outermost;
	run.flex += wanted->cfa.kind == TRUTH_AT_REG || wanted->ra.kind > TRUTH_AT_CFA ||
		    wanted->fp.kind > TRUTH_AT_CFA;
	run.in_register += elsewhere && run.version == 2;
	run.fp_alone +=
	    wanted->fp.kind && !wanted->ra.kind && !truth_machines[run.machine].fixed_ra;
	run.is_signed += wanted->is_signed;
	run.signal += func && func->signal_frame;
	run.b_key += func && func->pauth_b;
}

/* True if pc is in no FDE, damaged ones included, and between two that are near. */
static bool in_padding(const struct program *p, uint64_t pc)
{
	uint64_t before = 0, after = UINT64_MAX;

	for (size_t i = 0; i < p->n_fdes; i++) {
		const struct program_fde *one = &p->fdes[i];

		if (pc >= one->pc && pc < one->end)
			return false;
		if (one->end <= pc && one->end > before)
			before = one->end;
		if (one->pc > pc && one->pc < after)
			after = one->pc;
	}
	return before && after - before < 16;
}

/* The row is that of the function right before the padding at pc. */
static bool carried_on(const struct found *found, const struct sf_func *func,
    const struct sf_row *row, uint64_t pc)
{
	const struct sf_func *owner = NULL;
	const struct sf_row *before = found_at(found, pc - 1, &owner);

	return before == row && owner == func;
}

static void compare_at(const struct program *p, const struct found *found, uint64_t pc)
{
	const struct program_fde *fde = NULL;
	const struct sf_func *func = NULL;
	struct truth_answer wanted = wanted_at(p, pc, &fde);
	const struct sf_row *row = found_at(found, pc, &func);
	char text[300];

	count(&wanted, func);
	if (same_answer(&wanted, row) &&
	    (!row || (func->signal_frame == fde->signal && func->pauth_b == fde->b_key)))
		return;
	if (run.compacted && !wanted.sayable && in_padding(p, pc) &&
	    carried_on(found, func, row, pc)) {
		run.padding++;
		return;
	}
	if (wanted.sayable && !row && program_may_be_spent(p, fde, pc)) {
		run.spent++;
		return;
	}
	sprintf(text,
	    "%s, cfa %u r%u%+d, ra %u r%u%+d, fp %u r%u%+d; wanted %s, cfa %u "
	    "r%u%+d, ra %u r%u%+d, fp %u r%u%+d (%s, version %u)",
	    row ? "row" : "no row", row ? row->cfa.kind : 0, row ? row->cfa.reg : 0,
	    row ? row->cfa_off : 0, row ? row->ra.kind : 0, row ? row->ra.reg : 0,
	    row ? row->ra_off : 0, row ? row->fp.kind : 0, row ? row->fp.reg : 0,
	    row ? row->fp_off : 0, wanted.sayable ? "row" : "no row", wanted.cfa.kind,
	    wanted.cfa.reg, wanted.cfa.off, wanted.ra.kind, wanted.ra.reg, wanted.ra.off,
	    wanted.fp.kind, wanted.fp.reg, wanted.fp.off, p->machine->name, run.version);
	fail("another answer", pc, text);
}

/* Every PC of every function, and some beside it. */
static void compare_all(const struct program *p, const struct found *found)
{
	for (size_t i = 0; i < p->n_fdes; i++)
		for (uint64_t pc = p->fdes[i].pc - 2; pc < p->fdes[i].end + 2; pc++)
			compare_at(p, found, pc);
}

/* ---- the line ---- */

/* In the order of truth_machines. */
static const struct arch *const archs[TRUTH_MACHINES] = {
    &arch_x86_64, &arch_aarch64, &arch_aarch64_be, &arch_s390x};

/* One of the functions becomes a PLT section of equal entries, which must change no
 * answer. */
static void name_plt(struct program *p, struct image *image,
    struct image_section *section, const struct sf_section *model)
{
	static const uint8_t entries[] = {8, 16, 24, 32};
	const struct sf_func *func;

	if (model->n_funcs == 0)
		return;
	func = &model->funcs[program_random(p, model->n_funcs)];
	*section = (struct image_section){.name = ".plt.got"};
	section->hdr.sh_addr = func->start;
	section->hdr.sh_size = func->size;
	section->hdr.sh_entsize = entries[program_random(p, sizeof(entries))];
	image->sections = section;
	image->n_sections = 1;
}

static void encode(struct program *p, struct line *line, bool share)
{
	const struct sf_encode_options options = {.version = run.version,
	    .share = share,
	    .pcrel = run.version == 3 || (run.version == 2 && program_chance(p, 50))};
	uint64_t addr = p->base + 0x40000000 + program_random(p, 0x10000000);
	struct err err = {0};

	wr_deinit(&line->bytes);
	wr_init(&line->bytes, p->machine->big_endian);
	must(sf_encode(&line->model, &options, &line->bytes, NULL, &err), "sf_encode",
	    &err);
	must(
	    sf_place(&line->model, &options, addr, &line->bytes, &err), "sf_place", &err);
	must(sf_view_open(line->bytes.data, line->bytes.size, addr, &line->view, &err),
	    "sf_view_open", &err);
	must(sf_check_all(&line->view, &err), "sf_check_all", &err);
}

/* The product's own proof must come to the same end. */
static void prove(const struct line *line, const struct policy *policy)
{
	const struct verify_input input = {
	    &line->view, &line->frames, &line->ranges, policy};
	struct verify_result result = {0};
	struct err err = {0};
	uint64_t refused = 0;

	must(verify_own(&input, &result, &err), "verify_own", &err);
	if (result.n_differences)
		fail("verify_own", 0, result.texts[0]);
	if (result.missing_bytes || result.held.cfi_bytes != line->coverage.covered_bytes)
		fail("verify_own", 0, "not all that is covered is proven");
	for (int i = 0; i < N_REFUSALS; i++)
		refused += line->coverage.refused[i].bytes;
	if (refused + line->coverage.covered_bytes != line->coverage.code_bytes)
		fail("coverage", 0, "covered and refused are not all");
}

/* As the options say, in a copy of the model. */
static void optimize(struct program *p, struct line *line, const struct policy *policy,
    struct found *found)
{
	const struct optimize_input input = {
	    policy->image, policy->options, &line->ranges, &line->coverage};
	const struct sf_section model = line->model;
	struct sf_compact_stats stats;
	struct err err = {0};
	uint64_t padding = run.padding;

	line->model.funcs = NULL;
	line->model.rows = NULL;
	line->model.n_funcs = line->model.cap_funcs = 0;
	line->model.n_rows = line->model.cap_rows = 0;
	must(sf_section_append(&line->model, &model), "sf_section_append", &err);
	must(optimize_model(&input, &line->model, &stats, &err), "optimize_model", &err);
	encode(p, line, true);
	read_back(&line->view, found);
	run.compacted = true;
	compare_all(p, found);
	run.compacted = false;
	prove(line, policy);
	if (!policy->options->optimize_size) {
		run.together += stats.n_before - stats.n_funcs;
		run.together_padding += run.padding - padding;
	}
	sf_section_deinit(&line->model);
	line->model = model;
}

/* The code: zeros, which each machine takes for padding. */
static const uint8_t *code_bytes(void)
{
	static void *bytes;

	if (!bytes)
		bytes = mmap(NULL, CODE_SIZE, PROT_READ,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (bytes == MAP_FAILED)
		fail("mmap", 0, "no memory for the code");
	return bytes;
}

static void line_run(struct program *p, struct found *found)
{
	GElf_Phdr phdr = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X};
	const struct arch *arch = archs[run.machine];
	bool big_endian = p->machine->big_endian;
	struct image image = {.phdrs = &phdr,
	    .n_phdrs = 1,
	    .big_endian = big_endian,
	    .bytes = code_bytes(),
	    .size = CODE_SIZE,
	    .ehdr = {.e_machine = arch->elf_machine}};
	struct options options = {.format = run.version};
	const struct symbols symbols = {0};
	const struct policy policy = {
	    .arch = arch, .image = &image, .symbols = &symbols, .options = &options};
	const struct cfi_section section = {.data = p->out.data,
	    .size = p->out.size,
	    .addr = p->addr,
	    .addr_size = 8,
	    .big_endian = big_endian};
	struct line line = {.model = {.abi = arch->sframe_abi,
				.big_endian = big_endian,
				.fixed_ra_off = arch->fixed_ra_off}};
	struct image_section plt;
	struct err err = {0};

	phdr.p_vaddr = p->base;
	phdr.p_filesz = phdr.p_memsz = CODE_SIZE;
	must(cfi_frames_read(&section, &line.frames, &err), "cfi_frames_read", &err);
	if (line.frames.n_diags || line.frames.n_fdes != p->n_fdes)
		fail("cfi_frames_read", 0,
		    line.frames.n_diags ? line.frames.diags[0].text : "");
	must(cfi_ranges_read(&line.frames, &line.ranges, &err), "cfi_ranges_read", &err);
	must(collect_cfi(
		 &line.frames, &line.ranges, &policy, &line.model, &line.coverage, &err),
	    "collect_cfi", &err);
	must(collect_finish(&line.model, &err), "collect_finish", &err);
	name_plt(p, &image, &plt, &line.model);
	plt_mark_repeated(&image, &line.model);
	for (int share = 0; share < 2; share++) {
		encode(p, &line, share);
		read_back(&line.view, found);
		compare_all(p, found);
	}
	prove(&line, &policy);
	for (int size = 0; size < 2; size++) {
		options.optimize_size = size;
		optimize(p, &line, &policy, found);
	}
	wr_deinit(&line.bytes);
	sf_section_deinit(&line.model);
	coverage_deinit(&line.coverage);
	cfi_ranges_deinit(&line.ranges);
	cfi_frames_deinit(&line.frames);
}

static uint64_t percent_with_row(void)
{
	return run.pcs ? run.sayable * 100 / run.pcs : 0;
}

void prop_rows_count(uint64_t iterations)
{
	printf("%" PRIu64 " sections, %" PRIu64 " PCs, %" PRIu64 "%% with a row, %" PRIu64
	       " PCMASK functions, %" PRIu64 " PCs in padding, %" PRIu64
	       " behind too many operations; %" PRIu64 " functions put together, %" PRIu64
	       " PCs in padding\n",
	    iterations, run.pcs, percent_with_row(), run.pcmask, run.padding, run.spent,
	    run.together, run.together_padding);
}

void prop_rows_judge(const struct program *p)
{
	uint64_t percent = percent_with_row();

	for (size_t i = 0; program_op_name(i); i++)
		if (!p->used[i])
			fail("not used", 0, program_op_name(i));
	if (percent < 15 || percent > 90 || run.pcmask < 4 || run.flex < 100 ||
	    run.outermost < 100 || run.signal < 100 || run.in_register < 100 ||
	    run.is_signed < 100 || run.b_key < 100 || run.fp_alone < 100 ||
	    run.spent > run.pcs / 1000 || run.padding < 100 || run.together < 10 ||
	    run.together_padding < 10)
		fail("poor programs", 0, "see the counts above");
}

void prop_rows_one(struct program *p, uint64_t seed)
{
	static struct found found;

	if (!found.rows)
		found.rows = malloc(MAX_ROWS * sizeof(*found.rows));
	if (!found.rows)
		fail("malloc", 0, "no memory for rows");
	run.seed = seed;
	p->rng = seed;
	run.machine = (uint8_t)(seed % TRUTH_MACHINES);
	p->machine = &truth_machines[run.machine];
	run.version = (uint8_t)(p->machine->since +
				seed / TRUTH_MACHINES % (4 - p->machine->since));
	program_make(p);
	line_run(p, &found);
	run.iteration++;
}
