/** A proof's page while it runs: its stage, and the report once there is one. */

import { ask, submit } from '../shared/api.js';
import { part } from '../shared/dom.js';
import { messageOf } from '../shared/errors.js';

const EVERY_MS = 1000;
const run = part('run');
const url = `/api/proofs/${run.dataset.id ?? ''}`;
const message = (/** @type {unknown} */ error) => messageOf(error, 'It could not be done.');

part('cancel').addEventListener('click', () => {
  submit(`${url}/cancel`, 'POST', {}).catch((error) => {
    part('stage').textContent = message(error);
  });
});

async function follow() {
  for (;;) {
    await new Promise((done) => setTimeout(done, EVERY_MS));
    try {
      const { status, stage } = await ask(url);
      if (!['waiting', 'running'].includes(status)) break;
      part('stage').textContent = stage;
    } catch (error) {
      part('stage').textContent = message(error);
    }
  }
  location.reload();
}

if (!run.hidden) void follow();
