/**
 * Stretches without an owner, on the timeline.
 *
 * @import {Spans} from '../frame/spans.js'
 * @typedef {ReturnType<typeof import('./scale.js').scale>} Scale
 */

import { s, text } from '../shared/dom.js';
import { bands } from '../frame/spans.js';
import { duration } from '../frame/words.js';
import { RIGHT } from './scale.js';

/**
 * Stretches in which partitions had no owner: a shade over the tracks, a bar in the pool's row, and which ones for how long.
 *
 * @param {Scale} at
 * @param {Spans} spans
 * @param {import('../frame/labels.js').Labels} labels
 * @param {{top: number, bottom: number, yPool: number, small: boolean, left: number, right: number}} place
 */
export function unowned(at, spans, labels, { top, bottom, yPool, small, left, right }) {
  const nodes = [];
  let free = -Infinity;
  const places = bands(spans.bare.filter((stretch) => at.shows(stretch.from, stretch.to)))
    .map((band) => {
      const x = Math.max(left, at.of(band.from, band.from_ms));
      return { band, x, width: at.of(band.to, band.to_ms) - x };
    })
    .filter(({ width }) => width > 0);
  for (const { band, x, width } of places) {
    nodes.push(s('rect.bare', { x, y: top - 2, width, height: bottom - top + 2 }));
    nodes.push(s('rect', { x, y: yPool, width, height: 13, fill: 'url(#bare)' }));
    const length = band.to_ms === null ? '' : `: ${duration(band.to_ms - band.from_ms)}`;
    const label = `${listed(band.keys, labels)}${length}`;
    const from = x + width + 5;
    const wide = label.length * 5.9;
    const covered = places.some((other) => other.x < from + wide && other.x + other.width > from);
    if (small || covered || from < free || from + wide > right + RIGHT) continue;
    nodes.push(text(from, yPool + 10, label, 'bare'));
    free = from + wide + 8;
  }
  return nodes;
}

/** `foo-0, 1, 2`, or a count. @param {string[]} keys @param {import('../frame/labels.js').Labels} labels */
function listed(keys, labels) {
  if (keys.length > 4) return labels.counted(keys.length);
  let topic = '';
  return keys
    .map((key) => {
      const cut = key.lastIndexOf('-');
      const same = key.slice(0, cut) === topic;
      topic = key.slice(0, cut);
      return same ? key.slice(cut + 1) : labels.partition(key);
    })
    .join(', ');
}
