/**
 * What happens to committed offsets, at the partitions that it concerns: an open transaction holds them while it is open; one that goes
 * back does so in one moment. Pure.
 *
 * @import {Finding} from '../shapes'
 * @typedef {{caption: string, says: string}} Mark under a chip, and in a sentence
 */

import { duration } from './words.js';
import { grouped } from '../shared/numbers.js';
import { append } from '../shared/lists.js';

/**
 * The place of a rest: entries of its moment, which may change nothing and leave the frame's own place behind.
 *
 * @param {{frame: import('../types').Frame, moment: import('../types').Moment | null, sequence: number}} rest
 */
export const placeOf = ({ frame, moment, sequence }) => ({
  first: moment?.first ?? sequence,
  sequence,
  at_ms: moment?.at_ms ?? frame.at_ms,
});

/**
 * @param {Finding[]} findings of the timeline
 * @param {{first: number, sequence: number, at_ms: number}} at the entries of the moment at which the board rests
 * @returns {Map<string, Mark>} by partition
 */
export function offsetMarks(findings, { first, sequence, at_ms }) {
  /** @type {Map<string, Mark>} */
  const marks = new Map();
  for (const finding of findings) {
    const { kind, sequences, partitions = [], from_ms = at_ms } = finding;
    if (kind === 'open_transaction') {
      const ended = finding.open ? Infinity : sequences[sequences.length - 1];
      if (sequences[0] > sequence || ended <= sequence) continue;
      const for_ms = at_ms - from_ms;
      const length = for_ms > 0 ? ` for ${duration(for_ms)}` : '';
      const sentence = `held by producer ${finding.producer} in an open transaction${length}`;
      for (const key of partitions) marks.set(key, { caption: 'open transaction', says: sentence });
    } else if (kind === 'offset_back' || (kind === 'offsets_set' && finding.why !== 'first')) {
      if (!(finding.steps ?? []).some((step) => step >= first && step <= sequence)) continue;
      const length = (finding.to_offset ?? 0) - (finding.from_offset ?? 0);
      for (const key of partitions) {
        const by = key === finding.partition ? ` by ${grouped(Math.abs(length))}` : '';
        const way = length < 0 ? 'back' : 'on';
        marks.set(key, { caption: `offset ${way}${by}`, says: `its committed offset went ${way}${by}` });
      }
    }
  }
  return marks;
}

/**
 * In one line, partitions with the same words together.
 *
 * @param {Map<string, Mark>} marks @param {(key: string) => string} label
 */
export function offsetWords(marks, label) {
  /** @type {Map<string, string[]>} */
  const bySentence = new Map();
  for (const [key, { says: text }] of marks) append(bySentence, text, label(key));
  return [...bySentence]
    .map(([sentence, names]) => `${names.length > 3 ? `${names.length} partitions` : names.join(', ')}: ${sentence}`)
    .join('. ');
}
