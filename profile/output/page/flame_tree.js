// SPDX-License-Identifier: MIT
// One tree of the stacks of some threads. Its nodes are numbers, and each column is an array:
// a node stands before its callees, and heavier callees come first.

// Nodes as they come: the function, the caller and the samples that end there.
function treeMerge(threads, commIds) {
	const room = threads.reduce((sum, thread) => sum + thread.nodes.length / 3, 0) + threads.length + 1;
	const tree = { name: new Int32Array(room), parent: new Int32Array(room), self: new Float64Array(room), n: 1 };
	// Children by parent and function, in a table with open addresses. A Map would take twice as long.
	const slots = new Int32Array(1 << Math.ceil(Math.log2(2 * room + 2))).fill(-1);
	const mask = slots.length - 1;
	const child = (parent, name) => {
		let at = Math.imul(Math.imul(parent, 0x9e3779b1) ^ name, 0x85ebca6b);
		for (at = (at ^ (at >>> 15)) & mask; slots[at] >= 0; at = (at + 1) & mask) {
			const node = slots[at];
			if (tree.parent[node] === parent && tree.name[node] === name) return node;
		}
		slots[at] = tree.n;
		tree.parent[tree.n] = parent;
		tree.name[tree.n] = name;
		return tree.n++;
	};

	tree.name[0] = -1;
	tree.parent[0] = -1;
	const path = new Int32Array(threads.reduce((most, thread) => Math.max(most, thread.nodes.length), 0) / 3 + 2);
	for (const thread of threads) {
		const { nodes } = thread;
		let depth = 0;
		path[0] = child(0, commIds.get(thread.comm));
		tree.self[path[0]] += thread.self;
		for (let i = 0; i < nodes.length; i += 3) {
			depth += 1 - nodes[i + 1];
			path[depth] = child(path[depth - 1], nodes[i]);
			tree.self[path[depth]] += nodes[i + 2];
		}
	}
	return tree;
}

// The order of the result: a node, then all below it, heavier ones first, up to end. start and total are samples.
function treeBuild(threads, commIds) {
	const from = treeMerge(threads, commIds);
	const { n, name } = from;
	const sum = from.self.slice(0, n);
	// The callees of each node: the first of them, and the next one of each.
	const first = new Int32Array(n), next = new Int32Array(n);
	for (let i = n - 1; i > 0; i--) {
		const parent = from.parent[i];
		sum[parent] += sum[i];
		next[i] = first[parent];
		first[parent] = i;
	}
	const tree = { n, deepest: 0, name: new Int32Array(n), parent: new Int32Array(n), depth: new Int32Array(n),
		end: new Int32Array(n), start: new Float64Array(n), total: new Float64Array(n), self: new Float64Array(n) };
	const stack = [0], place = new Int32Array(n), used = new Float64Array(n);
	let at = 0;
	tree.parent[0] = -1;
	for (; stack.length; at++) {
		const node = stack.pop(), callees = [];
		place[node] = at;
		tree.name[at] = name[node];
		tree.self[at] = from.self[node];
		tree.total[at] = sum[node];
		if (at) {
			const parent = place[from.parent[node]];
			tree.parent[at] = parent;
			tree.depth[at] = tree.depth[parent] + 1;
			tree.start[at] = tree.start[parent] + used[parent];
			used[parent] += sum[node];
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
