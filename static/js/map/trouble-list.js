/**
 * Who is in trouble at the playhead, above the rows: each a button that goes to its row.
 *
 * @typedef {import('./types').Trouble} Trouble
 */

import { h } from '../shared/dom.js';
import { nameNode } from './list.js';
import { UNASSIGNED } from './modes.js';

/** As many stand here; the others are a filter away. */
const MOST = 4;
/** Of partitions without an owner so many are named. */
const PARTITIONS_MOST = 2;

export class TroubleList {
  #drawn = '';

  /**
   * @param {object} options
   * @param {(trouble: Trouble) => void} options.onGo
   * @param {(kind: 'members' | 'partitions') => void} options.onAll
   * @param {(trouble: Trouble) => string} options.nameOf
   * @param {(trouble: Trouble) => string} options.hueOf
   */
  constructor({ onGo, onAll, nameOf, hueOf }) {
    this.onGo = onGo;
    this.onAll = onAll;
    this.nameOf = nameOf;
    this.hueOf = hueOf;
    this.root = h('section.mtrouble', { 'aria-label': 'In trouble at the playhead' });
  }

  /** @param {readonly Trouble[]} troubles the worst first */
  render(troubles) {
    const members = troubles.filter(({ kind }) => kind === 'members');
    const free = troubles.filter(({ kind }) => kind === 'partitions');
    const shown = [...free.slice(0, PARTITIONS_MOST), ...members].slice(0, MOST);
    const signature = JSON.stringify([shown, members.length, free.length, shown.map((one) => this.hueOf(one))]);
    if (signature === this.#drawn) return;
    this.#drawn = signature;
    const focused = this.root.contains(document.activeElement)
      ? /** @type {HTMLElement} */ (document.activeElement).dataset.go
      : null;
    const rest = {
      members: members.length - shown.filter(({ kind }) => kind === 'members').length,
      partitions: free.length - shown.filter(({ kind }) => kind === 'partitions').length,
    };
    this.root.replaceChildren(
      h(
        'div.mtrouble-head',
        h('h2', 'In trouble'),
        ...this.#rest('members', rest.members, 'member'),
        ...this.#rest('partitions', rest.partitions, 'unassigned'),
      ),
      h(
        'div.mtrouble-list',
        troubles.length ? null : h('span.quiet', 'nobody at this moment'),
        ...shown.map((one) => this.#button(one)),
      ),
    );
    if (focused) {
      const again =
        [...this.root.querySelectorAll('button')].find((button) => button.dataset.go === focused) ??
        this.root.querySelector('button');
      again?.focus({ preventScroll: true });
    }
  }

  /** @param {Trouble} one */
  #button(one) {
    const name = this.nameOf(one);
    return h(
      'button',
      {
        class: `btn sm mgo${one.mode === UNASSIGNED ? ' bad' : ''}`,
        type: 'button',
        'data-go': `${one.kind}\n${one.key}`,
        'data-hue': this.hueOf(one),
        'data-mode': one.mode,
        title: `${name} ${one.says}`,
        onclick: () => this.onGo(one),
      },
      h('i.mkey', { 'data-mode': one.mode, 'aria-hidden': 'true' }),
      nameNode(name),
      h('span.mgo-says', ` ${one.says}`),
    );
  }

  /** @param {'members' | 'partitions'} kind @param {number} count @param {string} one */
  #rest(kind, count, one) {
    if (count <= 0) return [];
    return [
      h(
        'button.mrest',
        { type: 'button', 'data-go': `rest\n${kind}`, onclick: () => this.onAll(kind) },
        `${count.toLocaleString('en')} more ${one}${count === 1 || kind === 'partitions' ? '' : 's'}`,
      ),
    ];
  }
}
