/**
 * What the panels next to a board show, out of the data of its page: Kafka's metrics as of a moment, the bytes of a record.
 *
 * @import {Metrics} from '../figures/metrics-panel.js'
 * @typedef {{member: string | null, about: any, at: number[], values: (number | null)[]}} Measure
 * @typedef {{measures: Measure[], members: string[], clients: number, not_told: {name: string, why: string}[]}} Measured
 * @typedef {{epochs: () => Promise<any>, metrics: (at: number) => Promise<Metrics>, bytes: ((sequence: number) => Promise<import('../bytes/types').RecordBytes>) | null}} Panels
 */

import { countWhile } from '../shared/sorted.js';

/** The value that holds at a sequence; `undefined` before the first. @param {Measure} measure @param {number} sequence */
export function valueAt({ at, values }, sequence) {
  return values[countWhile(at, (one) => one <= sequence) - 1];
}

/** The answer of the API, out of what was measured at each moment. @param {Measured} measured @param {number} sequence @returns {Metrics} */
export function metricsAt({ measures, members, clients, not_told }, sequence) {
  const known = measures.flatMap((measure) => {
    const value = valueAt(measure, sequence);
    return value === undefined ? [] : [{ member: measure.member, metric: { ...measure.about, value } }];
  });
  const of = (/** @type {string | null} */ member) =>
    known.filter((one) => one.member === member).map(({ metric }) => metric);
  return {
    sequence,
    broker: of(null),
    clients: members.map((member) => ({ member, metrics: of(member) })).filter(({ metrics }) => metrics.length),
    more: clients - members.length,
    not_told,
  };
}

/**
 * @param {Set<string>} names of the parts of the page
 * @param {(name: string) => Promise<any>} read
 * @param {(sequence: number) => number | undefined} pieceOf the first entry of the piece that holds one
 * @returns {Panels | null} null where the page has none of it
 */
export function panelsOf(names, read, pieceOf) {
  if (!names.has('epochs')) return null;
  /** @type {Map<string, Promise<any>>} */
  const kept = new Map();
  const once = (/** @type {string} */ name) => {
    const held = kept.get(name) ?? read(name);
    kept.set(name, held);
    return held;
  };
  return {
    epochs: () => once('epochs'),
    metrics: async (at) => {
      if (!names.has('metrics')) throw new Error('This stretch has too many moments: its metrics are not in the file.');
      return metricsAt(await once('metrics'), at);
    },
    bytes: [...names].some((name) => name.startsWith('bytes-'))
      ? async (sequence) => {
          const name = `bytes-${pieceOf(sequence)}`;
          const found = names.has(name) ? (await once(name))[sequence] : null;
          if (!found)
            throw new Error(
              'The bytes of this record are not in the file: it has those of the first records, up to 4 KB each.',
            );
          return found;
        }
      : null,
  };
}
