/**
 * A strip over a long timeline: all steps, where epochs begin, and the window that the tracks show.
 *
 * @import {Moment} from '../types'
 */

import { rect, s } from '../shared/dom.js';
import { countUpTo } from './timeline.js';

/**
 * @param {object} options
 * @param {Moment[]} options.steps
 * @param {{from: number, to: number}} options.shown
 * @param {number} options.left
 * @param {number} options.right
 * @param {{sequence: number}[]} options.epochs
 */
export function overview({ steps, shown, left, right, epochs }) {
  const place = (/** @type {number} */ index) => left + ((right - left) * index) / Math.max(1, steps.length - 1);
  let last = -Infinity;
  const ticks = [];
  for (const { sequence } of epochs) {
    const x = place(countUpTo(steps, sequence));
    if (x - last < 3) continue;
    last = x;
    ticks.push(s('line.tick', { x1: x, x2: x, y1: 4, y2: 14 }));
  }
  return s(
    'g.overview',
    s('rect.all', { x: left, y: 5, width: right - left, height: 8, rx: 2 }),
    ...ticks,
    rect([place(shown.from), 3, Math.max(6, place(shown.to - 1) - place(shown.from)), 12], { class: 'part', rx: 2 }),
  );
}
