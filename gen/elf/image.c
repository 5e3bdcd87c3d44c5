/* SPDX-License-Identifier: MIT */
/*
 * Opens an ELF file and checks its header and tables before libelf is asked about them;
 * what it leaves behind holds no range outside the file. Looking things up in it is
 * gen/elf/find.c.
 */
#include "gen/elf/image.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "base/plain.h"
#include "base/rd.h"
#include "gen/arch/arch.h"

#define EHDR_SIZE 64
#define PHDR_SIZE 56
#define SHDR_SIZE 64
/* Offsets of two fields of section header 0 that extend the ELF header's counts. */
#define SHDR_SIZE_OFF 32
#define SHDR_INFO_OFF 44
/* No real name is longer; a name table without a NUL must not be read once per section.
 */
#define MAX_NAME 4096

static bool check_archive(const uint8_t *start, struct err *err)
{
	if (memcmp(start, "!<arch>\n", 8) != 0 && memcmp(start, "!<thin>\n", 8) != 0)
		return true;
	return err_set(err, ERR_UNSUPPORTED,
	    "this is an archive; convert, remove, report, verify, lint and check take "
	    "one if it is the only input; for all else extract its members with ar x");
}

/* An archive without members is shorter than an ELF header. */
static bool refuse_short(const struct image *image, struct err *err)
{
	const intmax_t size = image->st.st_size;
	uint8_t start[8] = {0};

	if (image->bytes && size >= (intmax_t)sizeof(start))
		memcpy(start, image->bytes, sizeof(start));
	else if (image->fd >= 0)
		(void)!pread(image->fd, start, sizeof(start), 0);
	return check_archive(start, err) &&
	       err_set(err, ERR_UNSUPPORTED,
		   "not an ELF file: %jd bytes are less than an ELF header", size);
}

/* e_type and e_machine stand at the same place in both classes. */
static bool refuse_machine(const struct image *image, bool is_32, struct err *err)
{
	char buf[32];
	struct rd rd;

	rd_init(&rd, image->bytes, EHDR_SIZE, image->big_endian);
	rd_seek(&rd, EI_NIDENT + sizeof(uint16_t));
	return err_set(err, ERR_UNSUPPORTED,
	    "SFrame has no ABI for this machine: %s-endian, %d-bit %s",
	    image->big_endian ? "big" : "little", is_32 ? 32 : 64,
	    arch_machine_name(rd_u16(&rd), is_32, buf, sizeof(buf)));
}

/* True for gzip, xz, zstd and lz4, because kernel modules and core files are often compressed. */
static bool is_compressed(const uint8_t *ident)
{
	return memcmp(ident, "\x1f\x8b", 2) == 0 || memcmp(ident, "\3757zXZ", 5) == 0 ||
	       memcmp(ident, "\x28\xb5\x2f\xfd", 4) == 0 ||
	       memcmp(ident, "\x04\x22\x4d\x18", 4) == 0;
}

/*
 * The first 16 bytes decide whether anything else of the file means anything. Each
 * refusal names the byte, so that a message about a strange file can be checked with a
 * hex dump.
 */
static bool check_ident(struct image *image, struct err *err)
{
	const uint8_t *ident = image->bytes;

	if (!check_archive(ident, err))
		return false;
	if (is_compressed(ident))
		return err_set(err, ERR_UNSUPPORTED,
		    "this is compressed (it starts with %02x %02x %02x %02x); decompress "
		    "it first",
		    ident[0], ident[1], ident[2], ident[3]);
	if (memcmp(ident, ELFMAG, SELFMAG) != 0)
		return err_set(err, ERR_UNSUPPORTED,
		    "not an ELF file: starts with %02x %02x %02x %02x", ident[0],
		    ident[1], ident[2], ident[3]);
	if (ident[EI_CLASS] != ELFCLASS64 && ident[EI_CLASS] != ELFCLASS32)
		return err_set(err, ERR_MALFORMED,
		    "ELF header: class 0x%x at offset 0x4 is neither "
		    "32-bit nor 64-bit",
		    ident[EI_CLASS]);
	if (ident[EI_DATA] != ELFDATA2LSB && ident[EI_DATA] != ELFDATA2MSB)
		return err_set(err, ERR_MALFORMED,
		    "ELF header: byte order 0x%x at offset 0x5 does not exist",
		    ident[EI_DATA]);
	if (ident[EI_VERSION] != EV_CURRENT)
		return err_set(err, ERR_UNSUPPORTED,
		    "ELF header: version 0x%x at offset 0x6 is not 1", ident[EI_VERSION]);
	image->big_endian = ident[EI_DATA] == ELFDATA2MSB;
	if (ident[EI_CLASS] == ELFCLASS32)
		return refuse_machine(image, true, err);
	return true;
}

/* Read with base/rd.h, because libelf looks at the tables as soon as it is given the
 * file. */
static void read_header(struct image *image)
{
	GElf_Ehdr *ehdr = &image->ehdr;
	struct rd rd;

	rd_init(&rd, image->bytes, EHDR_SIZE, image->big_endian);
	memcpy(ehdr->e_ident, rd_skip(&rd, EI_NIDENT), EI_NIDENT);
	ehdr->e_type = rd_u16(&rd);
	ehdr->e_machine = rd_u16(&rd);
	ehdr->e_version = rd_u32(&rd);
	ehdr->e_entry = rd_u64(&rd);
	ehdr->e_phoff = rd_u64(&rd);
	ehdr->e_shoff = rd_u64(&rd);
	ehdr->e_flags = rd_u32(&rd);
	ehdr->e_ehsize = rd_u16(&rd);
	ehdr->e_phentsize = rd_u16(&rd);
	ehdr->e_phnum = rd_u16(&rd);
	ehdr->e_shentsize = rd_u16(&rd);
	ehdr->e_shnum = rd_u16(&rd);
	ehdr->e_shstrndx = rd_u16(&rd);
}

/*
 * Core dumps have program headers and notes like a program but describe a process;
 * ET_NONE and the OS-specific types describe nothing that is ever loaded. Objects
 * (ET_REL) are laid out as if they were linked (gen/elf/object/object.h).
 */
static bool check_header(const struct image *image, struct err *err)
{
	const GElf_Ehdr *ehdr = &image->ehdr;

	if (ehdr->e_version != EV_CURRENT)
		return err_set(err, ERR_UNSUPPORTED,
		    "ELF header: version 0x%" PRIx32 " at offset 0x14 is not 1",
		    ehdr->e_version);
	if (ehdr->e_type == ET_CORE)
		return err_set(err, ERR_UNSUPPORTED,
		    "this is a core dump, not a program; name the file of the program");
	if (ehdr->e_type != ET_EXEC && ehdr->e_type != ET_DYN && ehdr->e_type != ET_REL)
		return err_set(err, ERR_UNSUPPORTED,
		    "ELF header: file type 0x%x at offset 0x10 is not a program, "
		    "shared library or object",
		    ehdr->e_type);
	if (!arch_find(ehdr->e_machine, image->big_endian))
		return refuse_machine(image, false, err);
	return true;
}

/* Checks one table: entry size as the format says, all of it inside the file. */
static bool check_table(const struct image *image, const char *what, uint64_t off,
    uint64_t n, uint16_t entry_size, uint16_t want_size, struct err *err)
{
	uint64_t size;

	if (entry_size != want_size)
		return err_set(err, ERR_MALFORMED,
		    "ELF header: entries of the %s header table have %u bytes, not "
		    "%u",
		    what, entry_size, want_size);
	if (__builtin_mul_overflow(n, (uint64_t)want_size, &size) ||
	    !num_range_inside(off, size, image->size))
		return err_set(err, ERR_MALFORMED,
		    "the %s header table (%" PRIu64 " entries at offset 0x%" PRIx64
		    ") reaches past the end of the file (0x%zx): truncated or "
		    "damaged; rebuild the file or copy it again",
		    what, n, off, image->size);
	return true;
}

/*
 * Counts that do not fit the ELF header are in section header 0 (gABI, "ELF Header":
 * e_shnum 0, e_phnum PN_XNUM).
 */
static bool count_entries(struct image *image, struct err *err)
{
	const GElf_Ehdr *ehdr = &image->ehdr;
	uint64_t n_sections = ehdr->e_shnum, n_phdrs = ehdr->e_phnum;
	struct rd rd;

	if (!ehdr->e_shoff && ehdr->e_shnum)
		return err_set(err, ERR_MALFORMED,
		    "ELF header: %u section headers, but no offset for them",
		    ehdr->e_shnum);
	if (ehdr->e_shoff) {
		if (!check_table(image, "section", ehdr->e_shoff,
			n_sections ? n_sections : 1, ehdr->e_shentsize, SHDR_SIZE, err))
			return false;
		if (!image_own(image, image->bytes + ehdr->e_shoff, SHDR_SIZE, err))
			return false;
		rd_init(&rd, image->bytes + ehdr->e_shoff, SHDR_SIZE, image->big_endian);
		rd_seek(&rd, SHDR_SIZE_OFF);
		if (!n_sections)
			n_sections = rd_u64(&rd);
		rd_seek(&rd, SHDR_INFO_OFF);
		if (n_phdrs == PN_XNUM)
			n_phdrs = rd_u32(&rd);
	} else if (n_phdrs == PN_XNUM) {
		return err_set(err, ERR_MALFORMED,
		    "ELF header: the number of program headers is in section header "
		    "0, which does not exist");
	}
	if (n_sections && !check_table(image, "section", ehdr->e_shoff, n_sections,
			      ehdr->e_shentsize, SHDR_SIZE, err))
		return false;
	if (n_phdrs && !check_table(image, "program", ehdr->e_phoff, n_phdrs,
			   ehdr->e_phentsize, PHDR_SIZE, err))
		return false;
	if (n_phdrs > IMAGE_MAX_PHDRS)
		return err_set(err, ERR_LIMIT,
		    "%" PRIu64 " program headers are more than the %d that loaders take",
		    n_phdrs, IMAGE_MAX_PHDRS);
	/* In range: both tables are inside a file that is mapped. */
	image->n_sections = (size_t)n_sections;
	image->n_phdrs = (size_t)n_phdrs;
	/* Without entries the offset may be anything. */
	return (!n_sections || image_own(image, image->bytes + ehdr->e_shoff,
				   n_sections * SHDR_SIZE, err)) &&
	       (!n_phdrs || image_own(image, image->bytes + ehdr->e_phoff,
				n_phdrs * PHDR_SIZE, err));
}

/* Whatever libelf refuses after the checks above is the file's fault, so it is not an
 * internal error; libelf's own words are the best there are. Its numbers are secret, but
 * an allocation that failed left one in errno. */
static bool libelf_failed(struct err *err, const char *what)
{
	const char *text = elf_errmsg(-1);

	if (errno == ENOMEM)
		return err_set_nomem(err);
	return err_set(err, ERR_MALFORMED, "cannot read the %s: %s", what,
	    text ? text : "no reason given");
}

/*
 * Copied out once, in the host's byte order and with the range of the table known, so
 * that the rest of the program works on an array and not on libelf.
 */
static bool read_segments(struct image *image, struct err *err)
{
	image->first_code = image->n_phdrs;
	if (!image->n_phdrs)
		return true;
	image->phdrs = calloc(image->n_phdrs, sizeof(*image->phdrs));
	if (!image->phdrs)
		return err_set_nomem(err);
	for (size_t i = 0; i < image->n_phdrs; i++) {
		if (!gelf_getphdr(image->elf, (int)i, &image->phdrs[i]))
			return libelf_failed(err, "program header table");
		if (i < image->first_code && image->phdrs[i].p_type == PT_LOAD &&
		    image->phdrs[i].p_flags & PF_X)
			image->first_code = i;
	}
	return true;
}

/* A name is borrowed only when its NUL is inside the name table, too. Messages have one
 * line, so a name with control characters counts as none. */
static bool name_sections(struct image *image, struct err *err)
{
	const struct image_section *names;
	struct rd rd;

	if (!image->names || image->names >= image->n_sections)
		return true;
	names = &image->sections[image->names];
	if (!names->data || names->hdr.sh_type != SHT_STRTAB)
		return true;
	if (!image_own(image, names->data, names->hdr.sh_size, err))
		return false;
	rd_init(&rd, names->data, (size_t)names->hdr.sh_size, image->big_endian);
	for (size_t i = 0; i < image->n_sections; i++) {
		struct rd at = rd;
		const char *name;

		if (!rd_skip(&at, image->sections[i].hdr.sh_name))
			continue;
		if (at.size - at.pos > MAX_NAME)
			at.size = at.pos + MAX_NAME;
		name = rd_cstr(&at);
		if (name && plain_is(name))
			image->sections[i].name = name;
	}
	return true;
}

/*
 * A section whose range is outside the file gets no data here and no error. Only a caller
 * that needs its bytes can say whether that matters. Such files are common: some tool has
 * removed their debug sections.
 */
static bool read_sections(struct image *image, struct err *err)
{
	if (!image->n_sections)
		return true;
	image->sections = calloc(image->n_sections, sizeof(*image->sections));
	if (!image->sections)
		return err_set_nomem(err);
	for (size_t i = 0; i < image->n_sections; i++) {
		struct image_section *section = &image->sections[i];
		Elf_Scn *scn = elf_getscn(image->elf, i);

		if (!scn || !gelf_getshdr(scn, &section->hdr))
			return libelf_failed(err, "section header table");
		section->name = "";
		if (section->hdr.sh_type == SHT_NOBITS ||
		    section->hdr.sh_type == SHT_NULL ||
		    !num_range_inside(
			section->hdr.sh_offset, section->hdr.sh_size, image->size))
			continue;
		section->data = image->bytes + section->hdr.sh_offset;
	}
	image->names = image->ehdr.e_shstrndx;
	if (image->names == SHN_XINDEX)
		image->names = image->sections[0].hdr.sh_link;
	return name_sections(image, err);
}

/* libelf takes a pointer to non-const, and does not write to a file given as memory. */
static Elf *elf_of(const struct image *image)
{
	char *bytes;

	memcpy(&bytes, &image->bytes, sizeof(bytes));
	elf_version(EV_CURRENT);
	errno = 0;
	return elf_memory(bytes, image->size);
}

/* The order matters: nothing is given to libelf before both tables are known to be
 * inside. */
static bool open_checked(
    const struct image_from *from, struct image *image, struct err *err)
{
	if (!image_map(from, image, err))
		return false;
	if (image->st.st_size < EHDR_SIZE)
		return refuse_short(image, err);
	if (!check_ident(image, err))
		return false;
	read_header(image);
	if (!check_header(image, err) || !count_entries(image, err))
		return false;
	image->elf = elf_of(image);
	if (!image->elf || elf_kind(image->elf) != ELF_K_ELF)
		return libelf_failed(err, "ELF header");
	return read_segments(image, err) && read_sections(image, err) &&
	       image_check_sums(image, err) && image_own_tables(image, err);
}

bool image_load(const struct image_from *from, struct image *image, struct err *err)
{
	*image = (struct image){.fd = -1};
	if (open_checked(from, image, err))
		return true;
	image_unload(image);
	return false;
}

void image_unload(struct image *image)
{
	/* A zeroed struct has fd 0 and no path: that descriptor is not its own. */
	if (image->path && image->fd >= 0)
		close(image->fd);
	if (image->elf)
		elf_end(image->elf);
	image_unmap(image);
	free(image->phdrs);
	free(image->cfi.data);
	free(image->sections);
	free(image->path);
	free(image->shown);
	*image = (struct image){.fd = -1};
}
