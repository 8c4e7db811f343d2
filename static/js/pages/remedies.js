/** What would have helped: follows a search until it ends, and opens branches of its rows. */

import { leadOf, restsOn, seconds, tableOf } from '../remedies/rows.js';
import { ask, submit } from '../shared/api.js';
import { part } from '../shared/dom.js';
import { messageOf } from '../shared/errors.js';

/** @typedef {{id: string, status: string, stage: string, problem: string, done: number, runs: number, seeds: number, answer: import('../remedies/rows.js').Answer | null}} Search */

const EVERY_MS = 1000;
/** @type {Search} */
let search = JSON.parse(part('remedies-data').textContent ?? '{}');
const url = `/api/remedies/${search.id}`;
const message = (/** @type {unknown} */ error) => messageOf(error, 'It could not be done.');
const runs = () => ['waiting', 'running'].includes(search.status);

/** @param {string} key @param {HTMLButtonElement} button */
async function open(key, button) {
  button.disabled = true;
  try {
    const made = await submit(`${url}/branches`, 'POST', { remedy: key });
    location.assign(made.compare);
  } catch (error) {
    part('says').textContent = message(error);
    button.disabled = false;
  }
}

function show() {
  const { answer } = search;
  part('run').hidden = !runs();
  part('stage').textContent = search.stage;
  part('count').textContent = search.runs ? `${search.done} of ${search.runs} runs` : '';
  /** @type {HTMLProgressElement} */ (part('bar')).value = search.runs ? search.done / search.runs : 0;
  if (search.problem) part('says').textContent = search.problem;
  if (!answer) return;
  part('lead').textContent = leadOf(answer, !runs());
  const { not_read_ms: notRead, unassigned_ms: unassigned, epochs } = answer.recorded;
  const read =
    notRead === null ? 'what was not read is not in the log' : `${seconds(notRead)} partition-seconds not read`;
  part('under').textContent =
    answer.why ??
    `Recorded: ${read}, ${seconds(unassigned)} unassigned, ${epochs} new ${epochs === 1 ? 'epoch' : 'epochs'}. Simulated: ${answer.seeds} seeds for each row. Not a promise: the answer of a simulator that repeats the incident.`;
  part('rows').replaceChildren(tableOf(answer, !runs(), open));
  part('rests').replaceChildren(restsOn(answer.assumptions));
}

async function follow() {
  show();
  while (runs()) {
    await new Promise((done) => setTimeout(done, EVERY_MS));
    try {
      search = await ask(url);
      part('says').textContent = '';
    } catch (error) {
      part('says').textContent = message(error);
    }
    show();
  }
}

part('cancel').addEventListener('click', async () => {
  try {
    search = await submit(`${url}/cancel`, 'POST', {});
  } catch (error) {
    part('says').textContent = message(error);
  }
  show();
});

void follow();
