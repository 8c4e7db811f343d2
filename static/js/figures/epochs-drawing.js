/**
 * Epochs over time as a plain drawing: the same staircases that Plotly draws once a reader turns to them. It moves its playhead for
 * nothing, and it is all that a page has which needs no server: Plotly's script alone would be three times as large as such a page.
 *
 * @import {Cast} from '../frame/cast.js'
 * @import {EpochsFigure, Trace} from './epochs-words.js'
 */

import { h, s, text } from '../shared/dom.js';
import { setApart, showLegend, showTable } from './epochs-words.js';
import { onTextSize, textSize } from '../shared/text-size.js';
import { CLOCK_FROM_MS, onZone } from '../shared/times.js';
import { messageOf } from '../shared/errors.js';
import { when } from '../frame/words.js';

const HIGH = 250;
const [RIGHT, TOP, BOTTOM] = [14, 8, 26];
/** Room for labels of so many digits, and for each digit more. */
const LEFT = { digits: 3, least: 44, digit: 8 };
const TICKS_MOST = 8;
const RESIZED_MS = 80;

/** Whole numbers from the lowest to the highest, few enough to be read. @param {number} lowest @param {number} highest */
export function epochTicks(lowest, highest) {
  const every = Math.max(1, Math.ceil((highest - lowest) / TICKS_MOST));
  return Array.from({ length: Math.floor((highest - lowest) / every) + 1 }, (_, at) => lowest + at * every);
}

/** How far the figure is from the left edge, so that the label of its highest epoch is whole. @param {number} highest */
export const leftOf = (highest) => LEFT.least + LEFT.digit * Math.max(0, String(highest).length - LEFT.digits);

/**
 * A staircase as a path; it ends where its member is gone.
 *
 * @param {Trace} trace @param {number} apart
 * @param {(ms: number) => number} x @param {(epoch: number) => number} y
 */
export function staircase(trace, apart, x, y) {
  let drawn = false;
  return trace.x
    .map((ms, at) => {
      const epoch = trace.y[at];
      const across = x(ms).toFixed(1);
      const was = drawn;
      drawn = epoch !== null;
      if (epoch === null) return was ? `H${across}` : '';
      const up = y(epoch - apart).toFixed(1);
      return was ? `H${across}V${up}` : `M${across} ${up}`;
    })
    .join('');
}

export class EpochsDrawing {
  /** @type {EpochsFigure | null} */
  #figure = null;
  #at_ms = 0;
  /** @type {SVGElement | null} */
  #head = null;
  #x = (/** @type {number} */ _ms) => 0;
  #resizes = /** @type {ResizeObserver | null} */ (null);
  #revision = 0;

  /**
   * @param {object} parts
   * @param {HTMLElement} parts.plot
   * @param {HTMLElement} parts.table
   * @param {HTMLElement} parts.legend
   * @param {Cast} parts.cast
   * @param {() => Promise<EpochsFigure>} parts.fetchFigure
   * @param {(sequence: number) => void} parts.onSeek
   */
  constructor(parts) {
    this.parts = parts;
  }

  /** Call once the board is alive. */
  async watch() {
    let resized = /** @type {any} */ (null);
    // A panel that the reader's view hides has no width until it is shown.
    this.#resizes = new ResizeObserver(() => {
      clearTimeout(resized);
      resized = setTimeout(() => this.#draw(), RESIZED_MS);
    });
    this.#resizes.observe(this.parts.plot);
    onZone(() => this.#draw());
    onTextSize(() => this.#draw());
    await this.refresh();
  }

  /** Its figure as it was fetched last; null before. */
  get figure() {
    return this.#figure;
  }

  /** Something else is drawn in its place from now on. */
  stop() {
    this.#revision += 1;
    this.#resizes?.disconnect();
    this.#figure = null;
    this.#head = null;
  }

  /** @param {number} _sequence @param {number} at_ms */
  move(_sequence, at_ms) {
    this.#at_ms = at_ms;
    const across = this.#x(at_ms).toFixed(1);
    this.#head?.setAttribute('x1', across);
    this.#head?.setAttribute('x2', across);
  }

  /** Fetches the figure and draws it; of several at once, the last one stays. */
  async refresh() {
    this.#revision += 1;
    const revision = this.#revision;
    /** @type {EpochsFigure} */
    let figure;
    try {
      figure = await this.parts.fetchFigure();
    } catch (error) {
      if (revision === this.#revision && !this.#figure)
        this.parts.plot.replaceChildren(h('p.why', messageOf(error, 'No figure.')));
      return;
    }
    if (revision !== this.#revision) return;
    if (!figure.data.length) {
      this.parts.plot.replaceChildren(h('p.why', 'No epoch yet.'));
      return;
    }
    this.#figure = figure;
    showLegend(this.parts.legend, this.parts.cast, figure.data);
    showTable(this.parts.table, this.parts.cast, figure.data);
    this.#draw();
  }

  #draw() {
    const figure = this.#figure;
    const wide = this.parts.plot.clientWidth / textSize();
    if (!figure || !wide) return;
    const { data, layout } = figure;
    const times = data.flatMap((trace) => trace.x);
    const epochs = data.flatMap((trace) => trace.y).filter((epoch) => epoch !== null);
    const [first, last] = [Math.min(...times), Math.max(...times)];
    const highest = Math.max(...epochs);
    const lowest = layout.yaxis?.rangemode === 'tozero' ? 0 : Math.min(...epochs);
    const left = leftOf(highest);
    this.#x = (ms) => left + ((wide - left - RIGHT) * (ms - first)) / Math.max(1, last - first);
    const y = (/** @type {number} */ epoch) =>
      HIGH - BOTTOM - ((HIGH - TOP - BOTTOM) * (epoch - lowest + 0.4)) / Math.max(1, highest - lowest + 0.6);
    const apart = setApart(data);
    const shown = Math.max(2, Math.min(6, Math.floor((wide - left) / 110)));
    const marks = Array.from({ length: shown }, (_, at) => first + ((last - first) * at) / (shown - 1));
    const start = first > CLOCK_FROM_MS ? first : 0;
    this.#head = s('line', { y1: TOP, y2: HIGH - BOTTOM, stroke: 'var(--ink)', 'stroke-width': 1.6 });
    const title = layout.yaxis?.title?.text ?? 'epoch';
    const svg = s(
      'svg',
      { viewBox: `0 0 ${wide} ${HIGH}`, width: wide, height: HIGH, role: 'img', 'aria-label': `${title} over time` },
      epochTicks(lowest, highest)
        .map((epoch) => [
          s('line', { x1: left, x2: wide - RIGHT, y1: y(epoch), y2: y(epoch), stroke: 'var(--line)' }),
          text(left - 6, y(epoch) + 4, String(epoch), 'tick', 'end'),
        ])
        .flat(),
      marks.map((ms, at) =>
        text(
          this.#x(ms),
          HIGH - 8,
          when(Math.round(ms), start),
          'tick',
          at ? (at === shown - 1 ? 'end' : 'middle') : 'start',
        ),
      ),
      data.map((trace, at) => this.#line(trace, staircase(trace, apart[at], this.#x, y))),
      this.#head,
    );
    svg.addEventListener('click', (event) => this.#seek(/** @type {MouseEvent} */ (event), svg, y));
    this.parts.plot.replaceChildren(svg);
    this.parts.plot.setAttribute('data-ready', 'true');
    this.move(0, this.#at_ms);
  }

  /** @param {Trace} trace @param {string} path */
  #line(trace, path) {
    const { member, line } = trace.meta ?? {};
    const colour = member ? `--m${this.parts.cast.lane(member).hue}` : line === 'assignment' ? '--ink-3' : '--ink';
    const drawn = s('path', {
      d: path,
      fill: 'none',
      stroke: `var(${colour})`,
      'stroke-width': member ? 1.6 : 2,
      'stroke-dasharray': line === 'assignment' ? '5 3' : null,
    });
    drawn.append(s('title', member ? this.parts.cast.name(member) : trace.name));
    return drawn;
  }

  /** Where it was clicked: the nearest step. @param {MouseEvent} event @param {SVGElement} svg @param {(epoch: number) => number} y */
  #seek(event, svg, y) {
    const box = svg.getBoundingClientRect();
    const [across, down] = [(event.clientX - box.left) / textSize(), (event.clientY - box.top) / textSize()];
    let nearest = { away: Infinity, sequence: -1 };
    for (const trace of this.#figure?.data ?? [])
      trace.x.forEach((ms, at) => {
        const epoch = trace.y[at];
        const away = Math.hypot(this.#x(ms) - across, epoch === null ? 0 : y(epoch) - down);
        if (away < nearest.away) nearest = { away, sequence: trace.customdata[at] };
      });
    if (nearest.sequence >= 0) this.parts.onSeek(nearest.sequence);
  }
}
