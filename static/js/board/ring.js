/**
 * A member's disc with its rings: inside what is left of the session, outside (amber, only while it gives
 * something up) what is left of the rebalance timeout.
 *
 * @import {Frame, Lane} from '../types'
 */

import { s } from '../shared/dom.js';
import { duration } from '../frame/words.js';

const SESSION = 18;
const REBALANCE = 22;

/** A session restarts with each heartbeat; where none is known, Kafka's default length is meant. */
const SESSION_TIMEOUT_MS = 45_000;
const REBALANCE_TIMEOUT_MS = 300_000;

/**
 * What is left of a member's two deadlines at a frame, and as shares of their lengths; null where unknown.
 *
 * @param {Frame} frame
 * @param {string} member
 */
export function deadlines(frame, member) {
  const timers = frame.timers?.[member];
  const state = frame.members[member];
  const beat = frame.clients?.[member]?.heartbeat_ms;
  const left = (/** @type {number | null | undefined} */ deadline, /** @type {number} */ length) => {
    if (typeof deadline !== 'number' || length <= 0) return null;
    const ms = Math.max(0, deadline - frame.at_ms);
    return { ms, share: Math.min(1, ms / length) };
  };
  const session = timers?.session;
  const length = typeof session === 'number' && typeof beat === 'number' ? session - beat : state?.session_timeout_ms;
  return {
    session: left(session, length ?? SESSION_TIMEOUT_MS),
    rebalance: left(timers?.rebalance, state?.rebalance_timeout_ms ?? REBALANCE_TIMEOUT_MS),
  };
}

/**
 * @param {Lane} lane
 * @param {{session: {ms: number, share: number} | null, rebalance: {ms: number, share: number} | null}} left
 * @param {number} size in pixels
 */
export function ring(lane, left, size) {
  const arc = (/** @type {number} */ radius, /** @type {string} */ name, /** @type {number} */ share) =>
    s('circle', {
      class: name,
      cx: 24,
      cy: 24,
      r: radius,
      'stroke-width': 2.5,
      transform: 'rotate(-90 24 24)',
      'stroke-dasharray': `${(2 * Math.PI * radius * share).toFixed(1)} ${(2 * Math.PI * radius).toFixed(1)}`,
    });
  const text = left.session ? `${lane.name}, session ends in ${duration(left.session.ms)}` : lane.name;
  return s(
    'svg.ring',
    { width: size, height: size, viewBox: '0 0 48 48', role: 'img', 'aria-label': text },
    s('circle.pulse', { cx: 24, cy: 24, r: 15, 'stroke-width': 2 }),
    s('circle.face', { cx: 24, cy: 24, r: 13.5 }),
    left.session ? s('circle.track', { cx: 24, cy: 24, r: SESSION, 'stroke-width': 2.5 }) : null,
    left.session ? arc(SESSION, 'session', left.session.share) : null,
    left.rebalance ? arc(REBALANCE, 'rebalance', left.rebalance.share) : null,
    s(
      'text',
      { x: 24, y: 28.6, 'text-anchor': 'middle', class: ['', 'one', 'two', 'three'][lane.badge.length] },
      lane.badge,
    ),
  );
}
