/**
 * Sentences in which the words that a newcomer cannot know explain themselves: each becomes a term of the glossary where it
 * first is.
 */

import { term } from '../shared/terms.js';

/**
 * A word as written in a sentence → what the glossary calls it. Longer ones first: of "session timeout" nothing is cut out.
 *
 * @type {[RegExp, string][]}
 */
const WORDS = [
  [/\b(?:UNREVOKED|UNRELEASED)_PARTITIONS\b/, ''],
  [/\b[A-Z]+(?:_[A-Z]+)+\b/, ''],
  [/\bon_partitions_(?:assigned|revoked|lost)\b/, ''],
  [/\bUNREVOKED\b/, 'unrevoked_partitions'],
  [/\bsession timeout\b/, ''],
  [/\bsession expire[sd]\b/, 'session timeout'],
  [/\brebalance timeout\b/, ''],
  [/\bmember epochs?\b/, 'member epoch'],
  [/\bgroup epochs?\b/, 'group epoch'],
  [/\bassignment epoch\b/, ''],
  [/\btarget owner\b/, ''],
  [/\bfenced\b/i, 'fenced'],
  [/\bcallbacks?\b/, 'callback'],
  [/\bheartbeats?\b/, 'heartbeat'],
  [/\bgroup\.instance\.id\b/, 'instance id'],
  [/\bgeneration\b/, ''],
];

/**
 * Where the words of a sentence stand that explain themselves, in order, each word once.
 *
 * @param {string} text
 * @param {(word: string) => boolean} has whether the glossary has a word
 * @returns {{at: number, text: string, word: string}[]}
 */
export function wordsIn(text, has) {
  /** @type {{at: number, text: string, word: string}[]} */
  const found = [];
  for (const [pattern, name] of WORDS) {
    const match = pattern.exec(text);
    if (!match) continue;
    const word = name || match[0].toLowerCase();
    const [from, to] = [match.index, match.index + match[0].length];
    const taken = found.some((one) => one.word === word || (from < one.at + one.text.length && one.at < to));
    if (!taken && has(word)) found.push({ at: from, text: match[0], word });
  }
  return found.sort((a, b) => a.at - b.at);
}

/** @type {{[word: string]: string} | null} */
let meanings = null;

/** @param {string} word */
function inGlossary(word) {
  meanings ??= JSON.parse(document.getElementById('glossary-data')?.textContent ?? '{}');
  return word in /** @type {{[word: string]: string}} */ (meanings);
}

/** The sentence with its terms. @param {string} sentence @returns {(string | HTMLElement)[]} */
export function explained(sentence) {
  const nodes = [];
  let done = 0;
  for (const { at, text, word } of wordsIn(sentence, inGlossary)) {
    nodes.push(sentence.slice(done, at), term(word, text));
    done = at + text.length;
  }
  return [...nodes, sentence.slice(done)].filter((node) => node !== '');
}
