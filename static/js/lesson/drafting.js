/**
 * Beats written from moments: where a moment is, as a lesson names it, and a beat of it to go on from.
 *
 * @import {Chunk, Moment} from '../types'
 */

/**
 * A moment as `at:` writes it: a row of the story, or the nth of its shape and actor.
 *
 * @param {Moment[]} moments
 * @param {Moment} moment
 * @param {(id: string) => string} name
 */
export function placeOf(moments, moment, name) {
  if (moment.step) return String(moment.step);
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

/**
 * A beat before a moment, which asks what that moment brings. The answer is left to the run: see `filledIn`.
 *
 * @param {Moment[]} moments
 * @param {Moment} moment
 * @param {(id: string) => string} name
 * @param {string[]} members names of those that are members once it has happened
 */
export function questionAt(moments, moment, name, members) {
  const before = moments[Math.max(0, moments.indexOf(moment) - 1)];
  const who = name(moment.actor);
  let [question, of] = ['In which state is the group after that?', 'group.state'];
  if (members.includes(who)) [question, of] = [`What does {${who}} own after that?`, `${who}.owned`];
  else if (GONE.has(moment.shape)) [question, of] = ['What is unassigned after that?', 'group.unassigned'];
  return [
    `  - at: ${placeOf(moments, before, name)}`,
    '    title: What comes next',
    '    text: "{happens}. Say what comes after it, then you see it."',
    '    ask:',
    `      question: "${question}"`,
    `      at: ${placeOf(moments, moment, name)}`,
    `      of: ${of}`,
    '      expect: "?"',
    '',
  ].join('\n');
}

/** The ids of the members after each moment. @param {Chunk} chunk @param {Moment[]} moments */
export function membersAfter({ frame, changes }, moments) {
  const members = new Set(Object.keys(frame.members));
  let at = 0;
  return moments.map(({ sequence }) => {
    for (; at < changes.length && changes[at].sequence <= sequence; at++) {
      const { path } = changes[at];
      if (path[0] !== 'members' || path.length !== 2) continue;
      if (changes[at].new === undefined) members.delete(String(path[1]));
      else members.add(String(path[1]));
    }
    return [...members];
  });
}

/** Shapes after which their actor is no member any more. */
const GONE = new Set(['remove', 'leave', 'fence']);

const BEAT = /^ {2}- at:/;

/**
 * The lesson's text with a beat more: before the first of its beats that is later in the run, else at its end.
 *
 * @param {string} text
 * @param {string} beat
 * @param {number} sequence of the moment at which the new beat is
 * @param {number[]} sequences of the beats that the text has, where it could be played
 */
export function withBeat(text, beat, sequence = Infinity, sequences = []) {
  const lines = text.trimEnd().split('\n');
  const begin = lines.findIndex((line) => line.startsWith('beats:'));
  const starts = lines.flatMap((line, at) => (at > begin && BEAT.test(line) ? [at] : []));
  const later = sequences.findIndex((one) => one > sequence);
  if (later < 0 || starts.length !== sequences.length) return `${lines.join('\n')}\n${beat}`;
  return `${[...lines.slice(0, starts[later]), beat.trimEnd(), ...lines.slice(starts[later])].join('\n')}\n`;
}

/**
 * What a lesson's author left to the run: each `"?"` of a fact or an expected answer becomes the check's value.
 *
 * @param {string} text
 * @param {{line: number, message: string}[]} problems
 */
export function filledIn(text, problems) {
  const lines = text.split('\n');
  for (const { line, message } of problems) {
    const [, reference, value] = /^the run says that (\S+) is (.*), not \?$/s.exec(message) ?? [];
    const [, answer] = /^the run answers (.*), not \?$/s.exec(message) ?? [];
    const asked = reference === undefined ? 'expect: "?"' : `${reference}: "?"`;
    // A fact is in its own line, an expected answer some lines below the question that it belongs to.
    const at = lines.findIndex((one, place) => place >= line - 1 && one.includes(asked));
    const known = value ?? answer;
    if (known !== undefined && at >= 0) lines[at] = lines[at].replace('"?"', () => JSON.stringify(known));
  }
  return lines.join('\n');
}
