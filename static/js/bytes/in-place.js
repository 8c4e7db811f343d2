/**
 * The bytes of one record, opened in place among the board's details: its fields, what lies inside them, the bytes.
 *
 * @import {RecordBytes} from './types'
 */

import { h } from '../shared/dom.js';
import { messageOf } from '../shared/errors.js';
import { searchOf } from './search.js';

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
  const button = h('button.btn.sm', { 'aria-expanded': 'false' });
  const ofWhat = () => h('span.sr', ` of ${name}`);
  const sentence = (/** @type {string} */ text) => button.replaceChildren(text, ofWhat());
  sentence('Show bytes');
  const below = h('div.inplace', { hidden: true });
  let drawn = false;
  button.addEventListener('click', async () => {
    const open = below.hidden;
    below.hidden = !open;
    instead.hidden = open;
    button.setAttribute('aria-expanded', String(open));
    sentence(open ? 'Show fields' : 'Show bytes');
    if (!open || drawn) return;
    below.replaceChildren(h('p.why', 'Reading…'));
    try {
      // What draws bytes is a tenth of the board's modules, and few readers open any.
      const [{ draw }, record] = await Promise.all([import('./in-place-pane.js'), fetchBytes()]);
      draw(below, record, { onLeave: () => button.focus(), inspects });
      drawn = true;
      below.scrollIntoView({ block: 'nearest' });
    } catch (error) {
      below.replaceChildren(h('p.why', messageOf(error, 'The bytes could not be fetched.')));
    }
  });
  return h(
    'div',
    h(
      'div.opener',
      button,
      inspects && h('a', { href: `/inspect${searchOf(timeline, sequence)}` }, 'Open in the inspector', ofWhat()),
    ),
    below,
  );
}
