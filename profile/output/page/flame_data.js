// SPDX-License-Identifier: MIT
// The profile as the page uses it. Names come from any program, so none is trusted.

// "12.3%"; a part that is not the whole is never shown as 100%, and one that is there never as 0.
function dataPercent(part, whole) {
	if (!whole || part === whole) return whole ? '100%' : '0%';
	const share = 100 * part / whole;
	if (share < 0.01) return part ? '<0.01%' : '0%';
	const digits = share < 1 ? 2 : 1;
	return Math.min(share, 100 - 10 ** -digits).toFixed(digits) + '%';
}

// What is counted: where the weights of samples differ, their unit.
let dataUnit = '';

function dataSamples(count) {
	return dataNumber(count) + (dataUnit ? ' ' + dataUnit : count === 1 ? ' sample' : ' samples');
}

function dataRead(text) {
	const report = JSON.parse(text);

	dataUnit = dataText(report.unit);
	// The function and the caller of each node. Node 0 is above all.
	const n = report.nodes.length / 2 + 1, name = new Int32Array(n).fill(-1), parent = new Int32Array(n), path = [0];
	for (let i = 1, depth = 0; i < n; i++) {
		depth += 1 - report.nodes[2 * i - 1];
		name[i] = report.nodes[2 * i - 2];
		parent[i] = path[depth - 1];
		path[depth] = i;
	}
	return {
		...report, name, parent,
		files: report.files.map((file) => ({ ...file, name: dataText(file.name), path: dataText(file.path) })),
		names: report.functions.name.map(dataText),
		fileOf: Int32Array.from(report.functions.file),
		threads: report.threads.map((thread) => ({ ...thread, comm: dataText(thread.comm) })),
		ends: report.ends.map((end) => ({ ...end, why: dataText(end.why) })),
	};
}
