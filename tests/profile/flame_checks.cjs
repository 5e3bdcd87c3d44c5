// SPDX-License-Identifier: MIT
// The flame graph as a reader uses it, by keys and mouse. flame_browser.py makes the pages.
'use strict';

const fs = require('fs'), path = require('path'), vm = require('vm');

const graphOf = (page) => page.getByRole('tree', { name: 'Flame graph' });
const line = (page) => page.locator('.line').innerText();
const crumbs = (page) => page.locator('.crumbs').innerText();

// Waits until a text is as it should be, because the page may be slow. The last text.
async function until(read, good) {
	let text = '';

	for (let i = 0; i < 2000; i++) {
		text = await read();
		if (good(text)) break;
		await new Promise((done) => setTimeout(done, 50));
	}
	return text;
}

async function says(page, tools, words, name) {
	const text = await until(() => line(page), (got) => words.every((word) => got.includes(word)));
	tools.check(words.every((word) => text.includes(word)), name, { text, words });
}

// The middle of a frame: row counts from the root, share is where of the whole width.
async function place(page, row, share) {
	const box = await graphOf(page).boundingBox();
	const width = await page.locator('canvas.frames').evaluate((canvas) => canvas.getBoundingClientRect().width);
	const flame = await page.getByRole('button', { name: 'Flame' }).getAttribute('aria-pressed') === 'true';
	const height = await page.locator('canvas.frames').evaluate((canvas) => canvas.getBoundingClientRect().height);
	return { x: box.x + 1 + width * share, y: box.y + 1 + (flame ? height - 20 * row - 10 : 20 * row + 10) };
}

async function head(page, tools) {
	const text = await page.locator('main').innerText();

	for (const word of ['92.0%', 'code without a row', '5.0%', 'copy of the stack cut off', '3.0%', '2.0 s'])
		tools.check(text.includes(word), 'the head has ' + word, text.slice(0, 600));
	tools.check((await page.title()).includes('shop --open'), 'the title has the command');
	await says(page, tools, ['all', '100 samples'], 'it begins with all samples');
}

async function mouse(page, tools) {
	let at = await place(page, 2, 0.2);

	await page.mouse.move(at.x, at.y);
	await says(page, tools, ['main', '/usr/bin/shop', '70 samples, 70.0% of all', '10 on top'], 'hovering shows the details');
	await page.mouse.click(at.x, at.y);
	tools.check(/all.*shop.*main/s.test(await until(() => crumbs(page), (got) => got.includes('main'))),
		'a click zooms', await crumbs(page));
	tools.check(/#.*zoom=\d/.test(page.url()), 'the address has it', page.url());
	at = await place(page, 3, 0.5);
	await page.mouse.move(at.x, at.y);
	await says(page, tools, ['sell', '60 samples', '85.7% of what is shown'], 'its callees have the width');
	await page.goBack();
	tools.check(await until(() => crumbs(page), (got) => got === 'all') === 'all', 'the back button takes it back');
	await page.goForward();
	tools.check((await until(() => crumbs(page), (got) => got.includes('main'))).includes('main'), 'and forward again');
	const address = page.url();
	await page.reload();
	tools.check(page.url() === address && (await until(() => crumbs(page), (got) => got.includes('main'))).includes('main'),
		'a link leads there');
	await page.getByRole('button', { name: 'Show all' }).click();
	tools.check(await until(() => crumbs(page), (got) => got === 'all') === 'all', 'Show all');
	await page.mouse.move(1, 1);
	await says(page, tools, ['all', '100 samples'], 'without the mouse, of the frame with the focus');
}

async function keys(page, tools) {
	const active = () => page.evaluate(() => document.getElementById(document.activeElement
		.getAttribute('aria-activedescendant')).textContent);

	await graphOf(page).focus();
	tools.check((await active()).startsWith('all, 100 samples'), 'the focus begins at the root', await active());
	await page.keyboard.press('ArrowUp');
	tools.check((await active()).startsWith('shop, 75 samples'), 'up is to the heaviest callee', await active());
	await page.keyboard.press('ArrowRight');
	tools.check((await active()).startsWith('till, 25 samples'), 'right is the next frame', await active());
	await page.keyboard.press('ArrowLeft');
	await page.keyboard.press('ArrowUp');
	await page.keyboard.press('ArrowUp');
	tools.check((await active()).startsWith('sell, 60 samples'), 'and on', await active());
	await page.keyboard.press('Enter');
	tools.check((await until(() => crumbs(page), (got) => got.includes('sell'))).includes('sell'), 'Enter zooms');
	await page.keyboard.press('Escape');
	tools.check(/main$/.test(await until(() => crumbs(page), (got) => /main$/.test(got))), 'Escape zooms out', await crumbs(page));
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('Home');
	await page.getByRole('button', { name: 'Show all' }).click();
	await page.getByRole('button', { name: 'Icicle' }).click();
	await graphOf(page).focus();
	await page.keyboard.press('Home');
	await page.keyboard.press('ArrowDown');
	tools.check((await active()).startsWith('shop, 75 samples'), 'in an icicle, down is to the callee', await active());
	const at = await place(page, 2, 0.2);
	await page.mouse.move(at.x, at.y);
	await says(page, tools, ['main', '70 samples'], 'an icicle has the root on top');
	await page.getByRole('button', { name: 'Flame' }).click();
	await page.keyboard.press('/');
	tools.check(await page.evaluate(() => document.activeElement.type === 'search'), '/ goes to the search');
}

async function search(page, tools) {
	const box = page.getByRole('searchbox');
	const matched = (word) => until(() => page.locator('#matched').innerText(), (got) => got.includes(word));
	const finds = async (pattern, words) => {
		await box.fill(pattern);
		const text = await matched(words);
		tools.check(text.includes(words), 'search for ' + pattern, { text, words });
	};

	await finds('memcpy', '65.0% matched: 65 samples');
	await finds('^pay$', '25.0% matched: 25 samples');
	await finds('close', '5.0% matched: 5 samples');
	await finds('Close|sys_', '25.0% matched: 25 samples');
	await finds('nowhere', '0% matched');
	await finds('(', 'This is not a pattern');
	tools.same(await box.getAttribute('aria-invalid'), 'true', 'a wrong pattern is marked');
	await finds('sell', '60.0% matched: 60 samples');
	await box.press('Enter');
	await says(page, tools, ['sell', '60 samples'], 'Enter goes to what was found');
	const picture = () => page.evaluate(() => document.querySelector('canvas.frames').toDataURL());
	const before = await picture();
	await box.fill('');
	const after = await until(picture, (got) => got !== before);
	tools.check(before !== after, 'what is found has its own colour');
	await page.getByRole('button', { name: 'code without a row' }).click();
	tools.check((await matched('5 samples')).includes('5.0% matched: 5 samples'), 'a reason marks its stacks');
	await page.getByRole('button', { name: 'count(std::vector' }).click();
	tools.check((await matched('40 samples')).includes('40.0% matched'), 'a row of the table marks its function');
	// sys_read is further left, and has 20 samples.
	const top = await graphOf(page).evaluate((graph) => graph.getBoundingClientRect().top);
	await box.fill('sys_read|^pay$');
	await matched('45 samples');
	await page.getByRole('button', { name: 'Next' }).click();
	await says(page, tools, ['pay', '22 samples'], 'Next begins with the widest');
	tools.same(await graphOf(page).evaluate((graph) => graph.getBoundingClientRect().top), top, 'a search moves nothing');
	await box.fill('');
	await matched('');
}

// What boxes say that have no room for a whole name.
async function labels(page, tools) {
	const draw = fs.readFileSync(path.join(__dirname, '../../profile/output/page/flame_draw.js'), 'utf8');

	for (const [name, letters, wanted] of [['std::vector<int>::push_back(int const&)', 9, 'push_back'],
		['std::vector<int>::push_back(int const&)', 30, 'std::vector::push_back'],
		['Result<A> v8::(anonymous namespace)::Parser::run<false>(char, int) const', 12, 'Parser::run'],
		['main.(*server).run', 10, 'main..run'], ['operator new(unsigned long)', 9, 'operator\u2026'], ['main', 4, 'main']])
		tools.same(vm.runInNewContext(draw + '; drawLabel(name, letters)', { name, letters }), wanted, wanted + ' of ' + name);
	const full = await page.locator('canvas.frames').evaluate((canvas) =>
		canvas.closest('.graph').offsetWidth - canvas.getBoundingClientRect().width);
	tools.same(full, 2, 'the root has all the width between the borders');
}

async function threads(page, tools) {
	const choose = page.getByLabel('Threads');
	const options = await choose.locator('option').allInnerTexts();

	tools.same(options, ['all programs (100)', 'shop (75)', 'till (25)', 'shop, thread 10 (75)',
		'till, thread 11 of 10 (25)'], 'the threads');
	await choose.selectOption({ label: 'till (25)' });
	await says(page, tools, ['25 samples'], 'one program');
	const rows = async () => (await page.getByRole('table', { name: 'functions' }).locator('tbody tr').allInnerTexts())
		.map((text) => text.replace(/\s+/g, ' '));
	const got = await until(rows, (all) => all.length === 4);
	tools.check(got.length === 4 && got[0].includes('20 80.0%') && got[0].includes('memcpy') && got[1].startsWith('5 20.0%')
		&& got[1].includes('Close'), 'the table has its functions, by samples on top', got);
	await page.getByRole('button', { name: 'Total' }).click();
	const sorted = await until(rows, (all) => all[0].includes('pay'));
	tools.check(sorted[0].startsWith('0 0% 25 100%') && sorted[0].includes('pay'),
		'or in the stack, where one that calls itself counts once', sorted);
	await choose.selectOption({ label: 'all programs (100)' });
	await says(page, tools, ['100 samples'], 'all again');
}

async function looks(tools) {
	const backs = [];

	for (const [colorScheme, width] of [['light', 1280], ['dark', 1280], ['light', 360], ['dark', 768]]) {
		const page = await tools.open('shop', { colorScheme, viewport: { width, height: 800 } });
		backs.push(await page.evaluate(() => getComputedStyle(document.body).backgroundColor));
		tools.check(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'it fits ' + width
			+ ' pixels');
		await page.emulateMedia({ colorScheme: colorScheme === 'light' ? 'dark' : 'light' });
		backs.push(await page.evaluate(() => getComputedStyle(document.body).backgroundColor));
		await tools.close(page, colorScheme + ' ' + width);
	}
	tools.check(backs[0] === backs[3] && backs[1] === backs[2] && backs[0] !== backs[1], 'light and dark, as the system is',
		backs);
}

async function hostile(tools) {
	const page = await tools.open('hostile');
	const text = await page.locator('body').innerText();

	tools.check(text.includes('<img src=x onerror=alert(1)>') && await page.locator('img, b').count() === 0,
		'names stay text', text.slice(0, 300));
	tools.check(!/[\u202e\u2066]/.test(text), 'no name changes the direction of others');
	for (const hash of ['#zoom=99999', '#zoom=-1', '#threads=__proto__', '#view=x&theme=y', '#%', '#search=(']) {
		await page.evaluate((to) => { location.hash = to; }, hash);
		tools.check((await until(() => line(page), (got) => got.includes('6 samples'))).includes('6 samples'),
			'an address of nothing shows all: ' + hash);
	}
	await tools.close(page, 'hostile names');
}

// 100,000 stacks: each step of a reader is done within a moment. The processor time of the page counts, because
// other tests run beside.
async function many(tools) {
	const page = await tools.open('shop');
	const session = await page.context().newCDPSession(page);

	await session.send('Performance.enable', { timeDomain: 'threadTicks' });
	const spent = async () => (await session.send('Performance.getMetrics')).metrics
		.find((one) => one.name === 'TaskDuration').value * 1000;
	const took = {};
	const step = async (name, act) => {
		const before = await spent();
		await act();
		took[name] = Math.round(await spent() - before);
	};
	page.removeAllListeners('request');
	await step('ready', async () => {
		await page.goto(page.url().replace('shop.html', 'many.html'));
		await page.waitForFunction(() => document.documentElement.dataset.ready === 'yes'
			&& document.querySelectorAll('tbody tr').length);
	});
	const box = await graphOf(page).boundingBox();
	await step('hover', async () => {
		for (let i = 1; i <= 20; i++) await page.mouse.move(box.x + box.width * i / 25, box.y + box.height - 50);
	});
	await step('search', async () => {
		await page.getByRole('searchbox').fill('function_1[0-9]');
		await until(() => page.locator('#matched').innerText(), (text) => text.includes('matched'));
	});
	await step('zoom', async () => {
		await page.mouse.click(box.x + box.width * 0.3, box.y + box.height - 50);
		await until(() => crumbs(page), (text) => text !== 'all');
	});
	await step('scroll', async () => {
		for (let i = 0; i < 10; i++) await page.mouse.wheel(0, -60);
		await page.waitForTimeout(300);
	});
	console.log('# milliseconds of processor time: ' + JSON.stringify(took));
	tools.check(took.ready < 6000, '100,000 stacks are there within seconds', took);
	tools.check(took.hover < 2000 && took.search < 2000 && took.zoom < 2000 && took.scroll < 2000,
		'each step takes a moment', took);
	await tools.close(page, '100,000 stacks');
}

async function deep(tools) {
	const page = await tools.open('deep');

	await graphOf(page).focus();
	for (let i = 0; i < 60; i++) await page.keyboard.press('ArrowUp');
	tools.same(await page.evaluate(() => document.getElementById(document.activeElement
		.getAttribute('aria-activedescendant')).getAttribute('aria-level')), '61', '3,000 frames deep: the keys get there');
	tools.check(await graphOf(page).evaluate((box) => box.scrollHeight > 3000 && box.scrollTop > 0), 'and it scrolls');
	await tools.close(page, '3,000 frames deep');
}

module.exports = async (tools) => {
	const page = await tools.open('shop');

	await head(page, tools);
	await mouse(page, tools);
	await keys(page, tools);
	await search(page, tools);
	await labels(page, tools);
	await threads(page, tools);
	await tools.close(page, 'a small recording');
	await looks(tools);
	await hostile(tools);
	await many(tools);
	await deep(tools);
};
