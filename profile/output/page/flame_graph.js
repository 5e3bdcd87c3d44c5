// SPDX-License-Identifier: MIT
// The graph as an element: a part that scrolls, with two canvases that stay in sight. One has the frames,
// the other the marks, which change with every motion of the mouse.

function graphLook(dark) {
	return dark
		? { root: '#2b3440', ink: '#f1f5fa', match: '#e868c8', matchInk: '#160511', narrow: '#39434f',
			hatch: 'rgb(255 160 140 / 55%)', focus: '#9ccdfa', hover: '#ffffff' }
		: { root: '#e6eaef', ink: '#1b2330', match: '#a3127f', matchInk: '#ffffff', narrow: '#dfe4ea',
			hatch: 'rgb(163 52 31 / 45%)', focus: '#0b5cad', hover: '#1b2330' };
}

// callbacks: zoom(node); focus(node) tells of it, and returns its words.
function graphNew(callbacks) {
	const box = domBy('graph');
	const graph = { box, callbacks, frames: domBy('frames'), marks: domBy('marks'), turn: 0, view: null, width: 0, height: 0,
		hover: -1 };

	box.addEventListener('scroll', () => graphPaintSoon(graph), { passive: true });
	box.addEventListener('keydown', (event) => graphKey(graph, event));
	box.addEventListener('focus', () => graphSay(graph));
	box.addEventListener('blur', () => graphMarks(graph));
	box.addEventListener('mousemove', (event) => graphHover(graph, graphUnder(graph, event)));
	box.addEventListener('mouseleave', () => graphHover(graph, -1));
	box.addEventListener('click', (event) => {
		const node = graphUnder(graph, event);
		if (node < 0) return;
		graph.view.focus = node;
		callbacks.zoom(node);
	});
	domWatchWidth(box, (width) => { if (width !== graph.width) graphShow(graph, graph.view); });
	return graph;
}

function graphUnder(graph, event) {
	const place = graph.frames.getBoundingClientRect();

	return drawAt(graph.view, graph.width, event.clientX - place.left,
		event.clientY - place.top + graph.box.scrollTop);
}

function graphHover(graph, node) {
	if (graph.hover === node) return;
	graph.hover = node;
	graph.callbacks.focus(node < 0 ? graph.view.focus : node);
	graphMarks(graph);
}

function graphMarks(graph) {
	const { view, width, box } = graph;
	const pixels = graph.marks.getContext('2d');

	pixels.clearRect(0, 0, width, graph.height);
	if (graph.hover >= 0) drawFrame(view, pixels, width, box.scrollTop, graph.hover, view.look.hover);
	if (document.activeElement === box)
		drawFrame(view, pixels, width, box.scrollTop, view.focus, view.look.focus);
}

function graphPaint(graph) {
	drawAll(graph.view, graph.frames.getContext('2d'), graph.width, graph.height, graph.box.scrollTop);
	graphMarks(graph);
}

function graphPaintSoon(graph) {
	if (graph.waiting) return;
	graph.waiting = true;
	requestAnimationFrame(() => {
		graph.waiting = false;
		graphPaint(graph);
	});
}

// Shows a view; keep: the place stays where it was scrolled to.
function graphShow(graph, view, keep) {
	const { box } = graph;

	graph.view = view;
	graph.hover = -1;
	view.deepest = drawDeepest(view.tree, view.zoom, Math.max(box.offsetWidth, 1));
	const rows = (view.deepest + 1) * drawRow;
	// With the lines below it, it fits the window.
	const room = innerHeight - (box.getBoundingClientRect().top + scrollY) - 84;
	graph.height = Math.min(rows, Math.max(Math.floor(room), Math.floor(innerHeight * 0.5), 6 * drawRow));
	box.style.height = graph.height + 'px';
	// Only a graph that scrolls gives width to a scroll bar.
	box.style.overflowY = rows > graph.height ? 'auto' : 'hidden';
	domBy('space').style.height = rows + 'px';
	domBy('space').style.marginTop = -graph.height + 'px';
	graph.width = box.clientWidth;
	drawSize(graph.frames, graph.width, graph.height);
	drawSize(graph.marks, graph.width, graph.height);
	if (!keep) box.scrollTop = view.icicle ? 0 : rows;
	graphPaint(graph);
}

// The nearest frame of the same depth before or after a node.
function graphBeside(tree, node, step) {
	const depth = tree.depth[node];

	for (let i = node + step; i > 0 && i < tree.n; i += step)
		if (tree.depth[i] === depth) return i;
	return node;
}

function graphStep(view, key) {
	const { tree, focus } = view;
	const inward = view.icicle ? 'ArrowDown' : 'ArrowUp';

	if (key === 'ArrowRight') return graphBeside(tree, focus, 1);
	if (key === 'ArrowLeft') return graphBeside(tree, focus, -1);
	if (key === 'Home') return view.zoom;
	if (key === inward) return focus + 1 < tree.end[focus] ? focus + 1 : focus;
	return Math.max(tree.parent[focus], 0);
}

function graphKey(graph, event) {
	const { view } = graph;

	if (event.ctrlKey || event.altKey || event.metaKey) return;
	if (['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'Home'].includes(event.key)) {
		view.focus = graphStep(view, event.key);
		graphInSight(graph);
	} else if (event.key === 'Enter' || event.key === ' ') {
		graph.callbacks.zoom(view.focus);
	} else if (event.key === 'Escape' || event.key === 'Backspace') {
		graph.callbacks.zoom(Math.max(view.tree.parent[view.zoom], 0));
	} else {
		return;
	}
	event.preventDefault();
}

// Scrolls and zooms so that the frame with the focus is seen.
function graphInSight(graph) {
	const { view, box } = graph;
	const { tree, focus } = view;
	const around = (outer, node) => outer <= node && node < tree.end[outer];

	if (!around(view.zoom, focus) && !around(focus, view.zoom)) {
		let zoom = view.zoom;
		while (zoom > 0 && !around(zoom, focus)) zoom = tree.parent[zoom];
		graph.callbacks.zoom(zoom);
	}
	const y = drawTop(view, tree.depth[focus]);
	if (y < box.scrollTop) box.scrollTop = y;
	if (y + drawRow > box.scrollTop + graph.height) box.scrollTop = y + drawRow - graph.height;
	graphSay(graph);
}

function graphSay(graph) {
	const { view } = graph;
	const item = domBy('frame-' + (graph.turn ^= 1));

	item.setAttribute('aria-level', view.tree.depth[view.focus] + 1);
	item.textContent = graph.callbacks.focus(view.focus);
	graph.box.setAttribute('aria-activedescendant', item.id);
	graphMarks(graph);
}
