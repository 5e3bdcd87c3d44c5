// SPDX-License-Identifier: MIT
// The sizes of sections and of other formats for the same functions, as bars with figures.

const chartHolds = { 'every-pc': 'every address', calls: 'calls only' };

// What a format cannot express, the most bytes first: the sum, and the reasons on demand.
function chartEscapes(escapes) {
	const rows = Object.entries(dataObject(escapes)).map(([why, one]) => ({
		why: dataText(why), functions: dataCount(one, 'functions'), bytes: dataCount(one, 'bytes') || 0,
	})).sort((a, b) => b.bytes - a.bytes);

	if (!rows.length) return '';
	return dom('details', {}, dom('summary', {}, dataPlural(rows.reduce((sum, row) => sum + row.bytes, 0),
		'byte', 'bytes')), dom('ul', { class: 'plain' }, rows.map((row) => dom('li', {}, domName(row.why), ' ',
		dom('span', { class: 'faint' }, dataNumber(row.bytes) + (row.functions === undefined ? ''
			: ' in ' + dataPlural(row.functions, 'function', 'functions')))))));
}

// The sections of the file come first.
function chartRows(file) {
	const rows = [];
	const add = (name, bytes, paint) => {
		if (bytes !== undefined) rows.push({ name, bytes, paint });
	};

	add('.eh_frame', file.ehFrame, 'section');
	add('.eh_frame_hdr', file.ehFrameHdr, 'section');
	add('.sframe' + (file.format ? ' (version ' + file.format + ')' : ''), file.sframe, 'own');
	for (const one of dataObjects(file.raw.formats))
		rows.push({
			name: dataText(one.name) || '(no name)', bytes: dataCount(one, 'bytes') || 0, paint: 'format',
			functions: dataCount(one, 'functions'), code: dataCount(one, 'code_bytes'),
			holds: Object.hasOwn(chartHolds, one.holds) ? chartHolds[one.holds] : dataText(one.holds),
			escapes: chartEscapes(one.escapes),
		});
	return rows;
}

function chartTimes(bytes, whole) {
	return whole ? (bytes / whole).toFixed(2) : '';
}

function chartBar(row, largest) {
	return domSvg('svg', { class: 'chart-bar', width: '100%', height: 16, 'aria-hidden': 'true' },
		domSvg('rect', { height: 16, rx: 2, class: 'bar-' + row.paint,
			width: (largest ? 100 * row.bytes / largest : 0) + '%' }));
}

function chartRow(row, largest, file, more) {
	const cells = [
		['th', 'Format', row.name, 'words'], ['td', '', chartBar(row, largest), 'wide'],
		['td', 'Bytes', dataNumber(row.bytes), 'number'],
		['td', 'Of .eh_frame', chartTimes(row.bytes, file.ehFrame), 'number'],
	];

	if (more)
		cells.push(['td', 'Functions', row.functions === undefined ? '' : dataNumber(row.functions), 'number'],
			['td', 'Bytes of code', row.code === undefined ? '' : dataNumber(row.code), 'number'],
			['td', 'Right at', row.holds || '', 'words'], ['td', 'Cannot express', row.escapes || '', 'words']);
	return dom('tr', { role: 'row' }, cells.map(([tag, label, content, kind]) => dom(tag, {
		role: tag === 'th' ? 'rowheader' : 'cell', scope: tag === 'th' ? 'row' : false,
		class: kind + (content === '' ? ' empty' : ''), 'data-label': label }, content)));
}

// The bars of the file, or null where the report has no sizes.
function chartMake(file) {
	const rows = chartRows(file);
	const largest = Math.max(...rows.map((row) => row.bytes), 1);
	const more = rows.some((row) => row.paint === 'format');
	const heads = ['Format', 'Size', 'Bytes', 'Of .eh_frame'].concat(
		more ? ['Functions', 'Bytes of code', 'Right at', 'Cannot express'] : []);

	if (!rows.length) return null;
	return dom('section', {}, dom('h2', {}, 'Sizes'),
		more ? dom('p', { class: 'faint' },
			'What each format needs for the functions of this file, beside the sections themselves.') : null,
		dom('div', { class: 'tabled' }, dom('table', { role: 'table', class: 'chart', 'aria-label': 'Sizes' },
			dom('thead', { role: 'rowgroup' }, dom('tr', { role: 'row' },
				heads.map((head) => dom('th', { role: 'columnheader', scope: 'col',
					class: /^(Bytes|Of|Functions)/.test(head) ? 'number' : false }, head)))),
			dom('tbody', { role: 'rowgroup' }, rows.map((row) => chartRow(row, largest, file, more))))));
}

// What the executable bytes are, for one file or for the sum.
function chartCode(code, reasons, classes) {
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
