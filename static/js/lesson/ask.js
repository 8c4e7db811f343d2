/**
 * A question: partitions put together by dragging or by pressing them, members or answers chosen. A wrong answer shows what
 * would have to be true; nobody counts tries.
 *
 * @import {Ask as Question, Option} from './types'
 * @import {Cast} from '../frame/cast.js'
 */

import { h } from '../shared/dom.js';
import { takesDrops } from '../shared/drops.js';
import { plain, sentence } from './sentence.js';

/** @param {Question} ask @param {string[]} chosen */
export const isRight = (ask, chosen) => ask.options.every((option) => option.right === chosen.includes(option.key));

/** What is shown for a wrong answer: of what was chosen and is not right, then of what is missing. @param {Question} ask @param {string[]} chosen @returns {Option[]} */
export function mistakes(ask, chosen) {
  const wrong = ask.options.filter((option) => !option.right && chosen.includes(option.key));
  const missing = ask.options.filter((option) => option.right && !chosen.includes(option.key));
  // One wrong answer of several that exclude each other is explained completely by its own text.
  return ask.many ? [...wrong, ...missing] : wrong;
}

/** How a question is answered where that does not show: several can be right, or none. @type {Record<string, string>} */
const HOW = {
  partitions: 'Press the partitions below, or drag them. Several can be right, or none.',
  members: 'Several can be right, or none.',
  choice: 'Several can be right, or none.',
  single: '',
};

export class AskPanel {
  /** @type {Set<string>} */
  #chosen = new Set();

  /**
   * @param {HTMLElement} root
   * @param {object} options
   * @param {Cast} options.cast
   * @param {(chosen: string[], right: boolean) => void} options.onAnswer the answer was checked, or shown
   */
  constructor(root, { cast, onAnswer }) {
    this.root = root;
    this.cast = cast;
    this.onAnswer = onAnswer;
    root.addEventListener('keydown', (event) => this.#key(event));
  }

  /** @param {Question} ask @param {string[] | null} given what was answered before @param {boolean} settled */
  show(ask, given, settled) {
    this.ask = ask;
    this.#chosen = new Set(given ?? []);
    const heading = h('h2', { id: 'question' }, sentence(ask.question, this.cast));
    const body = h('div.pick', { role: 'group', 'aria-labelledby': 'question' });
    this.answer = h('div.ans', { id: 'answer', 'aria-live': 'polite' });
    const how = settled ? '' : HOW[ask.many ? ask.kind : 'single'];
    this.root.replaceChildren(heading, ...(how ? [h('p.quiet', how)] : []), body, this.answer);
    if (ask.kind === 'partitions') this.#trays(body, settled);
    else this.#choices(body, settled);
    const check = h(
      'button.btn.go',
      { id: 'check', disabled: settled, onclick: () => this.check() },
      settled ? 'Answered' : 'Check',
    );
    const hint = ask.hint && !settled ? h('button.btn', { id: 'hint', onclick: () => this.#hint() }, 'Hint') : null;
    const reveal = settled
      ? null
      : h('button.btn.bare', { id: 'reveal', onclick: () => this.#reveal() }, 'Show the answer');
    this.root.insertBefore(h('div.acts', check, hint, reveal), this.answer);
    if (settled) this.#notify(isRight(ask, [...this.#chosen]), true);
  }

  /** @param {HTMLElement} body @param {boolean} settled */
  #trays(body, settled) {
    const ask = /** @type {Question} */ (this.ask);
    const from = h('div.tray', { id: 'from', role: 'group', 'aria-label': 'Partitions to choose from' });
    const to = h(
      'div.tray.to',
      { id: 'to', role: 'group', 'aria-label': plain(ask.tray) },
      h('span.lab', sentence(ask.tray, this.cast)),
    );
    const member = ask.tray.find((part) => part.kind === 'member');
    if (member) to.dataset.hue = this.cast.lane(member.text).hue;
    const place = (/** @type {Option} */ option, /** @type {HTMLElement} */ button) => {
      const chosen = this.#chosen.has(option.key);
      button.setAttribute('aria-pressed', String(chosen));
      (chosen ? to : from).append(button);
    };
    for (const option of ask.options) {
      const button = h(
        'button.pc',
        { draggable: settled ? 'false' : 'true', disabled: settled, 'data-key': option.key },
        option.key,
      );
      const move = (/** @type {boolean} */ chosen) => {
        if (chosen) this.#chosen.add(option.key);
        else this.#chosen.delete(option.key);
        this.answer?.replaceChildren();
        place(option, button);
        button.focus();
      };
      button.addEventListener('click', () => move(!this.#chosen.has(option.key)));
      button.addEventListener('dragstart', (event) => event.dataTransfer?.setData('text/plain', option.key));
      /** @type {any} */ (button).moveTo = move;
      place(option, button);
    }
    for (const [tray, chosen] of /** @type {[HTMLElement, boolean][]} */ ([
      [from, false],
      [to, true],
    ])) {
      takesDrops(tray, (dropped) => {
        const key = CSS.escape(dropped.getData('text/plain'));
        /** @type {any} */ (body.querySelector(`.pc[data-key="${key}"]`))?.moveTo(chosen);
      });
    }
    body.append(from, to);
  }

  /** @param {HTMLElement} body @param {boolean} settled */
  #choices(body, settled) {
    const ask = /** @type {Question} */ (this.ask);
    body.classList.add(
      ask.kind === 'choice' && ask.options.some((option) => plain(option.says).length > 24) ? 'long' : 'short',
    );
    ask.options.forEach((option, index) => {
      const button = h(
        'button.opt',
        {
          role: ask.many ? 'checkbox' : 'radio',
          'data-key': option.key,
          'aria-checked': String(this.#chosen.has(option.key)),
          disabled: settled,
        },
        // Members have letters: an answer has a number, unless it is one.
        this.#areNumbers() ? null : h('kbd', { 'aria-hidden': 'true' }, index + 1),
        h('span', sentence(option.says, this.cast)),
      );
      button.addEventListener('click', () => this.#toggle(option.key));
      body.append(button);
    });
    body.setAttribute('role', ask.many ? 'group' : 'radiogroup');
    body.setAttribute('aria-labelledby', 'question');
  }

  #areNumbers() {
    return (this.ask?.options ?? []).every(({ says: text }) => /^\d+$/.test(plain(text)));
  }

  /** @param {string} key */
  #toggle(key) {
    // What was said of the answer before is not said of this one.
    this.answer?.replaceChildren();
    const ask = /** @type {Question} */ (this.ask);
    if (ask.many && this.#chosen.has(key)) this.#chosen.delete(key);
    else {
      if (!ask.many) this.#chosen.clear();
      this.#chosen.add(key);
    }
    for (const button of this.root.querySelectorAll('.opt')) {
      button.setAttribute(
        'aria-checked',
        String(this.#chosen.has(/** @type {HTMLElement} */ (button).dataset.key ?? '')),
      );
    }
  }

  /** Up and down walk through what can be chosen. @param {KeyboardEvent} event */
  #key(event) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by || event.ctrlKey || event.metaKey || event.altKey) return;
    const all = [.../** @type {NodeListOf<HTMLElement>} */ (this.root.querySelectorAll('.opt, .pc'))];
    const at = all.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    if (at < 0) return;
    event.preventDefault();
    all[(at + by + all.length) % all.length].focus();
  }

  /** A number was pressed, anywhere on the page: it chooses the answer that is this number, or the answer in this place. @param {number} number */
  press(number) {
    const options = this.ask?.options ?? [];
    const place = this.#areNumbers()
      ? options.findIndex(({ says: words }) => plain(words) === String(number))
      : number - 1;
    const button = /** @type {HTMLButtonElement | undefined} */ (this.root.querySelectorAll('.opt')[place]);
    if (!button || button.disabled) return;
    button.focus();
    button.click();
  }

  check() {
    const ask = this.ask;
    if (!ask || /** @type {HTMLButtonElement | null} */ (this.root.querySelector('#check'))?.disabled) return;
    const chosen = [...this.#chosen];
    if (!chosen.length && !ask.many) {
      this.answer?.replaceChildren(h('p', 'Choose an answer first.'));
      return;
    }
    const right = isRight(ask, chosen);
    if (right) this.onAnswer(chosen, true);
    else this.#notify(false, false);
    this.answer?.scrollIntoView({ block: 'nearest' });
  }

  #hint() {
    this.answer?.replaceChildren(h('p.ex', sentence(this.ask?.hint, this.cast)));
  }

  #reveal() {
    const right = (this.ask?.options ?? []).filter((option) => option.right).map((option) => option.key);
    this.onAnswer(right, false);
  }

  /** @param {boolean} right @param {boolean} settled */
  #notify(right, settled) {
    const ask = /** @type {Question} */ (this.ask);
    if (!right) {
      const known = mistakes(ask, [...this.#chosen]).map((option) => h('li', sentence(option.why, this.cast)));
      this.answer?.replaceChildren(h('p', h('b.no', 'Not quite.')), h('ul.reasons', known));
      return;
    }
    const because = ask.options
      .filter((option) => option.right && option.why.length)
      .map((option) => h('li', sentence(option.why, this.cast)));
    this.answer?.replaceChildren(
      h('p', h('b.ok', sentence(ask.answer, this.cast))),
      ...(because.length && because.length <= 4 ? [h('ul.reasons', because)] : []),
      ...(ask.then && settled ? [h('p.ex', sentence(ask.then, this.cast))] : []),
    );
  }
}
