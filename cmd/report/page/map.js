// SPDX-License-Identifier: MIT
// Where the marks of a file are: stretches without rows, by section. The drawing is in
// map_draw.js, what keys and pointers do in map_view.js.

// A section without a start that can be read has no map.
function mapSections(raw) {
	const sections = [];

	for (const one of dataObjects(raw.sections)) {
		const start = dataAddress(one.start);
		const size = dataCount(one, 'size');
		if (start && size)
			sections.push({ name: dataText(one.name) || '(no name)', prefix: start.prefix,
				start: start.at, size, marks: [] });
	}
	return sections;
}

function mapMark(one, kind, reason) {
	const start = dataAddress(one.start);
	const symbol = dataText(one.symbol);

	return {
		kind, reason, start,
		startText: dataText(one.start),
		size: dataCount(one, 'size') || 0,
		name: dataText(one.name) || symbol,
		symbol,
		functionText: dataText(one.function),
		rule: dataText(one.rule),
		cfi: dataText(one.cfi),
		needs: dataCount(one, 'needs'),
	};
}

// Puts each mark into the section that it starts in; what is outside has no place.
function mapPlace(sections, marks) {
	for (const mark of marks) {
		if (!mark.start) continue;
		const section = sections.find((one) => one.prefix === mark.start.prefix
			&& mark.start.at >= one.start && mark.start.at - one.start < BigInt(one.size));
		if (!section) continue;
		mark.section = section;
		mark.offset = Number(mark.start.at - section.start);
		mark.drawn = Math.min(mark.size, section.size - mark.offset);
		section.marks.push(mark);
	}
	for (const section of sections) section.marks.sort((a, b) => a.offset - b.offset);
}

const mapKinds = {
	code: 'no CFI', plt: 'no CFI, PLT', unknown: 'no CFI, code or data', data: 'data',
};

function mapWhat(mark) {
	return mark.reason || mapKinds[mark.kind] || mark.kind;
}

// The lists of a file that is opened.
function mapRead(raw) {
	const needs = dataObject(raw.refused);
	const gaps = dataObjects(raw.gaps).map((one) => {
		const mark = mapMark(one, 'refused', dataText(one.reason) || '(no reason)');
		if (mark.needs === undefined && Object.hasOwn(needs, mark.reason))
			mark.needs = dataCount(needs[mark.reason], 'needs');
		return mark;
	});
	const bare = dataObjects(raw.without_cfi).map(
		(one) => mapMark(one, Object.hasOwn(mapKinds, one.kind) ? one.kind : 'unknown', ''));
	const sections = mapSections(raw);
	const reasons = dataReasons(raw.refused);
	// A report may list a reason that it does not count.
	for (const { reason } of gaps)
		if (!reasons.some((one) => one.reason === reason)) reasons.push({ reason, bytes: 0 });
	const classes = reasonAssign(reasons);

	mapPlace(sections, gaps.concat(bare));
	const all = gaps.concat(bare);
	all.forEach((mark, id) => {
		mark.id = id;
		mark.paint = mark.reason ? classes.get(mark.reason) : mark.kind === 'data' ? 'data' : 'nocfi';
	});
	return { gaps, bare, all, sections, reasons, classes,
		leftOut: dataCount(raw.page_left_out, 'entries') || 0,
		leftOutBytes: dataCount(raw.page_left_out, 'bytes') || 0 };
}

function mapMarkName(mark) {
	return mark.name || (mark.functionText ? 'function at ' + mark.functionText : 'no symbol');
}

// One line for the place below a map and for screen readers.
function mapSentence(mark) {
	const words = [mapWhat(mark), mark.startText, dataPlural(mark.size, 'byte', 'bytes')];

	if (mark.rule) words.push(mark.rule);
	if (mark.needs) words.push('needs version ' + mark.needs);
	return words.join(', ');
}
