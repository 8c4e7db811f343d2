/**
 * Where the rows lie: how wide and high the page lets them be, how high each is, which of them are in sight, and the
 * pictures behind them. Sizes are read where the page changes, never while something is drawn. All measures of the map are in
 * pixels at the usual size of text, and grow with it.
 *
 * @import {Line} from './types'
 * @import {Spot} from './gestures.js'
 */

import { rem, textSize } from '../shared/text-size.js';
import { grouped } from '../shared/numbers.js';
import { when } from '../frame/words.js';
import { PIN_PX } from './list.js';
import { meaning } from './modes.js';
import { paletteOf } from './palette.js';

/** Heights that a row is given; at the least all rows are in sight. */
const HEIGHTS = [1, 2, 4, 8, 14, 20];
const HIGH = 20;
/** The least at which rows have names next to them. */
export const NAMED = 14;
/** How much of the page the rows take, in pixels. */
const HIGH_PX = { least: 200, most: 520, share: 0.4 };
/** Few rows leave room for the lane below them. */
const FEW_PX = 90;
const GUTTER = { wide: 196, small: 114 };
const SMALL = 560;

export class Field {
  /** @type {Line[]} */
  lines = [];
  /** @type {Line[]} */
  pins = [];
  /** @type {number | null} null: all rows are in sight */
  #height = null;
  /** `high` is that of the rows at most: few rows take less. */
  #size = { width: 1, high: 300, gutter: GUTTER.wide };
  /** How far the rows are scrolled: asked of the page only when it reports that this has changed. */
  #top = 0;
  #drawing = 0;
  #painted = '';

  /**
   * @param {object} options
   * @param {import('./plot.js').Plot} options.plot
   * @param {import('./roster.js').Roster} options.roster
   * @param {import('./skeleton.js').Parts} options.parts
   * @param {() => number} options.start_ms
   * @param {() => string} options.none what partitions without an owner are called
   * @param {(all: boolean) => void} options.onDrawn
   */
  constructor({ plot, roster, parts, start_ms, none, onDrawn }) {
    this.plot = plot;
    this.roster = roster;
    this.parts = parts;
    this.start_ms = start_ms;
    this.none = none;
    this.onDrawn = onDrawn;
    this.palette = paletteOf(parts.root);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      this.palette = paletteOf(parts.root);
      this.draw(true);
    });
  }

  get width() {
    return this.#size.width;
  }

  /** @returns {boolean} whether anything has another size now */
  measure() {
    const { root, scroller } = this.parts;
    const size = textSize();
    const gutter = root.clientWidth / size < SMALL ? GUTTER.small : GUTTER.wide;
    root.style.setProperty('--gutter', rem(gutter));
    const width = Math.max(60, scroller.clientWidth / size - gutter);
    const high = Math.round(
      Math.min(HIGH_PX.most, Math.max(HIGH_PX.least, (globalThis.innerHeight / size) * HIGH_PX.share)),
    );
    if (width === this.#size.width && high === this.#size.high && gutter === this.#size.gutter) return false;
    this.#size = { width, high, gutter };
    return true;
  }

  get #fit() {
    return Math.min(HIGH, this.#size.high / Math.max(1, this.lines.length));
  }

  get rowHeight() {
    return this.#height === null ? this.#fit : Math.max(this.#fit, this.#height);
  }

  /** Whether rows are higher than they need be for all to be in sight. */
  get tall() {
    return this.#height !== null;
  }

  /** How high the rows are on the page. */
  get #seen() {
    return Math.ceil(Math.min(this.#size.high, Math.max(FEW_PX, this.lines.length * this.rowHeight)));
  }

  /** All rows into sight, whichever they are. */
  fit() {
    this.#height = null;
    this.scrollTo(0);
  }

  /** What of the rows is in sight, in pixels. */
  get view() {
    return { top: this.#top, height: this.#seen };
  }

  /** @param {number} top */
  scrollTo(top) {
    const held = Math.min(Math.max(0, top), Math.max(0, Math.ceil(this.lines.length * this.rowHeight) - this.#seen));
    if (held === this.#top) return;
    this.#top = held;
    this.parts.scroller.scrollTop = held * textSize();
    this.draw(false);
  }

  scrolled() {
    const scrollTop = this.parts.scroller.scrollTop / textSize();
    // A page rounds: what was just set is not a hand's doing.
    if (Math.abs(scrollTop - this.#top) <= 1) return;
    this.#top = scrollTop;
    this.draw(false);
  }

  /** @param {Line[]} lines @param {Line[]} pins */
  set(lines, pins) {
    this.lines = lines;
    this.pins = pins;
    this.parts.list.set(lines, pins);
    this.#layout();
    this.draw(true);
  }

  #layout() {
    const { list, surfaces, pinsNode, scroller } = this.parts;
    list.size(this.rowHeight);
    scroller.style.height = rem(this.#seen);
    surfaces.rows.size(this.#size.width, this.#seen);
    const pinned = this.pins.length * PIN_PX;
    pinsNode.style.height = rem(pinned);
    pinsNode.hidden = !pinned;
    if (pinned) surfaces.pins.size(this.#size.width, pinned);
    // Fewer or lower rows: the page has scrolled back as far as it must.
    this.scrollTo(this.#top);
  }

  /** Rows of another height, one of which comes on top. @param {number | null} height @param {number} top */
  resize(height, top) {
    this.#height = height;
    this.#layout();
    this.scrollTo(top * this.rowHeight);
    this.draw(true);
  }

  /** As high as it takes for so many to fill the rows' room. @param {number} count @param {number} top */
  spread(count, top) {
    this.resize(Math.min(HIGH, this.#size.high / count), top);
  }

  /** One height up or down. @param {1 | -1} by @param {number} top @returns {boolean} whether there is such a height */
  step(by, top) {
    const now = this.rowHeight;
    const next =
      by > 0 ? HEIGHTS.find((height) => height > now + 0.01) : HEIGHTS.findLast((height) => height < now - 0.01);
    if (by > 0 && next === undefined) return false;
    this.resize(next !== undefined && next > this.#fit ? next : null, top);
    return true;
  }

  /** @param {boolean} all whether more than the place of the rows has changed */
  draw(all) {
    if (all) this.#painted = '';
    if (this.#drawing) return;
    this.#drawing = requestAnimationFrame(() => {
      this.#drawing = 0;
      this.#paint();
    });
  }

  #paint() {
    const { parts, plot, roster, rowHeight } = this;
    const scrollTop = this.#top;
    const key = `${scrollTop}:${rowHeight}`;
    if (key === this.#painted) return;
    const whole = this.#painted === '';
    this.#painted = key;
    parts.list.draw();
    if (whole) this.#strip();
    this.onDrawn(whole);
    const rowOf = plot.rowOf(roster.entities);
    const rowsOf = (/** @type {Line[]} */ lines) => (/** @type {number} */ line) => lines[line].indices.map(rowOf);
    const first = Math.max(0, Math.floor(scrollTop / rowHeight));
    const track = plot.track(parts.surfaces.rows.canvas.width, (lane) => roster.hues.of(lane));
    if (!track) return;
    parts.surfaces.rows.paint(
      {
        top: first * rowHeight - scrollTop,
        rowHeight,
        first,
        count: this.lines.length,
        rowsOf: rowsOf(this.lines),
        track,
      },
      this.palette,
    );
    if (whole && this.pins.length) {
      parts.surfaces.pins.paint(
        { top: 0, rowHeight: PIN_PX, first: 0, count: this.pins.length, rowsOf: rowsOf(this.pins), track },
        this.palette,
      );
    }
  }

  #strip() {
    const { group, whole } = this.plot.windows.answers;
    this.parts.strip.render({
      group,
      whole,
      scale: this.plot.scale,
      far: this.plot.far,
      window: this.plot.window,
      gutter: this.#size.gutter,
      width: this.#size.width,
      start_ms: this.start_ms(),
      none: this.none(),
    });
  }

  /** The lines in sight: the first, and the one after the last. */
  get sight() {
    const { rowHeight } = this;
    const first = Math.min(this.lines.length, Math.max(0, Math.round(this.#top / rowHeight)));
    return {
      first,
      end: Math.min(this.lines.length, Math.max(first, Math.floor((this.#top + this.#seen) / rowHeight + 0.01))),
    };
  }

  /** What is in sight, in words. */
  get inSight() {
    const { first, end } = this.sight;
    const many = grouped(this.lines.length);
    const rows =
      end - first < this.lines.length
        ? `rows ${grouped(first + 1)} to ${grouped(end)} of ${many}`
        : `${many} row${this.lines.length === 1 ? '' : 's'}`;
    return `${rows}${this.rowHeight * this.parts.surfaces.rows.ratio < 1 ? ', merged to the worst' : ''}`;
  }

  /** @param {{clientX: number, clientY: number}} event @returns {Spot} */
  spot({ clientX, clientY }) {
    const { scroller } = this.parts;
    const box = scroller.getBoundingClientRect();
    const size = textSize();
    const x = Math.min(Math.max((clientX - box.left) / size, this.#size.gutter), this.#size.gutter + this.#size.width);
    const y = Math.min(Math.max((clientY - box.top) / size, 0), this.#seen) + scroller.scrollTop / size;
    const line = Math.min(this.lines.length - 1, Math.max(0, Math.floor(y / this.rowHeight)));
    return { x, y, place: (x - this.#size.gutter) / this.#size.width, line };
  }

  /** What is under the pointer. @param {Spot} spot */
  pointWords({ place, line }) {
    const { plot } = this;
    const one = this.lines[line];
    if (!plot.scale || !one) return '';
    const at =
      plot.axis === 'time' ? when(plot.scale.timeAt(place), this.start_ms()) : `entry ${grouped(plot.scale.at(place))}`;
    const text =
      one.type === 'group'
        ? `${grouped(one.indices.length)} rows`
        : meaning(this.roster.kind, plot.modeAt(this.roster.entities, one.index, place));
    return `${one.name}: ${text}, ${at}`;
  }

  /** The rows between two spots, in words. @param {Spot} a @param {Spot} b */
  between(a, b) {
    const [from, to] = [Math.min(a.line, b.line), Math.max(a.line, b.line)];
    return from === to ? (this.lines[from]?.name ?? '') : `${to - from + 1} rows`;
  }
}
