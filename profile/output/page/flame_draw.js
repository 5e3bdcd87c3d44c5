// SPDX-License-Identifier: MIT
// Draws what is in sight on a canvas, and tells what is at a place of it.

const drawRow = 20;
// Narrower frames are drawn as one.
const drawLeast = 1;
const drawFont = '12px ui-monospace, "SF Mono", Consolas, "DejaVu Sans Mono", monospace';

// The name without parameters, template arguments and return type, for frames that have no room for all.
function drawShort(name) {
	let depth = 0, out = '', end = -1;

	if (!/[<(]/.test(name) || /operator/.test(name) || name.startsWith('[')) return name;
	for (const char of name) {
		if (char === '(' && !depth) end = out.length;
		// The name goes on: "main.(*server).run", "(anonymous namespace)::run".
		else if (!depth && out.length === end && char !== ' ') end = -1;
		if (char === '<' || char === '(') depth += 1;
		if (!depth) out += char;
		if ((char === '>' || char === ')') && depth) depth -= 1;
	}
	// Only a function with parameters can have its type in front.
	if (end > 0) out = out.slice(out.lastIndexOf(' ', end - 1) + 1, end);
	return out.trim() || name;
}

// What fits, or nothing. The end of a name tells more than its namespaces.
function drawLabel(name, letters) {
	if (name.length <= letters) return name;
	if (letters < 3) return '';
	let short = drawShort(name);
	while (short.length > letters && short.includes('::')) short = short.slice(short.indexOf('::') + 2);
	return short.length <= letters ? short : short.slice(0, letters - 1) + '\u2026';
}

// Calls node(i, x, width) and narrow(caller, x, width, depth) for all that is wide enough.
function drawWalk(tree, zoom, width, node, narrow) {
	const scale = width / tree.total[zoom], from = tree.start[zoom];
	const end = tree.end[zoom];

	for (let at = zoom; at >= 0; at = tree.parent[at]) node(at, 0, width);
	for (let i = zoom + 1; i < end;) {
		const across = tree.total[i] * scale;
		const x = (tree.start[i] - from) * scale;
		if (across >= drawLeast) {
			node(i, x, across);
			i += 1;
			continue;
		}
		// Those beside it are not wider.
		const parent = tree.parent[i];
		narrow(parent, x, (tree.start[parent] + tree.total[parent] - tree.self[parent] - from) * scale - x,
			tree.depth[i]);
		i = tree.end[parent];
	}
}

function drawDeepest(tree, zoom, width) {
	let deepest = 0;

	drawWalk(tree, zoom, width, (node) => { deepest = Math.max(deepest, tree.depth[node]); },
		(caller, x, across, depth) => { deepest = Math.max(deepest, depth); });
	return deepest;
}

function drawTop(view, depth) {
	return view.icicle ? depth * drawRow : (view.deepest - depth) * drawRow;
}

// A canvas has pixels of the screen, not of the page.
function drawSize(canvas, width, height) {
	const ratio = devicePixelRatio || 1;
	const pixels = canvas.getContext('2d');

	canvas.width = Math.round(width * ratio);
	canvas.height = Math.round(height * ratio);
	canvas.style.width = width + 'px';
	canvas.style.height = height + 'px';
	pixels.setTransform(ratio, 0, 0, ratio, 0, 0);
	pixels.font = drawFont;
	pixels.textBaseline = 'middle';
	return pixels;
}

function drawHatch(pixels, x, y, width, colour) {
	pixels.save();
	pixels.beginPath();
	pixels.rect(x, y, width, drawRow - 1);
	pixels.clip();
	pixels.beginPath();
	for (let at = x - drawRow; at < x + width; at += 6) {
		pixels.moveTo(at, y + drawRow);
		pixels.lineTo(at + drawRow, y);
	}
	pixels.strokeStyle = colour;
	pixels.lineWidth = 1;
	pixels.stroke();
	pixels.restore();
}

function drawAll(view, pixels, width, height, scroll) {
	const { tree, look } = view;
	const letter = pixels.measureText('0').width;
	const inSight = (y) => y + drawRow > scroll && y < scroll + height;

	pixels.clearRect(0, 0, width, height);
	drawWalk(tree, view.zoom, width, (i, x, across) => {
		const y = drawTop(view, tree.depth[i]);
		if (!inSight(y)) return;
		const name = tree.name[i];
		const above = tree.depth[i] < tree.depth[view.zoom];
		const hit = view.matches && name >= 0 && view.matches[name];
		pixels.globalAlpha = above ? 0.55 : view.matches && !hit ? 0.5 : 1;
		pixels.fillStyle = hit ? look.match : name < 0 ? look.root : view.colours[name];
		pixels.fillRect(x, y - scroll, Math.max(across - (across > 3 ? 1 : 0), 0.6), drawRow - 1);
		if (name >= 0 && view.incomplete[name]) drawHatch(pixels, x, y - scroll, across - 1, look.hatch);
		if (across < 3 * letter + 6) return;
		const label = drawLabel(view.nameOf(name), Math.floor((across - 8) / letter));
		pixels.globalAlpha = 1;
		pixels.fillStyle = hit ? look.matchInk : look.ink;
		pixels.fillText(label, x + 4, y - scroll + drawRow / 2);
	}, (parent, x, across, depth) => {
		const y = drawTop(view, depth);
		if (!inSight(y) || across < 0.3) return;
		pixels.globalAlpha = 1;
		pixels.fillStyle = look.narrow;
		pixels.fillRect(x, y - scroll, across, drawRow - 1);
	});
	pixels.globalAlpha = 1;
}

function drawFrame(view, pixels, width, scroll, node, colour) {
	const { tree, zoom } = view;
	let x = 0, across = width;

	if (node >= zoom && node < tree.end[zoom]) {
		const scale = width / tree.total[zoom];
		x = (tree.start[node] - tree.start[zoom]) * scale;
		across = tree.total[node] * scale;
	}
	pixels.strokeStyle = colour;
	pixels.lineWidth = 2;
	pixels.strokeRect(x + 0.5, drawTop(view, tree.depth[node]) - scroll, Math.max(across - 2, 1.5), drawRow - 1);
}

// The node at a place; -1 where no frame is.
function drawAt(view, width, x, y) {
	const { tree, zoom } = view;
	const row = Math.floor(y / drawRow);
	const depth = view.icicle ? row : view.deepest - row;
	const place = tree.start[zoom] + x / width * tree.total[zoom];
	let at = zoom;

	if (depth < 0 || x < 0 || x > width) return -1;
	if (depth <= tree.depth[zoom]) {
		while (tree.depth[at] > depth) at = tree.parent[at];
		return at;
	}
	while (tree.depth[at] < depth) {
		let child = at + 1;
		const end = tree.end[at];
		while (child < end && tree.start[child] + tree.total[child] <= place) child = tree.end[child];
		if (child >= end) return -1;
		at = child;
	}
	return at;
}
