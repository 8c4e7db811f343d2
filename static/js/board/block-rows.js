/**
 * Which rows of blocks there are, and in how many columns they stand. Pure.
 *
 * @typedef {import('../types').Frame} Frame
 * @typedef {import('./block.js').Block} Block
 */

import { GAP, SIDE } from './block.js';

/** With more rows than this the rows at rest are counted and not drawn; those that change always are. */
const ROWS_MOST = 300;
/** Rows of few blocks stand in so many columns beside each other at most. */
const COLUMNS_MOST = 4;
/** Between two columns. */
export const BETWEEN = 12;
/** Behind the blocks of a row. */
const AFTER = 8;

/**
 * @param {Frame} frame
 * @param {Map<string, Block[]>} held
 * @param {object} of
 * @param {string | null} of.actor
 * @param {Map<string, unknown>} of.troubled
 * @param {(member: string) => number} of.orderOf
 * @returns {{rows: string[], rest: number}} members in order of joining; how many have no row
 */
export function rowsOf(frame, held, { actor, troubled, orderOf }) {
  const all = Object.keys(frame.members).sort((a, b) => orderOf(a) - orderOf(b));
  if (all.length <= ROWS_MOST) return { rows: all, rest: 0 };
  const changes = (/** @type {string} */ member) =>
    member === actor || troubled.has(member) || (held.get(member) ?? []).some((block) => block.mode !== 'own');
  const chosen = new Set(all.filter(changes).slice(0, ROWS_MOST));
  for (const member of all) {
    if (chosen.size >= ROWS_MOST) break;
    chosen.add(member);
  }
  return { rows: all.filter((member) => chosen.has(member)), rest: all.length - chosen.size };
}

/**
 * By what a member owns on average, in powers of two, and one block with a name: a move of a few partitions moves no rows.
 *
 * @param {{members: number, partitions: number, head: number, named: number}} of `head` and `named`: how wide a row's head and a block with a
 *   name are
 * @param {number} width
 */
export function columnsIn({ members, partitions, head, named }, width) {
  const owned = 2 ** Math.round(Math.log2(Math.max(1, partitions / Math.max(1, members))));
  const needed = head + owned * (SIDE + GAP) + named + AFTER;
  return Math.max(1, Math.min(COLUMNS_MOST, members, Math.floor((width + BETWEEN) / (needed + BETWEEN))));
}
