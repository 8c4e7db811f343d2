/**
 * What of a timeline is not on the page yet: chunks that are stored and not fetched, and entries that are still to be
 * written.
 *
 * @import {Timeline} from '../timeline/timeline.js'
 * @import {Link} from './feed.js'
 */

import { Feed } from './feed.js';

/** Chunks that are fetched behind the board, so that steps can be counted and spans drawn to the end. */
const BACKGROUND_CHUNKS_MOST = 64;
/** While chunks come one after another, the page is drawn again at most this often. */
const DIGEST_MS = 500;

/**
 * The rest of a long timeline, one chunk after another, so that a click does not wait behind it.
 *
 * @param {Timeline} timeline
 * @param {() => void} redraw
 */
export async function fetchBehind(timeline, redraw) {
  let fetched = 0;
  let drawn = 0;
  for (const chunk of timeline.chunks) {
    if (chunk.loaded) continue;
    if (fetched >= BACKGROUND_CHUNKS_MOST) break;
    fetched += 1;
    try {
      await timeline.fetch(chunk.first);
    } catch {
      return;
    }
    if (performance.now() - drawn > DIGEST_MS) {
      redraw();
      drawn = performance.now();
    }
  }
  if (fetched) redraw();
}

/**
 * Takes what comes through the timeline's socket; a page that comes back to the foreground asks at once.
 *
 * @param {Omit<ConstructorParameters<typeof Feed>[0], 'last' | 'append' | 'onLink'> & {timeline: Timeline, onTail: () => void,
 *   onLink: (link: Link, hurry: () => void) => void}} parts `onTail`: entries were added
 */
export function connect({ timeline, onTail, onLink, ...options }) {
  const hurry = () => feed.hurry();
  const feed = new Feed({
    ...options,
    last: () => timeline.last,
    append: (delta) => {
      const taken = timeline.append(delta);
      if (taken) onTail();
      return taken;
    },
    onLink: (link) => onLink(link, hurry),
  });
  feed.open();
  addEventListener('online', hurry);
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') hurry();
  });
}
