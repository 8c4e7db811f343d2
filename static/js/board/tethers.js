/**
 * The gap as a line: a dotted tether from each chip to its outline in the lane of the member that should own it.
 * In a column there is at most one chip and one outline, so tethers never cross chips.
 */

import { s } from '../shared/dom.js';

/** Shorter ones are gone: the chip has arrived. */
const SHORTEST = 8;

/**
 * @param {SVGElement} svg covers the board
 * @param {Element} root
 * @param {Iterable<{chip: Element, slot: Element, hue: string}>} pairs
 */
export function drawTethers(svg, root, pairs) {
  const box = root.getBoundingClientRect();
  const lines = [];
  for (const { chip, slot, hue } of pairs) {
    const a = chip.getBoundingClientRect();
    const b = slot.getBoundingClientRect();
    const down = b.top > a.top;
    const way = down ? 1 : -1;
    const x = a.left + a.width / 2 - box.left;
    const from = (down ? a.bottom + captionUnder(chip) : a.top - 2) - box.top;
    const to = (down ? b.top - 3 : b.bottom + captionUnder(slot)) - box.top;
    if ((to - from) * way < SHORTEST) continue;
    lines.push(
      s(
        'g',
        { 'data-hue': hue },
        s('path', { d: `M${x} ${from}V${to - way * 6}` }),
        s('path.head', { d: `M${x - 4.5} ${to - way * 7}h9l-4.5 ${way * 7}z` }),
      ),
    );
  }
  svg.replaceChildren(...lines);
}

/** How much room the caption of a chip or an outline takes. @param {Element} node */
function captionUnder(node) {
  const caption = node.nextElementSibling;
  return caption?.classList.contains('cap') ? caption.getBoundingClientRect().height + 5 : 3;
}
