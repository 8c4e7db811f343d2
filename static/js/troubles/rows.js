/**
 * A row of the table, its strip on the common time axis, and the axis itself.
 *
 * @import {Table, TroubleRow} from './types'
 */

import { nameNode } from '../frame/name-node.js';
import { duration, releasesText, shownName } from '../frame/words.js';
import { isSeen, stateWords } from '../live/groups.js';
import { h, rect, s } from '../shared/dom.js';
import { clock, day } from '../shared/times.js';
import { counted, grouped } from '../shared/numbers.js';
import { keyOf } from './order.js';

const CELL = 6;
const STRIP_HEIGHT = 18;
const SUM_HEIGHT = 22;
/** From so many rebalances in a cell on it has the darkest grey. */
const DARK_FROM = 4;

const SEVERITIES = ['', 'warning', 'critical'];

/** The least that the board shows around the worst moment: less has nothing to compare it with. */
const CONTEXT_S = 60;
/** What it shows of the worst wait, in its lengths: its end is seen, too. */
const LENGTHS = 1.5;

/** Opens at the worst moment. @param {TroubleRow} row */
function addressOf(row) {
  const within = Math.max(CONTEXT_S, Math.ceil(((row.worst_ms ?? 0) / 1000) * LENGTHS));
  return `/t/${encodeURIComponent(row.timeline)}${row.at ? `?at=${row.at}&within=${within}` : ''}`;
}

/** @param {TroubleRow} row @param {Table} table @param {number} top in rem */
export function troubleRow(row, table, top) {
  const name = row.pattern || (row.severity ? 'Other trouble' : row.timeline ? 'No pattern' : row.protocol);
  const label = { 'data-key': keyOf(row), title: row.group };
  const severity = SEVERITIES[row.severity];
  const live = row.live ?? table.live?.[row.timeline];
  const causes = row.causes.map((at) => table.causes[at]?.text ?? '').join('; ');
  return h(
    'div.tr',
    { role: 'row', class: `tr s${row.severity}`, style: `top: ${top}rem`, 'data-group': row.group },
    h(
      'span.g',
      { role: 'cell' },
      row.timeline
        ? h('a.mono', { href: addressOf(row), ...label }, shownName(row.group))
        : h('span.mono', { tabindex: '-1', ...label }, shownName(row.group)),
      h(
        'span.p',
        { title: row.certain ? 'shown by the log' : 'inferred' },
        row.severity ? h('i', { class: row.certain ? 'sure' : 'open', 'aria-hidden': 'true' }) : null,
        name,
        severity ? h('span.sr', `, ${severity}`) : null,
        row.releases.length
          ? h('span.quiet', { title: row.releases_why }, ` · Kafka ${releasesText(row.releases)}`)
          : null,
      ),
    ),
    h(
      'span.hl',
      { role: 'cell', title: [row.headline, row.note].filter(Boolean).join(' ') },
      row.still ? h('i.now', { title: 'still so' }) : null,
      said(row),
      row.note ? h('span.quiet', ` ${row.note}`) : null,
    ),
    live || table.live ? h('span.lv', { role: 'cell' }, ...(live ? liveCell(live) : [])) : null,
    h(
      'span.c',
      { role: 'cell', title: causes },
      row.causes.length ? counted(row.causes.length, 'shared') : h('span.sr', 'none'),
    ),
    h(
      'span.w.num',
      { role: 'cell' },
      row.worst_ms ? h('b', duration(row.worst_ms)) : h('span', '–'),
      row.worst_member ? h('span.quiet', nameNode(row.worst_member)) : null,
    ),
    h('span.r.num', { role: 'cell' }, row.per_hour === null ? '–' : grouped(row.per_hour)),
    h('span.st', { role: 'cell' }, strip(row, table)),
  );
}

/** How a watched group is now, what is lost and late first: as on its board, and what hides it where it cannot be seen. @param {import('../shapes').GroupRow} group */
function liveCell(group) {
  const { state, members, behind, lag, lag_ms, lag_is_least, lost_records, lost_partition, skew, skew_of } = group;
  const age = lag && lag_ms ? `, ${lag_is_least ? 'at least ' : ''}${duration(lag_ms)}` : '';
  const facts = [
    lost_records ? `${counted(lost_records, 'record')} deleted unread (${lost_partition})` : '',
    lag ? `lag ${grouped(lag)}${age}` : '',
    skew ? `${skew_of} falls behind alone${skew === 'hot-partition' ? ' (hot partition)' : ''}` : '',
    members === null ? '' : counted(members, 'member') + (behind ? `, ${behind} behind` : ''),
  ];
  const words = stateWords(group);
  return [
    isSeen(group) && state
      ? h('span.state', { 'data-s': state, title: state }, h('i'), state)
      : h('span.open', { title: words }, words),
    h('span.quiet', { title: facts.filter(Boolean).join(', ') }, facts.filter(Boolean).join(', ')),
  ];
}

/** Its first proven clause is bold. @param {TroubleRow} row */
function said(row) {
  const first = row.clauses.findIndex(({ sequence }) => sequence !== null);
  if (first < 0)
    return row.headline || (row.protocol === 'simple' ? 'Commits only: no record of a member' : 'Nothing is known yet');
  return h(
    'span',
    row.clauses.map(({ text }, at) => (at === first ? h('b', text) : text)),
  );
}

/** @param {TroubleRow} row @param {Table} table */
function strip(row, { cells }) {
  const unread = row.strip.filter((cell) => cell.unread).length;
  const label = `${counted(row.rebalances, 'rebalance')}${unread ? `, partitions unassigned for over 10 s in ${counted(unread, 'stretch', 'stretches')}` : ''}`;
  // One path for each shade: with a rectangle for each cell the rows in sight would have a thousand.
  /** @type {{[shade: string]: string}} */
  const paths = {};
  for (const { cell, rebalances, unread: red } of row.strip) {
    const shade = red ? 'bad' : `n${Math.min(DARK_FROM, rebalances)}`;
    paths[shade] = `${paths[shade] ?? ''}M${cell * CELL} 1h${CELL - 1}v${STRIP_HEIGHT - 3}h${1 - CELL}z`;
  }
  return s(
    'svg',
    { viewBox: `0 0 ${cells * CELL} ${STRIP_HEIGHT}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label },
    Object.entries(paths).map(([shade, d]) => s('path', { class: shade, d })),
    s('line', { x1: 0, x2: cells * CELL, y1: STRIP_HEIGHT - 0.5, y2: STRIP_HEIGHT - 0.5 }),
  );
}

/** The sum of all rows over the axis, and bands of the causes that groups share. @param {Table} table @param {number[]} sum */
export function axis(table, sum) {
  const { from_ms, to_ms, cells, causes } = table;
  if (from_ms === null || to_ms === null) return [];
  const most = Math.max(1, ...sum);
  const x = (/** @type {number} */ ms) =>
    Math.min(cells - 1, Math.floor(((ms - from_ms) * cells) / Math.max(1, to_ms - from_ms))) * CELL;
  const dated = day(from_ms) !== day(to_ms);
  const word = (/** @type {number} */ ms) => (dated ? `${day(ms)} ` : '') + clock(ms, { seconds: !dated });
  return [
    s(
      'svg',
      {
        viewBox: `0 0 ${cells * CELL} ${SUM_HEIGHT}`,
        preserveAspectRatio: 'none',
        role: 'img',
        'aria-label': `${counted(
          sum.reduce((all, each) => all + each, 0),
          'rebalance',
        )} of all groups that are listed, at most ${most} in one cell`,
      },
      causes.map((cause) => rect([x(cause.from_ms), 0, CELL, SUM_HEIGHT], { class: 'band' }, s('title', cause.text))),
      sum.map((each, cell) =>
        each
          ? rect([cell * CELL, SUM_HEIGHT - (SUM_HEIGHT * each) / most, CELL - 1, (SUM_HEIGHT * each) / most])
          : null,
      ),
    ),
    h('span.ends.num', h('span', word(from_ms)), h('span', word(to_ms))),
  ];
}
