/**
 * Committed offsets of a partition: a line that rises while somebody reads it, and is flat where nobody does. Pure, but for the
 * drawing at its end.
 *
 * @typedef {[sequence: number, at_ms: number, offset: number | null]} Commit null: the commit was deleted or has expired
 * @typedef {{topic: string, partition: number, commits: number, points: Commit[]}} Line
 * @typedef {{from: number, from_ms: number, to_ms: number}} Flat
 * @typedef {{from_ms: number, to_ms: number | null, from: number, says: string, inferred: boolean}} Shade what the line is flat for
 */

import { h, rect, s } from '../shared/dom.js';
import { counted, grouped } from '../shared/numbers.js';
import { duration, when } from './words.js';

const HIGH = 64;
const WIDE = 360;
/** Room for the line's width at its ends. */
const EDGE = 4;
/** Marks that stand closer than this are one. */
const APART = 1.5;

/**
 * The longest time in which the offset did not move, between two commits. What comes after the last one is none: nobody knows
 * whether another would have come.
 *
 * @param {Commit[]} points
 * @returns {Flat | null}
 */
export function longestFlat(points) {
  /** @type {Flat | null} */
  let longest = null;
  let since = points[0];
  for (const point of points.slice(1)) {
    if (point[2] !== since[2]) {
      const [from, from_ms] = since;
      if (since[2] !== null && point[1] - from_ms > (longest ? longest.to_ms - longest.from_ms : 0))
        longest = { from, from_ms, to_ms: point[1] };
      since = point;
    }
  }
  return longest;
}

/**
 * A step line: an offset holds until the next commit. It ends where a commit was deleted.
 *
 * @param {Commit[]} points
 * @param {(ms: number) => number} x
 * @param {(offset: number) => number} y
 * @param {number} end where the last offset holds to
 */
export function pathOf(points, x, y, end) {
  const parts = [];
  let drawing = false;
  for (const [, at_ms, offset] of points) {
    const place = x(at_ms).toFixed(1);
    if (drawing) parts.push(`H${place}`);
    if (offset === null) drawing = false;
    else {
      parts.push(drawing ? `V${y(offset).toFixed(1)}` : `M${place} ${y(offset).toFixed(1)}`);
      drawing = true;
    }
  }
  if (drawing) parts.push(`H${end.toFixed(1)}`);
  return parts.join('');
}

/**
 * Where a line under a span rises: at each commit that moved the offset.
 *
 * @param {Commit[]} points
 * @param {(sequence: number, at_ms: number) => number} x
 * @param {number} from a place @param {number} to a place
 * @returns {number[]} places, at least `APART` apart
 */
export function rises(points, x, from, to) {
  /** @type {number[]} */
  const places = [];
  let before = /** @type {number | null} */ (null);
  for (const [sequence, at_ms, offset] of points) {
    const moved = offset !== null && offset !== before;
    before = offset;
    if (!moved) continue;
    const place = x(sequence, at_ms);
    if (place < from || place > to) continue;
    if (!places.length || place - places[places.length - 1] >= APART) places.push(place);
  }
  return places;
}

/** What the line shows, in words. @param {Line} line @param {number} start_ms */
export function committedWords({ commits, points }, start_ms) {
  const known = points.filter(([, , offset]) => offset !== null);
  if (!known.length) return 'No offset of it was committed here.';
  const [first, last] = [known[0][2], known[known.length - 1][2]].map((offset) => grouped(Number(offset)));
  const flat = longestFlat(points);
  return [
    `${counted(commits, 'commit')}, from offset ${first} to ${last}.`,
    flat
      ? `The offset did not move for ${duration(flat.to_ms - flat.from_ms)} from ${when(flat.from_ms, start_ms)} on, its longest.`
      : null,
  ]
    .filter(Boolean)
    .join(' ');
}

/**
 * @param {object} what
 * @param {Line} what.line
 * @param {string} what.label of the partition
 * @param {Shade[]} what.shades
 * @param {number} what.start_ms
 * @returns {HTMLElement}
 */
export function committedFigure({ line, label, shades, start_ms }) {
  const text = committedWords(line, start_ms);
  const known = line.points.filter(([, , offset]) => offset !== null);
  const name = `Committed offset of ${label}`;
  if (!known.length) return h('figure.committed', h('figcaption', name), h('p.quiet', text));
  const times = line.points.map(([, at_ms]) => at_ms);
  const [begin, end] = [Math.min(...times), Math.max(...times)];
  const offsets = known.map(([, , offset]) => Number(offset));
  const [low, high] = [Math.min(...offsets), Math.max(...offsets)];
  const x = (/** @type {number} */ ms) =>
    EDGE + ((WIDE - 2 * EDGE) * (Math.min(Math.max(ms, begin), end) - begin)) / Math.max(1, end - begin);
  const y = (/** @type {number} */ offset) =>
    HIGH - EDGE - ((HIGH - 2 * EDGE) * (offset - low)) / Math.max(1, high - low);
  const seen = shades.filter((shade) => shade.from_ms < end && (shade.to_ms ?? end) > begin);
  return h(
    'figure.committed',
    h('figcaption', name),
    s(
      'svg',
      { viewBox: `0 0 ${WIDE} ${HIGH}`, role: 'img', 'aria-label': `${name}: ${text}` },
      ...seen.map(({ from_ms, to_ms, says: why }) =>
        rect([x(from_ms), 0, Math.max(2, x(to_ms ?? end) - x(from_ms)), HIGH], { class: 'flat' }, s('title', why)),
      ),
      s('path.offset', { d: pathOf(line.points, x, y, WIDE - EDGE) }),
      ...seen
        .filter(({ inferred }) => inferred)
        .map(({ from_ms, says: why }) => {
          const before = known.findLast(([, at_ms]) => at_ms <= from_ms) ?? known[0];
          return s('circle.silent', { cx: x(from_ms), cy: y(Number(before[2])), r: 3.2 }, s('title', why));
        }),
    ),
    h('div.ends.num', { 'aria-hidden': 'true' }, h('span', when(begin, start_ms)), h('span', when(end, start_ms))),
    h('p', text),
    ...seen.map(({ from, says: why, inferred }) =>
      h('a.shade', { href: `?at=${from}`, 'data-at': from }, inferred ? '○ ' : '', why),
    ),
  );
}

/**
 * The line under a span of a track: it rises at each commit and is flat where none came.
 *
 * @param {number[]} places from `rises`
 * @param {{from: number, to: number, y: number, faint: boolean, title: string}} at
 */
export function committedTrack(places, { from, to, y, faint, title }) {
  const d = [`M${from.toFixed(1)} ${y}`];
  for (const place of places) d.push(`H${place.toFixed(1)}v-3v3`);
  d.push(`H${to.toFixed(1)}`);
  return s('path', { class: `commits${faint ? ' faint' : ''}`, d: d.join('') }, s('title', title));
}
