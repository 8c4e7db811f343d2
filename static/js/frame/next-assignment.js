/**
 * The assignment that a group gets next, in words. No DOM.
 *
 * @typedef {{partition: string, before: string | null, after: string | null}} Moved
 * @typedef {object} Answer
 * @property {number} sequence
 * @property {string | null} assignor
 * @property {string[]} assumed
 * @property {{epoch: number, sequence: number, equal: number, of: number, differences: Moved[]} | null} came
 * @property {{epoch: number | null, is_due: boolean, target: {[member: string]: {[topic: string]: number[]}}, moves: Moved[]} | null} next
 * @property {string | null} why
 * @typedef {{leaves?: string, joins?: boolean}} Choice
 */

import { counted } from '../shared/numbers.js';

const JOINS = '+';

/** What a choice of the list asks for: a member's id, or a new one. @param {string} value @returns {Choice} */
export const choiceOf = (value) => (value === JOINS ? { joins: true } : value ? { leaves: value } : {});

/** The choices besides "nothing else changes". @param {string[]} members @param {(id: string) => string} name @returns {[string, string][]} */
export const choices = (members, name) => [
  ...members.map((id) => /** @type {[string, string]} */ ([id, `${name(id)} leaves`])),
  [JOINS, 'a member joins'],
];

/** The prediction in words. @param {Answer} answer */
export function nextWords({ next, assignor, why }) {
  if (!next) return why ?? '';
  const epoch = next.epoch === null ? 'the next target' : `group epoch ${next.epoch}`;
  const moves = next.moves.length ? `${counted(next.moves.length, 'partition')} moved` : 'nothing moved';
  return `Foretold for ${epoch} by ${assignor}${next.is_due ? ', which is due' : ''}: ${moves}.`;
}

/** How the current target compares with its prediction. @param {Answer} answer */
export function cameWords({ came }) {
  if (!came) return '';
  const how = came.equal === came.of ? 'as predicted' : 'otherwise';
  return `The target of epoch ${came.epoch} came ${how}: ${came.equal} of ${counted(came.of, 'partition')} as predicted.`;
}

/** A partition with both its holders. @param {Moved} moved @param {(id: string) => string} name */
export function movedWords({ partition, before, after }, name) {
  const of = (/** @type {string | null} */ id) => (id === null ? 'unassigned' : name(id));
  return `${partition}: ${of(before)} → ${of(after)}`;
}

/** One that came otherwise. @param {Moved} moved @param {(id: string) => string} name */
export function differsWords({ partition, before, after }, name) {
  const of = (/** @type {string | null} */ id) => (id === null ? 'nobody' : name(id));
  return `${partition}: predicted ${of(before)}, came ${of(after)}`;
}
