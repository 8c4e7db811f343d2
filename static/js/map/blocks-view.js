/**
 * Up to sixty members of the map as rows of blocks, at the playhead: the board of a smaller group, for these members.
 *
 * @typedef {import('../types').MapScene} MapScene
 * @typedef {import('../types').PartitionView} PartitionView
 */

import { Blocks } from '../board/blocks.js';
import { h } from '../shared/dom.js';

/** The board of blocks is made for as many. */
export const BLOCKS_MOST = 60;

export class BlocksView {
  /** @type {string[] | null} */
  #members = null;
  /** @type {Blocks | null} */
  #blocks = null;

  /**
   * @param {object} options
   * @param {import('../frame/cast.js').Cast} options.cast
   * @param {import('../frame/labels.js').Labels} options.labels
   * @param {(key: string) => void} options.onPick
   * @param {() => void} options.onBack
   */
  constructor({ cast, labels, onPick, onBack }) {
    this.options = { cast, labels, onPick };
    this.onBack = onBack;
    this.text = h('h2');
    this.back = h(
      'button.btn.sm',
      { type: 'button', onclick: onBack },
      'Back to the map',
      h('kbd', { 'aria-hidden': 'true' }, 'Esc'),
    );
    this.board = h('div');
    this.root = h(
      'section.mblocks',
      { hidden: true, 'aria-label': 'Members in sight, as blocks' },
      h('div.mblocks-head', this.text, h('span.grow'), this.back),
      this.board,
    );
    this.root.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      event.preventDefault();
      event.stopPropagation();
      onBack();
    });
  }

  get open() {
    return this.#members !== null;
  }

  /** @param {string[]} members ids @param {string} text @param {MapScene} scene */
  show(members, text, scene) {
    this.#members = members;
    this.text.textContent = text;
    this.root.hidden = false;
    this.#blocks = new Blocks(this.board, this.options);
    this.render(scene);
    this.back.focus({ preventScroll: true });
  }

  hide() {
    this.#members = null;
    this.root.hidden = true;
    this.#blocks?.destroy();
    this.#blocks = null;
  }

  /** @param {MapScene} scene */
  render(scene) {
    if (!this.#members || !this.#blocks) return;
    const { frame, moment, ownership, violation } = scene;
    const here = this.#members.filter((member) => frame.members[member]);
    /** @type {Map<string, PartitionView>} */
    const views = new Map();
    /** @type {Set<string>} */
    const free = new Set();
    for (const member of here) {
      const { owned, revoking, wanted } = ownership.member(member);
      for (const keys of [owned, revoking, wanted]) {
        for (const key of keys) {
          const view = ownership.of(key);
          if (!view) continue;
          views.set(key, view);
          if (view.mode === 'free') free.add(key);
        }
      }
    }
    const members = Object.fromEntries(here.map((member) => [member, frame.members[member]]));
    const clients =
      frame.clients &&
      Object.fromEntries(
        this.#members
          .filter((member) => frame.clients?.[member])
          .map((member) => [member, /** @type {NonNullable<typeof frame.clients>} */ (frame.clients)[member]]),
      );
    this.#blocks.render({
      frame: { ...frame, members, clients },
      moment,
      views,
      free,
      since: () => null,
      forward: false,
      violation: violation ? { ...violation, sequence: scene.sequence, invariant: '', proof: [] } : null,
    });
  }
}
