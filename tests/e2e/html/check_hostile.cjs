// SPDX-License-Identifier: MIT
// Reports with hostile names, of wrong types, and without anything.
'use strict';

// What no name may add to a page.
async function harmless(page, tools, name) {
	tools.same(await page.evaluate(() => [window.broken === undefined, document.scripts.length,
		document.querySelectorAll('img, iframe, object, embed, form, [onerror], [style]:not(svg *)').length]),
	[true, 2, 0], name + ': nothing ran and no element came of it');
	const text = await page.locator('main').innerText();
	tools.check(!/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(text),
		name + ': no invisible character is shown', text.slice(0, 500));
	return text;
}

async function names(tools) {
	const page = await tools.open('hostile');

	tools.check((await harmless(page, tools, 'hostile names')).includes("</script><script>window.broken = 1</script>"),
		'a hostile name is text');
	for (let file = 0; file < 4; file++) {
		await page.evaluate((to) => { location.hash = '#file=' + to; }, file);
		await page.waitForFunction((to) => document.title.length > 0 && location.hash === '#file=' + to, file);
		const text = await harmless(page, tools, 'file ' + file);
		tools.check(text.length > 20, 'file ' + file + ' has a view', text);
	}
	await page.evaluate(() => { location.hash = '#file=0'; });
	const table = page.getByRole('table', { name: 'refused code' });
	const button = table.getByRole('button', { name: /all 65,538 characters/ }).first();
	const height = () => table.evaluate((element) => element.clientHeight);
	const before = await height();
	await button.click();
	tools.check((await table.innerText()).length > 65000 && await height() > before, 'a name of 64 KiB opens');
	await table.getByRole('button', { name: 'less' }).first().click();
	tools.same(await height(), before, 'and closes');
	tools.same(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true,
		'it does not widen the page');
	const reasons = page.locator('.tabled').filter({ has: table }).getByLabel('Reason');
	await reasons.selectOption('=__proto__');
	tools.same(await table.locator('tbody tr').count(), 1, 'a reason with the name of a member of all objects');
	await tools.close(page, 'hostile names');
}

module.exports = async (tools) => {
	await names(tools);
	const bytes = await tools.open('bytes');
	tools.check((await harmless(bytes, tools, 'bytes that are not UTF-8')).includes('lib??<b>.so'),
		'they are replaced');
	await tools.close(bytes, 'bytes that are not UTF-8');
	const none = await tools.open('none');
	tools.check((await none.locator('main').innerText()).includes('no files'), 'a report without files says so');
	await tools.close(none, 'no files');
	const off = await tools.open('one', { javaScriptEnabled: false });
	tools.check((await off.locator('main').innerText()).includes('does not run it'), 'without scripts it says so');
	await tools.close(off, 'without scripts');
};
