/**
 * A sheet as it is read: the sentence, six boards of which one is open, the scorecard, and how the open one got there, step by step.
 *
 * @import {Sheet, View} from './types'
 */

import { choose, h, hit, part, redrawn } from '../shared/dom.js';
import { grouped } from '../shared/numbers.js';
import { onTextSize, textSize } from '../shared/text-size.js';
import { boardOf } from './board.js';
import { showScorecard } from './scorecard.js';
import { showSteps } from './steps.js';

const RESIZED_MS = 80;
/** The board that is open at first: the default assignor of Kafka's newer protocol. */
const UNIFORM = 5;

/** The board that an address names. @param {string} hash */
export function boardIn(hash) {
  const found = /^#b?([1-6])$/.exec(hash);
  return found ? Number(found[1]) - 1 : null;
}

export class SheetView {
  #boards = [.../** @type {NodeListOf<HTMLElement>} */ (part('boards').querySelectorAll('.bd'))];
  /** @type {Sheet | null} */
  #sheet = null;
  /** @type {View} */
  #view = 'moves';
  #step = 1;

  /** @param {{open: number | null, onOpen: (board: number) => void}} parts `open`: the board that is open at first */
  constructor({ open, onOpen }) {
    this.open = open ?? UNIFORM;
    this.onOpen = onOpen;
    this.#wire();
  }

  /** @param {Sheet} sheet */
  show(sheet) {
    this.#sheet = sheet;
    const { steps } = sheet.answers[this.open];
    this.#step = Math.max(0, Math.min(this.#step, steps.length - 1));
    part('verdict').replaceChildren(
      ...sheet.says.map(({ text, board }) =>
        board === undefined
          ? document.createTextNode(text)
          : h('a.clause', { href: `#b${board + 1}`, 'data-board': board }, text),
      ),
    );
    this.#drawBoards();
    redrawn(
      () => showScorecard(part('scorecard'), sheet, this.open, (board) => this.openBoard(board)),
      part('scorecard'),
    );
    this.#showExplanation();
  }

  /** @param {number} board */
  openBoard(board) {
    if (!this.#sheet) return;
    if (board !== this.open) this.#step = 1;
    this.open = board;
    this.onOpen(board);
    this.show(this.#sheet);
  }

  /** @param {1 | -1} way */
  stepBy(way) {
    this.#goTo(this.#step + way);
  }

  /** What keys do. @returns {{[key: string]: () => void}} */
  keys() {
    const places = this.#boards.map((_, place) => [String(place + 1), () => this.openBoard(place)]);
    return { ArrowRight: () => this.stepBy(1), ArrowLeft: () => this.stepBy(-1), ...Object.fromEntries(places) };
  }

  #drawBoards() {
    const shown = this.#sheet;
    if (!shown) return;
    shown.answers.forEach((answer, place) => {
      const node = this.#boards[place];
      const is = place === this.open;
      node.setAttribute('aria-current', String(is));
      node.querySelector('.rn')?.classList.toggle('on', is);
      const { measures } = answer;
      node
        .querySelector('.mv')
        ?.replaceChildren(
          ...(measures
            ? [
                h('b', grouped(measures.moved)),
                ' moved, ',
                h(
                  'b',
                  measures.min === measures.max
                    ? grouped(measures.min)
                    : `${grouped(measures.min)}–${grouped(measures.max)}`,
                ),
                ' each',
              ]
            : [h('b', 'throws')]),
        );
      const holder = /** @type {HTMLElement} */ (node.querySelector('.h'));
      const framed = is && this.#view !== 'before' ? (answer.steps[this.#step]?.columns ?? null) : null;
      holder.replaceChildren(
        boardOf(shown, answer, { width: Math.floor(holder.clientWidth / textSize()), view: this.#view, framed }),
      );
      const sentence = /** @type {HTMLElement} */ (node.querySelector('.say'));
      sentence.textContent = answer.says;
      sentence.classList.toggle('no', answer.error !== null);
    });
  }

  #showExplanation() {
    const sheet = this.#sheet;
    if (!sheet) return;
    const step = this.#step;
    const answer = sheet.answers[this.open];
    part('steps-number').textContent = String(this.open + 1);
    part('steps-title').textContent = `How ${answer.assignor} got there`;
    part('steps-place').textContent = answer.steps.length ? `step ${step + 1} of ${answer.steps.length}` : '';
    showSteps(part('steps'), sheet, answer.steps, step, (to) => this.#goTo(to));
    if (answer.error) part('steps').replaceChildren(h('li.none', `It did not: ${answer.error}.`));
    const back = /** @type {HTMLButtonElement} */ (part('back'));
    const next = /** @type {HTMLButtonElement} */ (part('next'));
    back.disabled = step <= 0;
    next.disabled = step >= answer.steps.length - 1;
    part('faults').hidden = !answer.faults.length;
    part('faults').textContent = answer.faults
      .map((fault) => `A fault of Kafka’s own, repeated here: ${fault.says}.`)
      .join(' ');
  }

  /** @param {number} to */
  #goTo(to) {
    if (!this.#sheet) return;
    this.#step = Math.max(0, Math.min(to, this.#sheet.answers[this.open].steps.length - 1));
    this.#drawBoards();
    this.#showExplanation();
  }

  #wire() {
    for (const [place, node] of this.#boards.entries()) node.addEventListener('click', () => this.openBoard(place));
    part('verdict').addEventListener('click', (event) => {
      const clause = hit(event, '[data-board]');
      if (!clause) return;
      event.preventDefault();
      this.openBoard(Number(clause.dataset.board));
      this.#boards[this.open].scrollIntoView({ block: 'nearest' });
    });
    choose('view', (value) => {
      this.#view = /** @type {View} */ (value);
      this.#drawBoards();
    });
    part('back').addEventListener('click', () => this.stepBy(-1));
    part('next').addEventListener('click', () => this.stepBy(1));
    addEventListener('hashchange', () => {
      const board = boardIn(location.hash);
      if (board !== null) this.openBoard(board);
    });
    let resized = /** @type {any} */ (null);
    addEventListener('resize', () => {
      clearTimeout(resized);
      resized = setTimeout(() => this.#drawBoards(), RESIZED_MS);
    });
    onTextSize(() => this.#drawBoards());
  }
}
