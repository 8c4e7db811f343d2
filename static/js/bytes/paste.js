/**
 * What the page shows about bytes as a whole: the sentence on top, whose clauses lead to fields, and what kind they are.
 *
 * @import {Guess, Inspected, Said} from './types'
 */

import { h } from '../shared/dom.js';
import { counted } from '../shared/numbers.js';

/** @param {Said[]} words @returns {(Node | string)[]} */
export function sentence(words) {
  return words.map(({ text, path }) => (path ? h('a.clause', { href: '#', 'data-path': path }, text) : text));
}

/** Why a kind cannot be what the bytes are. @param {Guess} guess */
const reasonOf = ({ problem }) => (problem ? `${problem.path ? `${problem.path}: ` : ''}${problem.sentence}` : '');

/** Other kinds that are named where the bytes could as well be them; more are counted. */
const OTHERS_NAMED = 3;

/** How many other kinds read every byte. @param {Guess[]} guesses @param {string} kind */
function othersText(guesses, kind) {
  const others = guesses.filter((guess) => guess.whole && guess.kind !== kind).length;
  if (!others) return 'no other kind does';
  return others === 1 ? 'one other kind does' : `${others} other kinds do`;
}

/** Which other kinds read every byte. @param {Guess[]} guesses @param {string} kind */
export function othersNamed(guesses, kind) {
  const titles = guesses.filter((guess) => guess.whole && guess.kind !== kind).map(({ title }) => title);
  const named = titles.slice(0, OTHERS_NAMED);
  if (titles.length > named.length) named.push(`${titles.length - named.length} more`);
  return named.length > 1 ? `${named.slice(0, -1).join(', ')} or ${named[named.length - 1]}` : named.join('');
}

/** How far the bytes could be read as what they are taken for. @param {Inspected} inspected */
function pasteWords({ guesses, kind, length, problem, read }) {
  const others = othersText(guesses, kind);
  const guess = guesses.find((tried) => tried.kind === kind);
  if (problem) {
    return guesses.some((tried) => tried.whole && tried.kind !== kind)
      ? `cannot be read to the last byte; ${others}`
      : 'cannot be read to the last byte, as this or any other kind: cut off, or nothing of a group';
  }
  if (read < length && guess && !guess.whole && guesses.every((tried) => !tried.whole))
    return `no kind reads these bytes to the end; this one leaves ${counted(length - read, 'byte')}`;
  if (read < length)
    return `${counted(length - read, 'byte')} left over${guess?.whole ? ', as a later version would append' : ''}`;
  if (guess?.likely !== false) return `read to the last byte; ${others}`;
  const named = othersNamed(guesses, kind);
  return `${named ? `or ${named}: ` : ''}no name, time or checksum speaks for it`;
}

/** How far the bytes could be read, in a word or two. @param {Inspected} current */
export function basisOf({ problem, length, read }) {
  if (problem)
    return problem.offset === null || problem.offset === undefined
      ? 'Cannot be read'
      : `Stops at byte ${problem.offset}`;
  return read < length ? `${counted(length - read, 'byte')} left over` : 'Read to the last byte';
}

/** @param {string} first @param {string} second titles of kinds */
export function titleOfTwo(first, second) {
  if (first !== second) return `${first} and ${second}`;
  return /^[A-Z][a-z]+$/.test(first) ? `Two ${first.toLowerCase()}s` : `${first}, two of them`;
}

/**
 * The kinds that were tried, in a list to choose from: those that fail cannot be chosen and say why.
 *
 * @param {Inspected} inspected
 * @param {string} source where the bytes are from; empty where they were pasted
 * @param {(guess: Guess) => void} onChoose
 * @returns {(Node | string)[]}
 */
export function guessing(inspected, source, onChoose) {
  const { guesses, kind, length, problem } = inspected;
  const how = source || inspected.how || '';
  const size = `${how ? `${how}, ` : ''}${counted(length, 'byte')}.`;
  if (!guesses.length) return [`${size} Read as ${inspected.title}.`];
  const option = (/** @type {Guess} */ guess) =>
    h(
      'option',
      {
        value: guess.kind,
        selected: guess.kind === kind,
        disabled: Boolean(guess.problem) && guess.kind !== kind,
        title: reasonOf(guess) || null,
      },
      `${guess.title}${guess.version === null ? '' : ` v${guess.version}`}`,
    );
  const groups = [
    { label: 'Read to the last byte', of: guesses.filter(({ whole }) => whole) },
    { label: 'Leave bytes over', of: guesses.filter((guess) => !guess.whole && !guess.problem) },
    { label: 'Cannot be', of: guesses.filter((guess) => guess.problem) },
  ].filter((group) => group.of.length);
  const select = /** @type {HTMLSelectElement} */ (
    h('select', { 'aria-label': 'Kind' }, ...groups.map(({ label, of }) => h('optgroup', { label }, ...of.map(option))))
  );
  select.title = reasonOf(guesses.find((guess) => guess.kind === kind) ?? guesses[0]);
  select.addEventListener('change', () => {
    const chosen = guesses.find((guess) => guess.kind === select.value);
    if (chosen) onChoose(chosen);
  });
  const known = pasteWords(inspected);
  const likely = guesses.find((guess) => guess.kind === kind)?.likely !== false;
  return [
    h('span', `${size} ${problem ? 'Read as' : likely ? 'Looks like' : 'Could be'}`),
    select,
    h('span', known),
    ...whyNot(guesses, kind),
  ];
}

/** A list that a reader opened stays open when the bytes are read again. */
let whyNotOpen = false;

/** Why the bytes are none of the kinds that were tried: what a decoder of them stops at. @param {Guess[]} guesses @param {string} kind */
function whyNot(guesses, kind) {
  const failing = guesses.filter((guess) => guess.problem && guess.kind !== kind);
  if (!failing.length) return [];
  return [
    h(
      'details.whynot',
      { open: whyNotOpen },
      h('summary', { onclick: () => (whyNotOpen = !whyNotOpen) }, 'Why nothing else'),
      h('ul', ...failing.map((guess) => h('li', h('b', guess.title), `: ${reasonOf(guess)}`))),
    ),
  ];
}
