/**
 * Names of the world: up to 249 characters, from right to left, of emoji. A name is never shortened as long as it
 * fits, and where it does not, its middle goes: what distinguishes members is at the end. Pure.
 */

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
/** As much of a name's end stays whole in sight, in characters as a reader counts them. */
const TAIL = 7;
/** A name with no more characters than this is not worth parting. */
const WHOLE = 6;

/** @param {string} name @returns {string[]} what a reader calls characters: an emoji of several code points is one */
export const characters = (name) => Array.from(segmenter.segment(name), ({ segment }) => segment);

/**
 * A name as a head that may be cut and a tail that may not.
 *
 * @param {string} name
 * @returns {{head: string, tail: string}}
 */
export function parted(name) {
  // Most names are short and plain, and a board has a thousand.
  if (name.length <= WHOLE) return { head: name, tail: '' };
  const all = /^[ -~]*$/.test(name) ? [...name] : characters(name);
  if (all.length <= WHOLE) return { head: name, tail: '' };
  const tail = Math.min(TAIL, all.length >> 1);
  return { head: all.slice(0, -tail).join(''), tail: all.slice(-tail).join('') };
}

/** A name within a sentence: its direction is its own. @param {string} name */
export const isolated = (name) => (/[\u0300-\u{10ffff}]/u.test(name) ? `\u2068${name}\u2069` : name);

/** How names are compared with what somebody types. @param {string} text */
export const folded = (text) => text.normalize('NFKC').toLowerCase();

const collator = new Intl.Collator('en', { numeric: true });

/** `c-2` before `c-10`. @param {string} a @param {string} b */
export const byName = (a, b) => collator.compare(a, b);
