/**
 * A page that has all it needs in itself: parts of data in gzip, each with a checksum, unpacked when they are needed. It works
 * without a network, and from a `file:` address.
 *
 * A changed byte is detected: the checksums are those that the page's maker wrote (explorer/sharing/one_file.py). What is not
 * touched by it is shown all the same. A changed script is refused by the page's own policy; the page then shows its text.
 *
 * @typedef {{name: string, sha256: string}} Block
 * @typedef {{view: 'reader' | 'investigator' | null, page: string, blocks: Block[]}} Manifest
 */

import { parsed } from '../shared/parsed.js';

/** Parts of a page that its checksum is of; a browser's extensions may add others. */
const WALKED = 'title, meta, style, body';
/** Elements whose text has checksums of its own. */
const DATA = 'script';
const SPACES = /[ \t\n\r\f]+/g;

/** @param {string} text @returns {Promise<string | null>} in hex; null where the browser gives no checksums (plain HTTP) */
async function sha256(text) {
  if (!globalThis.crypto?.subtle) return null;
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * A page as text, as Python's HTML parser and a browser's both see it: tags with their attributes in order, and text without spaces.
 *
 * @param {Document} page
 */
export function textOf(page) {
  /** @type {string[]} */
  const known = [];
  const walk = (/** @type {Element} */ element) => {
    const name = element.localName.toLowerCase();
    const attributes = [...element.attributes]
      .map((one) => `${one.name.toLowerCase()}=${one.value}`)
      .filter(
        (one) =>
          !(name === 'meta' && element.getAttribute('name') === 'incident-checksum' && one.startsWith('content=')),
      )
      .sort();
    known.push(`<${[name, ...attributes].join(' ').replace(SPACES, ' ')}>`);
    if (element.matches(DATA)) return;
    for (const node of element.childNodes) {
      if (node.nodeType === Node.TEXT_NODE) known.push((node.nodeValue ?? '').replace(SPACES, ''));
      else if (node.nodeType === Node.ELEMENT_NODE) walk(/** @type {Element} */ (node));
    }
  };
  for (const element of page.querySelectorAll(WALKED)) if (!element.parentElement?.closest('body')) walk(element);
  return known.join('');
}

/** @param {string} base64 @returns {Promise<string>} */
async function unpacked(base64) {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).text();
}

/** Nothing can play: it is said at once, over the page's text. @param {Document} page @param {unknown} error @returns {never} */
function giveUp(page, error) {
  const text = page.getElementById('unplayed');
  text?.classList.add('known');
  text?.replaceChildren(
    'This file was changed after it was written, and does not play any more. What it says stands below as text; do not rely on it.',
  );
  throw error;
}

/**
 * @param {Document} page
 * @returns {Promise<{manifest: Manifest, changed: string[], read: (name: string, parse?: (text: string) => any) => Promise<any>, needed: (name: string) => Promise<any>}>}
 *   `changed`: the parts that are not as they were written; `needed` reads a part without which nothing plays
 */
export async function openSealed(page) {
  // At once, before anything on the page moves.
  const whole = textOf(page);
  const known = page.getElementById('incident')?.textContent ?? '';
  /** @type {Manifest} */
  let manifest;
  try {
    manifest = parsed(known);
  } catch (error) {
    giveUp(page, error);
  }
  /** @type {string[]} */
  const changed = [];
  const check = async (
    /** @type {string} */ what,
    /** @type {string} */ text,
    /** @type {string | null | undefined} */ expected,
  ) => {
    const found = await sha256(text);
    if (found !== null && found !== expected) changed.push(what);
  };
  await check(
    'the list of its parts',
    known,
    page.querySelector('meta[name="incident-checksum"]')?.getAttribute('content'),
  );
  await check('its text', whole, manifest.page);
  const packed = (/** @type {string} */ name) => page.getElementById(`block-${name}`)?.textContent ?? '';
  await Promise.all(
    manifest.blocks.map(({ name, sha256: expected }) => check(name.replaceAll('-', ' '), packed(name), expected)),
  );

  /** @param {string} name @param {(text: string) => any} [parse] @returns {Promise<any>} */
  const read = async (name, parse = parsed) => {
    try {
      return parse(await unpacked(packed(name)));
    } catch {
      throw new Error('This part of the file was changed after it was written, and cannot be read.');
    }
  };
  const needed = (/** @type {string} */ name) => read(name).catch((error) => giveUp(page, error));
  return { manifest, changed, read, needed };
}
