/**
 * What a run costs: who read which partition when, and when nobody did. Pure.
 *
 * Who reads is what clients own, where the run tells (a simulated one does); of records alone it is what is assigned,
 * as the coordinator saw it.
 *
 * @typedef {import('./types').Frame} Frame
 * @typedef {import('./types').Moment} Moment
 * @typedef {{moment: Moment | null, frame: Frame, at_ms: number}} Seen
 * @typedef {{key: string, member: string | null, from_ms: number, to_ms: number}} Stretch a `member` of null: nobody reads
 * @typedef {{stretches: Stretch[], keys: string[], lost_ms: number, stopped: number, longest_ms: number, moved: number, settled_ms: number, epochs: number, lag_max: number | null, read_twice: number | null, skipped: number | null}} Cost
 */

import { each, epochOf } from './view.js';

/** Partition → its readers at a frame, in the order of members. @param {Frame} frame @returns {Map<string, string[]>} */
export function readersOf(frame) {
  /** @type {Map<string, string[]>} */
  const readers = new Map();
  const add = (/** @type {string} */ key, /** @type {string} */ member) =>
    readers.set(key, [...(readers.get(key) ?? []), member]);
  if (frame.clients) {
    for (const [member, client] of Object.entries(frame.clients)) {
      const leaves = new Set();
      // What is being revoked is not read any more.
      if (client.calling) each(client.revoking, (key) => leaves.add(key));
      each(client.owned, (key) => {
        if (!leaves.has(key)) add(key, member);
      });
    }
  } else for (const [member, state] of Object.entries(frame.members)) each(state.assigned, (key) => add(key, member));
  return readers;
}

/** Records that are written and that nobody has read, of all partitions; null where no rate is told. @param {Frame} frame @param {number} at_ms of the frame, or later and before the next one */
export function lagAt(frame, at_ms) {
  const told = frame.consumption;
  return told ? Math.floor((told.waiting + told.waiting_rate * at_ms) / 1000) : null;
}

/** The greatest lag, which only grows until somebody reads again. @param {Seen[]} seen @param {number} end_ms */
function mostLag(seen, end_ms) {
  /** @type {number | null} */
  let most = null;
  seen.forEach(({ frame }, number) => {
    const lag = lagAt(frame, seen[number + 1]?.at_ms ?? end_ms);
    if (lag !== null) most = Math.max(most ?? 0, lag);
  });
  return most;
}

/** How many more records than at first. @param {Seen[]} seen @param {'read_twice' | 'skipped'} name */
function more(seen, name) {
  const last = seen[seen.length - 1]?.frame.consumption;
  return last ? last[name] - (seen[0].frame.consumption?.[name] ?? 0) : null;
}

/** @param {Seen[]} seen in order, from the run's first frame on @param {number} end_ms @returns {Cost} */
export function costOf(seen, end_ms) {
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
    lag_max: mostLag(seen, end_ms),
    read_twice: more(seen, 'read_twice'),
    skipped: more(seen, 'skipped'),
  };
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
export function seenAt(seen, at_ms) {
  let low = 0;
  let high = seen.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (seen[middle].at_ms <= at_ms) low = middle;
    else high = middle - 1;
  }
  return seen[low];
}

/** @param {number[]} numbers */
const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);
