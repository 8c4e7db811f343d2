/**
 * One partition in a row of blocks, in the grammar of the chips: solid owned, hatched given up, dashed should own, dotted without an owner.
 *
 * @typedef {{key: string, mode: 'own' | 'leaving' | 'revoking' | 'twice' | 'want' | 'free' | 'still', x: number, y: number,
 *   width: number, hue: string, says: string}} Block
 */

import { s } from '../shared/dom.js';
import { characters } from '../frame/names.js';

export const SIDE = 11;
/** High enough for a name between its lines. */
export const TALL = 13;
export const GAP = 2;

/** How wide a block is that carries its name. @param {string} label */
export const widthOf = (label) => label.length * 5.8 + 10;

/** @param {Block} block @param {string} label */
export function drawn(block, label) {
  const wide = block.width > SIDE;
  const box = { x: block.x + 0.75, y: block.y + 0.75, width: block.width - 1.5, height: TALL - 1.5, rx: 2 };
  return s(
    'g',
    { class: `block ${block.mode}`, 'data-key': block.key, 'data-hue': block.hue },
    s('title', block.says),
    s('rect', box),
    block.mode === 'revoking' ? s('rect.hatch', { ...box }) : null,
    wide ? s('text', { x: block.x + block.width / 2, y: block.y + 9.7, 'text-anchor': 'middle' }, label) : null,
  );
}

/** What fills the blocks that are given up. */
export function patterns() {
  return s(
    'defs',
    ['0', '1', '2', '3', '4', '5', 'x'].map((hue) =>
      s(
        'pattern',
        {
          id: `block-hatch-${hue}`,
          width: 5,
          height: 5,
          patternUnits: 'userSpaceOnUse',
          patternTransform: 'rotate(45)',
        },
        s('rect', { width: 1.6, height: 5, fill: `var(--m${hue})`, 'fill-opacity': 0.45 }),
      ),
    ),
  );
}

/** From here on letters are as wide as two: those of East Asia, and emoji. */
const WIDE_FROM = 0x2e80;

/** The end of a name, which is what tells members apart; an emoji is never cut in two. @param {string} text @param {number} most letters */
export function clip(text, most) {
  const all = characters(text);
  const widths = all.map((letter) => (Number(letter.codePointAt(0)) < WIDE_FROM ? 1 : 2));
  if (widths.reduce((sum, width) => sum + width, 0) <= most) return text;
  let room = most - 1;
  let from = all.length;
  while (from > 0 && widths[from - 1] <= room) {
    from -= 1;
    room -= widths[from];
  }
  return `…${all.slice(from).join('')}`;
}
