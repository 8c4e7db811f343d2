/**
 * On the card of a partition, above its owners: the line of its committed offset, and what it is flat for. Only a server can
 * report it; a timeline without commits has none.
 *
 * @import {SilentSpan} from '../types'
 * @import {Line, Shade} from '../frame/committed.js'
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

/** The entries of which commits are shown with a board. @param {import('../timeline/timeline.js').Timeline} timeline */
export const commitsAround = (timeline) => commitsWithin(timeline, timeline.rest?.sequence ?? timeline.origin);

/**
 * @param {import('./board-controls.js').Stage} stage
 * @param {string} key
 * @param {{key: string, from: number, from_ms: number, to_ms: number | null}[]} bare
 * @param {() => boolean} isShown whether the card still shows this partition
 */
export async function addCommitted({ fetchOffsets, timeline, meta, cast, labels, places }, key, bare, isShown) {
  if (!fetchOffsets) return;
  const answer = await fetchOffsets({ ...commitsAround(timeline), partitions: [key] }).catch(() => null);
  const line = answer?.lines[0];
  if (!isShown() || !line?.commits) return;
  const { silences = [], first_ms } = meta.summary;
  const name = (/** @type {string} */ member) => cast.name(member);
  const figure = committedFigure({
    line,
    label: labels.partition(key),
    shades: shadesOf({ key, silences, bare, name, none: labels.having.none }),
    start_ms: first_ms ?? timeline.moments[0]?.at_ms ?? 0,
  });
  places.partition.querySelector('.xh')?.after(figure);
}
