/**
 * The rows of an import's tables: a file, a group with its rebalances and what happened in it. Nothing here knows the page.
 *
 * @typedef {import('./types').Source} Source
 * @typedef {import('./types').Row} Row
 */

import { h, s, unbroken } from '../shared/dom.js';
import { plural } from '../frame/words.js';

/** Bars of a group's rebalances. */
const BARS = 37;

/** @param {number} number */
export const count = (number) => number.toLocaleString('en-US');

const tick = () =>
  s(
    'svg',
    { width: 12, height: 12, viewBox: '0 0 12 12', 'aria-hidden': 'true' },
    s('path', { d: 'M2 6.5 5 9.5 10.5 2.5', fill: 'none', stroke: 'currentColor', 'stroke-width': 1.8 }),
  );

/** @param {Source} source @param {boolean} begun whether reading has begun: until then files are recognised, and nothing more */
export function sourceRow(source, begun) {
  const cut = source.file.lastIndexOf('/') + 1;
  const readable = source.kind === 'offsets' || source.kind === 'metadata';
  const read = readable && (!begun || source.records > 0 || Boolean(source.repeats) || source.state === 'read');
  return h(
    'tr',
    {},
    h(
      'td',
      { class: 'fn', title: source.file },
      h('span', { class: 'quiet' }, source.file.slice(0, cut)),
      source.file.slice(cut).replace(/^0{6,}(?=\d)/, '…'),
    ),
    h('td', {}, source.is),
    h(
      'td',
      { class: 'r num' },
      source.first_offset === null ? '' : `${count(source.first_offset)} to ${count(source.last_offset ?? 0)}`,
    ),
    h('td', { class: 'r num' }, bytes(source.bytes)),
    h(
      'td',
      {
        class: 'r num',
        title: source.compacted ? `${count(source.compacted)} offsets were compacted away, which is normal` : null,
      },
      readable ? count(source.records) : '',
    ),
    h(
      'td',
      {},
      read
        ? h(
            'span',
            { class: 'ok' },
            tick(),
            source.repeats ? `repeats ${source.repeats}` : begun ? source.state : 'recognised',
          )
        : h('span', { class: 'quiet', title: source.state }, readable ? 'nothing was read' : 'not read'),
    ),
  );
}

/** As the server says it: 1,024 bytes are a KB. @param {number} size */
export function bytes(size) {
  if (size < 1024) return `${size} bytes`;
  const units = ['KB', 'MB', 'GB', 'TB'];
  const at = Math.min(units.length - 1, Math.floor(Math.log2(size) / 10) - 1);
  return `${(size / 1024 ** (at + 1)).toFixed(1)} ${units[at]}`;
}

/** @param {Row} row @param {number} from @param {number} to */
export function groupRow(row, from, to) {
  const folding = row.status === 'running';
  const facts = [
    row.gaps ? plural(row.gaps, 'gap') + ' in the log' : '',
    row.deleted ? 'deleted at the end' : '',
    row.continues ? `goes on after entry ${count(row.continues_after ?? 0)} of the earlier import` : '',
    row.overlaps.length ? `overlaps ${row.overlaps.join(', ')}` : '',
    row.problem,
  ]
    .filter(Boolean)
    .join('; ');
  return h(
    'tr',
    {},
    h('td', { class: 'gn' }, h('a', { href: row.url }, row.title)),
    h('td', {}, row.protocol),
    h('td', {}, spark(row.epochs, row.no_owner, from, to, true)),
    h(
      'td',
      { class: 'vd' },
      folding && !row.verdict.text ? 'Folding' : headline(row),
      facts ? h('span', { class: 'sub' }, facts) : null,
    ),
    h('td', { class: 'r num' }, count(row.entries)),
  );
}

/** @param {Row} row @returns {(Node | string)[]} */
function headline(row) {
  if (!row.verdict.clauses?.length)
    return [
      row.protocol === 'simple' ? 'Commits only: no record of a member' : row.verdict.text || 'Nothing is known yet',
    ];
  return (row.verdict.headline ?? row.verdict).clauses.flatMap(({ text, sequence }) =>
    sequence === null ? unbroken(text) : [h('a', { href: `${row.url}?at=${sequence}` }, ...unbroken(text))],
  );
}

/**
 * Rebalances over the time of all logs: a bar for each stretch, red where a partition was nobody's for long.
 *
 * @param {number[]} epochs @param {number[]} bad @param {number} from @param {number} to @param {boolean} known
 */
export function spark(epochs, bad, from, to, known) {
  const width = BARS * 4;
  const of = (/** @type {number} */ at) =>
    Math.min(BARS - 1, Math.floor(((at - from) / Math.max(1, to - from)) * BARS));
  const bars = new Array(BARS).fill(0);
  for (const at of epochs) bars[of(at)] += 1;
  const red = new Set(bad.map(of));
  const label = known
    ? `${plural(epochs.length, 'rebalance')}${bad.length ? `, ${bad.length} times unassigned for long` : ''}`
    : 'not folded yet';
  return s(
    'svg',
    { class: 'spark', width, height: 24, viewBox: `0 0 ${width} 24`, role: 'img', 'aria-label': label },
    s('line', { class: 'ax', x1: 0, x2: width, y1: 22.5, y2: 22.5 }),
    known ? null : s('rect', { class: 'un', x: 0, y: 4, width, height: 18 }),
    bars.map((number, at) => {
      const height = number ? Math.min(18, 4 + number * 2) : red.has(at) ? 4 : 0;
      return height
        ? s('rect', { class: red.has(at) ? 'r' : 'b', x: at * 4 + 0.5, y: 22 - height, width: 3, height })
        : null;
    }),
  );
}
