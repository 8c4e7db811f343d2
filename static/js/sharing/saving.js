/** One HTML file of what a page shows: a button, and whether names are hidden. */

import { h, part } from '../shared/dom.js';
import { messageOf } from '../shared/errors.js';
import { isLoopback, ONLY_HERE } from './words.js';

/** Where a link opens on this machine alone, the file comes first, and the dialog shows why. @param {string} host */
export function fileFirst(host) {
  if (!isLoopback(host)) return;
  const [make, file] = [part('share-make'), part('share-html')];
  make.classList.remove('go');
  file.classList.add('go');
  file.parentElement?.prepend(file);
  file.parentElement?.after(h('p.quiet.small', { id: 'share-only-here' }, ONLY_HERE));
}

/** Hands a file to its reader. @param {{name: string, blob: Blob}} file */
export function handOver({ name, blob }) {
  const href = URL.createObjectURL(blob);
  const link = h('a', { href, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}

/** @param {() => object} asked what of the page @param {(body: object) => Promise<{name: string, blob: Blob}>} make */
export function wireSaving(asked, make) {
  const button = /** @type {HTMLButtonElement} */ (part('save-file'));
  const text = part('save-says');
  button.addEventListener('click', async () => {
    button.disabled = true;
    text.textContent = 'In a moment…';
    try {
      const hides = /** @type {HTMLInputElement} */ (part('save-hide')).checked;
      const made = await make({ ...asked(), hide_names: hides });
      handOver(made);
      text.textContent = `${made.name} was made: ${(made.blob.size / 1e6).toFixed(1)} MB.`;
    } catch (error) {
      text.textContent = messageOf(error, 'The file could not be made.');
    } finally {
      button.disabled = false;
    }
  });
}
