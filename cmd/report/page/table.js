// SPDX-License-Identifier: MIT
// Tables that sort, search, filter and turn pages. Only the rows of one page are elements.
//
// A column: {key, label, value(row) for sorting, cell(row) for showing, number: true,
// plain: true for one that does not sort}. A filter: {label, value(row)}.

const tableSizes = [25, 50, 200, 1000];

// Numbers by size, missing ones last; text by its characters.
function tableCompare(a, b) {
	if (a === b) return 0;
	if (a === undefined || a === null || a === '') return 1;
	if (b === undefined || b === null || b === '') return -1;
	return a < b ? -1 : 1;
}

function tableSort(state) {
	const column = state.columns.find((one) => one.key === state.key);

	if (!column) return;
	const sign = state.descending ? -1 : 1;
	const keyed = state.rows.map((row, place) => [column.value(row), place, row]);
	keyed.sort((a, b) => {
		const missing = (x) => x === undefined || x === null || x === '';
		if (missing(a[0]) || missing(b[0])) return tableCompare(a[0], b[0]) || a[1] - b[1];
		return sign * tableCompare(a[0], b[0]) || a[1] - b[1];
	});
	state.rows = keyed.map((one) => one[2]);
}

// Every word must occur.
function tableChoose(state) {
	const words = state.search.toLowerCase().split(/\s+/).filter(Boolean);

	state.found = state.rows.filter((row) => state.filters.every(
		(filter) => !filter.chosen || filter.value(row) === filter.chosen.slice(1)));
	if (words.length)
		state.found = state.found.filter((row) => {
			const text = state.text(row).toLowerCase();
			return words.every((word) => text.includes(word));
		});
}

function tableRow(state, row) {
	const cells = state.columns.map((column) => dom('td', {
		role: 'cell', class: column.number ? 'number' : 'words', 'data-label': column.label,
	}, column.cell(row)));

	return dom('tr', { role: 'row', id: state.rowId(row), tabindex: state.rowId(row) && -1 }, cells);
}

function tableShowBody(state) {
	const first = state.page * state.size;
	const rows = state.found.slice(first, first + state.size);
	const total = state.found.length;

	if (rows.length)
		state.body.replaceChildren(...rows.map((row) => tableRow(state, row)));
	else
		state.body.replaceChildren(dom('tr', { role: 'row' }, dom('td',
			{ role: 'cell', colspan: state.columns.length, class: 'none' }, 'Nothing matches.')));
	state.where.textContent = total === 0 ? 'none of ' + dataNumber(state.rows.length)
		: dataNumber(first + 1) + '\u2013' + dataNumber(first + rows.length) + ' of '
			+ dataNumber(total)
			+ (total < state.rows.length ? ' found in ' + dataNumber(state.rows.length) : '');
	state.back.disabled = state.page === 0;
	state.next.disabled = first + state.size >= total;
}

function tableShowHead(state) {
	for (const column of state.columns) {
		if (column.plain) continue;
		const here = column.key === state.key;
		column.head.setAttribute('aria-sort',
			!here ? 'none' : state.descending ? 'descending' : 'ascending');
		column.arrow.textContent = !here ? '\u2195' : state.descending ? '\u2193' : '\u2191';
	}
}

function tableTurn(state, page) {
	state.page = Math.max(0, page);
	tableShowBody(state);
}

// After a change of the search or of a filter.
function tableUpdate(state) {
	tableChoose(state);
	tableTurn(state, 0);
}

// A second press turns the order round. Numbers begin with the largest.
function tableOrder(state, column) {
	state.descending = state.key === column.key ? !state.descending : column.number === true;
	state.key = column.key;
	tableSort(state);
	tableShowHead(state);
	tableUpdate(state);
}

function tableHead(state) {
	const heads = state.columns.map((column) => {
		if (column.plain)
			return dom('th', { role: 'columnheader', scope: 'col' }, column.label);
		column.arrow = dom('span', { class: 'arrow', 'aria-hidden': 'true' });
		column.head = dom('th', { role: 'columnheader', scope: 'col',
			class: column.number ? 'number' : false },
			domButton('', () => tableOrder(state, column)));
		column.head.firstChild.append(column.label + ' ', column.arrow);
		return column.head;
	});

	return dom('thead', { role: 'rowgroup' }, dom('tr', { role: 'row' }, heads));
}

function tableFilter(state, filter) {
	const counts = new Map();

	for (const row of state.rows) {
		const value = filter.value(row);
		counts.set(value, (counts.get(value) || 0) + 1);
	}
	const values = [...counts.keys()].sort(tableCompare);
	// The mark before a value keeps "all" apart from a value that is empty.
	filter.select = dom('select', { on: { change: () => {
		filter.chosen = filter.select.value;
		tableUpdate(state);
	} } }, dom('option', { value: '' }, 'all'), values.map((value) => dom('option',
		{ value: '=' + value }, (value || '(none)') + ' (' + dataNumber(counts.get(value)) + ')')));
	return domField(filter.label, filter.select);
}

function tableTools(state, label) {
	const search = dom('input', { type: 'search', autocomplete: 'off', spellcheck: 'false',
		on: { input: () => {
			state.search = search.value;
			tableUpdate(state);
		} } });

	state.searchBox = search;
	return dom('div', { class: 'tools', role: 'search', 'aria-label': label },
		domField('Search', search), state.filters.map((filter) => tableFilter(state, filter)));
}

function tablePager(state, label) {
	const sizes = dom('select', { on: { change: () => {
		state.size = Number(sizes.value);
		tableTurn(state, 0);
	} } }, tableSizes.map((size) => dom('option',
		{ value: size, selected: size === state.size }, size)));

	state.where = dom('span', { class: 'where', 'aria-live': 'polite' });
	state.back = domButton('Previous page', () => tableTurn(state, state.page - 1));
	state.next = domButton('Next page', () => tableTurn(state, state.page + 1));
	return dom('nav', { class: 'pager', 'aria-label': 'Pages of ' + label },
		state.back, state.where, state.next, domField('Rows', sizes));
}

// Puts the choice of a filter from outside of the table.
function tableFilterBy(state, label, value) {
	const filter = state.filters.find((one) => one.label === label);

	filter.chosen = filter.select.value = '=' + value;
	tableUpdate(state);
}

// Turns to the page of a row, whatever was searched for, and gives it the focus.
function tableGoTo(state, row) {
	if (!state.found.includes(row)) {
		state.search = state.searchBox.value = '';
		for (const filter of state.filters) filter.chosen = filter.select.value = '';
		tableChoose(state);
	}
	tableTurn(state, Math.floor(state.found.indexOf(row) / state.size));
	const element = document.getElementById(state.rowId(row));
	if (!element) return;
	element.focus({ preventScroll: true });
	element.scrollIntoView({ block: 'center' });
}

// A sheet of paper has no next page of a table.
function tablePrintWhole(state) {
	let size;

	addEventListener('beforeprint', () => {
		size = state.size;
		state.size = Math.max(size, 1000);
		tableTurn(state, Math.floor(state.page * size / state.size));
	});
	addEventListener('afterprint', () => {
		if (size) state.size = size;
		tableTurn(state, 0);
	});
}

// table: {label, columns, rows, filters, text(row), rowId(row), key, descending, size}.
function tableMake(table) {
	const state = { size: 50, rowId: () => false, ...table, page: 0, search: '',
		filters: table.filters || [], found: table.rows, rows: table.rows.slice() };

	state.body = dom('tbody', { role: 'rowgroup' });
	const head = tableHead(state);
	state.element = dom('div', { class: 'tabled' }, tableTools(state, 'Search in ' + table.label),
		tablePager(state, table.label),
		dom('table', { role: 'table', 'aria-label': table.label }, head, state.body));
	tableSort(state);
	tableShowHead(state);
	tableUpdate(state);
	tablePrintWhole(state);
	return state;
}
