/**
 * The progress of an import: a bar for each stage, and the time that is left.
 *
 * @import {Detail} from './types'
 */

import { h, part } from '../shared/dom.js';
import { bytes, counted, grouped } from '../shared/numbers.js';
import { ended, SPARK } from './states.js';

/** What was last announced to a screen reader. */
let announced = '';

/** @param {Detail} detail */
export function stages(detail) {
  const { stage, stages: known } = detail;
  const done = detail.status === 'complete';
  const ends = { complete: 'Done', failed: 'Failed', cancelled: 'Cancelled' };
  part('progress-fold').hidden = ended(detail) && known.every(({ done: reached }) => !reached);
  part('stage').textContent = ends[/** @type {'complete'} */ (detail.status)] ?? (stage || 'Progress');
  part('stages').replaceChildren(
    ...known.flatMap(({ name, done: reached, of, unit }) => {
      const share = of ? Math.min(100, (100 * reached) / of) : 0;
      const bar = [
        h('span', name),
        h(
          'span.barr',
          { role: 'progressbar', 'aria-label': name, 'aria-valuenow': Math.round(share) },
          h('i', { style: `width:${share}%` }),
        ),
      ];
      // No count of what cannot begin yet.
      if (!ended(detail) && stage === SPARK && name === 'Read') return [...bar, h('span.n.q', 'when Spark runs')];
      return [
        ...bar,
        h(
          'span.n',
          of === null && !reached ? '' : grouped(reached),
          of && of !== reached ? h('span.q', ` of ${grouped(of)}`) : null,
          h(
            'span.q.u',
            unit && (of !== null || reached)
              ? ` ${reached === 1 && (of ?? 1) === 1 ? unit.replace(/s$/, '') : unit}`
              : '',
          ),
        ),
      ];
    }),
  );
  const facts = [
    detail.bytes ? bytes(detail.bytes) : '',
    detail.found ? `${counted(detail.found, 'group')} found` : '',
    !ended(detail) && detail.remaining_s !== null
      ? `about ${detail.remaining_s < 90 ? `${detail.remaining_s} s` : counted(Math.round(detail.remaining_s / 60), 'minute')} left`
      : '',
  ].filter(Boolean);
  part('stage-facts').textContent = facts.join(' · ');
  // Once a stage, not once a count: a screen reader is not a counter.
  const text = done ? 'The import is done.' : stage;
  if (text && text !== announced) {
    announced = text;
    part('stage-says').textContent = text;
  }
}
