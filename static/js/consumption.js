/**
 * How far a partition is read, where a run tells at what rate records are written. Pure.
 *
 * @typedef {import('./types').Frame} Frame
 */

/**
 * The end of the log and the lag of a partition, at a time of the frame or later and before the next one; null where nobody tells.
 *
 * @param {Frame} frame @param {string} key @param {number} at_ms
 */
export function consumedAt(frame, key, at_ms) {
  const cut = key.lastIndexOf('-');
  const topic = key.slice(0, cut);
  const partition = frame.consumption?.partitions[topic]?.[key.slice(cut + 1)];
  if (!frame.consumption || !partition) return null;
  const grown = (frame.consumption.rates[topic] * Math.max(0, at_ms - partition.begin_ms)) / 1000;
  const end = partition.begin_offset + Math.floor(grown);
  const waits = partition.read !== null && !Object.values(partition.readers).some(({ fetches }) => fetches);
  const lag = waits ? Math.max(0, end - (partition.read ?? end)) : 0;
  const { read_twice, skipped } = partition;
  return { end, lag, lag_max: Math.max(lag, partition.lag_max), read_twice, skipped };
}

/** @param {Frame} frame @param {string} key */
export function consumedWords(frame, key) {
  const told = consumedAt(frame, key, frame.at_ms);
  if (!told) return '';
  const { end, lag, lag_max, read_twice, skipped } = told;
  const beyond = skipped ? `, ${whole(skipped)} skipped` : '';
  return `Log end offset ${whole(end)}; lag ${whole(lag)}, at most ${whole(lag_max)}; records read twice ${whole(read_twice)}${beyond}`;
}

/** @param {number} records */
const whole = (records) => records.toLocaleString('en-US');
