// SPDX-License-Identifier: MIT
// browser.cjs CHROMIUM DIRECTORY CHECKS.cjs...: runs the checks of each file on the pages in DIRECTORY. TAP.
'use strict';
const { chromium } = require('playwright-core');

const [, , program, directory, ...subjects] = process.argv;
let count = 0, failed = 0;
// Milliseconds until what does not come is missing: a machine may have much else to do.
const patience = 300000;

// One line of TAP; why is shown when it is not so.
function check(ok, name, why) {
	count += 1;
	console.log((ok ? 'ok ' : 'not ok ') + count + ' - ' + name);
	if (ok) return;
	failed += 1;
	const text = typeof why === 'string' ? why : JSON.stringify(why, null, 1) || '';
	for (const line of text.split('\n').slice(0, 30)) console.log('# ' + line);
}

function same(got, wanted, name) {
	check(JSON.stringify(got) === JSON.stringify(wanted), name, { got, wanted });
}

// Opens a page. What it says, and what it asks the network for, is collected in page.wrong.
async function open(browser, name, options = {}) {
	const { hash = '', ...context } = options;
	const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 }, ...context }))
		.newPage();

	page.setDefaultTimeout(patience);
	const address = 'file://' + directory + '/' + name + '.html';

	page.wrong = [];
	page.on('console', (message) => page.wrong.push('console: ' + message.text()));
	page.on('pageerror', (error) => page.wrong.push('error: ' + error.message));
	page.on('request', (request) => {
		if (request.url().split('#')[0] !== address) page.wrong.push('request: ' + request.url());
	});
	await page.goto(address + hash);
	return page;
}

async function close(page, name) {
	check(page.wrong.length === 0, name + ': no message, no error, no request', page.wrong);
	await page.context().close();
}

async function main() {
	// Containers have no user namespaces for the sandbox. The pages are our own.
	const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'], timeout: patience });
	const tools = { browser, check, same, close, open: (...rest) => open(browser, ...rest) };

	try {
		for (const subject of subjects) await require(subject)(tools);
	} finally {
		await browser.close();
	}
	console.log('1..' + count);
	process.exitCode = failed ? 1 : 0;
}

main().catch((error) => {
	console.log('Bail out! ' + error.stack.replace(/\n/g, ' '));
	process.exitCode = 1;
});
