/**
 * The board for more than a dozen members, or more partitions than columns fit: a row of blocks for each member.
 * The grammar is that of the chips: solid owned, hatched given up, dashed should own, dotted without an owner.
 * Blocks that move carry their name; tethers appear when a row or block is pointed at, or a partition chosen.
 * Whoever is in trouble stands above the others, with words: among a hundred rows nobody looks for it. Rows that are short stand in
 * columns beside each other, and are read down one column after another.
 *
 * @typedef {import('../frame/cast.js').Cast} Cast
 * @typedef {import('../frame/labels.js').Labels} Labels
 * @typedef {import('./lanes.js').Scene} Scene
 * @typedef {import('./block.js').Block} Block
 * @typedef {{left: number, head: number, width: number, y: number}} Place of a row: where its column begins, how wide its head is, where the
 *   column ends
 */

import { h, s, sized } from '../shared/dom.js';
import { expressionOf, replacedBy, stillReads, troubledOf } from '../frame/hardships.js';
import { onTextSize, textSize } from '../shared/text-size.js';
import { epochOf, keysOf } from '../frame/view.js';
import { memberWords, plural } from '../frame/words.js';
import { BETWEEN, columnsIn, rowsOf } from './block-rows.js';
import { clip, drawn, GAP, patterns, TALL, widthOf } from './block.js';
import { blockOf, firstOf, heldBlocks } from './held-blocks.js';

const ROW = 17;
const WIDTH_LEAST = 180;
const HEAD = 196;
const HEAD_SMALL = 92;
/** Partitions that are drawn: each is an element of its own. A row has its share of them, and says how many more there are. */
const DRAWN_MOST = 10_000;
/** As many rows stand above the others; a crowd in trouble is told in its own rows. */
const TROUBLED_MOST = 12;
/** Beside a name, for the epoch of a member that is behind. */
const EPOCH = 78;
const EPOCH_SMALL = 34;
/** How wide a letter of the words behind a row's blocks is at most, on average. */
const LETTER = 6.1;

let made = 0;

export class Blocks {
  #picked = /** @type {string | null} */ (null);
  #scene = /** @type {Scene | null} */ (null);
  /** @type {Map<string, Block[]>} */
  #places = new Map();
  /** @type {ResizeObserver} */
  #watch;
  #unwatch;
  #width = 0;
  /** Members, and how many of their partitions are not drawn. @type {Map<string, number>} */
  #more = new Map();

  /**
   * @param {HTMLElement} root
   * @param {object} options
   * @param {Cast} options.cast
   * @param {Labels} options.labels
   * @param {(key: string) => void} [options.onPick]
   */
  constructor(root, { cast, labels, onPick = () => {} }) {
    made += 1;
    this.id = `blocks-${made}`;
    this.root = root;
    this.cast = cast;
    this.labels = labels;
    this.onPick = onPick;
    root.replaceChildren();
    root.className = 'board blocks';
    root.removeAttribute('role');
    // What scrolls must be reached by key.
    root.tabIndex = 0;
    this.svg = s('svg', { role: 'group', 'aria-label': 'Members and the partitions that they own' });
    this.text = h('table.sr');
    root.append(this.svg, this.text);
    this.svg.addEventListener('pointerover', (event) => this.#hover(event));
    this.svg.addEventListener('pointerleave', () => this.#tether(this.#picked));
    this.svg.addEventListener('click', (event) => {
      const key = keyAt(event);
      if (key) this.onPick(key);
    });
    this.#watch = new ResizeObserver(() => {
      if (Math.abs(this.#room - this.#width) > 1) this.#again();
    });
    this.#watch.observe(root);
    this.#unwatch = onTextSize(() => this.#again());
  }

  /** In the drawing's own pixels, which are as large as the text. */
  get #room() {
    return this.root.clientWidth / textSize();
  }

  #again() {
    if (this.#scene) this.render(this.#scene);
  }

  destroy() {
    this.#watch.disconnect();
    this.#unwatch();
    this.root.replaceChildren();
    this.root.className = '';
    this.root.style.removeProperty('--columns');
    for (const name of ['role', 'aria-label', 'tabindex']) this.root.removeAttribute(name);
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
    const width = Math.max(WIDTH_LEAST, this.#room);
    this.#width = width;
    const head = width < 560 ? HEAD_SMALL : HEAD;
    const nodes = [];
    let y = 6;
    this.#places = new Map();
    const blocksMost = Math.floor(DRAWN_MOST / (Object.keys(frame.members).length + 1));

    const unassigned = firstOf(free, blocksMost).map((key) =>
      blockOf(key, 'free', { view: views.get(key), hue: 'x' }, this),
    );
    const pool = this.#line(unassigned, { left: 0, head, width, y: y + 4 }, free.size - unassigned.length);
    const poolHeight = Math.max(30, pool.height + 8);
    nodes.push(
      s('rect', { x: 0, y: 0, width, height: y + poolHeight, fill: 'var(--sunk)' }),
      s('text.nm', { x: 14, y: y + 13 }, this.labels.having.none),
      s('text.dim', { x: 14, y: y + 26 }, free.size ? this.labels.counted(free.size) : 'none'),
      ...pool.nodes,
    );
    y += poolHeight + 8;

    const { held, more } = heldBlocks(scene, this, blocksMost);
    this.#more = more;
    const troubled = new Map(troubledOf(frame, violation, scene.silent).map((one) => [one.member, one]));
    const orderOf = (/** @type {string} */ member) => this.cast.lane(member).order;
    const { rows, rest } = rowsOf(frame, held, { actor: moment?.actor ?? null, troubled, orderOf });
    const first = [...troubled.keys()].slice(0, TROUBLED_MOST);
    const table = [h('tr', h('th', 'Member'), h('th', 'Epoch'), h('th', 'State'), h('th', 'Partitions'))];
    /** @param {string} member @param {Place} place */
    const draw = (member, place) => {
      const row = this.#row(scene, member, held.get(member) ?? [], troubled.get(member), place);
      nodes.push(row.node);
      table.push(row.words);
      return row.height;
    };
    if (first.length) {
      nodes.push(
        s(
          'text.rest',
          { x: 14, y: y + 6 },
          `In trouble: ${plural(troubled.size, 'consumer')}${troubled.size > first.length ? `, of which ${first.length} stand here` : ''}`,
        ),
      );
      y += 14;
      for (const member of first) y += draw(member, { left: 0, head, width, y });
      nodes.push(s('rect.rule', { x: 0, y: y + 5, width, height: 1 }));
      y += 13;
    }
    if (rest) {
      nodes.push(
        s(
          'text.rest',
          { x: 14, y: y + 6 },
          `${rows.length} of ${rows.length + rest} members are drawn: those that change${head === HEAD ? ', then the first by joining' : ', …'}`,
        ),
      );
      y += 16;
    }
    const others = rows.filter((member) => !first.includes(member));
    const named = widthOf(this.labels.partition(views.keys().next().value ?? ''));
    const has = { members: Object.keys(frame.members).length, partitions: views.size, head, named };
    const columns = head === HEAD ? columnsIn(has, width) : 1;
    this.root.style.setProperty('--columns', String(columns));
    const each = Math.ceil(others.length / columns);
    const wide = (width - (columns - 1) * BETWEEN) / columns;
    let bottom = y;
    const clips = [];
    for (let column = 0; column < columns; column += 1) {
      const left = column * (wide + BETWEEN);
      let below = y;
      clips.push(this.#clip(left, head));
      for (const member of others.slice(column * each, (column + 1) * each))
        below += draw(member, { left, head, width: left + wide, y: below });
      bottom = Math.max(bottom, below);
    }
    y = bottom;
    this.tethers = s('g.tethers');
    this.svg.setAttribute('viewBox', `0 0 ${width} ${y + 8}`);
    sized(this.svg, { height: y + 8 });
    const at = this.svg.contains(document.activeElement)
      ? /** @type {SVGElement} */ (document.activeElement).dataset.member
      : null;
    this.svg.replaceChildren(patterns(), ...clips, ...nodes, this.tethers);
    // All rows are new; who walks along them by key stays where they are.
    const again = at
      ? /** @type {SVGElement | null} */ (this.svg.querySelector(`[data-member="${CSS.escape(at)}"]`))
      : null;
    (again ?? this.svg.querySelector('.brow'))?.setAttribute('tabindex', '0');
    again?.focus({ preventScroll: true });
    this.text.replaceChildren(...table);
    this.#tether(this.#picked);
  }

  /** A name of letters that no font here has is far wider than its count of them. @param {number} left of a column @param {number} head */
  #clip(left, head) {
    const room = head - 14 - (head === HEAD ? EPOCH : EPOCH_SMALL);
    const box = { x: left + 14, y: 0, width: room, height: '100%' };
    return s('clipPath', { id: `${this.id}-${Math.round(left)}` }, s('rect', box));
  }

  /**
   * The row of a member, or of a client that is none any more and still reads.
   *
   * @param {Scene} scene
   * @param {string} member
   * @param {Block[]} blocks
   * @param {import('../frame/hardships.js').Troubled | undefined} trouble
   * @param {Place} place
   */
  #row({ frame, moment, violation, silent }, member, blocks, trouble, place) {
    const { left, head, width, y } = place;
    const state = frame.members[member];
    const name = this.cast.name(member);
    const label = (/** @type {string} */ key) => this.labels.partition(key);
    const group = epochOf(frame) ?? 0;
    const wide = head === HEAD;
    const epoch = state ? (state.epoch ?? '') : wide ? 'out' : '';
    const behind = typeof epoch === 'number' && epoch < group;
    const acts = moment?.actor === member;
    const before = acts && moment?.shape === 'replace' ? replacedBy(frame, member, this.cast) : null;
    const known = [...(trouble?.says ?? []), ...(before ? [`2nd process of ${before}, same group.instance.id`] : [])];
    const expression = expressionOf(frame, member)?.regex;
    const text = [
      ...(state ? [memberWords(frame, member, label, silent?.get(member)).says] : []),
      ...known,
      ...(expression ? [`subscribes to ${expression}`] : []),
    ].join('; ');
    const line = this.#line(blocks, { ...place, y: y + 2 }, this.#more.get(member) ?? 0);
    const words = known.length
      ? this.#words(known.join('; '), trouble?.bad ?? false, { ...line, begins: left + head, width, top: y + 2 })
      : null;
    const height = Math.max(ROW, (words?.bottom ?? line.height) + 3);
    const classes = ['brow', acts && 'act', !state && 'outside', violation?.members.includes(member) && 'broken'];
    const title = `${name}${state ? (epoch === '' ? '' : `, epoch ${epoch}${behind ? ` of ${group}` : ''}`) : ', not a member'}: ${text}`;
    const node = s(
      'g',
      {
        class: classes.filter(Boolean).join(' '),
        'data-member': member,
        'data-lane': this.cast.lane(member).key,
        'data-hue': this.cast.lane(member).hue,
        role: 'button',
        tabindex: -1,
      },
      s('title', title),
      s('rect.under', { x: left, y, width: width - left, height }),
      s('rect.edge', { x: left, y, width: 4, height }),
      s(
        'text.nm',
        { x: left + 14, y: y + 12, 'clip-path': `url(#${this.id}-${Math.round(left)})` },
        clip(name, wide ? 15 : 6),
      ),
      s(
        'text',
        { x: left + head - 12, y: y + 12, class: behind ? 'ep behind' : 'ep', 'text-anchor': 'end' },
        behind ? `▲ ${epoch}${wide ? ` of ${group}` : ''}` : epoch,
      ),
      ...line.nodes,
      words?.node ?? null,
    );
    const keys = state ? keysOf(state.assigned) : stillReads(frame, member);
    return {
      node,
      height,
      words: h(
        'tr',
        h('th', name),
        h('td', state ? epoch : 'not a member'),
        h('td', text),
        h('td', keys.map(label).join(', ')),
      ),
    };
  }

  /**
   * What a member suffers, behind its blocks, or below them where they leave no room.
   *
   * @param {string} sentence
   * @param {boolean} bad
   * @param {{x: number, y: number, begins: number, width: number, top: number}} place where the blocks ended, where they begin
   */
  #words(sentence, bad, { x, y, begins, width, top }) {
    const next = x === begins || x + 8 + sentence.length * LETTER < width - 12;
    const left = next && x !== begins ? x + 8 : begins;
    const line = next ? y : y + TALL + GAP;
    const room = Math.max(8, Math.floor((width - 12 - left) / LETTER));
    return {
      node: s(
        'text',
        { x: left, y: line + 10, class: bad ? 'hard bad' : 'hard' },
        sentence.length > room ? `${sentence.slice(0, room - 1)}…` : sentence,
      ),
      bottom: line - top + TALL,
    };
  }

  /** Blocks side by side, wrapped. @param {Block[]} blocks @param {Place} place @param {number} more that are not drawn */
  #line(blocks, { left, head, width, y: top }, more) {
    const begins = left + head;
    let x = begins;
    let y = top;
    const nodes = [];
    for (const block of blocks) {
      if (x + block.width > width - 12 && x > begins) {
        x = begins;
        y += TALL + GAP;
      }
      block.x = x;
      block.y = y;
      x += block.width + GAP;
      nodes.push(drawn(block, this.labels.partition(block.key)));
      const places = this.#places.get(block.key);
      if (places) places.push(block);
      else this.#places.set(block.key, [block]);
    }
    if (more) {
      y += TALL + GAP;
      nodes.push(s('text.rest', { x: begins, y: y + 10 }, `${more.toLocaleString('en')} more are not drawn`));
      x = width;
    }
    return { nodes, x, y, height: blocks.length ? y - top + TALL : 0 };
  }

  /** @param {Event} event */
  #hover(event) {
    this.#tether(keyAt(event) ?? this.#picked);
  }

  /** @param {string | null} key */
  #tether(key) {
    if (!this.tethers) return;
    const places = (key && this.#places.get(key)) || [];
    const from = places.find((block) => block.mode !== 'want' && block.mode !== 'still');
    const to = places.find((block) => block.mode === 'want');
    const marks = places.map((block) =>
      s('rect.mark', { x: block.x - 1.5, y: block.y - 1.5, width: block.width + 3, height: TALL + 3, rx: 3 }),
    );
    const line =
      from && to
        ? [
            s('path', {
              'data-hue': to.hue,
              d: `M${from.x + from.width / 2} ${from.y + TALL / 2}L${to.x + to.width / 2} ${to.y + TALL / 2}`,
            }),
          ]
        : [];
    this.tethers.replaceChildren(...line, ...marks);
  }
}

/** @param {Event} event @returns {string | null} */
function keyAt(event) {
  const node = /** @type {Element} */ (event.target).closest?.('[data-key]');
  return node ? node.getAttribute('data-key') : null;
}
