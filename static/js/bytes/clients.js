/**
 * "Read by a client that knows v0 v1 v2 v3": what it reads of the bytes, what it ignores, and what follows from that.
 *
 * @import {Inspected, SeenBy} from './types'
 */

import { h, seg, unbroken } from '../shared/dom.js';
import { itemSize } from './tree.js';
import { counted, grouped } from '../shared/numbers.js';
import { nameOf, valueText } from './words.js';

/** Topics of a field that are written next to its name; more are counted. */
const NAMED_MOST = 12;

export class Clients {
  /** @type {SeenBy[]} */
  #seen = [];
  /** @type {Inspected | null} */
  #blob = null;
  /** The version that was chosen; it stays from one blob to the next. */
  #version = 0;

  /** @param {{root: HTMLElement, onChoose: (seen: SeenBy | null) => void}} parts */
  constructor({ root, onChoose }) {
    this.root = root;
    this.onChoose = onChoose;
  }

  /** @param {Inspected | null} blob that is looked at; none hides the panel @param {string} [of] whose it is */
  show(blob, of = '') {
    const seen = blob?.clients ?? [];
    this.#seen = seen;
    this.#blob = blob;
    this.root.hidden = !seen.length;
    if (!seen.length) {
      this.onChoose(null);
      return;
    }
    if (!seen.some(({ version }) => version === this.#version)) this.#version = seen[0].version;
    this.#draw(of);
  }

  /** @param {string} of */
  #draw(of) {
    const chosen = this.#seen.find(({ version }) => version === this.#version) ?? this.#seen[0];
    this.root.replaceChildren(
      h(
        'div.phead',
        h('h2', 'Read by a client that knows'),
        h('span.quiet', { title: of || null }, of),
        h('span.grow'),
        seg(
          'Newest version known',
          this.#seen.map(({ version }) => [`${version}`, `v${version}`]),
          `${chosen.version}`,
          (version) => {
            this.#version = Number(version);
            this.#draw(of);
            /** @type {HTMLElement | null} */ (this.root.querySelector(`[data-value="${version}"]`))?.focus();
          },
        ),
      ),
      h(
        'div.old',
        { 'aria-live': 'polite' },
        h('p', ...reads(chosen), ' ', ...unbroken(chosen.consequences.join(' '))),
        ...this.#fields(chosen),
      ),
    );
    this.onChoose(chosen);
  }

  /** What is in the blob, struck out where it is not read. @param {SeenBy} seen */
  #fields({ fields }) {
    return fields
      .filter(({ name }) => name !== 'version')
      .map(({ name, read }) => {
        const node = this.#blob?.fields.find((field) => field.name === name);
        const text = node ? contentOf(node) : '';
        return h(
          'span',
          { class: read ? 'r' : 'r off' },
          h('span', name),
          h('code', { title: text }, read ? text : h('s', text)),
        );
      });
  }
}

/** @param {SeenBy} seen */
function reads({ read, ignored }) {
  if (!ignored) return ['Reads all of it.'];
  if (!read) return ['Reads nothing of it.'];
  return [`Reads ${counted(read, 'byte')} and ignores the last `, h('b', grouped(ignored)), '.'];
}

/** A field's content in a word or two: of a list of topics, each with its partitions. @param {import('./types').FieldNode} node @returns {string} */
export function contentOf(node) {
  const { fields } = node;
  if (!fields) return valueText(node).text;
  if (node.kind) return fields.length === 1 && !itemSize(fields[0]) ? valueText(fields[0]).text : valueText(node).text;
  const named = fields.map((field) => (field.fields ? nameOf(field) : valueText(field).text)).filter(Boolean);
  if (!named.length || named.length !== fields.length) return valueText(node).text;
  const more = named.length > NAMED_MOST ? `, … ${grouped(named.length)} in all` : '';
  return named.slice(0, NAMED_MOST).join(', ') + more;
}
