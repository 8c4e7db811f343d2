/**
 * The event list: one line per step, with arcs from cause to effect through the current one. Only the lines that
 * can be seen exist, so that a log with ten thousand commits scrolls like one with ten.
 *
 * @import {Moment} from '../types'
 * @import {Cast} from '../frame/cast.js'
 */

import { h, hit, s, sized } from '../shared/dom.js';
import { placeWords } from '../timeline/playhead-words.js';
import { rem } from '../shared/text-size.js';
import { countUpTo } from '../timeline/timeline.js';
import { markOf, MEANING } from '../timeline/marks.js';
import { VirtualList } from '../shared/virtual-list.js';
import { shortened, when } from '../frame/words.js';

/** Room for two lines of the sentence; like all measures here in pixels at the usual size of text. */
const LINE = 44;
/** How wide the arcs from effects to causes are. */
const ARCS = 46;
const BEYOND = 12;
/** A chain longer than this is cut: arcs over hundreds of lines cannot be read. */
const CHAIN_MOST = 40;
/** A member's name up to this length leaves room for the sentence in its two lines. */
const NAME_MOST = 14;
/** How wide a digit of a number or of a time is. */
const LETTER = 6.7;
/** Between a time and the disc of who it was. */
const AFTER = 5;

/**
 * The steps that brought the current one about, and those that it brought about in a row.
 *
 * @param {Moment[]} steps
 * @param {number} index
 * @param {(step: Moment) => number | null} [causeIn]
 * @returns {Map<number, number>} effect → cause, as indices
 */
export function chainOf(steps, index, causeIn = (step) => step.cause) {
  /** @type {Map<number, number>} */
  const links = new Map();
  const causeOf = (/** @type {number} */ effect) => {
    const cause = steps[effect] ? causeIn(steps[effect]) : null;
    if (cause === null) return -1;
    let at = countUpTo(steps, cause - 1);
    if (at >= effect || !steps[at]) return -1;
    if (steps[at].first > cause) at -= 1;
    return at >= 0 && at < effect ? at : -1;
  };
  for (let at = index; links.size < CHAIN_MOST;) {
    const cause = causeOf(at);
    if (cause < 0) break;
    links.set(at, cause);
    at = cause;
  }
  let tip = index;
  for (let at = index + 1; at < steps.length && at < index + 200 && links.size < CHAIN_MOST; at += 1) {
    if (causeOf(at) === tip) {
      links.set(at, tip);
      tip = at;
    }
  }
  return links;
}

export class Events {
  /** @type {Moment[]} */
  #steps = [];
  /** @type {number[]} */
  #lines = [];
  #current = -1;
  #start = 0;
  #member = '';
  /** @type {Map<number, number>} */
  #chain = new Map();

  /**
   * @param {object} parts
   * @param {HTMLElement} parts.root
   * @param {HTMLElement} parts.chain shows where the chain goes back to
   * @param {HTMLSelectElement} parts.filter
   * @param {Cast} parts.cast
   * @param {(step: Moment) => number | null} parts.causeOf
   * @param {(step: Moment) => number | null} parts.numberOf
   * @param {(sequence: number) => void} parts.onSeek
   */
  constructor(parts) {
    this.parts = parts;
    const { root, filter, onSeek } = parts;
    this.inner = h('div.lines', { role: 'list' });
    this.arcs = s('svg.arc', { 'aria-hidden': 'true' });
    root.append(this.inner, this.arcs);
    this.lines = new VirtualList({
      root,
      inner: this.inner,
      line: LINE,
      beyond: BEYOND,
      key: 'sequence',
      draw: (from, to) => this.#draw(from, to),
    });
    root.addEventListener('click', (event) => {
      const line = hit(event, '.ev');
      if (line) onSeek(Number(/** @type {HTMLElement} */ (line).dataset.sequence));
    });
    filter.addEventListener('change', () => {
      this.#member = filter.value;
      this.#sift();
      this.#reveal();
    });
  }

  /** @param {Moment[]} steps @param {number} start_ms */
  load(steps, start_ms) {
    this.#steps = steps;
    this.#start = start_ms;
    const lanes = this.parts.cast.lanes;
    const keys = ['', ...lanes.map((lane) => lane.key)];
    const { options } = this.parts.filter;
    if (options.length !== keys.length || keys.some((key, at) => options[at].value !== key)) {
      // A newcomer's lane may have another name by now.
      if (!keys.includes(this.#member)) this.#member = '';
      this.parts.filter.replaceChildren(
        h('option', { value: '' }, 'All members'),
        ...lanes.map((lane) =>
          h('option', { value: lane.key, selected: lane.key === this.#member }, `Only ${lane.name}`),
        ),
      );
    }
    this.#columns();
    this.#sift();
  }

  /** Columns as wide as the longest that is in them, so that all rows stand under each other. */
  #columns() {
    const longest = this.#steps.reduce((most, step) => Math.max(most, when(step.at_ms, this.#start).length), 0);
    const badge = this.parts.cast.lanes.reduce((most, lane) => Math.max(most, lane.badge.length), 1);
    const last = this.#steps[this.#steps.length - 1];
    const number = (last && this.parts.numberOf(last)) ?? 0;
    this.inner.style.setProperty('--number', rem(Math.max(22, String(number).length * LETTER)));
    this.inner.style.setProperty('--when', rem(Math.max(44, longest * LETTER + AFTER)));
    this.inner.style.setProperty('--who', rem(badge > 2 ? 34 : 22));
  }

  /** Only what this member did; again, everything. @param {string} lane */
  only(lane) {
    this.parts.filter.value = this.parts.filter.value === lane ? '' : lane;
    this.parts.filter.dispatchEvent(new Event('change'));
  }

  /** @param {number} position the number of the list's steps up to the playhead */
  move(position) {
    this.#current = position - 1;
    this.#chain = chainOf(this.#steps, this.#current, this.parts.causeOf);
    let root = this.#current;
    while (this.#chain.has(root)) root = /** @type {number} */ (this.#chain.get(root));
    const back =
      root === this.#current
        ? 'No earlier step is known to have caused it'
        : `Caused by ${this.#placeOf(this.#steps[root])}: ${shortened(this.#steps[root].says)}`;
    this.parts.chain.textContent = root < 0 ? '' : back;
    this.parts.chain.title = this.#steps[root]?.says ?? '';
    this.#reveal();
  }

  /** @param {Moment} step */
  #placeOf(step) {
    return placeWords(this.parts.numberOf(step), step.sequence);
  }

  #sift() {
    this.#lines = [];
    this.#steps.forEach((step, index) => {
      const lane = this.parts.cast.knows(step.actor) ? this.parts.cast.lane(step.actor).key : '';
      if (!this.#member || lane === this.#member) this.#lines.push(index);
    });
    this.lines.count = this.#lines.length;
  }

  #reveal() {
    this.lines.reveal(this.#lineOf(this.#current));
    this.lines.draw();
  }

  /** @param {number} index */
  #lineOf(index) {
    if (!this.#member) return index;
    return this.#lines.indexOf(index);
  }

  /** @param {number} from @param {number} to */
  #draw(from, to) {
    const chained = new Set([...this.#chain.keys(), ...this.#chain.values()]);
    const nodes = [];
    for (let line = from; line < to; line += 1) {
      const index = this.#lines[line];
      nodes.push(this.#line(index, line, chained.has(index) && index !== this.#current));
    }
    this.#arc();
    return nodes;
  }

  /** @param {number} index @param {number} line @param {boolean} chained */
  #line(index, line, chained) {
    const step = this.#steps[index];
    const before = this.#steps[index - 1];
    const starts = before && step.epoch !== before.epoch;
    const actor = this.parts.cast.knows(step.actor) ? this.parts.cast.lane(step.actor) : null;
    // A long name would leave no room for what happened; the disc shows who it was.
    const named = actor && actor.name.length > NAME_MOST && step.says.startsWith(`${actor.name} `);
    const text = shortened(named ? step.says.slice(actor.name.length + 1) : step.says);
    const future = index > this.#current && 'future';
    const node = h(
      'button',
      {
        class: ['ev', starts && 'ep', chained && 'chain', future, step.shape === 'violation' && 'bad'],
        'data-sequence': step.sequence,
        'aria-current': index === this.#current ? 'step' : null,
        title: step.says,
      },
      h('span'),
      // Read out as one sentence; what is seen is in columns.
      h('span.sr', `${this.#placeOf(step)}, ${when(step.at_ms, this.#start)}: ${step.says}`),
      h('span.num', { 'aria-hidden': 'true' }, this.parts.numberOf(step) ?? ''),
      h('span.num', { 'aria-hidden': 'true' }, when(step.at_ms, this.#start)),
      step.shape === 'violation' || step.shape === 'fail_over'
        ? s(
            'svg',
            {
              width: 18,
              height: 18,
              viewBox: '-9 -9 18 18',
              role: 'img',
              'aria-label': MEANING[step.shape],
              'data-hue': 'x',
            },
            markOf(step.shape),
          )
        : actor
          ? h('span.who', { 'data-hue': actor.hue, title: actor.name, 'aria-hidden': 'true' }, actor.badge)
          : s(
              'svg',
              { width: 18, height: 18, viewBox: '0 0 18 18', role: 'img', 'aria-label': 'coordinator' },
              s('path', {
                d: 'M9 3.5 14.5 9 9 14.5 3.5 9z',
                fill: 'none',
                stroke: 'currentColor',
                'stroke-width': 1.5,
              }),
            ),
      h('span.tx', { 'aria-hidden': 'true' }, text),
    );
    node.style.top = rem(line * LINE);
    return h('div', { role: 'listitem' }, node);
  }

  #arc() {
    const height = this.#lines.length * LINE;
    this.arcs.setAttribute('viewBox', `0 0 ${ARCS} ${height}`);
    sized(this.arcs, { width: ARCS, height });
    const nodes = [];
    for (const [effect, cause] of this.#chain) {
      const b = this.#lineOf(effect);
      const a = this.#lineOf(cause);
      if (a < 0 || b < 0) continue;
      const y1 = (a + 0.5) * LINE;
      const y2 = (b + 0.5) * LINE;
      const bend = Math.min(30, 8 + (b - a) * 5);
      const lit = effect === this.#current ? ' lit' : '';
      nodes.push(
        s('path', { class: `line${lit}`, d: `M41 ${y1}C${41 - bend} ${y1},${41 - bend} ${y2},36 ${y2}` }),
        s('path', { class: `tip${lit}`, d: `M35 ${y2 - 4}l7 4-7 4z` }),
      );
    }
    this.arcs.replaceChildren(...nodes);
  }
}
