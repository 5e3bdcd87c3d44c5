/* SPDX-License-Identifier: MIT */
/*
 * What a program that runs the command eh2sframe may rely on: its exit statuses, as
 * documented in eh2sframe(1). They do not change from version to version.
 */
#ifndef EH2SFRAME_H
#define EH2SFRAME_H

enum eh2sframe_status {
	EH2SFRAME_DONE = 0,	/* done, and proven */
	EH2SFRAME_INPUT = 1,	/* input malformed or unsupported, or no place for it */
	EH2SFRAME_USAGE = 2,	/* the command line makes no sense */
	EH2SFRAME_IO = 3,	/* cannot read, no space, no permission, out of memory */
	EH2SFRAME_PROOF = 4,	/* the proof failed: nothing written */
	EH2SFRAME_COVERAGE = 5, /* coverage below --min-coverage: nothing written */
	EH2SFRAME_NOTHING = 6,	/* no CFI, or has .sframe and no --refresh */
	EH2SFRAME_BUG = 70,	/* internal error */
};

#endif
