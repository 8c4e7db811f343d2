/**
 * On the card of a partition, above its owners: the line of its committed offset, and what it is flat for. Only a server can
 * report it; a timeline without commits has none.
 *
 * @typedef {import('../types').SilentSpan} SilentSpan
 * @typedef {import('../frame/committed.js').Line} Line
 * @typedef {import('../frame/committed.js').Shade} Shade
 * @typedef {(ask: {from: number, to: number, partitions: string[]}) => Promise<{lines: Line[], more: number}>} FetchOffsets
 */

import { committedFigure } from '../frame/committed.js';
import { keyOf } from '../frame/view.js';
import { duration } from '../frame/words.js';

/** As many entries as the server reads for one answer. */
const WITHIN = 200_000;
/** What is shaded, the longest: more would not be distinguished. */
const SHADES_MOST = 8;

/**
 * The entries of which commits are asked for: all, or those around the playhead.
 *
 * @param {{origin: number, last: number}} timeline
 * @param {number} at
 */
export function commitsWithin({ origin, last }, at) {
  if (last - origin <= WITHIN) return { from: origin, to: last };
  const from = Math.max(origin, Math.min(at - WITHIN / 2, last - WITHIN));
  return { from, to: from + WITHIN };
}

/**
 * When nobody read a partition: it was unassigned, or its owner was silent (inferred).
 *
 * @param {object} of
 * @param {string} of.key
 * @param {SilentSpan[]} of.silences
 * @param {{key: string, from: number, from_ms: number, to_ms: number | null}[]} of.bare
 * @param {(member: string) => string} of.name
 * @param {string} of.none what partitions without an owner are called
 * @returns {Shade[]} in order of time
 */
export function shadesOf({ key, silences, bare, name, none }) {
  const silent = silences.flatMap(({ member, to_ms, partitions }) =>
    partitions
      .filter(({ topic, partition }) => keyOf(topic, partition) === key)
      .map(({ from_ms, from_sequence }) => ({
        from: from_sequence,
        from_ms,
        to_ms,
        inferred: true,
        says: `${length(from_ms, to_ms)} assigned to ${name(member)}, which was silent (inferred)`,
      })),
  );
  const free = bare
    .filter((stretch) => stretch.key === key)
    .map(({ from, from_ms, to_ms }) => ({
      from,
      from_ms,
      to_ms,
      inferred: false,
      says: `${length(from_ms, to_ms)} ${none.toLowerCase()}`,
    }));
  const long = (/** @type {Shade} */ { from_ms, to_ms }) => (to_ms ?? Infinity) - from_ms;
  return [...silent, ...free]
    .sort((a, b) => long(b) - long(a))
    .slice(0, SHADES_MOST)
    .sort((a, b) => a.from_ms - b.from_ms);
}

/** @param {number} from_ms @param {number | null} to_ms */
const length = (from_ms, to_ms) => (to_ms === null ? 'until the end' : duration(to_ms - from_ms));

/**
 * @param {object} what
 * @param {HTMLElement} what.root of the card
 * @param {string} what.key
 * @param {string} what.label
 * @param {FetchOffsets | null} what.fetchOffsets
 * @param {{from: number, to: number}} what.window
 * @param {Shade[]} what.shades
 * @param {number} what.start_ms
 * @param {() => boolean} what.isShown whether the card still shows this partition
 */
export async function addCommitted({ root, key, label, fetchOffsets, window, shades, start_ms, isShown }) {
  if (!fetchOffsets) return;
  const answer = await fetchOffsets({ ...window, partitions: [key] }).catch(() => null);
  const line = answer?.lines[0];
  if (!isShown() || !line?.commits) return;
  root.querySelector('.xh')?.after(committedFigure({ line, label, shades, start_ms }));
}
