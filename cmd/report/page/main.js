// SPDX-License-Identifier: MIT
// Which view the address names: "#" is all files, "#file=N" one of them, and "&at=M" a mark
// in its map. So links, the back button and bookmarks work.

const mainState = { report: null, title: 'SFrame coverage', overview: null, scroll: 0, file: null, index: -1 };

function mainHash() {
	const parts = new URLSearchParams(location.hash.slice(1));
	const number = (name) => (/^\d{1,9}$/.test(parts.get(name) || '') ? Number(parts.get(name)) : -1);

	return { file: number('file'), at: number('at') };
}

function mainNavigation(file) {
	const nav = document.getElementById('nav');
	const files = mainState.report.files;

	nav.replaceChildren();
	if (files.length < 2) return;
	nav.append(dom('a', { href: '#', 'aria-current': file ? false : 'page' }, 'All files'));
	if (file) nav.append(dom('span', { class: 'faint', 'aria-current': 'page' }, ' \u203a ', file.base));
}

function mainShowOverview() {
	const page = document.getElementById('page');

	if (!mainState.overview) mainState.overview = overviewView(mainState.report);
	mainNavigation(null);
	document.title = mainState.title;
	page.replaceChildren(mainState.overview);
	mainState.index = -1;
	scrollTo(0, mainState.scroll);
}

function mainShowFile(file, at) {
	const page = document.getElementById('page');

	if (mainState.index !== file.index) {
		mainState.file = fileView(file);
		mainState.index = file.index;
		mainNavigation(file);
		document.title = file.base.slice(0, 200) + ' \u2013 ' + mainState.title;
		page.replaceChildren(mainState.file.element);
		scrollTo(0, 0);
		page.focus({ preventScroll: true });
	}
	// The map has no width before it is drawn.
	if (at >= 0) requestAnimationFrame(() => requestAnimationFrame(() => mainState.file.show(at)));
}

function mainRoute() {
	const files = mainState.report.files;
	const { file, at } = mainHash();
	const one = files.length === 1 ? files[0] : files[file];

	if (location.hash === '#page') return;
	if (one) mainShowFile(one, at);
	else mainShowOverview();
}

function mainKeepScroll() {
	addEventListener('scroll', () => {
		if (mainState.index < 0) mainState.scroll = scrollY;
	}, { passive: true });
	// The page places itself, for the view that was left is not there yet.
	history.scrollRestoration = 'manual';
}

function mainStart() {
	const page = document.getElementById('page');

	try {
		mainState.report = dataRead(document.getElementById('report').textContent);
	} catch (error) {
		page.replaceChildren(dom('p', { class: 'notice bad' }, 'The report in this page is damaged: '
			+ error.message));
		return;
	}
	if (mainState.report.files.some(checkHas) && !mainState.report.files.some((file) => file.code.known))
		mainState.title = 'CFI against the code';
	document.querySelector('.brand').textContent = mainState.title;
	document.body.append(domDefinePatterns());
	document.getElementById('foot').textContent = mainState.report.version
		? 'eh2sframe ' + mainState.report.version : 'eh2sframe';
	if (!mainState.report.files.length) {
		page.replaceChildren(dom('p', { class: 'notice' }, 'The report has no files.'));
		return;
	}
	mainKeepScroll();
	addEventListener('hashchange', mainRoute);
	mainRoute();
	performance.mark('ready');
	document.documentElement.dataset.ready = 'yes';
}

mainStart();
