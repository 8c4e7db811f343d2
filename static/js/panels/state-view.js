/**
 * The state after a step, whole: what the step changed, with the value before, then the group and each member.
 *
 * @import {Change, Frame} from '../types'
 * @import {Field} from './fields.js'
 */

import { h } from '../shared/dom.js';
import { counted } from '../shared/numbers.js';
import { fieldsOf } from './fields.js';

/** Every step changes these: the place itself. */
const PLACE = new Set(['sequence', 'at_ms']);
/** What each commit and fetch moves comes last. */
const LAST = new Set(['consumption', 'offsets']);
/** Rows of changes, and members, that are shown; a group of a thousand members changes all of them at once. */
const SHOWN_MOST = 40;

/**
 * Each path once, with its value before the first change and after the last; what came back to its value is left out.
 *
 * @param {Change[]} changes
 * @returns {{path: string[], old: any, new: any}[]}
 */
export function differences(changes) {
  /** @type {Map<string, {path: string[], old: any, new: any}>} */
  const found = new Map();
  for (const { path, old, new: now } of changes) {
    if (PLACE.has(path[0])) continue;
    const key = JSON.stringify(path);
    found.set(key, { path, old: found.has(key) ? found.get(key)?.old : old, new: now });
  }
  return [...found.values()]
    .filter((each) => JSON.stringify(each.old) !== JSON.stringify(each.new))
    .sort((a, b) => Number(LAST.has(a.path[0])) - Number(LAST.has(b.path[0])));
}

/**
 * @param {Frame} frame after the step
 * @param {Change[]} changes of the step
 * @param {(member: string) => string} name
 * @param {(fields: Field[]) => HTMLElement} table
 * @returns {HTMLElement[]}
 */
export function stateView(frame, changes, name, table) {
  const found = differences(changes);
  const text = (/** @type {any} */ value) =>
    value === undefined ? 'absent' : fieldsOf({ value: [value] }, frame, 'record')[0].value.slice(1, -1);
  const rows = found.slice(0, SHOWN_MOST).map(({ path, old, new: now }) => ({
    name: path.map((each, depth) => (depth === 1 && path[0] === 'members' ? name(each) : each)).join(' '),
    value: text(now),
    note: `before: ${text(old)}`,
    title: '',
    depth: 0,
  }));
  const changed = new Set(found.map(({ path }) => (path[0] === 'members' ? path[1] : '')));
  const members = Object.entries(frame.members ?? {}).sort(
    ([a], [b]) => Number(changed.has(b)) - Number(changed.has(a)),
  );
  const group = Object.fromEntries(
    Object.entries(frame).filter(([key]) => !PLACE.has(key) && !LAST.has(key) && key !== 'members'),
  );
  const left = found.length - rows.length;
  const out = members.length - SHOWN_MOST;
  return [
    h('h3.xh', 'Changed by this step', h('span.num', found.length ? counted(found.length, 'value') : 'nothing')),
    table(rows),
    ...(left > 0 ? [h('p.why', `${counted(left, 'more value')}.`)] : []),
    whole('Group', group, false),
    ...members.slice(0, SHOWN_MOST).map(([id, member]) => whole(name(id), member, changed.has(id))),
    ...(out > 0 ? [h('p.why', `${counted(out, 'more member')}: pick one on the board.`)] : []),
  ];

  /** @param {string} title @param {any} body @param {boolean} open */
  function whole(title, body, open) {
    return h('details.part', { open }, h('summary', title), table(fieldsOf(body, frame, 'record')));
  }
}
