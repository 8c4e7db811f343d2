/** The first page: what is pasted or dropped, the sample log, the path of lessons, the gallery of case studies. */

import { ask, csrfToken, Refused, submit } from '../shared/api.js';
import { h, part } from '../shared/dom.js';
import { all } from '../lesson/progress.js';
import { explain } from '../shared/terms.js';
import { messageOf } from '../shared/errors.js';
import { takesDrops } from '../shared/drops.js';

function sample() {
  const button = /** @type {HTMLButtonElement | null} */ (document.getElementById('sample'));
  button?.addEventListener('click', async () => {
    button.disabled = true;
    part('sample-says').textContent = 'Starting…';
    try {
      const { url } = await submit('/api/imports', 'POST', { sample: true });
      location.href = url;
    } catch (error) {
      button.disabled = false;
      part('sample-says').textContent = messageOf(error, 'It could not be started.');
    }
  });
}

/** Sends files as an import of their own, and opens it. @param {Iterable<File>} files */
async function send(files) {
  const form = new FormData();
  for (const file of files) form.append('files', file);
  part('sample-says').textContent = 'Sending…';
  try {
    const headers = { Accept: 'application/json', 'X-CSRFToken': csrfToken() };
    location.href = (await ask('/api/imports', { method: 'POST', body: form, headers })).url;
  } catch (error) {
    part('sample-says').textContent = error instanceof Refused ? error.message : 'The server does not answer.';
  }
}

/** Files are dropped on the first door, text is pasted into it. */
function drop() {
  const card = document.getElementById('drop');
  if (!card) return;
  const pasted = /** @type {HTMLTextAreaElement} */ (part('pasted'));
  // Text that is dropped lies in the field, to be read by the button.
  takesDrops(card, ({ files }) => (files.length ? send(files) : false));
  const has = () => {
    part('read').hidden = !pasted.value.trim();
    part('choose').hidden = !part('read').hidden;
  };
  pasted.addEventListener('input', has);
  has();
  part('read').addEventListener('click', () => send([new File([pasted.value], 'pasted.txt', { type: 'text/plain' })]));
}

/** The first case studies, or those of a kind and with the words that are searched for. */
function gallery() {
  const root = document.getElementById('cards');
  if (!root) return;
  const cards = /** @type {HTMLElement[]} */ ([...root.children]);
  const first = Number(root.dataset.first);
  const find = /** @type {HTMLInputElement} */ (part('find'));
  const kinds = part('kinds');
  let [kind, whole] = ['', false];
  function draw() {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fitting = cards.filter(
      (card) =>
        (!kind || card.dataset.kind === kind) && words.every((word) => card.textContent?.toLowerCase().includes(word)),
    );
    const shown = new Set(whole || kind || words.length ? fitting : fitting.slice(0, first));
    for (const card of cards) card.hidden = !shown.has(card);
    for (const button of kinds.querySelectorAll('button'))
      button.setAttribute('aria-pressed', String(button.dataset.kind === kind));
    part('no-case').hidden = shown.size > 0;
    part('all-cases').hidden = shown.size === cards.length;
  }
  find.addEventListener('input', draw);
  kinds.addEventListener('click', (event) => {
    const button = /** @type {HTMLElement} */ (event.target).closest('button');
    if (!button) return;
    kind = button.dataset.kind ?? '';
    whole = true;
    draw();
  });
  part('all-cases').addEventListener('click', () => {
    [kind, whole, find.value] = ['', true, ''];
    draw();
  });
  find.hidden = false;
  kinds.hidden = false;
  draw();
}

/** Which lessons of the path this browser's reader has done, and the next of them. */
function path() {
  const done = all();
  const stations = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('.path [data-lesson]'));
  /** @type {HTMLAnchorElement | null} */
  let next = null;
  for (const station of stations) {
    const kept = done[station.dataset.lesson ?? ''];
    station.classList.toggle('done', kept?.done === true);
    station.querySelector('.sr')?.remove();
    if (kept?.done) station.append(h('span.sr', 'done'));
    else next ??= station.querySelector('a');
  }
  if (!next || ![...stations].some((station) => done[station.dataset.lesson ?? ''])) return;
  /** @type {HTMLAnchorElement} */ (part('start')).href = next.href;
  part('start-word').textContent = `Go on: ${next.textContent}`;
}

explain();
path();
addEventListener('pageshow', path);
sample();
drop();
gallery();
document.documentElement.dataset.alive = 'true';
