/**
 * Which blocks stand in the row of each member: what it owns, what it should own, and what a client that is no member any more
 * still reads.
 *
 * @typedef {import('../types').PartitionView} PartitionView
 * @typedef {import('./block.js').Block} Block
 * @typedef {{cast: import('../frame/cast.js').Cast, labels: import('../frame/labels.js').Labels}} Names
 */

import { stillReads } from '../frame/hardships.js';
import { SIDE, widthOf } from './block.js';
import { chipWords } from './chips.js';

/**
 * @param {import('./lanes.js').Scene} scene
 * @param {Names} names
 * @param {number} each blocks that a row has at most
 * @returns {{held: Map<string, Block[]>, more: Map<string, number>}} by member; ``more`` counts what has no block
 */
export function heldBlocks({ frame, views }, names, each) {
  const hueOf = (/** @type {string} */ member) => names.cast.lane(member).hue;
  /** @type {Map<string, Block[]>} */
  const held = new Map(Object.keys(frame.members).map((member) => [member, []]));
  /** @type {Map<string, number>} */
  const more = new Map();
  const give = (/** @type {string} */ member, /** @type {PartitionView} */ view, /** @type {Block['mode']} */ mode) => {
    const blocks = held.get(member);
    // What is under way comes before what stays, as far as there is room for either.
    if (blocks && blocks.length < (mode === 'own' ? each / 2 : each))
      blocks.push(blockOf(view.key, mode, { view, hue: hueOf(member) }, names));
    else if (blocks) more.set(member, (more.get(member) ?? 0) + 1);
  };
  for (const view of views.values()) {
    for (const holder of view.holders) give(holder, view, view.mode);
    for (const member of frame.protocol === 'share' ? view.wanted : view.wants ? [view.wants] : []) {
      if (!view.holders.includes(member)) give(member, view, 'want');
    }
  }
  for (const client of Object.keys(frame.clients ?? {})) {
    if (frame.members[client]) continue;
    const reads = stillReads(frame, client);
    const still = (/** @type {string} */ key) =>
      blockOf(key, 'still', { view: views.get(key), hue: hueOf(client) }, names);
    held.set(client, reads.slice(0, each).map(still));
    more.set(client, reads.length - Math.min(reads.length, each));
  }
  for (const blocks of held.values()) blocks.sort((a, b) => a.key.localeCompare(b.key, 'en', { numeric: true }));
  return { held, more };
}

/**
 * @param {string} key
 * @param {Block['mode']} mode
 * @param {{view: PartitionView | undefined, hue: string}} of
 * @param {Names} names
 * @returns {Block}
 */
export function blockOf(key, mode, { view, hue }, { cast, labels }) {
  const label = labels.partition(key);
  const text =
    mode === 'still'
      ? `${label}: a client that is no member any more still reads it`
      : chipWords(view, label, (member) => cast.name(member), labels.having.who);
  const named = mode !== 'own' && mode !== 'free';
  return { key, mode, x: 0, y: 0, width: named ? widthOf(label) : SIDE, hue, says: text };
}

/** @template T @param {Iterable<T>} all @param {number} most @returns {T[]} */
export function firstOf(all, most) {
  const first = [];
  for (const one of all) {
    if (first.length >= most) break;
    first.push(one);
  }
  return first;
}
