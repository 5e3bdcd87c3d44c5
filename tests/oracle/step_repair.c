/* SPDX-License-Identifier: MIT */
/* Calls each function of step_repair_MACHINE.S. */
#if defined(__x86_64__)
#define FUNCTIONS(DO)                                                                    \
	DO(cfa_by_sp)                                                                    \
	DO(cfa_by_fp)                                                                    \
	DO(cfa_by_other)                                                                 \
	DO(cfa_in_memory)                                                                \
	DO(ra_moved)                                                                     \
	DO(fp_in_frame)                                                                  \
	DO(fp_by_sp)                                                                     \
	DO(fp_in_other)                                                                  \
	DO(fp_restored)                                                                  \
	DO(fp_is_argument)                                                               \
	DO(behind_pops)                                                                  \
	DO(fp_copied)                                                                    \
	DO(cfa_copied)                                                                   \
	DO(ra_copied)                                                                    \
	DO(by_table)                                                                     \
	DO(fp_twice)
#elif defined(__aarch64__)
#define FUNCTIONS(DO)                                                                    \
	DO(cfa_by_sp)                                                                    \
	DO(cfa_by_fp)                                                                    \
	DO(ra_in_frame)                                                                  \
	DO(ra_kept)                                                                      \
	DO(ra_slot_reused)                                                               \
	DO(behind_prologue)                                                              \
	DO(ra_signed)                                                                    \
	DO(copied)
#else
#define FUNCTIONS(DO)                                                                    \
	DO(cfa_by_sp)                                                                    \
	DO(cfa_by_fp)                                                                    \
	DO(ra_in_frame)                                                                  \
	DO(ra_kept)                                                                      \
	DO(cfa_by_other)                                                                 \
	DO(fp_in_other)                                                                  \
	DO(copied)
#endif

#define DECLARE(name) long name(long);
FUNCTIONS(DECLARE)

int main(void)
{
	long sum = 0;

#define CALL(name)                                                                       \
	for (long i = 1; i < 4; i++)                                                     \
		sum += name(i);
	FUNCTIONS(CALL)
	return sum == 0x12345678;
}
