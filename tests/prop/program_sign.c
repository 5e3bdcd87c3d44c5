/* SPDX-License-Identifier: MIT */
/* The instructions whose numbers mean something else on each machine. */
#include "cfi/opcodes.h"
#include "tests/prop/program.h"

/* AArch64's pseudo register (aadwarf64). */
enum { RA_SIGN_STATE = 34 };

bool program_sign(struct program *p)
{
	uint64_t kind = program_random(p, 10);

	if (!p->machine->signs)
		return false;
	if (kind == 0 && p->cie) {
		wr_u8(&p->out, DW_CFA_restore_extended);
		program_uleb(&p->out, RA_SIGN_STATE);
		p->state.is_signed = p->cie->initial.is_signed;
		p->state.with_pc = p->cie->initial.with_pc;
		return true;
	}
	wr_u8(&p->out, kind == 1 ? DW_CFA_AARCH64_negate_ra_state_with_pc
				 : DW_CFA_AARCH64_negate_ra_state);
	p->state.is_signed = !p->state.is_signed;
	if (kind == 1)
		p->state.with_pc = !p->state.with_pc;
	return true;
}

/* SPARC's: it says something about registers 16 to 31, none of which s390x tracks. */
bool program_window_save(struct program *p)
{
	if (p->machine->signs || program_chance(p, 85))
		return false;
	wr_u8(&p->out, DW_CFA_GNU_window_save);
	if (p->machine->ra >= 16)
		p->state.ra = (struct truth_rule){.how = TRUTH_IS, .base = TRUTH_UNKNOWN};
	return true;
}
