/**
 * Be the leader: place each partition with a member, then see what the six assignors answer.
 *
 * @import {Ask as Question, Hands} from './types'
 * @import {Cast} from '../frame/cast.js'
 */

import { h, table } from '../shared/dom.js';
import { takesDrops } from '../shared/drops.js';
import { sentence, who } from './sentence.js';

/** Who may have a partition: members of this event that subscribe to its topic. @param {Hands} hands @param {string} partition */
export const takers = (hands, partition) =>
  hands.members
    .filter((member) => !member.leaves && member.topics.includes(partition.replace(/-\d+$/, '')))
    .map((member) => member.name);

/**
 * What is true of a placement: what is still to be placed, how even it is, and how many partitions change their owner.
 *
 * @param {Hands} hands
 * @param {Map<string, string | null>} placed
 */
export function judged(hands, placed) {
  const open = hands.partitions.filter((partition) => !placed.get(partition));
  const members = hands.members.filter((member) => !member.leaves);
  const counts = members.map(
    ({ name }) => hands.partitions.filter((partition) => placed.get(partition) === name).length,
  );
  const moved = hands.partitions.filter(
    (partition, index) => hands.before[index] !== null && placed.get(partition) !== hands.before[index],
  ).length;
  return { open, least: Math.min(...counts), most: Math.max(...counts), moved };
}

/** Who owned what before the event, a row each. @param {Hands} hands @param {Cast} cast */
export function before(hands, cast) {
  return hands.members.map(({ name, joins, leaves, topics }) => {
    const owned = hands.partitions.filter((_, index) => hands.before[index] === name);
    const known = joins ? 'joins' : leaves ? 'leaves' : '';
    return h(
      'p.had',
      who(name, cast),
      ' ',
      owned.map((partition) => h('code', partition)),
      owned.length ? null : h('span.quiet', 'nothing'),
      h('span.quiet', [known, `subscribes to ${topics.join(', ')}`].filter(Boolean).join(', ')),
    );
  });
}

export class Places {
  /** @type {Map<string, string | null>} */
  #placed = new Map();

  /**
   * @param {HTMLElement} root
   * @param {object} options
   * @param {Hands} options.hands
   * @param {Cast} options.cast
   * @param {(placed: string[]) => void} options.onAnswer
   */
  constructor(root, { hands, cast, onAnswer }) {
    this.root = root;
    this.hands = hands;
    this.cast = cast;
    this.onAnswer = onAnswer;
  }

  /** @param {Question} ask @param {string[] | null} given `orders-0=A` of each @param {boolean} settled */
  show(ask, given, settled) {
    this.ask = ask;
    const members = this.hands.members.filter((member) => !member.leaves).map((member) => member.name);
    this.#placed = new Map(
      this.hands.partitions.map((partition, index) => {
        const holder = this.hands.before[index];
        return [partition, holder !== null && members.includes(holder) ? holder : null];
      }),
    );
    for (const one of given ?? []) {
      const cut = one.lastIndexOf('=');
      if (this.#placed.has(one.slice(0, cut))) this.#placed.set(one.slice(0, cut), one.slice(cut + 1) || null);
    }
    this.trays = new Map([null, ...members].map((name) => [name, this.#tray(name)]));
    this.answer = h('div.ans', { id: 'answer', 'aria-live': 'polite' });
    this.root.replaceChildren(
      h('h2', { id: 'question' }, sentence(ask.question, this.cast)),
      h('p.quiet', 'Drag a partition to a member, or press it: it goes to the next member that may have it.'),
      h('div.lanes', { role: 'group', 'aria-labelledby': 'question' }, [...this.trays.values()]),
      h(
        'div.acts',
        h(
          'button.btn.go',
          { id: 'check', onclick: () => this.check() },
          settled ? 'Compare again' : 'Compare with the assignors',
        ),
      ),
      this.answer,
    );
    for (const partition of this.hands.partitions) this.#chip(partition);
    if (settled) this.#notify();
  }

  /** @param {string | null} name */
  #tray(name) {
    const tray = h(
      'div.tray',
      {
        role: 'group',
        'aria-label': name ?? 'Unassigned',
        'data-hue': name ? this.cast.lane(name).hue : null,
        'data-to': name ?? '',
      },
      h('span.lab', name ? who(name, this.cast) : 'Unassigned'),
    );
    takesDrops(tray, (dropped) => this.#move(dropped.getData('text/plain'), name));
    return tray;
  }

  /** @param {string} partition */
  #chip(partition) {
    const chip = h('button.pc', { draggable: 'true', 'data-key': partition }, partition);
    chip.addEventListener('dragstart', (event) => event.dataTransfer?.setData('text/plain', partition));
    chip.addEventListener('click', () => {
      const order = takers(this.hands, partition);
      const at = order.indexOf(this.#placed.get(partition) ?? '');
      this.#move(partition, order[(at + 1) % order.length]);
    });
    this.trays?.get(this.#placed.get(partition) ?? null)?.append(chip);
    this.#name(chip, partition);
  }

  /** @param {Element} chip @param {string} partition */
  #name(chip, partition) {
    chip.setAttribute('aria-label', `${partition}: ${this.#placed.get(partition) ?? 'unassigned'}`);
  }

  /** @param {string} partition @param {string | null} to */
  #move(partition, to) {
    if (!this.#placed.has(partition)) return;
    if (to !== null && !takers(this.hands, partition).includes(to)) {
      this.answer?.replaceChildren(
        h('p', h('b.no', 'Not possible.'), ` ${to} does not subscribe to the topic of ${partition}.`),
      );
      return;
    }
    this.#placed.set(partition, to);
    const chip = /** @type {HTMLElement} */ (this.root.querySelector(`.pc[data-key="${CSS.escape(partition)}"]`));
    this.trays?.get(to)?.append(chip);
    this.#name(chip, partition);
    chip.focus();
  }

  check() {
    const { open } = judged(this.hands, this.#placed);
    if (open.length) {
      this.answer?.replaceChildren(
        h(
          'p',
          h('b.no', 'Not yet.'),
          ` ${open.join(', ')} ${open.length > 1 ? 'have' : 'has'} no owner: a leader assigns every partition that somebody subscribes to.`,
        ),
      );
      return;
    }
    this.onAnswer([...this.#placed].map(([partition, name]) => `${partition}=${name}`));
    this.#notify();
  }

  #notify() {
    const { least, most, moved } = judged(this.hands, this.#placed);
    const even = most - least <= 1 ? 'even' : `uneven, ${least} to ${most}`;
    this.answer?.replaceChildren(
      h(
        'p',
        h('b', `Yours is ${even} and moves ${moved}.`),
        ' Below it, what the six assignors answer. Where a partition moves, its new owner has a ring.',
      ),
      h('div.scrolls', { role: 'region', 'aria-label': 'What each assignor answers', tabindex: '0' }, this.#table()),
      h('p.ex', sentence(this.ask?.then, this.cast)),
    );
  }

  #table() {
    const { hands } = this;
    const row = (
      /** @type {string} */ name,
      /** @type {(string | null)[]} */ owners,
      /** @type {number | string} */ moved,
    ) =>
      h(
        'tr',
        h('th', { scope: 'row' }, name),
        owners.map((owner, index) =>
          h(
            'td',
            { class: hands.before[index] !== null && owner !== hands.before[index] ? 'moved' : null },
            owner ? who(owner, this.cast) : '–',
          ),
        ),
        h('td.r.num', moved),
      );
    const mine = hands.partitions.map((partition) => this.#placed.get(partition) ?? null);
    return table(
      'table.t.six',
      [
        'assignor',
        ...hands.partitions.map((partition) => h('th', { scope: 'col' }, h('code', partition))),
        h('th.r', { scope: 'col' }, 'moved'),
      ],
      [
        row('before', hands.before, ''),
        row('yours', mine, judged(hands, this.#placed).moved),
        ...hands.answers.map((answer) => row(answer.name, answer.after, answer.measures.moved)),
      ],
    );
  }
}
