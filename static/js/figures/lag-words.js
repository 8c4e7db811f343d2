/**
 * Lag and the cost of rebalances in words. Pure.
 *
 * @typedef {{records: (number | null)[], seconds: (number | null)[], why: (string | null)[]}} LagLine
 * @typedef {LagLine & {topic: string | null, partition: number | null, member: string | null}} NamedLine
 * @typedef {object} RebalanceCost
 * @property {number} sequence
 * @property {number | null} epoch
 * @property {number} at_ms
 * @property {number} since_ms
 * @property {number} settled_ms
 * @property {number} moved
 * @property {number} unassigned_partition_ms
 * @property {number} unread_partition_ms
 * @property {number | null} unread_partition_ms_most
 * @property {string | null} unread_why
 * @property {number | null} records_waited
 * @property {string | null} waited_why
 * @property {number | null} caught_up_ms
 * @property {string | null} caught_up_why
 * @property {number} read_twice_least
 * @property {number | null} read_twice_most
 * @property {string | null} read_twice_why
 * @property {{records_waited: number, caught_up_ms: number | null} | null} estimate
 * @typedef {{kind: string, partitions: string[], member: string | null, before: number, after: number, written_times: number | null}} Skew
 * @typedef {{times_ms: number[], total: LagLine, lines: NamedLine[], more: number, rebalances: RebalanceCost[], skew: Skew[], lost: {partition: string, records: number, at_ms: number}[], earlier: number | null, problem: string | null}} Lag
 * @typedef {'records' | 'seconds'} Unit
 */

import { duration } from '../frame/words.js';
import { counted, grouped } from '../shared/numbers.js';

/** Why a value is not known. @type {{[reason: string]: string}} */
export const REASONS = {
  'no-round': 'Nobody asked the brokers for end offsets at that time.',
  'no-answer': 'The partition’s leader did not answer.',
  'no-right': 'The right DESCRIBE on the topic is missing.',
  'no-commit': 'Nothing was committed before.',
  'made-again': 'The topic was made again, or its log was cut, and nothing was committed since.',
  'end-below': 'The end offset is below the committed one.',
  older: 'The first unread record is older than the first known end offset.',
  'no-lag-before': 'No lag is known in the minute before, so that nobody knows which one is usual.',
  estimate:
    '≈ is an estimate: records are taken to be written at the pace at which they were committed in the minute before.',
  'not-yet': 'It had not caught up within an hour, or by the end of what is known.',
};

/** A value of a line in words: `1,200 records`, `4.5 s`, `not known`. @param {LagLine} line @param {Unit} unit @param {number} at */
export function lagText(line, unit, at) {
  const value = line[unit][at];
  if (value === null) return 'not known';
  return unit === 'seconds' ? duration(value * 1000) : `${counted(value, 'record')}`;
}

/** @param {NamedLine} line @param {(member: string) => string} name */
export function lineName({ topic, partition, member }, name) {
  if (member !== null) return name(member);
  return partition === null ? String(topic) : `${topic}-${partition}`;
}

/** Who falls behind alone, in a sentence. @param {Skew} one @param {(member: string) => string} name */
export function skewText({ kind, partitions, member, before, after, written_times: times }, name) {
  const grew = `grew from ${grouped(before)} to ${grouped(after)} records`;
  if (kind === 'slow-member') {
    const of = partitions.length === 1 ? partitions[0] : `all its ${partitions.length} partitions`;
    return `${name(member ?? '')} falls behind alone: the lag of ${of} ${grew}, and nobody else’s did.`;
  }
  const pace = times === null ? 'nobody writes the others' : `it is written ${times} times as fast as the others`;
  return `${partitions[0]} is hot: ${pace}, and its lag ${grew}${member === null ? '' : ` (read by ${name(member)})`}.`;
}

/** Times of partitions together, to a tenth of a second: `89.9`. @param {number} ms */
export const partitionSeconds = (ms) =>
  (ms / 1000).toLocaleString('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** Records read twice, in words; null where nothing is known of them. @param {Pick<RebalanceCost, 'read_twice_least' | 'read_twice_most'>} one */
export function twiceText({ read_twice_least: least, read_twice_most: most }) {
  return most === null ? (least ? `at least ${grouped(least)}` : null) : range(least, most);
}

/** Not read, in partition-seconds: about so much, behind the dash at most. @param {Pick<RebalanceCost, 'unread_partition_ms' | 'unread_partition_ms_most'>} one */
export function unreadText({ unread_partition_ms: about, unread_partition_ms_most: most }) {
  return most === null ? `about ${partitionSeconds(about)} or more` : range(about, most, partitionSeconds);
}

/**
 * The cells of a rebalance's row behind its time; null where a value is not known, and `why` its reason.
 *
 * @param {RebalanceCost} one
 * @returns {{text: string | null, why: string | null}[]}
 */
export function costCells(one) {
  const { estimate } = one;
  const caughtUpAfter = (/** @type {number} */ ms) => duration(Math.max(0, ms - one.settled_ms));
  return [
    cell(grouped(one.moved)),
    cell(partitionSeconds(one.unassigned_partition_ms)),
    cell(unreadText(one), one.unread_why),
    estimate && one.records_waited === null
      ? cell(`≈ ${grouped(estimate.records_waited)}`, 'estimate')
      : cell(one.records_waited === null ? null : grouped(one.records_waited), one.waited_why),
    estimate && one.caught_up_ms === null && estimate.caught_up_ms !== null
      ? cell(`≈ ${caughtUpAfter(estimate.caught_up_ms)}`, 'estimate')
      : cell(one.caught_up_ms === null ? null : caughtUpAfter(one.caught_up_ms), one.caught_up_why),
    cell(twiceText(one), one.read_twice_why),
  ];
}

/** @param {string | null} text @param {string | null} [why] */
const cell = (text, why = null) => ({ text, why });

/** @param {number} least @param {number} most @param {(value: number) => string} [text] */
const range = (least, most, text = grouped) =>
  text(least) === text(most) ? text(least) : `${text(least)}–${text(most)}`;

/** The reasons that occur in the total and in costs, each once. @param {Lag} lag @returns {string[]} */
export function reasonsOf({ total, rebalances }) {
  const found = new Set(total.why);
  for (const one of rebalances) for (const { why } of costCells(one)) found.add(why);
  return Object.keys(REASONS).filter((reason) => found.has(reason));
}

/**
 * Stretches of equal knowledge: where a line has values, as pairs of places, both included.
 *
 * @param {(number | null)[]} values
 * @param {boolean} known
 * @returns {[number, number][]}
 */
export function runsOf(values, known) {
  /** @type {[number, number][]} */
  const runs = [];
  values.forEach((value, at) => {
    if ((value !== null) !== known) return;
    const last = runs[runs.length - 1];
    if (last && last[1] === at - 1) last[1] = at;
    else runs.push([at, at]);
  });
  return runs;
}

/** The place of the look that is nearest to a time. @param {number[]} times_ms @param {number} ms */
export function nearestLook(times_ms, ms) {
  let best = 0;
  for (let at = 1; at < times_ms.length; at += 1)
    if (Math.abs(times_ms[at] - ms) < Math.abs(times_ms[best] - ms)) best = at;
  return best;
}
