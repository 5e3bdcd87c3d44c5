/* SPDX-License-Identifier: MIT */
/* Modules of a traced process: /proc/PID/maps, program headers, and the binary search. */
#include "tests/oracle/step_module.h"

#include <elf.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"

#ifndef PT_GNU_SFRAME
#define PT_GNU_SFRAME 0x6474e554
#endif

enum {
	CACHE_SIZE = 1 << 16, /* PCs; direct mapped */
	/* Version 1 has PCMASK but no block size; all that GNU ld 2.40 wrote were of 16
	 * bytes, or had one row only. */
	V1_REP_SIZE = 16,
};

bool step_read(const struct step_modules *modules, uint64_t addr, void *buf, size_t size)
{
	return pread(modules->mem_fd, buf, size, (off_t)addr) == (ssize_t)size;
}

bool step_modules_renew(struct step_modules *modules)
{
	char name[64];

	if (modules->mem_fd >= 0)
		close(modules->mem_fd);
	snprintf(name, sizeof(name), "/proc/%d/mem", (int)modules->pid);
	modules->mem_fd = open(name, O_RDWR | O_CLOEXEC);
	modules->n_maps = 0;
	modules->stale = true;
	memset(modules->cache, 0, CACHE_SIZE * sizeof(*modules->cache));
	return modules->mem_fd >= 0;
}

bool step_modules_init(struct step_modules *modules)
{
	modules->mem_fd = -1;
	modules->cache = calloc(CACHE_SIZE, sizeof(*modules->cache));
	return modules->cache && elf_version(EV_CURRENT) != EV_NONE &&
	       step_modules_renew(modules);
}

void step_modules_deinit(struct step_modules *modules)
{
	for (size_t i = 0; i < modules->n; i++) {
		free(modules->list[i]->path);
		free(modules->list[i]->bytes);
		step_marks_deinit(&modules->list[i]->marks);
		free(modules->list[i]);
	}
	free(modules->list);
	free(modules->maps);
	free(modules->cache);
	free(modules->stops);
	if (modules->mem_fd >= 0)
		close(modules->mem_fd);
}

/* Where the file's addresses begin, from one executable mapping of it. */
static bool find_bias(Elf *elf, const struct step_map *map, uint64_t *bias)
{
	GElf_Phdr p;

	for (int i = 0; gelf_getphdr(elf, i, &p); i++) {
		if (p.p_type != PT_LOAD || !(p.p_flags & PF_X) ||
		    map->file_off + 4096 <= p.p_offset ||
		    map->file_off >= p.p_offset + p.p_filesz)
			continue;
		*bias = map->start - (map->file_off - p.p_offset + p.p_vaddr);
		return true;
	}
	return false;
}

static void find_plts(Elf *elf, struct step_module *module)
{
	Elf_Scn *scn = NULL;
	size_t names = 0;
	GElf_Shdr shdr;

	(void)elf_getshdrstrndx(elf, &names);
	while ((scn = elf_nextscn(elf, scn)) != NULL && gelf_getshdr(scn, &shdr)) {
		const char *name = elf_strptr(elf, names, shdr.sh_name);

		if (!name || !(shdr.sh_flags & SHF_EXECINSTR) ||
		    module->n_plts == STEP_MAX_PLTS)
			continue;
		if (!strncmp(name, ".plt", 4) || !strcmp(name, ".iplt"))
			module->plts[module->n_plts++] = (struct step_range){
			    .start = shdr.sh_addr + module->bias,
			    .end = shdr.sh_addr + module->bias + shdr.sh_size,
			};
	}
}

/* Name of the function symbol at exactly addr, in one symbol table; NULL when there is none. */
static const char *find_symbol(Elf *elf, Elf_Scn *scn, uint32_t strings, uint64_t addr)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Sym sym;

	for (int i = 0; data && gelf_getsym(data, i, &sym); i++)
		if (sym.st_value == addr && GELF_ST_TYPE(sym.st_info) == STT_FUNC)
			return elf_strptr(elf, strings, sym.st_name);
	return NULL;
}

void step_module_symbol(
    const struct step_module *module, uint64_t addr, char *name, size_t size)
{
	int fd = open(module->path, O_RDONLY | O_CLOEXEC);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	const char *found = NULL;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	GElf_Ehdr ehdr;

	while (
	    !found && (scn = elf_nextscn(elf, scn)) != NULL && gelf_getshdr(scn, &shdr))
		if (shdr.sh_type == SHT_SYMTAB || shdr.sh_type == SHT_DYNSYM)
			found = find_symbol(elf, scn, shdr.sh_link, addr - module->bias);
	/* Stripped files have this one all the same. */
	if (!found && gelf_getehdr(elf, &ehdr) && ehdr.e_entry == addr - module->bias)
		found = "_start";
	snprintf(name, size, "%s", found ? found : "");
	elf_end(elf);
	if (fd >= 0)
		close(fd);
}

static bool fail(struct step_module *module, const char *what)
{
	module->failed = true;
	printf("FAIL %s: %s\n", module->path, what);
	return false;
}

/* Reads the section where the program header says it is mapped, not from the file. */
static bool read_section(
    const struct step_modules *modules, const GElf_Phdr *phdr, struct step_module *module)
{
	struct err err = {0};
	uint64_t addr = phdr->p_vaddr + module->bias;

	if (phdr->p_memsz > UINT32_MAX || phdr->p_memsz == 0)
		return fail(module, "PT_GNU_SFRAME has an impossible size");
	module->bytes = malloc(phdr->p_memsz);
	if (!module->bytes || !step_read(modules, addr, module->bytes, phdr->p_memsz))
		return fail(module, "PT_GNU_SFRAME is not mapped");
	if (!sf_view_open(module->bytes, phdr->p_memsz, addr, &module->view, &err))
		return fail(module, err.text);
	module->has_sframe = true;
	return true;
}

/* The rows whose steps are counted apart, if the user has a list of this module. */
static void read_marks(const struct step_modules *modules, struct step_module *module)
{
	char path[4096];

	if (!modules->marks || !module->has_sframe)
		return;
	snprintf(path, sizeof(path), "%s/%s.json", modules->marks, module->name);
	if (access(path, F_OK) == 0 && !step_marks_read(&module->marks, path))
		(void)fail(module, "its marks cannot be read");
	snprintf(path, sizeof(path), "%s/%s.seen", modules->marks, module->name);
	if (modules->seen && !step_marks_load(&module->marks, path))
		(void)fail(module, "what earlier runs saw is of another report");
}

bool step_modules_save(const struct step_modules *modules)
{
	char path[4096];

	for (size_t i = 0; modules->seen && i < modules->n; i++) {
		const struct step_module *module = modules->list[i];

		snprintf(path, sizeof(path), "%s/%s.seen", modules->marks, module->name);
		if (module->marks.n && !step_marks_save(&module->marks, path))
			return false;
	}
	return true;
}

/* At the first PC inside it, when all its segments are mapped. */
static void module_open(const struct step_modules *modules, const struct step_map *map,
    struct step_module *module)
{
	int fd = open(module->path, O_RDONLY | O_CLOEXEC);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	GElf_Phdr phdr;

	module->opened = true;
	if (elf && find_bias(elf, map, &module->bias)) {
		find_plts(elf, module);
		for (int i = 0; gelf_getphdr(elf, i, &phdr); i++)
			if (phdr.p_type == PT_GNU_SFRAME && !module->bytes)
				(void)read_section(modules, &phdr, module);
		read_marks(modules, module);
	}
	elf_end(elf);
	if (fd >= 0)
		close(fd);
}

/* The module of a mapping: the one already known by that path, if it lay at the same
 * place. */
static struct step_module *module_get(struct step_modules *modules, const char *path,
    const struct step_map *old, size_t n_old, uint64_t start)
{
	struct step_module *module;

	for (size_t i = 0; i < n_old; i++)
		if (old[i].start == start && !strcmp(old[i].module->path, path))
			return old[i].module;
	module = calloc(1, sizeof(*module));
	if (!module || !vec_reserve(&modules->list, &modules->cap, modules->n + 1)) {
		free(module);
		return NULL;
	}
	module->path = strdup(path);
	module->name = strrchr(module->path, '/') + 1;
	module->chosen = !modules->filter || !fnmatch(modules->filter, module->name, 0);
	modules->list[modules->n++] = module;
	return module;
}

static bool read_map_line(struct step_modules *modules, const char *line,
    const struct step_map *old, size_t n_old)
{
	struct step_map map = {0};
	char perms[5] = "", path[4096] = "";

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %4095[^\n]",
		&map.start, &map.end, perms, &map.file_off, path) < 5)
		return true;
	/* qemu maps what its program may run as what may be read. */
	if (perms[modules->machine->is_guest ? 0 : 2] == '-' || path[0] != '/')
		return true;
	map.module = module_get(modules, path, old, n_old, map.start);
	if (!map.module ||
	    !vec_reserve(&modules->maps, &modules->cap_maps, modules->n_maps + 1))
		return false;
	modules->maps[modules->n_maps++] = map;
	return true;
}

/* Reads the mappings again; the PC cache is emptied only when executable ones changed. */
static void maps_refresh(struct step_modules *modules)
{
	struct step_map *old = modules->maps;
	size_t n_old = modules->n_maps, size = 0;
	char name[64], *line = NULL;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/maps", (int)modules->pid);
	f = fopen(name, "re");
	modules->maps = NULL;
	modules->n_maps = modules->cap_maps = 0;
	while (f && getline(&line, &size, f) > 0)
		if (!read_map_line(modules, line, old, n_old))
			break;
	if (n_old != modules->n_maps ||
	    (n_old && memcmp(old, modules->maps, n_old * sizeof(*old)) != 0))
		memset(modules->cache, 0, CACHE_SIZE * sizeof(*modules->cache));
	free(line);
	free(old);
	if (f)
		fclose(f);
	modules->stale = false;
}

static const struct step_map *map_of(const struct step_modules *modules, uint64_t pc)
{
	for (size_t i = 0; i < modules->n_maps; i++)
		if (pc >= modules->maps[i].start && pc < modules->maps[i].end)
			return &modules->maps[i];
	return NULL;
}

/* The last function that starts at or before the PC, if the PC is inside. */
static bool find_func(struct step_module *module, uint64_t pc, struct sf_view_func *func)
{
	uint32_t low = 0, high = module->view.n_funcs;
	struct err err = {0};

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (!sf_view_func(&module->view, middle, func, &err))
			return fail(module, err.text);
		if (func->func.start <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return false;
	if (!sf_view_func(&module->view, low - 1, func, &err))
		return fail(module, err.text);
	return pc - func->func.start < func->func.size;
}

static void find_row(struct step_module *module, struct step_pc *at)
{
	struct sf_view_func func;
	struct sf_row_iter iter;
	struct sf_row row;
	struct err err = {0};
	uint64_t key;

	if (!find_func(module, at->pc, &func))
		return;
	at->func_start = func.func.start;
	key = at->pc - func.func.start;
	if (func.func.pcmask)
		key %= func.func.rep_size ? func.func.rep_size : V1_REP_SIZE;
	sf_rows_begin(&module->view, &func, &iter);
	while (sf_rows_next(&iter, &row, &err) && row.start <= key) {
		at->row = row;
		at->has_row = true;
	}
	if (iter.failed)
		(void)fail(module, err.text);
}

/* The program's own bytes in place of breakpoints. */
static void hide_stops(const struct step_modules *modules, uint64_t pc, uint8_t *code)
{
	size_t low = 0, high = modules->n_stops;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (modules->stops[middle].pc < pc)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < modules->n_stops && modules->stops[low].pc < pc + STEP_INSN_MAX;
	     low++)
		code[modules->stops[low].pc - pc] = modules->stops[low].byte;
}

static void pc_fill(struct step_modules *modules, struct step_pc *at)
{
	uint8_t code[STEP_INSN_MAX + 1] = {0};
	const struct step_map *map = map_of(modules, at->pc);

	/* Near the end of a mapping fewer bytes can be read; an instruction still fits.
	 */
	(void)!pread(modules->mem_fd, code, sizeof(code), (off_t)at->pc);
	hide_stops(modules, at->pc, code);
	at->insn = modules->machine->insn_read(code);
	at->known = true;
	if (!map)
		return;
	at->module = map->module;
	if (!at->module->opened)
		module_open(modules, map, at->module);
	for (size_t i = 0; i < at->module->n_plts; i++)
		if (at->pc >= at->module->plts[i].start &&
		    at->pc < at->module->plts[i].end)
			at->in_plt = true;
	if (at->module->has_sframe)
		find_row(at->module, at);
	at->mark = step_marks_at(&at->module->marks, at->pc - at->module->bias);
}

void step_modules_open_all(struct step_modules *modules)
{
	if (modules->stale)
		maps_refresh(modules);
	for (size_t i = 0; i < modules->n_maps; i++)
		if (!modules->maps[i].module->opened)
			module_open(modules, &modules->maps[i], modules->maps[i].module);
}

const struct step_pc *step_modules_at(struct step_modules *modules, uint64_t pc)
{
	struct step_pc *at = &modules->cache[(pc ^ pc >> 16) % CACHE_SIZE];

	if (modules->stale)
		maps_refresh(modules);
	if (!at->known || at->pc != pc) {
		*at = (struct step_pc){.pc = pc};
		pc_fill(modules, at);
	}
	return at;
}
