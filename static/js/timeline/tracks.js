/**
 * Where each span of a member's track lies: spans that overlap get rows of their own. Pure.
 *
 * @import {Span} from '../types'
 * @typedef {{span: Span, row: number}} Placed
 */

import { append } from '../shared/lists.js';

/** More rows than this in one track are merged: the band then shows that the member owns something. */
export const ROWS_MOST = 12;

/**
 * A partition keeps one row of its member's track for the whole timeline, so that it can be followed; rows
 * are shared by partitions that are never there at the same time.
 *
 * @param {Span[]} spans of one lane
 * @returns {{placed: Placed[], rows: number}}
 */
export function pack(spans) {
  /** @type {Map<string, Span[]>} */
  const byKey = new Map();
  for (const span of spans) append(byKey, span.key, span);
  const keys = [...byKey.keys()].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  /** @type {Span[][]} */
  const rows = [];
  /** @type {Placed[]} */
  const placed = [];
  for (const key of keys) {
    const own = /** @type {Span[]} */ (byKey.get(key));
    let row = rows.findIndex((taken) => own.every((span) => taken.every((other) => apart(span, other))));
    if (row < 0) {
      row = rows.length;
      rows.push([]);
    }
    rows[row].push(...own);
    for (const span of own) placed.push({ span, row });
  }
  return { placed, rows: Math.max(1, rows.length) };
}

/** @param {Span} a @param {Span} b */
const apart = (a, b) => (a.to ?? Infinity) <= b.from || (b.to ?? Infinity) <= a.from;
