// SPDX-License-Identifier: MIT
// The page as a whole. What it shows stands in the address, so links and the back button work.

const main = { report: null, graph: null, view: null, tree: null, trees: new Map(), names: [], place: -1 };

function mainNameOf(name) {
	return name < 0 ? 'all' : main.names[name];
}

function mainDark() {
	const theme = main.state.theme;

	return theme ? theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

// The address: "#zoom=5&threads=comm&view=icicle&theme=dark&search=x".
function mainReadAddress() {
	const parts = new URLSearchParams(location.hash.slice(1));
	const text = (name) => parts.get(name) || '';
	const threads = text('threads');

	return { zoom: /^\d{1,9}$/.test(text('zoom')) ? Number(text('zoom')) : 0, search: text('search'),
		threads: main.choices.some((choice) => choice.value === threads) ? threads : '',
		icicle: text('view') === 'icicle', theme: ['dark', 'light'].includes(text('theme')) ? text('theme') : '' };
}

// step: as a step of its own, which the back button takes back.
function mainGo(change, step) {
	const state = { ...main.state, ...change };
	const parts = new URLSearchParams();

	if (state.zoom) parts.set('zoom', state.zoom);
	if (state.threads) parts.set('threads', state.threads);
	if (state.icicle) parts.set('view', 'icicle');
	if (state.theme) parts.set('theme', state.theme);
	if (state.search) parts.set('search', state.search);
	history[step ? 'pushState' : 'replaceState'](null, '', '#' + parts);
	mainApply(state);
}

// All threads, those of one name, and each thread, heaviest first.
function mainChoices(report) {
	const comms = new Map();
	const weight = ({ nodes, self }) => {
		let sum = self;
		for (let i = 2; i < nodes.length; i += 3) sum += nodes[i];
		return sum;
	};
	const threads = report.threads.map((thread, i) => ({ value: 't' + i, threads: [thread], samples: weight(thread),
		label: thread.comm + ', thread ' + thread.tid + (thread.tid === thread.pid ? '' : ' of ' + thread.pid) }));

	for (const one of threads) {
		const { comm } = one.threads[0];
		if (!comms.has(comm)) comms.set(comm, { value: 'c' + comms.size, label: comm, threads: [], samples: 0 });
		comms.get(comm).threads.push(one.threads[0]);
		comms.get(comm).samples += one.samples;
	}
	const heaviest = (a, b) => b.samples - a.samples;
	const many = [...comms.values()].sort(heaviest);
	// A list of thousands is of no use.
	return [{ value: '', label: 'all programs', threads: report.threads, samples: report.total },
		...many.slice(0, 300), ...(threads.length > 1 ? threads.sort(heaviest).slice(0, 300) : [])];
}

function mainTree(value) {
	if (!main.trees.has(value)) {
		const choice = main.choices.find((one) => one.value === value);
		// Trees take memory: keep the whole one and one more.
		for (const key of main.trees.keys()) if (key) main.trees.delete(key);
		main.trees.set(value, treeBuild(choice.threads, main.commIds));
	}
	return main.trees.get(value);
}

function mainSearch(text) {
	const box = main.search;
	let pattern = null, wrong = '';

	try {
		// A pattern without capitals finds both.
		if (text) pattern = new RegExp(text, /[A-Z]/.test(text.replace(/\\./g, '')) ? '' : 'i');
	} catch (error) {
		wrong = 'This is not a pattern: ' + error.message;
	}
	box.setAttribute('aria-invalid', String(wrong !== ''));
	main.wrong = wrong;
	return pattern ? Uint8Array.from(main.names, (name) => (pattern.test(name) ? 1 : 0)) : null;
}

function mainSayFound() {
	const { view, tree } = main;

	main.found = view.matches ? treeMatch(tree, view.zoom, view.matches) : null;
	main.place = -1;
	main.matched.textContent = main.wrong || (main.found ? dataPercent(main.found.samples, tree.total[view.zoom])
		+ ' matched: ' + dataSamples(main.found.samples) : '');
	for (const button of main.steps) button.disabled = !main.found || !main.found.found.length;
}

function mainNextFound(step) {
	const { found } = main.found;

	main.place = main.place < 0 ? (step > 0 ? 0 : found.length - 1) : (main.place + step + found.length) % found.length;
	main.view.focus = found[main.place];
	graphInSight(main.graph, main.callbacks);
	main.graph.box.focus({ preventScroll: true });
}

// What is known of a frame, as words.
function mainWords(node) {
	const { tree, view, report } = main;
	const name = tree.name[node], total = tree.total[node];
	const parts = [dataSamples(total), dataPercent(total, tree.total[0]) + ' of all'];

	if (view.zoom) parts.push(dataPercent(total, tree.total[view.zoom]) + ' of what is shown');
	if (node && tree.depth[node] > 1) parts.push(dataPercent(total, tree.total[tree.parent[node]]) + ' of the caller');
	if (tree.self[node]) parts.push(dataNumber(tree.self[node]) + ' on top of the stack');
	const file = name >= 0 && name < report.names.length ? report.files[report.fileOf[name]] : null;
	return { name: mainNameOf(name), file: file ? file.path : '', figures: parts.join(', ') };
}

function mainTell(node) {
	const words = mainWords(node);

	main.line.replaceChildren(dom('strong', { class: 'name' }, words.name), ' ',
		words.file ? dom('span', { class: 'faint' }, words.file) : '', dom('br', {}), words.figures);
	return words.name + ', ' + words.figures + (words.file ? ', ' + words.file : '');
}

function mainTip(node, event) {
	const { tip } = main;

	tip.hidden = node < 0;
	if (node < 0) return;
	const words = mainWords(node);
	tip.replaceChildren(dom('strong', {}, words.name.length > 600 ? words.name.slice(0, 600) + '\u2026' : words.name),
		dom('br', {}), words.figures);
	const width = tip.offsetWidth, height = tip.offsetHeight;
	const below = event.clientY + 18 + height < innerHeight;
	tip.style.left = Math.max(4, Math.min(event.clientX + 12, innerWidth - width - 8)) + 'px';
	tip.style.top = (below ? event.clientY + 18 : Math.max(4, event.clientY - height - 10)) + 'px';
}

function mainCrumbs() {
	const { tree, view } = main;
	const path = [];

	for (let at = view.zoom; at >= 0; at = tree.parent[at]) path.unshift(at);
	// Of a deep stack only the ends.
	const shown = path.length > 7 ? [path[0], -1, ...path.slice(-5)] : path;
	main.crumbs.replaceChildren(...shown.flatMap((node, i) => {
		const text = node < 0 ? '\u2026' : mainNameOf(tree.name[node]);
		const short = text.length > 60 ? drawShort(text).slice(0, 60) + '\u2026' : text;
		const last = node === view.zoom;
		const item = node < 0 ? text : last ? dom('span', { 'aria-current': 'true' }, short)
			: domButton(short, () => mainGo({ zoom: node }, true), { class: 'link' });
		return [i ? dom('span', { class: 'faint', 'aria-hidden': 'true' }, ' \u203a ') : '', item];
	}));
	main.reset.disabled = !view.zoom;
}

function mainPaintColours() {
	const dark = mainDark();
	const { report, view } = main;

	document.documentElement.dataset.theme = dark ? 'dark' : 'light';
	view.look = graphLook(dark);
	if (main.dark === dark) return;
	main.dark = dark;
	main.colours = colourNames(report, main.files, main.names, dark);
	main.legend.replaceChildren(partsColours(main.files, (file) => colourShade(file, 0.5, dark), (file) => {
		const names = report.names.filter((_, i) => report.fileOf[i] === file.index);
		main.fileMarked = file;
		mainGo({ search: '' }, false);
		main.view.matches = Uint8Array.from(main.names, (_, i) => (i < report.names.length
			&& report.fileOf[i] === file.index ? 1 : 0));
		mainSayFound();
		main.matched.textContent += names.length ? ' of ' + file.name : '';
		graphPaint(main.graph);
	}));
}

function mainApply(state) {
	const before = main.state;
	const first = !main.view;

	main.state = state;
	main.tree = mainTree(state.threads);
	if (state.zoom >= main.tree.n || (before && before.threads !== state.threads && before.zoom === state.zoom))
		state.zoom = 0;
	main.view = { tree: main.tree, zoom: state.zoom, focus: state.zoom, icicle: state.icicle, nameOf: mainNameOf,
		incomplete: main.incomplete, matches: mainSearch(state.search) };
	mainPaintColours();
	main.view.colours = main.colours;
	main.threads.value = state.threads;
	main.theme.value = state.theme;
	if (main.search.value !== state.search) main.search.value = state.search;
	for (const [icicle, button] of main.ways) button.setAttribute('aria-pressed', String(icicle === state.icicle));
	const stay = !first && before.zoom === state.zoom && before.threads === state.threads
		&& before.icicle === state.icicle;
	graphShow(main.graph, main.view, stay);
	mainCrumbs();
	mainSayFound();
	mainTell(state.zoom);
	// The graph is seen first.
	if (!stay) setTimeout(mainTable);
}

function mainTable() {
	const { tree, state } = main;

	tableShow(main.table, treeFunctions(tree, state.zoom, main.names.length), tree.total[state.zoom]);
}

function mainEscape(text) {
	return '^' + text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&') + '$';
}

function mainTools() {
	const pick = (text) => {
		mainGo({ search: mainEscape(text) }, false);
		main.graph.box.scrollIntoView({ block: 'nearest' });
	};
	let soon = 0;

	main.search = dom('input', { type: 'search', spellcheck: 'false', autocomplete: 'off',
		placeholder: 'a regular expression', 'aria-describedby': 'matched', on: { input: () => {
			clearTimeout(soon);
			soon = setTimeout(() => mainGo({ search: main.search.value }, false), 120);
		}, keydown: (event) => {
			if (event.key === 'Enter' && main.found && main.found.found.length) mainNextFound(event.shiftKey ? -1 : 1);
		} } });
	main.matched = dom('output', { id: 'matched' });
	main.steps = [domButton('Previous', () => mainNextFound(-1)), domButton('Next', () => mainNextFound(1))];
	main.threads = dom('select', { on: { change: () => mainGo({ threads: main.threads.value, zoom: 0 }, true) } },
		main.choices.map((choice) => dom('option', { value: choice.value },
			choice.label + ' (' + dataNumber(choice.samples) + ')')));
	main.theme = dom('select', { 'aria-label': 'Light or dark', on: { change: () => mainGo({ theme: main.theme.value },
		false) } }, [['', 'as the system'], ['light', 'light'], ['dark', 'dark']].map(([value, text]) => dom('option',
		{ value }, text)));
	main.ways = [[false, domButton('Flame', () => mainGo({ icicle: false }, false), { title: 'Callers below' })],
		[true, domButton('Icicle', () => mainGo({ icicle: true }, false), { title: 'Callers on top' })]];
	main.reset = domButton('Show all', () => mainGo({ zoom: 0 }, true));
	main.crumbs = dom('nav', { class: 'crumbs', 'aria-label': 'Callers of what is shown' });
	main.line = dom('p', { class: 'line' });
	main.tip = dom('div', { class: 'tip', hidden: true, 'aria-hidden': 'true' });
	main.legend = dom('div', {});
	main.table = tableNew(main.report, pick);
	return { pick, tools: dom('div', { class: 'tools' }, domField('Search', main.search),
		dom('div', { class: 'buttons', role: 'group', 'aria-label': 'Found frames' }, main.steps),
		main.matched, domField('Threads', main.threads),
		dom('div', { class: 'buttons', role: 'group', 'aria-label': 'Direction' }, main.ways.map((way) => way[1]))) };
}

function mainBuild() {
	const { report } = main;
	const { pick, tools } = mainTools();

	main.callbacks = { zoom: (node) => mainGo({ zoom: node }, true), focus: mainTell, hover: (node, event) => {
		mainTell(node < 0 ? main.view.focus : node);
		mainTip(node, event);
	} };
	main.graph = graphNew(main.callbacks);
	document.getElementById('theme').append(main.theme);
	document.getElementById('what').textContent = dataText(report.command);
	document.getElementById('foot').textContent = 'eh2sframe-fold ' + report.version;
	document.getElementById('page').replaceChildren(dom('article', {},
		dom('section', { class: 'head' }, partsFacts(report), partsEnds(report, pick)),
		dom('section', { 'aria-label': 'Stacks' }, tools,
			dom('div', { class: 'maphead' }, main.crumbs, main.reset), main.graph.box, main.line, main.legend,
			dom('details', { class: 'help' }, dom('summary', {}, 'How to read and use it'), dom('p', {},
				'Each box is a function. The box beside it towards the edge is its caller. Its width is its share of '
				+ 'the samples, not of time in order. Grey boxes without a name are several that are too narrow.'),
			dom('p', { id: 'graph-help' }, 'A click shows a frame at full width. ' + graphHelp
				+ ' / goes to the search, Enter there to the next found frame, Shift and Enter to the one before.'))),
		main.table.element), main.tip);
	addEventListener('keydown', (event) => {
		if (event.key !== '/' || event.ctrlKey || event.metaKey || event.target.closest('input, select')) return;
		event.preventDefault();
		main.search.focus();
	});
	addEventListener('popstate', () => mainApply(mainReadAddress()));
	addEventListener('hashchange', () => mainApply(mainReadAddress()));
	matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => mainApply({ ...main.state }));
}

function mainStart() {
	const page = document.getElementById('page');

	try {
		main.report = dataRead(document.getElementById('profile').textContent);
	} catch (error) {
		page.replaceChildren(dom('p', { class: 'notice bad' }, 'The profile in this page is damaged: ' + error.message));
		return;
	}
	const { report } = main;
	const comms = [...new Set(report.threads.map((thread) => thread.comm))];
	main.commIds = new Map(comms.map((comm, i) => [comm, report.names.length + i]));
	main.names = report.names.concat(comms);
	main.incomplete = Uint8Array.from(main.names, (_, i) => (i < report.names.length
		&& report.files[report.fileOf[i]].kind === 'incomplete' ? 1 : 0));
	main.files = colourFiles(report);
	main.choices = mainChoices(report);
	document.title = 'Flame graph' + (report.command ? ' of ' + dataText(report.command).slice(0, 120) : '');
	if (!report.samples) {
		document.documentElement.dataset.theme = 'light';
		page.replaceChildren(dom('p', { class: 'notice' }, 'The recording has no samples.'));
		return;
	}
	mainBuild();
	mainApply(mainReadAddress());
	performance.mark('ready');
	document.documentElement.dataset.ready = 'yes';
}

mainStart();
