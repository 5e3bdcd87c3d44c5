/* SPDX-License-Identifier: MIT */
/*
 * Bytes as the code of one function, for each machine: decoded, divided into code and data, and followed
 * along every way. The states must be those of instructions inside of the function, in their order.
 */
#include "tests/fuzz/fuzz.h"

#include "code/paths.h"

const char *const fuzz_section = ".text";

enum { ADDRESS = 0x10000, MAX_SIZE = 4096 };

struct function {
	const uint8_t *bytes;
	uint64_t size;
	enum code_machine machine;
	uint64_t n_places;
};

static void check_insns(const struct function *function)
{
	for (uint64_t at = 0; at < function->size; at++) {
		const uint64_t left = function->size - at;
		struct code_insn insn;

		if (!code_insn_read(function->machine, function->bytes + at, left,
			ADDRESS + at, &insn))
			continue;
		FUZZ_ASSERT(insn.length > 0 && insn.length <= left &&
				insn.n_effects <= CODE_MAX_EFFECTS,
		    "%u bytes, %u effects", insn.length, insn.n_effects);
		if (insn.executes && left >= CODE_EXECUTED_BYTES)
			code_insn_execute(function->machine, function->bytes + at, &insn);
		FUZZ_ASSERT(
		    insn.n_effects <= CODE_MAX_EFFECTS, "%u effects", insn.n_effects);
	}
}

/* Parts follow each other without a gap. */
static void check_split(const struct function *function)
{
	struct code_parts parts = {0};
	uint64_t at = 0;

	FUZZ_ASSERT(code_split(function->machine, function->bytes, function->size,
			ADDRESS, &parts),
	    "no memory for %s", "parts");
	for (size_t i = 0; i < parts.n; i++) {
		FUZZ_ASSERT(
		    parts.list[i].start == at && parts.list[i].size, "part %zu", i);
		at += parts.list[i].size;
	}
	FUZZ_ASSERT(at == function->size, "%llu bytes", (unsigned long long)at);
	code_parts_deinit(&parts);
}

static bool host_read(void *context, uint64_t addr, uint8_t width, uint64_t *value)
{
	const struct function *function = context;

	if (addr < ADDRESS || addr - ADDRESS >= function->size ||
	    function->size - (addr - ADDRESS) < width)
		return false;
	*value = 0;
	for (uint8_t i = 0; i < width; i++)
		*value |= (uint64_t)function->bytes[addr - ADDRESS + i] << 8 * i;
	return true;
}

/* Some return, and some do not. */
static bool host_returns(void *context, uint64_t pc, const struct code_insn *call,
    uint64_t next, const struct code_state *after)
{
	(void)context;
	(void)pc;
	(void)next;
	(void)after;
	return call->target % 3 != 0;
}

/* Code that no way leads to begins like a function. */
static bool host_seed(void *context, uint64_t pc, struct code_state *state)
{
	const struct function *function = context;

	code_state_entry(code_abi(function->machine), state);
	return pc % 2 == 0;
}

static uint32_t host_entries(void *context, uint64_t addr, uint8_t width)
{
	(void)context;
	return (uint32_t)(addr / width % 16);
}

static bool visit(void *context, const struct code_place *place)
{
	struct function *function = context;
	const uint64_t at = place->pc - ADDRESS;

	FUZZ_ASSERT(place->pc >= ADDRESS && at < function->size &&
			place->insn->length <= function->size - at,
	    "0x%llx", (unsigned long long)place->pc);
	FUZZ_ASSERT(++function->n_places <= function->size, "%llu places",
	    (unsigned long long)function->n_places);
	return true;
}

static void check_paths(struct function *function, uint8_t choice)
{
	const struct code_range range = {
	    ADDRESS, ADDRESS + function->size, function->bytes, function->size};
	const uint64_t entry = ADDRESS;
	const struct code_landing landing = {
	    ADDRESS, ADDRESS + function->size, ADDRESS + function->size / 2};
	const struct code_paths_input input = {.machine = function->machine,
	    .ranges = &range,
	    .n_ranges = 1,
	    .entries = &entry,
	    .n_entries = 1,
	    .landings = &landing,
	    .n_landings = choice & 1,
	    .strict = choice & 8,
	    .host = {.context = function,
		.read = host_read,
		.returns = host_returns,
		.seed = choice & 16 ? host_seed : NULL,
		.entries = choice & 32 ? host_entries : NULL}};
	struct code_paths *paths = code_paths_new();
	struct err err = {0};

	FUZZ_ASSERT(paths, "no memory for %s", "paths");
	function->n_places = 0;
	if (code_paths_run(paths, &input, &err))
		(void)code_paths_visit(paths, visit, function);
	else
		FUZZ_ASSERT(
		    err.kind == ERR_LIMIT, "kind %d: %s", (int)err.kind, err.text);
	code_paths_free(paths);
}

/* The first byte says how; the code is what follows. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum code_machine machines[] = {
	    CODE_X86_64, CODE_AARCH64, CODE_S390X};
	struct function function = {.bytes = data + 1};

	if (size < 2)
		return 0;
	function.size = size - 1 < MAX_SIZE ? size - 1 : MAX_SIZE;
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
		function.machine = machines[i];
		if (!code_can_decode(function.machine))
			continue;
		check_insns(&function);
		check_split(&function);
		check_paths(&function, data[0]);
	}
	return 0;
}
