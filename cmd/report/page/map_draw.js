// SPDX-License-Identifier: MIT
// The strip of a section. Each column stands for a number of bytes. Its parts are as high
// as their share of those bytes, so that one strip shows megabytes honestly.

const mapHeight = 64;
const mapColumn = 2;
// A part that is there at all is at least so high, or nobody would see it.
const mapLeast = 4;

// Bytes of each class in each column of the window [from, from + span).
function mapShares(section, from, span, columns) {
	const shares = new Map();

	for (const mark of section.marks) {
		const start = Math.max(mark.offset, from);
		const end = Math.min(mark.offset + mark.drawn, from + span);
		if (start >= end) continue;
		if (!shares.has(mark.paint)) shares.set(mark.paint, new Float64Array(columns));
		const share = shares.get(mark.paint);
		const first = Math.floor((start - from) * columns / span);
		const last = Math.min(Math.ceil((end - from) * columns / span), columns) - 1;
		for (let column = first; column <= last; column++) {
			const left = from + column * span / columns, right = from + (column + 1) * span / columns;
			share[column] += Math.min(end, right) - Math.max(start, left);
		}
	}
	return shares;
}

// The heights of one column, from its foot: [[class, height], ...].
function mapStack(shares, column, bytes) {
	const parts = [];
	let rest = mapHeight;

	for (const name of reasonClasses) {
		const share = name === 'covered' ? 0 : (shares.get(name) || [])[column] || 0;
		if (share > 0) {
			const height = Math.min(Math.max(Math.round(mapHeight * share / bytes), mapLeast), rest);
			parts.push([name, height]);
			rest -= height;
		}
	}
	if (rest > 0) parts.unshift(['covered', rest]);
	return parts;
}

// One path for each class: equal neighbours become one rectangle.
function mapPaths(section, from, span, width) {
	const columns = Math.max(1, Math.min(Math.floor(width / mapColumn), span));
	const shares = mapShares(section, from, span, columns);
	const step = width / columns;
	const paths = new Map();
	let open = [];

	const close = (column) => {
		for (const one of open)
			paths.set(one.name, (paths.get(one.name) || '') + 'M' + one.x.toFixed(2) + ' ' + one.y
				+ 'H' + (column * step).toFixed(2) + 'V' + (one.y + one.height) + 'H' + one.x.toFixed(2)
				+ 'Z');
	};
	let before = '';
	for (let column = 0; column < columns; column++) {
		const stack = mapStack(shares, column, span / columns);
		const now = stack.join(' ');
		if (now !== before) {
			close(column);
			let foot = mapHeight;
			open = stack.map(([name, height]) => {
				foot -= height;
				return { name, height, x: column * step, y: foot };
			});
			before = now;
		}
	}
	close(columns);
	return paths;
}

// Four to ten round places for addresses.
function mapTicks(section, from, span, width) {
	const ticks = [];
	const wanted = Math.max(span * 110 / width, 1);
	const step = 2 ** Math.ceil(Math.log2(wanted));
	const first = section.start + BigInt(Math.floor(from));
	const size = BigInt(step);

	for (let at = (first + size - 1n) / size * size; ; at += size) {
		const offset = Number(at - section.start);
		if (offset > from + span) return ticks;
		ticks.push({ x: (offset - from) * width / span, text: dataHex('', at) });
	}
}

function mapAxis(section, from, span, width) {
	const axis = domSvg('g', { class: 'axis', 'aria-hidden': 'true' });

	for (const tick of mapTicks(section, from, span, width)) {
		const anchor = tick.x < 40 ? 'start' : tick.x > width - 40 ? 'end' : 'middle';
		axis.append(domSvg('path', { d: 'M' + tick.x.toFixed(1) + ' ' + mapHeight + 'v5' }),
			domSvg('text', { x: tick.x.toFixed(1), y: mapHeight + 18, 'text-anchor': anchor }, tick.text));
	}
	return axis;
}

// Names on marks that have the space for them.
function mapLabels(section, from, span, width) {
	const labels = domSvg('g', { class: 'labels', 'aria-hidden': 'true' });

	for (const mark of section.marks) {
		const x = (mark.offset - from) * width / span, wide = mark.drawn * width / span;
		if (wide < 60 || x + wide < 0 || x > width) continue;
		const left = Math.max(x, 0), right = Math.min(x + wide, width);
		const fits = Math.floor((right - left - 16) / 7);
		if (fits < 4 || !mark.name) continue;
		const text = mark.name.length > fits ? mark.name.slice(0, fits - 1) + '\u2026' : mark.name;
		labels.append(domSvg('rect', { x: left + 4, y: 22, rx: 3, width: text.length * 6.7 + 8, height: 19 }),
			domSvg('text', { x: left + 8, y: 36 }, text));
	}
	return labels;
}

// A frame around the chosen mark, never narrower than can be seen.
function mapFrame(mark, from, span, width) {
	const x = (mark.offset - from) * width / span, wide = mark.drawn * width / span;

	if (x + wide < 0 || x > width) return null;
	const left = Math.max(x - 2, 1), right = Math.min(Math.max(x + wide + 2, x + 4), width - 1);
	return domSvg('rect', { class: 'frame', x: left, y: 1, width: Math.max(right - left, 3),
		height: mapHeight - 2, rx: 2 });
}

function mapDraw(svg, section, window, width, chosen) {
	const { from, span } = window;
	const parts = [...mapPaths(section, from, span, width)].map(
		([name, d]) => domSvg('path', { d, class: 'fill-' + name }));

	svg.setAttribute('viewBox', '0 0 ' + width + ' ' + (mapHeight + 24));
	svg.setAttribute('width', width);
	svg.setAttribute('height', mapHeight + 24);
	svg.replaceChildren(...parts, mapLabels(section, from, span, width),
		mapAxis(section, from, span, width));
	const frame = chosen && chosen.section === section && mapFrame(chosen, from, span, width);
	if (frame) svg.append(frame);
}
