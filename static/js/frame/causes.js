/**
 * What brought a moment about, where its entries do not say so themselves. It follows from the protocol's own rules,
 * by the frames: a target is worked out because the group epoch rose, members move because of the target, a member
 * acknowledges because it was asked to give something up, and gains what another released. Pure.
 *
 * @import {Frame, Moment} from '../types'
 */

import { epochOf, isClassic, keysOf } from './view.js';

export class Causes {
  /** @type {Map<number, number>} */
  #causes = new Map();
  /** @type {Map<string, number>} */
  #told = new Map();
  /** @type {Map<string, number>} */
  #freed = new Map();
  #epoch = -1;
  #target = -1;
  /** @type {Frame | null} */
  #frame = null;

  /** @param {Moment} moment @returns {number | null} */
  of(moment) {
    return moment.cause ?? this.#causes.get(moment.sequence) ?? null;
  }

  /** @param {Frame} frame */
  start(frame) {
    this.#frame = frame;
  }

  /** Moments in order, each with the frame after it. @param {Moment} moment @param {Frame} frame */
  add(moment, frame) {
    const before = this.#frame;
    this.#frame = frame;
    if (isClassic(frame)) return;
    const cause = before ? this.#cause(moment, before, frame) : -1;
    if (cause > 0 && cause < moment.first) this.#causes.set(moment.sequence, cause);

    if (!before || epochOf(before) !== epochOf(frame)) this.#epoch = moment.sequence;
    if (!before || before.assignment_epoch !== frame.assignment_epoch) this.#target = moment.sequence;
    if (moment.shape === 'revoke') this.#told.set(moment.actor, moment.sequence);
    if (before) {
      for (const [member, state] of Object.entries(before.members)) {
        if (frame.members[member] === state) continue;
        const held = new Set(holds(frame, member));
        for (const key of holds(before, member)) if (!held.has(key)) this.#freed.set(key, moment.sequence);
      }
    }
  }

  /** @param {Moment} moment @param {Frame} before @param {Frame} frame */
  #cause({ shape, actor }, before, frame) {
    if (shape === 'target') return this.#epoch;
    if (shape === 'advance' || shape === 'revoke') return this.#target;
    if (shape === 'acknowledge') return this.#told.get(actor) ?? this.#target;
    if (shape === 'gain') {
      const had = new Set(holds(before, actor));
      const freed = holds(frame, actor)
        .filter((key) => !had.has(key))
        .map((key) => this.#freed.get(key) ?? -1);
      return Math.max(this.#target, ...freed);
    }
    return -1;
  }
}

/** @param {Frame} frame @param {string} member */
function holds(frame, member) {
  const state = frame.members[member];
  return state ? [...keysOf(state.assigned), ...keysOf(state.pending_revocation)] : [];
}
