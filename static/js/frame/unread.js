/**
 * Partitions that are assigned and that nobody reads: their owner's process was killed or is paused (a simulated run reports that),
 * or it is silent: its commits have stopped (inferred from a log). The coordinator notices when a session expires; until then the
 * group may be Stable. Pure.
 *
 * @import {Frame, SilentSpan} from '../types'
 * @typedef {{member: string, keys: string[], why: 'killed' | 'paused' | 'silent', since_ms?: number}} Unread `since_ms`: since its last commit
 */

import { keyOf, keysOf } from './view.js';
import { silentWords } from './words.js';

/**
 * @param {Frame} frame
 * @param {SilentSpan[]} silences of the timeline
 * @param {{sequence: number, at_ms: number}} at where the board rests: entries that change nothing leave the frame's own place behind
 * @returns {Unread[]} by member, those that are certain first
 */
export function unreadOf(frame, silences, at) {
  /** @type {Unread[]} */
  const found = [];
  for (const [member, state] of Object.entries(frame.members)) {
    const client = frame.clients?.[member];
    const why = client?.killed ? 'killed' : client?.paused ? 'paused' : null;
    const keys = keysOf(state.assigned);
    if (why && keys.length) found.push({ member, keys, why });
  }
  for (const one of silences) {
    if (!frame.members[one.member] || one.from_sequence > at.sequence) continue;
    if (one.to_sequence !== null && one.to_sequence <= at.sequence) continue;
    const assigned = new Set(keysOf(frame.members[one.member].assigned));
    const stops = one.partitions.filter(
      (stop) => stop.from_sequence <= at.sequence && assigned.has(keyOf(stop.topic, stop.partition)),
    );
    if (!stops.length || found.some(({ member }) => member === one.member)) continue;
    const since_ms = at.at_ms - Math.max(...stops.map((stop) => stop.from_ms));
    const keys = stops.map((stop) => keyOf(stop.topic, stop.partition));
    found.push({ member: one.member, keys, why: 'silent', since_ms: Math.max(0, since_ms) });
  }
  return found;
}

/**
 * What a board shows of a rest, whoever draws it. What happened may have run on for seconds: its time is when it happened.
 *
 * @param {import('../timeline/timeline.js').Rest} rest
 * @param {SilentSpan[]} silences of the timeline
 */
export function sceneAt({ frame: settled, moment, sequence }, silences) {
  const frame = moment ? { ...settled, at_ms: moment.at_ms } : settled;
  const stopped = unreadOf(settled, silences, { sequence, at_ms: frame.at_ms });
  const unread = new Map(stopped.flatMap(({ keys, why }) => keys.map((key) => /** @type {const} */ ([key, why]))));
  return { frame, moment, unread, silent: silentOf(stopped) };
}

/** Silent members, with the time since the last commit of each. @param {Unread[]} unread @returns {Map<string, number>} */
export const silentOf = (unread) =>
  new Map(unread.flatMap(({ member, since_ms }) => (since_ms === undefined ? [] : [[member, since_ms]])));

/** What is said of them, in one line. @param {Unread[]} unread @param {(member: string) => string} name @param {(key: string) => string} label */
export function unreadWords(unread, name, label) {
  return unread
    .map(({ member, keys, why, since_ms = 0 }) => {
      const what = keys.length > 3 ? `${keys.length} partitions` : keys.map(label).join(', ');
      return why === 'silent'
        ? `${what}: assigned to ${name(member)}, ${silentWords(since_ms)} (inferred)`
        : `Not read: ${what} (${name(member)} ${why === 'killed' ? 'was killed' : 'is paused'})`;
    })
    .join('. ');
}
