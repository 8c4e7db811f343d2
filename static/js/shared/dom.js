/**
 * Small builders over an injected document. Text goes in as text nodes, never as markup: names of groups, topics
 * and members come from logs of the world.
 */

import { rem } from './text-size.js';

const SVG = 'http://www.w3.org/2000/svg';

/**
 * @typedef {Node | string | number | null | undefined | false} Child
 * @typedef {{[name: string]: string | number | boolean | null | undefined | unknown[] | ((event: any) => void)}} Attributes of a list those that are not false
 * @typedef {[Attributes, ...(Child | Child[])[]] | (Child | Child[])[]} Parts
 */

/**
 * Gives a node its classes, attributes and children.
 *
 * @template {Element} T
 * @param {T} node @param {string[]} classes @param {Parts} parts
 */
function filled(node, classes, parts) {
  const [first, ...others] = parts;
  const hasAttributes = first?.constructor === Object;
  if (classes.length) node.setAttribute('class', classes.join(' '));
  for (const [name, value] of Object.entries(hasAttributes ? first : {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') node.addEventListener(name.replace(/^on/, ''), value);
    else if (Array.isArray(value)) node.setAttribute(name, value.filter(Boolean).join(' '));
    else node.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of /** @type {(Child | Child[])[]} */ (hasAttributes ? others : parts).flat()) {
    if (child === null || child === undefined || child === false) continue;
    node.append(typeof child === 'number' ? String(child) : child);
  }
  return node;
}

/**
 * An HTML element: `h('button.btn', { onclick }, 'Play')`. Classes that do not change follow the name; attributes may be missing.
 * A button submits only where its type is `submit`.
 *
 * @param {string} tag @param {Parts} parts
 * @returns {HTMLElement}
 */
export function h(tag, ...parts) {
  const [name, ...classes] = tag.split('.');
  const node = document.createElement(/** @type {string} */ (name));
  if (name === 'button') node.setAttribute('type', 'button');
  return filled(node, classes, parts);
}

/**
 * An SVG element, like `h`. The numbers in a drawing are its own; its size on the page, given in pixels, grows with the text.
 *
 * @param {string} tag @param {Parts} parts
 * @returns {SVGElement}
 */
export function s(tag, ...parts) {
  const [name, ...classes] = tag.split('.');
  const node = /** @type {SVGElement} */ (document.createElementNS(SVG, /** @type {string} */ (name)));
  filled(node, classes, parts);
  if (name === 'svg') sized(node, /** @type {Attributes} */ (parts[0] ?? {}));
  return node;
}

/** How large a drawing is on the page, in pixels at the usual size of text. @param {SVGElement} svg @param {Attributes} size */
export function sized(svg, { width, height }) {
  if (typeof width === 'number') svg.setAttribute('width', rem(width));
  if (typeof height === 'number') svg.setAttribute('height', rem(height));
}

/**
 * A rectangle of a drawing, by its left and upper edge, its width and its height.
 *
 * @param {[x: number, y: number, width: number, height: number]} place @param {Attributes} [attributes] @param {(Child | Child[])[]} children
 */
export const rect = ([x, y, width, height], attributes, ...children) =>
  s('rect', { x, y, width, height, ...attributes }, ...children);

/** A vertical line of a drawing. @param {number} x @param {[from: number, to: number]} y @param {Attributes} [attributes] */
export const upright = (x, [y1, y2], attributes) => s('line', { x1: x, x2: x, y1, y2, ...attributes });

/** Text at a place of a drawing. @param {number} x @param {number} y @param {string} sentence @param {string} [name] @param {string} [anchor] */
export function text(x, y, sentence, name, anchor) {
  return s('text', { x: Number(x.toFixed(1)), y: Number(y.toFixed(1)), class: name, 'text-anchor': anchor }, sentence);
}

/** A part of the page that the server has promised to be there. @param {string} id @returns {HTMLElement} */
export function part(id) {
  const node = document.getElementById(id);
  if (!node) throw new Error(`the page has no part called ${id}`);
  return node;
}

/** Several parts of the page, by their ids. @template {string} Id @param {Id[]} ids @returns {Record<Id, HTMLElement>} */
export const partsOf = (...ids) =>
  /** @type {Record<Id, HTMLElement>} */ (Object.fromEntries(ids.map((id) => [id, part(id)])));

/** Whether the reader asked for less motion. */
export function calm() {
  return matchMedia('(prefers-reduced-motion: reduce)').matches;
}

/** What an event hit, or what is around that. @param {Event} event @param {string} selector */
export const hit = (event, selector) =>
  /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest(selector));

/** Of a row of buttons the one with this value is pressed. @param {ParentNode} root @param {string} value */
export function press(root, value) {
  for (const button of root.querySelectorAll('button'))
    button.setAttribute('aria-pressed', String(button.dataset.value === value));
}

/** Draws a part of the page again; what had the focus, by its `data-key`, has it again. @param {() => void} draw @param {ParentNode} root */
export function redrawn(draw, root = document) {
  const key = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset.key;
  draw();
  if (!key) return;
  /** @type {HTMLElement | null} */ (root.querySelector(`[data-key="${CSS.escape(key)}"]`))?.focus({
    preventScroll: true,
  });
}

/** A row of buttons of the page, of which one is pressed. @param {string} id @param {(value: string) => void} onChoose */
export function choose(id, onChoose) {
  const root = part(id);
  root.addEventListener('click', (event) => {
    const value = hit(event, 'button')?.dataset.value;
    if (value === undefined) return;
    press(root, value);
    onChoose(value);
  });
}

/**
 * A row of buttons of which one is pressed; pressing another is the caller's.
 *
 * @param {string} label
 * @param {(readonly [value: string, text: string])[]} choices
 * @param {string | null} now
 * @param {(value: string) => void} onChoose
 * @param {string} [key] with the value: by what a button is known again after it was drawn again
 */
export const seg = (label, choices, now, onChoose, key) =>
  h(
    'div.seg',
    { role: 'group', 'aria-label': label },
    choices.map(([value, words]) =>
      h(
        'button',
        {
          'data-value': value,
          'data-key': key && `${key}-${value}`,
          'aria-pressed': String(value === now),
          onclick: () => onChoose(value),
        },
        words,
      ),
    ),
  );

/** A line over a page: a bold sentence, and more. @param {'' | 'warn' | 'bad'} kind @param {string} head @param {Child[]} rest */
export const banner = (kind, head, ...rest) =>
  h('div', { class: `banner ${kind}`, role: kind === 'bad' ? 'alert' : null }, head && h('b', `${head} `), ...rest);

/** @param {string} tag with its classes @param {(string | HTMLElement)[]} heads names of columns, or their cells @param {Child[]} rows */
export const table = (tag, heads, rows) =>
  h(
    tag,
    h('thead', h('tr', ...heads.map((head) => (typeof head === 'string' ? h('th', { scope: 'col' }, head) : head)))),
    h('tbody', rows),
  );

/** Longer names may be wider than a line. */
const NAME_WHOLE_MOST = 32;

/** A sentence whose names (`foo-0`, `on-call/billing`) no line ends within. @param {string} sentence @returns {(Node | string)[]} */
export const unbroken = (sentence) =>
  sentence
    .split(/(\S*\w[-/]\S*)/)
    .map((word, at) => (at % 2 && word.length <= NAME_WHOLE_MOST ? h('span.nowrap', word) : word));
