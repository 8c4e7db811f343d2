/**
 * Bytes that are open: as they came, as they are after edits, and the way back; and what one would compare them with.
 *
 * @import {Inspected} from './types'
 * @import {BytesPane} from './pane.js'
 * @import {Place} from './tree.js'
 */

import { History, toBase64 } from './edits.js';
import { isBlob } from './tree.js';
import { nameOf } from './words.js';

/** Kinds that contain their own version are read with that one. @param {{kind: string, version: number | null}} of */
export const asVersion = ({ kind, version }) =>
  /-(request|response)$/.test(kind) && version !== null ? version : undefined;

export class Sheet {
  /** @type {History<{current: Inspected, paths: Set<string>}>} */
  #history = new History();
  /** Fields that were edited. @type {Set<string>} */
  paths = new Set();

  /** @param {Inspected} answer @param {string} source where the bytes are from, in a word */
  constructor(answer, source) {
    this.original = answer;
    this.current = answer;
    this.source = source;
  }

  get isEdited() {
    return this.current !== this.original;
  }

  /** How many edits can be taken back. */
  get steps() {
    return this.#history.length;
  }

  /** @param {Inspected} answer @param {string} path of the field that was edited */
  take(answer, path) {
    const { current } = this;
    if (answer.bytes === current.bytes) return;
    this.#history.push({ current, paths: this.paths });
    this.paths = new Set([...this.paths, path]);
    this.current = { ...answer, guesses: current.guesses, how: current.how };
  }

  /** @returns {boolean} whether there was something to take back */
  undo() {
    const past = this.#history.pop();
    if (!past) return false;
    this.current = past.current;
    this.paths = past.paths;
    return true;
  }
}

/**
 * One of two that are compared: its name, what the server is asked about, and the entry that it is, if it is one of the
 * open record's timeline.
 *
 * @typedef {{name: string, body: {[name: string]: any}, entry?: number}} Side
 */

/** @param {Inspected} of @param {string} name @returns {Side} */
const whole = (of, name) => ({ name, body: { bytes: of.bytes, kind: of.kind, version: asVersion(of) } });

/**
 * What one would compare: before and after the edits, or two members' blobs of a kind, or what is open with what comes.
 *
 * @param {Sheet | null} sheet
 * @param {BytesPane} pane that shows it
 * @returns {Side[]}
 */
export function pairOf(sheet, pane) {
  if (!sheet) return [];
  if (sheet.isEdited) return [whole(sheet.original, 'before'), whole(sheet.current, 'after')];
  let place = pane.selected;
  while (place && !isBlob(place.node)) place = place.parent;
  const kind = place?.node.kind ?? 'subscription';
  const alike = [...pane.tree.all()].filter((found) => isBlob(found.node) && found.node.kind === kind && found.lies);
  if (alike.length < 2) return [whole(sheet.current, 'first')];
  const at = place ? alike.indexOf(place) : 0;
  return [alike[at], alike[(at + 1) % alike.length]].map((found, number) => ({
    name: (found.parent ? nameOf(found.parent.node) : '') || ['first', 'second'][number],
    body: { bytes: toBase64(pane.bytes.subarray(...contentOf(found))), kind },
  }));
}

/** Where the content of an opened blob begins and ends. @param {Place} place @returns {[number, number]} */
export const contentOf = ({ node, end }) => [node.offset + (node.prefix ?? 0), end];

/**
 * The subscription around what is selected, or the first that there is.
 *
 * @param {BytesPane} pane
 * @returns {Place | null}
 */
export function subscriptionAround(pane) {
  const isOne = (/** @type {Place} */ place) => isBlob(place.node) && place.node.kind === 'subscription' && place.lies;
  for (let place = pane.selected; place; place = place.parent) if (isOne(place)) return place;
  for (const place of pane.tree.all()) if (isOne(place)) return place;
  return null;
}
