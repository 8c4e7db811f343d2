/**
 * Who reads each partition, run under run: what *Compare* draws below its boards.
 *
 * @typedef {{cost?: import('./compare.js').Cost, meta: any, labels: import('../frame/labels.js').Labels, cast: import('../frame/cast.js').Cast, begin_ms: number}} Run
 */

import { part, rect, s } from '../shared/dom.js';
import { duration } from '../frame/words.js';

const ROW = 15;
const BETWEEN = 8;
const LEFT = 86;
const WIDTH = 900;

/** Who reads each partition, run under run, on one time axis. @param {Run[]} runs @param {{from_ms: number, to_ms: number}} of since their starts */
export function tracks(runs, { from_ms, to_ms }) {
  const rows = runs.reduce((all, run) => all + (run.cost?.keys.length ?? 0) + 1, 0);
  const height = rows * ROW + runs.length * BETWEEN;
  const x = (/** @type {number} */ since_ms) =>
    LEFT + ((WIDTH - LEFT) * (since_ms - from_ms)) / Math.max(1, to_ms - from_ms);
  const svg = s(
    'svg',
    { viewBox: `0 0 ${WIDTH} ${height}`, role: 'img', 'aria-label': 'Who reads each partition over time' },
    s(
      'defs',
      s(
        'pattern',
        { id: 'unread', width: 5, height: 5, patternUnits: 'userSpaceOnUse' },
        s('path', { d: 'M1 0v5', stroke: 'var(--bad-line)', 'stroke-width': 1.4 }),
      ),
    ),
  );
  let y = 0;
  /** @type {Node[]} */
  const titles = [];
  /** @type {SVGElement[]} the playhead, a piece for each run: locked by event or epoch each has its own time */
  const heads = [];
  runs.forEach((run, number) => {
    const title = s('text.title', { x: 0, y: y + 11 });
    title.append(`${number + 1} ${run.meta.title}`);
    titles.push(title);
    const top = y;
    y += ROW;
    for (const key of run.cost?.keys ?? []) {
      const name = s('text', { x: 4, y: y + 10 });
      name.append(run.labels.partition(key));
      svg.append(name);
      for (const stretch of run.cost?.stretches ?? []) {
        if (stretch.key !== key) continue;
        const from = x(stretch.from_ms - run.begin_ms);
        const bar = rect([from, y + 1, Math.max(1, x(stretch.to_ms - run.begin_ms) - from), ROW - 4], {
          class: stretch.member === null ? 'unread' : 'read',
          'data-hue': stretch.member === null ? null : run.cast.lane(stretch.member).hue,
        });
        const tip = s('title');
        tip.append(
          `${key}: ${stretch.member === null ? 'no reader' : run.cast.name(stretch.member)}, ${duration(stretch.to_ms - stretch.from_ms)}`,
        );
        bar.append(tip);
        svg.append(bar);
      }
      y += ROW;
    }
    y += BETWEEN;
    heads.push(s('line.head', { y1: top, y2: y }));
  });
  // The playhead goes behind what is to be read.
  svg.append(...heads, ...titles);
  part('tracks').replaceChildren(svg);
  return (/** @type {number[]} */ times_ms) =>
    heads.forEach((head, number) => {
      for (const end of ['x1', 'x2']) head.setAttribute(end, String(x(times_ms[number])));
    });
}
