/**
 * The board for a dozen members: the matrix member × partition. A partition never leaves its column, so a move is
 * always vertical and "owned exactly once" can be seen: one solid chip per column.
 *
 * @import {Column, Frame, Moment, PartitionView} from '../types'
 * @import {Cast} from '../frame/cast.js'
 * @import {Labels} from '../frame/labels.js'
 * @typedef {{members: string[], keys: string[]}} Marked
 * @typedef {{frame: Frame, moment: Moment | null, views: Map<string, PartitionView> | import('../frame/ownership.js').Ownership, free: ReadonlySet<string>,
 *   since: (key: string) => number | null, forward: boolean, violation?: import('../frame/hardships.js').Violation | null,
 *   unread?: Map<string, 'killed' | 'paused' | 'silent'>, silent?: Map<string, number>,
 *   differs?: Marked,
 *   marked?: Map<string, import('../frame/offset-marks.js').Mark>, seats?: ReadonlySet<string>}} Scene `silent`: ms since a member's
 *   last commit; `seats`: the members that have a lane, where not all have
 */

import { h, s } from '../shared/dom.js';
import { outsiders, stillReads } from '../frame/hardships.js';
import { isShare, readingChanges } from '../frame/view.js';
import { captionOf, poolWords, UNREAD } from './captions.js';
import { chip, chipWords, measure, travel } from './chips.js';
import { columnHeads, fitNames, topicHeads } from './heads.js';
import { leadOf, noteOf, outsiderLead, outsiderNote, poolLead, poolNote } from './notes.js';
import { alsoOwned, outlines, stillRead } from './outlines.js';
import { drawTethers } from './tethers.js';

export const POOL = '\npool';
/** The row of all members that have no lane. */
export const REST = '\nrest';
/** Rows of no member. @type {{[lane: string]: string}} */
const OTHERS = { [POOL]: ' pool', [REST]: ' rest' };

export class Lanes {
  /** @type {Map<string, HTMLElement>} */
  #rows = new Map();
  /** @type {Map<string, HTMLButtonElement>} */
  #chips = new Map();
  /** @type {Map<string, HTMLElement>} */
  #cells = new Map();
  /** @type {Map<string, string> | null} */
  #before = null;
  /** @type {{chip: Element, slot: Element, hue: string}[]} */
  #pairs = [];
  /** @type {ResizeObserver | null} */
  #watch = null;

  /**
   * @param {HTMLElement} root
   * @param {object} options
   * @param {Column[]} options.columns
   * @param {Cast} options.cast
   * @param {Labels} options.labels
   * @param {boolean} [options.compact]
   * @param {string[]} [options.always] lanes that stand there from the first frame on, so that nothing jumps
   * @param {boolean} [options.rest] whether those that have no lane are one row below the others
   * @param {(key: string) => void} [options.onPick]
   */
  constructor(root, { columns, cast, labels, compact = false, always = [], rest = false, onPick = () => {} }) {
    this.root = root;
    this.columns = columns;
    this.cast = cast;
    this.labels = labels;
    this.compact = compact;
    this.always = always;
    this.onPick = onPick;
    root.replaceChildren();
    root.className = `board${compact ? ' compact' : ''}`;
    root.style.setProperty('--cols', String(Math.max(1, columns.length)));
    root.setAttribute('role', 'grid');
    root.setAttribute('aria-label', 'Members and partitions');
    this.svg = s('svg.tethers', { 'aria-hidden': 'true' });
    root.append(this.svg, topicHeads(columns, labels), columnHeads(columns, labels));
    this.#rows.set(POOL, this.#row(POOL));
    if (rest) this.#rows.set(REST, this.#row(REST));
    for (const column of columns) if (!column.folded) this.#chips.set(column.key, this.#chip(column));
    this.#watch = new ResizeObserver(() => this.#fit());
    this.#watch.observe(root);
  }

  destroy() {
    this.#watch?.disconnect();
    this.root.replaceChildren();
    this.root.removeAttribute('role');
    this.root.className = '';
  }

  /** @param {string | null} key the column that the reader chose */
  pick(key) {
    for (const node of this.root.querySelectorAll('.picked')) node.classList.remove('picked');
    if (key)
      for (const node of this.root.querySelectorAll(`[data-col="${CSS.escape(key)}"]`)) node.classList.add('picked');
  }

  /** @param {Scene} scene @param {boolean} animate */
  render(scene, animate) {
    const { frame, moment, views } = scene;
    const from = animate ? measure(this.#chips.values()) : null;
    const members = this.#seat(frame, animate, scene.seats);
    for (const node of this.root.querySelectorAll('.slot, .foot, .cap, .reader')) node.remove();
    for (const node of this.root.querySelectorAll('.broken, .differs')) node.classList.remove('broken', 'differs');
    this.#pool(scene);
    // The world stops for a partition, not for a screen: its column is struck through while nobody reads it.
    const stops = Boolean(frame.barrier) && members.size > 0;
    for (const [at, cell] of this.#cells) {
      const key = at.slice(at.indexOf('\n', 1) + 1);
      const isRead = !scene.free.has(key) && !(scene.seats && scene.unread?.has(key));
      cell.classList.toggle('unread', !isRead && (stops || scene.seats !== undefined));
    }
    for (const [lane, member] of members) {
      const row = /** @type {HTMLElement} */ (this.#rows.get(lane));
      row.classList.remove('act');
      if (moment?.actor === member) {
        // The pulse restarts only when the class is seen to have been away.
        void row.offsetWidth;
        row.classList.add('act');
      }
      child(row, '.lead').replaceChildren(
        ...leadOf(frame, member, this.cast, this.labels, this.compact, scene.silent?.get(member)),
      );
      child(row, '.note').replaceChildren(
        ...noteOf(frame, member, views, this.cast, this.labels, scene.silent?.has(member) ?? false),
      );
    }
    for (const member of outsiders(frame)) this.#outsider(frame, member, members);
    this.#pairs = outlines(frame, views, this.#grid);
    const moved = this.#place(scene, animate);
    if (scene.violation) this.#mark(scene.violation, 'broken');
    if (scene.differs) this.#mark(scene.differs, 'differs');
    this.#tether();
    if (from) travel(from, moved, () => this.#tether());
  }

  /**
   * Lanes for the members of this frame, in order of joining.
   *
   * @param {Frame} frame
   * @param {boolean} animate
   * @param {ReadonlySet<string>} [seats] the members that have a lane, where not all have
   * @returns {Map<string, string>} member by lane
   */
  #seat(frame, animate, seats) {
    const isSeated = (/** @type {string} */ member) => !seats || seats.has(member);
    /** @type {Map<string, string>} */
    const members = new Map();
    for (const member of Object.keys(frame.members).filter(isSeated)) members.set(this.cast.lane(member).key, member);
    const wanted = new Set([
      ...members.keys(),
      ...this.always,
      ...outsiders(frame)
        .filter(isSeated)
        .map((member) => this.cast.lane(member).key),
    ]);
    for (const [lane, row] of this.#rows) {
      if (lane === POOL || lane === REST || wanted.has(lane)) continue;
      for (const node of row.querySelectorAll('.chip')) node.remove();
      row.remove();
      this.#rows.delete(lane);
      for (const column of this.columns) this.#cells.delete(`${lane}\n${column.key}`);
    }
    for (const lane of this.cast.lanes) {
      if (!wanted.has(lane.key)) continue;
      let row = this.#rows.get(lane.key);
      if (!row) {
        row = this.#row(lane.key, lane.hue);
        if (this.#before && animate) row.classList.add('enter');
        const after = this.cast.lanes.filter((other) => other.order < lane.order && this.#rows.has(other.key)).pop();
        const before = after
          ? /** @type {HTMLElement} */ (this.#rows.get(after.key))
          : /** @type {HTMLElement} */ (this.#rows.get(POOL));
        before.after(row);
        this.#rows.set(lane.key, row);
      }
      const member = members.get(lane.key);
      const here = member !== undefined;
      // Whose lane it is now: a client that comes back has the lane that it had, under another id.
      row.dataset.member = member ?? '';
      row.classList.toggle('ghost', !here);
      row.classList.remove('outside');
      row.classList.toggle('away', frame.members[member ?? '']?.epoch === -2);
      if (!here) {
        row.classList.remove('act');
        child(row, '.lead').replaceChildren(
          h('span.who', { 'data-hue': lane.hue }, lane.badge),
          h('div.txt', h('div.st', 'Not a member')),
        );
        child(row, '.note').replaceChildren();
      }
    }
    return members;
  }

  /**
   * The lane of a client that is no member any more, with what it still reads: in the coordinator's view that is
   * somebody else's, or free.
   *
   * @param {Frame} frame
   * @param {string} member
   * @param {Map<string, string>} members
   */
  #outsider(frame, member, members) {
    const lane = this.cast.lane(member);
    const row = this.#rows.get(lane.key);
    if (!row || members.has(lane.key)) return;
    row.classList.remove('ghost');
    row.classList.add('outside');
    child(row, '.lead').replaceChildren(...outsiderLead(frame, member, this.cast));
    child(row, '.note').replaceChildren(...outsiderNote(frame, member, this.labels));
    for (const key of stillReads(frame, member)) stillRead(key, member, this.#grid);
  }

  /** The members and partitions of a broken invariant, or those that another board shows otherwise. @param {Marked} some @param {'broken' | 'differs'} mark */
  #mark({ members, keys }, mark) {
    for (const member of members)
      if (this.cast.knows(member)) this.#rows.get(this.cast.lane(member).key)?.classList.add(mark);
    for (const key of keys) {
      for (const node of this.root.querySelectorAll(
        `.ch[data-col="${CSS.escape(key)}"], .chip[data-key="${CSS.escape(key)}"]`,
      ))
        node.classList.add(mark);
    }
  }

  /** @param {Scene} scene */
  #pool({ frame, free, views }) {
    const row = /** @type {HTMLElement} */ (this.#rows.get(POOL));
    const count = free.size;
    const text = poolWords(frame, { free: count, known: views.size, labels: this.labels, compact: this.compact });
    child(row, '.lead').replaceChildren(poolLead(text, this.labels));
    child(row, '.note').replaceChildren(
      ...poolNote(frame, free, views, this.cast, (key) => this.labels.partition(key)),
    );
  }

  /**
   * Every chip into its cell.
   *
   * @param {Scene} scene
   * @param {boolean} animate
   * @returns {Element[]} the chips that have another holder than before
   */
  #place({ frame, moment, views, free, since, forward, unread, marked }, animate) {
    /** @type {Element[]} */
    const moved = [];
    /** @type {Map<string, string>} */
    const now = new Map();
    for (const column of this.columns) {
      const { key } = column;
      const node = this.#chips.get(key);
      if (!node) continue;
      const view = views.get(key);
      if (isShare(frame) && view?.holder) {
        node.remove();
        this.#share(column, view, frame);
        continue;
      }
      if (!free.has(key) && !view?.holder) {
        node.remove();
        continue;
      }
      const lane = view?.holder ? this.cast.lane(view.holder) : null;
      const home = lane ? (this.#rows.has(lane.key) ? lane.key : REST) : POOL;
      const cell = /** @type {HTMLElement} */ (this.#cells.get(`${home}\n${key}`));
      const mode = view?.mode ?? 'free';
      const flying = node.classList.contains('moving') ? ' moving' : '';
      const idle = mode === 'own' || mode === 'leaving' ? unread?.get(key) : undefined;
      const mark = mode === 'twice' ? undefined : marked?.get(key);
      node.className = `chip ${mode}${idle ? ` unread ${idle}` : ''}${flying}`;
      node.dataset.mode = mode;
      if (lane) node.dataset.hue = lane.hue;
      else delete node.dataset.hue;
      const name = (/** @type {string} */ member) => this.cast.name(member);
      node.setAttribute(
        'aria-label',
        `${chipWords(view, this.labels.partition(key), name, this.labels.having.who)}${idle ? `; ${UNREAD[idle]}` : ''}${mark ? `; ${mark.says}` : ''}`,
      );
      if (node.parentNode !== cell) cell.prepend(node);
      const since_ms = since(key);
      const caption = mark
        ? [mark.caption]
        : idle && mode === 'own'
          ? [UNREAD[idle]]
          : captionOf(view, this.#grid, {
              free_ms: since_ms === null ? null : frame.at_ms - since_ms,
              released: moment?.shape === 'acknowledge',
            });
      if (caption.length)
        node.after(
          h(
            'div',
            { class: mark || (idle && mode === 'own') ? 'cap bad' : mode === 'own' ? 'cap' : 'cap w' },
            ...caption,
          ),
        );

      if (mode === 'twice') for (const other of view?.holders.slice(1) ?? []) alsoOwned(column, other, this.#grid);
      now.set(key, home);
      const was = this.#before?.get(key);
      if (was !== undefined && was !== home) {
        moved.push(node);
        const left = was === POOL ? null : this.#cells.get(`${was}\n${key}`);
        if (left && forward) left.append(h('div.foot', this.compact ? 'left' : 'just left'));
      }
    }
    this.#before = now;
    return animate ? moved : [];
  }

  /** A chip in the lane of every reader; none of them moves when another comes. @param {Column} column @param {PartitionView} view @param {Frame} frame */
  #share(column, view, frame) {
    for (const holder of view.holders) {
      const lane = this.cast.lane(holder);
      const node = this.#chip(column);
      node.classList.add('own', 'reader');
      node.dataset.mode = 'own';
      node.dataset.hue = lane.hue;
      node.setAttribute(
        'aria-label',
        chipWords(view, this.labels.partition(column.key), (member) => this.cast.name(member), this.labels.having.who),
      );
      const sentence = readingChanges(frame, holder).leaves.includes(column.key)
        ? 'to leave'
        : view.holders.length > 1
          ? `shared by ${view.holders.length}`
          : '';
      const cell = this.cellOf(lane.key, column.key);
      // One of several readers without a lane stands in for all.
      if (cell && !cell.querySelector('.chip'))
        cell.prepend(node, ...(sentence ? [h('div.cap.reader', sentence)] : []));
    }
  }

  /** @param {Column} column */
  #chip(column) {
    const node = chip(column, this.labels.prefix(column.topic), this.labels.shape(column.topic));
    node.addEventListener('click', () => this.onPick(column.key));
    return node;
  }

  /** Where a partition is shown for a member: in the row of the others, if it has no lane. @param {string} lane @param {string} key */
  cellOf(lane, key) {
    return this.#cells.get(`${lane}\n${key}`) ?? this.#cells.get(`${REST}\n${key}`);
  }

  /** @param {string} lane */
  rowOf(lane) {
    return this.#rows.get(lane);
  }

  #tether() {
    drawTethers(this.svg, this.root, this.#pairs);
  }

  /** What is drawn into cells, and by what. @returns {import('./outlines.js').Grid} */
  get #grid() {
    return {
      columns: this.columns,
      cast: this.cast,
      labels: this.labels,
      cellOf: (lane, key) => this.cellOf(lane, key),
      chipOf: (key) => this.#chips.get(key),
    };
  }

  #fit() {
    fitNames(this.root, this.columns, this.labels);
    this.#tether();
  }

  /** @param {string} lane @param {string} [hue] */
  #row(lane, hue) {
    const row = h(
      'div',
      {
        class: `row lane${OTHERS[lane] ?? ''}`,
        role: 'row',
        'data-hue': hue,
        'data-lane': lane in OTHERS ? null : lane,
      },
      h('div.lead', { role: 'rowheader', tabindex: lane in OTHERS ? null : '0' }),
    );
    for (const [at, { key, topic, folded }] of this.columns.entries()) {
      const begins = at > 0 && this.columns[at - 1].topic !== topic;
      const cell = h(`div.cell${folded ? '.fold' : ''}${begins ? '.begins' : ''}`, {
        role: 'gridcell',
        'data-col': key,
      });
      this.#cells.set(`${lane}\n${key}`, cell);
      row.append(cell);
    }
    row.append(h('div.note', { role: 'gridcell' }));
    if (lane in OTHERS) this.root.append(row);
    return row;
  }
}

/** @param {Element} row @param {string} selector */
function child(row, selector) {
  return /** @type {HTMLElement} */ (row.querySelector(selector));
}
