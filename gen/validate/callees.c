/* SPDX-License-Identifier: MIT */
#include "gen/validate/callees.h"

#include <stdlib.h>
#include <string.h>

#include "base/rd.h"
#include "base/search.h"
#include "base/vec.h"
#include "code/state.h"

/* Functions that the C and C++ standards, POSIX, the LSB or the C++ ABI declare not to return. */
static const char *const never_returns[] = {"_Exit", "_Unwind_Resume", "_ZSt9terminatev",
    "__assert", "__assert_fail", "__assert_perror_fail", "__chk_fail", "__cxa_bad_cast",
    "__cxa_bad_typeid", "__cxa_call_terminate", "__cxa_call_unexpected",
    "__cxa_pure_virtual", "__cxa_rethrow", "__cxa_throw",
    "__cxa_throw_bad_array_new_length", "__fortify_fail", "__libc_fatal",
    "__libc_start_main", "__longjmp_chk", "__stack_chk_fail", "_exit", "_longjmp",
    "abort", "err", "errx", "exit", "g_assertion_message", "g_assertion_message_expr",
    "longjmp", "pthread_exit", "quick_exit", "siglongjmp", "verr", "verrx"};

/* And libstdc++'s std::__throw_*. */
static bool is_never_returning(const char *name)
{
	if (!strncmp(name, "_ZSt", 4) && strstr(name, "__throw_"))
		return true;
	for (size_t i = 0; i < sizeof(never_returns) / sizeof(never_returns[0]); i++)
		if (!strcmp(name, never_returns[i]))
			return true;
	return false;
}

bool validate_is_constant(const struct image *image, uint64_t addr)
{
	for (size_t i = 0; i < image->n_phdrs; i++) {
		const GElf_Phdr *phdr = &image->phdrs[i];

		if (phdr->p_type == PT_LOAD && addr - phdr->p_vaddr < phdr->p_filesz)
			return !(phdr->p_flags & PF_W);
	}
	return false;
}

/* ---- names ---- */

static bool callees_add(struct validate_callees *callees, uint64_t addr)
{
	if (!vec_reserve(&callees->addrs, &callees->cap, callees->n + 1))
		return false;
	callees->addrs[callees->n++] = addr;
	return true;
}

enum { SYMBOL_SIZE = 24, RELA_SIZE = 24 };

/* A symbol of a table, as far as it matters. */
struct symbol_entry {
	const char *name; /* borrowed; NULL where it is damaged */
	uint64_t addr;	  /* 0: it is of another file */
};

static struct symbol_entry symbol_read(
    const struct image *image, const struct image_section *table, uint64_t i)
{
	struct symbol_entry entry = {0};
	const struct image_section *strings;
	struct rd rd, names;
	uint32_t name;
	uint16_t section;

	if (!table->data || table->hdr.sh_link >= image->n_sections ||
	    i >= table->hdr.sh_size / SYMBOL_SIZE)
		return entry;
	strings = &image->sections[table->hdr.sh_link];
	if (!strings->data)
		return entry;
	rd_init(&rd, table->data, (size_t)table->hdr.sh_size, image->big_endian);
	rd.pos = (size_t)i * SYMBOL_SIZE;
	name = rd_u32(&rd);
	rd_u16(&rd);
	section = rd_u16(&rd);
	if (section != SHN_UNDEF)
		entry.addr = rd_u64(&rd);
	rd_init(&names, strings->data, (size_t)strings->hdr.sh_size, image->big_endian);
	if (rd_skip(&names, name))
		entry.name = rd_cstr(&names);
	return entry;
}

/* The places of a relocation section that get the address of such a function. */
static bool callees_from_relocations(
    struct validate_callees *callees, const struct image_section *section)
{
	const struct image *image = callees->image;
	const struct image_section *table;
	struct rd rd;

	if (!section->data || section->hdr.sh_link >= image->n_sections)
		return true;
	table = &image->sections[section->hdr.sh_link];
	if (table->hdr.sh_type != SHT_DYNSYM)
		return true;
	rd_init(&rd, section->data, (size_t)section->hdr.sh_size, image->big_endian);
	while (rd.size - rd.pos >= RELA_SIZE) {
		uint64_t place = rd_u64(&rd), info = rd_u64(&rd);
		const char *name;

		rd_u64(&rd);
		if (!ELF64_R_SYM(info))
			continue;
		name = symbol_read(image, table, ELF64_R_SYM(info)).name;
		if (name && is_never_returning(name) && !callees_add(callees, place))
			return false;
	}
	return true;
}

static bool callees_from_symbols(
    struct validate_callees *callees, const struct image_section *table)
{
	/* The size of a table that is not in the file can be any. */
	if (!table->data)
		return true;
	for (uint64_t i = 1; i < table->hdr.sh_size / SYMBOL_SIZE; i++) {
		struct symbol_entry entry = symbol_read(callees->image, table, i);

		if (entry.name && entry.addr && is_never_returning(entry.name) &&
		    !callees_add(callees, entry.addr))
			return false;
	}
	return true;
}

bool validate_callees_read(const struct image *image, const struct cfi_input *input,
    struct validate_callees *callees)
{
	*callees =
	    (struct validate_callees){.image = image, .machine = input->arch->code};
	for (size_t i = 0; i < image->n_sections; i++) {
		const struct image_section *section = &image->sections[i];
		uint32_t type = section->hdr.sh_type;

		if ((type == SHT_RELA && !callees_from_relocations(callees, section)) ||
		    ((type == SHT_SYMTAB || type == SHT_DYNSYM) &&
			!callees_from_symbols(callees, section))) {
			validate_callees_deinit(callees);
			return false;
		}
	}
	if (callees->n)
		qsort(callees->addrs, callees->n, sizeof(*callees->addrs), search_order);
	return true;
}

void validate_callees_deinit(struct validate_callees *callees)
{
	free(callees->addrs);
	*callees = (struct validate_callees){0};
}

static bool callees_have(const struct validate_callees *callees, uint64_t addr)
{
	size_t i = search_from(callees->addrs, sizeof(*callees->addrs), callees->n, addr);

	return i < callees->n && callees->addrs[i] == addr;
}

/* ---- functions of the file ---- */

/* Deeper chains of calls are taken to return. */
enum { CALLEES_MAX_DEPTH = 8, CALLEES_MAX_BLOCKS = 64 };

/* A search for a way to a return. */
struct callee_search {
	const struct validate_callees *callees;
	uint64_t *budget;
	uint64_t blocks[CALLEES_MAX_BLOCKS]; /* addresses that ways lead to */
	size_t n_blocks, n_done;
	unsigned int depth;
};

static bool callee_may_return(const struct validate_callees *callees, uint64_t addr,
    unsigned int depth, uint64_t *budget);

/* Whether control that goes to the address in this instruction's register never comes back. */
static bool goes_to_named(const struct validate_callees *callees,
    const struct code_insn *insn, const struct code_state *before)
{
	struct code_state state = *before;
	struct code_insn part = {.control = CODE_CONTINUES, .length = insn->length};

	/* The place that the last load reads, by the state just before that load. */
	for (uint8_t i = insn->n_effects; i-- > 0;) {
		const struct code_effect *load = &insn->effects[i];
		struct code_value base;

		if (load->kind != CODE_LOAD || load->dst != insn->via ||
		    load->index != CODE_NO_REG)
			continue;
		/* An instruction that the analysis keeps has room for its own effects only. */
		memcpy(part.effects, insn->effects, i * sizeof(part.effects[0]));
		part.n_effects = i;
		code_state_step(&state, code_abi(callees->machine), 0, &part);
		base = load->base == CODE_NO_REG ? (struct code_value){.kind = CODE_CONST}
						 : state.regs[load->base];
		return base.kind == CODE_CONST &&
		       callees_have(callees, (uint64_t)(base.off + load->off));
	}
	return false;
}

/* Notes a way to follow. False: there are too many. */
static bool search_add(struct callee_search *search, uint64_t addr)
{
	for (size_t i = 0; i < search->n_blocks; i++)
		if (search->blocks[i] == addr)
			return true;
	if (search->n_blocks == CALLEES_MAX_BLOCKS)
		return false;
	search->blocks[search->n_blocks++] = addr;
	return true;
}

/* Where a stub of a PLT loads what it jumps to: the last load into a register. */
struct stub_load {
	uint8_t reg; /* CODE_NO_REG: none */
	bool named;
};

static void stub_note(const struct validate_callees *callees,
    const struct code_insn *insn, const struct code_state *state, struct stub_load *load)
{
	for (uint8_t i = 0; i < insn->n_effects; i++)
		if (insn->effects[i].kind == CODE_LOAD &&
		    insn->effects[i].dst < CODE_SCRATCH) {
			struct code_insn whole = *insn;

			whole.via = insn->effects[i].dst;
			*load = (struct stub_load){
			    whole.via, goes_to_named(callees, &whole, state)};
		}
}

/* Follows one way to its end. Whether it may come to a return. */
static bool search_block(struct callee_search *search, uint64_t pc)
{
	const struct validate_callees *callees = search->callees;
	struct stub_load load = {.reg = CODE_NO_REG};
	struct code_state state;
	struct code_insn insn;

	code_state_unknown(&state);
	for (;;) {
		const GElf_Phdr *segment = image_code_segment(callees->image, pc, 1);
		uint64_t size = segment ? segment->p_vaddr + segment->p_filesz - pc : 0;
		const uint8_t *bytes =
		    image_at_addr(callees->image, pc, size < 16 ? size : 16);

		if (!bytes || !size || !*search->budget)
			return true;
		--*search->budget;
		if (!code_insn_read(
			callees->machine, bytes, size < 16 ? size : 16, pc, &insn))
			return true;
		switch ((enum code_control)insn.control) {
		case CODE_STOPS:
			return false;
		case CODE_RETURNS:
			return true;
		case CODE_JUMPS:
			return !callees_have(callees, insn.target) &&
			       !search_add(search, insn.target);
		case CODE_BRANCHES:
			if (!search_add(search, insn.target))
				return true;
			break;
		case CODE_JUMPS_TO:
		case CODE_BRANCHES_TO:
			return !goes_to_named(callees, &insn, &state) &&
			       !(load.reg == insn.via && load.named);
		case CODE_CALLS:
			if (!callee_may_return(
				callees, insn.target, search->depth + 1, search->budget))
				return false;
			break;
		case CODE_CALLS_TO:
			if (goes_to_named(callees, &insn, &state))
				return false;
			break;
		case CODE_CONTINUES:
			break;
		}
		stub_note(callees, &insn, &state, &load);
		code_state_step(&state, code_abi(callees->machine), pc, &insn);
		pc += insn.length;
	}
}

static bool callee_may_return(const struct validate_callees *callees, uint64_t addr,
    unsigned int depth, uint64_t *budget)
{
	struct callee_search search = {.callees = callees,
	    .budget = budget,
	    .depth = depth,
	    .blocks = {addr},
	    .n_blocks = 1};

	if (callees_have(callees, addr))
		return false;
	if (depth >= CALLEES_MAX_DEPTH)
		return true;
	while (search.n_done < search.n_blocks)
		if (search_block(&search, search.blocks[search.n_done++]))
			return true;
	return false;
}

bool validate_never_returns(const struct validate_callees *callees,
    const struct code_insn *call, uint64_t *budget)
{
	struct code_state state;

	if (call->control == CODE_CALLS)
		return !callee_may_return(callees, call->target, 0, budget);
	code_state_unknown(&state);
	return goes_to_named(callees, call, &state);
}
