/**
 * How far a partition is read, if a run reports at what rate records are written. Pure.
 *
 * @import {Frame} from '../types'
 * @typedef {NonNullable<Frame['consumption']>['partitions'][string][string]} Read
 */

import { grouped } from '../shared/numbers.js';
import { columnOf } from './view.js';

/**
 * The end of the log and the lag of a partition, at a time of the frame or later and before the next one; null if it is not known.
 *
 * @param {Frame} frame @param {string} key @param {number} at_ms
 */
export function consumedAt(frame, key, at_ms) {
  const { topic, partition: number } = columnOf(key);
  const partition = frame.consumption?.partitions[topic]?.[number];
  if (!frame.consumption || !partition) return null;
  const end = endOf(partition, frame.consumption.rates[topic], at_ms);
  const waits = partition.read !== null && !Object.values(partition.readers).some(({ fetches }) => fetches);
  const lag = waits ? Math.max(0, end - (partition.read ?? end)) : 0;
  const read_twice = partition.read_twice + readSince(partition, end);
  return { end, lag, lag_max: Math.max(lag, partition.lag_max), read_twice, skipped: partition.skipped };
}

/** @param {Read} partition @param {number} rate @param {number} at_ms */
const endOf = ({ begin_ms, begin_offset }, rate, at_ms) =>
  begin_offset + Math.floor((rate * Math.max(0, at_ms - begin_ms)) / 1000);

/** Records read twice since the frame: where several fetch from a partition, all that they read but what is new. @param {Read} partition @param {number} end */
function readSince({ readers, read }, end) {
  const fetching = Object.values(readers).filter(({ fetches }) => fetches);
  const since = end - (read ?? 0);
  if (fetching.length < 2 || since <= 0) return 0;
  return fetching.reduce((sum, { position }) => sum + end - position, 0) - since;
}

/** The same of all partitions, at a time of the frame or later and before the next one. @param {Frame} frame @param {number} at_ms */
export function readTwiceSince(frame, at_ms) {
  const { partitions = {}, rates = {} } = frame.consumption ?? {};
  return Object.entries(partitions).reduce(
    (sum, [topic, all]) =>
      sum + Object.values(all).reduce((of, each) => of + readSince(each, endOf(each, rates[topic], at_ms)), 0),
    0,
  );
}

/** @param {Frame} frame @param {string} key */
export function consumedWords(frame, key) {
  const known = consumedAt(frame, key, frame.at_ms);
  if (!known) return '';
  const { end, lag, lag_max, read_twice, skipped } = known;
  const beyond = skipped ? `, ${grouped(skipped)} skipped` : '';
  return `Log end offset ${grouped(end)}; lag ${grouped(lag)}, at most ${grouped(lag_max)}; records read twice ${grouped(read_twice)}${beyond}`;
}
