/**
 * The board of a small group: lanes, a track for each member, and every event in a list. All of it is made of the
 * moments in sight, visited one after another in slices: those of the whole timeline where it is short, else those of the
 * chunk in which the playhead is.
 *
 * @import {Meta, Moment} from '../types'
 * @import {Rest, Timeline} from '../timeline/timeline.js'
 */

import { Board } from '../board/board.js';
import { addCommitted, commitsAround } from '../panels/committed-card.js';
import { Causes } from '../frame/causes.js';
import { consumedWords } from '../frame/consumption.js';
import { Events } from '../panels/events.js';
import { isMereCommit } from '../shared/key-steps.js';
import { showPartition } from '../panels/partition-card.js';
import { beginsIn } from '../panels/problems.js';
import { inSlices } from '../shared/slices.js';
import { counted } from '../shared/numbers.js';
import { Spans } from '../frame/spans.js';
import { fetchBehind } from '../live/still-to-come.js';
import { countUpTo } from '../timeline/timeline.js';
import { TimelineView } from '../timeline/view.js';
import { keyOf } from '../frame/view.js';

/** More commits than this, and more than all else: they are left out of the steps until asked for. */
const COMMITS_MOST = 20;

export class TrackStage {
  #picked = /** @type {string | null} */ (null);
  #commits = true;
  #chosen = false;
  /** The chunk whose moments were visited, where it is one alone. @type {number | null} */
  #chunk = null;
  /** @type {((over?: () => boolean) => boolean) | null} */
  #walkOn = null;
  #walking = 0;

  /**
   * @param {object} parts
   * @param {Timeline} parts.timeline
   * @param {Meta} parts.meta
   * @param {import('../frame/cast.js').Cast} parts.cast
   * @param {import('../frame/labels.js').Labels} parts.labels
   * @param {boolean} parts.whole whether all moments are visited, or those around the playhead
   * @param {{[name: string]: HTMLElement}} parts.places
   * @param {import('../panels/committed-card.js').FetchOffsets | null} parts.fetchOffsets
   * @param {(moment: Moment) => import('../frame/hardships.js').Violation | null} parts.violationAt
   * @param {(sequence: number) => void} parts.onSeek
   * @param {(key: string | null) => void} parts.onPick
   * @param {() => void} parts.onSettled
   */
  constructor({ timeline, meta, cast, labels, whole, places, fetchOffsets, violationAt, onSeek, onPick, onSettled }) {
    this.timeline = timeline;
    this.meta = meta;
    this.cast = cast;
    this.labels = labels;
    this.whole = whole;
    this.places = places;
    this.fetchOffsets = fetchOffsets;
    this.onPick = onPick;
    this.onSettled = onSettled;
    this.spans = new Spans(cast);
    this.causes = new Causes();
    this.board = new Board(places.board, {
      cast,
      labels,
      onPick: (key) => onPick(key === this.#picked ? null : key),
      violationAt,
      silences: () => meta.summary.silences ?? [],
      findings: () => meta.summary.findings ?? [],
      headline: () => meta.summary.verdict?.headline?.text ?? '',
      story: () => meta.summary.verdict?.text ?? '',
    });
    this.view = new TimelineView(places.tracks, {
      spans: this.spans,
      cast,
      labels,
      onSeek,
      numberOf: (sequence) => timeline.numberOf(sequence),
      silences: () => meta.summary.silences ?? [],
    });
    this.events = new Events({
      root: places.log,
      chain: places.chain,
      filter: /** @type {HTMLSelectElement} */ (places.filter),
      cast,
      causeOf: (moment) => this.causeOf(moment),
      numberOf: (moment) => timeline.numberOf(moment.sequence),
      onSeek,
    });
    const { commits } = places;
    commits.addEventListener('click', () => {
      this.#commits = !this.#commits;
      this.#chosen = true;
      this.#settle();
      onSeek(timeline.rest?.sequence ?? timeline.origin);
    });
  }

  /** Its board, where it is one of many members. */
  get crowd() {
    return this.board.crowd;
  }

  /** @param {Moment} moment */
  causeOf(moment) {
    return this.causes.of(moment);
  }

  /** @returns {{sequence: number}[]} */
  get epochs() {
    return this.meta.summary.epochs?.length ? this.meta.summary.epochs : this.spans.epochs;
  }

  /** @param {Rest} rest @param {{animate: boolean, forward: boolean}} how */
  show(rest, { animate, forward }) {
    const scene = this.board.render(rest, { animate, forward, since: (key) => this.#since(key, rest.sequence) });
    if (!this.whole && this.timeline.chunkOf(rest.sequence) !== this.#chunk) this.grow();
    const position = countUpTo(this.#steps, rest.sequence);
    this.view.move({
      steps: this.#steps,
      position,
      frame: rest.frame,
      rest: { sequence: rest.sequence, at_ms: rest.moment?.at_ms ?? rest.frame.at_ms },
      end_ms: this.whole
        ? (this.meta.summary.last_ms ?? rest.frame.at_ms)
        : (this.#steps[this.#steps.length - 1]?.at_ms ?? rest.frame.at_ms),
    });
    this.events.move(position);
    this.#showConsumed(rest.frame);
    return { views: scene.views, violation: scene.violation };
  }

  /** Moments have come, or the playhead is elsewhere: what is made of them is made, and `onSettled` called. */
  async grow() {
    this.#walking += 1;
    const walking = this.#walking;
    const chunk = this.whole ? null : this.timeline.chunkOf(this.timeline.rest?.sequence ?? this.timeline.origin);
    if (!this.#walkOn || chunk !== this.#chunk) {
      this.#chunk = chunk;
      if (chunk !== null) {
        this.spans = new Spans(this.cast);
        this.causes = new Causes();
        this.view.spans = this.spans;
      }
      const { spans, causes } = this;
      this.#walkOn = this.timeline.walk(
        (moment, frame) => {
          spans.add(moment, frame);
          causes.add(moment, frame);
        },
        (frame) => {
          spans.start(frame);
          causes.start(frame);
        },
        chunk,
      );
    }
    const walkOn = this.#walkOn;
    if (await inSlices(walkOn, () => walking === this.#walking)) this.#settle();
  }

  /** Chunks that were not fetched yet, one after another. */
  fetchBehind() {
    return this.whole ? fetchBehind(this.timeline, () => this.grow()) : Promise.resolve();
  }

  /** @param {'events' | 'time'} axis */
  set axis(axis) {
    this.view.axis = axis;
    this.view.redraw();
  }

  /** @param {'member' | 'partition'} hue */
  set hue(hue) {
    this.view.hue = hue;
    this.view.redraw();
  }

  /** How far the chosen partition is read by now. @param {import('../types').Frame} frame */
  #showConsumed(frame) {
    const place = /** @type {HTMLElement | null} */ (this.places.partition.querySelector('[data-part="consumed"]'));
    if (!place || this.#picked === null) return;
    place.textContent = consumedWords(frame, this.#picked);
    place.hidden = !place.textContent;
  }

  /** @param {string | null} key */
  pick(key) {
    this.#picked = key;
    this.board.pick(key);
    this.view.pick(key);
    showPartition(this.places.partition, {
      spans: this.spans,
      key,
      cast: this.cast,
      labels: this.labels,
      onClose: () => this.onPick(null),
    });
    if (key === null) return;
    if (this.timeline.rest) this.#showConsumed(this.timeline.rest.frame);
    this.places.partition.scrollIntoView({ block: 'nearest' });
    addCommitted(this, key, this.spans.bare, () => this.#picked === key);
  }

  /** Lines under the spans, of the entries that they were asked for. */
  #asked = '';
  #asking = false;

  async #fetchCommits() {
    const { from, to } = commitsAround(this.timeline);
    const asked = `${from}-${to}`;
    if (!this.fetchOffsets || this.#asking || asked === this.#asked) return;
    this.#asking = true;
    this.#asked = asked;
    const answer = await this.fetchOffsets({ from, to, partitions: [] }).catch(() => null);
    this.#asking = false;
    if (!answer) return;
    const key = document.getElementById('commits-key');
    if (key) key.hidden = !answer.lines.length;
    this.view.commits = new Map(answer.lines.map((line) => [keyOf(line.topic, line.partition), line]));
    this.view.redraw();
  }

  /** @returns {Moment[]} */
  get #steps() {
    return this.whole ? this.timeline.steps : this.timeline.near;
  }

  #settle() {
    const { timeline } = this;
    const many = timeline.moments.reduce((count, moment) => count + Number(isMereCommit(moment)), 0);
    const button = this.places.commits;
    button.hidden = many === 0;
    if (many > COMMITS_MOST && many > timeline.moments.length / 2 && !this.#chosen) this.#commits = false;
    button.setAttribute('aria-pressed', String(this.#commits));
    const troubled = beginsIn(this.meta.troubles ?? []);
    const isListed = (/** @type {Moment} */ moment) => this.#commits || !isMereCommit(moment) || troubled(moment);
    timeline.restOn(isListed);
    const left_out = timeline.moments.reduce((count, moment) => count + Number(!isListed(moment)), 0);
    button.textContent = left_out ? `${counted(left_out, 'commit')} not listed` : 'Commits';
    this.board.room(this.spans);
    this.labels.meet(this.spans.counts.keys());
    this.events.load(this.#steps, this.meta.summary.first_ms ?? timeline.moments[0]?.at_ms ?? 0);
    this.view.redraw();
    if (many) this.#fetchCommits();
    this.onSettled();
  }

  /** When a partition lost its owner, as of a moment; null before it ever had one. @param {string} key @param {number} sequence */
  #since(key, sequence) {
    const stretch = this.spans.bare.find(
      (bare) => bare.key === key && bare.from <= sequence && (bare.to === null || bare.to > sequence),
    );
    if (!stretch) return null;
    const owned = this.spans.spans.some((span) => span.key === key && span.mode !== 'want' && span.from < stretch.from);
    return owned ? stretch.from_ms : null;
  }
}
