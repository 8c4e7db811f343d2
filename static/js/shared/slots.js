/**
 * The chunks of a timeline in order, those that are here and those that are not: where an entry is, how many steps come
 * before it, and which chunks are forgotten first. Pure.
 *
 * @import {Chunk, Delta, Moment} from '../types'
 * @typedef {{first: number, last: number, moments: number | null, data: Chunk | null, steps: Moment[] | null,
 *   loading: Promise<Chunk> | null, late: Delta[], used: number}} Slot `moments`: how many it has, if that is known
 */

import { countWhile } from './sorted.js';

/**
 * The number of items whose sequence is at most `sequence`.
 *
 * @param {{sequence: number}[]} items in the order of their sequences
 * @param {number} sequence
 */
export const countUpTo = (items, sequence) => countWhile(items, (item) => item.sequence <= sequence);

/** @param {number} first @param {number} last @param {number | null} [moments] @returns {Slot} */
export const slotOf = (first, last, moments = null) => ({
  first,
  last,
  moments,
  data: null,
  steps: null,
  loading: null,
  late: [],
  used: 0,
});

/** The slot in which an entry is, or the nearest one; -1 where there is none. @param {Slot[]} slots @param {number} sequence */
export const indexOf = (slots, sequence) =>
  slots.length ? Math.max(0, countWhile(slots, (slot) => slot.first <= sequence) - 1) : -1;

/** Where the board stops in a slot. @param {Slot} slot @param {(moment: Moment) => boolean} rests @returns {Moment[]} */
export function stepsIn(slot, rests) {
  if (!slot.data) return [];
  slot.steps ??= slot.data.moments.filter(rests);
  return slot.steps;
}

/** How many moments come before a slot, those at which the board does not stop included; null where that is not known. @param {Slot[]} slots @param {number} index */
export function momentsBefore(slots, index) {
  let count = 0;
  for (let at = 0; at < index; at += 1) {
    const moments = slots[at].data?.moments.length ?? slots[at].moments;
    if (moments === null) return null;
    count += moments;
  }
  return count;
}

/** How many steps stand before a slot, as far as is known. @param {Slot[]} slots @param {number} index @param {(moment: Moment) => boolean} rests */
export function stepsBefore(slots, index, rests) {
  let count = 0;
  for (let at = 0; at < index; at += 1)
    count += slots[at].data ? stepsIn(slots[at], rests).length : (slots[at].moments ?? 0);
  return count;
}

/**
 * Forgets the chunks that were not used for the longest, until `keep` are left. The last one stays, since what it grew by is
 * nowhere else, and so does the one that is stood in.
 *
 * @param {Slot[]} slots
 * @param {number} keep
 * @param {Slot | undefined} stood
 * @returns {boolean} whether any was forgotten
 */
export function forget(slots, keep, stood) {
  const here = slots.filter((one) => one.data);
  if (here.length <= keep) return false;
  here.sort((a, b) => a.used - b.used);
  for (const old of here.slice(0, here.length - keep)) {
    if (old === slots[slots.length - 1] || old === stood) continue;
    old.moments = old.data?.moments.length ?? old.moments;
    old.data = null;
    old.steps = null;
  }
  return true;
}
