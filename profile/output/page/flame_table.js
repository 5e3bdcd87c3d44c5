// SPDX-License-Identifier: MIT
// The functions below the frame that is shown, as a table.

const tableColumns = [['self', 'Self', 'the function ran itself'],
	['total', 'Total', 'the function or one that it called ran']];
const tableRows = [25, 100, 1000];

// pick(name): somebody chose a function.
function tableNew(report, pick) {
	const body = dom('tbody', {});
	const rows = dom('select', {}, tableRows.map((count) => dom('option', { value: count }, dataNumber(count))));
	const count = dom('span', { class: 'faint' });
	const table = { report, pick, body, count, rows, sort: 'self', sums: null, whole: 0 };
	const heads = tableColumns.map(([key, label, words]) => {
		const button = domButton(label, () => {
			table.sort = key;
			tableDraw(table);
		}, { title: 'Samples in which ' + words });
		return dom('th', { scope: 'col', class: 'number', 'data-key': key, colspan: 2 }, button);
	});

	table.heads = heads;
	rows.addEventListener('change', () => tableDraw(table));
	table.element = dom('section', { 'aria-labelledby': 'functions-title' },
		dom('div', { class: 'maphead' }, dom('h2', { id: 'functions-title' }, 'Functions'), count),
		dom('div', { class: 'scrolled' }, dom('table', { 'aria-label': 'functions' },
			dom('thead', {}, dom('tr', {}, heads, dom('th', { scope: 'col' }, 'Function'),
				dom('th', { scope: 'col' }, 'File'))), body)),
		domField('Rows', rows));
	return table;
}

function tableShow(table, sums, whole) {
	table.sums = sums;
	table.whole = whole;
	tableDraw(table);
}

function tableBar(part, whole) {
	const share = whole ? 100 * part / whole : 0;

	return domSvg('svg', { class: 'share', width: 60, height: 8, 'aria-hidden': 'true' },
		domSvg('rect', { width: 60, height: 8, rx: 2, class: 'share-whole' }),
		domSvg('rect', { width: 0.6 * share, height: 8, rx: 2, class: 'share-part' }));
}

function tableRow(table, name) {
	const { report, sums, whole } = table;
	const figures = tableColumns.map(([key]) => [dom('td', { class: 'number' }, dataNumber(sums[key][name])),
		dom('td', { class: 'number' }, dataPercent(sums[key][name], whole), ' ', tableBar(sums[key][name], whole))]);
	const text = report.names[name];
	const button = domButton(text.length > 240 ? text.slice(0, 240) + '\u2026' : text, () => table.pick(text),
		{ class: 'link', title: 'Mark it in the graph' });

	return dom('tr', {}, figures, dom('td', { class: 'function' }, button),
		dom('td', { class: 'faint' }, report.files[report.fileOf[name]].name));
}

function tableDraw(table) {
	const { sums, sort, report } = table;
	const other = sort === 'self' ? 'total' : 'self';
	const used = [];

	for (let i = 0; i < report.names.length; i++)
		if (sums.total[i] > 0 && !['incomplete', 'left'].includes(report.files[report.fileOf[i]].kind)) used.push(i);
	used.sort((a, b) => sums[sort][b] - sums[sort][a] || sums[other][b] - sums[other][a] || a - b);
	table.body.replaceChildren(...used.slice(0, Number(table.rows.value)).map((name) => tableRow(table, name)));
	table.count.textContent = dataNumber(used.length) + (used.length === 1 ? ' function' : ' functions')
		+ ' in what the graph shows';
	for (const head of table.heads)
		head.setAttribute('aria-sort', head.dataset.key === sort ? 'descending' : 'none');
}
