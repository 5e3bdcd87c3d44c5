/* SPDX-License-Identifier: MIT */
/* Differences between machines in the hostile functions: names, and code inside of functions. */
#ifndef TESTS_ORACLE_STEP_HOSTILE_H
#define TESTS_ORACLE_STEP_HOSTILE_H

/* rt_sigaction takes a restorer; qemu's s390x ends there. */
#ifndef __s390x__
#define HOSTILE_RESTORES
#define HOSTILE_SA_RESTORER 0x04000000
#endif

extern void (*volatile hostile_dies)(long);
void hostile_restorer(void);

#ifdef HOSTILE_LIES
/* Two functions whose CFI is wrong, which the stepper must find. */
#define HOSTILE_LIE(name, cfi)                                                           \
	__asm__(".text\n.globl " #name "\n.type " #name ", %function\n" #name            \
		":\n.cfi_startproc\n" cfi "\n" HOSTILE_RETURN                            \
		"\n.cfi_endproc\n.size " #name ", .-" #name "\n")
void lies_of_cfa(void), lies_of_fp(void);
#endif

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
	DO(computed_goto) DO(described_stack) DO(exchanged_stack) DO(over_frames) DO(calls_own_err) \
	DO(slot_in_kept) DO(jumps_to_two_ways) DO(jumps_to_label) DO(has_copy_of_sp)
#define HOSTILE_FATAL(DO) \
	DO(fatal_ends) DO(fatal_in_middle_dies) DO(only_dies) DO(to_cold_fatal) DO(calls_callee_gives_slot) \
	DO(calls_callee_gives_slot_last) DO(calls_callee_writes_far) DO(calls_slot_in_argument) \
	DO(calls_slot_by_index) DO(calls_slot_below_aligned) DO(table_met) DO(jumps_back_bare) DO(by_aligned) \
	DO(calls_in_by_aligned) DO(by_other_fp) DO(calls_in_by_other_fp) DO(enters_pops) DO(calls_pops_or_dies) \
	DO(part_in_two_states) DO(part_in_two_states_too) DO(entered_by_part) DO(part_of_word) DO(entered_by_word) \
	DO(runs_into) DO(calls_run_into) DO(part_and_function) DO(calls_part) DO(without_fp) DO(calls_described_to_pop) \
	DO(calls_pops_by_memory) DO(comes_back) DO(calls_label)
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

int hostile_clone(int (*function)(void *), void *stack);
#define HOSTILE_CLONES

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

#elif defined(__aarch64__)
/* clang-format off */
#define HOSTILE_FUNCTIONS(DO) \
	DO(plain_frame) DO(leaf_pushes) DO(frame_alloca) DO(loops_pushes) DO(large_frame) DO(extends_then_shifts) \
	DO(extends_byte) DO(masks_half) DO(fp_in_x9) DO(fp_in_d0) DO(ra_in_x9) DO(ra_in_x19) DO(falls_into_next) \
	DO(two_heights) DO(table_of_two) DO(call_to_next) DO(fp_slot_reused) DO(ra_slot_reused) DO(fp_is_argument) \
	DO(calls_sets_fp) DO(calls_allocates_local) DO(calls_allocates) DO(calls_allocates_by_x16) \
	DO(calls_allocates_frameless) DO(calls_to_allocates) DO(calls_pops_by_register) DO(outlined_frame) \
	DO(fatal_in_middle) DO(resolver_stub) DO(threaded) DO(stg_run) DO(to_cold) DO(correlated) DO(correlated_fp) \
	DO(computed_goto) DO(described_stack) DO(over_frames) DO(slot_in_kept) DO(jumps_to_two_ways) DO(jumps_to_label)
#define HOSTILE_FATAL(DO) \
	DO(fatal_ends) DO(fatal_in_middle_dies) DO(only_dies) DO(to_cold_fatal) DO(comes_back) DO(calls_label)
/* clang-format on */

/* A helper that saves registers of its caller, whose CFI is true. */
__asm__(".text\n.globl described_prologue\n.type described_prologue, %function\n"
	"described_prologue:\n.cfi_startproc\nstp x19, x20, [sp, #-16]!\n"
	".cfi_def_cfa_offset 16\nret\n.cfi_endproc\n"
	".size described_prologue, .-described_prologue\n");

static inline __attribute__((always_inline)) long hostile_out_of_line(long value)
{
	long result = value;

	__asm__ volatile("tbnz %1, #0, 771f\n772:\n"
			 ".pushsection .text.ool, \"ax\", %%progbits\n.p2align 4\n"
			 "771: mov %0, #2\nnop\nnop\nb 772b\n.popsection\n"
			 : "+r"(result)
			 : "r"(value));
	return result;
}

#elif defined(__s390x__)
/* clang-format off */
#define HOSTILE_FUNCTIONS(DO) \
	DO(plain_frame) DO(leaf_pushes) DO(frame_alloca) DO(back_chain) DO(large_frame) DO(fp_in_f0) DO(fp_in_r1) \
	DO(ra_in_r1) DO(ra_in_f2) DO(falls_into_next) DO(two_heights) DO(literal_pool) DO(fp_slot_reused) \
	DO(fp_slot_moved) DO(ra_slot_reused) DO(fp_slot_executed) DO(calls_sets_fp) DO(calls_allocates_local) \
	DO(calls_allocates) DO(calls_to_allocates) DO(calls_pops_by_register) DO(fatal_in_middle) DO(threaded) \
	DO(stg_run) DO(to_cold) DO(correlated) DO(correlated_fp) DO(computed_goto) DO(described_stack) DO(over_frames) \
	DO(table_of_two) DO(sibling) DO(slot_in_kept) DO(jumps_to_two_ways) DO(jumps_to_label)
#define HOSTILE_FATAL(DO) \
	DO(fatal_ends) DO(fatal_in_middle_dies) DO(only_dies) DO(to_cold_fatal) DO(comes_back) DO(calls_label)
/* clang-format on */

static inline __attribute__((always_inline)) long hostile_out_of_line(long value)
{
	long result = value;

	__asm__ volatile("tmll %1, 1\njnz 771f\n772:\n"
			 ".pushsection .text.ool, \"ax\", @progbits\n.p2align 4\n"
			 "771: lghi %0, 2\nnopr\nnopr\njg 772b\n.popsection\n"
			 : "+d"(result)
			 : "d"(value)
			 : "cc");
	return result;
}
#endif

#ifdef HOSTILE_LIES
#if defined(__x86_64__)
#define HOSTILE_RETURN "ret"
HOSTILE_LIE(lies_of_cfa, ".cfi_def_cfa_offset 24");
HOSTILE_LIE(lies_of_fp, ".cfi_offset 6, -8");
#elif defined(__aarch64__)
#define HOSTILE_RETURN "ret"
HOSTILE_LIE(lies_of_cfa, ".cfi_def_cfa_offset 16");
HOSTILE_LIE(lies_of_fp, ".cfi_offset 30, -8\n.cfi_offset 29, -16");
#elif defined(__s390x__)
#define HOSTILE_RETURN "br %r14"
HOSTILE_LIE(lies_of_cfa, ".cfi_def_cfa_offset 176");
HOSTILE_LIE(lies_of_fp, ".cfi_offset 14, -48\n.cfi_offset 11, -72");
#endif
#endif

#endif
