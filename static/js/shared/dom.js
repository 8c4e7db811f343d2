/**
 * Small builders over an injected document. Text goes in as text nodes, never as markup: names of groups, topics
 * and members come from logs of the world.
 */

import { rem } from './text-size.js';

const SVG = 'http://www.w3.org/2000/svg';

/**
 * @typedef {Node | string | number | null | undefined | false} Child
 * @typedef {{[name: string]: string | number | boolean | null | undefined | ((event: any) => void)}} Attributes
 */

/** @param {Element} node @param {Attributes} attributes */
function dress(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') node.addEventListener(name.replace(/^on/, ''), value);
    else node.setAttribute(name, value === true ? '' : String(value));
  }
}

/** @param {ParentNode & Node} node @param {(Child | Child[])[]} children */
function fill(node, children) {
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    node.append(typeof child === 'number' ? String(child) : child);
  }
}

/**
 * An HTML element: `h('button', { class: 'btn', onclick }, 'Play')`.
 *
 * @param {string} tag
 * @param {Attributes} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElement}
 */
export function h(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  dress(node, attributes);
  fill(node, children);
  return node;
}

/**
 * An SVG element. The numbers in a drawing are its own; how large it stands on the page, given in pixels, grows with the text.
 *
 * @param {string} tag
 * @param {Attributes} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {SVGElement}
 */
export function s(tag, attributes = {}, ...children) {
  const node = /** @type {SVGElement} */ (document.createElementNS(SVG, tag));
  dress(node, attributes);
  if (tag === 'svg') sized(node, attributes);
  fill(node, children);
  return node;
}

/** How large a drawing stands on the page, in pixels at the usual size of text. @param {SVGElement} svg @param {Attributes} size */
export function sized(svg, { width, height }) {
  if (typeof width === 'number') svg.setAttribute('width', rem(width));
  if (typeof height === 'number') svg.setAttribute('height', rem(height));
}

/** Text at a place of a drawing. @param {number} x @param {number} y @param {string} says @param {string} [name] @param {string} [anchor] */
export function text(x, y, says, name, anchor) {
  return s('text', { x: Number(x.toFixed(1)), y: Number(y.toFixed(1)), class: name, 'text-anchor': anchor }, says);
}

/** A part of the page that the server has promised to be there. @param {string} id @returns {HTMLElement} */
export function part(id) {
  const node = document.getElementById(id);
  if (!node) throw new Error(`the page has no part called ${id}`);
  return node;
}

/** Whether the reader asked for less motion. */
export function calm() {
  return matchMedia('(prefers-reduced-motion: reduce)').matches;
}

/** A row of buttons of which one is pressed. @param {string} id @param {(value: string) => void} onChoose */
export function choose(id, onChoose) {
  const root = part(id);
  root.addEventListener('click', (event) => {
    const button = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest('button'));
    if (!button) return;
    for (const other of root.querySelectorAll('button')) other.setAttribute('aria-pressed', String(other === button));
    onChoose(button.dataset.value ?? '');
  });
}
