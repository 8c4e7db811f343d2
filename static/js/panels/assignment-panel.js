/**
 * The panel of the next assignment: asked of the server while it is open and the playhead rests.
 *
 * @import {Cast} from '../frame/cast.js'
 * @import {Answer, Choice} from '../frame/next-assignment.js'
 */

import { h, part } from '../shared/dom.js';
import { messageOf } from '../shared/errors.js';
import { cameWords, choiceOf, choices, differsWords, movedWords, nextWords } from '../frame/next-assignment.js';
import { RestingPanel } from '../figures/resting-panel.js';

export class AssignmentPanel {
  #sequence = 0;
  #members = /** @type {string[]} */ ([]);

  /**
   * @param {object} parts
   * @param {HTMLDetailsElement} parts.panel
   * @param {Cast} parts.cast
   * @param {(at: number, choice: Choice) => Promise<Answer>} parts.fetchAssignment
   */
  constructor({ panel, cast, fetchAssignment }) {
    this.panel = panel;
    this.cast = cast;
    this.list = /** @type {HTMLSelectElement} */ (part('predicted-if'));
    this.resting = new RestingPanel(panel, {
      what: () => {
        this.#offer();
        return `${this.#sequence} ${this.list.value}`;
      },
      fetch: () => fetchAssignment(this.#sequence, choiceOf(this.list.value)),
      draw: (answer) => this.#draw(answer),
      fail: (error) => {
        part('predicted-next').textContent = messageOf(error, 'Nothing could be predicted.');
      },
    });
    this.list.addEventListener('change', () => this.resting.soon(0));
  }

  /** @param {number} sequence @param {string[]} members */
  move(sequence, members) {
    this.#sequence = sequence;
    this.#members = members;
    this.resting.soon();
  }

  #offer() {
    const chosen = this.list.value;
    const first = /** @type {HTMLOptionElement} */ (this.list.options[0]);
    const rows = choices(this.#members, (id) => this.cast.name(id));
    this.list.replaceChildren(first, ...rows.map(([value, text]) => h('option', { value }, text)));
    this.list.value = rows.some(([value]) => value === chosen) ? chosen : '';
  }

  /** @param {Answer} answer */
  #draw(answer) {
    const name = (/** @type {string} */ id) => this.cast.name(id);
    part('predicted-next').textContent = nextWords(answer);
    part('predicted-moves').replaceChildren(
      ...(answer.next?.moves ?? []).map((moved) => h('li', movedWords(moved, name))),
    );
    part('predicted-came').textContent = cameWords(answer);
    part('predicted-differences').replaceChildren(
      ...(answer.came?.differences ?? []).map((moved) => h('li', differsWords(moved, name))),
    );
    part('predicted-assumed').textContent = answer.assumed.length ? `Assumed: ${answer.assumed.join('; ')}.` : '';
    this.panel.dataset.sequence = String(answer.sequence);
  }
}
