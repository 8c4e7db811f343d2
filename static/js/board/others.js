/**
 * What has no lane and no column of its own: a line for each of the other members, and what folded columns hold, as bars with a count.
 *
 * @import {Column} from '../types'
 * @import {Scene} from './lanes.js'
 * @typedef {{columns: Column[], cast: import('../frame/cast.js').Cast, labels: import('../frame/labels.js').Labels}} Drawn
 */

import { stillReads } from '../frame/hardships.js';
import { byName } from '../frame/names.js';
import { epochOf, heldBy, keysOf } from '../frame/view.js';
import { memberWords } from '../frame/words.js';
import { h } from '../shared/dom.js';
import { append } from '../shared/lists.js';
import { foldText } from './heads.js';
import { POOL, REST } from './lanes.js';
import { shortName } from './notes.js';

/** @param {Scene} scene @param {Drawn & {lanes: import('./lanes.js').Lanes, seats: ReadonlySet<string>}} drawn */
export function heaps({ frame, free, unread }, { lanes, columns, seats, cast, labels }) {
  const held = [...seats].map((member) => ({
    lane: cast.lane(member),
    keys: new Set(frame.members[member] ? keysOf(heldBy(frame, member)) : stillReads(frame, member)),
  }));
  for (const heap of lanes.root.querySelectorAll('.heap')) heap.remove();
  for (const column of columns) {
    const { folded } = column;
    if (!folded) continue;
    let left = folded.length;
    const put = (
      /** @type {string} */ lane,
      /** @type {string[]} */ keys,
      /** @type {string} */ text,
      kind = '',
      hue = 'x',
    ) => {
      left -= keys.length;
      const cell = lanes.cellOf(lane, column.key);
      if (!keys.length || !cell) return;
      const name = `${foldText(column, labels)}, ${keys.length} ${text}`;
      const attributes = { class: `heap${kind}`, 'data-hue': hue, role: 'img', 'aria-label': name, title: name };
      cell.append(h('div', attributes, lane === REST ? '' : keys.length));
    };
    const unassigned = folded.filter((key) => free.has(key));
    put(POOL, unassigned, 'unassigned', ' free');
    for (const { lane, keys } of held) {
      const mine = folded.filter((key) => keys.has(key));
      put(lane.key, mine, `of ${lane.name}`, mine.some((key) => unread?.has(key)) ? ' unread' : '', lane.hue);
    }
    if (left > 0) put(REST, folded.slice(0, left), 'of the others');
  }
}

/** A line for each member, by name. @param {Scene} scene @param {string[]} members @param {Drawn} drawn */
export function linesOf({ frame, silent }, members, { columns, cast, labels }) {
  /** @type {Map<string, number>} */
  const at = new Map();
  for (const [index, { key, folded }] of columns.entries()) for (const each of folded ?? [key]) at.set(each, index + 2);
  const label = (/** @type {string} */ key) => labels.partition(key);
  const group = epochOf(frame) ?? 0;
  const line = (/** @type {string} */ member) => {
    const { says: text, brief } = memberWords(frame, member, label, silent?.get(member));
    const keys = keysOf(heldBy(frame, member));
    const epoch = frame.members[member].epoch ?? null;
    /** @type {Map<number, string[]>} */
    const cells = new Map();
    for (const key of keys) {
      const place = at.get(key);
      if (place) append(cells, place, key);
    }
    const blocks = [...cells].map(([place, some]) => {
      const attributes = { title: some.map(label).join(', '), 'aria-hidden': 'true' };
      const block = h('span.sm', attributes, some.length > 1 ? some.length : '');
      block.style.gridColumn = String(place);
      return block;
    });
    return h(
      'div.row.line',
      { role: 'row', 'data-member': member },
      h(
        'span.lead',
        { role: 'rowheader', title: cast.name(member) },
        ...shortName(cast, member),
        epoch !== null && epoch < group ? h('span.ep', `▲ ${epoch} of ${group}`) : null,
      ),
      h('span.sr', { role: 'cell' }, `${text}; ${keys.map(label).join(', ') || 'no partition'}`),
      ...blocks,
      h('span.note', { 'aria-hidden': 'true' }, brief === 'Owns its target' ? '' : brief),
    );
  };
  return [...members].sort((a, b) => byName(cast.name(a), cast.name(b))).map(line);
}
