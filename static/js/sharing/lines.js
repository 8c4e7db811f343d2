/**
 * Lines of the share dialogs: an address that was made, and the links that there are.
 *
 * @import {ShareLink} from './types'
 */

import { h } from '../shared/dom.js';
import { copy } from '../shared/url.js';
import { linkWords } from './words.js';

/** What was made, to be copied. @param {string} name @param {string} text */
export const linkLine = (name, text) =>
  h(
    'div.share-made',
    h('code', { title: text }, text),
    h(
      'button',
      {
        class: 'btn',
        'aria-label': `Copy the ${name}`,
        onclick: async (/** @type {Event} */ event) => {
          const done = await copy(text);
          /** @type {HTMLElement} */ (event.target).textContent = done ? 'Copied' : 'Select it';
        },
      },
      'Copy',
    ),
  );

/** @param {HTMLElement} root @param {ShareLink[]} links @param {(link: ShareLink) => void} onWithdraw */
export function linksList(root, links, onWithdraw) {
  const line = (/** @type {ShareLink} */ link) => {
    const { what, use } = linkWords(link, Date.now());
    return h(
      'li',
      { class: link.state === 'open' ? null : 'ended' },
      h('span.num', `…${link.token_end}`),
      h('span', what),
      h('span.quiet', use),
      link.state === 'open' &&
        link.may_withdraw &&
        h(
          'button.btn.sm',
          {
            'aria-label': `Withdraw the link that ends with ${link.token_end}`,
            onclick: () => onWithdraw(link),
          },
          'Withdraw',
        ),
    );
  };
  root.replaceChildren(...(links.length ? links.map(line) : [h('li.quiet', 'No links yet.')]));
}
