/**
 * The board for more than a dozen members, or more partitions than columns fit: a row of blocks for each member.
 * The grammar is that of the chips: solid owned, hatched given up, dashed should own, dotted without an owner.
 * Blocks that move carry their name; tethers appear when a row or block is pointed at, or a partition chosen.
 *
 * @typedef {import('../types').PartitionView} PartitionView
 * @typedef {import('../cast.js').Cast} Cast
 * @typedef {import('../labels.js').Labels} Labels
 * @typedef {import('./lanes.js').Scene} Scene
 * @typedef {{key: string, mode: 'own' | 'leaving' | 'revoking' | 'twice' | 'want' | 'free', x: number, y: number,
 *   width: number, hue: string, says: string}} Block
 */

import { h, s } from '../dom.js';
import { hardshipsOf } from '../hardships.js';
import { epochOf, keysOf } from '../view.js';
import { memberSays } from '../words.js';
import { chipSays } from './chips.js';

const ROW = 17;
const SIDE = 11;
/** High enough for a name between its lines. */
const TALL = 13;
const GAP = 2;
const HEAD = 196;
const HEAD_SMALL = 92;
/** With more rows than this the rows at rest are counted and not drawn; those that change always are. */
const ROWS_MOST = 300;

export class Blocks {
  #picked = /** @type {string | null} */ (null);
  #scene = /** @type {Scene | null} */ (null);
  /** @type {Map<string, Block[]>} */
  #places = new Map();
  /** @type {ResizeObserver} */
  #watch;
  #width = 0;

  /**
   * @param {HTMLElement} root
   * @param {object} options
   * @param {Cast} options.cast
   * @param {Labels} options.labels
   * @param {(key: string) => void} [options.onPick]
   */
  constructor(root, { cast, labels, onPick = () => {} }) {
    this.root = root;
    this.cast = cast;
    this.labels = labels;
    this.onPick = onPick;
    root.replaceChildren();
    root.className = 'board blocks';
    root.removeAttribute('role');
    this.svg = s('svg', { role: 'img', 'aria-label': 'Members and the partitions that they own' });
    this.text = h('table', { class: 'sr' });
    root.append(this.svg, this.text);
    this.svg.addEventListener('pointerover', (event) => this.#hover(event));
    this.svg.addEventListener('pointerleave', () => this.#tether(this.#picked));
    this.svg.addEventListener('click', (event) => {
      const key = keyAt(event);
      if (key) this.onPick(key);
    });
    this.#watch = new ResizeObserver(() => {
      if (Math.abs(root.clientWidth - this.#width) > 1 && this.#scene) this.render(this.#scene);
    });
    this.#watch.observe(root);
  }

  destroy() {
    this.#watch.disconnect();
    this.root.replaceChildren();
    this.root.className = '';
  }

  /** @param {string | null} key */
  pick(key) {
    this.#picked = key;
    this.#tether(key);
  }

  /** @param {Scene} scene */
  render(scene) {
    this.#scene = scene;
    const { frame, moment, views, free, violation } = scene;
    const width = Math.max(320, this.root.clientWidth);
    this.#width = width;
    const head = width < 560 ? HEAD_SMALL : HEAD;
    const nodes = [];
    let y = 6;
    this.#places = new Map();

    const pool = this.#line([...free].map((key) => this.#block(key, 'free', views.get(key), 'x')), head, width, y + 4);
    const poolHeight = Math.max(30, pool.height + 8);
    nodes.push(
      s('rect', { x: 0, y: 0, width, height: y + poolHeight, fill: 'var(--sunk)' }),
      s('text', { x: 14, y: y + 13, class: 'nm' }, `No ${this.labels.having.who}`),
      s('text', { x: 14, y: y + 26, class: 'dim' }, free.size ? this.labels.counted(free.size) : 'none'),
      ...pool.nodes,
    );
    y += poolHeight + 8;

    const held = this.#held(scene);
    const { rows, rest } = this.#rows(frame, held, moment?.actor ?? null);
    if (rest) {
      nodes.push(s('text', { x: 14, y: y + 6, class: 'rest' }, `${rows.length} of ${rows.length + rest} members are drawn: those that change, then the first by joining`));
      y += 16;
    }
    const table = [h('tr', {}, h('th', {}, 'Member'), h('th', {}, 'Epoch'), h('th', {}, 'State'), h('th', {}, 'Partitions'))];
    const group = epochOf(frame) ?? 0;
    for (const member of rows) {
      const lane = this.cast.lane(member);
      const state = frame.members[member];
      const says = memberSays(frame, member, (key) => this.labels.partition(key));
      const hard = hardshipsOf(frame, member).map((one) => one.says);
      const behind = typeof state.epoch === 'number' && state.epoch < group;
      const line = this.#line(held.get(member) ?? [], head, width, y + 2);
      const height = Math.max(ROW, line.height + 3);
      const name = this.cast.name(member);
      const epoch = state.epoch ?? '';
      nodes.push(s(
        'g', { class: ['brow', moment?.actor === member && 'act', violation?.members.includes(member) && 'broken'].filter(Boolean).join(' '), 'data-member': member, 'data-hue': lane.hue },
        s('title', {}, `${name}${epoch === '' ? '' : `, epoch ${epoch}${behind ? ` of ${group}` : ''}`}: ${[says.says, ...hard].join('; ')}`),
        s('rect', { class: 'under', x: 0, y, width, height }),
        s('rect', { class: 'edge', x: 0, y, width: 4, height }),
        s('text', { x: 14, y: y + 12, class: 'nm' }, clip(name, head === HEAD ? 15 : 7)),
        s('text', { x: head - 12, y: y + 12, class: behind ? 'ep behind' : 'ep', 'text-anchor': 'end' }, behind ? `▲ ${epoch}${head === HEAD ? ` of ${group}` : ''}` : epoch),
        ...line.nodes,
      ));
      y += height;
      table.push(h(
        'tr', {}, h('th', {}, name), h('td', {}, epoch), h('td', {}, [says.says, ...hard].join('; ')),
        h('td', {}, keysOf(state.assigned).map((key) => this.labels.partition(key)).join(', ')),
      ));
    }
    this.tethers = s('g', { class: 'tethers' });
    this.svg.setAttribute('viewBox', `0 0 ${width} ${y + 8}`);
    this.svg.setAttribute('height', String(y + 8));
    this.svg.replaceChildren(patterns(), ...nodes, this.tethers);
    this.text.replaceChildren(...table);
    this.#tether(this.#picked);
  }

  /** The blocks of each member. @param {Scene} scene @returns {Map<string, Block[]>} */
  #held({ frame, views }) {
    /** @type {Map<string, Block[]>} */
    const held = new Map(Object.keys(frame.members).map((member) => [member, []]));
    for (const view of views.values()) {
      for (const holder of view.holders) {
        held.get(holder)?.push(this.#block(view.key, view.mode, view, this.cast.lane(holder).hue));
      }
      for (const member of frame.protocol === 'share' ? view.wanted : view.wants ? [view.wants] : []) {
        if (!view.holders.includes(member)) held.get(member)?.push(this.#block(view.key, 'want', view, this.cast.lane(member).hue));
      }
    }
    for (const blocks of held.values()) blocks.sort((a, b) => a.key.localeCompare(b.key, 'en', { numeric: true }));
    return held;
  }

  /**
   * @param {import('../types').Frame} frame
   * @param {Map<string, Block[]>} held
   * @param {string | null} actor
   */
  #rows(frame, held, actor) {
    const all = Object.keys(frame.members).sort((a, b) => this.cast.lane(a).order - this.cast.lane(b).order);
    if (all.length <= ROWS_MOST) return { rows: all, rest: 0 };
    const changes = (/** @type {string} */ member) =>
      member === actor || (held.get(member) ?? []).some((block) => block.mode !== 'own');
    const chosen = new Set(all.filter(changes).slice(0, ROWS_MOST));
    for (const member of all) {
      if (chosen.size >= ROWS_MOST) break;
      chosen.add(member);
    }
    return { rows: all.filter((member) => chosen.has(member)), rest: all.length - chosen.size };
  }

  /**
   * @param {string} key
   * @param {Block['mode']} mode
   * @param {PartitionView | undefined} view
   * @param {string} hue
   * @returns {Block}
   */
  #block(key, mode, view, hue) {
    const label = this.labels.partition(key);
    const says = chipSays(view, label, (member) => this.cast.name(member), this.labels.having.who);
    const named = mode !== 'own' && mode !== 'free';
    return { key, mode, x: 0, y: 0, width: named ? label.length * 5.8 + 10 : SIDE, hue, says };
  }

  /** Blocks side by side, wrapped. @param {Block[]} blocks @param {number} head @param {number} width @param {number} top */
  #line(blocks, head, width, top) {
    let x = head;
    let y = top;
    const nodes = [];
    for (const block of blocks) {
      if (x + block.width > width - 12 && x > head) {
        x = head;
        y += TALL + GAP;
      }
      block.x = x;
      block.y = y;
      x += block.width + GAP;
      nodes.push(draw(block, this.labels.partition(block.key)));
      const places = this.#places.get(block.key);
      if (places) places.push(block);
      else this.#places.set(block.key, [block]);
    }
    return { nodes, height: blocks.length ? y - top + TALL : 0 };
  }

  /** @param {Event} event */
  #hover(event) {
    this.#tether(keyAt(event) ?? this.#picked);
  }

  /** @param {string | null} key */
  #tether(key) {
    if (!this.tethers) return;
    const places = (key && this.#places.get(key)) || [];
    const from = places.find((block) => block.mode !== 'want');
    const to = places.find((block) => block.mode === 'want');
    const marks = places.map((block) => s('rect', {
      class: 'mark', x: block.x - 1.5, y: block.y - 1.5, width: block.width + 3, height: TALL + 3, rx: 3,
    }));
    const line = from && to ? [s('path', {
      'data-hue': to.hue, d: `M${from.x + from.width / 2} ${from.y + TALL / 2}L${to.x + to.width / 2} ${to.y + TALL / 2}`,
    })] : [];
    this.tethers.replaceChildren(...line, ...marks);
  }
}

/** @param {Block} block @param {string} label */
function draw(block, label) {
  const wide = block.width > SIDE;
  return s(
    'g', { class: `block ${block.mode}`, 'data-key': block.key, 'data-hue': block.hue },
    s('title', {}, block.says),
    s('rect', { x: block.x + 0.75, y: block.y + 0.75, width: block.width - 1.5, height: TALL - 1.5, rx: 2 }),
    block.mode === 'revoking' ? s('rect', { class: 'hatch', x: block.x + 0.75, y: block.y + 0.75, width: block.width - 1.5, height: TALL - 1.5, rx: 2 }) : null,
    wide ? s('text', { x: block.x + block.width / 2, y: block.y + 9.7, 'text-anchor': 'middle' }, label) : null,
  );
}

function patterns() {
  return s('defs', {}, ['0', '1', '2', '3', '4', '5', 'x'].map((hue) => s(
    'pattern', { id: `block-hatch-${hue}`, width: 5, height: 5, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
    s('rect', { width: 1.6, height: 5, fill: `var(--m${hue})`, 'fill-opacity': 0.45 }),
  )));
}

/** @param {Event} event @returns {string | null} */
function keyAt(event) {
  const node = /** @type {Element} */ (event.target).closest?.('[data-key]');
  return node ? node.getAttribute('data-key') : null;
}

/** @param {string} text @param {number} most */
const clip = (text, most) => (text.length > most ? `…${text.slice(1 - most)}` : text);
