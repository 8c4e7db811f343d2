/**
 * What goes wrong, on the timeline: a bar under the track of who suffers, a row and a line for coordinators that take
 * over, a shade while one loads, a red line where an invariant breaks.
 *
 * @import {Spans} from '../frame/spans.js'
 * @typedef {ReturnType<typeof import('./scale.js').scale>} Scale
 */

import { rect, s, text } from '../shared/dom.js';
import { duration } from '../frame/words.js';

const MEANS = {
  killed: 'process killed, session still open',
  paused: 'is paused',
  cut: 'is cut off',
  fenced: 'fenced, until it joins again',
  outside: 'no member, and still reads',
};

/** What a member suffers at once lies apart. */
const OFFSET = { killed: 0, outside: 0, fenced: 0, paused: 3, cut: 3 };

/** @param {Scale} at @param {Spans['hard'][number]} stretch @param {number} y @param {number} left */
export function hardship(at, { kind, from, to, from_ms, to_ms }, y, left) {
  if (!at.shows(from, to)) return [];
  const x = Math.max(left, at.of(from, from_ms));
  const width = at.of(to, to_ms) - x;
  if (width <= 0) return [];
  const length = to_ms === null ? '' : `, ${duration(to_ms - from_ms)}`;
  return [
    s(
      'g',
      { class: `hardship ${kind}` },
      s('title', `${MEANS[kind]}${length}`),
      s('rect', { x, y: y + OFFSET[kind], width: Math.max(2, width), height: 2.2 }),
    ),
  ];
}

/**
 * Where a member was assigned and silent: a line from its last commit on, which begins with the open dot of what is inferred.
 *
 * @param {Scale} at
 * @param {import('../types').SilentSpan} span
 * @param {number} y
 * @param {number} left
 */
export function silence(at, { from_sequence, to_sequence, from_ms, to_ms, partitions }, y, left) {
  if (!at.shows(from_sequence, to_sequence)) return [];
  const x = Math.max(left, at.of(from_sequence, from_ms));
  const end = at.of(to_sequence, to_ms);
  if (end <= x) return [];
  const length = to_ms === null ? ' up to the end' : ` for ${duration(to_ms - from_ms)}`;
  const many = partitions.length === 1 ? '1 partition' : `${partitions.length} partitions`;
  return [
    s(
      'g.silence',
      s('title', `Silent${length}: assigned ${many} and commits none (inferred)`),
      s('line', { x1: x, x2: end, y1: y + 1, y2: y + 1 }),
      s('circle', { cx: x, cy: y + 1, r: 3 }),
    ),
  ];
}

/**
 * @param {Scale} at
 * @param {Spans} spans
 * @param {{y: number, top: number, bottom: number, left: number}} place the row of names, and the tracks
 */
export function coordinators(at, spans, { y, top, bottom, left }) {
  const nodes = [];
  for (const { name, from, to, from_ms, to_ms } of spans.coordinators) {
    if (!at.shows(from, to)) continue;
    const x = Math.max(left, at.of(from, from_ms));
    const width = at.of(to, to_ms) - x;
    if (width <= 0.5) continue;
    const load = spans.loads.find((stretch) => stretch.from === from);
    const loading = load ? Math.max(0, Math.min(at.of(load.to, load.to_ms) - x, width)) : 0;
    nodes.push(
      rect(
        [x, y - 7, Math.max(1, width - 1.5), 13],
        { class: 'gstate quiet', rx: 2 },
        s('title', `${name} is the coordinator`),
      ),
    );
    if (load && loading > 1) nodes.push(...shade(load, { x, y, top, bottom, loading }));
    if (width - loading > name.length * 5.6 + 8) nodes.push(text(x + loading + 5, y + 3, name, 'gs'));
    if (x > left) nodes.push(s('line.takeover', { x1: x, x2: x, y1: y - 7, y2: bottom }));
  }
  return nodes;
}

/** @param {Spans['loads'][number]} load @param {{x: number, y: number, top: number, bottom: number, loading: number}} place */
function shade({ name, from_ms, to_ms }, { x, y, top, bottom, loading }) {
  const length = duration((to_ms ?? from_ms) - from_ms);
  const whole = `${name} loads: no request is answered for ${length}`;
  const sentence = [whole, `${name} loads, ${length}`, `loads ${length}`].find(
    (label) => loading > label.length * 5.2 + 10,
  );
  return [
    s('rect.loading', { x, y: top, width: loading, height: bottom - top }),
    s('rect.gstate.busy', { 'data-s': 'Assigning', x, y: y - 7, width: loading, height: 13, rx: 2 }, s('title', whole)),
    ...(sentence ? [text(x + 5, y + 3, sentence, 'gs busy')] : []),
  ];
}

/** @param {Scale} at @param {Spans} spans @param {{top: number, bottom: number, left: number, right: number}} place */
export function violations(at, spans, { top, bottom, left, right }) {
  return spans.violations.flatMap(({ sequence, at_ms, says: sentence }) => {
    if (!at.shows(sequence, sequence)) return [];
    const x = at.of(sequence, at_ms);
    return x < left || x > right ? [] : [s('line.broken', { x1: x, x2: x, y1: top, y2: bottom }, s('title', sentence))];
  });
}
