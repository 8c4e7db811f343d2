/**
 * Which rows of the table are shown, and in which order: over rows in memory, without a page.
 *
 * @import {Narrowed, Table, TroubleRow} from './types'
 */

import { counted, grouped } from '../shared/numbers.js';

/** @type {{[sort in Narrowed['sort']]: (one: TroubleRow, other: TroubleRow) => number}} */
const ORDERS = {
  // As the server has them: by severity, then what is still so, then by harm.
  severity: () => 0,
  group: (one, other) => (one.group < other.group ? -1 : Number(one.group > other.group)),
  worst: (one, other) => (other.worst_ms ?? 0) - (one.worst_ms ?? 0),
  rate: (one, other) => (other.per_hour ?? 0) - (one.per_hour ?? 0),
};

/**
 * A group of which nothing is analysed yet.
 *
 * @param {string} group
 * @param {Partial<TroubleRow>} facts
 * @returns {TroubleRow}
 */
export const bareRow = (group, facts) => ({
  timeline: '',
  group,
  protocol: '',
  status: '',
  severity: 0,
  pattern: '',
  certain: true,
  headline: '',
  clauses: [],
  still: null,
  worst_ms: null,
  worst_member: '',
  rebalances: 0,
  unread: 0,
  per_hour: null,
  at: null,
  strip: [],
  causes: [],
  topics: [],
  hosts: [],
  releases: [],
  releases_why: '',
  note: '',
  ...facts,
});

/** What a row is recognised by. @param {TroubleRow} row */
export const keyOf = (row) => row.timeline || row.group;

/** @param {TroubleRow[]} rows @param {Narrowed} asked @returns {TroubleRow[]} */
export function narrowedRows(rows, asked) {
  const words = asked.text.toLowerCase().split(/\s+/).filter(Boolean);
  return rows
    .filter(
      (row) =>
        (asked.all || asked.cause !== null || row.severity > 0) &&
        (!asked.pattern || row.pattern === asked.pattern) &&
        (!asked.topic || row.topics.includes(asked.topic)) &&
        (!asked.host || row.hosts.includes(asked.host)) &&
        (asked.cause === null || row.causes.includes(asked.cause)) &&
        words.every((word) => textOf(row).includes(word)),
    )
    .sort(ORDERS[asked.sort]);
}

/** @type {WeakMap<TroubleRow, string>} */
const texts = new WeakMap();

/** What a search looks through. @param {TroubleRow} row */
function textOf(row) {
  let text = texts.get(row);
  if (text === undefined) {
    text = [row.group, row.pattern, row.headline, row.worst_member, row.note, ...row.topics, ...row.hosts]
      .join('\n')
      .toLowerCase();
    texts.set(row, text);
  }
  return text;
}

/** Values of a column, each once, in order. @param {Iterable<string>} values */
export const once = (values) => [...new Set(values)].filter(Boolean).sort();

/** Rebalances of all rows by cell of the axis. @param {TroubleRow[]} rows @param {number} cells */
export function sums(rows, cells) {
  const sum = new Array(cells).fill(0);
  for (const row of rows) for (const { cell, rebalances } of row.strip) sum[cell] += rebalances;
  return sum;
}

/** Figures of all groups: a name, a value, and whether it is bad. What nobody reads of a group that was stopped is no trouble. @param {Table} table @returns {[string, string, boolean][]} */
export function totals({ rows, cells }) {
  const troubled = rows.filter(({ severity }) => severity > 0);
  const unread = troubled.reduce((sum, row) => sum + row.unread, 0);
  const rebalances = sums(rows, cells).reduce((sum, each) => sum + each, 0);
  return [
    ['Groups', grouped(rows.length), false],
    ['In trouble', grouped(troubled.length), troubled.length > 0],
    ['Rebalances', grouped(rebalances), false],
    ['Unread now', counted(unread, 'partition'), unread > 0],
  ];
}

/** The sentence over the table. @param {Table} table */
export function summed({ rows, causes }) {
  const troubled = rows.filter(({ severity }) => severity > 0);
  const still = troubled.filter((row) => row.still);
  if (!rows.length) return '';
  const clauses = [
    troubled.length
      ? `${troubled.length} of ${rows.length} groups ${troubled.length === 1 ? 'is' : 'are'} in trouble`
      : `Nothing wrong in ${counted(rows.length, 'group')}`,
  ];
  if (still.length && still.length <= 2)
    clauses.push(`${still.map(({ group }) => group).join(' and ')} still ${still.length === 1 ? 'is' : 'are'}`);
  else if (still.length) clauses.push(`${still.length} still are`);
  if (causes.length) clauses.push(`${counted(causes.length, 'cause')} shared by many groups`);
  return `${clauses.join('; ')}.`;
}
