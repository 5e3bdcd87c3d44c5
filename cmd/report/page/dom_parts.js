// SPDX-License-Identifier: MIT
// Elements of this page: long names, and parts that are told apart by colour and strokes.

const domNameLimit = 240;

// A name of any length. A long one is cut, and a button shows the rest.
function domName(text, attributes) {
	if (text.length <= domNameLimit) return dom('span', { class: 'name', ...attributes }, text);
	const short = text.slice(0, domNameLimit) + '\u2026';
	const shown = dom('span', { class: 'name', ...attributes }, short);
	const button = domButton('all ' + dataNumber(text.length) + ' characters', () => {
		const open = button.getAttribute('aria-expanded') === 'true';
		shown.textContent = open ? short : text;
		button.setAttribute('aria-expanded', String(!open));
		button.textContent = open ? 'all ' + dataNumber(text.length) + ' characters' : 'less';
	}, { class: 'small', 'aria-expanded': 'false' });
	return dom('span', {}, shown, ' ', button);
}

// The reverse strokes that tell classes apart without colour.
const domPatterns = {
	r0: 'M0 6L6 0M-1 1L1 -1M5 7L7 5', r1: 'M0 0L6 6M-1 5L1 7M5 -1L7 1',
	r2: 'M0 3H6', r3: 'M3 0V6', other: 'M0 3H6M3 0V6', nocfi: 'M0 6L6 0M0 0L6 6',
	data: 'M1.5 1.5h1v1h-1zM4.5 4.5h1v1h-1z', outermost: 'M0 1.5H6M0 4.5H6',
};

// Once for the page: every map and bar refers to these.
function domDefinePatterns() {
	const patterns = Object.entries(domPatterns).map(([name, strokes]) => domSvg('pattern',
		{ id: 'fill-' + name, width: 6, height: 6, patternUnits: 'userSpaceOnUse' },
		domSvg('rect', { width: 6, height: 6, class: 'paint-' + name }),
		domSvg('path', { d: strokes, class: 'strokes' })));

	return domSvg('svg', { width: 0, height: 0, class: 'patterns', 'aria-hidden': 'true' },
		domSvg('defs', {}, patterns));
}

function domSwatch(name) {
	return domSvg('svg', { class: 'swatch', width: 16, height: 16, 'aria-hidden': 'true' },
		domSvg('rect', { width: 16, height: 16, rx: 3, class: 'fill-' + name }));
}

// A bar of parts [{name, label, bytes}], with a legend that has the figures.
function domBar(parts, whole, label) {
	const bar = domSvg('svg', { class: 'bar', width: '100%', height: 22, role: 'img',
		'aria-label': label });
	let x = 0;

	for (const part of parts) {
		const width = whole ? 100 * part.bytes / whole : 0;
		if (part.bytes)
			bar.append(domSvg('rect', { x: x + '%', y: 0, width: Math.max(width, 0.15) + '%',
				height: 22, class: 'fill-' + part.name }));
		x += width;
	}
	const items = parts.filter((part) => part.bytes).map((part) => dom('li', {},
		domSwatch(part.name), dom('span', { class: 'what' }, part.label, ' '),
		dom('span', { class: 'figure' }, dataNumber(part.bytes), ' bytes, ',
			dataPercent(part.bytes, whole))));
	return dom('div', { class: 'barred' }, bar, dom('ul', { class: 'legend' }, items));
}
