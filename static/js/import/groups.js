/**
 * The groups of an import in the table of what is wrong: those that are stored, then those that wait to be analysed.
 *
 * @import {Detail} from './types'
 */

import { part } from '../shared/dom.js';
import { bareRow } from '../troubles/order.js';
import { troublesTable } from '../troubles/table.js';
import { ended, total } from './states.js';

/** @param {import('../troubles/types').Table} first the stored groups as the page has them @param {Detail} detail */
export function importedGroups(first, detail) {
  let stored = first;
  const panel = troublesTable(withWaiting(stored, detail), {
    none: ['No group: groups appear as soon as their first record is read.'],
  });
  return {
    /** @param {Detail} now @param {import('../troubles/types').Table} [table] newer rows of what is stored */
    show(now, table) {
      stored = table ?? stored;
      panel.show(withWaiting(stored, now));
      part('troubles').hidden = ended(now) && !total(now);
    },
  };
}

/** @param {import('../troubles/types').Table} table @param {Detail} detail */
const withWaiting = (table, { waiting_groups: waiting }) => ({
  ...table,
  matching: table.matching + waiting.length,
  rows: [
    ...table.rows,
    ...waiting.map(({ group, protocol }) => bareRow(group, { protocol, headline: 'Waiting to be analysed' })),
  ],
});
