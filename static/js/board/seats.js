/**
 * Who has a lane on the board of many members, what their names have in common, and which columns stay open. Pure.
 *
 * @import {Column, Frame, PartitionView} from '../types'
 * @typedef {Column & {folded?: string[]}} Place a column, or a quiet run of them that is one column, with its partitions
 */

import { outsiders } from '../frame/hardships.js';
import { columnOf, isClassic, isShare, targetIsKnown } from '../frame/view.js';

/** As many members have lanes by themselves; more are counted, until the reader asks for them. */
export const LANES_MOST = 6;

/**
 * The members that have a lane: what is broken and who acts, whom the headline names, who is in trouble, who revokes, who waits.
 *
 * @param {object} of
 * @param {Frame} of.frame
 * @param {string | null} of.actor
 * @param {string[]} of.broken members of a broken invariant
 * @param {ReadonlySet<string>} of.named whom the headline names
 * @param {string[]} of.troubled the worst first
 * @param {Iterable<PartitionView>} of.views
 * @param {ReadonlySet<string>} of.pinned
 * @returns {{seats: Set<string>, more: string[]}} `more` are in trouble, and have no lane
 */
export function seatsOf({ frame, actor, broken, named, troubled, views, pinned }) {
  const here = new Set([...Object.keys(frame.members), ...outsiders(frame)]);
  const twice = [];
  const revokes = [];
  const waits = [];
  for (const view of isShare(frame) ? [] : views) {
    if (view.mode === 'twice') twice.push(...view.holders);
    else if (view.holder && (view.mode === 'revoking' || view.mode === 'leaving')) revokes.push(view.holder);
    if (view.wants && !view.holders.includes(view.wants)) waits.push(view.wants);
  }
  const wanted = [...broken, ...twice, ...(actor ? [actor] : []), ...named, ...troubled, ...revokes, ...waits];
  const first = [...new Set(wanted)].filter((member) => here.has(member));
  const seats = new Set(first.slice(0, LANES_MOST));
  for (const member of pinned) if (here.has(member)) seats.add(member);
  const more = troubled.filter((member) => here.has(member) && !seats.has(member));
  return { seats, more };
}

const BREAKS = '-_.:/';

/**
 * What names have in common, cut where words end: `prefix` is left out of each and written once; `word` is common to all as well,
 * and stays, so that a name can be read aloud (`worker-07`, never `07`).
 *
 * @param {string[]} names
 * @returns {{prefix: string, word: string}}
 */
export function commonOf(names) {
  const [first = '', ...others] = names;
  let end = others.length ? first.length : 0;
  for (const other of others) {
    while (!other.startsWith(first.slice(0, end))) end -= 1;
  }
  while (end > 0 && !(BREAKS.includes(first[end - 1]) && names.every((name) => name.length > end))) end -= 1;
  let cut = end;
  const reads = (/** @type {string} */ name) => /^\p{L}/u.test(name.slice(cut));
  while (cut > 0 && !(BREAKS.includes(first[cut - 1]) && names.every(reads))) cut -= 1;
  return { prefix: first.slice(0, cut), word: first.slice(cut, end) };
}

/** Columns of these partitions, in their order. @param {Iterable<string>} keys @returns {Column[]} */
export function columnsNamed(keys) {
  return [...keys]
    .map(columnOf)
    .sort((a, b) => (a.topic === b.topic ? a.partition - b.partition : a.topic < b.topic ? -1 : 1));
}

/** The topic of a run that goes through several. */
export const SEVERAL = '\nseveral';

/** Of more topics than this a run may go through several. */
const TOPICS_MOST = 8;

/**
 * Columns as they are drawn: where they do not fit, or the reader asked for it, each quiet run within a topic is one.
 *
 * @param {Column[]} columns
 * @param {ReadonlySet<string>} hot partitions whose columns stay open
 * @returns {Place[]}
 */
export function foldedColumns(columns, hot) {
  const mixes = new Set(columns.map(({ topic }) => topic)).size > TOPICS_MOST;
  /** @type {Place[]} */
  const places = [];
  for (const column of columns) {
    const last = places.at(-1);
    if (hot.has(column.key)) places.push(column);
    else if (last?.folded && (mixes || last.topic === column.topic)) {
      last.folded.push(column.key);
      if (last.topic !== column.topic) last.topic = SEVERAL;
    } else places.push({ ...column, key: `${column.key}\u2026`, folded: [column.key] });
  }
  return places.map((place) => {
    // One column alone takes no more room open.
    const [only, second] = place.folded ?? [];
    return only !== undefined && second === undefined
      ? { key: only, topic: place.topic, partition: place.partition }
      : place;
  });
}

/**
 * The row of the other members: how many they are, and what they do.
 *
 * @param {Frame} frame @param {string[]} others @param {import('./lanes.js').Scene['views']} views @param {number} more of them in trouble
 * @returns {[string, string]}
 */
export function othersText(frame, others, views, more) {
  const count = others.length === 1 ? '1 member' : `${others.length} members`;
  if (more) return [count, `${more} more in trouble`];
  if (isClassic(frame)) return [count, 'have no lane: nothing changes for them'];
  if (!targetIsKnown(frame)) return [count, `target of epoch ${frame.group_epoch ?? 0} not computed yet`];
  const changing = new Set();
  for (const view of views.values()) {
    if (view.wants && view.wants !== view.holder) changing.add(view.wants);
    if (view.holder && (view.mode === 'revoking' || view.mode === 'leaving')) changing.add(view.holder);
  }
  const away = others.filter((member) => changing.has(member)).length;
  const verb = isShare(frame) ? 'read' : 'own';
  const own = others.length - away;
  if (away) return [count, `${own === 1 ? `1 ${verb}s its` : `${own} ${verb} their`} target, ${away} not yet`];
  return [count, others.length === 1 ? `${verb}s its target` : `${verb} their target`];
}
