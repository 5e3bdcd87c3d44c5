/* SPDX-License-Identifier: MIT */
/* The shadow stack, apart from the tracer so that its rules can be read in one piece. */
#include "tests/oracle/step_shadow.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* A move of SP by more than this in one instruction is a change of stacks, not a frame.
 */
#define OTHER_STACK_DISTANCE UINT64_C(0x100000)

static bool is_prefix(uint8_t byte)
{
	static const uint8_t prefixes[] = {
	    0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3};

	for (size_t i = 0; i < sizeof(prefixes); i++)
		if (byte == prefixes[i])
			return true;
	return false;
}

static bool is_retpoline(const uint8_t *code)
{
	static const uint8_t lea[] = {0x48, 0x8d, 0x64, 0x24, 0x08, 0xc3};

	return ((code[0] & 0xfb) == 0x48 && code[1] == 0x89 && (code[2] & 0xc7) == 0x04 &&
		   code[3] == 0x24 && code[4] == 0xc3) ||
	       !memcmp(code, lea, sizeof(lea));
}

enum step_insn step_insn_read(const uint8_t *code)
{
	size_t i = 0;

	if (is_retpoline(code))
		return STEP_INSN_RETPOLINE;
	while (i < STEP_INSN_MAX - 2 && is_prefix(code[i]))
		i++;
	if ((code[i] & 0xf0) == 0x40) /* REX */
		i++;
	switch (code[i]) {
	case 0xe8:
		return STEP_INSN_CALL;
	case 0xff: /* the middle field of the ModRM byte is the operation: 2 is call */
		return (code[i + 1] >> 3 & 7) == 2 ? STEP_INSN_CALL : STEP_INSN_OTHER;
	case 0xc2:
	case 0xc3:
		return STEP_INSN_RET;
	case 0x0f:
		return code[i + 1] == 0x05 ? STEP_INSN_SYSCALL : STEP_INSN_OTHER;
	default:
		return STEP_INSN_OTHER;
	}
}

bool step_shadow_push(
    struct step_shadow *shadow, uint64_t slot, uint64_t ret, uint64_t rbp)
{
	if (!vec_reserve(&shadow->frames, &shadow->cap, shadow->n + 1))
		return false;
	shadow->n_left = 0;
	shadow->frames[shadow->n++] =
	    (struct step_frame){.slot = slot, .ret = ret, .rbp = rbp};
	return true;
}

/* Frames below SP are dead. */
static bool drop_below(struct step_shadow *shadow, uint64_t rsp)
{
	size_t before = shadow->n;

	while (shadow->n && shadow->frames[shadow->n - 1].slot < rsp)
		shadow->n--;
	return shadow->n != before;
}

static bool is_near(uint64_t after, uint64_t before)
{
	return after >= before && after - before <= STEP_INSN_MAX;
}

static bool is_other_stack(const struct step_regs *before, const struct step_regs *after)
{
	uint64_t moved = after->rsp - before->rsp;

	return moved + OTHER_STACK_DISTANCE > 2 * OTHER_STACK_DISTANCE;
}

bool step_shadow_is_back(const struct step_shadow *shadow, uint64_t rsp)
{
	return shadow->n_left == 1 && shadow->frames[shadow->n].slot == rsp;
}

bool step_shadow_follow(struct step_shadow *shadow, enum step_insn insn,
    const struct step_regs *before, const struct step_regs *after, uint64_t top)
{
	size_t before_n;

	if (insn != STEP_INSN_SYSCALL && is_other_stack(before, after)) {
		step_shadow_clear(shadow);
		shadow->resyncs++;
		return true;
	}
	if (insn == STEP_INSN_CALL && after->rsp == before->rsp - 8 &&
	    top > before->rip && is_near(top, before->rip)) {
		shadow->suspended = false;
		return step_shadow_push(shadow, after->rsp, top, after->rbp);
	}
	if (insn == STEP_INSN_RET) {
		/* A ret to elsewhere from its own slot is a jump that replaces the
		 * function, as retpolines do; one from below the slot is a jump inside
		 * it. Either way what is at or below the slot used is gone. */
		drop_below(shadow, after->rsp);
		shadow->n_left = 0;
		shadow->suspended = false;
		return true;
	}
	if (step_shadow_is_back(shadow, after->rsp) &&
	    shadow->frames[shadow->n].ret == top) {
		shadow->n++;
		shadow->n_left = 0;
		shadow->suspended = false;
	}
	before_n = shadow->n;
	if (drop_below(shadow, after->rsp)) {
		shadow->suspended = true;
		shadow->n_left += before_n - shadow->n;
	}
	if (!is_near(after->rip, before->rip))
		shadow->suspended = false;
	return true;
}

/* A jump to where the frame that runs, or one above that SP has left, returns to. */
static bool pop_to(struct step_shadow *shadow, const struct step_regs *after)
{
	for (size_t i = shadow->n; i-- > 0;) {
		if (shadow->frames[i].ret == after->rip) {
			shadow->n = i;
			return true;
		}
		if (shadow->frames[i].slot > after->rsp)
			return false;
	}
	return false;
}

bool step_shadow_follow_link(struct step_shadow *shadow, enum step_insn insn,
    const struct step_regs *before, const struct step_regs *after)
{
	bool far = !is_near(after->rip, before->rip);

	if (insn != STEP_INSN_SYSCALL && is_other_stack(before, after)) {
		step_shadow_clear(shadow);
		shadow->resyncs++;
		return true;
	}
	/* Behind a system call, a jump is the way into a signal handler, or out of it. */
	if ((insn == STEP_INSN_CALL && after->rip != after->link) ||
	    (insn == STEP_INSN_SYSCALL && far && after->rsp < before->rsp)) {
		shadow->suspended = false;
		return step_shadow_push(shadow, after->rsp, after->link, after->rbp);
	}
	if (insn == STEP_INSN_RET || (insn == STEP_INSN_SYSCALL && far)) {
		bool cut = drop_below(shadow, after->rsp) || shadow->suspended;

		/* A jump over frames also leaves the one that the function it leads to has called. */
		if (!pop_to(shadow, after) && cut)
			drop_below(shadow, after->rsp + 1);
		shadow->suspended = false;
		return true;
	}
	if (drop_below(shadow, after->rsp))
		shadow->suspended = true;
	return true;
}

const struct step_frame *step_shadow_top(const struct step_shadow *shadow)
{
	if (!shadow->n || shadow->suspended)
		return NULL;
	return &shadow->frames[shadow->n - 1];
}

void step_shadow_clear(struct step_shadow *shadow)
{
	shadow->n = shadow->n_left = 0;
	shadow->suspended = false;
}

void step_shadow_deinit(struct step_shadow *shadow)
{
	free(shadow->frames);
	*shadow = (struct step_shadow){0};
}
