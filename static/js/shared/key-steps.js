/**
 * Which moments count: those at which a case study pauses while it plays, the first of each kind that teaches something, so that
 * a reader can look at the board and go on when ready; and those that a board may pass over. Pure.
 *
 * @import {Moment} from '../types'
 */

/** Shapes of moments at which something is to be understood, and not only to be seen. @type {Set<string>} */
const TEACHING = new Set([
  'target',
  'advance',
  'revoke',
  'acknowledge',
  'remove',
  'leave',
  'replace',
  'fence',
  'fault',
  'fail_over',
  'regex',
  'violation',
]);

/** Two pauses stand at least this many steps apart: a story that stops at each step is not played. */
const APART = 2;

/**
 * The sequences at which a story pauses; the last step is no pause, since the verdict is there.
 *
 * @param {Moment[]} steps
 * @returns {Set<number>}
 */
export function keySteps(steps) {
  /** @type {Set<string>} */
  const seen = new Set();
  /** @type {Set<number>} */
  const found = new Set();
  let last = -APART;
  steps.forEach((step, index) => {
    const kind = step.shape;
    if (!TEACHING.has(kind) || seen.has(kind) || index === steps.length - 1 || index - last < APART) return;
    seen.add(kind);
    found.add(step.sequence);
    last = index;
  });
  return found;
}

/**
 * Whether a moment is only a commit of offsets, without a sentence of a narration. Where a row of a narration ends, more than the commit
 * has happened: a classic client commits as it revokes, for one.
 *
 * @param {Moment} moment
 */
export const isMereCommit = ({ shape, step }) => shape === 'commit' && (step === null || step === undefined);
