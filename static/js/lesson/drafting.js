/**
 * Beats written from moments: where a moment stands, as a lesson names it, and a beat of it to go on from.
 *
 * @typedef {import('../types').Moment} Moment
 */

/** Shapes that a place can name (simulations/lessons/reading.py). */
const SHAPES = new Set([
  'acknowledge',
  'advance',
  'commit',
  'fail_over',
  'fault',
  'fence',
  'gain',
  'gap',
  'join',
  'leave',
  'metadata',
  'note',
  'regex',
  'remove',
  'replace',
  'revoke',
  'state',
  'target',
  'violation',
]);

/**
 * A moment as `at:` writes it: a row of the story, or the nth of its shape and actor.
 *
 * @param {Moment[]} moments
 * @param {Moment} moment
 * @param {(id: string) => string} name
 */
export function placeOf(moments, moment, name) {
  if (moment.step) return String(moment.step);
  if (!SHAPES.has(moment.shape)) return moments[0] === moment ? 'start' : 'end';
  const who = name(moment.actor);
  const same = moments.filter((one) => one.shape === moment.shape && name(one.actor) === who);
  const nth = same.indexOf(moment) + 1;
  return nth > 1 ? `{${moment.shape}: ${who}, nth: ${nth}}` : `{${moment.shape}: ${who}}`;
}

/** @param {Moment[]} moments @param {Moment} moment @param {(id: string) => string} name */
export function beatAt(moments, moment, name) {
  const facts =
    moment.epoch === null
      ? `time: ${((moment.at_ms - moments[0].at_ms) / 1000).toFixed(1)} s`
      : `group.epoch: ${moment.epoch}`;
  return [
    `  - at: ${placeOf(moments, moment, name)}`,
    '    title: What happens here',
    '    text: "{happens}."',
    `    facts: {${facts}}`,
    '',
  ].join('\n');
}

/** The lesson's text with a beat more at its end. @param {string} text @param {string} beat */
export function withBeat(text, beat) {
  return `${text.trimEnd()}\n${beat}`;
}
