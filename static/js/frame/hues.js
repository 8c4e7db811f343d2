/** Which members have a hue of their own, where there are more members than hues: those that a text names. Pure. */

/** As many members have a hue at once: more would not be distinguished. */
export const HUES = 6;

/**
 * Beyond six members a hue belongs to those that a finding names, and to those that the reader pins; a member that has one
 * keeps it as long as it is one of them.
 */
export class Hues {
  /** @type {Map<string, string>} */
  #hues = new Map();

  /** @param {readonly string[]} keys who is to have one, the most wanted first */
  give(keys) {
    const wanted = new Set(keys.slice(0, HUES));
    for (const key of this.#hues.keys()) if (!wanted.has(key)) this.#hues.delete(key);
    const taken = new Set(this.#hues.values());
    const free = Array.from({ length: HUES }, (_, hue) => String(hue)).filter((hue) => !taken.has(hue));
    for (const key of wanted) if (!this.#hues.has(key)) this.#hues.set(key, free.shift() ?? 'x');
  }

  /** @param {string} key */
  of(key) {
    return this.#hues.get(key) ?? 'x';
  }
}

/**
 * The members that a text names, in its order: what is found in a verdict is what a reader looks for on the map.
 *
 * @param {string} text
 * @param {readonly {key: string, name: string}[]} lanes
 */
export function namedIn(text, lanes) {
  const words = new Map(lanes.map(({ key, name }) => [name, key]));
  /** @type {string[]} */
  const places = [];
  // One pass over the text and not one for each of a thousand names: a name ends where a space or a mark does.
  for (const match of text.matchAll(/[^\s,;:()]+/gu)) {
    const word = match[0].replace(/[.'’]+s?$/u, '');
    const key = words.get(match[0]) ?? words.get(word);
    if (key !== undefined && !places.includes(key)) places.push(key);
  }
  // Names with a space in them are few.
  for (const [name, key] of words) {
    if (/\s/u.test(name) && text.includes(name) && !places.includes(key)) places.push(key);
  }
  return places;
}
