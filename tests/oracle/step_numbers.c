/* SPDX-License-Identifier: MIT */
/* Calls gmp's functions with numbers of many sizes, so that each of its algorithms runs. */
#include <gmp.h>
#include <stdlib.h>

static const mp_bitcnt_t bits[] = {
    30, 64, 100, 128, 190, 256, 500, 1000, 2000, 5000, 12000, 40000, 200000};

enum { N_SIZES = sizeof(bits) / sizeof(bits[0]), POWERS = 5000, SMALL = 600 };

static mpz_t a, b, q, r, s;

static void divide(void)
{
	mpz_mul(r, a, b);
	mpz_divexact(q, r, b);
	mpz_tdiv_qr(q, r, r, b);
	mpz_fdiv_q(r, a, b);
	mpz_divexact_ui(r, a, 3);
	mpz_tdiv_q_ui(r, a, 77777);
	(void)mpz_tdiv_ui(a, 12345678901UL);
	(void)mpz_divisible_ui_p(a, 9);
	(void)mpz_congruent_ui_p(a, 3, 7);
	mpz_remove(r, a, b);
}

static void multiply(void)
{
	mpz_mul(r, a, b);
	mpz_mul(r, a, a);
	mpz_addmul(r, a, b);
	mpz_submul(r, a, b);
	mpz_mul_ui(r, a, 99);
	mpz_addmul_ui(r, a, 5);
	mpz_submul_ui(r, a, 7);
	mpz_mul_2exp(r, a, 37);
	mpz_tdiv_q_2exp(r, a, 21);
	mpz_fdiv_r_2exp(r, a, 40);
}

static void combine(void)
{
	mpz_add(r, a, b);
	mpz_sub(r, a, b);
	mpz_and(r, a, b);
	mpz_ior(r, a, b);
	mpz_xor(r, a, b);
	mpz_com(r, a);
	(void)mpz_popcount(a);
	(void)mpz_hamdist(a, b);
	(void)mpz_cmp(a, b);
	(void)mpz_scan1(a, 3);
	(void)mpz_scan0(a, 3);
}

static void solve(mp_bitcnt_t size_a, mp_bitcnt_t size_b)
{
	mpz_gcd(r, a, b);
	mpz_gcdext(r, q, s, a, b);
	mpz_gcd_ui(r, a, 6);
	(void)mpz_invert(r, b, a);
	(void)mpz_jacobi(a, b);
	mpz_sqrt(r, a);
	mpz_root(r, a, 3);
	(void)mpz_perfect_square_p(a);
	if (size_a <= POWERS) {
		mpz_powm(r, a, a, b);
		mpz_powm_sec(r, a, a, b);
	}
	if (size_a > SMALL)
		return;
	mpz_fac_ui(r, size_a);
	mpz_bin_uiui(r, size_a, 7);
	mpz_fib_ui(r, size_a);
	(void)mpz_probab_prime_p(a, 5);
	if (size_b < 300)
		mpz_nextprime(r, b);
}

/* Functions of one size that no number's function calls. */
static void limbs(void)
{
	mp_size_t n = (mp_size_t)mpz_size(a);
	const mp_limb_t *x = mpz_limbs_read(a);
	mp_limb_t *y = mpz_limbs_write(r, n), *z = mpz_limbs_write(s, n + 1);

	mpn_copyd(y, x, n);
	mpn_nand_n(z, x, y, n);
	mpn_nior_n(z, x, y, n);
	mpn_xnor_n(z, x, y, n);
	mpn_iorn_n(z, x, y, n);
	mpn_andn_n(z, x, y, n);
	(void)mpn_cnd_add_n(1, z, x, y, n);
	(void)mpn_cnd_sub_n(1, z, x, y, n);
	(void)mpn_divexact_by3c(z, x, n, 0);
	(void)mpn_divrem_1(z, 1, x, n, 12345);
	(void)mpn_divrem_1(z, 1, x, n, x[n - 1]);
	(void)mpn_mod_1(x, n, 12345);
	mpn_sec_tabselect(z, x, n, 1, 0);
	mpz_limbs_finish(r, n);
	if (n < 2)
		return;
	y[n - 1] |= (mp_limb_t)1 << (GMP_LIMB_BITS - 1);
	(void)mpn_divrem_2(z, 0, y, n, y + n - 2);
}

static void write_digits(int base)
{
	char *digits = mpz_get_str(NULL, base, a);

	if (!digits || mpz_set_str(r, digits, base) != 0)
		exit(1);
	free(digits);
}

int main(void)
{
	gmp_randstate_t random;

	gmp_randinit_mt(random);
	mpz_inits(a, b, q, r, s, NULL);
	for (size_t i = 0; i < N_SIZES; i++)
		for (size_t j = 0; j <= i; j++) {
			mpz_urandomb(a, random, bits[i]);
			mpz_urandomb(b, random, bits[j]);
			mpz_setbit(a, bits[i] - 1);
			mpz_setbit(b, bits[j] - 1);
			mpz_setbit(b, 0);
			multiply();
			divide();
			combine();
			solve(bits[i], bits[j]);
			limbs();
			write_digits(10);
			write_digits(16);
		}
	mpz_clears(a, b, q, r, s, NULL);
	gmp_randclear(random);
	return 0;
}
