/**
 * The lag of a group over time, and what each rebalance cost: a track with the board's playhead, values under the pointer or by keys,
 * and both as tables. It is asked for when the panel is opened.
 *
 * @import {Cast} from '../frame/cast.js'
 * @import {Lag, NamedLine} from './lag-words.js'
 * @typedef {'partition' | 'member' | 'topic'} By
 */

import { h, press, seg, table } from '../shared/dom.js';
import { counted } from '../shared/numbers.js';
import { onTextSize, textSize } from '../shared/text-size.js';
import { CLOCK_FROM_MS, onZone } from '../shared/times.js';
import { messageOf } from '../shared/errors.js';
import { capital, when } from '../frame/words.js';
import { hueAt, lagDrawing, lagLegend } from './lag-drawing.js';
import { REASONS, costCells, lagText, lineName, nearestLook, reasonsOf, skewText } from './lag-words.js';

/** Lines of the drawing and columns of the table: more are not distinguished. They are those with the greatest lag. */
const LINES_MOST = 8;
const ROWS_MOST = 200;
const RESIZED_MS = 80;
/** A watched group has a round every five seconds. */
const AGAIN_MS = 10_000;
const COLUMNS = ['Moved', 'Unassigned', 'Not read', 'Records waited', 'Caught up after', 'Read twice'];

export class LagPanel {
  /** @type {Lag | null} */
  #lag = null;
  /** @type {NamedLine[]} */
  #lines = [];
  /** @type {By} */
  #by = 'member';
  /** @type {import('./lag-words.js').Unit} */
  #unit = 'records';
  #at_ms = 0;
  #at = /** @type {number | null} */ (null);
  #asked = 0;
  /** @type {ReturnType<typeof lagDrawing> | null} */
  #drawing = null;
  #plot = h('div.figure', {
    role: 'slider',
    tabindex: '0',
    'aria-label': 'Lag over time',
    'aria-valuemin': '0',
    'aria-valuemax': '0',
    'aria-valuenow': '0',
  });
  #status = h('p.quiet.small', { role: 'status' });
  #legend = h('div.legend', { 'aria-hidden': 'true' });
  #words = h('div.scrolls', { tabindex: '0', role: 'region', 'aria-label': 'Lag over time as a table' });
  #skew = h('div.figure-words');
  #costs = h('div');

  /**
   * @param {object} parts
   * @param {HTMLDetailsElement} parts.panel
   * @param {Cast} parts.cast
   * @param {(by: By) => Promise<Lag>} parts.fetchLag
   * @param {import('../types').Meta} parts.meta
   * @param {() => import('../types').Moment[]} parts.moments those that are loaded
   * @param {(sequence: number) => void} parts.onSeek
   */
  constructor(parts) {
    this.parts = parts;
    const { panel, meta } = parts;
    panel.append(
      h(
        'div.phead.tlh',
        this.#choice('Lag of', ['member', 'topic', 'partition'], this.#by, (by) => {
          this.#by = /** @type {By} */ (by);
          this.#ask();
        }),
        this.#choice('Unit', ['records', 'seconds'], this.#unit, (unit) => {
          this.#unit = /** @type {import('./lag-words.js').Unit} */ (unit);
          this.#draw();
        }),
        h('span.grow'),
        this.#legend,
      ),
      this.#plot,
      h('div.figure-words', this.#status, h('details', h('summary', 'As a table'), this.#words)),
      this.#skew,
      this.#costs,
    );
    this.#wire();
    let resized = /** @type {any} */ (null);
    new ResizeObserver(() => {
      clearTimeout(resized);
      resized = setTimeout(() => this.#draw(), RESIZED_MS);
    }).observe(this.#plot);
    onZone(() => this.#show());
    onTextSize(() => this.#draw());
    setInterval(() => {
      if (panel.open && !document.hidden && meta.status === 'running') this.#ask();
    }, AGAIN_MS);
    this.#ask();
  }

  /** The board's playhead is at this time. @param {number} at_ms */
  move(at_ms) {
    this.#at_ms = at_ms;
    this.#drawing?.move(at_ms);
  }

  /** When the timeline begins and ends. @returns {[number, number]} */
  get #span() {
    const { first_ms: first, last_ms: last } = this.parts.meta.summary;
    return [first ?? this.parts.moments()[0]?.at_ms ?? 0, last ?? 0];
  }

  /** The board goes to the last moment of a time: of those that are loaded, and of the rebalances. @param {number} ms */
  #go(ms) {
    const known = [...(this.#lag?.rebalances ?? []), ...this.parts.moments()].filter(({ at_ms }) => at_ms <= ms);
    if (known.length) this.parts.onSeek(Math.max(...known.map(({ sequence }) => sequence)));
  }

  /** @param {string} label @param {string[]} values @param {string} now @param {(value: string) => void} choose */
  #choice(label, values, now, choose) {
    const choices = values.map((value) => /** @type {const} */ ([value, capital(value)]));
    const root = seg(label, choices, now, (value) => {
      press(root, value);
      choose(value);
    });
    return root;
  }

  async #ask() {
    this.#asked += 1;
    const asked = this.#asked;
    if (!this.#lag) this.#status.textContent = 'Reading offsets …';
    try {
      const lag = await this.parts.fetchLag(this.#by);
      if (asked !== this.#asked) return;
      this.#lag = lag;
      // Owners of an import are known once its chunks were opened, a few with each answer.
      if (lag.earlier === null) setTimeout(() => asked === this.#asked && this.#ask(), RESIZED_MS);
      this.#show();
    } catch (error) {
      if (asked === this.#asked) this.#status.textContent = messageOf(error, 'No answer.');
    }
  }

  #show() {
    const lag = this.#lag;
    if (!lag) return;
    const most = (/** @type {NamedLine} */ line) => Math.max(0, ...line.records.map((value) => value ?? 0));
    this.#lines = [...lag.lines].sort((a, b) => most(b) - most(a)).slice(0, LINES_MOST);
    this.#at = null;
    const known = lag.times_ms.length > 0;
    this.#plot.hidden = !known;
    this.#words.parentElement?.toggleAttribute('hidden', !known);
    this.#status.textContent = lag.problem ?? this.#hint();
    this.#draw();
    const name = (/** @type {string} */ member) => this.parts.cast.name(member);
    const lost = lag.lost.map(
      ({ partition, records, at_ms: ms }) =>
        `${counted(records, 'record')} of ${partition} ${records === 1 ? 'was' : 'were'} deleted before the group read them, first seen ${this.#when(ms)}.`,
    );
    const sentences = [...lost, ...lag.skew.map((one) => skewText(one, name))];
    this.#skew.hidden = !sentences.length;
    this.#skew.replaceChildren(...sentences.map((text) => h('p.small', text)));
    this.#costs.replaceChildren(...this.#costTable(lag));
  }

  #hint() {
    const left = (this.#lag?.lines.length ?? 0) + (this.#lag?.more ?? 0) - this.#lines.length;
    return `← and → read values, Enter moves the board there.${left > 0 ? ` The ${LINES_MOST} with the greatest lag; ${left} more count in the total.` : ''}`;
  }

  #draw() {
    const wide = this.#plot.clientWidth / textSize();
    if (!this.#lag?.times_ms.length || !wide) return;
    const lag = { ...this.#lag, lines: this.#lines };
    const hueOf = (/** @type {NamedLine} */ { member }, /** @type {number} */ at) =>
      member === null ? hueAt(at) : this.parts.cast.lane(member).hue;
    this.#drawing = lagDrawing({ lag, unit: this.#unit, wide: wide - 16, span: this.#span, hueOf });
    this.#plot.replaceChildren(this.#drawing.svg);
    this.#drawing.move(this.#at_ms);
    this.#plot.setAttribute('aria-valuemax', String(lag.times_ms.length - 1));
    this.#plot.setAttribute('data-ready', 'true');
    const name = (/** @type {string} */ member) => this.parts.cast.name(member);
    this.#legend.replaceChildren(
      ...lagLegend(this.#lines.map((line, at) => ({ hue: hueOf(line, at), name: lineName(line, name) }))),
    );
    this.#words.replaceChildren(...this.#table(lag));
    this.#read(this.#at);
  }

  /** Values of one look are shown and announced. @param {number | null} at */
  #read(at) {
    this.#at = at;
    this.#drawing?.read(at);
    const lag = this.#lag;
    if (at === null || !lag?.times_ms.length) return;
    const name = (/** @type {string} */ member) => this.parts.cast.name(member);
    const parts = this.#lines.map((line) => `${lineName(line, name)} ${lagText(line, this.#unit, at)}`);
    const why = lag.total.why[at];
    const total = `${this.#when(lag.times_ms[at])}: ${lagText(lag.total, this.#unit, at)}${why && lag.total[this.#unit][at] === null ? ` (${REASONS[why] ?? why})` : ''}`;
    this.#status.textContent = [total, ...parts].join(' · ');
    this.#plot.setAttribute('aria-valuenow', String(at));
    this.#plot.setAttribute('aria-valuetext', this.#status.textContent);
  }

  #wire() {
    const placeOf = (/** @type {PointerEvent | MouseEvent} */ event) => {
      const svg = this.#plot.firstElementChild;
      if (!svg || !this.#drawing) return 0;
      return this.#drawing.msOf((event.clientX - svg.getBoundingClientRect().left) / textSize());
    };
    const times = () => this.#lag?.times_ms ?? [];
    this.#plot.addEventListener('pointermove', (event) => {
      if (times().length) this.#read(nearestLook(times(), placeOf(event)));
    });
    this.#plot.addEventListener('click', (event) => this.#go(placeOf(event)));
    this.#plot.addEventListener('keydown', (event) => {
      const last = times().length - 1;
      const from = this.#at ?? nearestLook(times(), this.#at_ms);
      const places = /** @type {{[key: string]: number}} */ ({
        ArrowLeft: Math.max(0, from - 1),
        ArrowRight: Math.min(last, from + 1),
        PageUp: Math.max(0, from - 10),
        PageDown: Math.min(last, from + 10),
        Home: 0,
        End: last,
      });
      if (last < 0 || (!(event.key in places) && event.key !== 'Enter')) return;
      // The board has these keys, too.
      event.preventDefault();
      event.stopPropagation();
      if (event.key === 'Enter') this.#go(times()[from]);
      else this.#read(places[event.key]);
    });
  }

  /** @param {number} ms */
  #when(ms) {
    const [first] = this.#span;
    return when(Math.round(ms), first > CLOCK_FROM_MS ? first : 0);
  }

  /** @param {Lag} lag */
  #table({ times_ms: times, total }) {
    const name = (/** @type {string} */ member) => this.parts.cast.name(member);
    const every = Math.ceil(times.length / ROWS_MOST);
    const places = times.map((_, at) => at).filter((at) => at % every === 0);
    const row = (/** @type {number} */ at) =>
      h(
        'tr',
        h('th.num', { scope: 'row' }, this.#when(times[at])),
        [total, ...this.#lines].map((line) => h('td.num', lagText(line, this.#unit, at))),
      );
    return [
      table('table.t', ['When', 'Total', ...this.#lines.map((line) => lineName(line, name))], places.map(row)),
      every > 1 ? h('p.why', `One look in ${every}; the API has more.`) : '',
    ];
  }

  /** @param {Lag} lag */
  #costTable(lag) {
    if (lag.earlier === null) return [h('p.why', 'The log is being opened …')];
    if (!lag.rebalances.length) return [h('p.why', 'No rebalance is in this timeline.')];
    const row = (/** @type {import('./lag-words.js').RebalanceCost} */ one) =>
      h(
        'tr',
        h(
          'th',
          { scope: 'row' },
          h('a', { href: `?at=${one.sequence}`, 'data-at': one.sequence }, this.#when(one.at_ms)),
        ),
        h('td.num', one.epoch ?? '–'),
        costCells(one).map(({ text, why }) =>
          h('td.num', why !== null ? { class: 'quiet', title: REASONS[why] ?? why } : {}, text ?? 'not known'),
        ),
      );
    const reasons = reasonsOf(lag);
    return [
      h(
        'div.scrolls',
        { tabindex: '0', role: 'region', 'aria-label': 'What each rebalance cost' },
        table('table.t', ['Rebalance', 'Epoch', ...COLUMNS], lag.rebalances.map(row)),
      ),
      h(
        'div.figure-words',
        h(
          'p.quiet.small',
          'Shaded: not read. The bar above: catching up. Unassigned and not read are partition-seconds; not read is about the first number, as silence is inferred, and at most the one behind the dash.',
        ),
        ...reasons.map((reason) =>
          h('p.quiet.small', reason === 'estimate' ? REASONS[reason] : `Not known: ${REASONS[reason]}`),
        ),
      ),
    ];
  }
}
