/* SPDX-License-Identifier: MIT */
/* Finds the functions that never return, and follows stubs of PLTs to them. */
#include "gen/check/callees.h"

#include <stdlib.h>
#include <string.h>

#include "base/rd.h"
#include "base/search.h"
#include "base/vec.h"
#include "code/state.h"
#include "gen/check/returns.h"

/* Functions that the C and C++ standards, POSIX, the LSB or the C++ ABI declare not to return. Sorted. */
static const char *const never_returns[] = {"_Exit", "_Unwind_Resume", "_ZSt9terminatev",
    "__assert", "__assert_fail", "__assert_perror_fail", "__chk_fail", "__cxa_bad_cast",
    "__cxa_bad_typeid", "__cxa_call_terminate", "__cxa_call_unexpected",
    "__cxa_pure_virtual", "__cxa_rethrow", "__cxa_throw",
    "__cxa_throw_bad_array_new_length", "__fortify_fail", "__libc_fatal",
    "__libc_start_main", "__longjmp_chk", "__stack_chk_fail", "_exit", "_longjmp",
    "abort", "err", "errx", "exit", "g_assertion_message", "g_assertion_message_expr",
    "longjmp", "pthread_exit", "quick_exit", "siglongjmp", "verr", "verrx"};

static int names_order(const void *a, const void *b)
{
	return strcmp(a, *(const char *const *)b);
}

/* True for a name of the list, and for libstdc++'s std::__throw_*. */
static bool is_never_returning(const char *name)
{
	if (!strncmp(name, "_ZSt", 4) && strstr(name, "__throw_"))
		return true;
	return bsearch(name, never_returns,
	    sizeof(never_returns) / sizeof(never_returns[0]), sizeof(never_returns[0]),
	    names_order);
}

/* True if nothing writes to what is at addr once the program runs. */
static bool is_constant(const struct image *image, uint64_t addr)
{
	bool writable = true, relro = false;

	for (size_t i = 0; i < image->n_phdrs; i++) {
		const GElf_Phdr *phdr = &image->phdrs[i];

		if (phdr->p_type == PT_LOAD && addr - phdr->p_vaddr < phdr->p_filesz)
			writable = phdr->p_flags & PF_W;
		/* Relocated, and then read-only. The file does not have the address that a
		 * relocation fills in. */
		relro |=
		    phdr->p_type == PT_GNU_RELRO && addr - phdr->p_vaddr < phdr->p_memsz;
	}
	return !writable || relro;
}

bool validate_read(
    const struct image *image, uint64_t addr, uint8_t width, uint64_t *value)
{
	const uint8_t *bytes = image_at_addr(image, addr, width);
	struct rd rd;

	if (!bytes || !is_constant(image, addr))
		return false;
	rd_init(&rd, bytes, width, image->big_endian);
	*value = width == 1   ? rd_u8(&rd)
		 : width == 2 ? rd_u16(&rd)
		 : width == 4 ? rd_u32(&rd)
			      : rd_u64(&rd);
	return true;
}

/* ---- names ---- */

static bool addrs_add(struct validate_addrs *addrs, uint64_t addr)
{
	if (!vec_reserve(&addrs->list, &addrs->cap, addrs->n + 1))
		return false;
	addrs->list[addrs->n++] = addr;
	return true;
}

static void addrs_sort(struct validate_addrs *addrs)
{
	if (addrs->n)
		qsort(addrs->list, addrs->n, sizeof(*addrs->list), search_order);
}

static bool addrs_have(const struct validate_addrs *addrs, uint64_t addr)
{
	size_t i = search_from(addrs->list, sizeof(*addrs->list), addrs->n, addr);

	return i < addrs->n && addrs->list[i] == addr;
}

enum { SYMBOL_SIZE = 24, RELA_SIZE = 24 };
/* Longest name that is compared. Longer ones are none of those that matter, and many
 * symbols may share the end of one. */
enum { CALLEES_MAX_NAME = 256 };

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
	rd_seek(&rd, i * SYMBOL_SIZE);
	name = rd_u32(&rd);
	rd_u16(&rd);
	section = rd_u16(&rd);
	if (section != SHN_UNDEF)
		entry.addr = rd_u64(&rd);
	rd_init(&names, strings->data, (size_t)strings->hdr.sh_size, image->big_endian);
	if (!rd_skip(&names, name))
		return entry;
	if (names.size - names.pos > CALLEES_MAX_NAME)
		names.size = names.pos + CALLEES_MAX_NAME;
	entry.name = rd_cstr(&names);
	return entry;
}

static bool own_add(struct validate_callees *callees, uint64_t place, uint64_t function)
{
	if (!vec_reserve(&callees->own, &callees->cap_own, callees->n_own + 1))
		return false;
	callees->own[callees->n_own++] = (struct validate_own){place, function};
	return true;
}

/* Adds the places of a relocation section that get the address of a function that never returns. */
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
		const uint64_t addend = rd_u64(&rd);
		struct symbol_entry symbol;

		if (!ELF64_R_SYM(info))
			continue;
		symbol = symbol_read(image, table, ELF64_R_SYM(info));
		if (symbol.name && is_never_returning(symbol.name) &&
		    !addrs_add(&callees->places, place))
			return false;
		if (symbol.addr && !addend && !own_add(callees, place, symbol.addr))
			return false;
	}
	return true;
}

static bool callees_from_symbols(
    struct validate_callees *callees, const struct image_section *table)
{
	/* A table that is not in the file can claim any size. */
	if (!table->data)
		return true;
	for (uint64_t i = 1; i < table->hdr.sh_size / SYMBOL_SIZE; i++) {
		struct symbol_entry entry = symbol_read(callees->image, table, i);

		if (!entry.name || !entry.addr)
			continue;
		if (is_never_returning(entry.name) &&
		    !addrs_add(&callees->functions, entry.addr))
			return false;
		if (table->hdr.sh_type == SHT_DYNSYM &&
		    !addrs_add(&callees->exported, entry.addr))
			return false;
	}
	return true;
}

/* True for functions of Go that never return. A panic that is recovered goes on behind another call. */
static bool is_never_returning_in_go(const char *name)
{
	return strcmp(name, "runtime.gopanic") == 0 ||
	       strcmp(name, "runtime.throw") == 0 || strcmp(name, "runtime.fatal") == 0;
}

/* Go's table has the names of stripped programs, too. */
static bool callees_from_go(struct validate_callees *callees)
{
	const struct go_source *go = &callees->input->sources.go;
	struct go_func func;
	struct err ignored = {0};

	if (!go->section)
		return true;
	for (size_t i = 0; i < go->table.n_funcs; i++)
		if (go_table_func(&go->table, i, &func, &ignored) &&
		    is_never_returning_in_go(func.name) &&
		    !addrs_add(&callees->in_go, func.start))
			return false;
	return true;
}

bool validate_callees_read(const struct image *image, const struct cfi_input *input,
    struct validate_callees *callees)
{
	*callees = (struct validate_callees){
	    .image = image, .input = input, .machine = input->arch->code};
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
	if (!callees_from_go(callees)) {
		validate_callees_deinit(callees);
		return false;
	}
	addrs_sort(&callees->functions);
	addrs_sort(&callees->places);
	addrs_sort(&callees->exported);
	addrs_sort(&callees->in_go);
	if (callees->n_own)
		qsort(callees->own, callees->n_own, sizeof(*callees->own), search_order);
	callees->returns = validate_returns_new(callees);
	if (!callees->returns) {
		validate_callees_deinit(callees);
		return false;
	}
	return true;
}

void validate_callees_deinit(struct validate_callees *callees)
{
	free(callees->functions.list);
	free(callees->places.list);
	free(callees->exported.list);
	free(callees->in_go.list);
	free(callees->own);
	validate_returns_free(callees->returns);
	*callees = (struct validate_callees){0};
}

/* ---- functions of the file ---- */

/* True if the place holds the address of a function that never returns by its name. */
static bool place_is_named(const struct validate_callees *callees, uint64_t addr)
{
	uint64_t function;

	return addrs_have(&callees->places, addr) ||
	       (validate_read(callees->image, addr, sizeof(function), &function) &&
		   validate_is_named(callees, function));
}

bool validate_is_exported(const struct validate_callees *callees, uint64_t addr)
{
	return addrs_have(&callees->exported, addr);
}

bool validate_is_named_by_symbol(const struct validate_callees *callees, uint64_t addr)
{
	return addrs_have(&callees->functions, addr);
}

bool validate_is_named(const struct validate_callees *callees, uint64_t addr)
{
	return addrs_have(&callees->functions, addr) || addrs_have(&callees->in_go, addr);
}

/* Finds the place that the last load of insn->via reads, by the state just before that load. */
static bool loaded_from(const struct validate_callees *callees,
    const struct code_insn *insn, const struct code_state *before, uint64_t *place)
{
	struct code_state state = *before;
	struct code_insn part = {.control = CODE_CONTINUES, .length = insn->length};

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
		*place = (uint64_t)(base.off + load->off);
		return base.kind == CODE_CONST;
	}
	return false;
}

/* True if control that goes to the address in this instruction's register never comes back. */
static bool goes_to_named(const struct validate_callees *callees,
    const struct code_insn *insn, const struct code_state *before)
{
	uint64_t place;

	return loaded_from(callees, insn, before, &place) &&
	       place_is_named(callees, place);
}

static uint64_t goes_to_own(const struct validate_callees *callees,
    const struct code_insn *insn, const struct code_state *before)
{
	uint64_t place;
	size_t i;

	if (!loaded_from(callees, insn, before, &place))
		return 0;
	i = search_from(callees->own, sizeof(*callees->own), callees->n_own, place);
	return i < callees->n_own && callees->own[i].place == place
		   ? callees->own[i].function
		   : 0;
}

uint64_t validate_goes_to_own(const struct validate_callees *callees,
    const struct code_insn *insn, const struct code_state *state,
    const struct validate_stub *stub)
{
	const uint64_t own = goes_to_own(callees, insn, state);

	if (own || insn->control == CODE_CALLS_TO || stub->reg != insn->via)
		return own;
	return stub->own;
}

bool validate_goes_to_named(const struct validate_callees *callees,
    const struct code_insn *insn, const struct code_state *state,
    const struct validate_stub *stub)
{
	return goes_to_named(callees, insn, state) ||
	       (insn->control != CODE_CALLS_TO && stub->reg == insn->via && stub->named);
}

void validate_stub_note(const struct validate_callees *callees,
    const struct code_insn *insn, const struct code_state *state,
    struct validate_stub *stub)
{
	for (uint8_t i = 0; i < insn->n_effects; i++)
		if (insn->effects[i].kind == CODE_LOAD &&
		    insn->effects[i].dst < CODE_SCRATCH) {
			struct code_insn whole = *insn;

			whole.via = insn->effects[i].dst;
			*stub = (struct validate_stub){whole.via,
			    goes_to_named(callees, &whole, state),
			    goes_to_own(callees, &whole, state)};
		}
}

bool validate_read_insn(
    const struct validate_callees *callees, uint64_t pc, struct code_insn *insn)
{
	const GElf_Phdr *segment = image_code_segment(callees->image, pc, 1);
	uint64_t size = segment ? segment->p_vaddr + segment->p_filesz - pc : 0;
	const uint8_t *bytes = image_at_addr(callees->image, pc, size < 16 ? size : 16);

	return bytes && size &&
	       code_insn_read(callees->machine, bytes, size < 16 ? size : 16, pc, insn);
}

/* Stubs have 4 instructions on AArch64. */
enum { CALLEES_MAX_STUB = 6 };

uint64_t validate_call_own(
    const struct validate_callees *callees, const struct code_insn *call)
{
	struct code_state state;

	if (!callees->n_own)
		return 0;
	code_state_unknown(&state);
	return goes_to_own(callees, call, &state);
}

uint64_t validate_stub_own(const struct validate_callees *callees, uint64_t pc)
{
	struct validate_stub stub = {.reg = CODE_NO_REG};
	struct code_state state;
	struct code_insn insn;

	code_state_unknown(&state);
	for (int n = 0; callees->n_own && n < CALLEES_MAX_STUB &&
			validate_read_insn(callees, pc, &insn);
	     n++) {
		if (insn.control == CODE_JUMPS_TO)
			return validate_goes_to_own(callees, &insn, &state, &stub);
		if (insn.control != CODE_CONTINUES)
			return 0;
		validate_stub_note(callees, &insn, &state, &stub);
		code_state_step(&state, code_abi(callees->machine), pc, &insn);
		pc += insn.length;
	}
	return 0;
}

bool validate_never_returns(
    const struct validate_callees *callees, const struct code_insn *call)
{
	const uint64_t own = validate_call_own(callees, call);
	struct code_state state;

	if (call->control == CODE_CALLS)
		return !validate_may_return(callees->returns, call->target);
	code_state_unknown(&state);
	return goes_to_named(callees, call, &state) ||
	       (own && !validate_may_return(callees->returns, own));
}

/* Frames below a page need no such routine, which has fewer instructions than this. */
enum { CALLEES_LEAST_FRAME = 4096, CALLEES_MAX_PROBE = 64 };

/* True if the instruction gives register 0 another value. */
static bool changes_first(const struct code_insn *insn)
{
	if ((insn->writes | insn->unsure) & 1)
		return true;
	for (uint8_t i = 0; i < insn->n_effects; i++)
		if (insn->effects[i].dst == 0 && insn->effects[i].kind != CODE_STORE &&
		    insn->effects[i].kind != CODE_COMPARE)
			return true;
	return false;
}

bool validate_keeps_first(const struct validate_callees *callees,
    const struct code_insn *call, const struct code_state *state)
{
	uint64_t pc = call->target;
	struct code_insn insn;

	if (callees->machine != CODE_X86_64 || call->control != CODE_CALLS ||
	    state->regs[0].kind != CODE_CONST || state->regs[0].off < CALLEES_LEAST_FRAME)
		return false;
	for (int n = 0; n < CALLEES_MAX_PROBE; n++) {
		if (!validate_read_insn(callees, pc, &insn) || changes_first(&insn) ||
		    insn.control == CODE_CALLS || insn.control == CODE_CALLS_TO ||
		    insn.control == CODE_JUMPS || insn.control == CODE_JUMPS_TO)
			return false;
		if (insn.control == CODE_RETURNS)
			return true;
		pc += insn.length;
	}
	return false;
}
