/**
 * The groups of a cluster, as rows that are pushed change them. No DOM.
 *
 * @import {GroupRow as Group} from '../shapes'
 */

import { counted, grouped } from '../shared/numbers.js';

/** The groups after some of them changed; one that was deleted leaves. @param {Map<string, Group>} groups @param {Group[]} rows */
export function taken(groups, rows) {
  for (const row of rows) {
    if (row.condition === 'deleted') groups.delete(row.group);
    else groups.set(row.group, row);
  }
  return groups;
}

/** By name. @param {Iterable<Group>} groups */
export const listed = (groups) => [...groups].sort((a, b) => (a.group < b.group ? -1 : 1));

/** @param {Iterable<Group>} groups */
export const rebalancing = (groups) => listed([...groups].filter((group) => group.rebalancing));

const CONDITIONS = {
  unreadable: 'Unreadable now: a topic lacks the right DESCRIBE',
  forbidden: 'Unreadable: the group lacks the right DESCRIBE',
  moving: 'Its coordinator does not answer',
  missing: 'Not listed now',
  epoch_back: 'Epochs went back',
};

/** What hides a group; empty while it is seen. @param {string | null} condition */
export const conditionWords = (condition) => CONDITIONS[/** @type {keyof typeof CONDITIONS} */ (condition ?? '')] ?? '';

/** What is said of the state: a condition that hides it comes first. @param {Group} group */
export const stateWords = (group) => conditionWords(group.condition) || (group.state ?? '');

/**
 * How the cluster is watched: followed, record by record, or polled.
 *
 * @param {{ every_s?: number, took_ms?: number, follow?: { mode: string, partitions: number, behind: number } }} seen
 */
export function watchedWords(seen) {
  const { follow } = seen;
  if (follow?.mode !== 'following') return `polled every ${seen.every_s} s (a round took ${seen.took_ms} ms)`;
  const where = `__consumer_offsets (${counted(follow.partitions, 'partition')})`;
  const behind = follow.behind ? `, ${grouped(follow.behind)} records behind` : '';
  return `following ${where}${behind}, checked every ${seen.every_s} s`;
}

/**
 * How far the clock of the broker is ahead that differs most; 0 where none is worth a word.
 *
 * @param {{ follow?: { skews_ms?: {[partition: string]: number} } }} seen
 */
export function worstSkew(seen) {
  const all = Object.values(seen.follow?.skews_ms ?? {});
  return all.reduce((worst, each) => (Math.abs(each) > Math.abs(worst) ? each : worst), 0);
}

/** Whether the group can be seen as it is. @param {Group} group */
export const isSeen = (group) => group.condition === 'seen' || group.condition === null;
