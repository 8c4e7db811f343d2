/** What would have helped: follows a search until it ends, and opens branches of its rows. */

import { leadOf, restsOn, seconds, tableOf } from '../remedies/rows.js';
import { ask, submit } from '../shared/api.js';

/** @typedef {{id: string, status: string, stage: string, problem: string, done: number, runs: number, seeds: number, answer: import('../remedies/rows.js').Answer | null}} Search */

const EVERY_MS = 1000;
const by = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
/** @type {Search} */
let search = JSON.parse(by('remedies-data').textContent ?? '{}');
const url = `/api/remedies/${search.id}`;
const message = (/** @type {unknown} */ error) => (error instanceof Error ? error.message : 'It could not be done.');
const runs = () => ['waiting', 'running'].includes(search.status);

/** @param {string} key @param {HTMLButtonElement} button */
async function open(key, button) {
  button.disabled = true;
  try {
    const made = await submit(`${url}/branches`, 'POST', { remedy: key });
    location.assign(made.compare);
  } catch (error) {
    by('says').textContent = message(error);
    button.disabled = false;
  }
}

function show() {
  const { answer } = search;
  by('run').hidden = !runs();
  by('stage').textContent = search.stage;
  by('count').textContent = search.runs ? `${search.done} of ${search.runs} runs` : '';
  /** @type {HTMLProgressElement} */ (by('bar')).value = search.runs ? search.done / search.runs : 0;
  if (search.problem) by('says').textContent = search.problem;
  if (!answer) return;
  by('lead').textContent = leadOf(answer, !runs());
  const { not_read_ms: notRead, unassigned_ms: unassigned, epochs } = answer.recorded;
  const read =
    notRead === null ? 'what was not read is not in the log' : `${seconds(notRead)} partition-seconds not read`;
  by('under').textContent =
    answer.why ??
    `Recorded: ${read}, ${seconds(unassigned)} unassigned, ${epochs} new ${epochs === 1 ? 'epoch' : 'epochs'}. Simulated: ${answer.seeds} seeds for each row. Not a promise: the answer of a simulator that repeats the incident.`;
  by('rows').replaceChildren(tableOf(answer, !runs(), open));
  by('rests').replaceChildren(restsOn(answer.assumptions));
}

async function follow() {
  show();
  while (runs()) {
    await new Promise((done) => setTimeout(done, EVERY_MS));
    try {
      search = await ask(url);
      by('says').textContent = '';
    } catch (error) {
      by('says').textContent = message(error);
    }
    show();
  }
}

by('cancel').addEventListener('click', async () => {
  try {
    search = await submit(`${url}/cancel`, 'POST', {});
  } catch (error) {
    by('says').textContent = message(error);
  }
  show();
});

void follow();
