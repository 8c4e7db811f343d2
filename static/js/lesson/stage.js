/**
 * The board of a lesson: it is at the beat's moment, and knows nothing of what comes after that.
 *
 * @import {Run} from './types'
 * @import {Frame} from '../types'
 * @import {Rest} from '../timeline/timeline.js'
 */

import { Board } from '../board/board.js';
import { Cast } from '../frame/cast.js';
import { GroupHead } from '../panels/group-head.js';
import { Labels } from '../frame/labels.js';
import { isMereCommit } from '../shared/key-steps.js';
import { Spans } from '../frame/spans.js';
import { Timeline } from '../timeline/timeline.js';
import { TimelineView } from '../timeline/view.js';

/**
 * A frame without what only the simulator knows: that a process was killed or is paused. In a log of records and requests that is what one
 * has to find out.
 *
 * @param {Frame} frame
 * @returns {Frame}
 */
export function veiled(frame) {
  if (!frame.clients) return frame;
  const clients = Object.entries(frame.clients).map(([id, client]) => [
    id,
    { ...client, killed: false, paused: false },
  ]);
  return { ...frame, clients: Object.fromEntries(clients) };
}

export class LessonStage {
  /** @type {Rest | null} */
  rest = null;
  /** @type {Set<string>} */
  #seen = new Set();

  /**
   * @param {object} parts
   * @param {Run} parts.run
   * @param {{board: HTMLElement, tracks: HTMLElement, state: HTMLElement, epochs: HTMLElement, now: HTMLElement, gap: HTMLElement, coordinator: HTMLElement}} parts.places
   * @param {(sequence: number) => void} parts.onSeek
   */
  constructor({ run, places, onSeek }) {
    this.places = places;
    this.cast = new Cast();
    this.labels = new Labels();
    this.spans = new Spans(this.cast);
    this.timeline = this.#load(run);
    places.board.replaceChildren();
    places.tracks.replaceChildren();
    this.board = new Board(places.board, { cast: this.cast, labels: this.labels });
    this.view = new TimelineView(places.tracks, {
      spans: this.spans,
      cast: this.#present(),
      labels: this.labels,
      onSeek,
      numberOf: (sequence) => this.timeline.numberOf(sequence),
    });
    this.head = new GroupHead({
      ...places,
      cast: this.cast,
      labels: this.labels,
      numberOf: (sequence) => this.timeline.numberOf(sequence),
      // What only looks like the reason is the lesson's to ask.
      looksLike: () => '',
    });
    this.#room();
  }

  /** Who has been there by now: a track of somebody who is still to come would give that away. @returns {any} */
  #present() {
    const stage = this;
    const { cast } = this;
    return {
      get lanes() {
        return cast.lanes.filter((lane) => stage.#seen.has(lane.key));
      },
      lane: (/** @type {string} */ id) => cast.lane(id),
      knows: (/** @type {string} */ id) => cast.knows(id),
      name: (/** @type {string} */ id) => cast.name(id),
    };
  }

  /** Another run in the same places: what the reader does changes what comes. @param {Run} run */
  replace(run) {
    this.timeline = this.#load(run);
    this.#room();
  }

  /** @param {Run} run */
  #load(run) {
    this.run = run;
    this.cast.meet(run.summary.cast ?? []);
    this.labels.remember(run.summary.topics);
    const { chunk } = run;
    const timeline = new Timeline({
      chunks: [{ first: chunk.first, last: chunk.last }],
      load: () => Promise.resolve(chunk),
      rests: (moment) => !isMereCommit(moment),
    });
    timeline.give(chunk);
    return timeline;
  }

  /** Columns stand still through the whole lesson. */
  #room() {
    const spans = this.#walked(Infinity);
    this.board.room(spans);
    this.labels.meet(spans.counts.keys());
  }

  /** What happened up to a moment. @param {number} sequence @param {(frame: Frame) => Frame} [seen] */
  #walked(sequence, seen = (frame) => frame) {
    const spans = new Spans(this.cast);
    this.#seen = new Set();
    const meet = (/** @type {Frame} */ frame) => {
      for (const member of Object.keys(frame.members)) this.#seen.add(this.cast.lane(member).key);
    };
    this.timeline.walk(
      (moment, frame) => {
        if (moment.sequence > sequence) return;
        spans.add(moment, seen(frame));
        meet(frame);
      },
      (frame) => {
        spans.start(seen(frame));
        meet(frame);
      },
    )();
    return spans;
  }

  /** @param {number} sequence @param {boolean} animate @param {{veils?: boolean}} [how] `veils`: what only the simulator knows is hidden */
  show(sequence, animate, { veils = false } = {}) {
    const before = this.timeline.position;
    const reached = this.timeline.seekLoaded(sequence);
    if (!reached) return null;
    const seen = veils ? veiled : (/** @type {Frame} */ frame) => frame;
    const rest = { ...reached, frame: seen(reached.frame) };
    this.rest = rest;
    const spans = this.#walked(rest.sequence, seen);
    this.spans = spans;
    this.view.spans = spans;
    const { position } = this.timeline;
    const past = this.timeline.steps.slice(0, position);
    const shown = veils ? past.filter((moment) => moment.shape !== 'fault' || moment === rest.moment) : past;
    const scene = this.board.render(rest, {
      animate,
      forward: position - before === 1,
      since: (key) => spans.bare.find((bare) => bare.key === key && bare.to === null)?.from_ms ?? null,
    });
    this.head.render(rest, scene.views);
    // Nothing of what is still to come: a question would be answered by the picture below it.
    this.view.move({
      steps: shown,
      position: shown.length,
      rest: { sequence: rest.sequence, at_ms: rest.moment?.at_ms ?? rest.frame.at_ms },
      frame: rest.frame,
      end_ms: rest.moment?.at_ms ?? rest.frame.at_ms,
    });
    this.view.redraw();
    this.places.board.dataset.sequence = String(rest.sequence);
    return rest;
  }

  /** The moment after this one, or null at the end. @returns {number | null} */
  get next() {
    return this.timeline.steps[this.timeline.position]?.sequence ?? null;
  }

  get at_ms() {
    return this.rest?.moment?.at_ms ?? this.rest?.frame.at_ms ?? 0;
  }
}
