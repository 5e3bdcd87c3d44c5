// SPDX-License-Identifier: MIT
// The sizes of sections, as bars with figures.

function chartRows(file) {
	const rows = [];
	const add = (name, bytes, paint) => {
		if (bytes !== undefined) rows.push({ name, bytes, paint });
	};

	add('.eh_frame', file.ehFrame, 'section');
	add('.eh_frame_hdr', file.ehFrameHdr, 'section');
	add('.sframe' + (file.format ? ' (version ' + file.format + ')' : ''), file.sframe, 'own');
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

function chartRow(row, largest, file) {
	const cells = [
		['th', 'Section', row.name, 'words'], ['td', '', chartBar(row, largest), 'wide'],
		['td', 'Bytes', dataNumber(row.bytes), 'number'],
		['td', 'Of .eh_frame', chartTimes(row.bytes, file.ehFrame), 'number'],
	];

	return dom('tr', { role: 'row' }, cells.map(([tag, label, content, kind]) => dom(tag, {
		role: tag === 'th' ? 'rowheader' : 'cell', scope: tag === 'th' ? 'row' : false,
		class: kind + (content === '' ? ' empty' : ''), 'data-label': label }, content)));
}

// The bars of the file, or null where the report has no sizes.
function chartMake(file) {
	const rows = chartRows(file);
	const largest = Math.max(...rows.map((row) => row.bytes), 1);

	if (!rows.length) return null;
	return dom('section', {}, dom('h2', {}, 'Sizes'),
		dom('div', { class: 'tabled' }, dom('table', { role: 'table', class: 'chart', 'aria-label': 'Sizes' },
			dom('thead', { role: 'rowgroup' }, dom('tr', { role: 'row' },
				['Section', 'Size', 'Bytes', 'Of .eh_frame'].map((head) => dom('th', { role: 'columnheader', scope: 'col',
					class: /^(Bytes|Of)/.test(head) ? 'number' : false }, head)))),
			dom('tbody', { role: 'rowgroup' }, rows.map((row) => chartRow(row, largest, file))))));
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
