/**
 * The rows of the list of timelines. Nothing here knows the page.
 *
 * @import {Inner, Kept} from './types'
 */

import { h, s, unbroken } from '../shared/dom.js';
import { stamp, stretch } from '../shared/times.js';
import { counted } from '../shared/numbers.js';

/** Between two levels of severity in a group's weight (`LEVEL_MS` on the server). */
const LEVEL = 10 ** 13;

/** @param {Kept} row */
export const keyOf = (row) => `${row.kind} ${row.id}`;

const SEVERITIES = ['', 'in trouble', 'in grave trouble'];

/** What an import's row shows of its groups. @param {Kept} row */
function sumOf(row) {
  const { groups = 0, in_trouble: bad = 0 } = row;
  if (!groups) return 'No group is in it';
  if (!bad) return `${counted(groups, 'group')}, none in trouble`;
  return groups === 1 ? '1 group, in trouble' : `${bad} of ${groups} groups ${bad === 1 ? 'was' : 'were'} in trouble`;
}

/** @param {Kept} row @returns {(Node | string)[]} */
function headline(row) {
  const unfinished = row.status !== 'complete' && row.source !== 'Live group';
  const why = row.waits || row.problem;
  const state = unfinished ? `${row.status}${why && `: ${why.replace(/\.$/, '')}`}. ` : '';
  if (row.kind === 'timeline') {
    const found = row.found?.length ? h('span.quiet', ` Has ${row.found.join(', ')}.`) : '';
    return [state, ...unbroken(row.headline || (state ? '' : 'Nothing is known yet.')), found];
  }
  if (state) return [state];
  const matching = row.matching === null || row.matching === undefined ? '' : `; ${row.matching} match`;
  const worst = row.in_trouble && row.gravest ? [': ', row.gravest, ', ', ...unbroken(row.headline)] : [];
  return [h('b', sumOf(row)), matching, ...worst];
}

/**
 * @param {Kept} row
 * @param {{picked: boolean, opened: boolean, columns: number, onPick: () => void, onOpen: () => void}} how `columns` of the table
 */
export function keptRow(row, { picked, opened, columns, onPick, onOpen }) {
  const said = headline(row);
  return h(
    'tr',
    { 'data-key': keyOf(row), class: row.kind === 'import' ? 'imported' : '', tabindex: -1 },
    h(
      'td.pick',
      h('input', { type: 'checkbox', checked: picked, 'aria-label': `Select ${row.title}`, onchange: onPick }),
    ),
    h(
      'td.nm',
      { title: row.title },
      row.kind === 'import' && row.groups ? opener(row, opened, onOpen) : null,
      h('a', { href: row.url }, row.title),
    ),
    h(
      'td',
      {
        class: `hl s${row.severity}`,
        title: said.map((one) => (one instanceof Node ? one.textContent : one)).join(''),
      },
      row.severity ? h('span.sr', `${SEVERITIES[row.severity]}: `) : null,
      ...said,
    ),
    h('td.from', row.source),
    h('td.period', row.first_ms === null || row.last_ms === null ? '' : stretch(row.first_ms, row.last_ms)),
    h('td.r.when', { title: stamp(row.created_ms) }, row.ago),
    columns > 6 ? h('td.by', { title: row.author }, row.author) : null,
  );
}

/** @param {Kept} row @param {boolean} opened @param {() => void} onOpen */
const opener = (row, opened, onOpen) =>
  h(
    'button.open',
    { 'aria-expanded': String(opened), 'aria-label': `Groups of ${row.title}`, onclick: onOpen },
    s(
      'svg',
      { width: 8, height: 10, viewBox: '0 0 8 10', 'aria-hidden': 'true' },
      s('path', { d: 'M1 1l6 4-6 4z', fill: 'currentColor' }),
    ),
  );

/** A group of an opened import. @param {Inner} group @param {number} columns */
export function innerRow(group, columns) {
  const severity = Math.min(2, Math.floor(group.weight / LEVEL));
  const said = (group.verdict.headline ?? group.verdict).text || 'Commits only: no record of a member';
  return h(
    'tr.inner',
    {},
    h('td.pick'),
    h('td.nm', { title: group.title }, h('a', { href: group.url }, group.title)),
    h('td', { class: `hl s${severity}`, colspan: columns - 2, title: said }, ...unbroken(said)),
  );
}

/** The line in place of the groups that are not shown. @param {Kept} row @param {number} shown @param {number} all @param {number} columns */
export const restRow = (row, shown, all, columns) =>
  h(
    'tr.inner',
    {},
    h('td.pick'),
    h('td.nm', { colspan: columns - 1 }, h('a', { href: row.url }, counted(all - shown, 'more group'))),
  );
