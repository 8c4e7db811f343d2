/**
 * The board of many members, or of more partitions than columns fit: members that the headline names or that do something now have a lane
 * as on a small board; all others are one row, which opens to a line a member. Each column has one mark also where most lanes
 * are folded. Where columns do not fit, quiet runs of them are one.
 *
 * @import {Cast} from '../frame/cast.js'
 * @import {Labels} from '../frame/labels.js'
 * @import {Column, Frame} from '../types'
 * @import {Scene} from './lanes.js'
 */

import { stillReads, troubledOf } from '../frame/hardships.js';
import { Hues, namedIn } from '../frame/hues.js';
import { folded as plain } from '../frame/names.js';
import { heldBy, isShare, keysOf } from '../frame/view.js';
import { h } from '../shared/dom.js';
import { textSize } from '../shared/text-size.js';
import { Lanes, REST } from './lanes.js';
import { heaps, linesOf } from './others.js';
import { columnsNamed, commonOf, foldedColumns, othersText, seatsOf } from './seats.js';

/** Narrower columns cannot show a number. */
const COLUMN_LEAST = 15;
/** An open column among folded ones. */
const OPEN_WIDE = 46;
const OPEN_NARROW = 30;
/** More columns than this fit on no screen. */
const HOT_MOST = 500;
/** Open columns leave a fifth of the width to the folded ones. */
const OPEN_SHARE = 0.8;
/** So few members are shown one by one from the start, where none of them has a lane. */
const OPENED_MOST = 12;

export class Crowd {
  #open = /** @type {boolean | null} */ (null);
  #fold = false;
  #picked = /** @type {string | null} */ (null);
  /** @type {Set<string>} */
  #pinned = new Set();
  /** @type {Lanes | null} */
  #lanes = null;
  #shape = '';
  /** @type {Scene | null} */
  #scene = null;
  /** @type {Column[]} */
  #all = [];
  /** The columns that are drawn. @type {Column[]} */
  #columns = [];
  #width = 0;
  /** @type {ResizeObserver} */
  #watch;

  /**
   * @param {HTMLElement} root
   * @param {object} options
   * @param {Cast} options.cast
   * @param {Labels} options.labels
   * @param {(key: string) => void} [options.onPick]
   * @param {() => string} [options.headline] members in it have a lane
   * @param {(() => string) | null} [options.story] members in it have a hue, at each moment; null where hues are given elsewhere
   * @param {(() => void) | null} [options.onOpen] shows the others elsewhere
   */
  constructor(root, { cast, labels, onPick = () => {}, headline = () => '', story = null, onOpen = null }) {
    this.story = story;
    this.onOpen = onOpen;
    this.root = root;
    this.cast = cast;
    this.labels = labels;
    this.onPick = onPick;
    this.headline = headline;
    this.hues = new Hues();
    root.className = 'crowd';
    root.removeAttribute('role');
    this.finds = /** @type {HTMLInputElement} */ (
      h('input.field.sm', {
        type: 'search',
        placeholder: 'Find a member or partition',
        'aria-label': 'Find a member or a partition; Enter pins it',
        onkeydown: (/** @type {KeyboardEvent} */ event) => this.#found(event),
      })
    );
    this.answer = h('span.quiet.small', { role: 'status' });
    this.pins = h('span.pins');
    this.folds = h('button.btn.sm', { 'aria-pressed': 'false', onclick: () => this.fold() }, 'Fold columns');
    this.grid = h('div');
    this.others = h('div.others', { role: 'table', 'aria-label': 'The other members', hidden: true });
    root.replaceChildren(
      h('div.crowdbar', onOpen ? null : this.finds, onOpen ? null : this.pins, this.answer, h('span.grow'), this.folds),
      this.grid,
      this.others,
      h(
        'p.crowdfoot',
        h('span.lg', h('i.k.own'), 'read'),
        h('span.lg', h('i.k.rev'), 'being revoked'),
        h('span.lg', h('i.k.want'), 'target owner'),
        h('span.lg', h('i.k.ringed'), 'unread'),
        h('span.lg', h('i.k.other'), 'one of the others'),
        h('span.grow'),
        h(
          'span.crowdkeys',
          { 'aria-hidden': 'true' },
          h('kbd', 'O'),
          ' open the others ',
          h('kbd', 'X'),
          ' fold columns ',
          h('kbd', '/'),
          ' find and pin',
        ),
      ),
    );
    this.#watch = new ResizeObserver(() => {
      if (Math.abs(this.root.clientWidth - this.#width) > 1) this.#again();
    });
    this.#watch.observe(root);
  }

  destroy() {
    this.#watch.disconnect();
    this.#lanes?.destroy();
    this.root.replaceChildren();
    this.root.className = '';
  }

  #again() {
    if (this.#scene) this.render(this.#scene, false, this.#all);
  }

  /** Opens the row of the others, or closes it. */
  open() {
    if (this.onOpen) {
      this.onOpen();
      return;
    }
    this.#open = this.others.hidden;
    this.#again();
  }

  /** Folds columns in which nothing happens, or shows all that fit. */
  fold() {
    this.#fold = !this.#fold;
    this.#again();
  }

  /** Gives lanes to members that are pinned elsewhere. @param {readonly string[]} members */
  pin(members) {
    this.#pinned = new Set(members);
    this.#again();
  }

  find() {
    this.finds.focus();
    this.finds.select();
  }

  /** @param {string | null} key */
  pick(key) {
    const changed = this.#picked !== key;
    this.#picked = key;
    if (changed && key && this.#columns.some((column) => column.folded?.includes(key))) this.#again();
    this.#lanes?.pick(key);
  }

  /** @param {KeyboardEvent} event */
  #found(event) {
    if (event.key !== 'Enter' && event.key !== 'Escape') return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === 'Escape') {
      this.finds.value = '';
      this.answer.textContent = '';
      this.finds.blur();
      return;
    }
    const wanted = plain(this.finds.value.trim());
    if (!wanted || !this.#scene) return;
    const { frame } = this.#scene;
    const names = Object.keys(frame.members);
    const member =
      names.find((id) => plain(this.cast.name(id)) === wanted) ??
      names.find((id) => plain(this.cast.name(id)).endsWith(wanted));
    const column = this.#all.find(({ key }) => plain(this.labels.partition(key)) === wanted);
    const holder = column && this.#scene.views.get(column.key)?.holder;
    const found = member ?? holder;
    this.answer.textContent = found
      ? ''
      : column
        ? `${this.labels.partition(column.key)} has no owner`
        : 'Nothing found';
    if (found) this.#pinned.add(found);
    if (column && column.key !== this.#picked) this.onPick(column.key);
    this.finds.value = '';
    this.#again();
  }

  /** @param {Scene} scene @param {boolean} animate @param {Column[]} columns all that the group has; none where they are too many */
  render(scene, animate, columns) {
    this.#scene = scene;
    this.#all = columns;
    this.#width = this.root.clientWidth;
    const { frame, moment, views, violation, silent, unread, free } = scene;
    const cast = Object.keys(frame.members).map((id) => ({ key: id, name: this.cast.name(id) }));
    const named = new Set(namedIn(this.headline(), cast));
    const troubled = troubledOf(frame, violation, silent).map(({ member }) => member);
    const { seats, more } = seatsOf({
      frame,
      actor: moment?.actor ?? null,
      broken: violation?.members ?? [],
      named,
      troubled,
      views: views.values(),
      pinned: this.#pinned,
    });
    // Those that the story names keep their hue from step to step.
    if (this.story) {
      const inStory = namedIn(this.story(), cast);
      this.hues.give([...new Set([...inStory, ...this.#pinned, ...seats])].map((member) => this.cast.lane(member).key));
      for (const lane of this.cast.lanes) lane.hue = this.hues.of(lane.key);
    }
    const common = commonOf(this.cast.lanes.map(({ name }) => name));
    this.cast.shorten(common);
    this.#draw(columns, this.#hot(scene, seats));
    const corner = this.grid.querySelector('.colheads > span');
    const { prefix, word } = common;
    corner?.replaceChildren(
      h('span.sr', 'Member'),
      h(
        'span.corner',
        { 'aria-hidden': 'true', title: `All names begin with ${prefix}${word}` },
        prefix ? `${prefix}…` : '',
        h('i', prefix || word ? `${prefix}${word}…` : ''),
      ),
    );
    const lanes = /** @type {Lanes} */ (this.#lanes);
    lanes.render({ ...scene, seats }, animate);
    for (const head of this.grid.querySelectorAll('.ch[data-col]')) {
      const key = /** @type {HTMLElement} */ (head).dataset.col ?? '';
      head.classList.toggle('hot', free.has(key) || Boolean(unread?.has(key)));
    }
    lanes.pick(this.#picked);
    const others = Object.keys(frame.members).filter((member) => !seats.has(member));
    this.#rest(scene, lanes, others, more.length);
    heaps(scene, { lanes, columns: this.#columns, seats, cast: this.cast, labels: this.labels });
    this.#pins(frame);
    const opened = this.#open ?? (seats.size === 0 && others.length <= OPENED_MOST);
    this.others.hidden = !opened || !others.length || this.onOpen !== null;
    this.others.style.setProperty('--template', this.grid.style.getPropertyValue('--template'));
    const lines = { columns: this.#columns, cast: this.cast, labels: this.labels };
    this.others.replaceChildren(...(this.others.hidden ? [] : linesOf(scene, others, lines)));
    if (!this.onOpen) this.grid.querySelector('.opens')?.setAttribute('aria-expanded', String(!this.others.hidden));
  }

  /** Partitions whose columns stay open. @param {Scene} scene @param {ReadonlySet<string>} seats @returns {Set<string>} */
  #hot({ frame, views, free, unread, marked }, seats) {
    const hot = new Set(this.#picked ? [this.#picked] : []);
    for (const key of [...(unread?.keys() ?? []), ...(marked?.keys() ?? [])]) hot.add(key);
    for (const view of views.values()) if (view.mode !== 'own' && view.mode !== 'free') hot.add(view.key);
    for (const key of free) {
      if (hot.size > HOT_MOST) break;
      hot.add(key);
    }
    for (const member of seats)
      for (const key of frame.members[member] ? keysOf(heldBy(frame, member)) : stillReads(frame, member)) hot.add(key);
    return hot;
  }

  /** The matrix with the columns of this moment: another one only where these are others. @param {Column[]} columns @param {Set<string>} hot */
  #draw(columns, hot) {
    const width = this.root.clientWidth / textSize() || 1000;
    const isNarrow = width < 720;
    const room = width - (isNarrow ? 118 : 228 + 214);
    const folds = this.#fold || columns.length * COLUMN_LEAST > room;
    const openWide = isNarrow ? OPEN_NARROW : OPEN_WIDE;
    const most = Math.max(4, Math.floor((room * OPEN_SHARE) / openWide));
    const open = new Set([...hot].slice(0, most));
    const drawn = !columns.length ? columnsNamed(open) : folds ? foldedColumns(columns, open) : columns;
    this.folds.setAttribute('aria-pressed', String(folds));
    const shape = drawn.map(({ key }) => key).join(' ');
    if (this.#lanes && shape === this.#shape) return;
    this.#lanes?.destroy();
    this.#shape = shape;
    this.#columns = drawn;
    const { cast, labels, onPick } = this;
    this.#lanes = new Lanes(this.grid, { columns: drawn, cast, labels, onPick, rest: true });
    const isFolded = drawn.some((column) => column.folded);
    const track = (/** @type {Column} */ { folded }) =>
      folded ? `minmax(.75rem, ${Math.sqrt(folded.length).toFixed(2)}fr)` : `minmax(0, ${openWide / 16}rem)`;
    this.grid.style.setProperty(
      '--template',
      isFolded ? drawn.map(track).join(' ') : `repeat(${Math.max(1, drawn.length)}, minmax(0, 1fr))`,
    );
    this.grid.classList.toggle('folded', isFolded);
  }

  /** The head and the note of the row of all others. @param {Scene} scene @param {Lanes} lanes @param {string[]} others @param {number} more in trouble */
  #rest(scene, lanes, others, more) {
    const row = /** @type {HTMLElement} */ (lanes.rowOf(REST));
    row.hidden = !others.length;
    row.classList.toggle('w', more > 0);
    const { frame, free, unread, views } = scene;
    const [text, detail] = othersText(frame, others, views, more);
    const lead = /** @type {HTMLElement} */ (row.querySelector('.lead'));
    // The button keeps the focus from step to step.
    let button = lead.querySelector('button');
    if (!button) {
      button = /** @type {HTMLButtonElement} */ (
        h('button.opens', {
          title: this.onOpen ? 'To the rows of all members (O)' : 'Open or close (O)',
          onclick: () => this.open(),
        })
      );
      lead.append(button);
    }
    button.replaceChildren(h('i.tri', { 'aria-hidden': 'true' }), h('span', h('b', text), h('span.st', detail)));
    const exist = this.#all.length || views.size;
    const read = exist - free.size - [...(unread?.keys() ?? [])].filter((key) => !free.has(key)).length;
    row
      .querySelector('.note')
      ?.replaceChildren(
        h('span', `In the group: ${read} of ${this.labels.counted(exist)} ${isShare(frame) ? 'have readers' : 'read'}`),
      );
  }

  /** @param {Frame} frame */
  #pins(frame) {
    this.pins.replaceChildren(
      ...[...this.#pinned]
        .filter((member) => frame.members[member])
        .map((member) =>
          h(
            'button.btn.sm',
            {
              'aria-label': `Unpin ${this.cast.name(member)}`,
              onclick: () => {
                this.#pinned.delete(member);
                this.#again();
              },
            },
            this.cast.brief(member).join(''),
            h('span', { 'aria-hidden': 'true' }, ' ×'),
          ),
        ),
    );
  }
}
