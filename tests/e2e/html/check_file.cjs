// SPDX-License-Identifier: MIT
// The view of one file: figures, map, tables. The sample is samples.file_of(4).
'use strict';
const fs = require('fs');

const cells = (table, column) => table.locator('tbody tr td:nth-child(' + column + ')').allInnerTexts();
const numbers = async (table, column) => (await cells(table, column)).map((text) => Number(text.replace(/,/g, '')));
const sorted = (list, order) => list.slice().sort(order);

function report(page, name) {
	const path = new URL(page.url()).pathname.replace(/[^/]*$/, name + '.json');

	return JSON.parse(fs.readFileSync(path, 'utf8')).files[0];
}

async function figures(page, tools, file) {
	const text = await page.locator('main').innerText();

	for (const word of [file.machine, file.build_id, file.producers[0], 'shared library', 'libsample4.so.4'])
		tools.check(text.includes(word), 'the page says ' + word, text.slice(0, 1500));
	for (const name of ['.eh_frame', '.eh_frame_hdr', '.sframe'])
		tools.check(text.includes(name + ' ' + file.sizes[name].toLocaleString('en-US') + ' byte'), 'the size of ' + name, text.slice(0, 1500));
	const code = file.code;
	const share = 100 * code.covered / (code.executable - code.outermost);
	tools.check(text.includes(Math.min(share, 99.99).toFixed(2) + '%'), 'the share of all executable bytes', share);
	const legend = await page.locator('.barred .legend').innerText();
	for (const [reason, one] of Object.entries(file.refused))
		tools.check(reason === 'ra-undefined' || legend.includes(one.bytes.toLocaleString('en-US')),
			'the bar has the bytes of ' + reason, legend);
	tools.check(legend.includes(code.without_cfi.toLocaleString('en-US'))
		&& legend.includes(code.data.toLocaleString('en-US')), 'the bar has code without CFI and data', legend);
}

async function table(page, tools, file) {
	const refused = page.getByRole('table', { name: 'refused code' });
	const around = page.locator('.tabled').filter({ has: refused });
	const head = (name) => refused.getByRole('columnheader', { name });

	tools.same(await numbers(refused, 4), sorted(file.gaps.map((gap) => gap.size), (a, b) => b - a).slice(0, 25),
		'the table starts with the largest');
	tools.same(await head('Bytes').getAttribute('aria-sort'), 'descending', 'aria-sort says so');
	await head('Bytes').getByRole('button').click();
	tools.same(await numbers(refused, 4), sorted(file.gaps.map((gap) => gap.size), (a, b) => a - b).slice(0, 25),
		'a second press turns the order round');
	tools.same(await head('Bytes').getAttribute('aria-sort'), 'ascending', 'aria-sort says that, too');
	await head('Reason').getByRole('button').click();
	tools.same(await cells(refused, 2), sorted(file.gaps.map((gap) => gap.reason)).slice(0, 25),
		'the table is sorted by another column');
	await around.getByRole('button', { name: 'Next page' }).click();
	tools.same(await cells(refused, 2), sorted(file.gaps.map((gap) => gap.reason)).slice(25),
		'the next page has the rest');
	tools.check(await around.getByRole('button', { name: 'Next page' }).isDisabled(), 'there is no third page');
	const reason = file.gaps[0].reason;
	await around.getByLabel('Reason').selectOption('=' + reason);
	const chosen = file.gaps.filter((gap) => gap.reason === reason);
	tools.same(await cells(refused, 2), chosen.map(() => reason).slice(0, 25), 'a filter by reason');
	await around.getByLabel('Reason').selectOption('');
	await around.getByRole('searchbox').fill(file.gaps[7].symbol + ' VECTOR');
	tools.check((await refused.locator('tbody tr').count()) === 1
		&& (await refused.innerText()).includes(file.gaps[7].rule)
		&& (await refused.innerText()).includes(file.gaps[7].cfi), 'a search finds one row, with rule and CFI',
	await refused.innerText());
	await around.getByRole('searchbox').fill('nothing like this');
	tools.check((await refused.innerText()).includes('Nothing matches.'), 'a search finds nothing');
	await around.getByRole('searchbox').fill('');
}

async function sources(page, tools, file) {
	const ranges = page.getByRole('table', { name: 'sources' });
	const around = page.locator('.tabled').filter({ has: ranges });
	const without = await page.getByRole('table', { name: 'functions without rows' }).innerText();
	const left = file.sources.go.without_rows[0];

	tools.same(await cells(ranges, 1), file.source_ranges.map((one) => one.source), 'the sources, by address');
	tools.same(await numbers(ranges, 4), file.source_ranges.map((one) => one.functions), 'how many functions each has');
	await around.getByLabel('Source').selectOption('=go');
	tools.same(await cells(ranges, 2), file.source_ranges.filter((one) => one.source === 'go').map((one) => one.start),
		'a filter by source');
	await around.getByLabel('Source').selectOption('');
	tools.check([left.name, left.reason, left.start].every((word) => without.includes(word)),
		'functions without rows have a reason', without);
}

// From the table to the map and back.
async function map(page, tools, file) {
	const gap = sorted(file.gaps, (a, b) => b.size - a.size)[0];
	const strip = page.getByRole('group', { name: /Map of .text/ });
	const line = page.locator('.mapped').filter({ has: strip }).locator('.line');
	const head = page.getByRole('table', { name: 'refused code' }).getByRole('columnheader', { name: 'Bytes' });

	await head.getByRole('button').click();
	await page.getByRole('link', { name: gap.start, exact: true }).first().click();
	await page.waitForFunction(() => document.activeElement.className === 'stripped');
	const said = await line.innerText();
	tools.check([gap.name, gap.reason, gap.rule, gap.start].every((word) => said.includes(word)),
		'a link leads to the place in the map', said);
	tools.check(await strip.locator('.frame').count() === 1, 'the place has a frame');
	const index = file.gaps.slice().sort((a, b) => parseInt(a.start, 16) - parseInt(b.start, 16)).indexOf(gap);
	await page.keyboard.press('ArrowRight');
	const next = await line.innerText();
	const after = file.gaps[index + 1] || file.without_cfi[0];
	tools.check(next.includes(after.name) && next.includes(after.start), 'an arrow key goes to the next', next);
	await page.keyboard.press('Home');
	tools.check((await line.innerText()).includes(file.gaps[0].start), 'Home goes to the first');
	await page.keyboard.press('End');
	tools.check((await line.innerText()).includes(file.without_cfi.at(-1).start), 'End goes to the last');
	await page.keyboard.press('0');
	tools.check((await strip.getAttribute('aria-label')).includes('whole section'), '0 shows the whole section');
	await page.keyboard.press('+');
	tools.check(!(await strip.getAttribute('aria-label')).includes('whole section'), '+ looks closer');
	await page.keyboard.press('Home');
	await page.keyboard.press('Enter');
	tools.same(await page.evaluate(() => document.activeElement.id), 'mark-0', 'Enter goes to the row');
	await page.goBack();
	tools.same(new URL(page.url()).hash, '', 'the back button works');
}

// Each gap is seen, whatever the scale: the column under it is not that of covered code.
async function drawn(page, tools, file) {
	const seen = await page.evaluate(() => {
		const svg = [...document.querySelectorAll('.strip')].at(-1);
		const boxes = [...svg.querySelectorAll('path[class^=fill-]:not(.fill-covered)')].flatMap((path) => path
			.getAttribute('d').match(/M[^Z]*Z/g).map((one) => one.match(/[\d.]+/g).map(Number)));
		return { width: Number(svg.getAttribute('width')), boxes };
	});
	const text = file.sections.at(-1);
	const hidden = file.gaps.concat(file.without_cfi).filter((gap) => {
		const x = (parseInt(gap.start, 16) - parseInt(text.start, 16) + gap.size / 2) * seen.width / text.size;
		return !seen.boxes.some(([left, , right]) => x >= left - 0.01 && x <= right + 0.01);
	});

	tools.same(hidden, [], 'every gap is drawn, in a strip of ' + seen.width + ' pixels');
	tools.check(seen.boxes.every(([left, top, right, foot]) => right - left >= 1 && foot - top >= 1),
		'nothing is lower or narrower than a pixel', seen.boxes);
}

async function mouse(page, tools, file) {
	const strip = page.getByRole('group', { name: /Map of .text/ });
	const line = page.locator('.mapped').filter({ has: strip }).locator('.line');
	const text = file.sections.at(-1), gap = file.gaps[3];

	await strip.focus();
	await page.keyboard.press('0');
	const box = await strip.boundingBox();
	const x = box.x + (parseInt(gap.start, 16) - parseInt(text.start, 16) + gap.size / 2) * box.width / text.size;
	await page.mouse.move(x, box.y + 10);
	tools.check((await line.innerText()).includes(gap.name), 'pointing says the function', await line.innerText());
	await page.mouse.move(x + 20, box.y + 10);
	await page.mouse.down();
	await page.mouse.move(x + 120, box.y + 10);
	await page.mouse.up();
	tools.check(!(await strip.getAttribute('aria-label')).includes('whole section'), 'dragging looks closer');
	await page.getByRole('button', { name: 'Whole section' }).click();
	tools.check((await strip.getAttribute('aria-label')).includes('whole section'), 'a button goes back');
}

module.exports = async (tools) => {
	const page = await tools.open('one');
	const file = report(page, 'one');

	await figures(page, tools, file);
	await drawn(page, tools, file);
	await table(page, tools, file);
	await map(page, tools, file);
	await mouse(page, tools, file);
	await tools.close(page, 'one file');
	const real = await tools.open('real');
	const text = await real.locator('main').innerText();
	tools.check(text.includes('/bin/') && text.includes('ra-undefined') && text.includes('0x'), 'ls', text);
	await tools.close(real, 'ls');
};
