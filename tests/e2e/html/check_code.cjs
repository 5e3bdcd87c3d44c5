// SPDX-License-Identifier: MIT
// The views of eh2sframe check. The sample is samples.checked(9): each third file has 30 faults, and the next one 60.
'use strict';

const around = (page, name) => page.locator('.tabled').filter({ has: page.getByRole('table', { name, exact: true }) });
const where = (page, name) => around(page, name).locator('.where').innerText();

async function overview(tools) {
	const page = await tools.open('checked');
	const text = await page.locator('main').innerText();

	tools.check((await page.locator('h1').innerText()) === 'The CFI of 9 files against the code'
		&& (await page.title()) === 'CFI against the code', 'its title', text.slice(0, 200));
	// 3 files with 30 faults, 3 with 60.
	for (const words of ['270\ncontradict the code', '18\nunknown', '9\nto review', '4 not looked at'])
		tools.check(text.includes(words), 'the totals have ' + words.replace('\n', ' '), text.slice(0, 800));
	const kinds = page.getByRole('table', { name: 'kinds of faults' });
	tools.check(/^late CFA\s+The row that follows is right here already\.\s+45\s+\d+\s+6$/m.test(
		(await kinds.innerText()).replace(/\n/g, ' ').replace(/ (?=\w+ (?:CFA|frame pointer))/g, '\n')),
	'a kind has its functions and files', await kinds.innerText());
	tools.check((await where(page, 'files')).endsWith('of 10'), 'all files are in the table', await where(page, 'files'));
	const rows = await page.getByRole('table', { name: 'files' }).locator('tbody tr').allInnerTexts();
	tools.check(rows[0].includes('60') && rows[0].includes('failed (4)') && rows.some((row) => row.includes('ends after the file')),
		'the worst is first, and a failure has its message', rows);
	await around(page, 'files').getByLabel('Status').selectOption('=done');
	tools.check((await where(page, 'files')).includes('of 3 found in 10'), 'a filter by status', await where(page, 'files'));
	await page.getByRole('table', { name: 'files' }).getByRole('link').first().click();
	tools.check(/#file=\d$/.test(page.url()) && (await page.locator('main').innerText()).includes('FDEs in doubt'), 'a file opens');
	await tools.close(page, 'an overview of checks');
}

async function file(tools) {
	const page = await tools.open('checked-one');
	const faults = page.getByRole('table', { name: 'faults', exact: true });

	tools.check((await page.locator('.notice').innerText()) === 'The code contradicts the CFI of 30 functions.', 'it says what is wrong');
	tools.check((await where(page, 'faults')).includes('25 of 30'), 'all faults are in the table', await where(page, 'faults'));
	const row = await faults.locator('tbody tr').first().innerText();
	for (const words of ['faulty1_0(int)', '_Z7faulty1_0i', '0x1000', 'late CFA', 'CFA = rsp + 16', 'CFA: CFA + 8', 'CFA = rsp + 8'])
		tools.check(row.includes(words), 'a fault has ' + words, row);
	await around(page, 'faults').getByLabel('Code has').selectOption('=not known');
	tools.check((await where(page, 'faults')).includes('of 15 found in 30'), 'a filter by what can be repaired', await where(page, 'faults'));
	await around(page, 'faults').getByLabel('Fault', { exact: true }).selectOption('=late frame pointer');
	tools.check((await where(page, 'faults')).includes('of 5 found in 30'), 'and by kind', await where(page, 'faults'));
	const doubts = await page.getByRole('table', { name: 'FDEs in doubt' }).innerText();
	tools.check(doubts.includes('0x8000') && doubts.includes('SP at a return is not as at entry'), 'doubts have their reason', doubts);
	await tools.close(page, 'the check of a file');
}

async function hostile(tools) {
	const page = await tools.open('checked', { hash: '#file=9' });

	tools.same(await page.evaluate(() => [window.broken === undefined, document.scripts.length,
		document.querySelectorAll('img, iframe, object, embed, form, [onerror]').length]), [true, 2, 0],
	'hostile names: nothing ran and no element came of it');
	tools.check((await page.locator('main').innerText()).includes('</script><script>window.broken = 1</script>'), 'they are text');
	tools.same(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, 'they do not widen the page');
	await tools.close(page, 'hostile names in a check');
	const mixed = await tools.open('mixed');
	const text = await mixed.locator('main').innerText();
	tools.check(text.includes('SFrame coverage of 2 files') && text.includes('30\ncontradict the code'), 'both kinds of reports', text.slice(0, 500));
	await tools.close(mixed, 'both kinds of reports');
}

module.exports = async (tools) => {
	await overview(tools);
	await file(tools);
	await hostile(tools);
};
