// SPDX-License-Identifier: MIT
// One sentence for each reason. REFUSALS in eh2sframe-sframe(7) says more.
const reasonSentences = {
	'no-cfa': 'No rule for the CFA is in effect.',
	'cfa-register': 'The CFA is based on a register other than SP and FP.',
	'cfa-memory': 'The CFA is read from memory.',
	'cfa-expression': 'The CFA is an expression that no row can say.',
	'cfa-offset': 'The CFA offset does not fit 32 bits.',
	'cfa-alignment': 'The CFA offset is not a multiple of 8, the unit of rows on s390x.',
	'cfa-near-sp': 'The CFA is inside the register save area above SP.',
	'ra-undefined': 'Outermost frame: the return address is undefined. No caller is lost.',
	'ra-unsaved': 'CFI puts the return address where no call puts it.',
	'ra-elsewhere': 'The return address is saved, but not at the place of the ABI.',
	'ra-register': 'The return address is in a register.',
	'ra-expression': 'The return address is a computed value.',
	'ra-offset': 'The offset of the return address does not fit 32 bits.',
	'ra-at-cfa': 'The return address is saved at the CFA itself.',
	'ra-signed-pc': 'The return address is signed with the address of an instruction.',
	'fp-undefined': 'The frame pointer is not recoverable.',
	'fp-register': 'The frame pointer is in another register.',
	'fp-memory': 'The frame pointer is saved at an address that is not relative to the CFA.',
	'fp-expression': 'The frame pointer is a computed value.',
	'fp-offset': 'The offset of the frame pointer does not fit 32 bits.',
	'fp-alone': 'The frame pointer is saved, but the return address is not.',
	'odd-slot': 'A register is saved at an odd offset from the CFA.',
	'register-number': 'A rule names a register above 31.',
	'sp-rule': 'The stack pointer of the caller is not the CFA.',
	'signal-frame': 'This is a signal frame, which the version cannot mark.',
	'return-column': 'The return address column of the CIE is not that of the ABI.',
	'broken-program': 'The call frame instructions are damaged.',
	'overlap': 'Two FDEs describe the same code differently.',
	'not-code': 'The range is not inside an executable segment.',
	'function-size': 'The size of the range does not fit 32 bits.',
	'code-disagrees': 'The instructions contradict the CFI, and --code left the row out.',
	'excluded': 'An option left the function or section out.',
};

function reasonSentence(reason) {
	return Object.hasOwn(reasonSentences, reason) ? reasonSentences[reason] : '';
}

// The frames without a caller, which no share counts.
const reasonOutermost = 'ra-undefined';

// What the map and the bars show. The order is that of a column, from its foot.
const reasonClasses = ['covered', 'outermost', 'data', 'nocfi', 'other', 'r3', 'r2', 'r1', 'r0'];

// A class for each reason: the four with the most bytes have one of their own.
function reasonAssign(reasons) {
	const classes = new Map();
	let next = 0;

	for (const { reason } of reasons) {
		if (reason === reasonOutermost) classes.set(reason, 'outermost');
		else classes.set(reason, next < 4 ? 'r' + next++ : 'other');
	}
	return classes;
}
