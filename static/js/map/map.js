/**
 * The board beyond sixty members: every member, or every partition, over the whole timeline. A row is a line of pixels
 * or has a name, by how far one has zoomed; it opens as a lane with its chips, and up to sixty of them as blocks.
 *
 * @typedef {import('../types').MapScene} MapScene
 * @typedef {import('./types').Kind} Kind
 * @typedef {import('./types').Line} Line
 * @typedef {import('./gestures.js').Spot} Spot
 */

import { when } from '../words.js';
import { BLOCKS_MOST } from './blocks-view.js';
import { NAMED_PX, PIN_PX } from './list.js';
import { meaning, SETTLED, WAITING } from './modes.js';
import { paletteOf } from './palette.js';
import { PINS_MOST, Roster } from './roster.js';
import { Plot } from './plot.js';
import { memberText, partitionText, troublesOf } from './say.js';
import { skeleton } from './skeleton.js';

/** Heights that a row is given; at the least all rows are in sight. */
const HEIGHTS = [1, 2, 4, 8, 14, 20];
const HIGH = 20;
/** How much of the page the rows take, in pixels. */
const HIGH_PX = { least: 200, most: 520, share: 0.4 };
/** Few rows leave room for the lane below them. */
const FEW_PX = 90;
const GUTTER = { wide: 196, small: 104 };
const SMALL = 560;
/** While it plays, what is said of rows changes no more often than it can be read. */
const SAY_MS = 120;
/** One press of a key: a zoom, and a share of the window. */
const ZOOM = 0.6;
const PAN = 0.3;

export class BoardMap {
  /** @type {MapScene | null} */
  #scene = null;
  /** @type {Line[]} */
  #lines = [];
  /** @type {Line[]} */
  #pins = [];
  #troubles = /** @type {import('./types').Trouble[]} */ ([]);
  /** @type {Set<string>} */
  #troubled = new Set();
  /** @type {number | null} null: all rows are in sight */
  #height = null;
  #opened = /** @type {{kind: Kind, key: string} | null} */ (null);
  /** `high` is that of the rows at most: few rows take less. */
  #size = { width: 1, high: 300, gutter: GUTTER.wide };
  #saying = /** @type {any} */ (null);
  #drawing = 0;
  #painted = '';

  /**
   * @param {HTMLElement} root
   * @param {object} options
   * @param {import('../types').Source} options.source
   * @param {import('../cast.js').Cast} options.cast
   * @param {import('../labels.js').Labels} options.labels
   * @param {() => string} options.verdict the text whose members have a hue
   * @param {() => number} options.start_ms
   * @param {(sequence: number) => void} options.onSeek
   * @param {(key: string) => void} options.onPick a partition
   */
  constructor(root, { source, cast, labels, verdict, start_ms, onSeek, onPick }) {
    this.root = root;
    this.source = source;
    this.cast = cast;
    this.labels = labels;
    this.start_ms = start_ms;
    this.onSeek = onSeek;
    this.names = {
      member: (/** @type {string} */ id) => cast.name(id), lane: (/** @type {string} */ id) => cast.lane(id).key,
      partition: (/** @type {string} */ key) => labels.partition(key),
    };
    this.roster = new Roster({ cast, labels, verdict });
    this.plot = new Plot(source, { onAnswer: () => this.#answered(), onFail: (says) => this.parts.foot.fail(says) });
    this.parts = skeleton(root, { cast, labels, names: this.names, onPick, map: this.#hooks() });
    this.parts.toolbar.axis = this.plot.axis;
    this.palette = paletteOf(root);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      this.palette = paletteOf(root);
      this.#draw(true);
    });
    new ResizeObserver(() => this.#measure()).observe(root);
    source.onGrow(() => {
      this.plot.whole();
      this.plot.ask(this.#size.width);
    });
    this.roster.meet(source.lanes(), undefined);
    this.#measure();
    this.plot.whole();
  }

  /** What the parts ask of the map. */
  #hooks() {
    return {
      show: (/** @type {Kind} */ kind) => this.show(kind),
      choose: (/** @type {Partial<import('./roster.js').Shown>} */ what) => this.choose(what),
      axis: (/** @type {import('./types').Axis} */ axis) => { this.axis = axis; },
      first: () => this.parts.list.go(this.#pins.length),
      go: (/** @type {Kind} */ kind, /** @type {string} */ key) => this.go(kind, key),
      all: (/** @type {Kind} */ kind) => {
        this.show(kind);
        this.choose({ only: 'trouble' });
      },
      hueOf: (/** @type {string} */ key) => this.roster.hues.of(key),
      seek: (/** @type {number} */ sequence) => this.onSeek(sequence),
      centre: (/** @type {number} */ place) => this.#zoom(() => this.plot.centre(place)),
      textOf: (/** @type {Line} */ line) => this.#textOf(line),
      looksOf: (/** @type {Line} */ line) => ({
        hue: line.type === 'row' && this.roster.kind === 'members' ? this.roster.hues.of(line.key) : 'x',
        opened: this.#opened?.key === line.key && this.#opened.kind === this.roster.kind, pinned: this.roster.pins.includes(line.key), actor: this.#acts(line.key),
      }),
      open: (/** @type {Line} */ line) => this.#open(line),
      close: () => this.#close(),
      pin: (/** @type {Line} */ line) => this.pin(line.key),
      key: (/** @type {string} */ key) => this.key(key),
      scrolled: () => this.#draw(false),
      spot: (/** @type {{clientX: number, clientY: number}} */ event) => this.#spot(event),
      clicked: (/** @type {Spot} */ spot) => {
        if (this.plot.scale) this.onSeek(this.plot.scale.at(spot.place));
        if (this.#lines.length) this.parts.list.go(this.#pins.length + spot.line);
      },
      brushed: (/** @type {Spot} */ a, /** @type {Spot} */ b) => this.#brushed(a, b),
      between: (/** @type {Spot} */ a, /** @type {Spot} */ b) => this.#between(a, b),
      zoom: (/** @type {number} */ by, /** @type {number} */ place) => this.#zoom(() => this.plot.zoom(by, place)),
      pan: (/** @type {number} */ by) => this.#zoom(() => this.plot.pan(by)),
      point: (/** @type {Spot | null} */ spot) => this.parts.foot.point(spot ? this.#pointSays(spot) : ''),
      back: () => this.#back(),
    };
  }

  /** Which unit the axis counts in. @param {import('./types').Axis} axis */
  set axis(axis) {
    this.plot.axis = axis;
    this.parts.toolbar.axis = axis;
    this.plot.ask(this.#size.width);
    this.#draw(true);
  }

  /** @param {MapScene} scene */
  render(scene) {
    const first = this.#scene === null;
    this.#scene = scene;
    if (this.plot.zoomed) this.#zoom(() => this.plot.reveal(scene.sequence), false);
    this.#place();
    if (first) this.#say();
    // A step that is shown for less than it takes to read it is not put into words.
    else this.#saying ??= setTimeout(() => this.#say(), SAY_MS);
  }

  /** The verdict, or who there is, has changed. */
  refresh() {
    this.roster.paint();
    this.#rows();
  }

  #place() {
    const scene = this.#scene;
    const at_ms = scene?.moment?.at_ms ?? scene?.frame.at_ms ?? 0;
    this.parts.strip.move(scene && this.plot.scale ? this.plot.scale.of(scene.sequence, at_ms) : null, when(at_ms, this.start_ms()));
  }

  /** What rows say at the playhead. */
  #say() {
    this.#saying = null;
    if (!this.#scene) return;
    this.#troubles = troublesOf(this.#scene, this.names);
    const troubled = new Set(this.#troubles.filter(({ kind }) => kind === this.roster.kind).map(({ key }) => key));
    const same = troubled.size === this.#troubled.size && [...troubled].every((key) => this.#troubled.has(key));
    this.#troubled = troubled;
    this.parts.trouble.render(this.#troubles);
    if (!same && this.roster.shown.only === 'trouble') this.#rows();
    else this.parts.list.say();
    this.#showLane();
    this.parts.blocks.render(this.#scene);
  }

  /** @param {string} key */
  #acts(key) {
    const actor = this.#scene?.moment?.actor;
    return this.roster.kind === 'members' && this.cast.knows(actor) && this.cast.lane(actor).key === key;
  }

  /** @param {Line} line @returns {import('./types').RowText} */
  #textOf(line) {
    const { kind, entities } = this.roster;
    if (line.type === 'group') {
      const troubled = line.indices.filter((index) => this.#troubled.has(entities[index].key)).length;
      const many = `${line.indices.length.toLocaleString('en')} ${kind}`;
      return { says: troubled ? `${many}, ${troubled.toLocaleString('en')} in trouble` : many, mode: troubled ? WAITING : SETTLED, links: [] };
    }
    if (!this.#scene) return { says: '', mode: SETTLED, links: [] };
    return kind === 'partitions' ? partitionText(this.#scene, line.key, this.names) : memberText(this.#scene, this.roster.lane(line.key), this.names);
  }

  /** An answer has come: there may be new lanes, topics, and better pictures. */
  #answered() {
    const fresh = this.roster.meet(this.source.lanes(), this.plot.windows.answers.partitions?.topics);
    if (fresh || this.roster.shown.only === 'changing') this.#rows();
    this.#draw(true);
  }

  /** @param {Kind} kind */
  show(kind) {
    if (this.roster.kind === kind) return;
    this.roster.kind = kind;
    this.plot.kind = kind;
    this.roster.shown = { only: 'all', grouping: 'none', query: '' };
    this.parts.toolbar.find.value = '';
    this.#height = null;
    this.#troubled = new Set(this.#troubles.filter((one) => one.kind === kind).map(({ key }) => key));
    this.#back();
    this.plot.ask(this.#size.width);
    this.roster.meet(this.source.lanes(), this.plot.windows.answers.partitions?.topics);
    this.#rows();
  }

  /** @param {Partial<import('./roster.js').Shown>} what */
  choose(what) {
    this.roster.shown = { ...this.roster.shown, ...what };
    this.#height = null;
    this.parts.scroller.scrollTop = 0;
    this.#rows();
    this.#announce(this.parts.toolbar.found.textContent ?? '');
  }

  /** Into the search, from wherever one is. */
  find() {
    this.parts.toolbar.find.focus();
    this.parts.toolbar.find.select();
  }

  /** To a row, wherever it is, and whatever hides it. @param {Kind} kind @param {string} key */
  go(kind, key) {
    this.show(kind);
    this.#back();
    if (!this.parts.list.goTo(key)) {
      this.roster.uncover(key);
      this.parts.toolbar.find.value = '';
      this.#rows();
    }
    if (this.#rowHeight < NAMED_PX) this.#tall(HEIGHTS[4], this.#lines.findIndex((line) => line.type === 'row' && line.key === key));
    this.parts.list.goTo(key);
    if (this.#opened) this.#opened = { kind, key };
    this.#showLane();
    this.parts.list.say();
  }

  /** @param {string} key */
  pin(key) {
    const done = this.roster.pin(key);
    const name = this.roster.entity(this.roster.kind, key)?.name ?? key;
    const focused = this.root.contains(document.activeElement);
    this.#rows();
    if (focused) this.parts.list.focus();
    this.#announce(done === 'full' ? `${PINS_MOST} rows are pinned; unpin one first.` : `${name} ${done}. ${this.roster.pins.length} pinned.`);
  }

  /** The list anew. */
  #rows() {
    const { roster, parts } = this;
    const { lines, pins, count, all } = roster.lines({ changing: this.plot.changing(roster.entities), troubled: this.#troubled });
    this.#lines = lines;
    this.#pins = pins;
    parts.list.set(lines, pins);
    const { only, grouping, query } = roster.shown;
    parts.toolbar.render(roster.kind, only, grouping, { count, all, query });
    parts.grid.setAttribute('aria-label', roster.kind === 'members' ? 'Members over time' : 'Partitions over time');
    parts.empty.hidden = !all || lines.length > 0;
    parts.empty.textContent = query ? `No ${roster.kind === 'members' ? 'member' : 'partition'} matches “${query.trim()}”. A word may be limited: host:10.1, rack:b, client:orders.`
      : only === 'trouble' ? 'Nobody is in trouble at this moment.' : 'Nothing changes in this window.';
    this.#layout();
    this.#draw(true);
  }

  /** Read once where the page's size changes, so that no drawing has to. */
  #measure() {
    const { root, scroller } = this.parts;
    const gutter = root.clientWidth < SMALL ? GUTTER.small : GUTTER.wide;
    root.style.setProperty('--gutter', `${gutter}px`);
    const width = Math.max(60, scroller.clientWidth - gutter);
    const high = Math.round(Math.min(HIGH_PX.most, Math.max(HIGH_PX.least, globalThis.innerHeight * HIGH_PX.share)));
    if (width === this.#size.width && high === this.#size.high && gutter === this.#size.gutter) return;
    this.#size = { width, high, gutter };
    this.plot.ask(width);
    this.#rows();
  }

  get #fit() {
    return Math.min(HIGH, this.#size.high / Math.max(1, this.#lines.length));
  }

  get #rowHeight() {
    return this.#height === null ? this.#fit : Math.max(this.#fit, this.#height);
  }

  /** How high the rows are on the page. */
  get #seen() {
    return Math.ceil(Math.min(this.#size.high, Math.max(FEW_PX, this.#lines.length * this.#rowHeight)));
  }

  #layout() {
    const { list, surfaces, pinsNode, scroller } = this.parts;
    list.size(this.#rowHeight);
    scroller.style.height = `${this.#seen}px`;
    surfaces.rows.size(this.#size.width, this.#seen);
    const pinned = this.#pins.length * PIN_PX;
    pinsNode.style.height = `${pinned}px`;
    pinsNode.hidden = !pinned;
    if (pinned) surfaces.pins.size(this.#size.width, pinned);
  }

  /** @param {boolean} all whether more than the place of the rows has changed */
  #draw(all) {
    if (all) this.#painted = '';
    if (this.#drawing) return;
    this.#drawing = requestAnimationFrame(() => {
      this.#drawing = 0;
      this.#paint();
    });
  }

  #paint() {
    const { parts, plot, roster } = this;
    const { scrollTop } = parts.scroller;
    const rowHeight = this.#rowHeight;
    const key = `${scrollTop}:${rowHeight}`;
    if (key === this.#painted) return;
    const whole = this.#painted === '';
    this.#painted = key;
    parts.list.draw();
    if (whole) this.#strip();
    const rowOf = plot.rowOf(roster.entities);
    const rowsOf = (/** @type {Line[]} */ lines) => (/** @type {number} */ line) => lines[line].indices.map(rowOf);
    const hueOf = (/** @type {string} */ lane) => roster.hues.of(lane);
    const first = Math.max(0, Math.floor(scrollTop / rowHeight));
    const track = plot.track(parts.surfaces.rows.canvas.width, hueOf);
    if (!track) return;
    parts.surfaces.rows.paint({ top: first * rowHeight - scrollTop, rowHeight, first, count: this.#lines.length, rowsOf: rowsOf(this.#lines), track }, this.palette);
    if (whole && this.#pins.length) {
      parts.surfaces.pins.paint({ top: 0, rowHeight: PIN_PX, first: 0, count: this.#pins.length, rowsOf: rowsOf(this.#pins), track }, this.palette);
    }
    this.#showFoot();
  }

  #strip() {
    const { group, whole } = this.plot.windows.answers;
    this.parts.strip.render({
      group, whole, scale: this.plot.scale, far: this.plot.far, window: this.plot.window, gutter: this.#size.gutter, width: this.#size.width,
      start_ms: this.start_ms(), none: this.labels.having.who === 'reader' ? 'No reader' : 'Unassigned',
    });
    this.#place();
  }

  /** The lines in sight: the first, and the one after the last. */
  #sight() {
    const { scrollTop } = this.parts.scroller;
    const first = Math.min(this.#lines.length, Math.max(0, Math.round(scrollTop / this.#rowHeight)));
    return { first, end: Math.min(this.#lines.length, Math.max(first, Math.floor((scrollTop + this.#seen) / this.#rowHeight + 0.01))) };
  }

  #showFoot() {
    const { first, end } = this.#sight();
    const many = this.#lines.length.toLocaleString('en');
    const rows = end - first < this.#lines.length ? `rows ${(first + 1).toLocaleString('en')} to ${end.toLocaleString('en')} of ${many}`
      : `${many} row${this.#lines.length === 1 ? '' : 's'}`;
    const ratio = this.parts.surfaces.rows.ratio;
    const merged = this.#rowHeight * ratio < 1 ? ', merged to the worst' : '';
    this.parts.foot.show(`${rows}${merged}`, { blocks: this.roster.kind === 'members' && end > first && end - first <= BLOCKS_MOST, zoomed: this.plot.zoomed });
  }

  /** @param {{clientX: number, clientY: number}} event @returns {Spot} */
  #spot({ clientX, clientY }) {
    const box = this.parts.scroller.getBoundingClientRect();
    const x = Math.min(Math.max(clientX - box.left, this.#size.gutter), this.#size.gutter + this.#size.width);
    const y = Math.min(Math.max(clientY - box.top, 0), this.#seen);
    const line = Math.min(this.#lines.length - 1, Math.max(0, Math.floor((y + this.parts.scroller.scrollTop) / this.#rowHeight)));
    return { x, y: y + this.parts.scroller.scrollTop, place: (x - this.#size.gutter) / this.#size.width, line };
  }

  /** @param {Spot} spot */
  #pointSays({ place, line }) {
    const { scale } = this.plot;
    const one = this.#lines[line];
    if (!scale || !one) return '';
    const at = scale.axis === 'time' ? when(scale.timeAt(place), this.start_ms()) : `entry ${scale.at(place).toLocaleString('en')}`;
    const says = one.type === 'group' ? `${one.indices.length.toLocaleString('en')} rows` : meaning(this.roster.kind, this.plot.modeAt(this.roster.entities, one.index, place));
    return `${one.name}: ${says}, ${at}`;
  }

  /** @param {Spot} a @param {Spot} b */
  #between(a, b) {
    const [from, to] = [Math.min(a.line, b.line), Math.max(a.line, b.line)];
    return from === to ? this.#lines[from]?.name ?? '' : `${to - from + 1} rows`;
  }

  /** @param {Spot} a @param {Spot} b */
  #brushed(a, b) {
    const { scale } = this.plot;
    if (!scale || !this.#lines.length) return;
    const [from, to] = [Math.min(a.line, b.line), Math.max(a.line, b.line)];
    const [left, right] = [Math.min(a.place, b.place), Math.max(a.place, b.place)];
    const window = { from: scale.at(left), to: scale.at(right) };
    this.#tall(Math.min(HIGH, this.#size.high / (to - from + 1)), from);
    this.#zoom(() => this.plot.show(window));
  }

  /** Rows of another height, one of which stays or comes on top. @param {number | null} height @param {number} top */
  #tall(height, top) {
    this.#height = height;
    this.#layout();
    this.parts.scroller.scrollTop = Math.max(0, top) * this.#rowHeight;
    this.#draw(true);
  }

  /** @param {() => void} act @param {boolean} [say] */
  #zoom(act, say = true) {
    const before = this.plot.window;
    act();
    const { from, to } = this.plot.window;
    if (from === before.from && to === before.to) return;
    if (this.roster.shown.only === 'changing') this.#rows();
    this.#draw(true);
    if (say) this.#announce(this.plot.zoomed ? `entries ${from.toLocaleString('en')} to ${to.toLocaleString('en')} in sight` : 'the whole timeline is in sight');
  }

  /** What a key does within the map. @param {string} key @returns {boolean} whether it does anything */
  key(key) {
    const place = this.#scene && this.plot.scale ? Math.min(1, Math.max(0, this.plot.scale.of(this.#scene.sequence, this.#scene.moment?.at_ms ?? null))) : 0.5;
    const rows = (/** @type {number} */ by) => {
      const now = this.#rowHeight;
      const next = by > 0 ? HEIGHTS.find((height) => height > now + 0.01) : HEIGHTS.findLast((height) => height < now - 0.01);
      if (by > 0 && next === undefined) this.#toBlocks();
      else this.#tall(next !== undefined && next > this.#fit ? next : null, Math.max(0, (this.parts.list.current?.number ?? 0) - this.#pins.length - 4));
    };
    switch (key) {
      case 'w': this.#zoom(() => this.plot.zoom(ZOOM, place)); return true;
      case 's': this.#zoom(() => this.plot.zoom(1 / ZOOM, place)); return true;
      case 'a': this.#zoom(() => this.plot.pan(-PAN)); return true;
      case 'd': this.#zoom(() => this.plot.pan(PAN)); return true;
      case '+': case '=': rows(1); return true;
      case '-': rows(-1); return true;
      case 'f': this.#tall(null, 0); this.#zoom(() => this.plot.show(null)); return true;
      case 'b': this.#toBlocks(); return true;
      case '/': this.find(); return true;
      case 'Escape': return this.#escape();
      default: return false;
    }
  }

  /** One thing at a time: the open row, the search, the zoom. */
  #escape() {
    if (this.parts.blocks.open) this.#back();
    else if (this.#opened) this.#close();
    else if (this.roster.shown.query || this.roster.shown.only !== 'all') {
      this.parts.toolbar.find.value = '';
      const key = this.parts.list.current?.line.key;
      this.choose({ query: '', only: 'all' });
      if (key) this.parts.list.goTo(key);
    } else if (this.plot.zoomed || this.#height !== null) this.key('f');
    else return false;
    return true;
  }

  /** @param {Line} line */
  #open(line) {
    if (line.type === 'group') {
      this.roster.fold(line.key);
      this.#rows();
      this.#announce(`${line.name} ${line.open ? 'closed' : 'open'}`);
      return;
    }
    const { kind } = this.roster;
    this.#opened = this.#opened?.key === line.key && this.#opened.kind === kind ? null : { kind, key: line.key };
    this.#showLane();
    this.parts.list.say();
    if (this.#opened) this.#announce(`${line.name}: ${this.#textOf(line).says}`);
  }

  #close() {
    this.#opened = null;
    this.#showLane();
    this.parts.list.say();
    this.parts.list.focus();
  }

  #showLane() {
    const { lane } = this.parts;
    const entity = this.#opened && this.roster.entity(this.#opened.kind, this.#opened.key);
    if (!entity || !this.#opened || !this.#scene) {
      lane.hide();
      return;
    }
    const { kind, key } = this.#opened;
    const scene = this.#scene;
    const of = this.roster.lane(key);
    const text = kind === 'members' ? memberText(scene, of, this.names) : partitionText(scene, key, this.names);
    const member = kind === 'members' ? of.members.findLast((one) => scene.frame.members[one]) : undefined;
    lane.render(scene, { kind, entity, member, text, hue: kind === 'members' ? this.roster.hues.of(key) : 'x' });
  }

  #toBlocks() {
    const { first, end } = this.#sight();
    const scene = this.#scene;
    if (this.roster.kind !== 'members' || !scene || !this.#lines.length) return;
    if (end - first > BLOCKS_MOST) {
      this.#announce(`${end - first} rows are in sight; as blocks at most ${BLOCKS_MOST} are shown. Zoom in first.`);
      return;
    }
    const lines = this.#lines.slice(first, end).filter(({ type }) => type === 'row');
    const members = lines.flatMap(({ key }) => this.roster.lane(key).members);
    this.parts.frame.hidden = true;
    this.parts.blocks.show(members, `${lines.length} ${lines.length === 1 ? 'member' : 'members'} at the playhead`, scene);
  }

  #back() {
    if (!this.parts.blocks.open) return;
    this.parts.blocks.hide();
    this.parts.frame.hidden = false;
    this.parts.list.focus();
  }

  /** @param {string} says */
  #announce(says) {
    this.parts.live.textContent = says;
  }
}
