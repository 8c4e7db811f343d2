/** Where the playhead rests, in the page's head and foot: the step, the time, and the links that lead on from it. */

import { part } from '../shared/dom.js';
import { grouped } from '../shared/numbers.js';
import { when } from '../frame/words.js';

/**
 * How a place is named: by the number of its step, by its entry where steps before it were not counted. Neither changes later.
 *
 * @param {number | null} number
 * @param {number} sequence
 */
export const placeWords = (number, sequence) =>
  number === null ? `entry ${grouped(sequence)}` : `step ${grouped(number)}`;

/**
 * @param {import('./timeline.js').Rest} rest
 * @param {import('./timeline.js').Timeline} timeline
 * @param {{start_ms: number, timelineId: string}} of
 */
export function showPlayhead(rest, timeline, { start_ms, timelineId }) {
  const { number, count } = timeline;
  const counted = number !== null && count !== null;
  part('step-unit').textContent = counted ? 'step' : 'entry';
  part('step').textContent = grouped(counted ? number : rest.sequence);
  part('steps').textContent = grouped(counted ? count : timeline.last);
  part('time').textContent = when(rest.moment?.at_ms ?? rest.frame.at_ms, start_ms);
  part('board').dataset.sequence = String(rest.sequence);
  for (const page of ['laboratory', 'rehearsal']) {
    const link = document.getElementById(page);
    if (link instanceof HTMLAnchorElement)
      link.href = `/${page}?timeline=${encodeURIComponent(timelineId)}&at=${rest.sequence}`;
  }
}
