/* SPDX-License-Identifier: MIT */
/*
 * Limits of each version on each ABI, by the function that answers and by a trial. Every
 * refusal of the writer is here.
 */
#include "tests/unit/sframe/test_sframe_random.h"

enum {
	BE = SFRAME_ABI_AARCH64_ENDIAN_BIG,
	ARM = SFRAME_ABI_AARCH64_ENDIAN_LITTLE,
	AMD = SFRAME_ABI_AMD64_ENDIAN_LITTLE,
	S390 = SFRAME_ABI_S390X_ENDIAN_BIG,
	S390_SP = 15,
	S390_FP = 11,
};

#define REG(number)                                                                      \
	{                                                                                \
		.kind = SF_LOC_REG, .reg = (number)                                      \
	}
#define AT_REG(number)                                                                   \
	{                                                                                \
		.kind = SF_LOC_AT_REG, .reg = (number)                                   \
	}
#define AT_CFA                                                                           \
	{                                                                                \
		.kind = SF_LOC_AT_CFA                                                    \
	}
#define SP8 .cfa = REG(AMD64_SP), .cfa_off = 8
#define SP0 .cfa = REG(AARCH64_SP)
#define SP160 .cfa = REG(S390_SP), .cfa_off = 160
#define RA(place, offset) .ra = place, .ra_off = (offset)
#define FP(place, offset) .fp = place, .fp_off = (offset)
#define CANNOT(id) SF_CANNOT_##id

struct saying {
	const char *name;
	uint8_t abi;
	struct sf_row row;
	enum sf_cannot answers[3]; /* of versions 1, 2, 3 */
};

static const struct saying sayings[] = {
    {"plain", AMD, {SP8}, {SF_CAN, SF_CAN, SF_CAN}},
    {"FP saved", AMD, {SP8, FP(AT_CFA, -16)}, {SF_CAN, SF_CAN, SF_CAN}},
    {"outermost", AMD, {.outermost = true},
	{CANNOT(OUTERMOST), CANNOT(OUTERMOST), SF_CAN}},
    {"no CFA", AMD, {0}, {CANNOT(NO_CFA), CANNOT(NO_CFA), CANNOT(NO_CFA)}},
    {"CFA of itself", AMD, {.cfa = AT_CFA},
	{CANNOT(NO_CFA), CANNOT(NO_CFA), CANNOT(NO_CFA)}},
    {"CFA register", AMD, {.cfa = REG(10)}, {CANNOT(CFA_BASE), CANNOT(CFA_BASE), SF_CAN}},
    {"CFA in memory", AMD, {.cfa = AT_REG(AMD64_FP), .cfa_off = -8},
	{CANNOT(CFA_BASE), CANNOT(CFA_BASE), SF_CAN}},
    {"CFA register 32", AMD, {.cfa = REG(32)},
	{CANNOT(CFA_BASE), CANNOT(CFA_BASE), CANNOT(REGISTER)}},
    {"RA at its place", AMD, {SP8, RA(AT_CFA, -8)}, {SF_CAN, SF_CAN, SF_CAN}},
    {"RA elsewhere", AMD, {SP8, RA(AT_CFA, -16)},
	{CANNOT(RA_NOT_FIXED), CANNOT(RA_NOT_FIXED), SF_CAN}},
    {"RA at the CFA", AMD, {SP8, RA(AT_CFA, 0)},
	{CANNOT(RA_NOT_FIXED), CANNOT(RA_NOT_FIXED), SF_CAN}},
    {"RA register", AMD, {SP8, RA(REG(3), 0)},
	{CANNOT(RA_NOT_FIXED), CANNOT(RA_NOT_FIXED), SF_CAN}},
    {"RA register 32", AMD, {SP8, RA(REG(32), 0)},
	{CANNOT(RA_NOT_FIXED), CANNOT(RA_NOT_FIXED), CANNOT(REGISTER)}},
    {"FP register", AMD, {SP8, FP(REG(3), 0)},
	{CANNOT(FP_PLACE), CANNOT(FP_PLACE), SF_CAN}},
    {"FP in memory", AMD, {SP8, FP(AT_REG(AMD64_FP), 0)},
	{CANNOT(FP_PLACE), CANNOT(FP_PLACE), SF_CAN}},
    {"FP in memory at register 32", AMD, {SP8, FP(AT_REG(32), 0)},
	{CANNOT(FP_PLACE), CANNOT(FP_PLACE), CANNOT(REGISTER)}},
    {"signed", AMD, {SP8, .ra_signed = true},
	{CANNOT(SIGNED), CANNOT(SIGNED), CANNOT(SIGNED)}},

    {"leaf", ARM, {SP0, .ra_signed = true}, {SF_CAN, SF_CAN, SF_CAN}},
    {"RA saved", ARM, {SP0, RA(AT_CFA, -8)}, {SF_CAN, SF_CAN, SF_CAN}},
    {"both saved", BE, {SP0, RA(AT_CFA, -8), FP(AT_CFA, -16)}, {SF_CAN, SF_CAN, SF_CAN}},
    {"FP alone", ARM, {SP0, FP(AT_CFA, -16)},
	{CANNOT(FP_ALONE), CANNOT(FP_ALONE), CANNOT(FP_ALONE)}},
    {"RA at the CFA", ARM, {SP0, RA(AT_CFA, 0)},
	{CANNOT(RA_AT_0), CANNOT(RA_AT_0), CANNOT(RA_AT_0)}},
    {"no flexible rows: CFA register", ARM, {.cfa = REG(10)},
	{CANNOT(CFA_BASE), CANNOT(CFA_BASE), CANNOT(CFA_BASE)}},
    {"no flexible rows: CFA in memory", BE, {.cfa = AT_REG(AARCH64_FP)},
	{CANNOT(CFA_BASE), CANNOT(CFA_BASE), CANNOT(CFA_BASE)}},
    {"no flexible rows: RA register", ARM, {SP0, RA(REG(3), 0)},
	{CANNOT(RA_PLACE), CANNOT(RA_PLACE), CANNOT(RA_PLACE)}},
    {"no flexible rows: RA in memory", ARM, {SP0, RA(AT_REG(29), 8)},
	{CANNOT(RA_PLACE), CANNOT(RA_PLACE), CANNOT(RA_PLACE)}},
    {"no flexible rows: FP register", ARM, {SP0, RA(AT_CFA, -8), FP(REG(3), 0)},
	{CANNOT(FP_PLACE), CANNOT(FP_PLACE), CANNOT(FP_PLACE)}},
    {"outermost", ARM, {.outermost = true},
	{CANNOT(OUTERMOST), CANNOT(OUTERMOST), SF_CAN}},

    {"entry", S390, {SP160}, {CANNOT(ABI), SF_CAN, SF_CAN}},
    {"CFA offset", S390, {.cfa = REG(S390_SP), .cfa_off = 164},
	{CANNOT(ABI), CANNOT(CFA_OFFSET), CANNOT(CFA_OFFSET)}},
    {"CFA register", S390, {.cfa = REG(1), .cfa_off = 160},
	{CANNOT(ABI), CANNOT(CFA_BASE), SF_CAN}},
    {"FP alone", S390, {SP160, FP(AT_CFA, -72)}, {CANNOT(ABI), SF_CAN, SF_CAN}},
    {"RA at the CFA", S390, {SP160, RA(AT_CFA, 0)},
	{CANNOT(ABI), CANNOT(RA_AT_0), SF_CAN}},
    {"odd RA slot", S390, {SP160, RA(AT_CFA, -47)}, {CANNOT(ABI), CANNOT(SLOT), SF_CAN}},
    {"odd FP slot", S390, {SP160, FP(AT_CFA, -71)}, {CANNOT(ABI), CANNOT(SLOT), SF_CAN}},
    {"registers", S390, {SP160, RA(REG(17), 0), FP(REG(16), 0)},
	{CANNOT(ABI), SF_CAN, SF_CAN}},
    {"RA register and offset", S390, {SP160, RA(REG(17), 8)},
	{CANNOT(ABI), CANNOT(RA_PLACE), SF_CAN}},
    {"FP in memory", S390, {SP160, FP(AT_REG(S390_FP), 8)},
	{CANNOT(ABI), CANNOT(FP_PLACE), SF_CAN}},
    {"RA register 32", S390, {SP160, RA(REG(32), 0)},
	{CANNOT(ABI), CANNOT(REGISTER), CANNOT(REGISTER)}},
    {"outermost", S390, {.outermost = true}, {CANNOT(ABI), CANNOT(OUTERMOST), SF_CAN}},
};

enum { N_SAYINGS = sizeof(sayings) / sizeof(*sayings) };

static bool try_row(uint8_t version, uint8_t abi, struct sf_row row, struct err *err)
{
	struct sf_encode_options options = {.version = version, .pcrel = version > 1};
	struct sf_section model = fixture_section(abi);
	struct wr wr;
	bool ok;

	fixture_func(&model, 0x401000, 64);
	fixture_row(&model, fixture_cfa(0, sf_abi_find(abi)->sp, abi == S390 ? 160 : 8));
	row.start = 0x12;
	fixture_row(&model, row);
	wr_init(&wr, model.big_endian);
	ok = sf_encode(&model, &options, &wr, NULL, err);
	wr_deinit(&wr);
	sf_section_deinit(&model);
	return ok;
}

/* The writer's message names the function, the row, the version and the reason. */
static void expect_words(
    const char *name, uint8_t version, enum sf_cannot cannot, const struct err *err)
{
	static const char where[] = "function at 0x401000, row at +0x12: version ";

	ck_assert_msg(err->kind == ERR_UNSUPPORTED, "%s: kind %d", name, err->kind);
	ck_assert_msg(strncmp(err->text, where, strlen(where)) == 0, "%s", err->text);
	ck_assert_int_eq(err->text[strlen(where)], '0' + version);
	ck_assert_msg(
	    strstr(err->text, sf_cannot_text(cannot)), "%s: %s", name, err->text);
}

UNIT_LOOP(each_saying, 0, N_SAYINGS)
{
	const struct saying *saying = &sayings[_i];

	for (uint8_t version = 1; version <= 3; version++) {
		enum sf_cannot want = saying->answers[version - 1];
		enum sf_cannot got = sf_can_express(version, saying->abi, &saying->row);
		struct err err = {0};
		bool ok;

		ck_assert_msg(got == want, "%s, version %u: cannot say %s", saying->name,
		    version, sf_cannot_text(got));
		ck_assert((sf_can_express(version, saying->abi, &saying->row) ==
			      SF_CAN) == (want == SF_CAN));
		ok = try_row(version, saying->abi, saying->row, &err);
		ck_assert_msg(ok == (want == SF_CAN), "%s: %s", saying->name, err.text);
		if (!ok && want != SF_CANNOT_ABI)
			expect_words(saying->name, version, want, &err);
	}
}

UNIT(every_name_has_a_row)
{
	for (unsigned int cannot = 0; cannot < SF_N_CANNOT; cannot++) {
		bool found = cannot == SF_CANNOT_VERSION;

		for (size_t i = 0; i < N_SAYINGS; i++)
			for (size_t v = 0; v < 3; v++)
				found |= sayings[i].answers[v] == cannot;
		ck_assert_msg(found, "%s", sf_cannot_text((enum sf_cannot)cannot));
	}
}

UNIT(no_such)
{
	const struct sf_row row = fixture_cfa(0, AMD64_SP, 8);

	ck_assert_int_eq(sf_can_express(0, AMD, &row), SF_CANNOT_VERSION);
	ck_assert_int_eq(sf_can_express(4, AMD, &row), SF_CANNOT_VERSION);
	ck_assert_int_eq(sf_can_express(3, 0, &row), SF_CANNOT_ABI);
	ck_assert_int_eq(sf_can_express(3, 5, &row), SF_CANNOT_ABI);
	ck_assert(sf_can_express(4, AMD, &row) != SF_CAN);
}

/* The answer and the writer agree. The next version can hold any row that a version can. */
UNIT(asked_and_tried)
{
	struct prng prng = {.state = 11};

	for (unsigned int i = 0; i < 20000; i++) {
		uint8_t abi = (uint8_t)(1 + prng_below(&prng, 4));
		const struct sf_abi *facts = sf_abi_find(abi);
		struct sf_row row = random_any_row(&prng, facts, prng_below(&prng, 2));
		bool before = false;

		for (uint8_t version = facts->since; version <= 3; version++) {
			bool sayable = sf_can_express(version, abi, &row) == SF_CAN;
			struct err err = {0};

			if (try_row(version, abi, row, &err) != sayable)
				ck_abort_msg("%u: version %u, ABI %u: %s", i, version,
				    abi, err.text);
			if (before && !sayable)
				ck_abort_msg("%u: not in version %u", i, version);
			before = sayable;
		}
	}
}

/* Version 2 has had rows without words since its second errata. They need an option. */
UNIT(outermost_on_request)
{
	struct sf_section model = fixture_section(AMD);
	struct sf_encode_options options = {.version = 2, .pcrel = true};
	struct err err = {0};
	struct wr wr;

	fixture_func(&model, 0x1000, 64);
	fixture_row(&model, (struct sf_row){.outermost = true});
	ck_assert_int_eq(
	    fixture_refused(&model, &options, "the outermost"), ERR_UNSUPPORTED);
	options.outermost = true;
	wr_init(&wr, false);
	ck_assert_msg(sf_encode(&model, &options, &wr, NULL, &err), "%s", err.text);
	ck_assert_mem_eq(wr.data + 28 + 20, "\0\0", 2);
	wr_deinit(&wr);
	options = (struct sf_encode_options){.version = 1, .outermost = true};
	ck_assert_int_eq(
	    fixture_refused(&model, &options, "the outermost"), ERR_UNSUPPORTED);
	sf_section_deinit(&model);
}
