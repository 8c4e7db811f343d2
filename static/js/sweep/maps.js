/**
 * The maps: one for each assignor, the same places in each. A grid of buttons is their text, their focus and their
 * keys; Plotly draws the colours beneath once its script is there, and until then the buttons are coloured.
 *
 * @import {Detail, Place} from './types'
 */

import { h, hit } from '../shared/dom.js';
import { drawMap } from './plots.js';

/** The ramp skips its middle, where neither colour of text could be read: steps below are light, from here on dark. */
const DARK_FROM = 6;
const LONG = 5;
/** By so many maps, rows and columns a key goes on. @type {{[key: string]: [number, number, number]}} */
const WAYS = {
  ArrowLeft: [0, 0, -1],
  ArrowRight: [0, 0, 1],
  ArrowUp: [0, -1, 0],
  ArrowDown: [0, 1, 0],
  '[': [-1, 0, 0],
  ']': [1, 0, 0],
};

export class Maps {
  /** @type {HTMLButtonElement[]} */
  #buttons = [];
  /** @type {HTMLElement[]} */
  #grids = [];
  /** @type {HTMLElement[]} */
  #plots = [];
  #across = 0;
  #rows = 0;
  #columns = 0;
  #chosen = 0;
  #plotly = /** @type {any} */ (null);
  #ramp = /** @type {string[]} */ ([]);
  #detail = /** @type {Detail | null} */ (null);

  /** @param {HTMLElement} root @param {(cell: number) => void} onChoose */
  constructor(root, onChoose) {
    this.root = root;
    this.onChoose = onChoose;
    root.addEventListener('click', (event) => this.#at(event, (cell) => this.choose(cell)));
    root.addEventListener('pointerover', (event) => {
      if (/** @type {PointerEvent} */ (event).pointerType === 'mouse') this.#at(event, (cell) => this.choose(cell));
    });
    root.addEventListener('focusin', (event) => this.#at(event, (cell) => this.choose(cell)));
    root.addEventListener('keydown', (event) => this.#key(event));
  }

  /** Build again for so many maps next to each other. @param {Detail} detail @param {number} across */
  build(detail, across) {
    const { assignors, shapes, events } = detail.axes;
    this.#detail = detail;
    this.#across = Math.min(across, assignors.length);
    [this.#rows, this.#columns] = [shapes.length, events.length];
    this.#buttons = [];
    this.#grids = [];
    this.#plots = [];
    const labels = () =>
      h(
        'div.lab',
        { 'aria-hidden': 'true' },
        shapes.map(({ label, name }) => h('div', { title: `${label} (${name})` }, label)),
      );
    const nodes = assignors.flatMap((assignor, board) => {
      const plot = h('div.plot', { 'aria-hidden': 'true' });
      const rows = shapes.map((shape, row) =>
        h(
          'div',
          { role: 'row' },
          events.map((event, column) => {
            const button = /** @type {HTMLButtonElement} */ (
              h('button', {
                role: 'gridcell',
                tabindex: -1,
                'data-cell': (board * this.#rows + row) * this.#columns + column,
              })
            );
            this.#buttons.push(button);
            return button;
          }),
        ),
      );
      const grid = h(
        'div.hm',
        plot,
        h('div.grid', { role: 'grid', 'aria-label': `${assignor.label}, ${assignor.runs_as}` }, rows),
      );
      this.#grids.push(grid);
      this.#plots.push(plot);
      const map = h(
        'div.map',
        h('h2', assignor.label, h('span', assignor.runs_as)),
        h(
          'div.ev',
          { 'aria-hidden': 'true' },
          events.map(({ head, label }) => h('span', { title: label }, head)),
        ),
        grid,
      );
      return board % this.#across === 0 ? [labels(), map] : [map];
    });
    this.root.style.setProperty('--across', String(this.#across));
    this.root.style.setProperty('--events', String(this.#columns));
    this.root.replaceChildren(...nodes);
    this.update(detail);
  }

  /** New values in the same places. @param {Detail} detail */
  update(detail) {
    this.#detail = detail;
    const { assignors, shapes, events, seeds } = detail.axes;
    const unit = detail.measures.find(({ key }) => key === detail.measure)?.unit ?? '';
    detail.maps.forEach((map, board) =>
      map.cells.forEach((place, at) => {
        const button = this.#buttons[place.cell];
        const [row, column] = [Math.floor(at / this.#columns), at % this.#columns];
        const part = place.seeds > 0 && place.seeds < seeds;
        button.className = [
          place.step === null ? 'non' : `h${place.step}`,
          (place.step ?? 0) >= DARK_FROM ? 'd' : '',
          part ? 'part' : '',
          place.text.length >= LONG ? 'long' : '',
        ]
          .filter(Boolean)
          .join(' ');
        button.style.setProperty('--w', `${(100 * place.seeds) / seeds}%`);
        if (button.textContent !== place.text) button.textContent = place.text;
        const value = place.text ? `${place.text}${place.text === 'throws' ? '' : unit}` : 'nothing yet';
        button.setAttribute(
          'aria-label',
          `${assignors[board].name.replace('/', ' ')}, ${shapes[row].label}, ${events[column].label}: ${value}${part ? `, ${place.seeds} of ${seeds} seeds` : ''}`,
        );
      }),
    );
    this.#mark();
    this.#draw();
  }

  /** Plotly is there, or the scheme has changed. @param {any} plotly @param {string[]} ramp */
  draw(plotly, ramp) {
    this.#plotly = plotly;
    this.#ramp = ramp;
    this.#draw();
  }

  #draw() {
    if (!this.#plotly || !this.#detail) return;
    this.#detail.maps.forEach((map, board) => {
      const grid = this.#grids[board];
      drawMap(this.#plotly, this.#plots[board], map.figure, this.#ramp)
        .then(() => grid.classList.add('drawn'))
        .catch(() => grid.classList.remove('drawn'));
    });
  }

  /** @param {number} cell @param {boolean} [focus] */
  choose(cell, focus = false) {
    if (!this.#buttons[cell]) return;
    const moved = cell !== this.#chosen;
    this.#chosen = cell;
    this.#mark();
    if (focus) this.#buttons[cell].focus();
    if (moved) this.onChoose(cell);
  }

  get chosen() {
    return this.#chosen;
  }

  #mark() {
    const [, row, column] = this.#place(this.#chosen);
    this.#buttons.forEach((button, cell) => {
      const chosen = cell === this.#chosen;
      button.classList.toggle('sel', chosen);
      button.tabIndex = chosen ? 0 : -1;
      button.setAttribute('aria-selected', String(chosen));
    });
    for (const labels of this.root.querySelectorAll('.lab')) {
      [...labels.children].forEach((label, at) => label.classList.toggle('on', at === row));
    }
    for (const heads of this.root.querySelectorAll('.ev')) {
      [...heads.children].forEach((head, at) => head.classList.toggle('on', at === column));
    }
  }

  /** @param {number} cell @returns {[number, number, number]} board, row, column */
  #place(cell) {
    const row = Math.floor(cell / this.#columns);
    return [Math.floor(row / this.#rows), row % this.#rows, cell % this.#columns];
  }

  /** @param {Event} event @param {(cell: number) => void} act */
  #at(event, act) {
    const button = hit(event, 'button[data-cell]');
    if (button) act(Number(button.dataset.cell));
  }

  /** Arrows go through a map and on into the next; brackets go from map to map. @param {KeyboardEvent} event */
  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    let [board, row, column] = this.#place(this.#chosen);
    if (event.key in WAYS) {
      const [maps, down, right] = WAYS[event.key];
      [board, row, column] = [board + maps, row + down, column + right];
    } else if (event.key === 'Home') column = 0;
    else if (event.key === 'End') column = this.#columns - 1;
    else return;
    if (column < 0) [board, column] = [board - 1, this.#columns - 1];
    if (column >= this.#columns) [board, column] = [board + 1, 0];
    if (row < 0) [board, row] = [board - this.#across, this.#rows - 1];
    if (row >= this.#rows) [board, row] = [board + this.#across, 0];
    event.preventDefault();
    if (board < 0 || board >= this.#grids.length) return;
    this.choose((board * this.#rows + row) * this.#columns + column, true);
  }
}
