/**
 * What was skipped of an import, and why.
 *
 * @import {Detail} from './types'
 */

import { h, part } from '../shared/dom.js';
import { counted, grouped } from '../shared/numbers.js';

/** @param {Detail} detail */
export function skipped(detail) {
  const rows = detail.records.skipped;
  part('skipped-panel').hidden = !rows.length;
  const lost = rows.filter(({ normal }) => !normal).reduce((sum, { records }) => sum + records, 0);
  part('skipped-says').textContent = `${grouped(lost)} of ${grouped(detail.records.read)} records`;
  part('skipped').replaceChildren(
    ...rows.map((row) => {
      const offsets =
        row.offset === null
          ? ''
          : row.last_offset !== null && row.last_offset > row.offset
            ? `, offsets ${grouped(row.offset)} to ${grouped(row.last_offset)}`
            : `, offset ${grouped(row.offset)}`;
      return h(
        'li',
        h('b', row.reason),
        h('span.n', row.records ? counted(row.records, 'record') : row.normal ? 'normal' : ''),
        h('span.at', `${row.file}${offsets}${row.normal && row.records ? '; normal' : ''}`),
      );
    }),
  );
}
