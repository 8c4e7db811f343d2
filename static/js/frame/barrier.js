/**
 * A classic group between two generations: who has come to the barrier, whom it waits for, what each member does. Pure.
 *
 * Two posts stand between a member and its partitions, JoinGroup and SyncGroup. All pass the first together when everybody
 * has joined, and the second when the leader has assigned.
 *
 * @import {Frame} from '../types'
 * @typedef {'out' | 'told' | 'join' | 'between' | 'sync' | 'past'} Place
 */

import { keysOf } from './view.js';

const PREPARING = 'PreparingRebalance';
const COMPLETING = 'CompletingRebalance';

/** As many names as a line has room for. */
const NAMED_MOST = 5;

/** Where a member is: null where nobody knows. @param {Frame} frame @param {string} member @returns {Place | null} */
export function placeOf(frame, member) {
  const { barrier } = frame;
  if (!barrier) return null;
  if (frame.state === PREPARING) {
    if (barrier.joined.includes(member)) return 'join';
    return barrier.told.includes(member) ? 'told' : 'out';
  }
  if (frame.state === COMPLETING) {
    if (barrier.synced.includes(member)) return 'sync';
    return barrier.joined.includes(member) ? 'between' : 'out';
  }
  return 'past';
}

/** Whom the others wait for: who has not joined, or has not sent its SyncGroup. @param {Frame} frame @returns {string[]} */
export function missingOf(frame) {
  const { barrier } = frame;
  if (!barrier) return [];
  const members = Object.keys(frame.members);
  if (frame.state === PREPARING) return members.filter((member) => !barrier.joined.includes(member));
  if (frame.state !== COMPLETING) return [];
  const leader = barrier.leader;
  return leader && members.includes(leader) && !barrier.synced.includes(leader) ? [leader] : [];
}

/**
 * What the barrier is about, for the line over the board: null while nobody waits.
 *
 * @param {Frame} frame
 * @param {(member: string) => string} name
 * @returns {{says: string, left_ms: number | null} | null}
 */
export function barrierWords(frame, name) {
  const { barrier } = frame;
  if (!barrier || (frame.state !== PREPARING && frame.state !== COMPLETING)) return null;
  const left_ms = barrier.until_ms === null ? null : Math.max(0, barrier.until_ms - frame.at_ms);
  const all = Object.keys(frame.members).length;
  const missing = missingOf(frame);
  if (frame.state === COMPLETING) {
    const leader = missing.length ? `waits for the leader ${name(missing[0])} to assign` : 'the assignment is written';
    return { says: `SyncGroup: ${barrier.synced.length} of ${all}; ${leader}`, left_ms };
  }
  const shown = missing.slice(0, NAMED_MOST).map(name);
  const more = missing.length - shown.length;
  const whom = missing.length
    ? `waits for ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
    : 'waits for more members';
  return { says: `JoinGroup: ${all - missing.length} of ${all}; ${whom}`, left_ms };
}

/**
 * What a member does, in a sentence and in a word or two.
 *
 * @param {Frame} frame
 * @param {string} member
 * @param {(count: number) => string} counted
 * @returns {[string, string]}
 */
export function doesWhat(frame, member, counted) {
  const client = frame.clients?.[member];
  if (client?.killed) return ['Process killed; session still open', 'Killed'];
  const reads = keysOf(client?.owned).length;
  if (client?.calling) return [`In ${client.calling}`, 'In a callback'];
  const has = reads ? `reads ${counted(reads)}` : 'reads nothing';
  switch (placeOf(frame, member)) {
    case 'told':
      return [`Told to rejoin; has not polled, ${has}`, 'Told to rejoin'];
    case 'join':
      return [`Waits at the barrier, ${has}`, 'Waits'];
    case 'between':
      return [frame.barrier?.leader === member ? `Leader, assigns, ${has}` : `Joined, ${has}`, 'Joined'];
    case 'sync':
      return [
        frame.barrier?.leader === member ? `Leader, has assigned, ${has}` : `Waits for the leader, ${has}`,
        'Waits',
      ];
    case 'out':
      return [
        frame.state === PREPARING ? `Has not received it yet, ${has}` : `Not in this generation, ${has}`,
        'Unaware',
      ];
    default:
      return [
        `${frame.leader === member ? 'Leader' : 'Member'}, ${has}`,
        frame.leader === member ? 'Leader' : 'Member',
      ];
  }
}

/** What is at the end of a member's lane: whom it waits for or holds up, and why it joined. @param {Frame} frame @param {string} member */
export function waitsAtBarrier(frame, member) {
  const place = placeOf(frame, member);
  const missing = missingOf(frame);
  const waits = place === 'join' || place === 'sync';
  return {
    waitsFor: waits ? missing.filter((other) => other !== member) : [],
    holdsUp: missing.includes(member)
      ? Object.keys(frame.members).filter(
          (other) => other !== member && ['join', 'sync'].includes(placeOf(frame, other) ?? ''),
        )
      : [],
    reason:
      place === 'join' || place === 'between' || place === 'sync' ? (frame.barrier?.reasons[member] ?? null) : null,
  };
}
