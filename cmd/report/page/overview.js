// SPDX-License-Identifier: MIT
// The view of many files.

function overviewSum(files, of) {
	return files.reduce((sum, file) => sum + (of(file) || 0), 0);
}

// The summary of a report has fewer members than its files.
function overviewCode(done) {
	const names = ['executable', 'with_cfi', 'covered', 'plt_template', 'derived', 'outermost', 'without_cfi', 'data', 'padding',
		'padding_in_code'];
	const sum = {};
	for (const name of names) {
		const known = done.filter((file) => dataCount(file.raw.code, name) !== undefined);
		if (known.length) sum[name] = overviewSum(known, (file) => dataCount(file.raw.code, name));
	}
	sum.decoded = done.length > 0 && done.every((file) => file.code.decoded);
	return dataCode(sum);
}

function overviewFigures(report, done, code, filter) {
	const files = report.files;
	const count = (outcome) => files.filter((file) => file.outcome === outcome).length;
	const figures = [
		domFigure(dataNumber(files.length), files.length === 1 ? 'file' : 'files', dom('span', {},
			['done', 'skipped', 'failed'].filter((outcome) => count(outcome)).map((outcome) => domButton(
				dataNumber(count(outcome)) + ' ' + outcome, () => filter(outcome), { class: 'small' })))),
	];

	if (code.countable !== undefined) figures.push(domFigure(...dataShareOfAll(code)));
	figures.push(domFigure(dataPercent(code.covered, code.withCfi - code.outermost),
		'of code with CFI covered', dataBytes(code.withCfi) + ' with CFI'));
	figures.push(domFigure(dataNumber(overviewSum(done, (file) => file.withGaps)), 'functions with gaps',
		'of ' + dataNumber(overviewSum(done, (file) => file.functions)) + ' with CFI'));
	const own = overviewSum(done, (file) => file.sframe), from = done.flatMap((file) => file.sections);
	const old = from.reduce((sum, [, bytes]) => sum + bytes, 0);
	if (own)
		figures.push(domFigure(dataBytes(own), '.sframe', old ? dataRatio(own, from) + ', ' + dataBytes(old) : ''));
	return dom('ul', { class: 'figures' }, figures);
}

// What a report counts and does not list.
function overviewApart(summary) {
	return domFacts([
		['Not ELF', dataCount(summary, 'not_elf') ? dataNumber(summary.not_elf) : ''],
		['Excluded', dataCount(summary, 'excluded') ? dataNumber(summary.excluded) : ''],
		['Mount points', dataCount(summary, 'mount_points') ? dataNumber(summary.mount_points) : ''],
	]);
}

function overviewFileCell(file) {
	return dom('div', {}, dom('a', { href: '#file=' + file.index, title: file.path.slice(0, 500) },
		domName(file.base)), file.base === file.path ? null : dom('div', { class: 'faint path' },
		domName(file.path.slice(0, file.path.length - file.base.length))));
}

function overviewStatus(file) {
	if (file.outcome === 'done') return 'done';
	if (file.outcome === 'skipped') return 'skipped';
	return 'failed (' + (file.status === undefined ? '?' : file.status) + ')';
}

function overviewStatusCell(file) {
	const mark = { done: '', skipped: '\u2013 ', failed: '\u2716 ' }[file.outcome];

	return dom('div', { class: file.outcome }, mark + overviewStatus(file),
		file.message ? dom('div', { class: 'faint' }, domName(file.message)) : null);
}

// A percentage with a small bar, for eyes that look down a column.
function overviewShare(part, whole) {
	if (whole === undefined || part === undefined) return '';
	if (whole <= 0) return dataPercent(part, whole);
	const share = Math.min(part / whole, 1);

	return dom('span', { class: 'share' }, dataPercent(part, whole),
		domSvg('svg', { width: 60, height: 8, 'aria-hidden': 'true' },
			domSvg('rect', { width: 60, height: 8, class: 'share-whole' }),
			domSvg('rect', { width: 60 * share, height: 8, class: 'share-part' })));
}

function overviewColumns() {
	const number = (key, label, value) => ({ key, label, number: true, value,
		cell: (file) => (value(file) === undefined ? '' : dataNumber(value(file))) });
	const done = (of) => (file) => (file.code.known ? of(file) : undefined);
	const share = (part, whole) => (file) => {
		if (!file.code.known || !(whole(file) > 0)) return undefined;
		return Math.min(part(file) / whole(file), 1);
	};
	const cfi = [(file) => file.code.covered, (file) => file.code.withCfi - file.code.outermost];
	const all = [(file) => file.code.covered + file.code.template, (file) => file.code.countable];

	return [
		{ key: 'path', label: 'File', value: (file) => file.path, cell: overviewFileCell },
		{ key: 'status', label: 'Status', value: overviewStatus, cell: overviewStatusCell },
		{ key: 'machine', label: 'Machine', value: (file) => file.machine, cell: (file) => file.machine },
		number('uncovered', 'Uncovered bytes', done((file) => file.code.uncovered)),
		number('refused', 'Refused bytes', done((file) => file.code.refused)),
		number('gaps', 'With gaps', (file) => file.withGaps),
		number('functions', 'Functions', (file) => file.functions),
		{ key: 'cfi', label: 'Of CFI', number: true, value: share(...cfi), cell: (file) => (
			file.code.known ? overviewShare(cfi[0](file), cfi[1](file)) : '') },
		{ key: 'all', label: 'Of executable', number: true, value: share(...all), cell: (file) => (
			file.code.known ? overviewShare(all[0](file), all[1](file)) : '') },
		number('ehFrame', '.eh_frame', (file) => file.ehFrame),
		number('sframe', '.sframe', (file) => file.sframe),
	];
}

function overviewTable(report) {
	return tableMake({
		label: 'files', rows: report.files, key: 'uncovered', descending: true, size: 50,
		text: (file) => file.path + ' ' + file.message + ' ' + overviewStatus(file) + ' ' + file.machine,
		rowId: (file) => 'file-' + file.index,
		filters: [{ label: 'Outcome', value: (file) => file.outcome },
			{ label: 'Status', value: overviewStatus }, { label: 'Machine', value: (file) => file.machine },
			{ label: 'Kind', value: fileKind }],
		columns: overviewColumns(),
	});
}

function overviewView(report) {
	const checked = report.files.filter(checkHas);
	if (checked.length && !report.files.some((file) => file.code.known)) return checkOverview(report, checked);
	const done = report.files.filter((file) => file.outcome === 'done');
	const code = overviewCode(done);
	const reasons = dataReasons(report.summary.refused), classes = reasonAssign(reasons);
	const bar = fileCode(code, reasons, classes);
	const table = overviewTable(report);
	const files = dom('section', {}, dom('h2', { tabindex: -1 }, 'Files'), table.element);
	const figures = overviewFigures(report, done, code, (outcome) => {
		tableFilterBy(table, 'Outcome', outcome);
		domShow(files);
		files.firstChild.focus({ preventScroll: true });
	});
	const refused = fileReasons(reasons, classes);

	return dom('article', {}, dom('h1', {}, 'SFrame coverage of ' + dataPlural(report.files.length, 'file',
		'files')), figures, overviewApart(report.summary),
	bar ? dom('section', {}, dom('h2', {}, 'Executable bytes'), bar) : null,
	files,
	refused ? dom('section', {}, dom('h2', {}, 'Refused code, by reason'), refused) : null,
	checked.length ? checkSections(report) : null);
}
