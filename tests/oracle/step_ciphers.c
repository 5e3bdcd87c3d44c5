/* SPDX-License-Identifier: MIT */
/* Runs all hashes and ciphers of nettle, and hogweed's elliptic curves. */
#include <nettle/chacha-poly1305.h>
#include <nettle/curve25519.h>
#include <nettle/curve448.h>
#include <nettle/ecc-curve.h>
#include <nettle/ecdsa.h>
#include <nettle/eddsa.h>
#include <nettle/gcm.h>
#include <nettle/knuth-lfib.h>
#include <nettle/nettle-meta.h>
#include <nettle/umac.h>
#include <nettle/xts.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 4096, CONTEXT = 65536 };

static uint8_t text[SIZE], out[SIZE + 64], key[256], digest[256];
static _Alignas(64) uint8_t context[CONTEXT];
static const size_t sizes[] = {16, 64, 240, 1024, SIZE};

static void random_bytes(void *state, size_t n, uint8_t *bytes)
{
	knuth_lfib_random(state, n, bytes);
}

static void run_hashes(void)
{
	for (const struct nettle_hash *const *hash = nettle_get_hashes(); *hash; hash++) {
		if ((*hash)->context_size > CONTEXT)
			abort();
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			(*hash)->init(context);
			(*hash)->update(context, sizes[i], text);
			(*hash)->update(context, sizes[i] - 3, text);
			(*hash)->digest(context, (*hash)->digest_size, digest);
		}
	}
}

static void run_ciphers(void)
{
	for (const struct nettle_cipher *const *cipher = nettle_get_ciphers(); *cipher;
	     cipher++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			(*cipher)->set_encrypt_key(context, key);
			(*cipher)->encrypt(context, sizes[i], out, text);
			(*cipher)->set_decrypt_key(context, key);
			(*cipher)->decrypt(context, sizes[i], text, out);
		}
}

static void run_aeads(void)
{
	for (const struct nettle_aead *const *aead = nettle_get_aeads(); *aead; aead++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			(*aead)->set_encrypt_key(context, key);
			if ((*aead)->set_nonce)
				(*aead)->set_nonce(context, key);
			if ((*aead)->update)
				(*aead)->update(context, 64, text);
			(*aead)->encrypt(context, sizes[i], out, text);
			if ((*aead)->digest)
				(*aead)->digest(context, (*aead)->digest_size, digest);
		}
}

static void run_macs(void)
{
	for (const struct nettle_mac *const *mac = nettle_get_macs(); *mac; mac++) {
		(*mac)->set_key(context, key);
		(*mac)->update(context, SIZE, text);
		(*mac)->digest(context, (*mac)->digest_size, digest);
	}
}

static void run_umac(void)
{
	struct umac128_ctx umac;

	umac128_set_key(&umac, key);
	umac128_update(&umac, SIZE, text);
	umac128_digest(&umac, 16, digest);
}

static void run_curve(const struct ecc_curve *curve, struct knuth_lfib_ctx *random)
{
	struct ecc_point public;
	struct ecc_scalar private;
	struct dsa_signature signature;

	ecc_point_init(&public, curve);
	ecc_scalar_init(&private, curve);
	dsa_signature_init(&signature);
	ecdsa_generate_keypair(&public, &private, random, random_bytes);
	ecdsa_sign(&private, random, random_bytes, 32, text, &signature);
	if (!ecdsa_verify(&public, 32, text, &signature))
		exit(1);
	dsa_signature_clear(&signature);
	ecc_scalar_clear(&private);
	ecc_point_clear(&public);
}

static void run_curves(void)
{
	const struct ecc_curve *const curves[] = {nettle_get_secp_192r1(),
	    nettle_get_secp_224r1(), nettle_get_secp_256r1(), nettle_get_secp_384r1(),
	    nettle_get_secp_521r1()};
	struct knuth_lfib_ctx random;
	uint8_t public[64];

	knuth_lfib_init(&random, 17);
	for (size_t i = 0; i < sizeof(curves) / sizeof(curves[0]); i++)
		run_curve(curves[i], &random);
	curve25519_mul_g(out, key);
	curve448_mul_g(out, key);
	ed25519_sha512_public_key(public, key);
	ed25519_sha512_sign(public, key, 64, text, out);
	ed448_shake256_public_key(public, key);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(key); i++)
		key[i] = (uint8_t)(i * 7 + 1);
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (uint8_t)(i * 13 + i / 256);
	run_hashes();
	run_ciphers();
	run_aeads();
	run_macs();
	run_umac();
	run_curves();
	return 0;
}
