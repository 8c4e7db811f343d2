/**
 * The timeline: epochs, group state, events, one track per member, stretches without an owner, and the playhead.
 * What lies after the playhead is veiled, not hidden.
 *
 * @import {Frame, Moment, Span} from '../types'
 * @import {Spans} from '../frame/spans.js'
 * @import {Cast} from '../frame/cast.js'
 * @import {Labels} from '../frame/labels.js'
 * @typedef {{steps: Moment[], position: number, rest: {sequence: number, at_ms: number}, frame: Frame | null, end_ms: number}} Play
 */

import { s, sized, text } from '../shared/dom.js';
import { onTextSize, textSize } from '../shared/text-size.js';
import { append } from '../shared/lists.js';
import { placeWords } from './playhead-words.js';
import { isClassic } from '../frame/view.js';
import { epochLines, stateBars } from './epochs.js';
import { coordinators, hardship, silence, violations } from './incidents.js';
import { markOf, pins, pointer } from './marks.js';
import { overview } from './overview.js';
import { FLAG, RIGHT, scale, stepsIn, windowOf } from './scale.js';
import { patterns } from './patterns.js';
import { committedUnder, drawnSpan, partitionHue } from './span.js';
import { ROWS_MOST, pack } from './tracks.js';
import { unowned } from './unowned.js';

/** More tracks than this do not fit next to a board; those that change in the window come first. */
const TRACKS_MOST = 24;
/** Below this width tracks have less room for names on their left. */
const SMALL = 520;
export const leftOf = (/** @type {number} */ width) => (width < SMALL ? 58 : 104);
const WIDTH_LEAST = 180;
/** How high the whole timeline is, above the window in it. */
const OVERVIEW = 18;
/** Under a span, for the line of what was committed. */
const COMMITS_PX = 6;
/** Marks of events lie at least so far apart where more are in sight than there is room for. */
const MARK_LEAST = 2;

export class TimelineView {
  /** @type {ReturnType<typeof scale> | null} */
  #scale = null;
  #key = '';
  #width = 0;
  #room = 0;
  #height = 0;
  #mobile = /** @type {SVGElement | null} */ (null);
  #picked = /** @type {string | null} */ (null);
  /** @type {Play} */
  #play = { steps: [], position: 0, rest: { sequence: 0, at_ms: 0 }, frame: null, end_ms: 0 };
  #revision = 0;
  /** What was committed, by partition: a line under its spans. @type {Map<string, import('../frame/committed.js').Line>} */
  commits = new Map();
  /** The entries of notes, in the order of their numbers. @type {number[]} */
  notes = [];
  /** Where a presenter points: at a step, and how far down. @type {{sequence: number, down: number, name: string} | null} */
  pointer = null;

  /**
   * @param {HTMLElement} root
   * @param {object} options
   * @param {Spans} options.spans
   * @param {Cast} options.cast
   * @param {Labels} options.labels
   * @param {(sequence: number) => void} options.onSeek
   * @param {(sequence: number) => number | null} options.numberOf a step
   * @param {() => import('../types').SilentSpan[]} [options.silences]
   */
  constructor(root, { spans, cast, labels, onSeek, numberOf, silences = () => [] }) {
    this.numberOf = numberOf;
    this.silences = silences;
    this.root = root;
    this.spans = spans;
    this.cast = cast;
    this.labels = labels;
    this.onSeek = onSeek;
    /** @type {'events' | 'time'} */
    this.axis = 'events';
    /** Where the reader zooms: it comes with the first gesture. @type {import('./zoom.js').Zooming | null} */
    this.zooming = null;
    /** The steps in sight. @type {{from: number, to: number, from_ms?: number, to_ms?: number}} */
    this.shown = { from: 0, to: 0 };
    /** How many steps there is room for. */
    this.most = 0;
    /** @type {'member' | 'partition'} */
    this.hue = 'member';
    this.svg = s('svg.tl');
    root.append(this.svg);
    root.setAttribute('role', 'slider');
    root.setAttribute('tabindex', '0');
    root.setAttribute('aria-label', 'Step of the timeline');
    this.#scrub();
    new ResizeObserver(([{ contentRect }]) => {
      // Its width is remembered: to ask for it while drawing would lay the whole page out at each step.
      this.#room = contentRect.width / textSize();
      if (Math.abs(Math.max(WIDTH_LEAST, this.#room) - this.#width) > 1) this.draw();
    }).observe(root);
    onTextSize(() => {
      this.#room = root.clientWidth / textSize();
      this.draw();
    });
  }

  /** Something but the playhead has changed: the spans, the axis, the colours. */
  redraw() {
    this.#revision += 1;
    this.draw();
  }

  /** @param {string | null} key the partition that the reader chose */
  pick(key) {
    this.#picked = key;
    this.redraw();
  }

  get play() {
    return this.#play;
  }

  get scale() {
    return this.#scale;
  }

  get width() {
    return this.#width;
  }

  /** @param {Play} play */
  move(play) {
    const moved = play.rest.sequence !== this.#play.rest.sequence;
    this.#play = play;
    if (moved) this.zooming?.follow();
    const step = play.steps[play.position - 1];
    this.root.setAttribute('aria-valuemin', '0');
    const last = play.steps[play.steps.length - 1];
    this.root.setAttribute('aria-valuemax', String((last && this.numberOf(last.sequence)) ?? play.steps.length));
    this.root.setAttribute('aria-valuenow', String((step && this.numberOf(play.rest.sequence)) ?? play.position));
    this.root.setAttribute(
      'aria-valuetext',
      step ? `${placeWords(this.numberOf(step.sequence), step.sequence)}: ${step.says}` : 'before the first step',
    );
    this.draw();
  }

  draw() {
    const { steps, position } = this.#play;
    if (!this.#room) this.#room = this.root.clientWidth / textSize();
    const width = Math.max(WIDTH_LEAST, this.#room);
    this.most = stepsIn(width - leftOf(width) - RIGHT);
    this.shown = this.zooming?.shown ?? windowOf(steps.length, position, this.most);
    const { shown } = this;
    const key = [
      width,
      steps[0]?.sequence ?? 0,
      shown.from,
      shown.to,
      this.axis,
      this.hue,
      this.#revision,
      steps.length,
    ].join(':');
    if (key !== this.#key) {
      this.#key = key;
      this.#width = width;
      this.#still(width, shown);
      this.zooming?.place();
    }
    this.#moving(width);
  }

  /** All that does not move with the playhead. @param {number} width @param {{from: number, to: number, from_ms?: number, to_ms?: number}} shown */
  #still(width, shown) {
    const { steps, end_ms, frame } = this.#play;
    const classic = frame !== null && isClassic(frame);
    const small = width < SMALL;
    const left = leftOf(width);
    const right = width - RIGHT;
    const at = scale({ axis: this.axis, steps, window: shown, left, right, end_ms });
    this.#scale = at;
    const nodes = [patterns()];
    const windowed = shown.to - shown.from < steps.length;
    const top = windowed ? 22 : 0;
    if (windowed) nodes.push(overview({ steps, shown, left, right, epochs: this.spans.epochs }));

    const yEpoch = top + 16;
    const yState = top + 34;
    const yCoordinator = top + 52;
    const more = this.spans.coordinators.length ? 18 : 0;
    const yEvents = top + 52 + more;
    const noted = this.notes.length ? 18 : 0;
    const yTracks = top + 66 + more + noted;
    if (!small) {
      nodes.push(
        text(14, yEpoch + 1, 'Epoch', 'dim'),
        text(14, yState + 2, 'Group state', 'dim'),
        text(14, yEvents + 4, 'Events', 'dim'),
      );
    }
    if (more && !small) nodes.push(text(14, yCoordinator + 2, 'Coordinator', 'dim'));
    if (noted && !small) nodes.push(text(14, yEvents + 22, 'Notes', 'dim'));
    const tracks = this.#tracks(at, width, yTracks, small, left);
    const yPool = tracks.bottom + 4;
    this.#height = yPool + 22;
    nodes.push(
      ...unowned(at, this.spans, this.labels, { top: yTracks, bottom: tracks.bottom, yPool, small, left, right }),
      ...epochLines(at, this.spans, classic, { y1: top + 4, yText: yEpoch + 1, y2: yPool - 3, left, right }),
      ...stateBars(at, this.spans, yState, left),
      ...coordinators(at, this.spans, { y: yCoordinator, top: yTracks - 4, bottom: tracks.bottom, left }),
      ...this.#events(at, yEvents),
      ...pins(at, this.notes, yEvents + 18),
      ...tracks.nodes,
      ...violations(at, this.spans, { top: yEvents + 11, bottom: tracks.bottom, left, right }),
    );
    if (!small) nodes.push(text(14, yPool + 10, this.labels.having.none, 'dim'));
    this.#mobile = s('g.moving');
    this.svg.setAttribute('viewBox', `0 0 ${width} ${this.#height}`);
    sized(this.svg, { height: this.#height });
    this.svg.replaceChildren(...nodes, this.#mobile);
  }

  /** The veil over the future, the playhead, and the epochs of the members at it. @param {number} width */
  #moving(width) {
    const at = this.#scale;
    if (!at || !this.#mobile) return;
    const { position, rest, steps, frame } = this.#play;
    const there = position ? at.between(rest.sequence, rest.at_ms) : Math.max(at.ofStep(0) - 12, 0);
    // Of a playhead out of sight the edge shows on which side it is.
    const x = Math.min(width, Math.max(leftOf(width) - 4, there));
    const top = this.#height > 0 && steps.length > at.shown.length ? 22 : 0;
    const nodes = [
      s('rect.veil', { x, y: top, width: Math.max(0, width - x), height: this.#height - top }),
      s('line.head', { x1: x, x2: x, y1: top + 8, y2: this.#height - 4 }),
      s('path.flag', { d: `M${x - FLAG / 2} ${top}h${FLAG}v11l${-FLAG / 2} 6-${FLAG / 2}-6z` }),
      text(x, top + 10.5, String((position ? this.numberOf(rest.sequence) : 0) ?? ''), 'num', 'middle'),
    ];
    const classic = frame !== null && isClassic(frame);
    for (const [lane, y] of this.#labels) {
      const member = frame ? Object.keys(frame.members).find((id) => this.cast.lane(id).key === lane) : undefined;
      const state = member && frame ? frame.members[member] : null;
      const epoch = state?.epoch ?? (state ? frame?.generation : null);
      nodes.unshift(
        text(
          this.#labelX,
          y,
          state ? (this.#labelX < 36 ? `@${epoch}` : `${classic ? 'gen.' : 'epoch'} ${epoch}`) : '–',
          'mono',
        ),
      );
    }
    if (this.pointer && at.shows(this.pointer.sequence, this.pointer.sequence)) {
      const { sequence, down, name } = this.pointer;
      nodes.push(pointer(at.of(sequence), down * this.#height, name));
    }
    this.#mobile.replaceChildren(...nodes);
  }

  /** @type {[string, number][]} */
  #labels = [];
  #labelX = 39;

  /** @param {ReturnType<typeof scale>} at @param {number} width @param {number} top @param {boolean} small @param {number} left */
  #tracks(at, width, top, small, left) {
    this.#labels = [];
    this.#labelX = small ? 33 : 39;
    const nodes = [];
    /** @type {Map<string, Span[]>} */
    const byLane = new Map();
    for (const span of this.spans.spans) if (at.shows(span.from, span.to)) append(byLane, span.lane, span);
    const lanes = this.cast.lanes;
    const busy = (/** @type {string} */ lane) => (byLane.get(lane) ?? []).length;
    const chosen =
      lanes.length <= TRACKS_MOST
        ? lanes
        : [...lanes]
            .sort((a, b) => busy(b.key) - busy(a.key))
            .slice(0, TRACKS_MOST)
            .sort((a, b) => a.order - b.order);
    const dense = chosen.length > 12;
    let y = top;
    for (const lane of chosen) {
      const { placed, rows } = pack(byLane.get(lane.key) ?? []);
      const merged = dense || rows > ROWS_MOST;
      const row = merged ? (dense ? 9 : 11) : rows > 4 || small ? 9 : 11;
      const lined = !merged && placed.some(({ span }) => this.commits.has(span.key));
      const pitch = row + (lined ? COMMITS_PX : 0);
      const height = (merged ? row : Math.max(rows, 2) * pitch) + (dense ? 4 : 9);
      const middle = y + height / 2 - 4;
      nodes.push(s('line.rule', { x1: 0, x2: width, y1: y - 3.5, y2: y - 3.5 }));
      nodes.push(
        s(
          'g',
          { 'data-hue': lane.hue },
          s('title', lane.name),
          dense ? null : s('circle', { cx: small ? 20 : 23, cy: middle, r: 9, fill: 'var(--m)' }),
          text(
            dense ? (small ? 20 : 23) : small ? 20 : 23,
            middle + 4,
            dense && lane.name.length <= 4 ? lane.name : lane.badge,
            dense ? 'dim' : (['disc', 'disc', 'disc two', 'disc small'][lane.badge.length] ?? 'disc small'),
            'middle',
          ),
        ),
      );
      this.#labels.push([lane.key, middle + 4]);
      for (const stretch of this.spans.hard) {
        if (stretch.lane === lane.key) nodes.push(...hardship(at, stretch, y + height - (dense ? 4 : 8), left));
      }
      for (const one of this.silences()) {
        if (this.cast.lane(one.member).key === lane.key)
          nodes.push(...silence(at, one, y + height - (dense ? 4 : 8), left));
      }
      for (const { span, row: index } of placed) {
        const look = this.#look(span, lane.hue);
        const place = { y: y + (merged ? 0 : index * pitch), row, left, named: !merged };
        nodes.push(...drawnSpan(at, span, look, place));
        if (lined) {
          const under = { y: y + index * pitch + row + 4, left };
          nodes.push(...committedUnder(at, span, this.commits.get(span.key), look, under));
        }
      }
      y += height;
    }
    if (chosen.length < lanes.length) {
      nodes.push(text(14, y + 8, `${lanes.length - chosen.length} more members, not shown here`, 'dim'));
      y += 16;
    }
    return { nodes, bottom: y };
  }

  /** @param {Span} span @param {string} laneHue */
  #look(span, laneHue) {
    return {
      hue: this.hue === 'member' ? laneHue : partitionHue(span.key),
      faint: this.#picked !== null && this.#picked !== span.key,
      label: this.labels.partition(span.key),
    };
  }

  /** @param {ReturnType<typeof scale>} at @param {number} y */
  #events(at, y) {
    const first = this.#play.steps.indexOf(at.shown[0]);
    let free = -Infinity;
    return at.shown.flatMap((step, index) => {
      const x = at.ofStep(first + index);
      // Of marks that would lie on each other the first one is drawn.
      if (x < free) return [];
      free = x + MARK_LEAST;
      const hue = this.cast.knows(step.actor) ? this.cast.lane(step.actor).hue : 'x';
      return s(
        'g.event',
        { transform: `translate(${x.toFixed(1)} ${y})`, 'data-hue': hue },
        s('title', `${placeWords(this.numberOf(step.sequence), step.sequence)}: ${step.says}`),
        s('rect', { x: -9, y: -9, width: 18, height: 18, fill: 'transparent' }),
        markOf(step.shape),
      );
    });
  }

  /** In the drawing, and in its height from 0 to 1. @param {PointerEvent} event */
  #placeOf(event) {
    const box = this.svg.getBoundingClientRect();
    const down = Math.min(1, Math.max(0, (event.clientY - box.top) / box.height));
    return { x: ((event.clientX - box.left) * this.#width) / box.width, down };
  }

  /** The step at a pointer by its entry, and how far down in hundredths. @param {PointerEvent} event */
  pointed(event) {
    const { x, down } = this.#placeOf(event);
    const step = this.#scale && this.#play.steps[this.#scale.nearest(x)];
    return step ? `${step.sequence}-${Math.round(100 * down)}` : '';
  }

  #scrub() {
    let down = false;
    const seek = (/** @type {PointerEvent} */ event) => {
      const at = this.#scale;
      const { steps } = this.#play;
      if (!at || !steps.length) return;
      const { x, down: share } = this.#placeOf(event);
      const inOverview = steps.length > at.shown.length && share * this.#height < OVERVIEW;
      const left = leftOf(this.#width);
      const index = inOverview
        ? Math.min(
            steps.length - 1,
            Math.max(0, Math.round(((x - left) / (this.#width - RIGHT - left)) * (steps.length - 1))),
          )
        : at.nearest(x);
      if (steps[index] && index !== this.#play.position - 1) this.onSeek(steps[index].sequence);
    };
    this.root.addEventListener('pointerdown', (event) => {
      if (event.button !== 0 || this.zooming?.takes(event)) return;
      down = true;
      this.root.setPointerCapture(event.pointerId);
      seek(event);
    });
    this.root.addEventListener('pointermove', (event) => {
      if (down && !this.zooming?.takes(event)) seek(event);
    });
    for (const name of ['pointerup', 'pointercancel']) {
      this.root.addEventListener(name, () => {
        down = false;
      });
    }
  }
}
