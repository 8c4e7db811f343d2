/** Where the playhead rests, in the page's head and foot: the step, the time, and the links that lead on from it. */

import { part } from './dom.js';
import { when } from './words.js';

/**
 * @param {import('./timeline.js').Rest} rest
 * @param {import('./timeline.js').Timeline} timeline
 * @param {{start_ms: number, timelineId: string}} of
 */
export function showPlayhead(rest, timeline, { start_ms, timelineId }) {
  const count = timeline.count;
  part('step').textContent = timeline.position.toLocaleString('en');
  part('steps').textContent = `${count.steps.toLocaleString('en')}${count.known ? '' : '+'}`;
  part('time').textContent = when(rest.moment?.at_ms ?? rest.frame.at_ms, start_ms);
  part('board').dataset.sequence = String(rest.sequence);
  for (const page of ['laboratory', 'rehearsal']) {
    const link = document.getElementById(page);
    if (link instanceof HTMLAnchorElement)
      link.href = `/${page}?timeline=${encodeURIComponent(timelineId)}&at=${rest.sequence}`;
  }
}
