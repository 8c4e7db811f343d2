/**
 * JSON with every integer exact. Pure.
 *
 * Kafka's 64-bit numbers (hashes, offsets) can be beyond what a JavaScript number holds; `JSON.parse` rounds them.
 */

import { parsed } from './parsed.js';

/** A string, which is passed over, or a number. */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const WHOLE = /^-?\d+$/;

/**
 * As `JSON.parse`, with integers that would be rounded as strings of their digits.
 *
 * @param {string} text
 * @returns {any}
 */
export const parseExactly = (text) =>
  parsed(
    text.replace(TOKEN, (token) => (WHOLE.test(token) && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token)),
  );
