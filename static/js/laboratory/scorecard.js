/**
 * The scorecard: a row for each figure, a column for each board. The best is underlined, never coloured.
 *
 * @import {Sheet} from './types'
 */

import { h } from '../shared/dom.js';
import { grouped } from '../shared/numbers.js';

/** @param {HTMLElement} table @param {Sheet} sheet @param {number} open @param {(board: number) => void} onOpen */
export function showScorecard(table, sheet, open, onOpen) {
  const column = (/** @type {number} */ board) => (board === open ? 'op' : '');
  const heads = sheet.answers.map(({ protocol, assignor }, board) =>
    h(
      'th',
      { scope: 'col', class: column(board) },
      h(
        'button',
        {
          'data-key': `column-${board}`,
          'aria-label': `${board + 1}: ${protocol} ${assignor}`,
          title: `${protocol} ${assignor}`,
          'aria-pressed': String(board === open),
          onclick: () => onOpen(board),
        },
        h('span', { class: `rn${board === open ? ' on' : ''}` }, board + 1),
      ),
    ),
  );
  const rows = sheet.scorecard.map(({ label, title, values, best, key }) => {
    const head = h('th', { scope: 'row', title }, label);
    if (key === 'local' && values.every((value) => value === null))
      return h('tr', head, h('td.quiet.none', { colspan: values.length }, 'no racks in this group'));
    return h(
      'tr',
      head,
      ...values.map((value, board) =>
        h(
          'td',
          { class: `${best.includes(board) ? 'best ' : ''}${column(board)}` },
          value === null ? '–' : h('i', grouped(value), best.includes(board) ? h('span.sr', ', best') : null),
        ),
      ),
    );
  });
  table.classList.toggle(
    'long',
    sheet.scorecard.some(({ values }) => values.some((value) => value !== null && value >= 1000)),
  );
  table.replaceChildren(h('thead', h('tr', h('th', { scope: 'col' }, 'Measure'), ...heads)), h('tbody', ...rows));
}
