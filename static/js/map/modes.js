/**
 * What a row can be at a time, from the best to the worst. The number is the rank: where several rows share a
 * pixel, or several runs, the highest is drawn. Pure.
 */

/** Not in the group; of a partition: not there yet. */
export const ABSENT = 0;
/** A member owns its target; a partition is owned by the one that should own it. */
export const SETTLED = 1;
/** A member has not received the group's epoch; a partition is owned and will be revoked. */
export const BEHIND = 2;
/** A member waits for partitions that another one holds. */
export const WAITING = 3;
export const REVOKING = 4;
/** The process is paused, or cut off. */
export const STALLED = 5;
/** Killed and still a member, fenced, or out of the group and not aware of it. */
export const LOST = 6;
/** Nobody owns the partition. */
export const UNASSIGNED = 7;
/** Two members own the partition, or an invariant is broken. */
export const TWICE = 8;

export const MODES = 9;

/** What each means, of a member and of a partition. @type {readonly {member: string, partition: string}[]} */
const MEANINGS = [
  { member: 'not in the group', partition: 'does not exist' },
  { member: 'at target', partition: 'owned' },
  { member: 'behind', partition: 'owned, to be revoked' },
  { member: 'waiting', partition: 'waiting' },
  { member: 'revoking', partition: 'revoking' },
  { member: 'paused or cut off', partition: 'owner paused or cut off' },
  { member: 'killed or fenced', partition: 'owner killed or fenced' },
  { member: 'without a partition of its target', partition: 'unassigned' },
  { member: 'part of a broken invariant', partition: 'owned twice' },
];

/** @param {import('./types').Kind} kind @param {number} mode */
export const meaning = (kind, mode) => MEANINGS[mode][kind === 'members' ? 'member' : 'partition'];

/** By the worst bit of a member's flags (../source/flags.js), from MEMBER on. */
const BY_BIT = [SETTLED, BEHIND, BEHIND, WAITING, REVOKING, TWICE, STALLED, STALLED, LOST, LOST, LOST, TWICE];

/** The worst of these flags. @param {import('../types').MemberFlags} flags */
export function ofFlags(flags) {
  let worst = ABSENT;
  for (let bit = 0, left = flags; left; bit += 1, left >>= 1) {
    if (left & 1 && BY_BIT[bit] > worst) worst = BY_BIT[bit];
  }
  return worst;
}

/** By `PartitionModeCode`. */
const BY_CODE = [ABSENT, SETTLED, BEHIND, REVOKING, UNASSIGNED, TWICE];

/** @param {number} code */
export const ofPartition = (code) => BY_CODE[code] ?? ABSENT;
