/**
 * A page behind a share link, which may be withdrawn while it plays: it asks now and then whether the link is still open.
 */

import { h } from '../shared/dom.js';

/** How soon a withdrawn link ends where somebody looks at it. */
export const ASK_MS = 5000;
const GONE = new Set([404, 410]);
const SIGNED_OUT = 401;

/**
 * @param {object} parts
 * @param {Document} parts.page
 * @param {() => void} parts.onEnd before the page is emptied
 * @param {(url: string) => Promise<{status: number}>} [parts.ask]
 * @param {(run: () => void, ms: number) => void} [parts.later]
 */
export function watchLink({
  page,
  onEnd,
  ask = async (url) => {
    const answer = await fetch(url, { cache: 'no-store', redirect: 'manual' });
    // Whoever is signed out is led to where one signs in.
    return answer.type === 'opaqueredirect' ? { status: SIGNED_OUT } : answer;
  },
  later = (run, ms) => {
    setTimeout(run, ms);
  },
}) {
  const url = page.body.dataset.link;
  if (!url) return;
  const look = async () => {
    // A network that fails means nothing about the link.
    const status = await ask(url).then(
      (answer) => answer.status,
      () => 0,
    );
    if (status === SIGNED_OUT) {
      page.location.reload();
      return;
    }
    if (!GONE.has(status)) {
      later(look, ASK_MS);
      return;
    }
    onEnd();
    page.title = 'This link has ended';
    page
      .querySelector('main')
      ?.replaceChildren(
        h(
          'div.sheet',
          h(
            'div.panel',
            { role: 'alert' },
            h('h1', 'This link has ended'),
            h('p.quiet', 'Whoever shared this has withdrawn it, or its time is over. Ask them for a new link.'),
          ),
        ),
      );
    for (const node of page.querySelectorAll('header .crumbs, header .tag, header .seg, header .btn, script'))
      node.remove();
  };
  later(look, ASK_MS);
}
