/**
 * The few words under a chip, and those of the pool's own line.
 *
 * @import {Frame, PartitionView} from '../types'
 * @import {Labels} from '../frame/labels.js'
 */

import { duration } from '../frame/words.js';
import { named } from './notes.js';

/** The text under a chip that is assigned and not read. @type {{[why: string]: string}} */
export const UNREAD = { killed: 'not read', paused: 'not read', silent: '○ no commits' };

/**
 * @param {PartitionView | undefined} view
 * @param {{cast: import('../frame/cast.js').Cast, labels: Labels}} by
 * @param {{free_ms: number | null, released: boolean}} how how long it has had no owner, and whether its owner released it
 * @returns {(string | Node)[]}
 */
export function captionOf(view, { cast, labels }, { free_ms, released }) {
  const mode = view?.mode ?? 'free';
  if (mode === 'leaving') return ['goes to ', view?.wants ? named(cast, view.wants) : 'nobody'];
  if (mode === 'revoking') return ['revoking'];
  if (mode === 'twice')
    return [
      'owned by ',
      ...(view?.holders ?? []).flatMap((member, index) => [index ? ' and ' : '', named(cast, member)]),
    ];
  if (mode === 'free') {
    if (free_ms === null) return [`no ${labels.having.who} yet`];
    return [free_ms > 0 ? `for ${duration(free_ms)}` : released ? 'just released' : 'just now'];
  }
  return [];
}

/**
 * How many partitions are nobody's.
 *
 * @param {Frame} frame
 * @param {{free: number, known: number, labels: Labels, compact: boolean}} of
 */
export function poolWords(frame, { free, known, labels, compact }) {
  if (compact) return free ? labels.counted(free) : 'none';
  if (free) return `${labels.counted(free)} without ${labels.having.who === 'owner' ? 'an owner' : 'a reader'}`;
  if (known) return 'none';
  return Object.keys(frame.members).length ? `no ${labels.counted(1).slice(2)} is known yet` : 'nobody has joined yet';
}
