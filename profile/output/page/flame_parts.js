// SPDX-License-Identifier: MIT
// What stands around the graph: what was recorded, which stacks are complete, and the colours.

function partsFacts(report) {
	const seconds = report.seconds ? report.seconds.toFixed(1) + ' s' : '';

	domBy('facts').append(domFacts([
		['Samples', dataNumber(report.samples)],
		['Recorded', seconds && report.event ? seconds + ', ' + dataText(report.event) + ' at '
			+ dataNumber(report.frequency) + ' Hz' : dataText(report.event)],
		['Threads', dataNumber(report.threads.length)],
		['Left out', report.least > 1 ? 'functions with less than ' + dataSamples(report.least) : ''],
		['Lost samples', report.lost ? dataNumber(report.lost) : ''],
		['Kernel', dataText(report.release)],
	]));
}

// Shares of samples by how their stacks end. pick(text) marks those that end so.
function partsEnds(report, pick) {
	const complete = report.ends.reduce((sum, end) => sum + (end.complete ? end.weight : 0), 0);
	let x = 0, shade = 0;

	domBy('complete').textContent = dataPercent(complete, report.total);
	domBy('others').hidden = complete === report.total;
	for (const end of report.ends) {
		const paint = 'fill-' + (end.complete ? 'complete' : 'cut' + shade++ % 5);
		const width = 100 * end.weight / report.total;
		domBy('bar').append(domSvg('rect', { x: x + '%', y: 0, width: Math.max(width, 0.2) + '%', height: 16,
			class: paint }));
		x += width;
		const words = [domSvg('svg', { class: 'swatch', width: 14, height: 14, 'aria-hidden': 'true' },
			domSvg('rect', { width: 14, height: 14, rx: 3, class: paint })), end.why];
		domBy('reasons').append(dom('li', {}, !end.marked ? words : domButton(words, () => pick('[incomplete: ' + end.why + ']'),
			{ class: 'link', title: 'Mark these stacks in the graph' }), ' ',
		dom('span', { class: 'figure' }, dataPercent(end.weight, report.total))));
	}
}

// The files that have their own colour.
function partsColours(files, samples, dark) {
	domBy('legend').replaceChildren(...files.filter((file) => file.own && file.samples > 0 && file.name).map((file) => {
		const swatch = dom('span', { class: 'swatch paint', 'aria-hidden': 'true' });

		swatch.style.background = colourShade(file, 0.5, dark);
		return dom('li', { title: file.path }, swatch, file.name, ' ',
			dom('span', { class: 'figure' }, dataPercent(file.samples, samples)));
	}));
}
