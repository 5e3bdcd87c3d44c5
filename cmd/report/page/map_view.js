// SPDX-License-Identifier: MIT
// What a reader does with the strips: look, choose a mark, look closer, move.

function mapClamp(view, from, span) {
	const size = view.section.size;
	const least = Math.min(size, 64);

	view.window.span = Math.min(Math.max(span, least), size);
	view.window.from = Math.min(Math.max(from, 0), size - view.window.span);
	mapRedraw(view);
}

function mapRedraw(view) {
	const { from, span } = view.window, size = view.section.size;

	if (!view.width) return;
	mapDraw(view.svg, view.section, view.window, view.width, view.maps.chosen);
	view.whole.disabled = view.farther.disabled = span >= size;
	view.closer.disabled = span <= 64;
	view.part.setAttribute('x', 100 * from / size + '%');
	view.part.setAttribute('width', Math.max(100 * span / size, 0.3) + '%');
	view.lens.classList.toggle('whole', span >= size);
	view.scale.textContent = span >= size ? 'whole section'
		: dataNumber(Math.round(span)) + ' bytes from '
			+ dataHex(view.section.prefix, view.section.start + BigInt(Math.floor(from)));
	view.strip.setAttribute('aria-label', 'Map of ' + view.section.name + ', ' + view.scale.textContent
		+ ', ' + dataPlural(view.section.marks.length, 'mark', 'marks'));
}

// Around the chosen mark when the window has it, else around the middle.
function mapZoom(view, factor) {
	const { from, span } = view.window, mark = view.maps.chosen;
	let middle = from + span / 2;

	if (mark && mark.section === view.section) {
		const at = mark.offset + mark.drawn / 2;
		if (at >= from && at <= from + span) middle = at;
	}
	mapClamp(view, middle - span * factor / 2, span * factor);
}

// What the line below the strip says of a mark.
function mapSay(view, mark, more) {
	if (!mark) {
		view.line.replaceChildren(dom('span', { class: 'faint' },
			'Point at the map, or press the left and right arrow keys on it.'));
		return;
	}
	view.line.replaceChildren(domSwatch(mark.paint), dom('span', {},
		dom('b', {}, domName(mapMarkName(mark))), ' ', mapSentence(mark),
		reasonSentence(mark.reason) ? dom('span', { class: 'faint' }, ' ' + reasonSentence(mark.reason))
			: null, more ? dom('span', { class: 'faint' }, ' ' + more) : null));
}

function mapChoose(view, mark) {
	const before = view.maps.chosen;

	view.maps.chosen = mark;
	if (before && before.section !== mark.section)
		for (const other of view.maps.views)
			if (other.section === before.section) {
				mapRedraw(other);
				mapSay(other, null);
			}
	const { from, span } = view.window;
	if (mark.offset < from || mark.offset + mark.drawn > from + span)
		mapClamp(view, mark.offset + mark.drawn / 2 - span / 2, span);
	else
		mapRedraw(view);
	mapSay(view, mark);
}

// The mark of the most bytes under a column, and how many are there.
function mapAt(view, x) {
	const { from, span } = view.window;
	const slack = 3 * span / view.width;
	const at = from + x * span / view.width;
	const marks = view.section.marks.filter(
		(mark) => mark.offset <= at + slack && mark.offset + mark.drawn >= at - slack);

	marks.sort((a, b) => b.drawn - a.drawn);
	return { mark: marks[0], more: marks.length > 1 ? '(and ' + (marks.length - 1) + ' more here)' : '' };
}

function mapStep(view, step) {
	const marks = view.section.marks;
	const here = marks.indexOf(view.maps.chosen);

	const next = step === Infinity ? marks.length - 1 : step === -Infinity ? 0
		: here < 0 ? (step > 0 ? 0 : marks.length - 1)
			: Math.min(Math.max(here + step, 0), marks.length - 1);
	mapChoose(view, marks[next]);
}

function mapKey(view, event) {
	const keys = {
		ArrowRight: () => mapStep(view, 1), ArrowLeft: () => mapStep(view, -1),
		Home: () => mapStep(view, -Infinity), End: () => mapStep(view, Infinity),
		'+': () => mapZoom(view, 0.5), '=': () => mapZoom(view, 0.5), '-': () => mapZoom(view, 2),
		0: () => mapClamp(view, 0, view.section.size),
		Enter: () => view.maps.chosen && view.maps.open(view.maps.chosen),
	};

	if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
	event.preventDefault();
	keys[event.key]();
}

// A press chooses a mark; a drag chooses the part to look at.
function mapPointer(view) {
	const place = (event) => event.clientX - view.svg.getBoundingClientRect().left;
	let down;

	view.svg.addEventListener('pointerdown', (event) => {
		down = place(event);
		// A drag may end beside the strip.
		view.svg.setPointerCapture(event.pointerId);
	});
	view.svg.addEventListener('pointermove', (event) => {
		const { mark, more } = mapAt(view, place(event));
		if (mark) mapSay(view, mark, more);
	});
	view.svg.addEventListener('pointerleave', () => {
		const mark = view.maps.chosen;
		mapSay(view, mark && mark.section === view.section ? mark : null);
		down = undefined;
	});
	view.svg.addEventListener('pointerup', (event) => {
		const up = place(event), { from, span } = view.window;
		if (down === undefined) return;
		if (Math.abs(up - down) > 6) {
			const left = Math.max(Math.min(up, down), 0), right = Math.min(Math.max(up, down), view.width);
			mapClamp(view, from + left * span / view.width, (right - left) * span / view.width);
		} else {
			const { mark } = mapAt(view, up);
			if (mark) mapChoose(view, mark);
		}
		down = undefined;
	});
}

function mapView(maps, section) {
	const view = { maps, section, window: { from: 0, span: section.size }, width: 0 };

	view.svg = domSvg('svg', { class: 'strip', 'aria-hidden': 'true' });
	view.strip = dom('div', { class: 'stripped', tabindex: 0, role: 'group',
		on: { keydown: (event) => mapKey(view, event) } }, view.svg);
	view.part = domSvg('rect', { y: 0, height: 5 });
	view.lens = domSvg('svg', { class: 'lens', width: '100%', height: 5, 'aria-hidden': 'true' }, view.part);
	view.line = dom('p', { class: 'line', 'aria-live': 'polite' });
	view.scale = dom('span', { class: 'faint scale' });
	view.closer = domButton('Closer', () => mapZoom(view, 0.25));
	view.farther = domButton('Farther', () => mapZoom(view, 4));
	view.whole = domButton('Whole section', () => mapClamp(view, 0, section.size));
	mapPointer(view);
	const title = dom('h3', {}, dom('code', {}, section.name), ' ',
		dom('span', { class: 'faint' }, dataBytes(section.size) + ' at '
			+ dataHex(section.prefix, section.start)));
	// As wide as the others it would look as if it mattered as much.
	view.minor = section.size * 100 < maps.largest;
	view.element = dom('section', { class: view.minor ? 'mapped minor' : 'mapped' }, dom('div', { class: 'maphead' }, title,
		dom('div', { class: 'buttons' }, view.scale, view.closer, view.farther, view.whole)),
		view.strip, view.lens, view.line);
	mapSay(view, null);
	domWatchWidth(view.strip, (width) => {
		view.width = width;
		mapRedraw(view);
	});
	return view;
}

// From a table to the map: the mark takes a tenth of the strip, and its neighbours the rest.
function mapGoTo(maps, mark) {
	const view = maps.views.find((one) => one.section === mark.section);

	if (!view) return;
	const span = Math.max(mark.drawn * 10, 2048);
	maps.chosen = mark;
	for (const other of maps.views) {
		if (other !== view) mapSay(other, null);
		mapRedraw(other);
	}
	mapClamp(view, mark.offset + mark.drawn / 2 - span / 2, span);
	mapSay(view, mark);
	domShow(view.element);
	view.strip.focus({ preventScroll: true });
}
