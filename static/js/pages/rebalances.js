/** The page of a timeline's rebalances. */

import { heatOf, shownRows, tableOf } from '../rebalances/table.js';

const by = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
/** @type {import('../rebalances/table.js').Table} */
const table = JSON.parse(by('rebalances-data').textContent ?? '{}');
const filter = /** @type {HTMLInputElement} */ (by('filter'));
const order = { column: 0, down: false };

function show() {
  const rows = shownRows(table, filter.value, order);
  by('count').textContent = `${rows.length} of ${table.rebalances.length} rebalances`;
  by('table').replaceChildren(
    tableOf(table, rows, order, (column) => {
      order.down = order.column === column && !order.down;
      order.column = column;
      show();
    }),
  );
}

filter.addEventListener('input', show);
by('heat').replaceChildren(heatOf(table));
show();
