// SPDX-License-Identifier: MIT
// The view of one file.

const fileKinds = {
	executable: 'program', 'static-executable': 'static program', pie: 'program (PIE)',
	'static-pie': 'static program (PIE)', 'shared-library': 'shared library',
	object: 'relocatable object', 'kernel-module': 'kernel module',
};

function fileKind(file) {
	return Object.hasOwn(fileKinds, file.kind) ? fileKinds[file.kind] : file.kind;
}

// The sections with CFI and the one that is made of it, where the report has their sizes.
function fileSizes(file) {
	const sizes = [['.eh_frame', file.ehFrame], ['.eh_frame_hdr', file.ehFrameHdr], ['.sframe', file.sframe]];

	return sizes.filter(([, bytes]) => bytes !== undefined)
		.map(([name, bytes]) => name + ' ' + dataPlural(bytes, 'byte', 'bytes')).join(', ');
}

function fileIdentity(file) {
	const raw = file.raw;
	const producers = dataTexts(raw.producers);
	const links = dataTexts(raw.links);

	return domFacts([
		['Machine', file.machine],
		['Kind', fileKind(file)],
		['Build-id', raw.build_id ? dom('code', {}, dataText(raw.build_id)) : ''],
		['Made by', producers.length ? dom('ul', { class: 'plain' },
			producers.map((one) => dom('li', {}, domName(one)))) : ''],
		['Other names', links.length ? domName(links.join(', ')) : ''],
		['Unknown PLTs', dataObjects(raw.unknown_plts).map((one) => dataText(one.section)).join(', ')],
		['Symbols', raw.symbols === 'none' ? 'none' : raw.symbols === 'dynamic' ? 'dynamic only' : ''],
		['Method', dataText(dataObject(raw.method).name)],
		['Sizes', fileSizes(file)],
		['Earlier run', raw.already === true ? 'an earlier run converted this file' : ''],
	]);
}

function fileFigures(file) {
	const code = file.code;
	const figures = [];

	if (code.countable !== undefined) figures.push(domFigure(...dataShareOfAll(code)));
	figures.push(domFigure(dataPercent(code.covered, code.withCfi - code.outermost),
		'of code with CFI covered', dataBytes(code.withCfi) + ' with CFI'));
	figures.push(domFigure(dataNumber(file.withGaps), 'functions with gaps',
		file.functions === undefined ? '' : 'of ' + dataNumber(file.functions) + ' with CFI'));
	if (file.noCfi !== undefined)
		figures.push(domFigure(dataNumber(file.noCfi), 'functions without CFI', 'by the symbols'));
	if (file.sframe !== undefined)
		figures.push(domFigure(dataBytes(file.sframe), '.sframe' + (file.format ? ' version ' + file.format : ''),
			dataRatio(file.sframe, file.sections)));
	return dom('ul', { class: 'figures' }, figures);
}

// What the executable bytes are, for one file or for the sum.
function fileCode(code, reasons, classes) {
	const parts = [{ name: 'covered', label: 'covered', bytes: code.covered + code.template }];
	let counted = 0;

	for (const one of reasons) {
		if (one.reason === reasonOutermost || !one.bytes) continue;
		parts.push({ name: classes.get(one.reason), label: one.reason, bytes: one.bytes });
		counted += one.bytes;
	}
	if (code.refused > counted)
		parts.push({ name: 'other', label: 'refused', bytes: code.refused - counted });
	parts.push({ name: 'nocfi', label: code.decoded ? 'code without CFI' : 'no CFI (code or data)',
		bytes: code.without || 0 });
	parts.push({ name: 'outermost', label: 'outermost frames', bytes: code.outermost });
	parts.push({ name: 'data', label: 'data', bytes: code.data });
	const sum = parts.reduce((all, part) => all + part.bytes, 0);
	const whole = Math.max(sum, code.executable || 0);
	parts.push({ name: 'rest', label: code.paddingInCode ? 'padding' : 'not told apart', bytes: whole - sum });
	return whole ? domBar(parts, whole, 'What the executable bytes are') : null;
}

// What each colour of the map means.
function fileLegend(lists) {
	const items = [['covered', 'rows, or padding']];

	for (const { reason } of lists.reasons)
		if (lists.gaps.some((mark) => mark.reason === reason))
			items.push([lists.classes.get(reason), 'refused: ' + reason]);
	if (lists.bare.some((mark) => mark.kind !== 'data')) items.push(['nocfi', 'no CFI']);
	if (lists.bare.some((mark) => mark.kind === 'data')) items.push(['data', 'data']);
	return dom('ul', { class: 'legend' },
		items.map(([name, text]) => dom('li', {}, domSwatch(name), text)));
}

function fileMap(lists, open) {
	const maps = { chosen: null, open, views: [],
		largest: Math.max(0, ...lists.sections.map((section) => section.size)) };
	const help = 'Each column of a strip stands for some bytes. The parts of a column are as high as their '
		+ 'shares of these bytes, but a gap is never lower than ' + mapLeast + ' pixels, so none is too small '
		+ 'to see. Drag over a strip to look closer. Keys on a strip: left and right go from mark to mark, '
		+ '+ and - zoom, 0 shows the whole section, Enter goes to the table.';

	if (!lists.sections.length)
		return { maps, element: dom('section', {}, dom('h2', {}, 'Map of the code'),
			dom('p', { class: 'faint' }, 'This report does not list the sections, so there is no map.')) };
	maps.views = lists.sections.filter((section) => section.marks.length)
		.map((section) => mapView(maps, section)).sort((a, b) => a.minor - b.minor);
	return { maps, element: dom('section', {}, dom('h2', {}, 'Map of the code'), fileLegend(lists),
		dom('details', { class: 'help' }, dom('summary', {}, 'How to read the map'), dom('p', {}, help)),
		fileLeftOut(lists), maps.views.map((view) => view.element), fileWhole(lists)) };
}

// A strip without a mark shows nothing that a line does not say.
function fileWhole(lists) {
	const whole = lists.sections.filter((section) => !section.marks.length);
	// An object has a section for each function.
	const named = whole.slice(0, 40);

	if (!whole.length) return null;
	return dom('p', { class: 'mapped' }, domSwatch('covered'), 'Without a gap: ',
		named.map((section, i) => [i ? ', ' : '', dom('code', {}, section.name), ' ',
			dom('span', { class: 'faint' }, '(' + dataBytes(section.size) + ')')]),
		whole.length > named.length ? ' and ' + dataPlural(whole.length - named.length, 'section', 'sections')
			+ ' more' : '', '.');
}

function fileLeftOut(lists) {
	if (!lists.leftOut) return null;
	return dom('p', { class: 'notice' }, 'This page leaves out ',
		dataPlural(lists.leftOut, 'smaller entry', 'smaller entries'), ' of this file, together ',
		dataPlural(lists.leftOutBytes, 'byte', 'bytes'),
		'. The map shows them as covered. A report of this file alone, or the JSON report, has more.');
}

// The link to the map. A mark outside of every section has none.
function filePlace(file, mark) {
	const text = mark.startText || '?';

	if (!mark.section) return dom('code', {}, text);
	return dom('a', { href: '#file=' + file.index + '&at=' + mark.id, title: 'Show in the map' },
		dom('code', {}, text));
}

function fileNameCell(mark) {
	return dom('div', {}, domName(mapMarkName(mark)), mark.symbol && mark.symbol !== mark.name
		? dom('div', { class: 'faint' }, domName(mark.symbol)) : null);
}

function fileReasonCell(mark) {
	return dom('span', { class: 'reason', title: reasonSentence(mark.reason) },
		domSwatch(mark.paint), mark.reason);
}

function fileRefused(file, lists) {
	if (!lists.gaps.length) return null;
	const table = tableMake({
		label: 'refused code', rows: lists.gaps, key: 'size', descending: true, size: 25,
		text: (mark) => [mark.name, mark.symbol, mark.reason, mark.startText, mark.functionText, mark.rule,
			mark.cfi].join(' '),
		rowId: (mark) => 'mark-' + mark.id,
		filters: [{ label: 'Reason', value: (mark) => mark.reason },
			{ label: 'Needs', value: (mark) => dataNeeds(mark.needs) }],
		columns: [
			{ key: 'name', label: 'Function', value: mapMarkName, cell: fileNameCell },
			{ key: 'reason', label: 'Reason', value: (mark) => mark.reason, cell: fileReasonCell },
			{ key: 'start', label: 'In the map', value: (mark) => mark.start && mark.start.prefix
				+ mark.start.at.toString(16).padStart(16, '0'), cell: (mark) => filePlace(file, mark) },
			{ key: 'size', label: 'Bytes', number: true, value: (mark) => mark.size,
				cell: (mark) => dataNumber(mark.size) },
			{ key: 'rule', label: 'Rule', value: (mark) => mark.rule,
				cell: (mark) => dom('code', {}, domName(mark.rule)) },
			{ key: 'cfi', label: 'CFI', value: (mark) => mark.cfi.padStart(20),
				cell: (mark) => dom('code', {}, mark.cfi) },
			{ key: 'needs', label: 'Needs', value: (mark) => mark.needs,
				cell: (mark) => dataNeeds(mark.needs) },
		],
	});
	return { table, element: dom('section', {}, dom('h2', {}, 'Refused code'), dom('p', { class: 'faint' },
		'Stretches that CFI describes and no row does. CFI is the offset of the FDE in .eh_frame, and Needs '
		+ 'is the lowest version of SFrame that has a row for the rule.'), table.element) };
}

function fileBare(file, lists) {
	if (!lists.bare.length) return null;
	const table = tableMake({
		label: 'bytes without CFI', rows: lists.bare, key: 'size', descending: true, size: 25,
		text: (mark) => [mark.name, mark.symbol, mark.startText, mapWhat(mark)].join(' '),
		rowId: (mark) => 'mark-' + mark.id,
		filters: [{ label: 'Kind', value: mapWhat }],
		columns: [
			{ key: 'name', label: 'Function', value: mapMarkName, cell: fileNameCell },
			{ key: 'kind', label: 'Kind', value: mapWhat, cell: (mark) => dom('span', { class: 'reason' },
				domSwatch(mark.paint), mapWhat(mark)) },
			{ key: 'start', label: 'In the map', value: (mark) => mark.start && mark.start.prefix
				+ mark.start.at.toString(16).padStart(16, '0'), cell: (mark) => filePlace(file, mark) },
			{ key: 'size', label: 'Bytes', number: true, value: (mark) => mark.size,
				cell: (mark) => dataNumber(mark.size) },
		],
	});
	return { table, element: dom('section', {}, dom('h2', {}, 'Bytes without CFI'), dom('p', { class: 'faint' },
		'Executable bytes that no CFI describes. Padding between functions is not among them.'),
	table.element) };
}

function fileAddressCell(one) {
	return dom('code', {}, one.startText);
}

function fileAddressKey(one) {
	return one.start && one.start.prefix + one.start.at.toString(16).padStart(16, '0');
}

// What a table has of an entry with an address.
function fileEntry(one) {
	return { start: dataAddress(one.start), startText: dataText(one.start), size: dataCount(one, 'size'),
		functions: dataCount(one, 'functions'), source: dataText(one.source), name: dataText(one.name),
		reason: dataText(one.reason) };
}

const fileSize = { key: 'size', label: 'Bytes', number: true, value: (one) => one.size,
	cell: (one) => dataNumber(one.size) };

// Which source the rows of each function come from, where .eh_frame is not the only one.
function fileSources(raw) {
	const rows = dataObjects(raw.source_ranges).map(fileEntry);

	if (!rows.length) return null;
	const table = tableMake({
		label: 'sources', rows, key: 'start', size: 25,
		text: (one) => one.source + ' ' + one.startText,
		filters: [{ label: 'Source', value: (one) => one.source }],
		columns: [
			{ key: 'source', label: 'Source', value: (one) => one.source, cell: (one) => domName(one.source) },
			{ key: 'start', label: 'From', value: fileAddressKey, cell: fileAddressCell },
			fileSize,
			{ key: 'functions', label: 'Functions', number: true, value: (one) => one.functions,
				cell: (one) => dataNumber(one.functions) },
		],
	});
	return dom('section', {}, dom('h2', {}, 'Sources of rows'), dom('p', { class: 'faint' },
		'Each line is functions one after the other that have their rows from one source.'), table.element);
}

// The functions that a source describes and gives no rows for.
function fileWithoutRows(raw) {
	const rows = Object.values(dataObject(raw.sources))
		.flatMap((source) => dataObjects(dataObject(source).without_rows)).map(fileEntry);

	if (!rows.length) return null;
	const table = tableMake({
		label: 'functions without rows', rows, key: 'start', size: 25,
		text: (one) => one.name + ' ' + one.startText + ' ' + one.reason,
		filters: [{ label: 'Reason', value: (one) => one.reason }],
		columns: [
			{ key: 'name', label: 'Function', value: (one) => one.name, cell: (one) => domName(one.name) },
			{ key: 'start', label: 'From', value: fileAddressKey, cell: fileAddressCell },
			fileSize,
			{ key: 'reason', label: 'Reason', value: (one) => one.reason, cell: (one) => domName(one.reason) },
		],
	});
	return dom('section', {}, dom('h2', {}, 'Functions without rows'), dom('p', { class: 'faint' },
		'Code that a table of functions has, and that no row can be made for.'), table.element);
}

// Counts by reason, also where the page leaves out the list.
function fileReasons(reasons, classes) {
	const rows = reasons.filter((one) => one.bytes);

	if (!rows.length) return null;
	return tableMake({
		label: 'reasons', rows, key: 'bytes', descending: true, size: 25,
		text: (one) => one.reason + ' ' + reasonSentence(one.reason),
		columns: [
			{ key: 'reason', label: 'Reason', value: (one) => one.reason, cell: (one) => dom('span',
				{ class: 'reason' }, domSwatch(classes.get(one.reason)), one.reason) },
			{ key: 'words', label: 'Meaning', plain: true, cell: (one) => reasonSentence(one.reason) },
			{ key: 'functions', label: 'Functions', number: true, value: (one) => one.functions,
				cell: (one) => dataNumber(one.functions) },
			{ key: 'bytes', label: 'Bytes', number: true, value: (one) => one.bytes,
				cell: (one) => dataNumber(one.bytes) },
			{ key: 'needs', label: 'Needs', value: (one) => one.needs,
				cell: (one) => dataNeeds(one.needs) },
		],
	}).element;
}

function fileTitle(file) {
	return dom('h1', {}, file.base === file.path ? null : dom('span', { class: 'faint' },
		file.path.slice(0, file.path.length - file.base.length)), file.base);
}

// Without counts there is only what happened.
function fileBroken(file) {
	return [fileTitle(file), dom('p', { class: file.outcome === 'failed' ? 'notice bad' : 'notice' },
		file.outcome === 'failed' ? 'Failed with status ' + (file.status === undefined ? '?' : file.status)
			+ (dataStatusWords[file.status] ? ' (' + dataStatusWords[file.status] + ')' : '') + ': '
			: 'Passed over: ', domName(file.message || 'no message')), fileIdentity(file)];
}

// {element, show(number)}: show puts a mark into the middle of the map.
function fileView(file) {
	if (checkHas(file)) return { element: checkFileView(file), show: () => {} };
	if (!file.code.known && file.outcome !== 'done')
		return { element: dom('article', {}, fileBroken(file)), show: () => {} };
	const lists = mapRead(file.raw);
	const refused = fileRefused(file, lists), bare = fileBare(file, lists);
	const { maps, element } = fileMap(lists, (mark) => {
		const table = (mark.reason ? refused : bare).table;
		tableGoTo(table, mark);
	});
	const bar = fileCode(file.code, lists.reasons, lists.classes);
	const article = dom('article', {}, fileTitle(file),
		file.message ? dom('p', { class: 'notice bad' }, domName(file.message)) : null,
		fileIdentity(file), fileFigures(file), bar ? dom('section', {}, dom('h2', {}, 'Executable bytes'), bar) : null, element,
		refused ? refused.element : null,
		refused || !lists.reasons.some((one) => one.bytes) ? null
			: dom('section', {}, dom('h2', {}, 'Refused code, by reason'), fileReasons(lists.reasons,
				lists.classes)),
		bare ? bare.element : null, fileSources(file.raw), fileWithoutRows(file.raw));
	return { element: article, show: (number) => {
		if (lists.all[number]) mapGoTo(maps, lists.all[number]);
	} };
}
