/**
 * The table of a timeline's rebalances: sorted, filtered, with a strip of when they cost most.
 *
 * @import {RebalanceCost as Cost} from '../figures/lag-words.js'
 * @typedef {{sequence: number, epoch: number, at_ms: number, until_ms: number, causes: string[], who: string[], moved: number, stops_all: boolean,
 *   interrupted: string[], blocked: string[], proof: number[], cost: Cost | null}} Rebalance
 * @typedef {{timeline: string, first_ms: number | null, last_ms: number | null, rebalances: Rebalance[]}} Table
 * @typedef {{column: number, down: boolean}} Order
 * @typedef {[string, (row: Rebalance) => number | string, (row: Rebalance, first: number) => string, ((row: Rebalance) => string)?]} Column
 *   name, what it is sorted by, what it shows, and why that is not known
 */

import { REASONS, costCells } from '../figures/lag-words.js';
import { when } from '../frame/words.js';
import { h, table } from '../shared/dom.js';

const seconds = (/** @type {number | null | undefined} */ ms) =>
  ms === null || ms === undefined ? '' : (ms / 1000).toFixed(1);

/** How long it took until the owners settled; not known where no cost is. @param {Rebalance} row */
const lasted = (row) => (row.cost ? row.cost.settled_ms - row.at_ms : null);

/** @param {Rebalance} row */
const stopped = (row) => (row.stops_all ? 'every member' : row.interrupted.join(', '));

/** One that never caught up took longest. @param {Cost} cost */
function caughtUpAfter({ caught_up_ms, caught_up_why, estimate, settled_ms }) {
  const at_ms = caught_up_ms ?? estimate?.caught_up_ms ?? (caught_up_why === 'not-yet' ? Infinity : null);
  return at_ms === null ? null : Math.max(0, at_ms - settled_ms);
}

/**
 * A column with a part of the cost, in the words of the panel next to a board.
 *
 * @param {string} name
 * @param {number} cell
 * @param {(cost: Cost) => number | null} by
 * @returns {Column}
 */
const costed = (name, cell, by) => [
  name,
  (row) => (row.cost && by(row.cost)) ?? -1,
  (row) => (row.cost ? (costCells(row.cost)[cell].text ?? 'not known') : ''),
  (row) => (row.cost && costCells(row.cost)[cell].why) ?? '',
];

/** @type {Column[]} */
export const COLUMNS = [
  ['When', (row) => row.at_ms, (row, first) => when(row.at_ms, first)],
  ['Epoch', (row) => row.epoch, (row) => String(row.epoch)],
  ['Cause', (row) => row.causes.join(), (row) => row.causes.join('; ') || 'not known'],
  ['Who', (row) => row.who.join(), (row) => row.who.join(', ')],
  ['Took, s', (row) => lasted(row) ?? -1, (row) => seconds(lasted(row))],
  ['Moved', (row) => row.moved, (row) => String(row.moved)],
  ['Interrupted', stopped, stopped],
  ['Blocked by', (row) => row.blocked.length, (row) => row.blocked.join('; ')],
  costed('Unassigned, partition-s', 1, (cost) => cost.unassigned_partition_ms),
  costed('Not read, partition-s', 2, (cost) => cost.unread_partition_ms),
  costed('Records waited', 3, (cost) => cost.records_waited ?? cost.estimate?.records_waited ?? null),
  costed('Caught up after', 4, caughtUpAfter),
  costed('Read twice', 5, (cost) => cost.read_twice_most ?? (cost.read_twice_least || null)),
];

/** The rows that contain each word, in this order. @param {Table} table @param {string} words @param {Order} order */
export function shownRows({ first_ms, rebalances }, words, order) {
  const first = first_ms ?? 0;
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const key = COLUMNS[order.column]?.[1] ?? ((/** @type {Rebalance} */ row) => row.at_ms);
  const rows = rebalances.filter((row) => {
    const text = COLUMNS.map(([, , show]) => show(row, first))
      .join(' ')
      .toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
  const compare = (/** @type {Rebalance} */ one, /** @type {Rebalance} */ other) => {
    const [a, b] = [key(one), key(other)];
    return a < b ? -1 : Number(a > b);
  };
  return rows.sort((one, other) => (order.down ? compare(other, one) : compare(one, other)));
}

/** @param {Table} of @param {Rebalance[]} rows @param {Order} order @param {(column: number) => void} sort */
export function tableOf(of, rows, order, sort) {
  const first = of.first_ms ?? 0;
  const heads = COLUMNS.map(([name], column) =>
    h(
      'th',
      { scope: 'col', 'aria-sort': order.column === column ? (order.down ? 'descending' : 'ascending') : 'none' },
      h('button', { onclick: () => sort(column) }, name),
    ),
  );
  const cell = (/** @type {Rebalance} */ row, /** @type {number} */ column) => {
    const [name, , show, why] = COLUMNS[column];
    if (column) return h('td', { 'data-label': name, title: REASONS[why?.(row) ?? ''] ?? null }, show(row, first));
    return h('th', { scope: 'row' }, h('a', { href: `/t/${of.timeline}?at=${row.sequence}` }, show(row, first)));
  };
  return table(
    'table.rtable',
    heads,
    rows.map((row) =>
      h(
        'tr',
        COLUMNS.map((_, column) => cell(row, column)),
      ),
    ),
  );
}

/** When rebalances cost most: darker where more was not read. @param {Table} table */
export function heatOf({ first_ms, last_ms, rebalances }) {
  const first = first_ms ?? 0;
  const length = Math.max(1, (last_ms ?? first) - first);
  const most = Math.max(1, ...rebalances.map((row) => row.cost?.unread_partition_ms ?? 0));
  const bars = rebalances.map((row) => {
    const x = (1000 * (row.at_ms - first)) / length;
    const width = Math.max(3, (1000 * ((row.cost?.settled_ms ?? row.at_ms) - row.at_ms)) / length);
    const share = (row.cost?.unread_partition_ms ?? 0) / most;
    return `<rect x="${x.toFixed(1)}" y="0" width="${width.toFixed(1)}" height="18" fill="currentColor" opacity="${(0.15 + 0.85 * share).toFixed(2)}"/>`;
  });
  const worst = rebalances.reduce(
    (best, row) => ((row.cost?.unread_partition_ms ?? 0) > (best?.cost?.unread_partition_ms ?? 0) ? row : best),
    rebalances[0],
  );
  const name = worst ? `Most was not read in the rebalance to epoch ${worst.epoch}` : 'No rebalance';
  const holder = h('div', { role: 'img', 'aria-label': name });
  holder.innerHTML = `<svg class="rheat" viewBox="0 0 1000 18" preserveAspectRatio="none" aria-hidden="true">${bars.join('')}</svg>`;
  return holder;
}
