/**
 * The proposal's own table, with the current row lit; rows that the lesson has not reached stay covered.
 *
 * @import {Table} from './types'
 * @import {Cast} from '../frame/cast.js'
 */

import { h, table as tableOf } from '../shared/dom.js';
import { sentence, who } from './sentence.js';

/**
 * @param {HTMLElement} root
 * @param {Table} table
 * @param {number} sequence where the board is
 * @param {Cast} cast
 * @param {boolean} done nothing is left to predict: all rows are shown, and the mistake in the text is shown
 */
export function showTable(root, table, sequence, cast, done) {
  const reached = table.rows.filter((row) => row.sequence <= sequence).length;
  const shown = done ? table.rows.length : reached;
  const rows = table.rows.map((row, index) => {
    if (index >= shown) {
      return h(
        'tr.hid',
        h('td', index + 1),
        h(
          'td',
          { colspan: table.members.length + 1 },
          h('span', { 'aria-hidden': 'true' }),
          h('span.sr', 'still to come'),
        ),
      );
    }
    return h(
      'tr',
      { 'aria-current': index === reached - 1 ? 'true' : null },
      h('td', index + 1),
      h('td', sentence(row.says, cast)),
      row.cells.map((cell, place) =>
        h('td', { class: row.same[place] ? 'same' : 'chg' }, cell.replace(' waits', '\nwaits')),
      ),
    );
  });
  root.replaceChildren(
    h(
      'div.phead',
      h('h2', 'The proposal’s table'),
      h('span.grow'),
      h('span.quiet.nowrap', `${shown} of ${table.rows.length} rows`),
    ),
    h(
      'div.scrolls',
      { role: 'region', 'aria-label': 'Rows of the table', tabindex: '0' },
      tableOf(
        'table.t.kt',
        [
          h('th', h('span.sr', 'Row')),
          'Event',
          ...table.members.map((name) => h('th', { scope: 'col' }, who(name, cast))),
        ],
        rows,
      ),
    ),
    h(
      'p.kn',
      `${table.source}. Each row is held against the run: epoch, {partitions}, and what it waits for.`,
      shown < table.rows.length ? ' Rows still to come stay covered.' : '',
    ),
    ...(table.slip && shown === table.rows.length ? [h('p.kn.slip', sentence(table.slip, cast))] : []),
  );
}
