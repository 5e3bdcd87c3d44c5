// SPDX-License-Identifier: MIT
// Colours: a hue for each of the files that have most samples, and a shade for each function.

const colourHues = [22, 205, 140, 48, 330, 175, 88, 235, 358, 118];
// Files behind these share one hue.
const colourRest = { hue: 215, chroma: 10 };
const colourKinds = { kernel: { hue: 268, chroma: 42 }, unknown: { hue: 215, chroma: 6 },
	incomplete: { hue: 8, chroma: 62 }, left: { hue: 215, chroma: 6 }, thread: { hue: 214, chroma: 24 } };

function colourHash(text) {
	let hash = 0x811c9dc5;

	for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
	return hash >>> 0;
}

// Of each file: samples on top of stacks.
function colourWeights(report) {
	const weights = new Float64Array(report.files.length);

	for (const thread of report.threads)
		for (let i = 0; i < thread.weights.length; i += 2)
			weights[report.fileOf[report.name[thread.weights[i]]]] += thread.weights[i + 1];
	return weights;
}

// Files by weight, each with what it is painted in. An own hue: own is true.
function colourFiles(report) {
	const weights = colourWeights(report);
	let hues = 0;

	return report.files.map((file, index) => ({ ...file, index, samples: weights[index] }))
		.sort((a, b) => b.samples - a.samples || a.index - b.index)
		.map((file) => {
			const kind = colourKinds[file.kind];
			if (kind) return { ...file, ...kind, own: true };
			if (hues < colourHues.length) return { ...file, hue: colourHues[hues++], chroma: 58, own: true };
			return { ...file, ...colourRest, own: false };
		});
}

function colourShade({ hue, chroma }, shade, dark) {
	const light = dark ? 27 + 7 * shade : 74 + 9 * shade;

	return `hsl(${hue} ${dark ? Math.round(chroma * 0.75) : chroma}% ${light.toFixed(1)}%)`;
}

// A colour for each name.
function colourNames(report, files, dark) {
	const byIndex = [];

	for (const file of files) byIndex[file.index] = file;
	return report.names.map((name, i) => colourShade(byIndex[report.fileOf[i]], (colourHash(name) % 1000) / 1000, dark));
}
