// SPDX-License-Identifier: MIT
// What stands around the graph: what was recorded, which stacks are complete, and the colours.

function partsFacts(report) {
	const seconds = report.seconds ? report.seconds.toFixed(1) + ' s' : '';

	return domFacts([
		['Samples', dataNumber(report.samples)],
		['Recorded', seconds && report.event ? seconds + ', ' + dataText(report.event) + ' at '
			+ dataNumber(report.frequency) + ' Hz' : dataText(report.event)],
		['Threads', dataNumber(report.threads.length)],
		['Left out', report.least > 1 ? 'functions with less than ' + dataSamples(report.least) : ''],
		['Lost samples', report.lost ? dataNumber(report.lost) : ''],
		['Kernel', dataText(report.release)],
	]);
}

// Shares of samples by how their stacks end. pick(text) marks those that end so.
function partsEnds(report, pick) {
	const ends = report.ends.filter((end) => end.samples > 0);
	const complete = ends.filter((end) => end.complete).reduce((sum, end) => sum + end.samples, 0);
	const svg = domSvg('svg', { class: 'bar', width: '100%', height: 16, role: 'img',
		'aria-label': dataPercent(complete, report.samples) + ' of the samples have complete stacks' });
	let x = 0, shade = 0;
	const items = ends.map((end) => {
		const paint = 'fill-' + (end.complete ? 'complete' : 'cut' + shade++ % 5);
		const width = 100 * end.samples / report.samples;
		svg.append(domSvg('rect', { x: x + '%', y: 0, width: Math.max(width, 0.2) + '%', height: 16,
			class: paint }));
		x += width;
		const words = [domSvg('svg', { class: 'swatch', width: 14, height: 14, 'aria-hidden': 'true' },
			domSvg('rect', { width: 14, height: 14, rx: 3, class: paint })), end.why];
		return dom('li', {}, !end.mark ? words : domButton(words, () => pick(dataText(end.mark)),
			{ class: 'link', title: 'Mark these stacks in the graph' }), ' ',
		dom('span', { class: 'figure' }, dataPercent(end.samples, report.samples)));
	});
	return dom('section', { class: 'ends', 'aria-label': 'Complete stacks' },
		dom('p', {}, dom('strong', {}, dataPercent(complete, report.samples)),
			' of the samples have complete stacks.',
			complete < report.samples ? ' The others end because of this:' : ''),
		svg, dom('ul', { class: 'legend' }, items));
}

// The files that have their own colour.
function partsColours(files, colours, pick) {
	const shown = files.filter((file) => file.own && file.samples > 0 && file.name);
	const items = shown.map((file) => {
		const swatch = dom('span', { class: 'swatch paint', 'aria-hidden': 'true' });

		swatch.style.background = colours(file);
		return dom('li', {}, domButton([swatch, file.name], () => pick(file),
			{ class: 'link', title: 'Mark the functions of ' + file.path }), ' ',
		dom('span', { class: 'figure' }, dataPercent(file.samples, files.reduce((sum, one) => sum + one.samples, 0))));
	});

	return dom('ul', { class: 'legend files', 'aria-label': 'Colours: the file of the function on top' }, items);
}
