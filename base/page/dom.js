// SPDX-License-Identifier: MIT
// Texts and elements. All text goes through textContent, so that no name becomes markup.

// Characters that a reader would not see, or that change the order of the others.
const dataInvisible =
	/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

function dataText(value) {
	if (typeof value === 'number') value = String(value);
	return typeof value === 'string' ? value.replace(dataInvisible, '\ufffd') : '';
}

const dataDigits = new Intl.NumberFormat('en-US');

function dataNumber(count) {
	return count === undefined ? '?' : dataDigits.format(count);
}

const domSvgSpace = 'http://www.w3.org/2000/svg';

// Attributes with a value of false or undefined are left out. "on" has the listeners.
function domFill(element, attributes, children) {
	for (const [name, value] of Object.entries(attributes || {})) {
		if (name === 'on') {
			for (const [event, listener] of Object.entries(value))
				element.addEventListener(event, listener);
		} else if (value !== false && value !== undefined && value !== null) {
			element.setAttribute(name, value === true ? '' : String(value));
		}
	}
	for (const child of children.flat(3)) {
		if (child === null || child === undefined || child === false) continue;
		element.append(child instanceof Node ? child : document.createTextNode(String(child)));
	}
	return element;
}

function dom(name, attributes, ...children) {
	return domFill(document.createElement(name), attributes, children);
}

function domSvg(name, attributes, ...children) {
	return domFill(document.createElementNS(domSvgSpace, name), attributes, children);
}

function domBy(id) {
	return document.getElementById(id);
}

function domButton(text, press, attributes) {
	return dom('button', { type: 'button', on: { click: press }, ...attributes }, text);
}

let domIds = 0;

function domId(word) {
	domIds += 1;
	return word + '-' + domIds;
}

// A control with its label.
function domField(label, control) {
	const id = domId('field');

	control.id = id;
	return dom('p', { class: 'field' }, dom('label', { for: id }, label), control);
}

// [[term, text or element], ...]; rows without a value are left out.
function domFacts(rows) {
	const facts = dom('dl', { class: 'facts' });

	for (const [term, value] of rows) {
		if (value === '' || value === undefined || value === null) continue;
		facts.append(dom('div', {}, dom('dt', {}, term), dom('dd', {}, value)));
	}
	return facts;
}

// One large number with its words.
function domFigure(value, words, more) {
	return dom('li', {}, dom('strong', {}, value), dom('span', {}, words),
		more ? dom('small', {}, more) : null);
}

// Calls draw(width) now and whenever the width of the element changes.
function domWatchWidth(element, draw) {
	let last = 0;
	const look = () => {
		const width = Math.floor(element.clientWidth);
		if (width > 0 && width !== last) draw(last = width);
	};

	new ResizeObserver(() => requestAnimationFrame(look)).observe(element);
}

// Numbers say more than motion: those who ask for less motion get none.
function domShow(element) {
	const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;

	element.scrollIntoView({ block: 'start', behavior: calm ? 'auto' : 'smooth' });
}
