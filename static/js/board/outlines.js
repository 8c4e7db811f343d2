/**
 * Outlines in the matrix: where a partition should be and is not, where it is withheld, and where it is read or owned besides the
 * one chip that it has.
 *
 * @import {Column, Frame, PartitionView} from '../types'
 *
 * @typedef {object} Grid the matrix, to draw into
 * @property {Column[]} columns
 * @property {import('../frame/cast.js').Cast} cast
 * @property {import('../frame/labels.js').Labels} labels
 * @property {(lane: string, key: string) => HTMLElement | undefined} cellOf
 * @property {(key: string) => HTMLElement | undefined} chipOf
 *
 * @typedef {{chip: Element, slot: Element, hue: string}} Pair a chip and the outline that it is to move to
 */

import { h } from '../shared/dom.js';
import { obstacleOf, rejoins } from '../frame/next-heartbeat.js';
import { isShare, keysOf } from '../frame/view.js';
import { face } from './chips.js';
import { named } from './notes.js';

/** When a target owner gets what is unassigned, where its next heartbeat does not bring it. @type {{[obstacle: string]: string}} */
const LATER = {
  removed: 'next target',
  killed: 'process killed',
  away: 'away',
  paused: 'paused',
  cut: 'cut off',
  revoking: 'after revoking',
  revokes: 'after revoking',
};

/**
 * Dashed outlines where partitions should be and are not.
 *
 * @param {Frame} frame @param {import('./lanes.js').Scene['views']} views @param {Grid} grid
 * @returns {Pair[]} what is tied by a tether
 */
export function outlines(frame, views, grid) {
  /** @type {Pair[]} */
  const pairs = [];
  for (const [member, target] of Object.entries(frame.target ?? {})) {
    if (!frame.members[member]) continue;
    for (const key of keysOf(target)) {
      // Of thousands of partitions few have a column of their own.
      const chip = grid.chipOf(key);
      const view = chip && views.get(key);
      if (!view || view.holders.includes(member)) continue;
      const slot = outline(key, member, grid, '', targetWords(frame, member, view, grid));
      // A reader more is no move from the others.
      if (slot && !isShare(frame)) pairs.push({ chip, slot, hue: grid.cast.lane(member).hue });
    }
  }
  for (const [member, partitions] of Object.entries(frame.withheld ?? {})) {
    if (!frame.members[member]) continue;
    for (const key of keysOf(partitions))
      if (!views.get(key)?.holders.includes(member)) outline(key, member, grid, 'withheld', ['withheld']);
  }
  return pairs;
}

/** @param {Frame} frame @param {string} member @param {PartitionView} view @param {Grid} grid @returns {(string | Node)[]} */
function targetWords(frame, member, view, { cast }) {
  if (isShare(frame)) return ['to read'];
  if (view.holder) return ['owned by ', named(cast, view.holder)];
  const waits = obstacleOf(frame, member);
  return [waits ? LATER[waits] : rejoins(frame, member) ? 'next JoinGroup' : 'next heartbeat'];
}

/** What a client that is no member any more still reads. @param {string} key @param {string} member @param {Grid} grid */
export function stillRead(key, member, grid) {
  outline(key, member, grid, 'still', ['still reads it']);
}

/** There is one chip for a partition; a second member that has it and should not has an outline in red. @param {Column} column @param {string} member @param {Grid} grid */
export function alsoOwned({ key }, member, grid) {
  outline(key, member, grid, 'still', ['owned here, too']);
}

/**
 * An outline with its words in the cell of a member; null where the matrix has no such cell.
 *
 * @param {string} key @param {string} member @param {Grid} grid @param {'' | 'still' | 'withheld'} kind @param {(string | Node)[]} text
 */
function outline(key, member, { columns, cast, labels, cellOf }, kind, text) {
  const lane = cast.lane(member);
  const column = columns.find((candidate) => candidate.key === key);
  const cell = cellOf(lane.key, key);
  if (!column || !cell) return null;
  const slot = h(
    'div',
    { class: kind ? `slot ${kind}` : 'slot', 'data-hue': lane.hue },
    ...face(column, labels.prefix(column.topic), labels.shape(column.topic)),
  );
  cell.append(slot, h('div', { class: kind === 'still' ? 'cap w' : 'cap' }, ...text));
  return slot;
}
