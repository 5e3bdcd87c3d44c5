// SPDX-License-Identifier: MIT
// Files by uncovered bytes, as rectangles. The area is the number of bytes. The left part of
// a rectangle is refused code, the right part has no CFI.

// Smaller files share one rectangle, for nobody can point at smaller ones.
const treemapMost = 400;

// Squarified layout: puts each row of rectangles along the shorter side, as long as that
// makes them more like squares.
function treemapWorst(row, sum, side) {
	const thick = sum / side;

	return Math.max(...row.map((one) => {
		const length = one.area / thick;
		return Math.max(thick / length, length / thick);
	}));
}

function treemapPlaceRow(row, sum, box) {
	const across = box.width >= box.height;
	const thick = sum / (across ? box.height : box.width);
	let at = across ? box.y : box.x;

	for (const one of row) {
		const length = one.area / thick;
		Object.assign(one, across ? { x: box.x, y: at, width: thick, height: length }
			: { x: at, y: box.y, width: length, height: thick });
		at += length;
	}
	if (across) return { x: box.x + thick, y: box.y, width: box.width - thick, height: box.height };
	return { x: box.x, y: box.y + thick, width: box.width, height: box.height - thick };
}

// cells: largest first, then the rest. Gives each x, y, width and height.
function treemapPlace(cells, width, height) {
	const total = cells.reduce((sum, cell) => sum + cell.bytes, 0);
	let box = { x: 0, y: 0, width, height }, row = [], sum = 0;

	for (const cell of cells) {
		cell.area = cell.bytes * width * height / total;
		const side = Math.min(box.width, box.height);
		if (row.length && treemapWorst(row, sum, side)
				< treemapWorst(row.concat(cell), sum + cell.area, side)) {
			box = treemapPlaceRow(row, sum, box);
			row = [];
			sum = 0;
		}
		row.push(cell);
		sum += cell.area;
	}
	if (row.length) treemapPlaceRow(row, sum, box);
}

function treemapCells(files) {
	const sorted = files.filter((file) => file.code.uncovered > 0)
		.sort((a, b) => b.code.uncovered - a.code.uncovered);
	const cells = sorted.slice(0, treemapMost).map((file) => ({
		file, label: file.base, path: file.path, bytes: file.code.uncovered, refused: file.code.refused,
	}));
	const rest = sorted.slice(treemapMost);

	if (rest.length) {
		const sum = (of) => rest.reduce((total, file) => total + of(file), 0);
		cells.push({ label: dataNumber(rest.length) + ' more files', path: dataNumber(rest.length)
			+ ' more files, each smaller', bytes: sum((file) => file.code.uncovered),
		refused: sum((file) => file.code.refused) });
	}
	return cells;
}

function treemapSentence(cell) {
	return cell.path + ': ' + dataPlural(cell.bytes, 'byte', 'bytes') + ' uncovered, '
		+ dataNumber(cell.refused) + ' refused and ' + dataNumber(cell.bytes - cell.refused) + ' without CFI'
		+ (cell.file && cell.file.code.countable
			? ', ' + dataPercent(cell.bytes, cell.file.code.countable) + ' of its executable bytes' : '');
}

function treemapText(cell) {
	const fits = Math.floor((cell.width - 10) / 6.6);

	if (fits < 5 || cell.height < 20) return null;
	const cut = (text) => (text.length > fits ? text.slice(0, fits - 1) + '\u2026' : text);
	const name = cut(cell.label), size = dataBytes(cell.bytes);
	const two = cell.height >= 36 && size.length <= fits;
	const wide = Math.max(name.length, two ? size.length : 0) * 6.6 + 6;
	return domSvg('g', { class: 'labels' },
		domSvg('rect', { x: cell.x + 3, y: cell.y + 3, width: wide, height: two ? 31 : 16, rx: 3 }),
		domSvg('text', { x: cell.x + 6, y: cell.y + 15 }, name),
		two ? domSvg('text', { x: cell.x + 6, y: cell.y + 29, class: 'faint' }, size) : null);
}

function treemapCell(tree, cell, number) {
	const left = cell.width * cell.refused / cell.bytes;
	const box = { y: cell.y, height: cell.height };

	cell.element = domSvg('g', { class: 'cell', id: tree.id + '-' + number, role: 'option',
		'aria-selected': 'false', 'aria-label': treemapSentence(cell) },
	left > 0 ? domSvg('rect', { x: cell.x, width: left, ...box, class: 'fill-r0' }) : null,
	left < cell.width ? domSvg('rect', { x: cell.x + left, width: cell.width - left, ...box,
		class: 'fill-nocfi' }) : null,
	domSvg('rect', { x: cell.x, width: cell.width, ...box, class: 'edge' }), treemapText(cell));
	return cell.element;
}

function treemapSelect(tree, number) {
	if (tree.chosen >= 0) tree.cells[tree.chosen].element.setAttribute('aria-selected', 'false');
	tree.chosen = number;
	const cell = tree.cells[number];
	cell.element.setAttribute('aria-selected', 'true');
	// The one drawn last is on top, so that all of its frame shows.
	tree.svg.append(cell.element);
	tree.box.setAttribute('aria-activedescendant', cell.element.id);
	tree.line.textContent = treemapSentence(cell);
}

function treemapOpen(tree, cell) {
	if (cell && cell.file) tree.open(cell.file);
}

function treemapKey(tree, event) {
	const last = tree.cells.length - 1;
	const to = { ArrowRight: tree.chosen + 1, ArrowDown: tree.chosen + 1, ArrowLeft: tree.chosen - 1,
		ArrowUp: tree.chosen - 1, Home: 0, End: last };

	if (event.key === 'Enter') {
		treemapOpen(tree, tree.cells[tree.chosen]);
	} else if (Object.hasOwn(to, event.key)) {
		event.preventDefault();
		treemapSelect(tree, Math.min(Math.max(to[event.key], 0), last));
	}
}

function treemapAt(tree, event) {
	const box = tree.svg.getBoundingClientRect();
	const x = event.clientX - box.left, y = event.clientY - box.top;

	return tree.cells.findIndex((cell) => x >= cell.x && x < cell.x + cell.width
		&& y >= cell.y && y < cell.y + cell.height);
}

function treemapDraw(tree, width) {
	const height = Math.round(Math.min(Math.max(width * 0.42, 240), 460));

	treemapPlace(tree.cells, width, height);
	tree.svg.setAttribute('width', width);
	tree.svg.setAttribute('height', height);
	tree.svg.setAttribute('viewBox', '0 0 ' + width + ' ' + height);
	tree.svg.replaceChildren(...tree.cells.map((cell, number) => treemapCell(tree, cell, number)));
	if (tree.chosen >= 0) treemapSelect(tree, tree.chosen);
}

// The section with the treemap, or null where everything is covered.
function treemapMake(files, open) {
	const tree = { cells: treemapCells(files), open, chosen: -1, id: domId('tree') };

	if (!tree.cells.length) return null;
	tree.svg = domSvg('svg', { class: 'tree', on: {
		pointermove: (event) => {
			const number = treemapAt(tree, event);
			if (number >= 0 && number !== tree.chosen) treemapSelect(tree, number);
		},
		click: (event) => treemapOpen(tree, tree.cells[treemapAt(tree, event)]),
	} });
	tree.box = dom('div', { class: 'treebox', tabindex: 0, role: 'listbox',
		'aria-label': 'Files by uncovered bytes', on: {
			keydown: (event) => treemapKey(tree, event),
			focus: () => tree.chosen < 0 && treemapSelect(tree, 0),
		} }, tree.svg);
	tree.line = dom('p', { class: 'line', 'aria-live': 'polite' },
		dom('span', { class: 'faint' }, 'Point at a file, or press the arrow keys on the map. Enter opens it.'));
	domWatchWidth(tree.box, (width) => treemapDraw(tree, width));
	return dom('section', {}, dom('h2', {}, 'Uncovered bytes, by file'),
		dom('ul', { class: 'legend' }, dom('li', {}, domSwatch('r0'), 'refused'),
			dom('li', {}, domSwatch('nocfi'), 'no CFI')), tree.box, tree.line);
}
