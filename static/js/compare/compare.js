/**
 * What a run costs: who read which partition when, and when nobody did. Pure.
 *
 * Who reads is what clients own, if the run reports it (a simulated one does); of records alone it is what is assigned,
 * as the coordinator saw it.
 *
 * @import {Frame, Moment} from '../types'
 * @typedef {{moment: Moment | null, frame: Frame, at_ms: number}} Seen
 * @typedef {{at_ms: number, waiting: number, waiting_rate: number, read_twice: number, skipped: number}} Consumed
 * @typedef {{key: string, member: string | null, from_ms: number, to_ms: number}} Stretch a `member` of null: nobody reads
 * @typedef {{stretches: Stretch[], keys: string[], lost_ms: number, stopped: number, longest_ms: number, moved: number, settled_ms: number, epochs: number, lag_max: number | null, read_twice: number | null, skipped: number | null}} Cost
 */

import { CLOCK_FROM_MS } from '../shared/times.js';
import { countWhile } from '../shared/sorted.js';
import { append } from '../shared/lists.js';
import { each, epochOf } from '../frame/view.js';

/** Partition → its readers at a frame, in the order of members. @param {Frame} frame @returns {Map<string, string[]>} */
export function readersOf(frame) {
  /** @type {Map<string, string[]>} */
  const readers = new Map();
  if (frame.clients) {
    for (const [member, client] of Object.entries(frame.clients)) {
      const leaves = new Set();
      // What is being revoked is not read any more.
      if (client.calling) each(client.revoking, (key) => leaves.add(key));
      each(client.owned, (key) => {
        if (!leaves.has(key)) append(readers, key, member);
      });
    }
  } else
    for (const [member, state] of Object.entries(frame.members))
      each(state.assigned, (key) => append(readers, key, member));
  return readers;
}

/**
 * How far the group has read at each entry of a chunk that changes it, and at its beginning: nobody need say anything of it, so
 * that it is none of the moments. Empty where no rate is reported.
 *
 * @param {{frame: Frame, changes: {sequence: number, path: string[], new?: any}[]}} chunk
 * @returns {Consumed[]}
 */
export function consumedIn({ frame, changes }) {
  let { at_ms } = frame;
  let known = /** @type {any} */ (frame.consumption);
  /** @type {Consumed[]} */
  const consumed = known ? [{ at_ms, ...figuresOf(known) }] : [];
  changes.forEach(({ sequence, path, new: value }, number) => {
    const [part, name] = path;
    if (part === 'at_ms') at_ms = value;
    if (part === 'consumption' && path.length < 3) known = name ? { ...known, [name]: value } : value;
    const ends = changes[number + 1]?.sequence !== sequence;
    const last = consumed[consumed.length - 1];
    if (!ends || !known || (last && FIGURES.every((figure) => last[figure] === known[figure]))) return;
    consumed.push({ at_ms, ...figuresOf(known) });
  });
  return consumed;
}

/** @type {('waiting' | 'waiting_rate' | 'read_twice' | 'skipped')[]} */
const FIGURES = ['waiting', 'waiting_rate', 'read_twice', 'skipped'];

/** @param {any} told @returns {Omit<Consumed, 'at_ms'>} */
const figuresOf = ({ waiting, waiting_rate, read_twice, skipped }) => ({ waiting, waiting_rate, read_twice, skipped });

/** Records that are written and that nobody has read, of all partitions. @param {Consumed} known @param {number} at_ms its time, or later and before the next one's */
const lagOf = (known, at_ms) => Math.floor((known.waiting + known.waiting_rate * at_ms) / 1000);

/** The same at any time; null before a rate is reported. @param {Consumed[]} consumed @param {number} at_ms */
export function lagAt(consumed, at_ms) {
  const known = consumed.filter((change) => change.at_ms <= at_ms).pop();
  return known ? lagOf(known, at_ms) : null;
}

/**
 * What the time from `from_ms` until `end_ms` cost the records: the greatest lag, which only grows until somebody reads again.
 *
 * @param {Consumed[]} consumed @param {number} from_ms @param {number} end_ms
 */
export function recordsOf(consumed, from_ms, end_ms) {
  if (!consumed.length) return { lag_max: null, read_twice: null, skipped: null };
  const before = consumed.filter(({ at_ms }) => at_ms <= from_ms).pop();
  const within = consumed.filter(({ at_ms }) => at_ms > from_ms);
  const known = before ? [before, ...within] : within;
  const first = known[0];
  const last = known[known.length - 1];
  return {
    lag_max: Math.max(...known.map((change, number) => lagOf(change, known[number + 1]?.at_ms ?? end_ms))),
    read_twice: last.read_twice - first.read_twice,
    skipped: last.skipped - first.skipped,
  };
}

/** @param {Seen[]} seen in order, from the run's first frame on @param {number} end_ms @param {Consumed[]} consumed @returns {Cost} */
export function costOf(seen, end_ms, consumed = []) {
  /** @type {Map<string, {member: string | null, from_ms: number}>} */
  const open = new Map();
  /** @type {Stretch[]} */
  const stretches = [];
  let settled_ms = 0;
  let moved = 0;
  const last = /** @type {Map<string, string>} */ (new Map());
  const epochs = new Set();
  const close = (/** @type {string} */ key, /** @type {number} */ at_ms) => {
    const was = open.get(key);
    if (was && at_ms > was.from_ms) stretches.push({ key, member: was.member, from_ms: was.from_ms, to_ms: at_ms });
  };
  for (const { frame, at_ms } of seen) {
    const epoch = epochOf(frame);
    if (epoch) epochs.add(epoch);
    const readers = readersOf(frame);
    for (const key of new Set([...open.keys(), ...readers.keys()])) {
      const member = readers.get(key)?.[0] ?? null;
      const was = open.get(key);
      if (was ? was.member === member : member === null) continue;
      close(key, at_ms);
      open.set(key, { member, from_ms: at_ms });
      settled_ms = at_ms;
      if (member === null) continue;
      if (last.has(key) && last.get(key) !== member) moved += 1;
      last.set(key, member);
    }
  }
  for (const key of open.keys()) close(key, end_ms);
  const bare = stretches.filter((stretch) => stretch.member === null);
  return {
    stretches,
    keys: [...open.keys()].sort((a, b) => a.localeCompare(b, undefined, { numeric: true })),
    lost_ms: sum(bare.map(({ from_ms, to_ms }) => to_ms - from_ms)),
    stopped: new Set(bare.map(({ key }) => key)).size,
    longest_ms: Math.max(0, ...bare.map(({ from_ms, to_ms }) => to_ms - from_ms)),
    moved,
    settled_ms,
    epochs: epochs.size,
    ...recordsOf(consumed, seen[0]?.at_ms ?? 0, end_ms),
  };
}

/**
 * What was seen of a run, the frame before a log's first entry at that entry's time: it has none of its own.
 *
 * @param {Seen[]} seen @returns {Seen[]}
 */
export function begun(seen) {
  const [before, first] = seen;
  if (!first || before.at_ms >= CLOCK_FROM_MS || first.at_ms < CLOCK_FROM_MS) return seen;
  return [{ ...before, at_ms: first.at_ms }, ...seen.slice(1)];
}

/**
 * What was seen from a time on; the first is what was there by then. What happened before counts for nothing.
 *
 * @param {Seen[]} seen @param {number} from_ms
 * @returns {Seen[]}
 */
export function seenFrom(seen, from_ms) {
  if (!seen.length || from_ms <= seen[0].at_ms) return seen;
  return [{ ...seenAt(seen, from_ms), at_ms: from_ms }, ...seen.filter(({ at_ms }) => at_ms > from_ms)];
}

/** What was lost until a time. @param {Cost} cost @param {number} at_ms */
export function lostUntil(cost, at_ms) {
  return sum(
    cost.stretches
      .filter(({ member }) => member === null)
      .map(({ from_ms, to_ms }) => Math.max(0, Math.min(to_ms, at_ms) - from_ms)),
  );
}

/** Partition → since when nobody reads it, at a time. @param {Cost} cost @param {number} at_ms */
export function bareSince(cost, at_ms) {
  return new Map(
    cost.stretches
      .filter(({ member, from_ms, to_ms }) => member === null && from_ms <= at_ms && at_ms < to_ms)
      .map(({ key, from_ms }) => [key, from_ms]),
  );
}

/** The last that was seen at or before a time; the first where there is none. @param {Seen[]} seen @param {number} at_ms */
export const seenAt = (seen, at_ms) => seen[Math.max(0, countWhile(seen, (one) => one.at_ms <= at_ms) - 1)];

/** @param {number[]} numbers */
const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);
