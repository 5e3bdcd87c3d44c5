// SPDX-License-Identifier: MIT
// The page as a whole. What it shows stands in the address, so links and the back button work.

const main = { report: null, graph: null, view: null, state: null, tree: null, found: null, place: -1 };
const mainDark = matchMedia('(prefers-color-scheme: dark)');

function mainNameOf(name) {
	return name < 0 ? 'all' : main.report.names[name];
}

// The address: "#zoom=5&threads=comm&view=icicle&search=x".
function mainReadAddress() {
	const parts = new URLSearchParams(location.hash.slice(1));
	const text = (name) => parts.get(name) || '';
	const threads = text('threads');

	return { zoom: /^\d{1,9}$/.test(text('zoom')) ? Number(text('zoom')) : 0, search: text('search'),
		threads: main.choices.some((choice) => choice.value === threads) ? threads : '', icicle: text('view') === 'icicle' };
}

// step: as a step of its own, which the back button takes back.
function mainGo(change, step) {
	const state = { ...main.state, ...change };
	const parts = new URLSearchParams();

	if (state.zoom) parts.set('zoom', state.zoom);
	if (state.threads) parts.set('threads', state.threads);
	if (state.icicle) parts.set('view', 'icicle');
	if (state.search) parts.set('search', state.search);
	history[step ? 'pushState' : 'replaceState'](null, '', '#' + parts);
	mainApply(state);
}

// All threads, those of one name, and each thread, heaviest first.
function mainChoices(report) {
	const comms = new Map();
	const weight = ({ weights }) => weights.reduce((sum, one, i) => sum + (i % 2 ? one : 0), 0);
	const threads = report.threads.map((thread, i) => ({ value: 't' + i, threads: [thread], samples: weight(thread),
		label: thread.comm + ', thread ' + thread.tid + (thread.tid === thread.pid ? '' : ' of ' + thread.pid) }));

	for (const one of threads) {
		const { comm } = one.threads[0];
		if (!comms.has(comm)) comms.set(comm, { value: 'c' + comms.size, label: comm, threads: [], samples: 0 });
		comms.get(comm).threads.push(one.threads[0]);
		comms.get(comm).samples += one.samples;
	}
	// A list of thousands is of no use.
	const heaviest = (list) => list.sort((a, b) => b.samples - a.samples).slice(0, 300);
	return [{ value: '', label: 'all programs', threads: report.threads, samples: report.total },
		...heaviest([...comms.values()]), ...(threads.length > 1 ? heaviest(threads) : [])];
}

function mainSearch(text) {
	let pattern = null;

	main.wrong = '';
	try {
		// A pattern without capitals finds both.
		if (text) pattern = new RegExp(text, /[A-Z]/.test(text.replace(/\\./g, '')) ? '' : 'i');
	} catch (error) {
		main.wrong = 'This is not a pattern: ' + error.message;
	}
	domBy('search').setAttribute('aria-invalid', String(main.wrong !== ''));
	return pattern ? Uint8Array.from(main.report.names, (name) => (pattern.test(name) ? 1 : 0)) : null;
}

function mainSayFound() {
	const { view, tree } = main;

	main.found = view.matches ? treeMatch(tree, view.zoom, view.matches) : null;
	main.place = -1;
	domBy('matched').textContent = main.wrong || (main.found ? dataPercent(main.found.samples, tree.total[view.zoom])
		+ ' matched: ' + dataSamples(main.found.samples) : '');
	for (const id of ['previous', 'next']) domBy(id).disabled = !main.found || !main.found.nodes.length;
}

function mainNextFound(step) {
	const nodes = main.found ? main.found.nodes : [];

	if (!nodes.length) return;
	main.place = main.place < 0 ? (step > 0 ? 0 : nodes.length - 1) : (main.place + step + nodes.length) % nodes.length;
	main.view.focus = nodes[main.place];
	graphInSight(main.graph);
	main.graph.box.focus({ preventScroll: true });
}

// Says what is known of a frame, and returns it.
function mainTell(node) {
	const { tree, view, report } = main;
	const name = tree.name[node], total = tree.total[node];
	const parts = [dataSamples(total), dataPercent(total, tree.total[0]) + ' of all'];

	if (view.zoom) parts.push(dataPercent(total, tree.total[view.zoom]) + ' of what is shown');
	if (node && tree.depth[node] > 1) parts.push(dataPercent(total, tree.total[tree.parent[node]]) + ' of the caller');
	if (tree.self[node]) parts.push(dataNumber(tree.self[node]) + ' on top of the stack');
	const file = name >= 0 ? report.files[report.fileOf[name]].path : '';
	domBy('line').replaceChildren(dom('strong', { class: 'name' }, mainNameOf(name)), ' ',
		dom('span', { class: 'faint' }, file), dom('br', {}), parts.join(', '));
	return [mainNameOf(name), ...parts, file].filter((part) => part).join(', ');
}

function mainCrumbs() {
	const { tree, view } = main;
	const path = [];

	for (let at = view.zoom; at >= 0; at = tree.parent[at]) path.unshift(at);
	// Of a deep stack only the ends.
	const shown = path.length > 7 ? [path[0], -1, ...path.slice(-5)] : path;
	domBy('crumbs').replaceChildren(...shown.flatMap((node, i) => {
		const text = node < 0 ? '\u2026' : mainNameOf(tree.name[node]);
		const short = text.length > 60 ? drawShort(text).slice(0, 60) + '\u2026' : text;
		const item = node < 0 || node === view.zoom ? short
			: domButton(short, () => mainGo({ zoom: node }, true), { class: 'link' });
		return [i ? dom('span', { class: 'faint', 'aria-hidden': 'true' }, ' \u203a ') : '', item];
	}));
	domBy('reset').disabled = !view.zoom;
}

function mainPaintColours() {
	const dark = mainDark.matches;

	main.view.look = graphLook(dark);
	if (main.dark !== dark) {
		main.dark = dark;
		main.colours = colourNames(main.report, main.files, dark);
		partsColours(main.files, main.report.total, dark);
	}
	main.view.colours = main.colours;
}

function mainApply(state) {
	const before = main.state || {};

	if (before.threads !== state.threads) {
		main.tree = treeBuild(main.report, main.choices.find((one) => one.value === state.threads).threads);
		if (before.zoom === state.zoom) state.zoom = 0;
	}
	if (state.zoom >= main.tree.n) state.zoom = 0;
	main.state = state;
	main.view = { tree: main.tree, zoom: state.zoom, focus: state.zoom, icicle: state.icicle, nameOf: mainNameOf,
		incomplete: main.incomplete, matches: mainSearch(state.search) };
	mainPaintColours();
	domBy('threads').value = state.threads;
	if (domBy('search').value !== state.search) domBy('search').value = state.search;
	domBy('flame').setAttribute('aria-pressed', String(!state.icicle));
	domBy('icicle').setAttribute('aria-pressed', String(state.icicle));
	const stay = before.zoom === state.zoom && before.threads === state.threads && before.icicle === state.icicle;
	graphShow(main.graph, main.view, stay);
	mainCrumbs();
	mainSayFound();
	mainTell(state.zoom);
	// The graph is seen first.
	if (!stay) setTimeout(mainTable);
}

function mainTable() {
	const { tree, state, table } = main;

	table.sums = treeFunctions(tree, state.zoom, main.report.names.length);
	table.whole = tree.total[state.zoom];
	tableDraw(table);
}

// Marks what has this name.
function mainPick(name) {
	mainGo({ search: '^' + name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&') + '$' }, false);
	main.graph.box.scrollIntoView({ block: 'nearest' });
}

function mainListen() {
	const search = domBy('search'), threads = domBy('threads');
	const press = (id, act) => domBy(id).addEventListener('click', act);
	let soon = 0;

	press('previous', () => mainNextFound(-1));
	press('next', () => mainNextFound(1));
	press('flame', () => mainGo({ icicle: false }, false));
	press('icicle', () => mainGo({ icicle: true }, false));
	press('reset', () => mainGo({ zoom: 0 }, true));
	search.addEventListener('input', () => {
		clearTimeout(soon);
		soon = setTimeout(() => mainGo({ search: search.value }, false), 120);
	});
	search.addEventListener('keydown', (event) => {
		if (event.key === 'Enter') mainNextFound(event.shiftKey ? -1 : 1);
	});
	threads.append(...main.choices.map((choice) => dom('option', { value: choice.value },
		choice.label + ' (' + dataNumber(choice.samples) + ')')));
	threads.addEventListener('change', () => mainGo({ threads: threads.value, zoom: 0 }, true));
	addEventListener('keydown', (event) => {
		if (event.key !== '/' || event.ctrlKey || event.metaKey || event.target.closest('input, select')) return;
		event.preventDefault();
		search.focus();
	});
	addEventListener('popstate', () => mainApply(mainReadAddress()));
	mainDark.addEventListener('change', () => mainApply({ ...main.state }));
}

function mainBuild(report) {
	main.report = report;
	main.incomplete = Uint8Array.from(report.fileOf, (file) => (report.files[file].kind === 'incomplete' ? 1 : 0));
	main.files = colourFiles(report);
	main.choices = mainChoices(report);
	main.graph = graphNew({ zoom: (node) => mainGo({ zoom: node }, true), focus: mainTell });
	main.table = tableNew(report, mainPick);
	partsFacts(report);
	partsEnds(report, mainPick);
	mainListen();
	domBy('article').hidden = false;
	mainApply(mainReadAddress());
	performance.mark('ready');
	document.documentElement.dataset.ready = 'yes';
}

function mainStart() {
	let report = { samples: 0 }, notice = 'The recording has no samples.';

	try {
		report = dataRead(domBy('profile').textContent);
	} catch (error) {
		notice = 'The profile in this page is damaged: ' + error.message;
	}
	if (report.samples) {
		domBy('what').textContent = dataText(report.command);
		domBy('foot').textContent = 'eh2sframe-fold ' + report.version;
		document.title = 'Flame graph' + (report.command ? ' of ' + dataText(report.command).slice(0, 120) : '');
		mainBuild(report);
	} else {
		domBy('notice').textContent = notice;
		domBy('notice').hidden = false;
	}
}

mainStart();
