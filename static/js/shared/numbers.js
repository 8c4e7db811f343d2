/** Numbers as a reader sees them. Pure. */

/** With a comma between thousands. @param {number} number */
export const grouped = (number) => number.toLocaleString('en');

/** @param {number} count @param {string} one @param {string} [more] */
export const counted = (count, one, more = `${one}s`) => `${grouped(count)} ${count === 1 ? one : more}`;
