/**
 * Two blobs or records, field by field: matched by name, so that one byte more does not make all the rest differ.
 *
 * @import {Compared, Difference, Inspected} from './types'
 */

import { h, hit, unbroken } from '../shared/dom.js';
import { fromBase64 } from './edits.js';
import { HexView } from './hex-view.js';
import { marking } from './marks.js';
import { FieldTree } from './tree.js';
import { counted } from '../shared/numbers.js';
import { placeAfter } from '../shared/keys.js';
import { placeText } from './words.js';

/** Rows that are made; beyond, those that differ stand first and the rest is counted. */
const ROWS_MOST = 400;
/** As many rows as a key of pages goes over. */
const PAGE = 10;

/** @typedef {{tree: FieldTree, hex: HexView, changed: Set<number>}} Side */

export class Comparison {
  /** @type {Difference[]} */
  #rows = [];
  /** @type {Side[]} */
  #sides = [];
  #at = -1;

  /**
   * @param {object} parts
   * @param {HTMLElement} parts.root of the rows
   * @param {HTMLElement} parts.hexes
   * @param {HTMLElement} parts.foot
   * @param {() => number} parts.columns
   */
  constructor(parts) {
    this.parts = parts;
    this.list = h('div.pairs', { role: 'grid', tabindex: 0, 'aria-label': 'Fields of both; arrow keys move' });
    this.list.addEventListener('pointerover', (event) => this.#pointed(event));
    this.list.addEventListener('click', (event) => this.#pointed(event));
    this.list.addEventListener('keydown', (event) => this.#keyed(event));
  }

  /** @param {Compared} compared @param {[string, string]} names */
  show(compared, names) {
    const differ = compared.rows.filter(({ same }) => !same);
    this.#rows =
      compared.rows.length > ROWS_MOST
        ? [...differ, ...compared.rows.filter(({ same }) => same)].slice(0, ROWS_MOST)
        : compared.rows;
    const left = compared.rows.length - this.#rows.length;
    const title = (/** @type {Inspected} */ side, /** @type {number} */ at) =>
      side.version === null ? names[at] : `${names[at]}, v${side.version}`;
    const head = h(
      'div.thd.pairs-head',
      { 'aria-hidden': 'true' },
      h('span.nm', 'Field'),
      h('span', title(compared.first, 0)),
      h('span'),
      h('span', title(compared.second, 1)),
      h('span.mn', 'What it means'),
    );
    this.list.replaceChildren(...this.#rows.map((row, index) => this.#row(row, index, compared)));
    this.parts.root.replaceChildren(
      head,
      this.list,
      left ? h('p.note', `and ${counted(left, 'field')} more`) : '',
      compared.leads.length
        ? h(
            'div.cons',
            ...compared.leads.flatMap(({ title: heading, says: sentence }) => [
              h('h3', heading),
              h('p', ...unbroken(sentence)),
            ]),
          )
        : '',
    );
    this.parts.hexes.replaceChildren();
    this.#sides = [compared.first, compared.second].map((side, at) => {
      const tree = new FieldTree(side.fields);
      const root = h('div', { 'aria-label': `Bytes of ${names[at]}` });
      this.parts.hexes.append(h('h3', names[at]), root);
      const hex = new HexView({ root, columns: this.parts.columns, onPoint: (byte) => this.#byByte(at, byte) });
      hex.load(fromBase64(side.bytes));
      return { tree, hex, changed: bytesOf(tree, differ, at) };
    });
    this.select(
      Math.max(
        0,
        this.#rows.findIndex(({ same }) => !same),
      ),
    );
  }

  /** @param {string} path */
  choose(path) {
    const index = this.#rows.findIndex((row) => row.path === path);
    if (index >= 0) this.select(index);
  }

  /** @param {number} index */
  select(index) {
    this.#at = index;
    const row = this.#rows[index];
    [...this.list.children].forEach((node, at) => {
      node.classList.toggle('hot', at === index);
      node.setAttribute('aria-selected', String(at === index));
    });
    const node = this.list.children[index];
    if (!row || !node) return;
    this.list.setAttribute('aria-activedescendant', node.id);
    const places = this.#sides.map(({ tree }, at) => tree.byPath.get(at ? pathB(row) : row.path) ?? null);
    this.#sides.forEach(({ hex, changed }, at) => {
      hex.light(marking({ selected: places[at], item: null, blobs: [], unread: null, changed }));
      const place = places[at];
      if (place?.lies) hex.reveal(place.node.offset, place.end);
    });
    const said = places.map((place) => (place ? placeText(place.node) : 'not there'));
    this.parts.foot.replaceChildren(
      h('span', h('b', pathText(row.path)), ` ${said[0] === said[1] ? `in both ${said[0]}` : said.join('; ')}`),
      h('span.grow'),
      h('span', 'Outlined: fields that differ'),
      ...inFull(row, node),
    );
  }

  /** @param {Difference} row @param {number} index @param {Compared} compared */
  #row(row, index, compared) {
    // Of one version both have the same fields: what one lacks is an element of a list.
    const alike = compared.first.version === compared.second.version;
    const absent = (/** @type {Inspected} */ side) =>
      h('span.said', alike || side.version === null ? 'not there' : `not in v${side.version}`);
    const cell = (/** @type {'a' | 'b'} */ name, /** @type {Inspected} */ side) => {
      const text = written(row[name]);
      return h(
        'span.vl',
        { role: 'gridcell', title: text.length > 24 ? text : null },
        name in row ? text : absent(side),
      );
    };
    return h(
      'div.fr',
      { role: 'row', id: `pair-${index}`, 'data-index': index },
      h(
        'span.nm',
        { role: 'gridcell', title: row.path },
        h(
          'span.nmt',
          ...pathText(row.path)
            .split(/(?<=\.)/)
            .flatMap((step, at) => (at ? [h('wbr'), step] : [step])),
        ),
      ),
      cell('a', compared.first),
      row.same ? h('span', { role: 'gridcell' }) : h('span.ne', { role: 'gridcell', 'aria-label': 'differs' }, '≠'),
      cell('b', compared.second),
      h('span.mn', { role: 'gridcell', title: row.meaning || null }, row.meaning ?? ''),
    );
  }

  /** @param {number} side @param {number} byte */
  #byByte(side, byte) {
    const { tree } = this.#sides[side];
    let place = tree.at(byte, new Set(tree.byPath.keys()));
    while (place) {
      const path = place.path;
      const index = this.#rows.findIndex((row) => (side ? pathB(row) : row.path) === path);
      if (index >= 0) {
        if (index !== this.#at) {
          this.select(index);
          this.list.children[index].scrollIntoView({ block: 'nearest' });
        }
        return;
      }
      place = place.parent;
    }
  }

  /** @param {Event} event */
  #pointed(event) {
    const row = hit(event, '.fr');
    const index = Number(row?.dataset.index ?? -1);
    if (index >= 0 && index !== this.#at) this.select(index);
  }

  /** @param {KeyboardEvent} event */
  #keyed(event) {
    const to = placeAfter(event.key, this.#at, this.#rows.length, PAGE);
    if (to === null || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    this.select(to);
    this.list.children[this.#at]?.scrollIntoView({ block: 'nearest' });
  }
}

/** What a row has no room for. @param {Difference} row @param {Element} node */
function inFull(row, node) {
  const clipped = [...node.querySelectorAll('.vl, .mn')].map((cell) =>
    !cell.clientWidth || cell.scrollWidth > cell.clientWidth ? (cell.textContent ?? '') : '',
  );
  const said = row.meaning && clipped[2] ? row.meaning : '';
  const values = clipped.slice(0, 2).filter(Boolean);
  if (!values.length && !said) return [];
  return [
    h(
      'span.full',
      ...values.flatMap((value, at) => [at ? ' ≠ ' : '', h('code', value)]),
      values.length && said ? ' ' : '',
      said,
    ),
  ];
}

/** Where the field is in the second. @param {Difference} row */
const pathB = (row) => row.path_b ?? row.path;

/** The bytes of the fields that differ. @param {FieldTree} tree @param {Difference[]} rows @param {number} side */
function bytesOf(tree, rows, side) {
  /** @type {Set<number>} */
  const bytes = new Set();
  for (const row of rows) {
    const place = (side === 0 ? 'a' : 'b') in row ? tree.byPath.get(side ? pathB(row) : row.path) : undefined;
    if (!place?.lies) continue;
    for (let at = place.node.offset; at < place.end; at += 1) bytes.add(at);
  }
  return bytes;
}

/** `members[0].topics` for `members.0.topics`. @param {string} path */
const pathText = (path) => path.replace(/\.(\d+)(?=\.|$)/g, '[$1]');

/** A value of either side in a narrow column. @param {import('../types').Json | undefined} value @returns {string} */
export function written(value) {
  if (value === undefined) return '';
  if (value === null) return 'null';
  if (Array.isArray(value))
    return value.length ? value.map(written).join(value.some((item) => typeof item === 'object') ? ', ' : ' ') : 'none';
  if (typeof value === 'object') return Object.values(value).map(written).join(' ');
  return value === '' ? 'empty' : String(value);
}
