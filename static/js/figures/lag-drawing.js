/**
 * Lag over time as a drawing: a line for each partition, member or topic, the rebalances with the time that each took to catch up,
 * times of which nothing is known, and the board's playhead.
 *
 * @import {Lag, Unit} from './lag-words.js'
 */

import { h, rect, s, text, upright } from '../shared/dom.js';
import { CLOCK_FROM_MS } from '../shared/times.js';
import { when } from '../frame/words.js';
import { runsOf } from './lag-words.js';

const HIGH = 250;
const [RIGHT, TOP, BOTTOM] = [14, 22, 24];
/** Room on the left as the tracks of the timeline have it, so that the same time is at the same place. */
const leftOf = (/** @type {number} */ width) => (width < 520 ? 58 : 104);
const HUES = 6;
const LABELS_APART = 15;

/**
 * @param {object} what
 * @param {Lag} what.lag
 * @param {Unit} what.unit
 * @param {number} what.wide
 * @param {[number, number]} what.span when the timeline begins and ends
 * @param {(line: import('./lag-words.js').NamedLine, at: number) => number | string} what.hueOf
 * @returns {{svg: SVGElement, x: (ms: number) => number, msOf: (x: number) => number, move: (ms: number) => void, read: (at: number | null) => void}}
 */
export function lagDrawing({ lag, unit, wide, span, hueOf }) {
  const { times_ms: times, total, lines, rebalances } = lag;
  const first = Math.min(span[0], times[0] ?? Infinity);
  const last = Math.max(span[1], times[times.length - 1] ?? -Infinity);
  const left = leftOf(wide);
  const room = wide - left - RIGHT;
  // The scale of the timeline's tracks leaves as much at both ends.
  const x = (/** @type {number} */ ms) => left + room * (0.02 + (0.95 * (ms - first)) / Math.max(1, last - first));
  const msOf = (/** @type {number} */ place) => first + (((place - left) / room - 0.02) / 0.95) * (last - first);
  const most = Math.max(1, ...[total, ...lines].flatMap((line) => line[unit]).map((value) => value ?? 0));
  const y = (/** @type {number} */ value) => HIGH - BOTTOM - ((HIGH - TOP - BOTTOM) * value) / most;
  const path = (/** @type {(number | null)[]} */ values) =>
    runsOf(values, true)
      .map(([from, to]) =>
        values
          .slice(from, to + 1)
          .map((value, at) => `${at ? 'L' : 'M'}${x(times[from + at]).toFixed(1)} ${y(Number(value)).toFixed(1)}`)
          .join(''),
      )
      .join('');
  const head = s('line', { y1: TOP - 6, y2: HIGH - BOTTOM, stroke: 'var(--ink)', 'stroke-width': 1.6 });
  const reading = s('g');
  const shown = Math.max(2, Math.min(6, Math.floor(room / 110)));
  const start = first > CLOCK_FROM_MS ? first : 0;
  let free = -Infinity;
  const svg = s(
    'svg',
    { viewBox: `0 0 ${wide} ${HIGH}`, width: wide, height: HIGH, 'aria-hidden': 'true' },
    ...runsOf(total[unit], false).map(([from, to]) => {
      const [begin, end] = [x(times[Math.max(0, from - 1)]), x(times[Math.min(times.length - 1, to + 1)])];
      return rect(
        [begin, TOP, Math.max(2, end - begin), HIGH - TOP - BOTTOM],
        { fill: 'var(--warn-bg)', stroke: 'var(--warn-line)', 'stroke-dasharray': '2 3' },
        s('title', 'lag not known'),
      );
    }),
    ...rebalances.flatMap((one) => {
      const [begin, settled] = [x(one.since_ms), x(Math.max(one.settled_ms, one.at_ms))];
      return [
        rect([begin, TOP, Math.max(0, settled - begin), HIGH - TOP - BOTTOM], { fill: 'var(--bad-bg)' }),
        one.caught_up_ms !== null && one.caught_up_ms > one.settled_ms
          ? rect(
              [settled, TOP, x(one.caught_up_ms) - settled, 3],
              { fill: 'var(--warn-arc)' },
              s('title', 'catching up'),
            )
          : null,
        s('line', { x1: x(one.at_ms), x2: x(one.at_ms), y1: TOP, y2: HIGH - BOTTOM, stroke: 'var(--line-2)' }),
      ];
    }),
    ...rebalances.map((one) => {
      const place = x(one.at_ms);
      if (place < free) return null;
      free = place + LABELS_APART;
      return text(place, TOP - 8, String(one.epoch ?? '–'), 'tick', 'middle');
    }),
    ...[0, 0.5, 1].map((share) => {
      const value = most * share;
      const up = y(value);
      return [
        s('line', { x1: left, x2: wide - RIGHT, y1: up, y2: up, stroke: 'var(--line)' }),
        text(left - 6, up + 4, scaleText(value, unit), 'tick', 'end'),
      ];
    }),
    ...Array.from({ length: shown }, (_, at) => first + ((last - first) * at) / (shown - 1)).map((ms, at) =>
      text(x(ms), HIGH - 8, when(Math.round(ms), start), 'tick', at ? (at === shown - 1 ? 'end' : 'middle') : 'start'),
    ),
    ...lines.map((line, at) =>
      s(
        'g',
        { 'data-hue': hueOf(line, at) },
        s('path', { d: path(line[unit]), fill: 'none', stroke: 'var(--m)', 'stroke-width': 1.6 }),
      ),
    ),
    s('path', {
      d: path(total[unit]),
      fill: 'none',
      stroke: 'var(--ink)',
      'stroke-width': 1.2,
      'stroke-dasharray': lines.length ? '4 3' : null,
    }),
    reading,
    head,
  );
  return {
    svg,
    x,
    msOf,
    move(ms) {
      const place = Math.min(Math.max(x(ms), left), wide);
      head.setAttribute('x1', place.toFixed(1));
      head.setAttribute('x2', place.toFixed(1));
    },
    read(at) {
      const value = at === null ? null : total[unit][at];
      const place = at === null ? 0 : x(times[at]);
      reading.replaceChildren(
        ...(at === null
          ? []
          : [
              upright(place, [TOP, HIGH - BOTTOM], { stroke: 'var(--ink-3)', 'stroke-dasharray': '2 2' }),
              ...(value === null ? [] : [s('circle', { cx: place, cy: y(value), r: 3, fill: 'var(--ink)' })]),
            ]),
      );
    },
  };
}

/** @param {number} value @param {Unit} unit */
function scaleText(value, unit) {
  const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 }).format(value);
  return unit === 'seconds' ? `${short} s` : short;
}

/** The hue of a line that is no member's. @param {number} at */
export const hueAt = (at) => at % HUES;

/** What the colours are. @param {{hue: number | string, name: string}[]} lines */
export function lagLegend(lines) {
  return lines.map(({ hue, name }) =>
    h(
      'span.lg',
      { 'data-hue': hue },
      s(
        'svg',
        { viewBox: '0 0 14 8', width: 14, height: 8, 'aria-hidden': 'true' },
        s('path', { d: 'M0 4H14', stroke: 'var(--m)', 'stroke-width': 2 }),
      ),
      ` ${name}`,
    ),
  );
}
