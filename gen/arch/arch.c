/* SPDX-License-Identifier: MIT */
/* The machines this program knows, and the names of those it does not. */
#include "gen/arch/arch.h"

#include <elf.h>
#include <stdio.h>

static const struct arch *const known[] = {
    &arch_x86_64,
    &arch_aarch64,
    &arch_aarch64_be,
    &arch_s390x,
};

/* Customary names: those of GNU readelf and of distributions, shortened. */
static const struct {
	uint16_t elf_machine;
	const char *name;
} names[] = {
    {EM_NONE, "no machine"}, {EM_SPARC, "SPARC"}, {EM_386, "i386"}, {EM_68K, "m68k"},
    {EM_MIPS, "MIPS"}, {EM_PARISC, "PA-RISC"}, {EM_SPARC32PLUS, "SPARC v8+"},
    {EM_PPC, "PowerPC"}, {EM_PPC64, "PowerPC64"}, {EM_S390, "s390x"}, {EM_ARM, "ARM"},
    {EM_SH, "SuperH"}, {EM_SPARCV9, "SPARC v9"}, {EM_IA_64, "IA-64"},
    {EM_X86_64, "x86-64"}, {EM_VAX, "VAX"}, {EM_AVR, "AVR"}, {EM_XTENSA, "Xtensa"},
    {EM_MSP430, "MSP430"}, {EM_ALTERA_NIOS2, "Nios II"}, {EM_AARCH64, "AArch64"},
    {EM_MICROBLAZE, "MicroBlaze"}, {EM_CUDA, "CUDA"}, {EM_AMDGPU, "AMDGPU"},
    {EM_RISCV, "RISC-V"}, {EM_BPF, "BPF"}, {EM_CSKY, "C-SKY"}, {EM_ALPHA, "Alpha"},
    {93, "ARC"},	/* EM_ARC_COMPACT */
    {195, "ARCv2"},	/* EM_ARC_COMPACT2 */
    {92, "OpenRISC"},	/* EM_OPENRISC */
    {164, "Hexagon"},	/* EM_QDSP6 */
    {258, "LoongArch"}, /* EM_LOONGARCH, newer than some elf.h */
};

const struct arch *arch_find(uint16_t elf_machine, bool big_endian)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i]->elf_machine == elf_machine &&
		    known[i]->big_endian == big_endian)
			return known[i];
	return NULL;
}

bool arch_reloc_is_tls(const struct arch *arch, uint32_t type)
{
	for (size_t i = 0; i < arch->n_tls_relocs; i++)
		if (arch->tls_relocs[i] == type)
			return true;
	return false;
}

const struct arch_reloc *arch_reloc_find(const struct arch *arch, uint32_t type)
{
	for (size_t i = 0; i < arch->n_relocs; i++)
		if (arch->relocs[i].type == type)
			return &arch->relocs[i];
	return NULL;
}

const struct arch_code_reloc *arch_code_reloc_find(const struct arch *arch, uint32_t type)
{
	for (size_t i = 0; i < arch->n_code_relocs; i++)
		if (arch->code_relocs[i].type == type)
			return &arch->code_relocs[i];
	return NULL;
}

const char *arch_machine_name(uint16_t elf_machine, bool is_32, char *buf, size_t size)
{
	if (is_32 && elf_machine == EM_X86_64)
		return "x32";
	if (is_32 && elf_machine == EM_S390)
		return "31-bit s390";
	if (is_32 && elf_machine == EM_AARCH64)
		return "AArch64 ILP32";
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].elf_machine == elf_machine)
			return names[i].name;
	snprintf(buf, size, "machine 0x%x", (unsigned)elf_machine);
	return buf;
}
