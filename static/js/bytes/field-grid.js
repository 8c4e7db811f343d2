/**
 * The fields as a treegrid of which only the rows in sight exist. One row is selected; the keys walk, open, close and
 * edit; `onSelect` gets what is selected, for the view of the bytes.
 *
 * @import {FieldTree, Place} from './tree.js'
 */

import { h, hit, s } from '../shared/dom.js';
import { onTextSize, pixels, rem } from '../shared/text-size.js';
import { grouped } from '../shared/numbers.js';
import { placeAfter } from '../shared/keys.js';
import { isEditable } from './edits.js';
import { fieldEditor } from './field-editor.js';
import { isArray, isBlob, itemSize } from './tree.js';
import { ITEMS_MOST, meaningText, sinceText, valueText } from './words.js';

/** Rows above and below those in sight. */
const BEYOND = 8;
const HEIGHT_UNKNOWN = 600;
const INDENT = 10;
/** Rem of a row, where the style sheet does not say. */
const ROW = 1.25;

let made = 0;

/**
 * @typedef {object} Listener
 * @property {(place: Place, item: number | null, how: 'pointer' | 'click' | 'key') => void} onSelect
 * @property {(place: Place, text: string | null) => Promise<string | null>} [onEdit] null is the value null; gives what is wrong
 * @property {() => void} [onLeave] Escape, where nothing was being edited
 */

export class FieldGrid {
  /** @type {Place[]} */
  #rows = [];
  /** @type {Set<string>} */
  open = new Set();
  /** @type {Place | null} */
  selected = null;
  /** @type {number | null} */
  item = null;
  /** @type {Set<string>} */
  #edited = new Set();
  #editing = '';
  /** @type {Map<string, HTMLElement>} */
  #nodes = new Map();

  /** @param {{root: HTMLElement, tree: FieldTree} & Listener} parts */
  constructor(parts) {
    made += 1;
    this.id = `fields-${made}`;
    this.parts = parts;
    const { root, tree } = parts;
    this.tree = tree;
    this.inner = h('div.fri', { role: 'presentation' });
    root.setAttribute('role', 'treegrid');
    root.tabIndex = 0;
    root.replaceChildren(this.inner);
    root.addEventListener('scroll', () => this.#draw(), { passive: true });
    new ResizeObserver(() => this.#draw()).observe(root);
    onTextSize(() => this.#sift());
    root.addEventListener('pointermove', (event) => this.#pointed(event));
    root.addEventListener('click', (event) => this.#clicked(event));
    root.addEventListener('dblclick', (event) => {
      const place = this.#placeAt(event);
      if (place) this.edit(place);
    });
    root.addEventListener('keydown', (event) => this.#keyed(event));
  }

  /** @param {FieldTree} tree @param {{open: Set<string>, selected: string | null, edited?: Set<string>}} how */
  load(tree, { open, selected, edited = new Set() }) {
    this.tree = tree;
    this.open = open;
    this.#edited = edited;
    this.#editing = '';
    this.item = null;
    this.selected = (selected !== null && tree.byPath.get(selected)) || tree.roots[0] || null;
    this.#sift();
  }

  /** @param {Place} place @param {number | null} [item] */
  select(place, item = null) {
    for (let above = place.parent; above; above = above.parent) {
      if (this.open.has(above.path)) continue;
      this.open.add(above.path);
      this.#rows = [];
    }
    this.selected = place;
    this.item = item;
    if (this.#rows.length) this.#light();
    else this.#sift();
    this.reveal();
  }

  /** Scrolls as little as shows the row that is selected. */
  reveal() {
    const index = this.selected ? this.#rows.indexOf(this.selected) : -1;
    if (index < 0) return;
    const row = this.#height();
    const height = this.parts.root.clientHeight || HEIGHT_UNKNOWN;
    const top = index * row;
    if (top < this.parts.root.scrollTop) this.parts.root.scrollTop = top;
    else if (top + row > this.parts.root.scrollTop + height) this.parts.root.scrollTop = top + row - height;
    this.#draw();
  }

  /** @param {Place} place */
  edit(place) {
    if (!this.parts.onEdit || !isEditable(place.node)) return;
    this.selected = place;
    this.#editing = place.path;
    this.reveal();
    this.#redraw();
    const input = /** @type {HTMLInputElement | null} */ (this.inner.querySelector('.vl input, .vl select'));
    input?.focus();
    if (input instanceof HTMLInputElement) input.select();
  }

  get editing() {
    return this.#editing !== '';
  }

  /** Which cells of the row that is selected show less than there is. @returns {{value: boolean, meaning: boolean}} */
  clipped() {
    const row = this.selected ? this.#nodes.get(this.selected.path) : undefined;
    const cut = (/** @type {string} */ cell) => {
      const node = row?.querySelector(cell);
      return node ? !node.clientWidth || node.scrollWidth > node.clientWidth : false;
    };
    return { value: cut('.vl:not(.editor)'), meaning: cut('.mn') };
  }

  #height() {
    return pixels(parseFloat(getComputedStyle(this.parts.root).getPropertyValue('--row')) || ROW);
  }

  #sift() {
    this.#rows = this.tree.rows(this.open);
    this.parts.root.setAttribute('aria-rowcount', String(this.#rows.length));
    this.inner.style.height = `calc(${this.#rows.length} * var(--row))`;
    this.#redraw();
  }

  #redraw() {
    this.inner.replaceChildren();
    this.#nodes.clear();
    this.#draw();
  }

  #draw() {
    const row = this.#height();
    const height = this.parts.root.clientHeight || HEIGHT_UNKNOWN;
    const from = Math.max(0, Math.floor(this.parts.root.scrollTop / row) - BEYOND);
    const to = Math.min(this.#rows.length, Math.ceil((this.parts.root.scrollTop + height) / row) + BEYOND);
    /** @type {Map<string, HTMLElement>} */
    const kept = new Map();
    const nodes = [];
    for (let index = from; index < to; index += 1) {
      const place = this.#rows[index];
      const node = this.#nodes.get(place.path) ?? this.#row(place, index);
      node.style.top = `calc(${index} * var(--row))`;
      kept.set(place.path, node);
      nodes.push(node);
    }
    for (const [path, node] of this.#nodes) {
      // A field that is being edited stays, wherever the rows are scrolled to.
      if (!kept.has(path) && path !== this.#editing) node.remove();
      else if (!kept.has(path)) kept.set(path, node);
    }
    this.#nodes = kept;
    let before = /** @type {Element | null} */ (this.inner.firstElementChild);
    for (const node of nodes) {
      if (node === before) before = before.nextElementSibling;
      else this.inner.insertBefore(node, before);
    }
    this.#light();
  }

  #light() {
    for (const [path, node] of this.#nodes) {
      const hot = path === this.selected?.path;
      node.classList.toggle('hot', hot);
      node.classList.toggle('par', !hot && (this.selected?.path.startsWith(`${path}.`) ?? false));
      node.setAttribute('aria-selected', String(hot));
      for (const part of node.querySelectorAll('.pt')) {
        part.classList.toggle('hot2', hot && Number(/** @type {HTMLElement} */ (part).dataset.item) === this.item);
      }
    }
    if (this.selected) this.parts.root.setAttribute('aria-activedescendant', this.#idOf(this.selected));
    else this.parts.root.removeAttribute('aria-activedescendant');
  }

  /** @param {Place} place */
  #idOf(place) {
    return `${this.id}-${place.path}`;
  }

  /** @param {Place} place @param {number} index */
  #row(place, index) {
    const { node } = place;
    const open = this.open.has(place.path);
    const parent = place.parent ? isArray(place.parent.node) : false;
    const name = h(
      'span.nm',
      { role: 'gridcell' },
      place.places.length ? twist(open) : h('span.tw'),
      h('span.nmt', parent ? `[${node.name}]` : node.name),
      this.#edited.has(place.path) ? h('i.chg', { title: 'edited', role: 'img', 'aria-label': 'edited' }) : null,
    );
    name.style.paddingLeft = rem(place.depth * INDENT);
    const meaning = meaningText(node);
    return h(
      'div',
      {
        class: ['fr', isBlob(node) && 'blob', place.within && 'in', node.problem && 'bad'],
        role: 'row',
        id: this.#idOf(place),
        'data-path': place.path,
        'aria-level': place.depth + 1,
        'aria-rowindex': index + 1,
        'aria-posinset': place.index + 1,
        'aria-setsize': (place.parent?.places ?? this.tree.roots).length,
        'aria-expanded': place.places.length ? String(open) : null,
      },
      name,
      h('span.ty', { role: 'gridcell' }, parent && node.type === 'struct' ? '' : node.type),
      this.#editing === place.path ? this.#editor(place) : this.#value(place, parent),
      h('span.mn', { role: 'gridcell', title: meaning || null }, meaning),
      h('span.vs', { role: 'gridcell' }, sinceText(node)),
    );
  }

  /** @param {Place} place @param {boolean} element */
  #value(place, element) {
    const { node } = place;
    const { text, said } = valueText(node, element);
    const cell = h('span', { class: said ? 'vl said' : 'vl', role: 'gridcell', title: text.length > 24 ? text : null });
    if (itemSize(node) && Array.isArray(node.value) && node.value.length) {
      cell.append(
        ...node.value.slice(0, ITEMS_MOST).map((value, item) => h('span.pt', { 'data-item': item }, String(value))),
      );
      if (node.value.length > ITEMS_MOST) cell.append(h('span.said', `… ${grouped(node.value.length)} in all`));
    } else cell.append(this.parts.onEdit && isEditable(node) ? h('span.ed', text) : text);
    return cell;
  }

  /** @param {Place} place */
  #editor(place) {
    return fieldEditor(place, {
      commit: async (text) => (await this.parts.onEdit?.(place, text)) ?? null,
      stop: () => this.#stop(),
    });
  }

  #stop() {
    this.#editing = '';
    this.#redraw();
    this.parts.root.focus({ preventScroll: true });
  }

  /** @param {Event} event @returns {Place | null} */
  #placeAt(event) {
    const row = hit(event, '.fr');
    return row ? (this.tree.byPath.get(row.dataset.path ?? '') ?? null) : null;
  }

  /** @param {Event} event @returns {number | null} */
  #itemAt(event) {
    const part = hit(event, '.pt');
    return part ? Number(part.dataset.item) : null;
  }

  /** @param {PointerEvent} event */
  #pointed(event) {
    if (this.editing || event.pointerType === 'touch') return;
    const place = this.#placeAt(event);
    const item = this.#itemAt(event);
    if (!place || (place === this.selected && item === this.item)) return;
    this.selected = place;
    this.item = item;
    this.#light();
    this.parts.onSelect(place, item, 'pointer');
  }

  /** @param {MouseEvent} event */
  #clicked(event) {
    const place = this.#placeAt(event);
    if (!place || hit(event, '.editor')) return;
    if (this.editing) this.#stop();
    if (hit(event, '.tw')) this.toggle(place);
    this.#go(place, this.#itemAt(event), 'click');
  }

  /** @param {Place} place */
  toggle(place) {
    if (!place.places.length) return;
    if (this.open.has(place.path)) this.open.delete(place.path);
    else this.open.add(place.path);
    this.#sift();
  }

  /** @param {Place | null | undefined} place @param {number | null} [item] @param {'key' | 'click'} [how] */
  #go(place, item = null, how = 'key') {
    if (!place) return;
    this.selected = place;
    this.item = item;
    this.#light();
    this.reveal();
    this.parts.onSelect(place, item, how);
  }

  /** @param {KeyboardEvent} event */
  #keyed(event) {
    const place = this.selected;
    if (!place || event.ctrlKey || event.metaKey || event.altKey || event.target !== this.parts.root) return;
    const index = this.#rows.indexOf(place);
    const page = Math.max(1, Math.floor(this.parts.root.clientHeight / this.#height()) - 1);
    const to = placeAfter(event.key, index, this.#rows.length, page);
    if (to !== null) this.#go(this.#rows[to]);
    else if (!this.#act(event.key, place, index)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** What a key does that leads to no other row by itself. @param {string} key @param {Place} place @param {number} index @returns {boolean} whether it does anything */
  #act(key, place, index) {
    const items = itemSize(place.node) && Array.isArray(place.node.value) ? place.node.value.length : 0;
    const open = this.open.has(place.path);
    if (key === 'ArrowRight') {
      if (place.places.length && !open) this.toggle(place);
      else if (items) this.#go(place, Math.min((this.item ?? -1) + 1, items - 1));
      else if (place.places.length) this.#go(this.#rows[index + 1]);
    } else if (key === 'ArrowLeft') {
      if (this.item !== null) this.#go(place, this.item > 0 ? this.item - 1 : null);
      else if (place.places.length && open) this.toggle(place);
      else this.#go(place.parent);
    } else if (key === 'Enter' || key === 'F2') {
      if (isEditable(place.node)) this.edit(place);
      else this.toggle(place);
    } else if (key === 'Escape') this.parts.onLeave?.();
    else return false;
    return true;
  }
}

/** @param {boolean} open */
function twist(open) {
  return h(
    'span',
    { class: open ? 'tw open' : 'tw', 'aria-hidden': 'true' },
    s('svg', { width: 8, height: 10, viewBox: '0 0 8 10' }, s('path', { d: 'M1 1l6 4-6 4z', fill: 'currentColor' })),
  );
}
