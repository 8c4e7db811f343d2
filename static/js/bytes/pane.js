/**
 * Fields and bytes side by side with one selection: what the inspector's page and the board's details both show.
 *
 * @import {Inspected} from './types'
 * @import {Place} from './tree.js'
 * @import {Extent} from './marks.js'
 */

import { h } from '../shared/dom.js';
import { copyValue } from './copying.js';
import { changedBytes, fromBase64 } from './edits.js';
import { FieldGrid } from './field-grid.js';
import { HexView } from './hex-view.js';
import { blobsOf, marking, shownAs } from './marks.js';
import { FieldTree } from './tree.js';
import { counted, grouped } from '../shared/numbers.js';
import { meaningText, placeText, titleOf, valueText } from './words.js';

/**
 * @typedef {object} Showing
 * @property {Inspected | null} [before] as it was before the edits
 * @property {Set<string>} [open] paths that were open
 * @property {string | null} [select] a path
 * @property {Set<string>} [edited] paths
 */

export class BytesPane {
  tree = new FieldTree([]);
  /** @type {Uint8Array} */
  bytes = new Uint8Array();
  /** @type {Extent[]} */
  #blobs = [];
  /** @type {Extent | null} */
  #unread = null;
  /** @type {Set<number>} */
  #changed = new Set();

  /**
   * @param {object} parts
   * @param {HTMLElement} parts.fields
   * @param {HTMLElement} parts.hex
   * @param {HTMLElement} parts.foot shows where the selected field lies
   * @param {() => number} parts.columns
   * @param {(place: Place) => void} [parts.onSelect]
   * @param {(place: Place, text: string | null) => Promise<string | null>} [parts.onEdit]
   * @param {() => void} [parts.onLeave]
   */
  constructor({ fields, hex, foot, columns, onSelect, onEdit, onLeave }) {
    this.foot = foot;
    this.copier = h('button.btn.sm.copier', { 'aria-live': 'off', onclick: () => this.copyValue() }, 'Copy value');
    this.onSelect = onSelect;
    this.grid = new FieldGrid({
      root: fields,
      tree: this.tree,
      onEdit,
      onLeave,
      onSelect: (place) => {
        this.hex.cursor = null;
        const shown = shownAs(place);
        if (shown) this.hex.reveal(shown.node.offset, shown.end);
        this.#chosen(place);
      },
    });
    this.hex = new HexView({
      root: hex,
      columns,
      start: () => shownAs(this.grid.selected)?.node.offset ?? 0,
      onPoint: (byte, how) => {
        const place = this.tree.at(byte, this.grid.open);
        if (!place || (how === 'pointer' && (this.grid.editing || place === this.grid.selected))) return;
        this.grid.select(place);
        this.#chosen(place);
      },
    });
  }

  get selected() {
    return this.grid.selected;
  }

  /** @param {Inspected} inspected @param {Showing} [showing] */
  show(inspected, { before = null, open, select = null, edited } = {}) {
    this.bytes = fromBase64(inspected.bytes);
    this.tree = new FieldTree(inspected.fields);
    this.#blobs = blobsOf(this.tree);
    this.#unread = null;
    this.#changed = before
      ? changedBytes(new FieldTree(before.fields), fromBase64(before.bytes), this.tree, this.bytes)
      : new Set();
    this.grid.load(this.tree, { open: open ?? this.tree.opening(), selected: select, edited });
    this.hex.load(this.bytes);
    this.#light();
    this.grid.reveal();
    this.#reveal();
  }

  /** Chooses a field by its path, opening what it lies in. @param {string} path */
  choose(path) {
    const place = this.tree.byPath.get(path);
    if (!place) return;
    this.grid.select(place);
    this.#reveal();
    this.#chosen(place);
  }

  /** The bytes that a client would not read. @param {Extent | null} extent */
  strike(extent) {
    this.#unread = extent;
    this.#light();
  }

  /** What is selected, as it would be typed. */
  copyValue() {
    return copyValue(this.selected?.node, this.grid.item, this.selected ? titleOf(this.selected) : '');
  }

  #reveal() {
    const shown = shownAs(this.grid.selected);
    if (shown) this.hex.reveal(shown.node.offset, shown.end);
  }

  /** @param {Place} place */
  #chosen(place) {
    this.#light();
    this.onSelect?.(place);
  }

  /** What the row of the selected field has no room for. */
  #inFull() {
    const node = this.selected?.node;
    if (!node) return [];
    const clipped = this.grid.clipped();
    const value = clipped.value ? valueText(node).text : '';
    const meaning = clipped.meaning ? meaningText(node) : '';
    return value || meaning
      ? [h('span.full', value ? h('code', value) : '', value && meaning ? ' ' : '', meaning)]
      : [];
  }

  #light() {
    const selected = this.grid.selected;
    this.hex.light(
      marking({
        selected,
        item: this.grid.item,
        blobs: this.#blobs,
        unread: this.#unread,
        changed: this.#changed,
      }),
    );
    const changed = this.#changed.size;
    this.foot.replaceChildren(
      h(
        'span',
        ...(selected
          ? [h('b', titleOf(selected)), ` ${placeText(selected.node, selected.lies)}`]
          : ['Point at a field or a byte.']),
      ),
      h('span.grow'),
      changed
        ? h('span.count', h('b', grouped(changed)), ` ${counted(changed, 'byte').replace(/^\S+ /, '')} changed`)
        : '',
      selected ? this.copier : '',
      ...this.#inFull(),
    );
  }
}
