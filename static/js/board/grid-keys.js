/**
 * The arrow keys within the grid of members and partitions: from cell to cell, as a grid is walked. Where a cell has a
 * partition in it, that has the focus, so that Enter picks it; at a row's head, Enter picks the member.
 */

import { hit } from '../shared/dom.js';

const ROW = '[role="row"]';
const CELL = '[role="gridcell"], [role="rowheader"], [role="columnheader"]';
/** @type {{[key: string]: [number, number]}} row, column */
const WAYS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/**
 * The place that a key leads to; the same place where there is nothing beyond. Rows may be of different lengths.
 *
 * @param {number[]} lengths how many cells each row has
 * @param {[number, number]} from row, column
 * @param {string} key
 * @returns {[number, number]}
 */
export function place(lengths, [row, column], key) {
  if (key === 'Home') return [row, 0];
  if (key === 'End') return [row, lengths[row] - 1];
  const [down, right] = WAYS[key] ?? [0, 0];
  const to = Math.min(Math.max(row + down, 0), lengths.length - 1);
  return [to, Math.min(Math.max(column + right, 0), lengths[to] - 1)];
}

/** @param {HTMLElement} root that holds the grid @param {(lane: string) => void} onLane a member's lane was picked */
export function walk(root, onLane) {
  root.addEventListener('keydown', (event) => {
    const target = /** @type {any} */ (event.target);
    const cell = target.closest(CELL);
    const grid = target.closest('[role="grid"]');
    if (!cell || !grid || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if ((event.key === 'Enter' || event.key === ' ') && target === cell) {
      const lane = /** @type {HTMLElement | null} */ (cell.closest('[data-lane]'))?.dataset.lane;
      if (!lane) return;
      event.preventDefault();
      onLane(lane);
      return;
    }
    if (!(event.key in WAYS) && event.key !== 'Home' && event.key !== 'End') return;
    // What the page does with these keys (step by step, to the beginning) waits until the grid is left.
    event.preventDefault();
    const rows = [...grid.querySelectorAll(ROW)]
      .map((row) => [...row.querySelectorAll(CELL)])
      .filter((row) => row.length);
    const at = rows.findIndex((row) => row.includes(cell));
    if (at < 0) return;
    const [row, column] = place(
      rows.map((cells) => cells.length),
      [at, rows[at].indexOf(cell)],
      event.key,
    );
    focus(/** @type {HTMLElement} */ (rows[row][column]));
  });
  root.addEventListener('click', (event) => {
    const head = hit(event, '[role="rowheader"]');
    const lane = /** @type {HTMLElement | null | undefined} */ (head?.closest('[data-lane]'))?.dataset.lane;
    if (lane) onLane(lane);
  });
}

/** @param {HTMLElement} cell */
function focus(cell) {
  const inside = /** @type {HTMLElement | null} */ (cell.querySelector('button'));
  if (!inside && !cell.hasAttribute('tabindex')) cell.setAttribute('tabindex', '-1');
  (inside ?? cell).focus();
}
