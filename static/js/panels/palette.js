/**
 * The palette of commands and the list of keys, both made of the table of actions.
 *
 * @import {Action} from './actions.js'
 * @typedef {{says: string, note: string, act: () => void}} Choice
 * @typedef {{name: string, choices: Choice[]}} Section
 */

import { h, part } from '../shared/dom.js';
import { ACTIONS, keyCap, matching, WITHIN } from './actions.js';

const caps = (/** @type {readonly string[]} */ keys) => keys.flatMap((key) => [h('kbd', keyCap(key)), ' ']);

/** Every key of a board, with what it does. @returns {HTMLElement} */
export function keyList() {
  const keyed = [...ACTIONS.filter(({ keys }) => keys.length), ...WITHIN];
  return h(
    'dl.keylist',
    keyed.flatMap(({ keys, says: text }) => [h('dt', caps(keys)), h('dd', text)]),
  );
}

/** Fills the list of keys of the page, once. */
export function showKeys() {
  part('key-list').replaceChildren(keyList());
}

export class Palette {
  /** @type {Choice[]} */
  #choices = [];
  #at = 0;

  /**
   * @param {object} parts
   * @param {{[id: string]: () => void}} parts.handlers by the action's id
   * @param {(query: string) => Section[]} parts.found members, partitions and events that match
   */
  constructor({ handlers, found }) {
    this.handlers = handlers;
    this.found = found;
    this.dialog = /** @type {HTMLDialogElement} */ (part('palette'));
    this.field = /** @type {HTMLInputElement} */ (this.dialog.querySelector('input'));
    this.list = part('palette-list');
    this.none = /** @type {HTMLElement} */ (this.dialog.querySelector('[role=status]'));
    this.field.addEventListener('input', () => this.show());
    this.field.addEventListener('keydown', (event) => this.#key(event));
    this.dialog.addEventListener('click', (event) => {
      const target = /** @type {Element} */ (event.target);
      const option = /** @type {HTMLElement | null} */ (target.closest('[role=option]'));
      if (option) this.#choose(Number(option.dataset.choice));
      // Its backdrop is the dialog itself.
      else if (target === this.dialog) this.dialog.close();
    });
  }

  /** What an action of this page does; null where the page has no such action now. @param {Action} action */
  #actOf({ id, presses }) {
    if (this.handlers[id]) return this.handlers[id];
    const node = presses ? /** @type {HTMLElement | null} */ (document.querySelector(`#${presses}`)) : null;
    return node?.checkVisibility() && !node.matches(':disabled') ? () => node.click() : null;
  }

  /** What matches what was typed. */
  show() {
    const query = this.field.value.trim();
    /** @type {Map<string, Section>} */
    const sections = new Map();
    for (const action of matching(ACTIONS, query)) {
      const act = this.#actOf(action);
      if (!act || action.id === 'palette') continue;
      const section = sections.get(action.group) ?? { name: action.group, choices: [] };
      sections.set(action.group, section);
      section.choices.push({ says: action.says, note: action.keys.map(keyCap).join('  '), act });
    }
    const all = [...sections.values(), ...(query ? this.found(query) : [])].filter(({ choices }) => choices.length);
    this.#choices = all.flatMap(({ choices }) => choices);
    let at = 0;
    this.list.replaceChildren(
      ...all.map(({ name, choices }, index) =>
        h(
          'div',
          { role: 'group', 'aria-labelledby': `palette-${index}` },
          h('h3', { id: `palette-${index}`, role: 'presentation' }, name),
          choices.map((choice) => this.#option(choice, at++)),
        ),
      ),
    );
    this.none.textContent = this.#choices.length ? '' : `Nothing here matches “${query}”.`;
    this.#mark(0);
  }

  /** @param {Choice} choice @param {number} at */
  #option({ says: text, note }, at) {
    return h(
      'div',
      { role: 'option', id: `palette-option-${at}`, 'data-choice': at, 'aria-selected': 'false' },
      h('span', text),
      note && h('kbd', note),
    );
  }

  /** @param {number} at */
  #mark(at) {
    this.#at = at;
    for (const option of this.list.querySelectorAll('[role=option]')) option.setAttribute('aria-selected', 'false');
    const option = document.getElementById(`palette-option-${at}`);
    option?.setAttribute('aria-selected', 'true');
    option?.scrollIntoView({ block: 'nearest' });
    if (option) this.field.setAttribute('aria-activedescendant', option.id);
    else this.field.removeAttribute('aria-activedescendant');
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const many = this.#choices.length;
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by && many) this.#mark((this.#at + by + many) % many);
    else if (event.key === 'Enter') this.#choose(this.#at);
    else return;
    event.preventDefault();
  }

  /** @param {number} at */
  #choose(at) {
    const choice = this.#choices[at];
    if (!choice) return;
    this.dialog.close();
    choice.act();
  }
}
