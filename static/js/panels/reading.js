/**
 * Reader or Investigator: a calm page for a story, or one that shows every request. The choice is remembered for
 * boards of its kind, and is in the address so that a link keeps it.
 *
 * While a case plays, the sentence of the step is the large line; at its end the verdict is, and what to look at next.
 *
 * @typedef {'reader' | 'investigator'} View
 */

import { part, press } from '../shared/dom.js';
import { replaceAddress } from '../shared/url.js';
import { keep, kept } from '../shared/kept.js';
import { explained } from './explained.js';

const NAMES = ['reader', 'investigator'];

/** @param {string | null | undefined} name @returns {View | null} */
const view = (name) => (NAMES.includes(name ?? '') ? /** @type {View} */ (name) : null);

/** Case studies open as a story, other timelines as a board. @param {string} source of the timeline */
export const isStory = (source) => source === 'case-study';

/**
 * What a board opens as: as in its address, else as its sharer chose, else as it was left, else as suits what it shows.
 *
 * @param {string} search of the address
 * @param {string} source of the timeline
 * @param {string | null} left what was chosen before
 * @param {View | null} [shared]
 * @returns {View}
 */
export function viewOf(search, source, left, shared = null) {
  const asked = view(new URLSearchParams(search).get('view'));
  return asked ?? shared ?? view(left) ?? (isStory(source) ? 'reader' : 'investigator');
}

/** An address that opens as this. @param {string} href @param {View} wanted */
export function withView(href, wanted) {
  const url = new URL(href);
  url.searchParams.set('view', wanted);
  return url.href;
}

export class Reading {
  /**
   * @param {string} source of the timeline
   * @param {object} [of]
   * @param {View | null} [of.fixed] what it is shown as, where nobody chooses
   * @param {View | null} [of.shared] what it opens as, where somebody shared it
   */
  constructor(source, { fixed = null, shared = null } = {}) {
    this.source = source;
    const name = `view of ${isStory(source) ? 'stories' : 'timelines'}`;
    this.view = fixed ?? viewOf(location.search, source, kept(name), shared);
    this.#show();
    if (fixed) return;
    part('view').addEventListener('click', (event) => {
      const chosen = view(/** @type {HTMLElement} */ (event.target).dataset.value);
      if (!chosen) return;
      this.view = chosen;
      keep(name, chosen);
      replaceAddress(withView(location.href, chosen));
      this.#show();
    });
  }

  #show() {
    document.body.dataset.view = this.view;
    // Who investigates knows the grammar, and needs the room for events and details.
    /** @type {HTMLDetailsElement} */ (part('legend')).open = this.view === 'reader' && isStory(this.source);
    press(part('view'), this.view);
  }

  /**
   * The large line of a story.
   *
   * @param {string} text the sentence of the step
   * @param {{begins: boolean, ends: boolean}} where
   */
  announce(text, { begins, ends }) {
    if (!isStory(this.source)) return;
    document.body.dataset.story = ends ? 'ended' : begins ? 'begins' : 'told';
    // What a case is about is before its first step.
    const about = part('story').dataset.about;
    if (begins && about) text = about;
    if (part('story').textContent !== text) part('story').replaceChildren(...explained(text));
  }
}
