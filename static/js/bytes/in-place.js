/**
 * The bytes of one record, opened in place among the board's details: its fields, what lies inside them, the bytes.
 *
 * @typedef {import('./types').RecordBytes} RecordBytes
 */

import { h } from '../dom.js';
import { BytesPane } from './pane.js';
import { before, searchOf } from './record.js';
import { counted } from './words.js';

/** Bytes in a row: the panel is narrow. */
const COLUMNS = 8;

/**
 * A button that opens the bytes, and the way to the inspector.
 *
 * @param {object} parts
 * @param {string} parts.timeline
 * @param {number} parts.sequence
 * @param {string} parts.name of the record, as the panel calls it
 * @param {HTMLElement} parts.instead what the bytes stand in the place of
 * @param {() => Promise<RecordBytes>} parts.fetchBytes
 * @param {boolean} parts.inspects whether there is an inspector to open them in
 * @returns {HTMLElement}
 */
export function bytesInPlace({ timeline, sequence, name, instead, fetchBytes, inspects }) {
  const button = h('button', { type: 'button', class: 'btn sm', 'aria-expanded': 'false' });
  const ofWhat = () => h('span', { class: 'sr' }, ` of ${name}`);
  const says = (/** @type {string} */ text) => button.replaceChildren(text, ofWhat());
  says('Show bytes');
  const below = h('div', { class: 'inplace', hidden: true });
  let drawn = false;
  button.addEventListener('click', async () => {
    const open = below.hidden;
    below.hidden = !open;
    instead.hidden = open;
    button.setAttribute('aria-expanded', String(open));
    says(open ? 'Show fields' : 'Show bytes');
    if (!open || drawn) return;
    below.replaceChildren(h('p', { class: 'why' }, 'Reading…'));
    try {
      draw(below, await fetchBytes(), { onLeave: () => button.focus(), inspects });
      drawn = true;
      below.scrollIntoView({ block: 'nearest' });
    } catch (error) {
      below.replaceChildren(
        h('p', { class: 'why' }, error instanceof Error ? error.message : 'The bytes could not be fetched.'),
      );
    }
  });
  return h(
    'div',
    {},
    h(
      'div',
      { class: 'opener' },
      button,
      inspects && h('a', { href: `/inspect${searchOf(timeline, sequence)}` }, 'Open in the inspector', ofWhat()),
    ),
    below,
  );
}

/** @param {HTMLElement} root @param {RecordBytes} record @param {{onLeave: () => void, inspects: boolean}} how */
function draw(root, record, { onLeave, inspects }) {
  const fields = h('div', { class: 'fields', 'aria-label': 'Fields; arrow keys move' });
  const hex = h('div', { 'aria-label': 'Bytes; arrow keys move byte by byte' });
  const foot = h('div', { class: 'lies' });
  const size = h('span', { class: 'quiet' });
  const choice = h('div', { class: 'seg', role: 'group', 'aria-label': 'Part of the record' });
  root.replaceChildren(
    h('div', { class: 'phead' }, choice, size),
    fields,
    hex,
    foot,
    ...(inspects ? [h('div', { class: 'opener' }, before(record))] : []),
  );
  const pane = new BytesPane({ fields, hex, foot, columns: () => COLUMNS, onLeave });
  const show = (/** @type {'key' | 'value'} */ which) => {
    const shown = record[which];
    if (!shown) return;
    for (const button of choice.querySelectorAll('button'))
      button.setAttribute('aria-pressed', String(button.dataset.value === which));
    size.textContent = `${shown.version === null ? '' : `v${shown.version}, `}${counted(shown.length, 'byte')}`;
    pane.show(shown, { select: shown.problem?.path ?? null });
  };
  choice.append(
    ...[
      { which: 'key', says: 'Key' },
      { which: 'value', says: 'Value' },
    ].map(({ which, says }) =>
      h(
        'button',
        {
          type: 'button',
          'data-value': which,
          disabled: record[/** @type {'key' | 'value'} */ (which)] === null,
          title:
            record[/** @type {'key' | 'value'} */ (which)] === null
              ? which === 'value'
                ? 'A tombstone has no value'
                : 'This record has no key'
              : null,
          onclick: () => show(/** @type {'key' | 'value'} */ (which)),
        },
        says,
      ),
    ),
  );
  show(record.value ? 'value' : 'key');
}
