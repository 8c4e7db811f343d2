/**
 * Where a board opens, and from where it then plays: what was imported is at its worst moment, and Space shows how it
 * came to that.
 *
 * @import {Meta} from '../types'
 * @import {Timeline} from './timeline.js'
 */

import { momentOf } from '../shared/url.js';
import { grouped } from '../shared/numbers.js';

/** Play begins this long before the worst moment. */
export const LEAD_MS = 10_000;

/**
 * The sequence that a board opens at.
 *
 * @param {Meta} meta
 * @param {string} search of the address, which may name a moment
 * @param {{origin: number, last: number}} timeline
 */
export function openingOf(meta, search, { origin, last }) {
  const asked = momentOf(search);
  if (asked !== null) return asked;
  if (typeof meta.opens === 'number') return meta.opens;
  if (meta.status === 'running') return last;
  return meta.source === 'import' ? (meta.worst ?? last) : origin;
}

/**
 * The text where an address names a moment that is not there: its timeline was imported again, or this is a stretch of it. Null where
 * it is there, or may still come.
 *
 * @param {Meta} meta
 * @param {string} search
 * @param {{origin: number, last: number}} timeline
 */
export function missingMoment(meta, search, { origin, last }) {
  const asked = momentOf(search);
  if (asked === null || meta.status === 'running' || (asked >= origin && asked <= last)) return null;
  return `The moment of this link, entry ${grouped(asked)}, is not here: there are entries ${grouped(origin + 1)} to ${grouped(last)}. The board stands at the nearest.`;
}

/**
 * Whether an address names a moment of a run that is not computed yet.
 *
 * @param {Meta} meta
 * @param {string} search
 * @param {{last: number}} timeline
 */
export const isStillToCome = (meta, search, { last }) => meta.status === 'running' && (momentOf(search) ?? 0) > last;

/** Whether the board opens at the worst moment of an import, and not where a link points. @param {Meta} meta @param {string} search */
export const opensAtWorst = (meta, search) =>
  momentOf(search) === null &&
  typeof meta.opens !== 'number' &&
  meta.status !== 'running' &&
  meta.source === 'import' &&
  typeof meta.worst === 'number';

/**
 * The sequence of the last step that is `LEAD_MS` before where the board rests, or the origin. Order is the sequence:
 * a clock that ran backwards does not lead behind the moment.
 *
 * @param {Pick<Timeline, 'steps' | 'rest' | 'origin'>} timeline
 */
export function leadIn({ steps, rest, origin }) {
  const from_ms = (rest?.moment?.at_ms ?? 0) - LEAD_MS;
  for (let index = steps.length - 1; index >= 0; index -= 1) {
    if (steps[index].sequence < (rest?.sequence ?? 0) && steps[index].at_ms <= from_ms) return steps[index].sequence;
  }
  return origin;
}
