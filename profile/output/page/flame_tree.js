// SPDX-License-Identifier: MIT
// The tree of the stacks of some threads. Its nodes are numbers, and each column is an array:
// a node stands before its callees, and heavier callees come first.

// The order of the result: a node, then all below it, heavier ones first, up to end. start and total are samples.
function treeBuild({ name, parent }, threads) {
	const own = new Float64Array(name.length);
	for (const { weights } of threads)
		for (let i = 0; i < weights.length; i += 2) own[weights[i]] += weights[i + 1];
	const sum = own.slice();
	// The callees of each node that have samples: the first of them, and the next one of each.
	const first = new Int32Array(name.length), next = new Int32Array(name.length);
	let n = 1;
	for (let i = name.length - 1; i > 0; i--) {
		if (!sum[i]) continue;
		sum[parent[i]] += sum[i];
		next[i] = first[parent[i]];
		first[parent[i]] = i;
		n += 1;
	}
	const tree = { n, deepest: 0, name: new Int32Array(n), parent: new Int32Array(n), depth: new Int32Array(n),
		end: new Int32Array(n), start: new Float64Array(n), total: new Float64Array(n), self: new Float64Array(n) };
	const stack = [0], place = new Int32Array(name.length), used = new Float64Array(n);
	let at = 0;
	tree.parent[0] = -1;
	for (; stack.length; at++) {
		const node = stack.pop(), callees = [];
		place[node] = at;
		tree.name[at] = name[node];
		tree.self[at] = own[node];
		tree.total[at] = sum[node];
		if (at) {
			const caller = place[parent[node]];
			tree.parent[at] = caller;
			tree.depth[at] = tree.depth[caller] + 1;
			tree.start[at] = tree.start[caller] + used[caller];
			used[caller] += sum[node];
		}
		tree.deepest = Math.max(tree.deepest, tree.depth[at]);
		for (let i = first[node]; i; i = next[i]) callees.push(i);
		// The last one is the next.
		for (const one of callees.sort((a, b) => sum[a] - sum[b] || name[b] - name[a])) stack.push(one);
	}
	while (at-- > 0) {
		tree.end[at] = Math.max(tree.end[at], at + 1);
		if (at) tree.end[tree.parent[at]] = Math.max(tree.end[tree.parent[at]], tree.end[at]);
	}
	return tree;
}

// Samples in and below nodes of matched functions, each once. nodes has these, outermost ones alone, the widest first.
function treeMatch(tree, zoom, matches) {
	const nodes = [];
	let samples = 0;

	for (let i = zoom; i < tree.end[zoom];) {
		if (tree.name[i] >= 0 && matches[tree.name[i]]) {
			nodes.push(i);
			samples += tree.total[i];
			i = tree.end[i];
		} else {
			i += 1;
		}
	}
	nodes.sort((a, b) => tree.total[b] - tree.total[a] || a - b);
	return { nodes, samples };
}

// Samples of each function below a node: on top of the stack, and anywhere in it.
function treeFunctions(tree, zoom, count) {
	const self = new Float64Array(count), total = new Float64Array(count);
	const open = new Int32Array(count), path = new Int32Array(tree.deepest + 1);
	const first = tree.depth[zoom];
	let depth = first - 1;

	for (let i = zoom; i < tree.end[zoom]; i++) {
		const name = tree.name[i];
		for (; depth >= tree.depth[i]; depth--) if (path[depth] >= 0) open[path[depth]] -= 1;
		path[++depth] = name;
		if (name < 0) continue;
		self[name] += tree.self[i];
		// A function that calls itself counts once.
		if (!open[name]) total[name] += tree.total[i];
		open[name] += 1;
	}
	return { self, total };
}
