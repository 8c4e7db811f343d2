/**
 * A row of the table of an import's files. Nothing here knows the page.
 *
 * @import {Source} from './types'
 */

import { h, s } from '../shared/dom.js';
import { bytes, grouped } from '../shared/numbers.js';

const tick = () =>
  s(
    'svg',
    { width: 12, height: 12, viewBox: '0 0 12 12', 'aria-hidden': 'true' },
    s('path', { d: 'M2 6.5 5 9.5 10.5 2.5', fill: 'none', stroke: 'currentColor', 'stroke-width': 1.8 }),
  );

/** @param {Source} source @param {boolean} begun whether reading has begun: until then files are recognised, and nothing more */
export function sourceRow(source, begun) {
  const cut = source.file.lastIndexOf('/') + 1;
  const readable = source.kind === 'offsets' || source.kind === 'metadata';
  const read = readable && (!begun || source.records > 0 || Boolean(source.repeats) || source.state === 'read');
  return h(
    'tr',
    {},
    h(
      'td',
      { class: 'fn', title: source.file },
      h('span', { class: 'quiet' }, source.file.slice(0, cut)),
      source.file.slice(cut).replace(/^0{6,}(?=\d)/, '…'),
    ),
    h('td', {}, source.is),
    h(
      'td',
      { class: 'r num' },
      source.first_offset === null ? '' : `${grouped(source.first_offset)} to ${grouped(source.last_offset ?? 0)}`,
    ),
    h('td', { class: 'r num' }, bytes(source.bytes)),
    h(
      'td',
      {
        class: 'r num',
        title: source.compacted ? `${grouped(source.compacted)} offsets were compacted away, which is normal` : null,
      },
      readable ? grouped(source.records) : '',
    ),
    h(
      'td',
      {},
      read
        ? h(
            'span',
            { class: 'ok' },
            tick(),
            source.repeats ? `repeats ${source.repeats}` : begun ? source.state : 'recognised',
          )
        : h('span', { class: 'quiet', title: source.state }, readable ? 'nothing was read' : 'not read'),
    ),
  );
}
