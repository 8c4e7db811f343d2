/**
 * What stands over the columns of the matrix: each partition, and over narrow columns its topic once.
 *
 * @typedef {import('../types').Column} Column
 * @typedef {import('../frame/labels.js').Labels} Labels
 */

import { h } from '../shared/dom.js';
import { face } from './chips.js';

/** @param {Column[]} columns @param {Labels} labels */
export function topicHeads(columns, labels) {
  /** @type {{topic: string, count: number}[]} */
  const runs = [];
  for (const { topic } of columns) {
    const run = runs[runs.length - 1];
    if (run && run.topic === topic) run.count += 1;
    else runs.push({ topic, count: 1 });
  }
  const row = h('div.row.topicheads', { 'aria-hidden': 'true' }, h('span'));
  for (const { topic, count } of runs) {
    const head = h('span.th', { title: topic }, labels.marked(topic));
    head.style.gridColumn = `span ${count}`;
    row.append(head);
  }
  return row;
}

/** @param {Column[]} columns @param {Labels} labels */
export function columnHeads(columns, labels) {
  return h(
    'div.row.colheads',
    { role: 'row' },
    h('span', { role: 'columnheader' }, h('span.sr', 'Member')),
    columns.map((column) =>
      h(
        'span.ch',
        { role: 'columnheader', 'data-col': column.key, title: labels.partition(column.key) },
        ...face(column, labels.prefix(column.topic), labels.shape(column.topic)),
      ),
    ),
    h('span', { role: 'columnheader' }, h('span.sr', 'Note')),
  );
}
