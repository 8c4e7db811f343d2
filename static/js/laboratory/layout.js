/**
 * Where the rows and columns of a small board stand, for the width that it has. Pure: no DOM.
 *
 * @import {LabAnswer, Sheet} from './types'
 */

import { labelOf } from './people.js';

/** To so many members and partitions each cell carries its number. */
const NAMED_MEMBERS = 12;
const NAMED_PARTITIONS = 30;
/** Beyond so many members only those that change have a row. */
const ALL_ROWS_MOST = 60;
/** The same on a board that is no wider than a phone, where six of them stand one below the other. */
const ALL_ROWS_NARROW = 16;
const NARROW = 420;
/** Rows of those that change; the others are counted. */
const CHANGED_ROWS_MOST = 16;
/** Of them those who come or go, so that the others are seen, too. */
const ACTING_ROWS_MOST = 8;
/** A column narrower than this cannot be seen: several stand together, merged to the worst state among them. */
const LEAST_COLUMN = 2;
/** Below this the number of a partition does not fit. */
export const NUMBER_WIDTH = 13;

const TAIL = 30;
const PAD = 6;

/**
 * @typedef {object} Row
 * @property {number} member
 * @property {number} y
 * @property {number} height
 * @property {number} cell height of a block
 * @property {boolean} named
 *
 * @typedef {object} Layout
 * @property {'chips' | 'blocks'} mode
 * @property {Row[]} rows
 * @property {Map<number, Row>} rowOf by member
 * @property {number[]} x left edge of each column; those that stand together share one
 * @property {number} column width of a column
 * @property {number} top
 * @property {number} height
 * @property {number} pill width of the widest name
 * @property {{name: string, place: number, x: number, width: number}[]} heads of topics
 * @property {number} hidden members that change and have no row
 * @property {number} kept members that have no row since they keep all
 */

/** @param {Sheet} sheet @param {LabAnswer} answer @param {number} width @returns {Layout} */
export function layoutOf(sheet, answer, width) {
  const members = sheet.members.length;
  const total = sheet.topics.reduce((sum, topic) => sum + topic.partitions, 0);
  const mode = members <= NAMED_MEMBERS && total <= NAMED_PARTITIONS ? 'chips' : 'blocks';
  const racks = sheet.members.some((member) => member.rack);
  const top = mode === 'chips' ? 31 : 20;
  const { shown, hidden, kept } = shownOf(sheet, answer, width < NARROW ? ALL_ROWS_NARROW : ALL_ROWS_MOST);
  const pill = Math.max(...shown.map((place) => pillOf(sheet.members[place].name)), pillOf(''));
  const lead = 15 + pill + (racks ? 14 : 0);
  const rows = rowsOf(shown, answer, mode, top);
  const gap = gapOf(sheet.topics.length);
  const columns = columnsOf(sheet, lead + PAD, width - lead - PAD * 2 - TAIL, gap, total);
  const last = rows[rows.length - 1];
  const height = (last ? last.y + last.height : top) + 2 + (hidden || kept ? 20 : 0);
  return {
    mode,
    rows,
    rowOf: new Map(rows.map((row) => [row.member, row])),
    ...columns,
    top,
    height,
    pill,
    hidden,
    kept,
  };
}

/** Width of the pill that a member's name is in. @param {string} name */
export const pillOf = (name) => Math.max(15, 8 + 7 * labelOf(name).length);

/** Room between topics; of very many none is left. @param {number} topics */
const gapOf = (topics) => (topics <= 12 ? 7 : topics <= 40 ? 2 : 0);

/** Which members have a row. @param {Sheet} sheet @param {LabAnswer} answer @param {number} most */
function shownOf(sheet, answer, most) {
  const everybody = sheet.members.map((_, place) => place);
  if (everybody.length <= most) return { shown: everybody, hidden: 0, kept: 0 };
  const { before, after } = answer.counts;
  // Those who come or go, then those whose number changes most.
  const acting = answer.changed
    .filter((place) => sheet.members[place].joins || sheet.members[place].leaves)
    .slice(0, ACTING_ROWS_MOST);
  const weight = (/** @type {number} */ place) => Math.abs((after[place] ?? 0) - (before[place] ?? 0));
  const others = answer.changed
    .filter((place) => !sheet.members[place].joins && !sheet.members[place].leaves)
    .sort((a, b) => weight(b) - weight(a) || a - b);
  const chosen = [...acting, ...others.slice(0, CHANGED_ROWS_MOST - acting.length)].sort((a, b) => a - b);
  return {
    shown: chosen,
    hidden: answer.changed.length - chosen.length,
    kept: everybody.length - answer.changed.length,
  };
}

/** @param {number[]} shown @param {LabAnswer} answer @param {'chips' | 'blocks'} mode @param {number} top */
function rowsOf(shown, answer, mode, top) {
  const changed = new Set(answer.changed);
  let y = top;
  return shown.map((member) => {
    const named = mode === 'chips' || changed.has(member) || shown.length <= NAMED_MEMBERS;
    const height = mode === 'chips' ? 18 : named ? 17 : 11;
    const row = { member, y, height, cell: mode === 'chips' ? 15 : height - 3, named };
    y += height;
    return row;
  });
}

/** @param {Sheet} sheet @param {number} left @param {number} room @param {number} gap @param {number} total */
function columnsOf(sheet, left, room, gap, total) {
  const gaps = gap * (sheet.topics.length - 1);
  const wide = (room - gaps) / Math.max(1, total);
  const together = wide < LEAST_COLUMN ? Math.ceil((LEAST_COLUMN * total) / Math.max(1, room - gaps)) : 1;
  // Each topic begins a column of its own.
  const counts = sheet.topics.map((topic) => Math.ceil(topic.partitions / together));
  const column =
    (room - gaps) /
    Math.max(
      1,
      counts.reduce((sum, count) => sum + count, 0),
    );
  /** @type {number[]} */
  const x = [];
  const heads = [];
  let at = left;
  for (const [place, topic] of sheet.topics.entries()) {
    for (let partition = 0; partition < topic.partitions; partition += 1)
      x.push(at + Math.floor(partition / together) * column);
    heads.push({
      name: topic.name,
      place,
      x: at,
      width: counts[place] * column + (place === sheet.topics.length - 1 ? TAIL - 4 : gap - 2),
    });
    at += counts[place] * column + gap;
  }
  return { x, column, heads };
}

/** The first column at `x` that moves, or none. @param {Layout} layout @param {LabAnswer} answer @param {number} x */
export function columnAt(layout, answer, x) {
  const found = layout.x.findIndex(
    (left, column) => x >= left && x < left + layout.column && answer.before[column] !== answer.after[column],
  );
  return found < 0 ? null : found;
}

/**
 * Neighbouring columns as runs: `[first, last]` of those that are listed, in one topic.
 *
 * @param {number[]} columns ascending
 * @param {Sheet} sheet
 */
export function runsOf(columns, sheet) {
  const firsts = new Set();
  let at = 0;
  for (const topic of sheet.topics) {
    firsts.add(at);
    at += topic.partitions;
  }
  /** @type {[number, number][]} */
  const runs = [];
  for (const column of columns) {
    const last = runs[runs.length - 1];
    if (last && last[1] === column - 1 && !firsts.has(column)) last[1] = column;
    else runs.push([column, column]);
  }
  return runs;
}

/** The topic and number of a column. @param {Sheet} sheet @param {number} column */
export function partitionAt(sheet, column) {
  let at = column;
  for (const topic of sheet.topics) {
    if (at < topic.partitions) return { topic: topic.name, partition: at, name: `${topic.name}-${at}` };
    at -= topic.partitions;
  }
  return { topic: '', partition: 0, name: '' };
}
