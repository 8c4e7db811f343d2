/**
 * What a record's bytes are drawn with among the board's details: its fields, what lies inside them, the bytes.
 *
 * @import {RecordBytes} from './types'
 */

import { h, seg } from '../shared/dom.js';
import { BytesPane } from './pane.js';
import { before, pressPart } from './record.js';
import { counted } from '../shared/numbers.js';

/** Bytes in a row: the panel is narrow. */
const COLUMNS = 8;

/** @param {HTMLElement} root @param {RecordBytes} record @param {{onLeave: () => void, inspects: boolean}} how */
export function draw(root, record, { onLeave, inspects }) {
  const fields = h('div.fields', { 'aria-label': 'Fields; arrow keys move' });
  const hex = h('div', { 'aria-label': 'Bytes; arrow keys move byte by byte' });
  const foot = h('div.lies');
  const size = h('span.quiet');
  /** @type {[string, string][]} */
  const parts = [
    ['key', 'Key'],
    ['value', 'Value'],
  ];
  const choice = seg('Part of the record', parts, null, (which) => show(/** @type {'key' | 'value'} */ (which)));
  root.replaceChildren(
    h('div.phead', choice, size),
    fields,
    hex,
    foot,
    ...(inspects ? [h('div.opener', before(record))] : []),
  );
  const pane = new BytesPane({ fields, hex, foot, columns: () => COLUMNS, onLeave });
  const show = (/** @type {'key' | 'value'} */ which) => {
    const shown = record[which];
    if (!shown) return;
    pressPart(choice, which, { key: record.key, value: record.value });
    size.textContent = `${shown.version === null ? '' : `v${shown.version}, `}${counted(shown.length, 'byte')}`;
    pane.show(shown, { select: shown.problem?.path ?? null });
  };
  show(record.value ? 'value' : 'key');
}
