/**
 * One of the six small boards: an SVG, drawn to the width that it has, in the grammar of the big one. Faint stays, solid
 * with the corner cut off goes, dashed takes; a partition never leaves its column.
 *
 * @import {LabAnswer, Sheet, View} from './types'
 * @import {Layout, Row} from './layout.js'
 */

import { rect, s, upright } from '../shared/dom.js';
import { grouped } from '../shared/numbers.js';
import { textSize } from '../shared/text-size.js';
import { columnAt, layoutOf, NUMBER_WIDTH, partitionAt, pillOf, runsOf } from './layout.js';
import { hueOf, labelOf, markOf } from './people.js';

/** What a cell is, the worse the higher: of columns that stand together the worst is shown. */
const STATES = ['keep', 'own', 'want', 'go'];
/** Moves that the picture's name lists one by one. */
const SHOWN_MOST = 30;
/** More frames than this are a pattern, not a place to look at. */
const FRAMES_MOST = 12;

/**
 * @param {Sheet} sheet
 * @param {LabAnswer} answer
 * @param {{width: number, view: View, framed: number[] | null}} how `framed` are columns that a step speaks of
 * @returns {SVGElement}
 */
export function boardOf(sheet, answer, { width, view, framed }) {
  const layout = layoutOf(sheet, answer, width);
  const { height } = layout;
  const root = s('svg', {
    class: `b ${layout.mode}`,
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: 'img',
    'aria-label': nameOf(sheet, answer),
  });
  if (framed) root.append(...framesOf(sheet, layout, framed));
  root.append(...headsOf(sheet, layout), ...lanesOf(sheet, answer, layout, width, view));
  if (answer.before.length)
    root.append(
      ...(layout.mode === 'chips' ? chipsOf(sheet, answer, layout, view) : blocksOf(sheet, answer, layout, view)),
    );
  if (layout.hidden || layout.kept) root.append(footOf(layout));
  if (layout.mode === 'blocks' && view === 'moves') tetherUnderPointer(root, sheet, answer, layout);
  return root;
}

/** What the picture shows, in words. @param {Sheet} sheet @param {LabAnswer} answer */
function nameOf(sheet, answer) {
  if (answer.error) return `${answer.assignor}: ${answer.error}`;
  const moves = answer.before
    .map((_, column) => column)
    .filter((column) => answer.before[column] !== answer.after[column]);
  const known = moves.slice(0, SHOWN_MOST).map((column) => {
    const [old, now] = [answer.before[column], answer.after[column]].map((place) =>
      place < 0 ? 'nobody' : sheet.members[place].name,
    );
    return `${partitionAt(sheet, column).name} ${old} to ${now}`;
  });
  const more = moves.length - known.length;
  return `${answer.assignor}: ${known.length ? known.join(', ') : 'nothing moves'}${more > 0 ? ` and ${more} more` : ''}`;
}

/** @param {Sheet} sheet @param {Layout} layout @param {number[]} framed */
function framesOf(sheet, layout, framed) {
  const { x, column, height, top, hidden, kept } = layout;
  const foot = hidden || kept ? 20 : 0;
  const runs = runsOf(framed, sheet);
  if (runs.length > FRAMES_MOST) return [];
  return runs.map(([first, last]) =>
    rect([x[first] - 0.5, top - 15.5, x[last] - x[first] + column + 1, height - foot - top + 14], {
      class: 'hl',
      rx: 4,
    }),
  );
}

/** Letters of a topic's name that fit next to its mark. @param {number} width */
const lettersIn = (width) => Math.floor((width - 14) / 6.8);

/** @param {Sheet} sheet @param {Layout} layout */
function headsOf(sheet, layout) {
  const many = layout.heads.length > 12;
  // All have room for their names, or a name here and there would look like a difference.
  const named = layout.heads.every(({ name, width }) => lettersIn(width) >= Math.min(5, name.length));
  const nodes = [];
  for (const { name, place, x, width } of layout.heads) {
    const letters = lettersIn(width);
    if (!many || place === 0) {
      nodes.push(s('g.hm', { transform: `translate(${x + 1},3)` }, markOf(place)));
      if (many) nodes.push(s('text.tn', { x: x + 14, y: 12 }, `${layout.heads.length} topics`));
      else if (named)
        nodes.push(
          s(
            'text.tn',
            { x: x + 14, y: 12 },
            name.length > letters ? `${name.slice(0, letters - 1)}…` : name,
            s('title', name),
          ),
        );
    }
  }
  if (layout.mode === 'chips') {
    layout.x.forEach((x, column) => {
      const { partition } = partitionAt(sheet, column);
      if (layout.column > 15 || partition % 3 === 0)
        nodes.push(s('text.cn', { x: x + layout.column / 2, y: 27 }, partition));
    });
  }
  return nodes;
}

/** @param {Sheet} sheet @param {LabAnswer} answer @param {Layout} layout @param {number} width @param {View} view */
function lanesOf(sheet, answer, layout, width, view) {
  const { before, after } = answer.counts;
  const nodes = [];
  for (const { member, y, height, named } of layout.rows) {
    const { name, rack, leaves, joins } = sheet.members[member];
    const gone = leaves && view !== 'before';
    const absent = gone || (joins && view === 'before');
    nodes.push(s('line.ln', { x1: 0, x2: width, y1: y - 0.5, y2: y - 0.5 }));
    if (absent) nodes.push(s('rect.sunk', { x: 0, y, width, height: height - 1 }));
    if (!named) continue;
    const wide = pillOf(name);
    const centre = 10 + layout.pill / 2;
    const middle = y + height / 2;
    nodes.push(
      s(
        'g',
        { 'data-hue': hueOf(member), class: absent ? 'absent' : null },
        s('rect.ds', { x: centre - wide / 2, y: middle - 7.5, width: wide, height: 15, rx: 7.5 }),
        s('text.dl', { x: centre, y: middle + 3.7 }, labelOf(name)),
        s('title', name),
      ),
    );
    if (rack) nodes.push(s('text.rk', { x: 15 + layout.pill, y: middle + 3.7 }, rack));
    const count = view === 'before' ? before[member] : after[member];
    const differs = view !== 'before' && after[member] !== before[member];
    if (!absent && count !== undefined)
      nodes.push(s('text', { class: `ct${differs ? ' ch' : ''}`, x: width - 9, y: middle + 4 }, grouped(count)));
  }
  return nodes;
}

/** @param {Layout} layout */
function footOf({ hidden, kept, height }) {
  const text = [hidden ? `${grouped(hidden)} more change` : '', kept ? `${grouped(kept)} keep all` : '']
    .filter(Boolean)
    .join(', ');
  return s('text.more', { x: 10, y: height - 7 }, text);
}

/** Cells with numbers, and tethers. @param {Sheet} sheet @param {LabAnswer} answer @param {Layout} layout @param {View} view */
function chipsOf(sheet, answer, layout, view) {
  const nodes = [];
  const who = (/** @type {number} */ place) => sheet.members[place].name;
  const width = layout.column - 2;
  for (const [column, left] of layout.x.entries()) {
    const old = answer.before[column];
    const now = answer.after[column] ?? -1;
    const { partition, name } = partitionAt(sheet, column);
    const x = left + 1;
    const middle = left + layout.column / 2;
    /** @param {number} place */
    const y = (place) => {
      const row = /** @type {Row} */ (layout.rowOf.get(place));
      return row.y + (row.height - row.cell) / 2;
    };
    /** @param {number} place @param {string} kind @param {string} ink @param {string} text */
    const cell = (place, kind, ink, text) => {
      const top = y(place);
      const shape =
        kind === 'go'
          ? cutCorner(x, top, width, 15, 6)
          : s('rect', { class: kind, x, y: top, width, height: 15, rx: 3 });
      const number =
        ink && layout.column > NUMBER_WIDTH
          ? s(
              'text',
              {
                class: `nt ${ink}`,
                x: middle,
                y: top + 11.4,
                textLength: layout.column < 17 && partition > 9 ? width - 2 : null,
              },
              partition,
            )
          : null;
      return s('g', { 'data-hue': hueOf(place) }, shape, number, s('title', text));
    };
    if (view === 'before') {
      if (old >= 0) nodes.push(cell(old, 'own', 'on', `${name}: ${who(old)}`));
    } else if (old === now) {
      if (now >= 0) nodes.push(cell(now, 'keep', '', `${name}: ${who(now)} keeps it`));
    } else if (view === 'after') {
      if (now >= 0) nodes.push(cell(now, 'own', 'on', `${name}: ${who(now)}`));
      if (old >= 0) nodes.push(s('rect.ft', { x, y: y(old), width, height: 15, rx: 3 }));
    } else {
      if (old >= 0 && now >= 0) {
        const [from, to] = [y(old), y(now)];
        const down = to > from;
        nodes.push(
          upright(middle, [down ? from + 16 : from - 1, down ? to - 1 : to + 16], {
            class: 'teth',
            'data-hue': hueOf(now),
          }),
        );
      }
      if (now >= 0)
        nodes.push(
          cell(
            now,
            'want',
            'inm',
            old >= 0 ? `${name}: ${who(old)} to ${who(now)}` : `${name}: new, goes to ${who(now)}`,
          ),
        );
      if (old >= 0)
        nodes.push(
          cell(old, 'go', 'on', now >= 0 ? `${name}: ${who(old)} to ${who(now)}` : `${name}: ${who(old)} to nobody`),
        );
    }
  }
  return nodes;
}

/** @param {number} x @param {number} y @param {number} width @param {number} height @param {number} cut */
function cutCorner(x, y, width, height, cut) {
  const c = Math.min(cut, width / 2);
  return s('path.go', {
    d: `M${x + 3} ${y}H${x + width - 3}q3 0 3 3V${y + height - c}L${x + width - c} ${y + height}H${x + 3}q-3 0-3-3V${y + 3}q0-3 3-3z`,
  });
}

/**
 * Blocks have no tethers but that of the column under the pointer, which also shows its name.
 *
 * @param {SVGElement} root @param {Sheet} sheet @param {LabAnswer} answer @param {Layout} layout
 */
function tetherUnderPointer(root, sheet, answer, layout) {
  const text = s('title');
  const line = s('line.teth');
  root.append(text, line);
  const who = (/** @type {number} */ place) => (place < 0 ? 'nobody' : sheet.members[place].name);
  root.addEventListener('pointermove', (event) => {
    const column = columnAt(layout, answer, (event.clientX - root.getBoundingClientRect().left) / textSize());
    const [old, now] = column === null ? [-1, -1] : [answer.before[column], answer.after[column]];
    const [from, to] = [layout.rowOf.get(old), layout.rowOf.get(now)];
    line.toggleAttribute('hidden', !(from && to));
    text.textContent = column === null ? '' : `${partitionAt(sheet, column).name}: ${who(old)} to ${who(now)}`;
    if (column === null || !from || !to) return;
    const middle = String(layout.x[column] + layout.column / 2);
    line.setAttribute('data-hue', hueOf(now));
    for (const [name, value] of [
      ['x1', middle],
      ['x2', middle],
      ['y1', from.y + from.height / 2],
      ['y2', to.y + to.height / 2],
    ])
      line.setAttribute(String(name), String(value));
  });
  root.addEventListener('pointerleave', () => line.setAttribute('hidden', ''));
}

/** Blocks without numbers: one path for each member and state, however many partitions. @param {Sheet} sheet @param {LabAnswer} answer @param {Layout} layout @param {View} view */
function blocksOf(sheet, answer, layout, view) {
  /** State of each cell by `member:x`, the worst of those that stand together. @type {Map<string, {member: number, x: number, state: number}>} */
  const cells = new Map();
  /** @param {number} member @param {number} x @param {string} state */
  const put = (member, x, state) => {
    if (member < 0 || !layout.rowOf.has(member)) return;
    const key = `${member}:${x}`;
    const rank = STATES.indexOf(state);
    const there = cells.get(key);
    if (!there) cells.set(key, { member, x, state: rank });
    else if (rank > there.state) there.state = rank;
  };
  layout.x.forEach((x, column) => {
    const old = answer.before[column];
    const now = answer.after[column] ?? -1;
    if (view === 'before') put(old, x, 'own');
    else if (old === now) put(now, x, 'keep');
    else {
      put(now, x, view === 'after' ? 'own' : 'want');
      if (view === 'moves') put(old, x, 'go');
    }
  });
  /** @type {Map<string, string[]>} */
  const paths = new Map();
  const gap = layout.column > 5 ? 1 : 0;
  const width = layout.column - gap;
  for (const { member, x, state } of cells.values()) {
    const row = /** @type {Row} */ (layout.rowOf.get(member));
    const y = row.y + (row.height - row.cell) / 2;
    const key = `${hueOf(member)} ${STATES[state]}`;
    const parts = paths.get(key) ?? [];
    const inset = STATES[state] === 'want' && width > 4 ? 0.7 : 0;
    parts.push(
      `M${(x + inset).toFixed(2)} ${y + inset}h${(width - 2 * inset).toFixed(2)}v${row.cell - 2 * inset}h${(2 * inset - width).toFixed(2)}z`,
    );
    paths.set(key, parts);
  }
  return [...paths].map(([key, parts]) => {
    const [hue, state] = key.split(' ');
    return s('path', { 'data-hue': hue, class: state, d: parts.join('') });
  });
}
