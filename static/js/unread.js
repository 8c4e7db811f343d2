/**
 * Partitions that are assigned and that nobody reads: their owner's process was killed or is paused (a simulated run tells that),
 * or it is silent: its commits have stopped (inferred from a log). The coordinator notices when a session expires; until then the
 * group may be Stable. Pure.
 *
 * @typedef {import('./types').Frame} Frame
 * @typedef {import('./types').SilentSpan} SilentSpan
 * @typedef {{member: string, keys: string[], why: 'killed' | 'paused' | 'silent'}} Unread
 */

import { keyOf, keysOf } from './view.js';

/**
 * @param {Frame} frame
 * @param {SilentSpan[]} silences of the timeline
 * @returns {Unread[]} by member, those that are certain first
 */
export function unreadOf(frame, silences) {
  /** @type {Unread[]} */
  const found = [];
  for (const [member, state] of Object.entries(frame.members)) {
    const client = frame.clients?.[member];
    const why = client?.killed ? 'killed' : client?.paused ? 'paused' : null;
    const keys = keysOf(state.assigned);
    if (why && keys.length) found.push({ member, keys, why });
  }
  for (const one of silences) {
    if (!frame.members[one.member] || one.from_sequence > frame.sequence) continue;
    if (one.to_sequence !== null && one.to_sequence <= frame.sequence) continue;
    const assigned = new Set(keysOf(frame.members[one.member].assigned));
    const keys = one.partitions
      .filter((stop) => stop.from_sequence <= frame.sequence)
      .map((stop) => keyOf(stop.topic, stop.partition))
      .filter((key) => assigned.has(key));
    if (keys.length && !found.some(({ member }) => member === one.member))
      found.push({ member: one.member, keys, why: 'silent' });
  }
  return found;
}

/** What is said of them, in one line. @param {Unread[]} unread @param {(member: string) => string} name @param {(key: string) => string} label */
export function unreadSays(unread, name, label) {
  return unread
    .map(({ member, keys, why }) => {
      const what = keys.length > 3 ? `${keys.length} partitions` : keys.map(label).join(', ');
      return why === 'silent'
        ? `${what}: assigned to ${name(member)}, which commits nothing (inferred)`
        : `Not read: ${what} (${name(member)} ${why === 'killed' ? 'was killed' : 'is paused'})`;
    })
    .join('. ');
}
