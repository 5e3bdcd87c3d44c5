/* SPDX-License-Identifier: MIT */
/* What of the hostile functions differs from machine to machine: names, and code inside of functions. */
#ifndef TESTS_ORACLE_STEP_HOSTILE_H
#define TESTS_ORACLE_STEP_HOSTILE_H

#define HOSTILE_SA_RESTORER 0x04000000

extern void (*volatile hostile_dies)(long);
void hostile_restorer(void);
int hostile_clone(int (*function)(void *), void *stack);

#if defined(__x86_64__)
/* clang-format off */
#define HOSTILE_FUNCTIONS(DO) \
	DO(plain_frame) DO(leaf_pushes) DO(frame_alloca) DO(alloca_by_loop) DO(loops_pushes) DO(two_heights) \
	DO(fp_in_r11) DO(fp_in_bss) DO(fp_in_xmm) DO(fp_in_redzone) DO(fp_exchanged) DO(push_16_bits) \
	DO(pops_to_memory) DO(moves_by_lea) DO(falls_into_next) DO(jump_in_insn) DO(hot_patched) DO(enters) \
	DO(drap_frame) DO(sp_in_memory) DO(table_of_two) DO(table_of_byte) DO(pushes_and_returns) DO(by_retpoline) \
	DO(call_and_pop) DO(ra_pushed_again) DO(ra_by_jump) DO(ra_over_syscall) DO(ra_exchanged) DO(skips_caller) \
	DO(calls_ret_8) DO(calls_ret_8_frameless) DO(calls_described_pop) DO(calls_ret_16_by_register) \
	DO(calls_to_pops_16) DO(calls_pop_push) DO(calls_pop_push_local) DO(calls_to_pop_push) DO(calls_pop_count) \
	DO(pops_in_loop) DO(calls_leaves_rbx) DO(calls_allocates_local) DO(calls_allocates) \
	DO(calls_allocates_and_returns) DO(by_prologue) DO(by_prologue_returns) DO(millicode_user) \
	DO(fp_slot_reused) DO(fp_is_argument) DO(calls_sets_fp) DO(calls_opens) DO(fatal_in_middle) DO(resolver_stub) \
	DO(threaded) DO(stg_run) DO(to_cold) DO(correlated) DO(correlated_good_way) DO(correlated_fp) \
	DO(computed_goto) DO(described_stack) DO(exchanged_stack) DO(over_frames) DO(calls_own_err)
#define HOSTILE_FATAL(DO) DO(fatal_ends) DO(fatal_in_middle_dies) DO(only_dies) DO(to_cold_fatal)
/* clang-format on */

/* A callee that pops its argument, with true CFI. */
__asm__(".text\n.globl described_pop\n.type described_pop, @function\ndescribed_pop:\n"
	".cfi_startproc\nmov 8(%rsp), %rax\nret $8\n.cfi_endproc\n"
	".size described_pop, .-described_pop\n");

static inline __attribute__((always_inline)) long hostile_out_of_line(long value)
{
	long result = value;

	__asm__ volatile("test $1, %%dil\njnz 771f\n772:\n"
			 ".pushsection .text.ool, \"ax\", @progbits\n.p2align 4\n"
			 "771: mov $2, %%eax\nnop\nnop\njmp 772b\n.popsection\n"
			 : "+a"(result)
			 : "D"(value)
			 : "memory");
	return result;
}

#define HOSTILE_ABORTS(value, abort, done)                                               \
	__asm__ goto(                                                                    \
	    ".pushsection .data.rel, \"aw\"\n.p2align 3\n773: .quad 774f\n.popsection\n" \
	    ".pushsection .text.abort, \"ax\", @progbits\n"                              \
	    ".byte 0x0f, 0xb9, 0x3d\n.long 0x53053053\n"                                 \
	    "774: nop\nnop\njmp %l[" #abort "]\n.popsection\n"                           \
	    "test $1, %%dil\njz %l[" #done "]\n"                                         \
	    "lea 773b(%%rip), %%rax\njmp *(%%rax)\n" ::"D"(value)                        \
	    : "rax", "memory"                                                            \
	    : abort, done)
#endif

#endif
