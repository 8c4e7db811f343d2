/**
 * Over the rows: the whole timeline with the window in it, epochs, the group's state, events, and how many partitions
 * are unassigned; and the playhead that runs down through all rows. It stays in sight while the rows scroll.
 *
 * @import {GroupWindow} from '../types'
 * @import {Scale} from './scale.js'
 * @import {Window} from './types'
 */

import { h, hit, rect, s, sized, text } from '../shared/dom.js';
import { rem, textSize } from '../shared/text-size.js';
import { grouped } from '../shared/numbers.js';
import { markOf } from '../timeline/marks.js';
import { when } from '../frame/words.js';

export const HEIGHT = 92;
const TOP = { all: 4, epoch: 30, state: 40, events: 62, none: 76 };
const ALL_PX = 14;
const NONE_PX = 12;
/** Marks of events stand at least so far apart; those of problems come first. */
const MARK_PX = 13;
const LETTER_PX = 6.6;
/** A tick's text is about so wide. */
const TICK_PX = 70;

export class Strip {
  /**
   * @param {HTMLElement} root
   * @param {object} options
   * @param {(actor: string | null) => string} options.hueOf
   * @param {(sequence: number) => void} options.onSeek
   * @param {(place: number) => void} options.onPan the middle of the window, as a place on the whole
   */
  constructor(root, { hueOf, onSeek, onPan }) {
    this.root = root;
    this.hueOf = hueOf;
    this.onSeek = onSeek;
    this.onPan = onPan;
    this.svg = s('svg.mstrip-svg', { 'aria-hidden': 'true' });
    this.flag = h('span.mflag');
    this.line = h('div.mplayhead', this.flag);
    this.veil = h('div.mveil');
    this.band = h('div.rband', { hidden: true, 'aria-hidden': 'true' });
    this.epochs = h('div.mepochs', { 'aria-hidden': 'true' });
    this.ticks = h('div.mticks', { 'aria-hidden': 'true' });
    root.append(this.svg);
    this.#wire();
  }

  #gutter = 0;
  #width = 1;
  #scale = /** @type {Scale | null} */ (null);

  /**
   * All that does not move with the playhead.
   *
   * @param {object} what
   * @param {GroupWindow | null} what.group
   * @param {GroupWindow | null} what.whole
   * @param {Scale | null} what.scale of the window
   * @param {Scale | null} what.far of the whole
   * @param {Window} what.window
   * @param {number} what.gutter in pixels at the usual size of text
   * @param {number} what.width of the plot
   * @param {number} what.start_ms
   * @param {string} what.none how "unassigned" is called here
   */
  render({ group, whole, scale, far, window, gutter, width, start_ms, none }) {
    this.#gutter = gutter;
    this.#width = width;
    this.#scale = scale;
    const small = gutter < 140;
    const at = (/** @type {number} */ place) => gutter + place * width;
    const label = (/** @type {number} */ y, /** @type {string} */ sentence) => text(12, y, sentence, 'dim');
    const nodes = [
      label(TOP.all + 11, small ? 'All' : 'Whole timeline'),
      label(TOP.epoch + 4, small ? 'Epoch' : 'Epoch, state'),
      label(TOP.events + 4, 'Events'),
      label(TOP.none + 10, none),
    ];
    if (whole && far) nodes.push(...this.#all(whole, far, window, at));
    if (group && scale) {
      nodes.push(...states(group, scale, at, gutter, width, TOP.state, 9));
      const starts = epochs(group, scale, at, gutter + width);
      nodes.push(...starts.labels);
      this.epochs.replaceChildren(
        ...starts.places.map((x) => {
          const line = h('i');
          line.style.left = rem(x);
          return line;
        }),
        ...unknown(group, scale, at),
      );
      nodes.push(...this.#events(group, scale, at, gutter, width));
      nodes.push(area(group, scale, at, TOP.none, NONE_PX, gutter, width));
    }
    this.svg.setAttribute('viewBox', `0 0 ${gutter + width} ${HEIGHT}`);
    sized(this.svg, { width: gutter + width, height: HEIGHT });
    this.svg.replaceChildren(...nodes);
    let free = -Infinity;
    // Entries without a moment between them lie on one place.
    const ticks = (scale ? scale.ticks(width) : []).filter(({ place }) => {
      if (place < 0 || place > 1 || place * width < free) return false;
      free = place * width + TICK_PX;
      return true;
    });
    this.ticks.replaceChildren(
      ...ticks.map(({ at: value, place }) => {
        const node = h('span', scale?.axis === 'time' ? when(value, start_ms) : `entry ${grouped(value)}`);
        node.style.left = rem(at(place));
        return node;
      }),
    );
  }

  /** @param {GroupWindow} whole @param {Scale} far @param {Window} window @param {(place: number) => number} at */
  #all(whole, far, window, at) {
    const [from, to] = [at(Math.max(0, far.of(window.from))), at(Math.min(1, far.of(window.to)))];
    const here = window.from > whole.from || window.to < whole.to;
    return [
      s('rect.mall', { x: at(0), y: TOP.all, width: at(1) - at(0), height: ALL_PX, rx: 2 }),
      ...states(whole, far, at, at(0), at(1) - at(0), TOP.all, ALL_PX, false),
      area(whole, far, at, TOP.all, ALL_PX, at(0), at(1) - at(0)),
      rect([from, TOP.all - 1.5, Math.max(6, to - from), ALL_PX + 3], {
        class: here ? 'mhere zoomed' : 'mhere',
        rx: 3,
      }),
    ];
  }

  /** @param {GroupWindow} group @param {Scale} scale @param {(place: number) => number} at @param {number} gutter @param {number} width */
  #events(group, scale, at, gutter, width) {
    const taken = new Uint8Array(Math.ceil((gutter + width) / MARK_PX) + 2);
    const nodes = [];
    for (const problem of [true, false]) {
      for (const event of group.events) {
        if (event.problem !== problem) continue;
        const x = at(scale.of(event.first, event.from_ms));
        if (x < gutter - 1 || x > gutter + width) continue;
        const slot = Math.floor(x / MARK_PX);
        if (taken[slot] || taken[slot + 1]) continue;
        taken[slot] = 1;
        taken[slot + 1] = 1;
        const mark = s('g', {
          class: `event${problem ? ' problem' : ''}`,
          transform: `translate(${x.toFixed(1)} ${TOP.events})`,
          'data-hue': this.hueOf(event.actor),
          'data-at': event.first,
        });
        mark.append(
          s('title', event.says),
          s('rect', { x: -8, y: -9, width: 16, height: 18, fill: 'transparent' }),
          markOf(event.shape),
        );
        nodes.push(mark);
      }
    }
    return nodes;
  }

  /** The selected range, where it is in sight. @param {Window | null} range */
  select(range) {
    const [from, to] = range && this.#scale ? [this.#scale.of(range.from), this.#scale.of(range.to)] : [2, 2];
    const [left, right] = [Math.min(1, Math.max(0, from)), Math.min(1, Math.max(0, to))];
    this.band.hidden = from > 1 || to < 0;
    this.band.style.left = rem(this.#gutter + left * this.#width);
    this.band.style.width = rem(Math.max(2, (right - left) * this.#width));
  }

  /** The playhead: a line that is moved, with nothing else drawn again. @param {number | null} place @param {string} words */
  move(place, words) {
    const seen = place !== null && place >= -0.002 && place <= 1.002;
    this.line.hidden = !seen;
    const x = this.#gutter + Math.min(1, Math.max(0, place ?? 0)) * this.#width;
    this.line.style.transform = `translateX(${rem(x)})`;
    this.veil.style.transform = `translateX(${rem(x)})`;
    this.veil.style.width = rem(Math.max(0, this.#gutter + this.#width - x));
    this.veil.hidden = place !== null && place > 1;
    if (this.flag.textContent !== words) this.flag.textContent = words;
    const edge = words.length * LETTER_PX * 0.6;
    this.flag.style.marginLeft = rem(Math.max(0, edge - x) - Math.max(0, x + edge - this.#gutter - this.#width));
  }

  #wire() {
    let down = /** @type {'all' | 'head' | null} */ (null);
    const act = (/** @type {PointerEvent} */ event) => {
      const box = this.svg.getBoundingClientRect();
      const place = ((event.clientX - box.left) / textSize() - this.#gutter) / this.#width;
      if (down === 'all') this.onPan(Math.min(1, Math.max(0, place)));
      else if (this.#scale) this.onSeek(this.#scale.at(Math.min(1, Math.max(0, place))));
    };
    this.root.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      const mark = hit(event, '[data-at]');
      if (mark) {
        this.onSeek(Number(mark.getAttribute('data-at')));
        return;
      }
      const box = this.svg.getBoundingClientRect();
      down = (event.clientY - box.top) / textSize() < TOP.all + ALL_PX + 5 ? 'all' : 'head';
      this.root.setPointerCapture(event.pointerId);
      act(event);
    });
    this.root.addEventListener('pointermove', (event) => {
      if (down) act(event);
    });
    for (const name of ['pointerup', 'pointercancel'])
      this.root.addEventListener(name, () => {
        down = null;
      });
  }
}

/** @param {GroupWindow} group @param {Scale} scale @param {(place: number) => number} at @param {number} right */
function epochs(group, scale, at, right) {
  const labels = [];
  const places = [];
  let free = -Infinity;
  for (const { epoch, sequence, at_ms } of group.epochs) {
    const x = at(scale.of(sequence, at_ms));
    if (x < at(0) - 1 || x > right) continue;
    const label = String(epoch);
    if (x < free) continue;
    places.push(x);
    if (x + 4 + label.length * LETTER_PX < right) labels.push(text(x + 4, TOP.epoch + 3, label, 'mono'));
    free = x + label.length * LETTER_PX + 9;
  }
  return { labels, places };
}

/**
 * Stretches whose entries nobody has looked at yet: rows say nothing there, which is not that nothing was so.
 *
 * @param {GroupWindow} group @param {Scale} scale @param {(place: number) => number} at
 */
function unknown({ columns }, scale, at) {
  const nodes = [];
  const edges = scale.edges(columns, 1);
  for (let index = 0; index < columns.first.length; index += 1) {
    if (!columns.unknown?.[index]) continue;
    const begin = index;
    while (columns.unknown[index + 1]) index += 1;
    const node = h('b', 'not read yet');
    node.style.left = rem(at(edges[begin]));
    node.style.width = rem(at(edges[index + 1]) - at(edges[begin]));
    nodes.push(node);
  }
  return nodes;
}

const QUIET = new Set(['Stable', 'Empty', 'Dead', 'unknown']);

/**
 * @param {GroupWindow} group @param {Scale} scale @param {(place: number) => number} at @param {number} left @param {number} width
 * @param {number} y @param {number} height @param {boolean} [named]
 */
function states(group, scale, at, left, width, y, height, named = true) {
  const nodes = [];
  let free = -Infinity;
  for (const { state, from, to, from_ms, to_ms } of group.states) {
    if (state === 'unknown' || (!named && QUIET.has(state))) continue;
    const x = Math.max(left, at(scale.of(from, from_ms)));
    const end = Math.min(left + width, to === null ? left + width : at(scale.of(to, to_ms)));
    // Of stretches thinner than a pixel one has the words of all that meet there.
    if (end < left || x > left + width || (end - x < 1 && x < free)) continue;
    free = x + 1;
    const wide = Math.max(1, end - x - (named ? 1 : 0));
    nodes.push(
      rect(
        [x, y, wide, height],
        { class: `gstate ${QUIET.has(state) ? 'quiet' : 'busy'}`, 'data-s': state, rx: named ? 2 : 0 },
        s('title', state),
      ),
    );
  }
  return nodes;
}

/** How many partitions are unassigned, as one shape. @param {GroupWindow} group @param {Scale} scale @param {(place: number) => number} at @param {number} y @param {number} height @param {number} left @param {number} width */
function area(group, scale, at, y, height, left, width) {
  const { unassigned, columns } = group;
  let most = 1;
  for (let index = 0; index < unassigned.length; index += 1) most = Math.max(most, unassigned[index]);
  let d = '';
  const base = y + height;
  for (let index = 0; index < columns.first.length; index += 1) {
    if (!unassigned[index]) continue;
    const x = Math.max(left, at(scale.of(columns.first[index], columns.from_ms[index])));
    const next =
      index + 1 < columns.first.length
        ? at(scale.of(columns.first[index + 1], columns.from_ms[index + 1]))
        : left + width;
    const end = Math.min(left + width, Math.max(x + 1, next));
    if (end <= left || x > left + width) continue;
    // A root, so that one partition among thousands is seen.
    const top = base - Math.max(2, height * Math.sqrt(unassigned[index] / most));
    d += `M${x.toFixed(1)} ${base}V${top.toFixed(1)}H${end.toFixed(1)}V${base}z`;
  }
  return s('path.mnone', { d });
}
