/**
 * What is above an import: that it failed, that Spark is fetched, how it relates to an earlier one.
 *
 * @import {Detail} from './types'
 */

import { banner, h, part } from '../shared/dom.js';
import { grouped } from '../shared/numbers.js';
import { lastLines } from '../panels/times.js';

/** @param {Detail} detail @param {() => void} repeat reads the same files again */
export function banners(detail, repeat) {
  const shown = /** @type {HTMLElement[]} */ ([]);
  if (detail.status === 'failed') {
    shown.push(
      banner(
        'bad',
        'The import failed.',
        detail.problem,
        ' Nothing of it was kept. ',
        detail.repeatable ? h('button.btn.sm.go', { onclick: repeat }, 'Read the files again') : null,
        ' ',
        h('a.btn.sm', { href: '/import/' }, 'Choose other files'),
        ' ',
        h('a.btn.sm', { href: '/import/#samples' }, 'Try a sample'),
        lastLines(detail),
      ),
    );
  } else if (detail.status === 'cancelled') {
    shown.push(
      banner('', 'Cancelled.', 'Nothing of it was kept. ', h('a.btn.sm', { href: '/import/' }, 'Import again')),
    );
  } else if (detail.waits) {
    shown.push(h('div.banner.warn', { role: 'status' }, h('b', 'Waiting. '), detail.waits));
  } else if (detail.status === 'waiting' && detail.spark && !detail.spark.ready) {
    shown.push(
      banner(
        '',
        'Getting Spark ready.',
        'Its packages are being fetched, once; this import begins as soon as they are there.',
      ),
    );
  }
  if (detail.stuck) shown.push(h('div.banner.warn', { role: 'status' }, detail.stuck));
  const { same, longer, overlapping } = detail.again;
  if (same) {
    shown.push(
      banner(
        '',
        'Imported before.',
        `${same === 1 ? 'One group has' : `${grouped(same)} groups have`} the entries of an earlier import: same timeline, same links.`,
      ),
    );
  }
  if (longer) {
    shown.push(
      banner(
        '',
        'The log went on.',
        `${longer === 1 ? 'One timeline continues' : `${grouped(longer)} timelines continue`} an earlier import; links to them stay what they are.`,
      ),
    );
  }
  if (overlapping) {
    shown.push(
      banner(
        '',
        'Overlaps an earlier import.',
        `${overlapping === 1 ? 'One group has' : `${grouped(overlapping)} groups have`} some of the same offsets with other entries around them, so ${overlapping === 1 ? 'it is' : 'they are'} kept apart.`,
      ),
    );
  }
  part('banners').replaceChildren(...shown);
}
