// SPDX-License-Identifier: MIT
// The functions below the frame that is shown, as a table.

const tableKeys = ['self', 'total'];
const tableRows = 100;

// pick(name): somebody chose a function.
function tableNew(report, pick) {
	const table = { report, pick, sort: 'self', sums: null, whole: 0 };

	for (const key of tableKeys) {
		domBy('head-' + key).addEventListener('click', () => {
			table.sort = key;
			tableDraw(table);
		});
	}
	return table;
}

function tableBar(part, whole) {
	const share = whole ? 100 * part / whole : 0;

	return domSvg('svg', { class: 'share', width: 60, height: 8, 'aria-hidden': 'true' },
		domSvg('rect', { width: 60, height: 8, rx: 2, class: 'share-whole' }),
		domSvg('rect', { width: 0.6 * share, height: 8, rx: 2, class: 'share-part' }));
}

function tableRow(table, name) {
	const { report, sums, whole } = table;
	const figures = tableKeys.map((key) => [dom('td', { class: 'number' }, dataNumber(sums[key][name])),
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
		if (sums.total[i] > 0 && !['incomplete', 'left', 'thread'].includes(report.files[report.fileOf[i]].kind)) used.push(i);
	used.sort((a, b) => sums[sort][b] - sums[sort][a] || sums[other][b] - sums[other][a] || a - b);
	domBy('rows').replaceChildren(...used.slice(0, tableRows).map((name) => tableRow(table, name)));
	domBy('count').textContent = dataNumber(used.length) + (used.length === 1 ? ' function' : ' functions')
		+ ' in what the graph shows' + (used.length > tableRows ? ', of which these have most samples' : '');
	for (const key of tableKeys)
		domBy('head-' + key).setAttribute('aria-sort', key === sort ? 'descending' : 'none');
}
