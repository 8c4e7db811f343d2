/**
 * The page that begins an import: files and folders, chosen or dropped, with the folders' names kept, since those contain
 * the partitions. Kafka's companion files (indexes, checkpoints of epochs) stay behind.
 */

import { partitionField } from '../import/partition.js';
import { part } from '../shared/dom.js';
import { csrfToken } from '../shared/api.js';
import { takesDrops } from '../shared/drops.js';

/** Files in the folders of segments with nothing that is read. */
const COMPANION =
  /(\.(index|timeindex|txnindex|snapshot|deleted|cleaned|swap)|leader-epoch-checkpoint|partition\.metadata|quorum-state)$/;
/** The server takes no more in one upload; a larger log is imported with manage.py. */
const FILES_MOST = 2000;

/** @typedef {{file: File, path: string}} Chosen */

/** @type {Chosen[]} */
let chosen = [];
const form = /** @type {HTMLFormElement} */ (part('upload'));
const files = /** @type {HTMLInputElement} */ (part('files'));
const folder = /** @type {HTMLInputElement} */ (part('folder'));
const start = /** @type {HTMLButtonElement} */ (part('start'));

/** @param {Chosen[]} found */
function choose(found) {
  chosen = found.filter(({ path }) => !COMPANION.test(path));
  const size = chosen.reduce((sum, { file }) => sum + file.size, 0);
  part('chosen').textContent = chosen.length
    ? `${chosen.length === 1 ? chosen[0].path : `${chosen.length} files`}, ${(size / 1e6).toFixed(1)} MB`
    : 'No file in it could be a log segment.';
  start.disabled = !chosen.length;
  refuse(chosen.length > FILES_MOST ? `${chosen.length} files are more than one upload takes (${FILES_MOST}).` : '');
}

/** @param {string} text */
function refuse(text) {
  part('problem').textContent = text;
  part('problem').hidden = !text;
}

/** Everything under a dropped file or folder. @param {any} entry @param {string} [under] @returns {Promise<Chosen[]>} */
async function walk(entry, under = '') {
  const path = under ? `${under}/${entry.name}` : entry.name;
  if (entry.isFile) return [{ file: await new Promise((done, failed) => entry.file(done, failed)), path }];
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    // A reader gives a hundred at a time.
    const some = /** @type {any[]} */ (await new Promise((done, failed) => reader.readEntries(done, failed)));
    if (!some.length || found.length > FILES_MOST) return found;
    for (const inner of some) found.push(...(await walk(inner, path)));
  }
}

function send() {
  const body = new FormData();
  for (const { file, path } of chosen) {
    body.append('files', file);
    body.append('paths', path);
  }
  for (const name of ['session_timeout_ms', 'max_poll_interval_ms']) {
    body.append(name, /** @type {HTMLInputElement} */ (form.elements.namedItem(name)).value);
  }
  const [ends] = /** @type {HTMLInputElement} */ (part('end-offsets')).files ?? [];
  if (ends) body.append('end_offsets', ends);
  const request = new XMLHttpRequest();
  const bar = part('sending');
  bar.hidden = false;
  start.disabled = true;
  request.upload.onprogress = ({ loaded, total }) => {
    const share = total ? Math.round((100 * loaded) / total) : 0;
    bar.setAttribute('aria-valuenow', String(share));
    /** @type {HTMLElement} */ (bar.firstElementChild).style.width = `${share}%`;
  };
  const fail = (/** @type {string} */ why) => {
    bar.hidden = true;
    start.disabled = false;
    refuse(why);
  };
  request.onload = () => {
    if (request.status === 201) location.href = request.response.url;
    else fail(request.response?.error?.message ?? `The server answered ${request.status}.`);
  };
  request.onerror = () => fail('The server could not be reached; nothing was imported.');
  request.open('POST', '/api/imports');
  request.responseType = 'json';
  request.setRequestHeader('X-CSRFToken', csrfToken());
  request.send(body);
}

/** @param {HTMLInputElement} input */
const picked = (input) =>
  [...(input.files ?? [])].map((file) => ({ file, path: file.webkitRelativePath || file.name }));

files.addEventListener('change', () => choose(picked(files)));
folder.addEventListener('change', () => choose(picked(folder)));
if ('webkitdirectory' in folder) {
  folder.hidden = false;
  part('folder-label').hidden = false;
}
form.addEventListener('submit', (event) => {
  event.preventDefault();
  if (chosen.length) send();
  else refuse('Choose files or a folder first, or drop them here.');
});
takesDrops(form, async ({ items }) => {
  const entries = [...items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
  choose((await Promise.all(entries.map((entry) => walk(entry)))).flat());
});
partitionField();
document.documentElement.dataset.alive = 'true';
