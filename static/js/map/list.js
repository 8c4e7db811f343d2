/**
 * The list as a grid whose rows open: the rows that are in sight and no others, a focus that roves over all of them, keys.
 *
 * @import {Line, RowText} from './types'
 * @typedef {{line: Line, pinned: boolean, number: number}} Place a line and its number among all, pinned ones first
 */

import { h, hit } from '../shared/dom.js';
import { rem } from '../shared/text-size.js';
import { grouped } from '../shared/numbers.js';
import { placeAfter } from '../shared/keys.js';
import { nameNode } from '../frame/name-node.js';

/** From this height on every row in sight has its name next to it. */
const NAMED_PX = 13;
/** Names of thin rows stand so far apart. */
const LABEL_PX = 26;
/** Of thin rows, the neighbours of the one in focus are there for a screen reader. */
const NEAR = 2;
export const PIN_PX = 20;

export class List {
  /** @type {Line[]} */
  #lines = [];
  /** @type {Line[]} */
  #pins = [];
  /** The number of the place in focus: pinned rows come first. */
  #at = 0;
  /** @type {Map<string, HTMLElement>} */
  #drawn = new Map();
  #first = 0;
  #last = 0;
  #rowHeight = 20;

  /**
   * @param {object} parts
   * @param {HTMLElement} parts.grid
   * @param {HTMLElement} parts.pins
   * @param {() => {top: number, height: number}} parts.view what of the rows is in sight, in pixels
   * @param {(top: number) => void} parts.scrollTo
   * @param {HTMLElement} parts.sizer
   * @param {(line: Line) => RowText} parts.textOf
   * @param {(line: Line) => {hue: string, opened: boolean, pinned: boolean, actor: boolean}} parts.looksOf
   * @param {(line: Line) => void} parts.onOpen
   * @param {(line: Line) => void} parts.onPin
   * @param {(key: string) => boolean} parts.onKey what the list does not know; whether it was taken
   */
  constructor(parts) {
    this.parts = parts;
    const { grid, sizer } = parts;
    this.labels = h('div.mlabels', { 'aria-hidden': 'true' });
    sizer.append(this.labels);
    grid.addEventListener('keydown', (event) => this.#key(event));
    grid.addEventListener('click', (event) => this.#click(event));
    grid.addEventListener('focusin', (event) => {
      // A row that is moved in the page loses the focus and is given it back: nobody has gone anywhere.
      if (this.#drawing) return;
      const place = this.#placeOf(event.target);
      if (place && place.number !== this.#at) {
        this.#at = place.number;
        this.draw();
      }
    });
  }

  get rowHeight() {
    return this.#rowHeight;
  }

  /** @param {Line[]} lines @param {Line[]} pins */
  set(lines, pins) {
    const here = this.current;
    const kept =
      here &&
      [...pins, ...lines].findIndex(
        (line, number) => line.key === here.line.key && number < pins.length === here.pinned,
      );
    this.#lines = lines;
    this.#pins = pins;
    const all = pins.length + lines.length;
    const other = here ? [...pins, ...lines].findIndex((line) => line.key === here.line.key) : -1;
    this.#at = Math.max(
      0,
      kept !== null && kept !== undefined && kept >= 0 ? kept : other >= 0 ? other : Math.min(this.#at, all - 1),
    );
    this.parts.grid.setAttribute('aria-rowcount', String(all));
  }

  /** @returns {Place | null} */
  get current() {
    return this.#place(this.#at);
  }

  /** @param {number} number @returns {Place | null} */
  #place(number) {
    const pinned = number < this.#pins.length;
    const line = pinned ? this.#pins[number] : this.#lines[number - this.#pins.length];
    return line ? { line, pinned, number } : null;
  }

  /** @param {number} rowHeight */
  size(rowHeight) {
    this.#rowHeight = rowHeight;
    this.parts.sizer.style.height = rem(Math.ceil(this.#lines.length * rowHeight));
  }

  #drawing = false;

  /** Rows, as far as they are in sight. */
  draw() {
    this.#drawing = true;
    this.#drawRows();
    this.#drawing = false;
  }

  #drawRows() {
    const { top, height } = this.parts.view();
    const thin = this.#rowHeight < NAMED_PX;
    this.#first = Math.max(0, Math.floor(top / this.#rowHeight));
    this.#last = Math.min(this.#lines.length, Math.ceil((top + height) / this.#rowHeight));
    const base = this.#pins.length;
    /** @type {number[]} */
    const wanted = this.#pins.map((_, number) => number);
    const at = this.#at - base;
    const [from, to] = thin ? [at - NEAR, at + NEAR + 1] : [this.#first, this.#last];
    for (let index = Math.max(0, from); index < Math.min(this.#lines.length, to); index += 1) wanted.push(base + index);
    // The row in focus is there wherever one has scrolled to, or the focus would be lost.
    if (this.#at >= base && !wanted.includes(this.#at) && this.#lines.length) wanted.push(this.#at);
    const kept = new Map();
    for (const number of wanted) {
      const place = /** @type {Place} */ (this.#place(number));
      const id = `${place.pinned ? 'pin' : 'row'}\n${place.line.key}`;
      const node = this.#drawn.get(id) ?? this.#row(place);
      kept.set(id, node);
      this.#dress(node, place, thin);
    }
    for (const [id, node] of this.#drawn) {
      if (kept.has(id)) continue;
      // A focused node that leaves the page would drop the focus onto the page.
      if (node.contains(document.activeElement)) this.#kept = node;
      node.remove();
    }
    this.#drawn = kept;
    let before = null;
    for (const [id, node] of kept) {
      const parent = id.startsWith('pin') ? this.parts.pins : this.parts.sizer;
      if (
        node.parentNode !== parent ||
        (before && before.parentNode === parent && before.nextElementSibling !== node)
      ) {
        const focused = node.contains(document.activeElement);
        if (before && before.parentNode === parent) before.after(node);
        else parent.append(node);
        if (focused) node.focus({ preventScroll: true });
      }
      before = node;
    }
    if (this.#kept) {
      this.#kept = null;
      this.focus();
    }
    this.#label(thin);
  }

  /** @type {HTMLElement | null} */
  #kept = null;

  /** @param {Place} place */
  #row({ line, pinned }) {
    const pin = line.type === 'row' ? h('button.mpin', { tabindex: -1 }) : null;
    return h(
      'div',
      {
        class: `mrow ${line.type}${pinned ? ' pinned' : ''}`,
        role: 'row',
        'data-key': line.key,
        'data-pinned': pinned ? 'yes' : 'no',
      },
      h(
        'span.mhead-cell',
        { role: 'rowheader' },
        line.type === 'group' ? h('span.mfold', { 'aria-hidden': 'true' }) : h('span.mdisc', { 'aria-hidden': 'true' }),
        nameNode(line.name),
        line.type === 'group' ? h('span.mcount', ` ${grouped(line.indices.length)}`) : null,
      ),
      h('span.sr', { role: 'gridcell' }),
      pin ? h('span.mact', { role: 'gridcell' }, pin) : null,
    );
  }

  /** @param {HTMLElement} node @param {Place} place @param {boolean} thin */
  #dress(node, { line, pinned, number }, thin) {
    const index = number - this.#pins.length;
    const height = pinned ? PIN_PX : this.#rowHeight;
    const text = this.parts.textOf(line);
    const looks = this.parts.looksOf(line);
    const here = number === this.#at;
    const slim = thin && !pinned;
    const tall = slim ? Math.max(height, NAMED_PX + 4) : height;
    const top = pinned
      ? number * PIN_PX
      : slim
        ? Math.max(0, Math.min((index + 0.5) * height - tall / 2, this.#lines.length * height - tall))
        : index * height;
    node.style.transform = `translateY(${rem(top)})`;
    node.style.height = rem(tall);
    node.classList.toggle('thin', slim);
    node.classList.toggle('here', here);
    node.classList.toggle('act', looks.actor);
    node.dataset.hue = looks.hue;
    node.dataset.mode = String(text.mode);
    node.tabIndex = here ? 0 : -1;
    node.setAttribute('aria-rowindex', String(number + 1));
    if (line.type === 'group') node.setAttribute('aria-expanded', String(line.open));
    else node.setAttribute('aria-expanded', String(looks.opened));
    node.setAttribute('aria-level', String(pinned ? 1 : line.level));
    const sentence = node.children[1];
    if (sentence.textContent !== text.says) sentence.textContent = text.says;
    node.title = `${line.name}: ${text.says}`;
    const pin = node.querySelector('button');
    if (pin) {
      pin.setAttribute('aria-pressed', String(looks.pinned));
      pin.setAttribute('aria-label', `${looks.pinned ? 'Unpin' : 'Pin'} ${line.name}`);
      pin.title = looks.pinned ? 'Unpin (P)' : 'Pin on top (P)';
    }
  }

  /** Names of thin rows, as many as there is room for. @param {boolean} thin */
  #label(thin) {
    const nodes = [];
    if (thin && this.#lines.length) {
      const focused = (this.#at - this.#pins.length + 0.5) * this.#rowHeight;
      const seen = document.activeElement instanceof HTMLElement && this.parts.grid.contains(document.activeElement);
      const { top, height } = this.parts.view();
      const total = this.#lines.length * this.#rowHeight;
      const from = Math.floor(top / LABEL_PX) * LABEL_PX;
      for (let y = from; y < Math.min(total, top + height); y += LABEL_PX) {
        if (seen && Math.abs(y + 8 - focused) < 18) continue;
        const line = this.#lines[Math.min(this.#lines.length - 1, Math.floor((y + 1) / this.#rowHeight))];
        const node = h('span.mlabel', nameNode(line.name));
        node.style.transform = `translateY(${rem(y)})`;
        nodes.push(node);
      }
    }
    this.labels.replaceChildren(...nodes);
  }

  /** Only what rows say: the playhead has moved. */
  say() {
    const thin = this.#rowHeight < NAMED_PX;
    for (const node of this.#drawn.values()) {
      const place = this.#placeOf(node);
      if (place) this.#dress(node, place, thin);
    }
  }

  /** @param {EventTarget | null} target @returns {Place | null} */
  #placeOf(target) {
    const node = target instanceof Element ? target.closest('.mrow') : null;
    return node ? this.#place(Number(node.getAttribute('aria-rowindex')) - 1) : null;
  }

  /** Into a row, and into sight. @param {number} number @param {boolean} [focus] */
  go(number, focus = true) {
    const all = this.#pins.length + this.#lines.length;
    if (!all) return;
    this.#at = Math.min(all - 1, Math.max(0, number));
    const index = this.#at - this.#pins.length;
    if (index >= 0) {
      const top = index * this.#rowHeight;
      const seen = this.parts.view();
      if (top < seen.top) this.parts.scrollTo(top);
      else if (top + this.#rowHeight > seen.top + seen.height) this.parts.scrollTo(top + this.#rowHeight - seen.height);
    }
    this.draw();
    if (focus) this.focus();
  }

  /** The row of an entity, or the head of its closed group. @param {string} key @param {boolean} [focus] @returns {boolean} */
  goTo(key, focus = true) {
    const number = [...this.#pins, ...this.#lines].findIndex((line) => line.type === 'row' && line.key === key);
    if (number >= 0) this.go(number, focus);
    return number >= 0;
  }

  focus() {
    const place = this.current;
    const node = place && this.#drawn.get(`${place.pinned ? 'pin' : 'row'}\n${place.line.key}`);
    node?.focus({ preventScroll: true });
    // On a small screen the rows may not be in sight at all; what sticks to its foot covers no row.
    node?.scrollIntoView({ block: 'nearest' });
  }

  /** @param {MouseEvent} event */
  #click(event) {
    const place = this.#placeOf(event.target);
    if (!place) return;
    this.go(place.number);
    if (hit(event, '.mpin')) this.parts.onPin(place.line);
    else this.parts.onOpen(place.line);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || (event.shiftKey && event.key !== '+')) return;
    const place = this.#placeOf(event.target);
    if (!place || !this.#act(event.key, place)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {string} key @param {Place} place */
  #act(key, { line, number }) {
    const page = Math.max(1, Math.floor(this.parts.view().height / Math.max(this.#rowHeight, NAMED_PX)) - 1);
    const to = placeAfter(key, number, this.#pins.length + this.#lines.length, page);
    if (to !== null) this.go(to);
    else if (key === 'Enter') this.parts.onOpen(line);
    else if (line.type === 'group' && (key === 'ArrowLeft' || key === 'ArrowRight')) {
      if (line.open === (key === 'ArrowLeft')) this.parts.onOpen(line);
    } else if (key === 'p' && line.type === 'row') this.parts.onPin(line);
    else return this.parts.onKey(key);
    return true;
  }
}
