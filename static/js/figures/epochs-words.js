/**
 * The words of the figure of epochs, whichever code draws it: which line is whose, and the same as a table.
 *
 * @import {Cast} from '../frame/cast.js'
 * @typedef {{x: number[], y: (number | null)[], customdata: number[], name: string, meta?: {line: string, member?: string}}} Trace
 * @typedef {{data: Trace[], layout: any}} EpochsFigure times in milliseconds, `customdata` sequences
 */

import { disc } from '../frame/disc.js';
import { h, table } from '../shared/dom.js';
import { CLOCK_FROM_MS } from '../shared/times.js';
import { duration, when } from '../frame/words.js';

/** Rows of the table; the figure itself has all of them. */
const ROWS_MOST = 200;
/** Members at the same epoch would hide each other: their lines are set apart by this much of an epoch. */
const APART = 0.05;
const APART_MOST = 0.35;

/** How far each line is set below its epoch, so that none hides another. @param {Trace[]} data */
export function setApart(data) {
  let members = 0;
  return data.map(({ meta }) => (meta?.member ? Math.min(APART_MOST, (members += 1) * APART) : 0));
}

/**
 * The points of a line with one more before each gap, at its height: who goes was at its last epoch until then, and Plotly draws
 * nothing towards a point without a height.
 *
 * @param {Trace} trace
 * @returns {Trace}
 */
export function untilItEnds(trace) {
  const places = trace.x.flatMap((_, at) => {
    const ends = at > 0 && trace.y[at] === null && trace.y[at - 1] !== null;
    return ends
      ? [
          { at, epoch: trace.y[at - 1] },
          { at, epoch: null },
        ]
      : [{ at, epoch: trace.y[at] }];
  });
  return {
    ...trace,
    x: places.map(({ at }) => trace.x[at]),
    y: places.map(({ epoch }) => epoch),
    customdata: places.map(({ at }) => trace.customdata[at]),
  };
}

/** Which line is whose. @param {HTMLElement} root @param {Cast} cast @param {Trace[]} data */
export function showLegend(root, cast, data) {
  root.replaceChildren(
    ...data.map(({ meta, name }) =>
      meta?.member
        ? h('span.lg', disc(cast, meta.member))
        : h('span.lg', h('i', { class: `k line ${meta?.line}` }), name),
    ),
  );
}

/** The same in words. @param {HTMLElement} root @param {Cast} cast @param {Trace[]} data */
export function showTable(root, cast, data) {
  const start = data[0]?.x?.[0] ?? 0;
  const rows = data
    .flatMap((trace) =>
      trace.x.map((ms, at) => ({
        ms,
        epoch: trace.y[at],
        sequence: trace.customdata[at],
        name: trace.meta?.member ? cast.name(trace.meta.member) : trace.name,
      })),
    )
    .sort((a, b) => a.sequence - b.sequence);
  const row = (/** @type {typeof rows[0]} */ { ms, name, epoch, sequence }) =>
    h(
      'tr',
      h(
        'td.num',
        h(
          'a',
          { href: `?at=${sequence}`, 'data-at': sequence },
          start > CLOCK_FROM_MS ? when(ms, start) : duration(ms),
        ),
      ),
      h('td', name),
      h('td.num', epoch === null ? 'gone' : epoch),
    );
  root.replaceChildren(table('table.t', ['When', 'Whose', 'Epoch'], rows.slice(0, ROWS_MOST).map(row)));
  if (rows.length > ROWS_MOST) root.append(h('p.why', `${rows.length - ROWS_MOST} more in the figure.`));
}
