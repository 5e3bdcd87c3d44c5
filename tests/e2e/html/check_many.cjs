// SPDX-License-Identifier: MIT
// The view of many files. The sample is samples.many(3000).
'use strict';

const cells = (table, column) => table.locator('tbody tr td:nth-child(' + column + ')').allInnerTexts();
const numbers = async (table, column) => (await cells(table, column)).map((text) => Number(text.replace(/,/g, '')));

async function totals(page, tools) {
	const text = await page.locator('main').innerText();

	for (const word of ['3,000', '60 failed', '150 skipped', '2,790 done', 'of executable bytes covered', 'cfa-expression'])
		tools.check(text.includes(word), 'the totals have ' + word, text.slice(0, 1500));
}

async function table(page, tools) {
	const files = page.getByRole('table', { name: 'files' });
	const around = page.locator('.tabled').filter({ has: files });
	const first = await numbers(files, 4);

	tools.check(first.length === 50 && first.every((size, i) => !i || first[i - 1] >= size),
		'the table starts with the files of most uncovered bytes', first);
	await around.getByRole('button', { name: 'Next page' }).click();
	const second = await numbers(files, 4);
	tools.check(second.length === 50 && second[0] <= first[49], 'the next page goes on', second);
	tools.check((await around.locator('.where').innerText()).includes('51\u2013100 of 3,000'), 'and says where it is');
	await around.getByLabel('Outcome').selectOption('=failed');
	tools.check((await around.locator('.where').innerText()).includes('of 60 found in 3,000'), 'a filter by outcome');
	tools.check((await files.innerText()).includes('ends after the file'), 'files that failed have their message');
	await around.getByLabel('Outcome').selectOption('');
	await around.getByLabel('Machine').selectOption('=s390x');
	tools.check((await cells(files, 3)).every((text) => text === 's390x'), 'a filter by machine');
	await around.getByLabel('Machine').selectOption('');
	await around.getByRole('searchbox').fill('libsample1234.so');
	tools.same(await files.locator('tbody tr').count(), 1, 'a search');
	await around.getByRole('searchbox').fill('');
	await around.getByLabel('Rows').selectOption('200');
	tools.same(await files.locator('tbody tr').count(), 200, 'more rows on a page');
	await around.getByLabel('Rows').selectOption('50');
	await page.getByRole('button', { name: '150 skipped' }).click();
	tools.check((await around.locator('.where').innerText()).includes('of 150 found'), 'a figure filters, too');
}

async function detail(page, tools) {
	const link = page.getByRole('table', { name: 'files' }).getByRole('link').first();
	const around = page.locator('.tabled').filter({ has: page.getByRole('table', { name: 'files' }) });

	await around.getByLabel('Outcome').selectOption('=done');
	const name = await link.innerText();
	await link.scrollIntoViewIfNeeded();
	const before = await page.evaluate(() => scrollY);
	await link.click();
	tools.check((await page.locator('h1').innerText()).includes(name) && (await page.title()).includes(name),
		'a file opens', await page.locator('h1').innerText());
	tools.check((await page.locator('.notice').innerText()).includes('leaves out'), 'it says what is left out');
	tools.check(/#file=\d+$/.test(page.url()), 'it has an address of its own', page.url());
	const address = page.url();
	await page.goBack();
	tools.check(await page.locator('h1').innerText() === 'SFrame coverage of 3,000 files', 'back to all files');
	await page.waitForTimeout(50);
	tools.same(await page.evaluate(() => scrollY), before, 'back at the place that was left');
	await page.goForward();
	tools.check((await page.locator('h1').innerText()).includes(name), 'forward to the file');
	await page.reload();
	tools.check(page.url() === address && (await page.locator('h1').innerText()).includes(name),
		'the address leads to the file');
	await page.getByRole('link', { name: 'All files' }).click();
	tools.check(await page.locator('h1').innerText() === 'SFrame coverage of 3,000 files', 'a link to all files');
	for (const hash of ['#file=99999', '#file=-1', '#file=__proto__', '#at=3', '#%', '#file=1e9']) {
		await page.evaluate((to) => { location.hash = to; }, hash);
		tools.check(await page.locator('h1').innerText() === 'SFrame coverage of 3,000 files',
			'an address of nothing shows all files: ' + hash);
	}
}

// Without a mouse: to the first header by the tab key, and sort by it.
async function keyboard(page, tools) {
	await page.keyboard.press('Tab');
	tools.same(await page.evaluate(() => document.activeElement.textContent), 'Skip to the report',
		'the first stop leads past the head of the page');
	const outlines = [];
	let sortable = false;
	for (let i = 0; i < 40 && !sortable; i++) {
		await page.keyboard.press('Tab');
		const stop = await page.evaluate(() => ({
			outline: getComputedStyle(document.activeElement).outlineStyle, name: document.activeElement.nodeName,
			head: document.activeElement.closest('th') !== null,
		}));
		outlines.push(stop);
		sortable = stop.head;
	}
	tools.check(sortable, 'the tab key gets to a header', outlines);
	tools.check(outlines.every((stop) => stop.outline === 'solid'), 'each stop is seen', outlines);
	await page.keyboard.press('Enter');
	tools.same(await page.evaluate(() => document.activeElement.closest('th').getAttribute('aria-sort')), 'ascending',
		'Enter sorts, and the focus stays');
}

module.exports = async (tools) => {
	let page = await tools.open('many');

	await totals(page, tools);
	await table(page, tools);
	await detail(page, tools);
	await tools.close(page, 'many files');
	page = await tools.open('few');
	await keyboard(page, tools);
	await tools.close(page, 'a few files');
};
