/** JSON from the server. Pure. */

/** As `HIDDEN` in `groups/terminal.py`: they turn the direction of writing, end lines, or only hide. */
const HIDDEN = /[\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/**
 * As `JSON.parse`, with each hidden character of a name as `\u202e`, which its reader sees. A name is the same text everywhere on a page.
 *
 * @param {string} text
 * @returns {any}
 */
export const parsed = (text) =>
  JSON.parse(text.replace(HIDDEN, (hidden) => `\\\\u${hidden.charCodeAt(0).toString(16).padStart(4, '0')}`));
