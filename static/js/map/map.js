/**
 * The board beyond sixty members: every member, or every partition, over the whole timeline. A row is a line of pixels
 * or has a name, by how far one has zoomed, and opens as a lane with its chips.
 *
 * @import {MapScene} from '../types'
 * @import {Kind, Line, Window as Range} from './types'
 * @import {Spot} from './gestures.js'
 */

import { onTextSize } from '../shared/text-size.js';
import { grouped } from '../shared/numbers.js';
import { when } from '../frame/words.js';
import { Field, NAMED } from './field.js';
import { Plot } from './plot.js';
import { PINS_MOST, Roster } from './roster.js';
import { emptyText } from './say.js';
import { skeleton } from './skeleton.js';
import { Teller } from './teller.js';

/** While it plays, what is said of rows changes no more often than it can be read. */
const SAY_MS = 120;
/** One press of a key: a zoom, and a share of the window. */
const ZOOM = 0.6;
const PAN = 0.3;
/** Above a row that one goes to, some others stay in sight. */
const ABOVE = 4;

export class BoardMap {
  /** Whether a drag selects a range, and not what to zoom into. */
  selecting = false;
  /** @type {Range | null} */
  #range = null;
  /** Called when a range was dragged, another window is in sight, other rows are pinned. */
  onRange = (/** @type {Range} */ _range) => {};
  onZoom = (/** @type {Range | null} */ _seen) => {};
  onPinned = (/** @type {string[]} */ _names) => {};
  /** The timer of what is said aloud next. */
  #saying = /** @type {any} */ (null);

  /**
   * @param {HTMLElement} root
   * @param {object} options
   * @param {import('../types').Source} options.source
   * @param {import('../frame/cast.js').Cast} options.cast
   * @param {import('../frame/labels.js').Labels} options.labels
   * @param {() => string} options.verdict the text whose members have a hue
   * @param {() => number} options.start_ms
   * @param {(sequence: number) => void} options.onSeek
   * @param {(key: string) => void} options.onPick a partition
   * @param {(members: string[]) => void} options.onPins the ids of the members that are pinned
   */
  constructor(root, { source, cast, labels, verdict, start_ms, onSeek, onPick, onPins }) {
    this.root = root;
    this.source = source;
    this.start_ms = start_ms;
    this.onSeek = onSeek;
    this.onPins = onPins;
    const names = {
      member: (/** @type {string} */ id) => cast.name(id),
      lane: (/** @type {string} */ id) => cast.lane(id).key,
      partition: (/** @type {string} */ key) => labels.partition(key),
    };
    this.roster = new Roster({ cast, labels, verdict });
    this.teller = new Teller({ roster: this.roster, cast, names });
    this.plot = new Plot(source, { onAnswer: () => this.#answered(), onFail: (text) => this.parts.foot.fail(text) });
    /** @type {import('./skeleton.js').Parts} */
    this.parts = skeleton(root, { cast, labels, names, onPick, map: this });
    /** @type {Field} */
    this.field = new Field({
      plot: this.plot,
      roster: this.roster,
      parts: this.parts,
      start_ms,
      none: () => (labels.having.who === 'reader' ? 'No reader' : 'Unassigned'),
      onDrawn: (all) => this.#drawn(all),
    });
    this.parts.toolbar.axis = this.plot.axis;
    new ResizeObserver(() => this.#measure()).observe(root);
    addEventListener('resize', () => this.#measure());
    onTextSize(() => this.#measure());
    source.onGrow(() => {
      this.plot.whole();
      this.plot.ask(this.field.width);
    });
    this.roster.meet(source.lanes(), undefined);
    this.#measure();
    this.plot.whole();
  }

  #measure() {
    if (!this.field.measure()) return;
    this.plot.ask(this.field.width);
    this.rows();
  }

  /** Which unit the axis counts in. @param {import('./types').Axis} axis */
  set axis(axis) {
    this.plot.axis = axis;
    this.parts.toolbar.axis = axis;
    this.plot.ask(this.field.width);
    this.field.draw(true);
  }

  /** @param {MapScene} scene */
  render(scene) {
    const first = this.teller.scene === null;
    this.teller.scene = scene;
    if (this.plot.zoomed) this.zoom(() => this.plot.reveal(scene.sequence), false);
    this.#place();
    if (first) this.#say();
    // A step that is shown for less than it takes to read it is not put into words.
    else if (this.#saying === null) this.#saying = setTimeout(() => this.#say(), SAY_MS);
  }

  /** The verdict has changed. */
  refresh() {
    this.roster.paint();
    this.rows();
  }

  #place() {
    const { scene } = this.teller;
    const at_ms = scene?.moment?.at_ms ?? scene?.frame.at_ms ?? 0;
    this.parts.strip.move(
      scene && this.plot.scale ? this.plot.scale.of(scene.sequence, at_ms) : null,
      when(at_ms, this.start_ms()),
    );
  }

  #say() {
    this.#saying = null;
    const { parts, teller } = this;
    const others = teller.look();
    if (others && this.roster.shown.only === 'trouble') this.rows();
    else parts.list.say();
    teller.show(parts.lane);
  }

  /** An answer has come: there may be new lanes, topics, and better pictures. */
  #answered() {
    const fresh = this.roster.meet(this.source.lanes(), this.plot.windows.answers.partitions?.topics);
    const first = !this.parts.empty.hidden && this.field.lines.length > 0 && this.plot.answered;
    if (fresh || first || this.roster.shown.only === 'changing') this.rows();
    this.field.draw(true);
  }

  /** @param {boolean} all */
  #drawn(all) {
    if (all) this.#place();
    if (all) this.parts.strip.select(this.#range);
    this.parts.foot.show(this.field.inSight, this.plot.zoomed);
  }

  /** @param {Kind} kind */
  show(kind) {
    if (this.roster.kind === kind) return;
    this.roster.kind = kind;
    this.plot.kind = kind;
    this.roster.shown = { only: 'all', grouping: 'none', query: '' };
    this.parts.toolbar.find.value = '';
    this.field.fit();
    this.teller.choose();
    this.plot.ask(this.field.width);
    this.roster.meet(this.source.lanes(), this.plot.windows.answers.partitions?.topics);
    this.rows();
  }

  /** @param {Partial<import('./roster.js').Shown>} what */
  choose(what) {
    this.roster.shown = { ...this.roster.shown, ...what };
    this.field.fit();
    this.rows();
    this.announce(this.parts.toolbar.found.textContent ?? '');
  }

  /** Into the search, from wherever one is. */
  find() {
    this.parts.toolbar.find.focus();
    this.parts.toolbar.find.select();
  }

  /** Into the first row. */
  first() {
    this.parts.list.go(this.field.pins.length);
  }

  /** To a row, wherever it is, and whatever hides it. @param {Kind} kind @param {string} key */
  go(kind, key) {
    this.show(kind);
    if (!this.parts.list.goTo(key)) {
      this.roster.uncover(key);
      this.parts.toolbar.find.value = '';
      this.rows();
    }
    const line = this.field.lines.findIndex((one) => one.type === 'row' && one.key === key);
    if (this.field.rowHeight < NAMED && line >= 0) this.field.resize(NAMED, Math.max(0, line - ABOVE));
    this.parts.list.goTo(key);
    if (this.teller.opened) this.teller.opened = { kind, key };
    this.teller.show(this.parts.lane);
    this.parts.list.say();
  }

  /** @param {string} key */
  pin(key) {
    const done = this.roster.pin(key);
    const { roster } = this;
    if (roster.kind === 'members') this.onPins(roster.pins.flatMap((pinned) => roster.lane(pinned).members));
    const name = this.roster.entity(this.roster.kind, key)?.name ?? key;
    this.onPinned(this.roster.pins.map((one) => this.roster.entity(this.roster.kind, one)?.name ?? one));
    const focused = this.parts.grid.contains(document.activeElement);
    this.rows();
    this.parts.list.draw();
    if (focused) this.parts.list.focus();
    this.announce(
      done === 'full'
        ? `${PINS_MOST} rows are pinned; unpin one first.`
        : `${name} ${done}. ${this.roster.pins.length} pinned.`,
    );
  }

  /** Draws the list again. */
  rows() {
    const { roster, parts } = this;
    const { lines, pins, count, all } = roster.lines({
      changing: this.plot.changing(roster.entities),
      troubled: this.teller.troubled,
    });
    const { only, grouping, query } = roster.shown;
    parts.toolbar.render(roster.kind, only, grouping, { count, all, query, left_out: this.plot.leftOut });
    parts.grid.setAttribute('aria-label', roster.kind === 'members' ? 'Members over time' : 'Partitions over time');
    const waits = !this.plot.answered;
    parts.empty.hidden = !waits && (!all || lines.length > 0);
    const kind = roster.kind;
    parts.empty.textContent = emptyText({ waits, query: query.trim(), only, kind, all, left_out: this.plot.leftOut });
    this.field.set(lines, pins);
  }

  /** @param {Spot} spot */
  clicked(spot) {
    if (this.plot.scale) this.onSeek(this.plot.scale.at(spot.place));
    if (this.field.lines.length) this.parts.list.go(this.field.pins.length + spot.line);
  }

  /** @param {Spot} a @param {Spot} b */
  brushed(a, b) {
    const { scale } = this.plot;
    if (!scale || !this.field.lines.length) return;
    const window = { from: scale.at(Math.min(a.place, b.place)), to: scale.at(Math.max(a.place, b.place)) };
    this.field.spread(Math.abs(a.line - b.line) + 1, Math.min(a.line, b.line));
    this.zoom(() => this.plot.show(window));
  }

  /** @param {Range | null} range */
  set range(range) {
    this.#range = range;
    this.parts.strip.select(range);
  }

  /** Brings a stretch into sight. @param {Range} window */
  see(window) {
    this.zoom(() => this.plot.show(window));
  }

  /** @param {() => void} act on the window @param {boolean} [say] */
  zoom(act, say = true) {
    const before = this.plot.window;
    act();
    const { from, to } = this.plot.window;
    if (from === before.from && to === before.to) return;
    this.onZoom(this.plot.zoomed ? { from, to } : null);
    if (this.roster.shown.only === 'changing') this.rows();
    this.field.draw(true);
    if (say)
      this.announce(
        this.plot.zoomed ? `entries ${grouped(from)} to ${grouped(to)} in sight` : 'the whole timeline is in sight',
      );
  }

  /** What a key does within the map. @param {string} key @returns {boolean} whether it does anything */
  key(key) {
    const { plot, field } = this;
    const { scene } = this.teller;
    const place =
      scene && plot.scale ? Math.min(1, Math.max(0, plot.scale.of(scene.sequence, scene.moment?.at_ms ?? null))) : 0.5;
    const top = Math.max(0, (this.parts.list.current?.number ?? 0) - field.pins.length - ABOVE);
    /** @type {{[key: string]: () => void}} */
    const acts = {
      w: () => this.zoom(() => plot.zoom(ZOOM, place)),
      s: () => this.zoom(() => plot.zoom(1 / ZOOM, place)),
      a: () => this.zoom(() => plot.pan(-PAN)),
      d: () => this.zoom(() => plot.pan(PAN)),
      '+': () => field.step(1, top),
      '=': () => field.step(1, top),
      '-': () => field.step(-1, top),
      f: () => this.#fit(),
      '/': () => this.find(),
    };
    if (key === 'Escape') return this.#escape();
    acts[key]?.();
    return key in acts;
  }

  /** All rows, and the selected range or else all of the time. */
  #fit() {
    this.field.resize(null, 0);
    this.zoom(() => this.plot.show(this.#range));
  }

  /** One thing at a time: the open row, the search, the zoom. */
  #escape() {
    if (this.teller.opened) this.close();
    else if (this.roster.shown.query || this.roster.shown.only !== 'all') {
      this.parts.toolbar.find.value = '';
      const key = this.parts.list.current?.line.key;
      this.choose({ query: '', only: 'all' });
      if (key) this.parts.list.goTo(key);
    } else if (this.plot.zoomed || this.field.tall) this.key('f');
    else return false;
    return true;
  }

  /** @param {Line} line */
  open(line) {
    if (line.type === 'group') {
      this.roster.fold(line.key);
      this.rows();
      this.parts.list.draw();
      this.announce(`${line.name} ${line.open ? 'closed' : 'open'}`);
      return;
    }
    const open = this.teller.toggle(line.key);
    this.teller.show(this.parts.lane);
    this.parts.list.say();
    if (open) this.announce(`${line.name}: ${this.teller.textOf(line).says}`);
  }

  /** The open row. */
  close() {
    this.teller.opened = null;
    this.teller.show(this.parts.lane);
    this.parts.list.say();
    this.parts.list.focus();
  }

  /** @param {string} sentence */
  announce(sentence) {
    this.parts.live.textContent = sentence;
  }
}
