/** Under the map: what is in sight, what the pointer is over, and each zoom as a button next to its key. */

import { h } from '../shared/dom.js';

/** @type {[string, string, string][]} key, sign, what it does */
const BUTTONS = [
  ['w', '+', 'Zoom in on time (W)'],
  ['s', '−', 'Zoom out of time (S)'],
  ['a', '‹', 'Earlier (A)'],
  ['d', '›', 'Later (D)'],
  ['+', '↕+', 'Higher rows (+)'],
  ['-', '↕−', 'Lower rows (−)'],
  ['f', 'Fit', 'Fit: all rows and all of the time (F)'],
];

export class Foot {
  /** @param {(key: string) => unknown} onCommand */
  constructor(onCommand) {
    this.here = h('span.mhere-says');
    this.over = h('span.mover.quiet', { dir: 'auto' });
    this.buttons = new Map(
      BUTTONS.map(([key, sign, title]) => [
        key,
        /** @type {HTMLButtonElement} */ (
          h(
            'button.btn.sm',
            { title, 'aria-label': title.replace(/ \(.*\)$/, ''), onclick: () => onCommand(key) },
            sign,
          )
        ),
      ]),
    );
    this.root = h(
      'div.mfoot',
      this.over,
      h('span.grow'),
      this.here,
      h('div.mzoom', { role: 'toolbar', 'aria-label': 'Zoom' }, ...this.buttons.values()),
    );
  }

  /** @param {string} text @param {boolean} zoomed */
  show(text, zoomed) {
    if (this.here.textContent !== text) this.here.textContent = text;
    const off = (/** @type {string} */ key, /** @type {boolean} */ disabled) => {
      const button = this.buttons.get(key);
      if (button) button.disabled = disabled;
    };
    off('a', !zoomed);
    off('d', !zoomed);
  }

  /** @param {string} sentence of what the pointer is over */
  point(sentence) {
    this.over.classList.remove('bad');
    if (this.over.textContent !== sentence) this.over.textContent = sentence;
  }

  /** @param {string} words one line */
  fail(words) {
    this.over.classList.add('bad');
    this.over.textContent = words;
  }
}
