/**
 * The page of one import: what was recognised, how far it is, the groups that can be opened, ids without a name,
 * what was skipped. Each panel is a file of `import/`.
 *
 * Counts come through the socket; everything else is fetched when something new is there. A lost message is mended
 * by the next one, or by the tail that the server repeats.
 *
 * @import {Detail} from '../import/types'
 */

import { ask, submit } from '../shared/api.js';
import { part } from '../shared/dom.js';
import { banners } from '../import/banners.js';
import { importedGroups } from '../import/groups.js';
import { head } from '../import/head.js';
import { wireReport } from '../import/report.js';
import { skipped } from '../import/skipped.js';
import { sources } from '../import/sources.js';
import { stages } from '../import/stages.js';
import { ended } from '../import/states.js';
import { times } from '../panels/times.js';
import { loadNames, topicIds } from '../import/topic-ids.js';
import { Socket, seldom, socketUrl } from '../shared/socket.js';
import { orToast } from '../shared/toast.js';
import { counted } from '../shared/numbers.js';

/** The whole is fetched at most this often while it grows; counts come by themselves. */
const FETCH_EVERY_MS = 700;
/** The rows of the table, of up to 2,000 groups. */
const TABLE_EVERY_MS = 3_000;

/** @type {Detail} */
let detail = JSON.parse(part('import-data').textContent ?? 'null');
const url = `/api/imports/${encodeURIComponent(detail.id)}`;

const groups = importedGroups(JSON.parse(part('troubles-data').textContent ?? 'null'), detail);

const analyse = seldom(async () => {
  await orToast('The groups could not be fetched.', async () => {
    groups.show(detail, await ask(`/api/groups?import=${encodeURIComponent(detail.id)}`));
  });
}, TABLE_EVERY_MS);

let folded = false;

function draw() {
  // Nobody needs full bars and read files after the end.
  if (detail.status === 'complete' && !folded) {
    folded = true;
    for (const id of ['progress-fold', 'sources-fold']) part(id).removeAttribute('open');
  }
  head(detail);
  banners(detail, repeat);
  stages(detail);
  times(detail);
  sources(detail);
  groups.show(detail);
  topicIds(detail, refresh);
  skipped(detail);
}

async function repeat() {
  await orToast('It could not be read again.', async () => {
    detail = await submit(`${url}/repeat`, 'POST', {});
    draw();
    listen();
  });
}

const refresh = seldom(async () => {
  await orToast('The import could not be read.', async () => {
    detail = await ask(url);
    draw();
    analyse(ended(detail));
  });
}, FETCH_EVERY_MS);

function listen() {
  let known = -1;
  const hear = (/** @type {any} */ message) => {
    if (message.type === 'progress') {
      const begins = message.stage !== detail.stage || message.timelines !== known;
      known = message.timelines;
      detail.stage = message.stage;
      detail.stages = message.stages;
      detail.bytes = message.bytes ?? detail.bytes;
      detail.remaining_s = message.remaining_s ?? null;
      if ((message.stuck ?? '') !== detail.stuck) refresh();
      detail.found = message.found ?? detail.found;
      stages(detail);
      if (begins) refresh();
    } else if (message.status !== detail.status || message.type === 'status') {
      refresh();
    } else if (message.type === 'tail' && (message.waits ?? '') !== detail.waits) {
      refresh();
    }
  };
  new Socket({
    url: socketUrl(`/ws/imports/${encodeURIComponent(detail.id)}`),
    hear,
    goesOn: () => !ended(detail),
    before: () => refresh(true),
  }).open();
}

wireReport(() => detail);
part('rename').addEventListener('click', async () => {
  const wanted = prompt('Name of this import', detail.title)?.trim();
  if (!wanted || wanted === detail.title) return;
  await orToast('It could not be renamed.', async () => {
    await submit(url, 'PATCH', { title: wanted });
    location.reload();
  });
});
part('stop').addEventListener('click', async () => {
  await orToast('It could not be cancelled.', () => submit(`${url}/cancel`, 'POST', {}));
  refresh();
});
part('delete').addEventListener('click', async () => {
  const number = detail.timelines_in_all;
  if (!confirm(`Delete this import${number ? ` and its ${counted(number, 'timeline')}` : ''}? Links to them end.`))
    return;
  await orToast('It could not be deleted.', async () => {
    await submit(url, 'DELETE');
    location.href = '/import/';
  });
});
part('names-file').addEventListener('change', (event) => {
  const file = /** @type {HTMLInputElement} */ (event.target).files?.[0];
  if (file) loadNames(file, detail, refresh);
});

draw();
if (!ended(detail)) {
  listen();
  setInterval(() => {
    if (!ended(detail)) head(detail);
  }, 1000);
}
document.documentElement.dataset.alive = 'true';
