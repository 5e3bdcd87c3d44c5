// SPDX-License-Identifier: MIT
// Narrow, dark and printed. Contrast is that of WCAG 2, level AA.
'use strict';

const pages = [['one', ''], ['few', ''], ['few', '#file=1'], ['many', ''], ['hostile', '#file=0'],
	['checked', ''], ['checked', '#file=9'], ['checked-one', '']];

async function narrow(tools) {
	for (const width of [360, 768, 1280]) {
		for (const [name, hash] of pages) {
			const page = await tools.open(name, { hash, viewport: { width, height: 740 } });
			await page.waitForTimeout(60);
			const wide = await page.evaluate(() => [...document.querySelectorAll('main *')].filter((one) => {
				const box = one.getBoundingClientRect();
				return box.width > 0 && box.right > innerWidth + 1 && !one.closest('svg, option, select');
			}).slice(0, 5).map((one) => one.nodeName + '.' + one.className + ' ' + one.textContent.slice(0, 60)));
			tools.check(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)
				&& wide.length === 0, name + hash + ' fits ' + width + ' pixels', wide);
			await tools.close(page, name + hash + ' at ' + width);
		}
	}
}

// The worst contrast of text with what is behind it.
function contrast() {
	const rgb = (color) => color.match(/[\d.]+/g).map(Number);
	const light = ([r, g, b]) => [r, g, b].map((one) => one / 255).map((one) => (
		one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)).reduce(
		(sum, one, i) => sum + one * [0.2126, 0.7152, 0.0722][i], 0);
	const behind = (element) => {
		for (let one = element; one; one = one.parentElement) {
			const color = rgb(getComputedStyle(one).backgroundColor);
			if (color.length < 4 || color[3] > 0) return color;
		}
		return [255, 255, 255];
	};
	let worst = { ratio: 99 };
	for (const element of document.querySelectorAll('body *:not(svg *, script, option)')) {
		if (![...element.childNodes].some((one) => one.nodeType === 3 && one.data.trim())) continue;
		if (element.disabled || !element.getClientRects().length) continue;
		const [a, b] = [light(rgb(getComputedStyle(element).color)), light(behind(element))].sort((x, y) => y - x);
		const ratio = (a + 0.05) / (b + 0.05);
		if (ratio < worst.ratio) worst = { ratio, text: element.textContent.slice(0, 40) };
	}
	return worst;
}

async function schemes(tools) {
	const backs = [];

	for (const colorScheme of ['light', 'dark']) {
		for (const [name, hash] of [['one', ''], ['few', ''], ['checked', '#file=2']]) {
			const page = await tools.open(name, { hash, colorScheme });
			backs.push(await page.evaluate(() => getComputedStyle(document.body).backgroundColor));
			const worst = await page.evaluate(contrast);
			tools.check(worst.ratio >= 4.5, colorScheme + ', ' + name + ': contrast is at least 4.5', worst);
			await tools.close(page, colorScheme + ', ' + name);
		}
	}
	const half = backs.length / 2;
	tools.check(backs[0] !== backs[half] && backs.every((one, i) => one === backs[i < half ? 0 : half]), 'dark is not light', backs);
}

async function print(tools) {
	const page = await tools.open('one', { colorScheme: 'dark' });

	await page.emulateMedia({ media: 'print' });
	tools.check(await page.evaluate(() => getComputedStyle(document.body).backgroundColor) === 'rgb(255, 255, 255)',
		'paper is white, on a dark screen, too');
	tools.check(await page.evaluate(() => [...document.querySelectorAll('button, input, select')].every(
		(one) => !one.getClientRects().length || one.closest('th'))), 'paper has no buttons');
	await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
	tools.same(await page.getByRole('table', { name: 'refused code' }).locator('tbody tr').count(), 40,
		'paper has all rows of a table');
	await page.evaluate(() => dispatchEvent(new Event('afterprint')));
	tools.same(await page.getByRole('table', { name: 'refused code' }).locator('tbody tr').count(), 25,
		'then the screen has one page again');
	const paper = await page.pdf({ format: 'A4', printBackground: true });
	tools.check(paper.length > 20000 && paper.subarray(0, 5).toString() === '%PDF-', 'it prints', paper.length);
	await tools.close(page, 'printed');
}

// Who cannot tell the colours apart has the strokes.
async function colours(tools) {
	const page = await tools.open('one');
	const strokes = await page.evaluate(() => [...document.querySelectorAll('pattern path')].map(
		(one) => one.getAttribute('d')));

	tools.check(strokes.length === 8 && new Set(strokes).size === 8, 'each class has strokes of its own', strokes);
	await tools.close(page, 'colours');
}

module.exports = async (tools) => {
	await narrow(tools);
	await schemes(tools);
	await print(tools);
	await colours(tools);
};
