/* SPDX-License-Identifier: MIT */
/* One pass over header, functions and rows, with a rule at each place it can be broken. */
#include "gen/verify/lint.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "gen/rows/last_calls.h"
#include "sframe/format.h"

static const struct {
	struct sf_words words;
	uint8_t readers, first, last;
} rules[LINT_N_RULES] = {
#define LINT_WORDS(id, readers, first, last, ...)                                        \
	[LINT_RULE_##id] = {{__VA_ARGS__}, readers, first, last},
    LINT_RULES(LINT_WORDS)
#undef LINT_WORDS
};

struct lint_run {
	const struct sf_view *view;
	const struct image *image; /* NULL: none */
	struct image_window bytes; /* of its code, for a look at each place */
	const struct arch *arch;   /* of image; NULL: its code is not read */
	bool object;		   /* of a relocatable object, which has no segments */
	unsigned int readers;	   /* asked for, and reading this version */
	struct lint_result *result;
	struct err damage;	    /* that the decoder found last */
	uint64_t n_rows, row_bytes; /* of all functions, shared ones each time */
	struct sf_func last;	    /* the function before, whose field is at last_off */
	uint64_t last_off, highest; /* end of a function until now */
	const GElf_Phdr *code;	    /* where the first function is; NULL: none yet */
	size_t
	    section; /* where the last function ends; the code there begins at least, */
	uint64_t least, limit; /* and at limit begins other code; 0: not looked up yet */
};

void lint_tell(const struct lint_result *result, enum lint_rule rule, struct err *err)
{
	const char *damage = rule == LINT_RULE_READABLE ? result->damage.text
			     : rule == LINT_RULE_SINGLE ? result->others.text
							: NULL;

	sf_broken(rules[rule].words, result->rules[rule].off, damage, err);
}

static unsigned int lint_readers(const struct sf_view *view)
{
	unsigned int readers = 0;

	for (unsigned int bit = 1; bit < READER_ALL; bit <<= 1)
		if (reader_reads(bit, view->version, view->abi))
			readers |= bit;
	return readers;
}

unsigned int lint_readers_of(const struct sf_view *view)
{
	unsigned int readers = lint_readers(view);

	/* Unsorted: the section belongs to an object, and is for a linker. */
	if (!(view->flags & SFRAME_F_FDE_SORTED))
		readers &= LINT_LIBSFRAME;
	if (view->version > SFRAME_VERSION_1)
		readers &= view->flags & SFRAME_F_FDE_FUNC_START_PCREL
			       ? ~(unsigned int)READER_BINUTILS_2_41
			       : ~(unsigned int)LINT_PCREL;
	return readers;
}

static void lint_count(struct lint_run *run, enum lint_rule rule, unsigned int readers,
    uint64_t off, uint64_t pc)
{
	if (!readers)
		return;
	run->result->rules[rule].broken |= (uint8_t)readers;
	if (run->result->rules[rule].times++)
		return;
	run->result->n_broken++;
	run->result->rules[rule].off = off;
	run->result->rules[rule].pc = pc;
	if (rule == LINT_RULE_READABLE)
		run->result->damage = run->damage;
}

/* rule is broken at off, in the function at pc. */
static void lint_broken(
    struct lint_run *run, enum lint_rule rule, uint64_t off, uint64_t pc)
{
	uint8_t version = run->view->version;

	if (version >= rules[rule].first && version <= rules[rule].last)
		lint_count(run, rule, run->readers & rules[rule].readers, off, pc);
}

/* Returns the header's field that has another fixed place than these; 0: none. */
static unsigned int lint_fixed(const struct sf_view *view, int fp, int ra)
{
	if (view->fixed_fp_off != fp)
		return SFRAME_HDR_CFA_FIXED_FP_OFFSET;
	return view->fixed_ra_off == ra ? 0 : SFRAME_HDR_CFA_FIXED_RA_OFFSET;
}

static void lint_header(struct lint_run *run)
{
	const struct sf_view *view = run->view;
	const struct sf_abi *abi = sf_abi_find(view->abi);
	unsigned int defined = SFRAME_F_FDE_SORTED;
	uint64_t index_end = view->func_off + (uint64_t)view->n_funcs * view->func_size;
	uint64_t behind = sf_behind(view, &run->result->others);
	uint64_t fixed = abi ? lint_fixed(view, abi->fixed_fp_off, abi->fixed_ra_off) : 0;

	if (view->version < SFRAME_VERSION_3)
		defined |= SFRAME_F_FRAME_POINTER;
	if (view->version > SFRAME_VERSION_1)
		defined |= SFRAME_F_FDE_FUNC_START_PCREL;
	if (view->flags & ~defined)
		lint_broken(run, LINT_RULE_FLAGS, SFRAME_HDR_FLAGS, 0);
	/* The kernel's loader of modules does not need it, and no other reader gets an object. */
	if (!(view->flags & SFRAME_F_FDE_SORTED) && !run->object)
		lint_broken(run, LINT_RULE_SORTED, SFRAME_HDR_FLAGS, 0);
	if (view->flags & SFRAME_F_FDE_FUNC_START_PCREL)
		lint_broken(run, LINT_RULE_NO_PCREL, SFRAME_HDR_FLAGS, 0);
	else
		lint_broken(run, LINT_RULE_PCREL, SFRAME_HDR_FLAGS, 0);
	if (fixed)
		lint_broken(run, LINT_RULE_FIXED_OFFSETS, fixed, 0);
	if (view->auxhdr_len)
		lint_broken(run, LINT_RULE_AUX_HEADER, SFRAME_HDR_AUXHDR_LEN, 0);
	if (view->func_off != SFRAME_HDR_SIZE)
		lint_broken(run, LINT_RULE_ADJACENT, SFRAME_HDR_FDEOFF, 0);
	if (view->row_off != index_end)
		lint_broken(run, LINT_RULE_ADJACENT, SFRAME_HDR_FREOFF, 0);
	if (view->n_funcs == 0 || view->n_rows == 0)
		lint_broken(run, LINT_RULE_NOT_EMPTY, SFRAME_HDR_NUM_FDES, 0);
	if (behind < view->size)
		lint_broken(run,
		    run->result->others.kind ? LINT_RULE_SINGLE : LINT_RULE_TAIL, behind,
		    0);
}

static void lint_row(struct lint_run *run, const struct sf_func *func,
    const struct sf_row *row, uint64_t off, uint64_t least)
{
	if (row->start < least)
		lint_broken(run, LINT_RULE_ROW_ORDER, off, func->start);
	if (row->start >= (func->pcmask && func->rep_size ? func->rep_size : func->size))
		lint_broken(run, LINT_RULE_ROW_INSIDE, off, func->start);
	if (row->outermost)
		lint_broken(run, LINT_RULE_ROW_WORDS, off, func->start);
	if (row->cfa.reg > SF_REG_MAX || row->ra.reg > SF_REG_MAX ||
	    row->fp.reg > SF_REG_MAX)
		lint_broken(run, LINT_RULE_ROW_REGISTER, off, func->start);
}

static void lint_rows(struct lint_run *run, const struct sf_view_func *func)
{
	struct sf_row_iter iter;
	struct sf_row row;
	uint64_t least = 0, off;

	sf_rows_begin(run->view, func, &iter);
	for (off = iter.off; sf_rows_next(&iter, &row, &run->damage); off = iter.off) {
		if (least == 0 && row.start != 0)
			lint_broken(run, LINT_RULE_ROW_FIRST, off, func->func.start);
		lint_row(run, &func->func, &row, off, least);
		least = (uint64_t)row.start + 1;
	}
	if (iter.failed)
		lint_broken(run, LINT_RULE_READABLE, iter.off, func->func.start);
	run->row_bytes += off - (run->view->row_off + func->rows_off);
	if (run->view->version >= SFRAME_VERSION_3)
		run->row_bytes += SFRAME_V3_ATTR_SIZE;
}

/* The kernel registers the section for each executable segment; when it validates, all
 * functions must be in that one. */
static void lint_code(struct lint_run *run, const struct sf_func *func, uint64_t off)
{
	const GElf_Phdr *code = image_code_segment(run->image, func->start, func->size);

	run->code = run->code ? run->code : code;
	if (!code)
		lint_broken(run, LINT_RULE_FUNC_CODE, off, func->start);
	else if (code != run->code)
		lint_broken(run, LINT_RULE_FUNC_SEGMENT, off, func->start);
}

static bool lint_is_code(const GElf_Shdr *hdr)
{
	return hdr->sh_flags & SHF_ALLOC && hdr->sh_flags & SHF_EXECINSTR;
}

/* Goes on to the section that has the code in front of end. They ascend in the files of all linkers. */
static void lint_section_of(struct lint_run *run, uint64_t end)
{
	const struct image_section *list = run->image->sections;
	const size_t n = run->image->n_sections;
	size_t next;

	for (; run->section < n; run->section++, run->limit = 0) {
		const GElf_Shdr *hdr = &list[run->section].hdr;

		if (lint_is_code(hdr) && end <= hdr->sh_addr + hdr->sh_size)
			break;
	}
	if (run->limit)
		return;
	for (next = run->section + 1; next < n && !lint_is_code(&list[next].hdr);)
		next++;
	run->least = run->section < n ? list[run->section].hdr.sh_addr : 0;
	run->limit = next < n ? list[next].hdr.sh_addr : UINT64_MAX;
}

/*
 * Judges the last function in front of next. Where it ends in a call and only filler follows, a reader of the return address finds no
 * row. A call's displacement and the filler can look like another call; a zero before another filler is a displacement's.
 */
static void lint_return(struct lint_run *run, uint64_t next)
{
	const struct sf_func *f = &run->last;
	const uint64_t end = f->start + f->size;
	uint64_t size;
	const uint8_t *b;
	bool displaced;

	if (!run->arch || !f->size || f->pcmask || f->signal_frame)
		return;
	lint_section_of(run, end);
	next = next < run->limit ? next : run->limit;
	size = end - run->least < LAST_CALL_SIZE ? end - run->least : LAST_CALL_SIZE;
	b = image_at_addr(run->image, end - size, size + 1);
	b = b ? image_window_at(&run->bytes, b, (size_t)size + 1) : NULL;
	if (!b || !last_call_is(run->image, run->arch, b, size, end))
		return;
	displaced = run->arch->insn_unit == 1 && !b[size - 1] && b[size];
	if (last_call_open(&run->bytes, run->arch, end, next) &&
	    (displaced || !last_call_reaches(&run->bytes, run->arch,
			      end - run->arch->insn_unit, end, next)))
		lint_broken(run, LINT_RULE_CALL_AT_END, run->last_off, f->start);
}

static void lint_func(struct lint_run *run, const struct sf_view_func *func, bool first)
{
	const struct sf_func *f = &func->func;
	uint64_t off = func->field_off;

	if (f->size == 0)
		lint_broken(run, LINT_RULE_FUNC_SIZE, off, f->start);
	if (f->size > INT32_MAX)
		lint_broken(run, LINT_RULE_FUNC_FAR, off, f->start);
	if (f->start + f->size < f->start)
		lint_broken(run, LINT_RULE_FUNC_END, off, f->start);
	if (f->n_rows > f->size)
		lint_broken(run, LINT_RULE_ROW_COUNT, off, f->start);
	/* A signal frame without rows says at least that; libsframe miscounts it. */
	if (f->n_rows == 0 && f->signal_frame)
		lint_count(run, LINT_RULE_FUNC_ROWS, run->readers & LINT_LIBSFRAME, off,
		    f->start);
	else if (f->n_rows == 0)
		lint_broken(run, LINT_RULE_FUNC_ROWS, off, f->start);
	if (f->pcmask && f->rep_size == 0)
		lint_broken(run, LINT_RULE_BLOCK, off, f->start);
	if (f->pcmask)
		lint_broken(run, LINT_RULE_PCMASK, off, f->start);
	if (func->flex)
		lint_broken(run, LINT_RULE_NO_FLEX, off, f->start);
	if (run->image)
		lint_code(run, f, off);
	/* Without the flag the order means nothing; rule sorted speaks for that. */
	if (!first && run->view->flags & SFRAME_F_FDE_SORTED) {
		if (f->start <= run->last.start)
			lint_broken(run, LINT_RULE_FUNC_ORDER, off, f->start);
		else if (f->start < run->last.start + run->last.size)
			lint_broken(run, LINT_RULE_FUNC_OVERLAP, off, f->start);
		else if (f->start >= run->highest)
			lint_return(run, f->start);
	}
	/* Looks once at the filler behind functions that take turns. */
	if (f->start + f->size > run->highest)
		run->highest = f->start + f->size;
	run->last = *f;
	run->last_off = off;
	run->n_rows += f->n_rows;
}

/* The addresses in one page. */
#define LINT_PAGE UINT64_C(0xfff)

/* Checks the place of the section, which a reader in memory finds by the program headers alone. */
static void lint_segments(struct lint_run *run)
{
	const struct sf_view *view = run->view;
	/* At 0 is a section that no segment has, as objcopy adds it. */
	const uint8_t *mem = view->addr ? image_at_addr(run->image, view->addr, 1) : NULL;
	const uint64_t off = mem ? (uint64_t)(mem - run->image->bytes) : UINT64_MAX;
	bool loaded = false, over = false;
	unsigned int n = 0;

	for (size_t i = 0; i < run->image->n_phdrs; i++) {
		const GElf_Phdr *phdr = &run->image->phdrs[i];
		const uint64_t at = view->addr - phdr->p_vaddr;
		const uint64_t page = phdr->p_vaddr & ~LINT_PAGE;

		if (phdr->p_type == IMAGE_PT_GNU_SFRAME)
			n += 2U - (!at && phdr->p_memsz >= view->size &&
				      (!mem || phdr->p_offset == off));
		if (phdr->p_type != PT_LOAD || !phdr->p_memsz)
			continue;
		loaded |= phdr->p_flags & PF_R &&
			  num_range_inside(at, view->size, phdr->p_filesz);
		/* A segment has whole pages. */
		over |=
		    phdr->p_offset + at != off &&
		    (view->addr - page <
			    ((phdr->p_vaddr + phdr->p_memsz + LINT_PAGE) & ~LINT_PAGE) -
				page ||
			page - view->addr < view->size);
	}
	if (!loaded || over)
		lint_broken(run, LINT_RULE_ONE_SEGMENT, 0, 0);
	if (n != 1)
		lint_broken(run, LINT_RULE_PHDR, 0, 0);
}

static void lint_funcs(struct lint_run *run)
{
	const struct sf_view *view = run->view;
	struct sf_view_func func;

	for (uint32_t i = 0; i < view->n_funcs; i++) {
		if (!sf_view_func(view, i, &func, &run->damage)) {
			lint_broken(run, LINT_RULE_READABLE,
			    view->func_off + (uint64_t)i * view->func_size, 0);
			return;
		}
		lint_func(run, &func, i == 0);
		lint_rows(run, &func);
	}
	if (view->flags & SFRAME_F_FDE_SORTED)
		lint_return(run, UINT64_MAX);
	if (run->n_rows != view->n_rows)
		lint_broken(run, LINT_RULE_COUNT, SFRAME_HDR_NUM_FRES, 0);
}

void lint_section(const struct sf_view *view, const struct image *image,
    unsigned int readers, bool own, struct lint_result *result)
{
	const struct arch *arch =
	    image ? arch_find(image->ehdr.e_machine, image->big_endian) : NULL;
	const bool foreign = arch && arch->sframe_abi != view->abi;
	unsigned int known = lint_readers(view);
	struct lint_run run = {.view = view,
	    .image = image && !image->object ? image : NULL,
	    .object = image && image->object,
	    .readers = readers & known,
	    .result = result};

	*result = (struct lint_result){0};
	run.bytes.image = run.image;
	if (run.image && !own)
		run.arch = arch;
	lint_count(&run, LINT_RULE_VERSION, foreign ? readers : readers & ~known,
	    foreign ? SFRAME_HDR_ABI_ARCH : SFRAME_HDR_VERSION, 0);
	lint_header(&run);
	if (run.image)
		lint_segments(&run);
	lint_funcs(&run);
	image_window_free(&run.bytes);
	/* A reader of the other byte order swaps them in place, function by function. */
	if (view->big_endian && run.row_bytes > view->row_len)
		lint_broken(&run, LINT_RULE_ROW_SHARED, view->row_off, 0);
}

/*
 * The first broken rule that counts. A file's segments are its own. Rows are shared in a big-endian section only where
 * --optimize=share was given, which a reader that was named does not excuse.
 */
static int lint_first(const struct lint_result *result, bool named)
{
	for (int i = 0; i < LINT_N_RULES; i++)
		if (result->rules[i].times && i != LINT_RULE_FUNC_SEGMENT &&
		    (named || i != LINT_RULE_ROW_SHARED))
			return i;
	return LINT_N_RULES;
}

bool lint_own(const struct sf_view *view, const struct image *image,
    const struct reader *named, struct err *err)
{
	char words[READER_WORDS_SIZE];
	struct lint_result result;
	bool asked = false;
	int i;

	lint_section(view, image, lint_readers_of(view), true, &result);
	i = lint_first(&result, false);
	if (i == LINT_N_RULES && named) {
		asked = true;
		lint_section(view, image, named->bit, true, &result);
		i = lint_first(&result, true);
	}
	if (i == LINT_N_RULES)
		return true;
	lint_tell(&result, (enum lint_rule)i, err);
	err->kind = asked ? ERR_UNSUPPORTED : ERR_INTERNAL;
	if (asked)
		err_append(err, "; ", "leave out the option that asks for it");
	return err_prefix(err, "%s", reader_words(result.rules[i].broken, words));
}

bool lint_own_file(const struct image *image, const struct reader *named, struct err *err)
{
	struct sf_view view;

	return lint_view(image, &view, err) && lint_own(&view, image, named, err);
}

const char *lint_advice(const struct image *image)
{
	return image->object ? "objcopy --remove-section .sframe makes room for another"
			     : "--refresh replaces the section";
}

bool lint_advise(const struct image *image, struct err *err)
{
	return err->kind != ERR_NOMEM && err->kind != ERR_IO &&
	       !strstr(err->text, "; ") && err_append(err, "; ", lint_advice(image));
}

bool lint_view(const struct image *image, struct sf_view *view, struct err *err)
{
	const uint8_t *data;
	uint64_t addr;
	size_t size;

	if (!image_sframe(image, &data, &size, &addr, err))
		return image->object && lint_advise(image, err);
	if (!data)
		return err_set(
		    err, ERR_NOTHING, "no .sframe section; convert the file first");
	return sf_view_open(data, size, addr, view, err) || lint_advise(image, err);
}

bool lint_format(const struct image *image, const struct sf_view *view, struct err *err)
{
	const struct arch *arch = arch_find(image->ehdr.e_machine, image->big_endian);
	const bool foreign = view->abi != arch->sframe_abi;
	/* The psABI gives FP no fixed place, on any machine. */
	const unsigned int off =
	    foreign ? SFRAME_HDR_ABI_ARCH : lint_fixed(view, 0, arch->fixed_ra_off);
	char is[100];

	if (!off)
		return sf_check_all(view, err) || lint_advise(image, err);
	snprintf(is, sizeof(is),
	    ".sframe+0x%x: ABI %u, FP %d, RA %d, where %s has %u, 0, %d", off, view->abi,
	    view->fixed_fp_off, view->fixed_ra_off, arch->name, arch->sframe_abi,
	    arch->fixed_ra_off);
	sf_broken(rules[foreign ? LINT_RULE_VERSION : LINT_RULE_FIXED_OFFSETS].words, off,
	    is, err);
	err->kind = foreign ? ERR_MALFORMED : ERR_PROOF;
	return lint_advise(image, err);
}
