/** Numbers as a reader sees them. Pure. */

/** With a comma between thousands. @param {number} number */
export const grouped = (number) => number.toLocaleString('en');

/** @param {number} count @param {string} one @param {string} [more] */
export const counted = (count, one, more = `${one}s`) => `${grouped(count)} ${count === 1 ? one : more}`;

/** As the server writes it: 1,024 bytes are a KB. @param {number} size */
export function bytes(size) {
  if (size < 1024) return `${size} bytes`;
  const units = ['KB', 'MB', 'GB', 'TB'];
  const at = Math.min(units.length - 1, Math.floor(Math.log2(size) / 10) - 1);
  return `${(size / 1024 ** (at + 1)).toFixed(1)} ${units[at]}`;
}
