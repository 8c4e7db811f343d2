/**
 * A row that was opened: everything about a member or a partition at the playhead, with its chips.
 *
 * @import {MapScene, PartitionView} from '../types'
 * @import {Labels} from '../frame/labels.js'
 * @import {Entity, RowText} from './types'
 * @import {Names} from './say.js'
 */

import { chipWords, face } from '../board/chips.js';
import { h, hit } from '../shared/dom.js';
import { onTextSize, rem, textSize } from '../shared/text-size.js';
import { columnOf, epochOf } from '../frame/view.js';
import { capital } from '../frame/words.js';
import { nameNode } from '../frame/name-node.js';
import { byName } from '../frame/names.js';

const CHIP_PX = { width: 116, height: 30 };
/** Rows of chips before they scroll: one member may own ten thousand. */
const ROWS_MOST = 5;

export class Lane {
  /** @type {{key: string, mode: string}[]} */
  #chips = [];
  #drawn = '';
  #signature = '';

  /**
   * @param {HTMLElement} root
   * @param {object} options
   * @param {Labels} options.labels
   * @param {Names} options.names
   * @param {(key: string) => void} options.onPick a partition
   * @param {(kind: import('./types').Kind, key: string) => void} options.onGo to another row
   * @param {() => void} options.onClose
   */
  constructor(root, { labels, names, onPick, onGo, onClose }) {
    this.root = root;
    this.labels = labels;
    this.names = names;
    this.onPick = onPick;
    this.onGo = onGo;
    this.onClose = onClose;
    this.sizer = h('div.mchips-sizer');
    this.chips = h('div.mchips', { role: 'group' }, this.sizer);
    this.chips.addEventListener('scroll', () => this.#window());
    onTextSize(() => this.#window());
    this.chips.addEventListener('click', (event) => {
      const chip = hit(event, '[data-key]');
      if (chip) this.onPick(chip.getAttribute('data-key') ?? '');
    });
    this.head = h('div.mlane-head');
    this.text = h('div.mlane-says');
    root.append(this.head, this.text, this.chips);
    root.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      event.preventDefault();
      event.stopPropagation();
      this.onClose();
    });
  }

  /**
   * @param {MapScene} scene
   * @param {object} what
   * @param {'members' | 'partitions'} what.kind
   * @param {Entity} what.entity
   * @param {string | undefined} what.member the member in the lane now
   * @param {RowText} what.text
   * @param {string} what.hue
   */
  render(scene, { kind, entity, member, text, hue }) {
    this.root.hidden = false;
    this.root.dataset.hue = hue;
    this.root.setAttribute('aria-label', `${entity.name} at the playhead`);
    const state = member === undefined ? undefined : scene.frame.members[member];
    const group = epochOf(scene.frame);
    const epoch = state?.epoch ?? null;
    const behind = epoch !== null && group !== null && epoch < group;
    const facts = [
      entity.host ? `host ${entity.host}` : null,
      entity.rack ? `rack ${entity.rack}` : null,
      state?.client_id && state.client_id !== entity.name ? `client ${state.client_id}` : null,
      state?.instance_id ? `group instance ${state.instance_id}` : null,
    ].filter(Boolean);
    const signature = JSON.stringify([entity.key, kind, epoch, group, facts, text]);
    if (signature !== this.#signature) {
      this.#signature = signature;
      const focused = this.root.contains(document.activeElement) ? document.activeElement?.textContent : null;
      this.head.replaceChildren(
        h('span.mdisc', { 'aria-hidden': 'true' }),
        h('h2', nameNode(entity.name)),
        epoch === null
          ? ''
          : h(
              'span',
              { class: behind ? 'epoch behind' : 'epoch' },
              h('b', `${behind ? '▲ ' : ''}${epoch}`),
              behind ? ` of ${group}` : '',
            ),
        h('span.quiet.mfacts', { dir: 'auto' }, facts.join(' · ')),
        h('span.grow'),
        h('button.btn.sm', { onclick: this.onClose }, 'Close', h('kbd', { 'aria-hidden': 'true' }, 'Esc')),
      );
      this.text.replaceChildren(
        h('p', { class: text.mode > 2 ? 'hard' : '' }, capital(text.says)),
        text.links.length
          ? h(
              'p.mlinks',
              text.links.map((link) =>
                h(
                  'button.btn.sm',
                  { onclick: () => this.onGo(link.kind, link.key) },
                  'Go to ',
                  nameNode(entityName(link, this.names)),
                ),
              ),
            )
          : '',
      );
      if (focused) {
        const again = [...this.root.querySelectorAll('button')].find((button) => button.textContent === focused);
        again?.focus({ preventScroll: true });
      }
    }
    this.#fill(scene, kind, entity.key, member);
  }

  hide() {
    this.root.hidden = true;
    this.#signature = '';
  }

  /** @param {MapScene} scene @param {'members' | 'partitions'} kind @param {string} key @param {string | undefined} member */
  #fill(scene, kind, key, member) {
    /** @type {{key: string, mode: string}[]} */
    const chips = [];
    if (kind === 'partitions') chips.push({ key, mode: scene.ownership.of(key)?.mode ?? 'free' });
    else if (member !== undefined) {
      const { owned, revoking, wanted } = scene.ownership.member(member);
      const set = new Set(revoking);
      for (const one of owned)
        if (!set.has(one)) chips.push({ key: one, mode: scene.ownership.of(one)?.mode ?? 'own' });
      for (const one of set)
        chips.push({ key: one, mode: scene.ownership.of(one)?.mode === 'twice' ? 'twice' : 'revoking' });
      for (const one of wanted) chips.push({ key: one, mode: 'want' });
    }
    // What is under way is first: among ten thousand nobody looks for it.
    this.#chips = [
      ...chips.filter(({ mode }) => mode !== 'own').sort((a, b) => byName(a.key, b.key)),
      ...chips.filter(({ mode }) => mode === 'own'),
    ];
    this.scene = scene;
    this.chips.hidden = chips.length === 0;
    this.chips.setAttribute('aria-label', this.labels.counted(chips.length));
    this.#drawn = '';
    this.#window();
  }

  /** The chips that are in sight. */
  #window() {
    const across = Math.max(1, Math.floor((this.chips.clientWidth / textSize() - 8) / CHIP_PX.width));
    const rows = Math.ceil(this.#chips.length / across);
    const high = Math.min(rows, ROWS_MOST) * CHIP_PX.height;
    this.chips.style.height = rem(high + 4);
    // Only what scrolls must be reached by key as a whole.
    if (rows > ROWS_MOST) this.chips.tabIndex = 0;
    else this.chips.removeAttribute('tabindex');
    const first = Math.max(0, Math.floor(this.chips.scrollTop / textSize() / CHIP_PX.height) - 1);
    const last = Math.min(rows, first + ROWS_MOST + 3);
    const drawn = `${across}:${first}:${last}`;
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    this.sizer.style.height = rem(rows * CHIP_PX.height);
    const focused = this.chips.contains(document.activeElement)
      ? document.activeElement?.getAttribute('data-key')
      : null;
    this.sizer.replaceChildren(
      ...this.#chips.slice(first * across, last * across).map(({ key, mode }, index) => {
        const node = this.#chip(key, mode);
        const at = first * across + index;
        node.style.transform = `translate(${rem((at % across) * CHIP_PX.width)}, ${rem(Math.floor(at / across) * CHIP_PX.height)})`;
        return node;
      }),
    );
    if (focused)
      /** @type {HTMLElement | null} */ (this.sizer.querySelector(`[data-key="${CSS.escape(focused)}"]`))?.focus({
        preventScroll: true,
      });
  }

  /** @param {string} key @param {string} mode */
  #chip(key, mode) {
    const { topic } = columnOf(key);
    const view = this.scene?.ownership.of(key) ?? undefined;
    const label = this.labels.partition(key);
    const sentence = chipWords(view, label, (id) => this.names.member(id), this.labels.having.who);
    const owner = mode === 'want' ? '' : mode;
    return h(
      'button',
      {
        class: mode === 'want' ? 'slot' : `chip ${owner}`,
        'data-key': key,
        'aria-label': mode === 'want' ? `${sentence}; target owner` : sentence,
        title: sentence,
      },
      face(columnOf(key), this.labels.prefix(topic), this.labels.shape(topic)),
    );
  }
}

/** @param {{key: string, kind: string}} link @param {Names} names */
const entityName = ({ key, kind }, names) => (kind === 'members' ? names.member(key) : names.partition(key));
