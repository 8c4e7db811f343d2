/**
 * What is over the columns of the matrix: each partition, and over narrow columns its topic once.
 *
 * @import {Column} from '../types'
 * @import {Labels} from '../frame/labels.js'
 */

import { h } from '../shared/dom.js';
import { textSize } from '../shared/text-size.js';
import { face } from './chips.js';
import { SEVERAL } from './seats.js';

/** @param {Column[]} columns @param {Labels} labels */
export function topicHeads(columns, labels) {
  /** @type {{topic: string, count: number, partitions: number}[]} */
  const runs = [];
  for (const { topic, folded } of columns) {
    const run = runs[runs.length - 1];
    const partitions = folded?.length ?? 1;
    if (run && run.topic === topic) {
      run.count += 1;
      run.partitions += partitions;
    } else runs.push({ topic, count: 1, partitions });
  }
  const row = h('div.row.topicheads', { 'aria-hidden': 'true' }, h('span'));
  for (const { topic, count, partitions } of runs) {
    const head = h(
      'span.th',
      { title: topic === SEVERAL ? 'several topics' : topic },
      topic === SEVERAL ? '…' : labels.marked(topic),
      h('span', ` ${labels.counted(partitions)}`),
    );
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
      column.folded
        ? h('span.ch.fold', { role: 'columnheader', title: foldText(column, labels) }, `+${column.folded.length}`)
        : h(
            'span.ch',
            { role: 'columnheader', 'data-col': column.key, title: labels.partition(column.key) },
            ...face(column, labels.prefix(column.topic), labels.shape(column.topic)),
          ),
    ),
    h('span', { role: 'columnheader' }, h('span.sr', 'Note')),
  );
}

/** A run of columns in words: `orders-6 to 11: 6 partitions`. @param {Column} column @param {Labels} labels */
export function foldText({ topic, folded = [] }, labels) {
  const last = folded[folded.length - 1] ?? '';
  const end = topic === SEVERAL ? labels.partition(last) : last.slice(last.lastIndexOf('-') + 1);
  return `${labels.partition(folded[0] ?? '')} to ${end}: ${labels.counted(folded.length)}`;
}

/**
 * Names are left out where a column is too narrow for them; the topic is then over its columns.
 *
 * @param {HTMLElement} root @param {Column[]} columns @param {Labels} labels
 */
export function fitNames(root, columns, labels) {
  const cell = root.querySelector('.lane .cell:not(.fold)');
  if (!cell) return;
  const longest = columns.reduce(
    (most, { key, topic }) => Math.max(most, labels.partition(key).length + (labels.shape(topic) ? 2 : 0)),
    0,
  );
  const width = cell.getBoundingClientRect().width / textSize();
  root.classList.toggle('narrow', width < Math.max(48, longest * 7.9 + 18));
  root.classList.toggle('tight', width < 96);
  root.classList.toggle('slim', width < 38);
}
