/** The grid of bytes: offsets, hex, ASCII. Only the rows in sight exist; lighting up sets classes of those that do. */

import { h, hit } from '../shared/dom.js';
import { onTextSize, rem, textSize } from '../shared/text-size.js';

/** Pixels of a row at the usual size of text; the style sheet has the same. */
const ROW = 18;
/** Rows above and below those in sight. */
const BEYOND = 6;
/** Before the browser has laid the page out, or where it is not in sight. */
const HEIGHT_UNKNOWN = 520;

let made = 0;

/** @typedef {{row: HTMLElement, bytes: HTMLElement[], letters: HTMLElement[]}} Line */

export class HexView {
  /** @type {Uint8Array} */
  #bytes = new Uint8Array();
  /** @type {Map<number, Line>} */
  #lines = new Map();
  #mark = (/** @type {number} */ _byte) => 'by';
  /** @type {number | null} */
  #cursor = null;

  /**
   * @param {object} parts
   * @param {HTMLElement} parts.root
   * @param {() => number} parts.columns bytes in a row: 16 or 8
   * @param {(byte: number, how: 'pointer' | 'key' | 'click') => void} [parts.onPoint]
   * @param {() => number | null} [parts.start] where the keys begin when no byte was chosen yet
   */
  constructor({ root, columns, onPoint, start }) {
    made += 1;
    this.id = `bytes-${made}`;
    this.root = root;
    this.columns = columns;
    this.width = columns();
    this.inner = h('div.hxi', { role: 'presentation' });
    root.classList.add('hx');
    root.setAttribute('role', 'grid');
    root.tabIndex = 0;
    root.append(this.inner);
    root.addEventListener('scroll', () => this.#draw(), { passive: true });
    new ResizeObserver(() => this.#resize()).observe(root);
    onTextSize(() => this.#resize());
    if (onPoint) {
      const pointed = (/** @type {Event} */ event, /** @type {'pointer' | 'click'} */ how) => {
        const cell = hit(event, '[data-b]');
        if (!cell) return;
        this.#cursor = Number(cell.dataset.b);
        onPoint(this.#cursor, how);
      };
      root.addEventListener('pointermove', (event) => pointed(event, 'pointer'));
      root.addEventListener('click', (event) => pointed(event, 'click'));
      root.addEventListener('keydown', (event) => {
        const byte = this.#after(event.key, start?.() ?? 0);
        if (byte === null || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        event.stopPropagation();
        this.#cursor = byte;
        this.reveal(byte);
        onPoint(byte, 'key');
      });
    }
  }

  /** @param {string} key @param {number} start @returns {number | null} */
  #after(key, start) {
    const page = Math.max(1, Math.floor(this.root.clientHeight / this.#row) - 1) * this.width;
    const steps = /** @type {{[key: string]: number}} */ ({
      ArrowRight: 1,
      ArrowLeft: -1,
      ArrowDown: this.width,
      ArrowUp: -this.width,
      PageDown: page,
      PageUp: -page,
    });
    const last = this.#bytes.length - 1;
    if (last < 0) return null;
    if (key === 'Home') return 0;
    if (key === 'End') return last;
    if (!(key in steps)) return null;
    return Math.max(0, Math.min(last, (this.#cursor ?? start) + steps[key]));
  }

  /** @param {Uint8Array} bytes */
  load(bytes) {
    this.#bytes = bytes;
    if (this.#cursor !== null && this.#cursor >= bytes.length) this.#cursor = null;
    this.#rebuild();
  }

  /** @param {(byte: number) => string} mark the class of a byte */
  light(mark) {
    this.#mark = mark;
    for (const [number, line] of this.#lines) this.#dress(number, line);
  }

  /** Where the keys go on from; null once a field is chosen elsewhere. @param {number | null} byte */
  set cursor(byte) {
    this.#cursor = byte;
  }

  /** Scrolls as little as shows a byte, and what follows it up to `end` where there is room. @param {number} byte @param {number} [end] */
  reveal(byte, end = byte + 1) {
    const { scrollTop } = this.root;
    const height = this.root.clientHeight || HEIGHT_UNKNOWN;
    const row = this.#row;
    const top = Math.floor(byte / this.width) * row;
    const bottom = Math.min((Math.floor((end - 1) / this.width) + 1) * row, top + height);
    if (top < scrollTop) this.root.scrollTop = Math.max(0, top - row);
    else if (bottom > scrollTop + height) this.root.scrollTop = bottom - height + (bottom - top < height ? row : 0);
    this.#draw();
  }

  /** The height of a row, in pixels. */
  get #row() {
    return ROW * textSize();
  }

  #resize() {
    if (this.columns() !== this.width) {
      this.width = this.columns();
      this.#rebuild();
    } else this.#draw();
  }

  #rebuild() {
    this.root.classList.toggle('narrow', this.width === 8);
    const rows = Math.ceil(this.#bytes.length / this.width);
    this.inner.style.height = rem(rows * ROW);
    this.root.setAttribute('aria-rowcount', String(rows));
    this.root.setAttribute('aria-colcount', String(this.width + 1));
    this.inner.replaceChildren();
    this.#lines.clear();
    this.#draw();
  }

  #draw() {
    const rows = Math.ceil(this.#bytes.length / this.width);
    const height = this.root.clientHeight || HEIGHT_UNKNOWN;
    const from = Math.max(0, Math.floor(this.root.scrollTop / this.#row) - BEYOND);
    const to = Math.min(rows, Math.ceil((this.root.scrollTop + height) / this.#row) + BEYOND);
    for (const [number, line] of this.#lines) {
      if (number >= from && number < to) continue;
      line.row.remove();
      this.#lines.delete(number);
    }
    for (let number = from; number < to; number += 1) {
      const known = this.#lines.get(number);
      if (known) continue;
      const line = this.#line(number);
      this.#lines.set(number, line);
      this.#dress(number, line);
      // In order, so that a screen reader reads the grid row by row as it is.
      const next = [...this.#lines.keys()]
        .filter((other) => other > number)
        .reduce((least, other) => Math.min(least, other), Infinity);
      this.inner.insertBefore(line.row, this.#lines.get(next)?.row ?? null);
    }
    this.#point();
  }

  /** @param {number} number @returns {Line} */
  #line(number) {
    const start = number * this.width;
    const row = h('div.hln', { role: 'row', 'aria-rowindex': number + 1 });
    row.style.top = rem(number * ROW);
    row.append(h('span.of', { role: 'rowheader' }, start.toString(16).padStart(4, '0')));
    const text = h('span.as', { 'aria-hidden': 'true' });
    /** @type {HTMLElement[]} */
    const bytes = [];
    /** @type {HTMLElement[]} */
    const letters = [];
    for (let at = start; at < Math.min(start + this.width, this.#bytes.length); at += 1) {
      const byte = this.#bytes[at];
      bytes.push(
        h('span.by', { role: 'gridcell', id: `${this.id}-${at}`, 'data-b': at }, byte.toString(16).padStart(2, '0')),
      );
      letters.push(h('i', byte > 32 && byte < 127 ? String.fromCharCode(byte) : '·'));
    }
    text.append(...letters);
    row.append(...bytes, text);
    return { row, bytes, letters };
  }

  /** @param {number} number @param {Line} line */
  #dress(number, { bytes, letters }) {
    const start = number * this.width;
    bytes.forEach((cell, at) => {
      const name = this.#mark(start + at);
      if (cell.className === name) return;
      cell.className = name;
      const lit = / lit/.test(name) ? 'lit' : '';
      if (letters[at].className !== lit) letters[at].className = lit;
    });
    this.#point();
  }

  #point() {
    const there = this.#cursor !== null && this.#lines.has(Math.floor(this.#cursor / this.width));
    if (there) this.root.setAttribute('aria-activedescendant', `${this.id}-${this.#cursor}`);
    else this.root.removeAttribute('aria-activedescendant');
  }
}
