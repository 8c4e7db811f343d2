/** The address follows the moment: `?at=<sequence>`. A reload, and a copied link, open there again. */

/** Browsers refuse addresses that change more often than about this. */
const LEAST_MS = 200;

/** @param {string} search of an address @returns {number | null} */
export function momentOf(search) {
  const text = new URLSearchParams(search).get('at');
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** What is looked at, apart from the moment and the pointer. @param {string} search */
export const withoutMoment = (search) => search.replace(/[?&](at|point)=[^&]*/g, '');

/** How many seconds around the moment an address wants to be seen (`within=10`); 0: all. @param {string} search */
export function secondsOf(search) {
  const text = new URLSearchParams(search).get('within');
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) : 0;
}

/** A stretch of entries in an address: `range=12-40`, `zoom=1-900`. @param {string} search @param {'range' | 'zoom'} name */
export function rangeOf(search, name) {
  const [, from, to] = /^(\d{1,15})-(\d{1,15})$/.exec(new URLSearchParams(search).get(name) ?? '') ?? [];
  return from && Number(from) <= Number(to) ? { from: Number(from), to: Number(to) } : null;
}

/** The rows that an address pins, by their names. @param {string} search */
export const pinsOf = (search) => (new URLSearchParams(search).get('pins') ?? '').split(',').filter(Boolean);

/** Puts what is looked at into the address. @param {string} name @param {string | null} value null: nothing */
export function keep(name, value) {
  const url = new URL(location.href);
  if (value === null) url.searchParams.delete(name);
  else url.searchParams.set(name, value);
  if (url.href !== location.href) replaceAddress(url.href);
}

/** The watch expressions of an address. @param {string} search */
export const watchesOf = (search) => new URLSearchParams(search).getAll('watch').filter(Boolean);

/** Puts several values of one name into the address. @param {'watch'} name @param {string[]} values */
export function keepAll(name, values) {
  const url = new URL(location.href);
  url.searchParams.delete(name);
  for (const value of values) url.searchParams.append(name, value);
  if (url.href !== location.href) replaceAddress(url.href);
}

/**
 * The address of a moment, with everything else of it kept but the wish to play.
 *
 * @param {string} href
 * @param {number} sequence
 */
export function withMoment(href, sequence) {
  const url = new URL(href);
  url.searchParams.set('at', String(sequence));
  url.searchParams.delete('play');
  return url.href;
}

/** Some browsers refuse that to a page that was opened from a file: it then keeps its address. @param {string} href */
export function replaceAddress(href) {
  try {
    history.replaceState(history.state, '', href);
  } catch {
    // The moment is lost with the page, and nothing else.
  }
}

export class Address {
  #wanted = /** @type {number | null} */ (null);
  #timer = /** @type {any} */ (null);

  constructor() {
    addEventListener('pagehide', () => this.#write());
  }

  /** @param {number} sequence */
  follow(sequence) {
    this.#wanted = sequence;
    // Never in the task of a step: the browser's other process has a part in it, and may keep this one waiting.
    if (this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#write();
    }, LEAST_MS);
  }

  #write() {
    if (this.#wanted === null) return;
    const href = withMoment(location.href, this.#wanted);
    if (href !== location.href) replaceAddress(href);
    this.#wanted = null;
  }
}

/** @param {string} text @returns {Promise<boolean>} whether the clipboard took it */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
