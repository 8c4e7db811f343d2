/**
 * The table of remedies: a row for each, a strip of dots for each measure, in groups by what the remedy did.
 *
 * @typedef {{least: number, median: number, most: number, seeds: number[]}} Spread
 * @typedef {{name: string, value: string, other: string, outcome: string, not_read_ms: number, replay_ms: number}} Otherwise
 * @typedef {{key: string, name: string, setting: string, not_read_ms: Spread | null, unassigned_ms: Spread | null, interrupted: Spread | null,
 *   read_twice: Spread | null, outcome: string | null, fewer: number, depends_on: Otherwise | null, problem: string | null}} Row
 * @typedef {{not_read_ms: number | null, unassigned_ms: number, epochs: number}} Recorded
 * @typedef {{name: string, mark: string, value: string | number | boolean | null, reason: string}} Assumption
 * @typedef {{why: string | null, seeds: number, recorded: Recorded, rows: Row[], assumptions: Assumption[]}} Answer
 */

import { h, table } from '../shared/dom.js';
import { grouped } from '../shared/numbers.js';

const GROUPS = [
  ['less', 'Less time not read', ''],
  ['no difference', 'No difference', 'most seeds within 3 % of the replay with the same seed'],
  ['more', 'More time not read', 'these make the incident worse'],
];

const COLUMNS = [
  'Remedy',
  'Not read, one dot a seed',
  'Not read, partition-s',
  'Unassigned, partition-s',
  'Members interrupted',
  'Records read twice',
  'The answer depends most on',
  'Branch',
];

/** Partition-seconds of milliseconds. @param {number} ms */
export const seconds = (ms) => (ms / 1000).toLocaleString('en', { maximumFractionDigits: ms < 100_000 ? 1 : 0 });

/** The sentence above the table. @param {Answer} answer @param {boolean} ended @returns {string} */
export function leadOf(answer, ended) {
  const replay = answer.rows[0]?.not_read_ms;
  if (answer.why) return 'Nothing is ranked';
  if (!replay || !ended) return 'What would have helped';
  const best = answer.rows.find((row) => row.outcome === 'less');
  const left = best?.not_read_ms;
  if (!best || !left) return 'No remedy leaves less time not read';
  return `${best.name} would have left ${seconds(left.median)} of ${seconds(replay.median)} partition-seconds not read`;
}

/** What an answer depends on, in words. @param {Row} row */
function dependsOn(row) {
  const it = row.depends_on;
  if (row.problem) return h('span', `Cannot run: ${row.problem}`);
  if (row.key === 'replay') return h('span.quiet', '');
  if (!it) return h('span.quiet', 'nothing that was varied');
  return h(
    'span',
    h('b', it.name),
    ` (${it.value}). If ${it.other}: ${seconds(it.not_read_ms)} of ${seconds(it.replay_ms)}, `,
    it.outcome === row.outcome ? `still ${it.outcome}` : h('b', it.outcome),
  );
}

/** A dot for each run on one scale. @param {Spread} spread @param {number} most @param {number | null} recorded @param {string} name */
function strip(spread, most, recorded, name) {
  const x = (/** @type {number} */ value) => 5 + (210 * value) / (most || 1);
  const at = /** @type {{[place: number]: number}} */ ({});
  const dots = spread.seeds.map((value) => {
    const place = Math.round(x(value) / 4);
    const turn = (at[place] = (at[place] ?? -1) + 1);
    const up = turn % 2 ? (turn + 1) / 2 : -turn / 2;
    return `<circle cx="${x(value).toFixed(1)}" cy="${13 + 2 * Math.max(-4, Math.min(4, up))}" r="3" fill="currentColor" opacity=".35"/>`;
  });
  const line =
    recorded === null ? '' : `<path d="M${x(recorded).toFixed(1)} 0V26" stroke="currentColor" stroke-width="2"/>`;
  const holder = h('div', { role: 'img', 'aria-label': name });
  holder.innerHTML = `<svg class="rstrip" viewBox="0 0 220 26" preserveAspectRatio="none" aria-hidden="true"><path d="M0 13H220" stroke="currentColor" opacity=".15"/>${line}${dots.join('')}<circle cx="${x(spread.median).toFixed(1)}" cy="13" r="3.5" fill="currentColor"/></svg>`;
  return holder;
}

/** @param {Spread | null} spread @param {(value: number) => string} words @param {string} label @param {boolean} worse */
function figure(spread, words, label, worse = false) {
  if (!spread) return h('td.num', { 'data-label': label }, 'not known');
  const range = spread.least === spread.most ? 'all seeds' : `${words(spread.least)} to ${words(spread.most)}`;
  return h(
    'td.num',
    { 'data-label': label },
    h(worse ? 'b.rmore' : 'b', words(spread.median)),
    h('small', ` ${range}`),
  );
}

/** @param {Answer} answer @param {boolean} ended @param {(key: string, button: HTMLButtonElement) => void} open */
export function tableOf(answer, ended, open) {
  const recorded = answer.recorded;
  const most = Math.max(recorded.not_read_ms ?? 0, ...answer.rows.map((row) => row.not_read_ms?.most ?? 0));
  const one = (/** @type {Row} */ row) => {
    const spread = row.not_read_ms;
    const words = spread
      ? `median ${seconds(spread.median)}, from ${seconds(spread.least)} to ${seconds(spread.most)}`
      : '';
    return h(
      'tr',
      { 'data-key': row.key },
      h('th', { scope: 'row' }, row.name, h('small.mono', row.setting || 'does the simulator repeat the incident?')),
      h('td.rstripcell', spread ? strip(spread, most, recorded.not_read_ms, words) : ''),
      figure(spread, seconds, 'Not read, partition-s', row.outcome === 'more'),
      figure(row.unassigned_ms, seconds, 'Unassigned, partition-s'),
      figure(row.interrupted, grouped, 'Interrupted'),
      figure(row.read_twice, grouped, 'Read twice'),
      h('td', row.key === 'replay' ? {} : { 'data-label': 'Depends most on' }, dependsOn(row)),
      h(
        'td',
        row.problem
          ? ''
          : h(
              'button.btn.sm',
              {
                'data-needs': 'run',
                'aria-label': `Open next to the log: ${row.name}`,
                onclick: (/** @type {Event} */ event) =>
                  open(row.key, /** @type {HTMLButtonElement} */ (event.currentTarget)),
              },
              'Open next to the log',
            ),
      ),
    );
  };
  const [replay, ...remedies] = answer.rows;
  const parts = replay ? [one(replay)] : [];
  const group = (/** @type {string} */ name, /** @type {string} */ what) =>
    h('tr.rgroup', h('th', { colspan: 8, scope: 'rowgroup' }, name, ' ', h('span', what)));
  for (const [outcome, name, what] of GROUPS) {
    const rows = remedies.filter((row) => row.outcome === outcome);
    if (rows.length) parts.push(group(String(name), ended ? String(what) : 'so far'), ...rows.map(one));
  }
  const failed = remedies.filter((row) => row.outcome === null);
  if (failed.length) parts.push(group('Cannot run', ''), ...failed.map(one));
  return table('table.rtable', COLUMNS, parts);
}

const MARKS = /** @type {{[mark: string]: string}} */ ({ 'in the log': '●', assumed: '○', unknown: '◌' });

/** @param {Assumption[]} rows */
export const restsOn = (rows) =>
  h(
    'ul.rrests',
    rows.map((row) =>
      h(
        'li',
        h('span', { role: 'img', 'aria-label': row.mark, title: row.mark }, MARKS[row.mark] ?? '◐'),
        h('b', row.name),
        h('span.num', row.value === null ? 'unknown' : String(row.value)),
        h('span.quiet', row.reason),
      ),
    ),
  );
