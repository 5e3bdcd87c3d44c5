// SPDX-License-Identifier: MIT
// What the code says of the CFI (eh2sframe check): the view of one file, and that of many.

const checkMeanings = {
	late: 'The row that follows is right here already.',
	early: 'The row before is still right here.',
	misplaced: 'Another row of the function is right here.',
	missing: 'No row of the function is right here.',
};

function checkHas(file) {
	return Object.keys(dataObject(file.raw.check)).length > 0;
}

// Members of a file or of a summary, as counts.
function checkCounts(value) {
	const count = (name) => dataCount(value, name) || 0;
	const groups = Object.entries(dataObject(dataObject(value).groups)).map(([name, group]) => ({
		name: dataText(name),
		kind: dataText(name).split(' ')[0],
		functions: dataCount(group, 'functions') || 0,
		instructions: dataCount(group, 'instructions') || 0,
		files: dataCount(group, 'files'),
	}));

	return {
		fdes: count('fdes'), confirmed: count('confirmed'), review: count('review'),
		unknown: count('unknown'), contradicts: count('contradicts'),
		notLookedAt: count('not_looked_at'), instructions: count('instructions'),
		agreeing: count('agreeing'), seeded: count('seeded'),
		groups: groups.sort((a, b) => b.functions - a.functions || (a.name < b.name ? -1 : 1)),
	};
}

function checkFigures(counts) {
	const notSeen = counts.notLookedAt ? dataNumber(counts.notLookedAt) + ' not looked at' : '';

	return dom('ul', { class: 'figures' },
		domFigure(dataPercent(counts.confirmed, counts.fdes), 'of FDEs confirmed by the code',
			dataPlural(counts.fdes, 'FDE', 'FDEs') + (notSeen ? ', ' + notSeen : '')),
		domFigure(dataNumber(counts.contradicts), 'contradict the code', counts.groups.length
			? dataPlural(counts.groups.length, 'kind of fault', 'kinds of faults') : ''),
		domFigure(dataNumber(counts.unknown), 'unknown', 'the code does not tell'),
		domFigure(dataNumber(counts.review), 'to review', 'they agree, and something is odd'),
		domFigure(dataPercent(counts.agreeing, counts.instructions), 'of instructions agree',
			dataNumber(counts.seeded) + ' of ' + dataNumber(counts.instructions) + ' start from a row'));
}

function checkGroups(groups) {
	if (!groups.length) return null;
	const number = (key, label) => ({ key, label, number: true, value: (group) => group[key],
		cell: (group) => dataNumber(group[key]) });
	const table = tableMake({
		label: 'kinds of faults', rows: groups, key: 'functions', descending: true, size: 25,
		text: (group) => group.name,
		columns: [
			{ key: 'name', label: 'Fault', value: (group) => group.name, cell: (group) => group.name },
			{ key: 'words', label: 'Meaning', plain: true, cell: (group) => (
				Object.hasOwn(checkMeanings, group.kind) ? checkMeanings[group.kind] : '') },
			number('functions', 'Functions'), number('instructions', 'Instructions'),
			...(groups.some((group) => group.files !== undefined) ? [number('files', 'Files')] : []),
		],
	});
	return dom('section', {}, dom('h2', {}, 'Faults by kind'), table.element);
}

// A fault or a doubt, as the tables use it.
function checkPlace(raw) {
	const start = dataAddress(raw.start);
	const place = {
		name: dataText(raw.name), symbol: dataText(raw.symbol), start: dataText(raw.start),
		order: start ? start.prefix + start.at.toString(16).padStart(16, '0') : '',
		functionText: dataText(raw.function),
	};

	for (const member of ['kind', 'column', 'row', 'rule', 'found', 'repair', 'verdict', 'reason'])
		place[member] = dataText(raw[member]);
	place.instructions = dataCount(raw, 'instructions');
	return place;
}

function checkNameCell(place) {
	return dom('div', {}, domName(place.name || place.functionText || '?'),
		place.symbol && place.symbol !== place.name ? dom('div', { class: 'faint' }, domName(place.symbol)) : null);
}

function checkText(place) {
	return [place.name, place.symbol, place.start, place.functionText, place.kind, place.column, place.row,
		place.found, place.repair, place.verdict, place.reason].join(' ');
}

function checkCode(key, label) {
	return { key, label, value: (place) => place[key], cell: (place) => dom('code', {}, domName(place[key])) };
}

const checkPlaceColumns = [
	{ key: 'name', label: 'Function', value: (place) => place.name || place.functionText, cell: checkNameCell },
	{ key: 'start', label: 'Address', value: (place) => place.order, cell: (place) => dom('code', {}, place.start) },
];

function checkFaults(faults) {
	if (!faults.length) return null;
	const fault = (place) => place.kind + ' ' + place.column;
	const table = tableMake({
		label: 'faults', rows: faults, key: 'start', size: 25, text: checkText,
		filters: [{ label: 'Fault', value: fault },
			{ label: 'Code has', value: (place) => (place.repair ? 'known' : 'not known') }],
		columns: [...checkPlaceColumns,
			{ key: 'fault', label: 'Fault', value: fault, cell: fault },
			checkCode('row', 'Row'),
			{ key: 'found', label: 'Row gives', value: (place) => place.found,
				cell: (place) => place.column + ': ' + place.found },
			checkCode('repair', 'Code has'),
			{ key: 'instructions', label: 'Instructions', number: true, value: (place) => place.instructions,
				cell: (place) => dataNumber(place.instructions) },
		],
	});
	return dom('section', {}, dom('h2', {}, 'Rows that contradict the code'), dom('p', { class: 'faint' },
		'"Row gives" is the value that the row computes at this instruction, with registers and stack as the code '
		+ 'has left them. "Code has" is the row that would be right there, where every way to the instruction agrees on one.'), table.element);
}

function checkDoubts(doubts) {
	if (!doubts.length) return null;
	const table = tableMake({
		label: 'FDEs in doubt', rows: doubts, key: 'start', size: 25, text: checkText,
		filters: [{ label: 'Verdict', value: (place) => place.verdict }],
		columns: [...checkPlaceColumns,
			{ key: 'verdict', label: 'Verdict', value: (place) => place.verdict, cell: (place) => place.verdict },
			{ key: 'reason', label: 'Reason', value: (place) => place.reason, cell: (place) => place.reason },
		],
	});
	return dom('section', {}, dom('h2', {}, 'FDEs in doubt'), table.element);
}

function checkLeftOut(file) {
	const left = dataCount(file.raw.page_left_out, 'entries');

	if (!left) return null;
	return dom('p', { class: 'notice' }, 'This page leaves out ', dataPlural(left, 'smaller entry',
		'smaller entries'), ' of the tables. The JSON report has all of them.');
}

function checkFileView(file) {
	const counts = checkCounts(file.raw.check);

	return dom('article', {}, fileTitle(file), counts.contradicts ? dom('p', { class: 'notice bad' },
		'The code contradicts the CFI of ' + dataPlural(counts.contradicts, 'function', 'functions') + '.') : null,
	fileIdentity(file), checkFigures(counts), checkLeftOut(file), checkGroups(counts.groups),
	checkFaults(dataObjects(file.raw.faults).map(checkPlace)),
	checkDoubts(dataObjects(file.raw.doubts).map(checkPlace)));
}

// All files, those that were not checked too.
function checkTable(files) {
	const of = (name) => (file) => (checkHas(file) ? checkCounts(file.raw.check)[name] : undefined);
	const number = (key, label) => ({ key, label, number: true, value: of(key),
		cell: (file) => (checkHas(file) ? dataNumber(of(key)(file)) : '') });
	const share = (file) => (of('fdes')(file) ? of('confirmed')(file) / of('fdes')(file) : undefined);

	return tableMake({
		label: 'files', rows: files, key: 'contradicts', descending: true, size: 50,
		text: (file) => file.path + ' ' + file.message + ' ' + overviewStatus(file) + ' ' + file.machine,
		rowId: (file) => 'file-' + file.index,
		filters: [{ label: 'Status', value: overviewStatus }, { label: 'Machine', value: (file) => file.machine }],
		columns: [
			{ key: 'path', label: 'File', value: (file) => file.path, cell: overviewFileCell },
			{ key: 'status', label: 'Status', value: overviewStatus, cell: overviewStatusCell },
			{ key: 'machine', label: 'Machine', value: (file) => file.machine, cell: (file) => file.machine },
			number('contradicts', 'Contradict'), number('unknown', 'Unknown'), number('review', 'To review'),
			{ key: 'confirmed', label: 'Confirmed', number: true, value: share, cell: (file) => (
				checkHas(file) ? overviewShare(of('confirmed')(file), of('fdes')(file)) : '') },
			number('fdes', 'FDEs'),
		],
	}).element;
}

// The sections of an overview.
function checkSections(report) {
	const counts = checkCounts(report.summary.check);

	return [checkFigures(counts), checkGroups(counts.groups)];
}

function checkOverview(report, files) {
	return dom('article', {}, dom('h1', {}, 'The CFI of ' + dataPlural(files.length, 'file', 'files')
		+ ' against the code'), checkSections(report), overviewApart(report.summary),
	dom('section', {}, dom('h2', {}, 'Files'), checkTable(report.files)));
}
