/** The page of a timeline's rebalances. */

import { heatOf, shownRows, tableOf } from '../rebalances/table.js';
import { part } from '../shared/dom.js';

/** @type {import('../rebalances/table.js').Table} */
const table = JSON.parse(part('rebalances-data').textContent ?? '{}');
const filter = /** @type {HTMLInputElement} */ (part('filter'));
const order = { column: 0, down: false };

function show() {
  const rows = shownRows(table, filter.value, order);
  part('count').textContent = `${rows.length} of ${table.rebalances.length} rebalances`;
  part('table').replaceChildren(
    tableOf(table, rows, order, (column) => {
      order.down = order.column === column && !order.down;
      order.column = column;
      show();
    }),
  );
}

filter.addEventListener('input', show);
part('heat').replaceChildren(heatOf(table));
show();
