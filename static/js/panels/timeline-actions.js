/**
 * What can be done with a timeline as a whole: its link copied, its name changed, its topics named, a link for others made.
 *
 * @import {Served} from '../source/page.js'
 * @import {Meta} from '../types'
 */

import { part } from '../shared/dom.js';
import { withView } from './reading.js';
import { orToast, toast } from '../shared/toast.js';
import { copy, withMoment } from '../shared/url.js';

/** @param {import('../timeline/timeline.js').Timeline} timeline @param {import('./reading.js').View} view */
export async function copyLink(timeline, view) {
  const href = withMoment(withView(location.href, view), timeline.rest?.sequence ?? 0);
  toast((await copy(href)) ? `Link to step ${timeline.position} copied` : href);
}

/** @param {Meta} meta @param {Served | null} server */
export async function rename(meta, server) {
  const wanted = prompt('Name of this timeline', meta.title)?.trim();
  if (!wanted || wanted === meta.title) return;
  await orToast('It could not be renamed.', async () => {
    await server?.rename(wanted);
    location.reload();
  });
}

/** @param {Served} server @param {{[id: string]: string | null}} names */
export async function saveNames(server, names) {
  await server.name(names);
  location.reload();
}

/**
 * Few share what they look at: the dialog comes with the first press, which is not lost while the board still loads.
 *
 * @param {Served} server @param {import('../timeline/timeline.js').Timeline} timeline
 */
export function wireSharing({ sharing }, timeline) {
  const made = async () => {
    const { ShareDialog } = await import('../sharing/dialog.js');
    return new ShareDialog({
      sharing,
      moments: () => (timeline.whole ? timeline.moments : null),
      now: () => ({ sequence: timeline.rest?.sequence ?? timeline.last, moment: part('time').textContent ?? '' }),
    });
  };
  /** @type {ReturnType<typeof made> | undefined} */
  let dialog;
  part('share-open').addEventListener('click', async () => (await (dialog ??= made())).open());
}

/** The panel of forks comes with the first press. @param {string} id @param {import('../timeline/timeline.js').Timeline} timeline */
export function wireForks(id, timeline) {
  /** @type {Promise<import('../forks/panel.js').ForkPanel> | undefined} */
  let panel;
  const made = async () => {
    const { ForkPanel } = await import('../forks/panel.js');
    return new ForkPanel(id, () => timeline.rest?.sequence ?? timeline.last);
  };
  document.getElementById('fork-open')?.addEventListener('click', async () => (await (panel ??= made())).open());
}
