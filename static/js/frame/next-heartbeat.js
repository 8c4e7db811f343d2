/**
 * When a member gets what is unassigned and meant for it: in its next heartbeat response, unless something comes first. A member
 * that has something to revoke gets nothing new before it has confirmed that; a process that is gone, paused or cut off sends no
 * heartbeat. Pure.
 *
 * @import {Frame} from '../types'
 * @typedef {'removed' | 'killed' | 'away' | 'paused' | 'cut' | 'revoking' | 'revokes'} Obstacle
 */

import { epochOf, givingUp, isClassic, isShare, keysOf, targetIsKnown } from './view.js';

/**
 * What is between a member and its next partitions; null if nothing does.
 *
 * @param {Frame} frame
 * @param {string} member
 * @returns {Obstacle | null}
 */
export function obstacleOf(frame, member) {
  const state = frame.members[member];
  const client = frame.clients?.[member];
  if (!state) return 'removed';
  if (client?.killed) return 'killed';
  if (state.epoch === -2) return 'away';
  if (client?.paused) return 'paused';
  if (client?.cut?.length) return 'cut';
  if (isClassic(frame) || isShare(frame)) return null;
  if (givingUp(frame, member).length) return 'revoking';
  return toRevoke(frame, member).length ? 'revokes' : null;
}

/**
 * Whether a member of the classic protocol is in a group with epochs: a heartbeat response only makes it rejoin, and what is new
 * comes with JoinGroup and SyncGroup.
 *
 * @param {Frame} frame @param {string} member
 */
export const rejoins = (frame, member) => !isClassic(frame) && frame.members[member]?.protocol === 'classic';

/** With what a member receives its next epoch and partitions. @param {Frame} frame @param {string} member */
export const arrivesBy = (frame, member) =>
  rejoins(frame, member) ? 'with its next JoinGroup and SyncGroup' : 'in its next heartbeat response';

/** What a member owns beyond its target: it is asked to revoke that before it gets anything. @param {Frame} frame @param {string} member */
export function toRevoke(frame, member) {
  if (!frame.target || isClassic(frame) || isShare(frame)) return [];
  const target = new Set(keysOf(frame.target[member]));
  return keysOf(frame.members[member]?.assigned).filter((key) => !target.has(key));
}

/**
 * Until when what is meant for a member stays unassigned; the member's name is before it: `B heartbeats`. Of who is no
 * member any more see `untilNamed`: a target may name it until the next one is computed.
 *
 * @param {Frame} frame
 * @param {string} member
 * @param {(key: string) => string} label
 */
export function untilWhat(frame, member, label) {
  switch (obstacleOf(frame, member)) {
    case 'killed':
      return '’s session expires';
    case 'away':
      return ' returns, or its session expires';
    case 'paused':
      return ' runs again, or its session expires';
    case 'cut':
      return ' is connected again, or its session expires';
    case 'revoking':
      return ' has confirmed its revocation';
    case 'revokes':
      return ` has revoked ${few(toRevoke(frame, member).map(label))}`;
    default:
      return rejoins(frame, member) ? ' rejoins' : ' heartbeats';
  }
}

/**
 * The same with the name, as text.
 *
 * @param {Frame} frame
 * @param {string} member
 * @param {string} name
 * @param {(key: string) => string} label
 */
export const untilNamed = (frame, member, name, label) =>
  obstacleOf(frame, member) === 'removed' ? NEXT_TARGET : `${name}${untilWhat(frame, member, label)}`;

export const NEXT_TARGET = 'the next target assignment is computed';

/** The same of a member that the sentence is about: `until it has confirmed its revocation`. @param {string} until */
export const ofIt = (until) => (until.startsWith('’s ') ? `its ${until.slice(3)}` : `it${until}`);

/**
 * What a member that has not reached the group's epoch receives next.
 *
 * @param {Frame} frame
 * @param {string} member
 * @param {(key: string) => string} label
 */
export function receivesNext(frame, member, label) {
  const epoch = epochOf(frame);
  switch (obstacleOf(frame, member)) {
    case 'killed':
    case 'away':
      return 'Its session is still open';
    case 'paused':
      return 'Paused: sends no heartbeat';
    case 'cut':
      return 'Cut off: no heartbeat arrives';
    case 'revoking':
      return `Receives epoch ${epoch} after it has confirmed its revocation`;
    case 'revokes':
      return `${asked(frame, member)}Is asked to revoke ${few(toRevoke(frame, member).map(label))} ${arrivesBy(frame, member)}`;
    default:
      return `${asked(frame, member)}Receives epoch ${epoch} ${arrivesBy(frame, member)}`;
  }
}

/** What makes a member rejoin first: its heartbeats are answered so once the target is computed. @param {Frame} frame @param {string} member */
function asked(frame, member) {
  if (!rejoins(frame, member)) return '';
  return targetIsKnown(frame)
    ? 'Its next heartbeat is answered REBALANCE_IN_PROGRESS. '
    : 'Its heartbeats are answered REBALANCE_IN_PROGRESS once the target is computed. ';
}

/** @param {string[]} names */
const few = (names) =>
  names.length > 3 ? `${names.slice(0, 2).join(', ')} and ${names.length - 2} more` : names.join(', ');
