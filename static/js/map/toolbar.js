/**
 * Over the map: what rows there are, how they are grouped, the search, and what the colours mean.
 *
 * @import {Grouping, Kind, Only} from './types'
 */

import { h, press, seg } from '../shared/dom.js';
import { counted, grouped } from '../shared/numbers.js';
import { ABSENT, BEHIND, LOST, meaning, REVOKING, SETTLED, STALLED, UNASSIGNED, WAITING } from './modes.js';

/** The legend's text for each kind. */
const LEGEND = {
  members: [SETTLED, BEHIND, WAITING, REVOKING, STALLED, LOST, ABSENT],
  partitions: [SETTLED, BEHIND, REVOKING, UNASSIGNED, ABSENT],
};

/** @type {{[kind in Kind]: [Grouping, string][]}} */
const GROUPINGS = {
  members: [
    ['none', 'not grouped'],
    ['host', 'by host'],
    ['rack', 'by rack'],
    ['client', 'by client id'],
  ],
  partitions: [
    ['none', 'not grouped'],
    ['topic', 'by topic'],
  ],
};

export class Toolbar {
  /**
   * @param {object} on
   * @param {(kind: Kind) => void} on.onKind
   * @param {(only: Only) => void} on.onOnly
   * @param {(grouping: Grouping) => void} on.onGrouping
   * @param {(query: string) => void} on.onQuery
   * @param {(axis: import('./types').Axis) => void} on.onAxis
   * @param {() => void} on.onFirst into the first row that was found
   */
  constructor({ onKind, onOnly, onGrouping, onQuery, onAxis, onFirst }) {
    this.kinds = seg(
      'Rows',
      [
        ['members', 'Members'],
        ['partitions', 'Partitions'],
      ],
      null,
      (value) => onKind(/** @type {Kind} */ (value)),
    );
    this.onlys = seg(
      'Which rows',
      [
        ['all', 'All'],
        ['changing', 'Changing'],
        ['trouble', 'In trouble'],
      ],
      null,
      (value) => onOnly(/** @type {Only} */ (value)),
    );
    this.axes = seg(
      'Axis',
      [
        ['time', 'Time'],
        ['events', 'Events'],
      ],
      null,
      (value) => onAxis(/** @type {import('./types').Axis} */ (value)),
    );
    this.grouping = /** @type {HTMLSelectElement} */ (
      h('select', {
        class: 'field sm',
        id: 'map-grouping',
        onchange: () => onGrouping(/** @type {Grouping} */ (this.grouping.value)),
      })
    );
    this.find = /** @type {HTMLInputElement} */ (
      h('input.field', {
        id: 'map-find',
        type: 'search',
        autocomplete: 'off',
        spellcheck: 'false',
        maxlength: 300,
        dir: 'auto',
        'aria-describedby': 'map-found',
        'aria-keyshortcuts': '/',
      })
    );
    this.findLabel = h('label.sr', { for: 'map-find' });
    this.found = h('span.quiet.mfound', { id: 'map-found' });
    this.legend = h('div.mlegend', { 'aria-hidden': 'true' });
    this.root = h(
      'div.mtools',
      h(
        'div.mtool-row',
        this.kinds,
        this.axes,
        this.onlys,
        h('label.sr', { for: 'map-grouping' }, 'Group rows'),
        this.grouping,
        h('span.mfind', this.findLabel, this.find, h('kbd', { 'aria-hidden': 'true' }, '/')),
        this.found,
      ),
      this.legend,
    );
    this.find.addEventListener('input', () => onQuery(this.find.value));
    this.find.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' || event.key === 'ArrowDown') {
        event.preventDefault();
        onFirst();
      } else if (event.key === 'Escape') {
        event.preventDefault();
        if (this.find.value) {
          this.find.value = '';
          onQuery('');
        } else onFirst();
      }
    });
  }

  /** @param {Kind} kind @param {Only} only @param {Grouping} grouping @param {{count: number, all: number, query: string, left_out: number}} found `left_out`: without a row */
  render(kind, only, grouping, { count, all, query, left_out }) {
    press(this.kinds, kind);
    press(this.onlys, only);
    if (this.#kind !== kind) {
      this.#kind = kind;
      this.grouping.replaceChildren(...GROUPINGS[kind].map(([value, text]) => h('option', { value }, text)));
      this.legend.replaceChildren(
        ...LEGEND[kind].map((mode) => h('span.lg', h('i.mkey', { 'data-mode': mode }), meaning(kind, mode))),
      );
      const what = kind === 'members' ? 'member, host, rack, client' : 'topic-partition';
      this.find.placeholder = `Find ${what}`;
      this.findLabel.textContent = `Find a ${kind === 'members' ? 'member by name, host, rack, client id or group instance id' : 'partition by topic and number'}`;
    }
    this.grouping.value = grouping;
    const many = counted(all, kind === 'members' ? 'member' : 'partition');
    const sentence = query || count !== all ? `${grouped(count)} of ${many}` : many;
    this.found.textContent = `${sentence}${left_out ? `; ${grouped(left_out)} more have no row` : ''}`;
  }

  /** @param {import('./types').Axis} axis */
  set axis(axis) {
    press(this.axes, axis);
  }

  #kind = '';
}
