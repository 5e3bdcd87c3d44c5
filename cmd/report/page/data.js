// SPDX-License-Identifier: MIT
// The report as the page uses it. Any program may have written a merged report, so
// nothing here trusts that a member is there, or what its type is.

// A count, or undefined where the report has none.
function dataCount(object, name) {
	const value = dataObject(object)[name];

	return Number.isFinite(value) && value >= 0 ? value : undefined;
}

function dataObject(value) {
	return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {};
}

// The objects of an array.
function dataObjects(value) {
	return Array.isArray(value)
		? value.filter((one) => one !== null && typeof one === 'object' && !Array.isArray(one)) : [];
}

function dataTexts(value) {
	return Array.isArray(value) ? value.filter((one) => typeof one === 'string').map(dataText) : [];
}

// "0x1000" or, in an object, "SECTION+0x10". BigInt, for addresses of kernels have 64 bits.
function dataAddress(value) {
	const text = dataText(value);
	const parts = /^(?:(.*)\+)?(0x[0-9a-fA-F]{1,16})$/.exec(text);

	return parts ? { text, prefix: parts[1] || '', at: BigInt(parts[2]) } : null;
}

function dataHex(prefix, at) {
	return (prefix ? prefix + '+' : '') + '0x' + at.toString(16);
}

// Three digits of the largest unit, for places where exact bytes stand beside.
function dataBytes(count) {
	if (count === undefined) return '?';
	const units = ['bytes', 'KB', 'MB', 'GB', 'TB'];
	let unit = 0, size = count;
	for (; size >= 1000 && unit < units.length - 1; unit++) size /= 1000;
	if (unit === 0) return count === 1 ? '1 byte' : count + ' bytes';
	return size.toFixed(size < 10 ? 2 : size < 100 ? 1 : 0) + ' ' + units[unit];
}

function dataPlural(count, one, many) {
	return dataNumber(count) + ' ' + (count === 1 ? one : many);
}

// Nothing but the whole is 100 %, and nothing but nothing is 0 %. Of nothing there is no share.
function dataPercent(part, whole) {
	if (part === undefined || whole === undefined) return '?';
	if (whole <= 0) return '-';
	if (part >= whole) return '100%';
	const percent = 100 * part / whole;
	if (part > 0 && percent < 0.01) return '< 0.01%';
	return Math.min(percent, 99.99).toFixed(2) + '%';
}

// What the executable bytes are. undefined: the report does not count them.
function dataCode(value) {
	const code = dataObject(value);
	const withCfi = dataCount(code, 'with_cfi') || 0;
	const covered = dataCount(code, 'covered') || 0;
	// Rows without CFI: of PLTs, and those that are concluded from the code.
	const template = (dataCount(code, 'plt_template') || 0) + (dataCount(code, 'derived') || 0);
	const outermost = dataCount(code, 'outermost') || 0;
	const executable = dataCount(code, 'executable');
	const data = dataCount(code, 'data') || 0;
	let without = dataCount(code, 'without_cfi');

	if (without === undefined && executable !== undefined)
		without = Math.max(executable - withCfi - template - data, 0);
	return {
		known: Object.keys(code).length > 0,
		withCfi, covered, template, outermost, data, without,
		decoded: code.decoded === true,
		paddingInCode: dataCount(code, 'padding_in_code') || 0,
		refused: Math.max(withCfi - covered - outermost, 0),
		uncovered: Math.max(withCfi - covered - outermost, 0) + (without || 0),
		// What the shares of the report are of: all but frames without a caller.
		countable: executable === undefined ? undefined : Math.max(executable - outermost, 0),
		executable,
	};
}

const dataStatusWords = {
	0: 'done', 1: 'bad input', 2: 'usage', 3: 'input or output', 4: 'proof', 5: 'coverage',
	6: 'nothing to do', 7: 'no memory', 8: 'not told', 70: 'defect',
};

function dataOutcome(file) {
	if (file.skipped !== undefined || file.status === 6) return 'skipped';
	return file.status === 0 && file.error === undefined ? 'done' : 'failed';
}

// The large number of a view: how much of all executable bytes has rows.
function dataShareOfAll(code) {
	const data = code.data ? ', ' + dataPercent(code.data, code.executable) + ' of it data' : '';

	return [dataPercent(code.covered + code.template, code.countable), 'of executable bytes covered',
		dataBytes(code.executable) + data];
}

// The sections that rows come from, and their bytes: [[name, bytes]].
function dataSections(sizes, sources) {
	const of = (name) => dataCount(dataObject(sources[name]), 'size') || 0;

	return [['.eh_frame', dataCount(sizes, '.eh_frame') || 0], ['.gopclntab', of('go')],
		['.debug_frame', of('debug_frame')]].filter(([, bytes]) => bytes);
}

// The size of .sframe beside theirs: '0.98 of .eh_frame'; '' without any.
function dataRatio(sframe, sections) {
	const names = [...new Set(sections.map(([name]) => name))], last = names.pop();
	const bytes = sections.reduce((sum, [, one]) => sum + one, 0);

	return bytes ? (sframe / bytes).toFixed(2) + ' of ' + (names.length ? names.join(', ') + ' and ' : '') + last : '';
}

// What the tables need of a file. The lists stay unread until it is opened.
function dataFile(raw, index) {
	const counts = dataObject(raw.counts), sizes = dataObject(raw.sizes);
	const path = dataText(raw.path) || '(no name)';
	const status = dataCount(raw, 'status');

	return {
		raw, index, path, status,
		base: path.replace(/^.*\/(?=.)/, ''),
		outcome: dataOutcome(raw),
		message: dataText(raw.error) || dataText(raw.skipped),
		machine: dataText(raw.machine),
		kind: dataText(raw.kind),
		format: dataCount(raw, 'format'),
		code: dataCode(raw.code),
		functions: dataCount(counts, 'functions_with_cfi'),
		withGaps: dataCount(counts, 'functions_with_gaps'),
		noCfi: dataCount(counts, 'functions_without_cfi'),
		sections: dataSections(sizes, dataObject(raw.sources)),
		ehFrame: dataCount(sizes, '.eh_frame'),
		ehFrameHdr: dataCount(sizes, '.eh_frame_hdr'),
		sframe: dataCount(sizes, '.sframe'),
	};
}

// [{reason, functions, bytes, needs}], the most bytes first.
function dataReasons(refused) {
	return Object.entries(dataObject(refused)).map(([reason, one]) => ({
		reason: dataText(reason),
		functions: dataCount(one, 'functions'),
		bytes: dataCount(one, 'bytes') || 0,
		needs: dataCount(one, 'needs'),
	})).sort((a, b) => b.bytes - a.bytes || (a.reason < b.reason ? -1 : 1));
}

function dataNeeds(needs) {
	if (needs === undefined) return '';
	return needs === 0 ? 'no version' : 'version ' + needs;
}

function dataRead(text) {
	const report = dataObject(JSON.parse(text));
	const files = dataObjects(report.files).map(dataFile);

	return { version: dataText(report.version), summary: dataObject(report.summary), files };
}
