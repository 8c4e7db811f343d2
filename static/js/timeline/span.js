/**
 * One span of ownership, as a track shows it.
 *
 * @import {Span} from '../types'
 * @typedef {ReturnType<typeof import('./scale.js').scale>} Scale
 */

import { committedTrack, rises } from '../frame/committed.js';
import { s, text } from '../shared/dom.js';
import { columnOf } from '../frame/view.js';

const PARTITION_HUES = ['4', '3', '5', '0', '1', '2'];
/** @param {string} key */
export const partitionHue = (key) => PARTITION_HUES[columnOf(key).partition % PARTITION_HUES.length];

/**
 * A span of ownership in the track of a member, and its name where there is room.
 *
 * @param {Scale} at
 * @param {Span} span
 * @param {{hue: string, faint: boolean, label: string}} look
 * @param {{y: number, row: number, left: number, named: boolean}} place
 */
export function drawnSpan(at, span, { hue, faint, label }, { y, row, left, named }) {
  const x = Math.max(left, at.of(span.from, span.from_ms));
  const width = at.of(span.to, span.to_ms) - x;
  if (width <= 0) return [];
  const box = { x: x + 0.5, y: y + 0.5, width: Math.max(1.5, width - 1.5), height: row - 1.5, rx: 1.5 };
  const group = s(
    'g',
    { class: `span ${span.mode}${faint ? ' faint' : ''}`, 'data-hue': hue },
    s('rect', box),
    span.mode === 'revoking' ? s('rect.hatch', { ...box, fill: `url(#hatch-${hue})` }) : null,
  );
  if (named && span.mode === 'own' && row >= 11 && width > label.length * 5.6 + 12) {
    group.append(text(x + 6, y + row - 2.4, label, 'name'));
  }
  return [group];
}

/**
 * What was committed while a member held a partition: a line under its span.
 *
 * @param {Scale} at
 * @param {Span} span
 * @param {import('../frame/committed.js').Line | undefined} line
 * @param {{faint: boolean, label: string}} look
 * @param {{y: number, left: number}} place
 */
export function committedUnder(at, span, line, { faint, label }, { y, left }) {
  if (!line || span.mode === 'want') return [];
  const [from, to] = [Math.max(left, at.of(span.from, span.from_ms)), at.of(span.to, span.to_ms)];
  if (to - from < 2) return [];
  const inside = line.points.filter(([sequence]) => sequence >= span.from && (span.to === null || sequence <= span.to));
  const places = rises(inside, (sequence, ms) => at.between(sequence, ms), from, to);
  const many = places.length ? 'the line rises at each commit' : 'nothing was committed';
  return [committedTrack(places, { from, to, y, faint, title: `${label}: ${many}` })];
}
