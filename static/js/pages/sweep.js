/**
 * The page of one sweep: maps that fill while it runs, the chosen cell, and what can be done with all of it.
 *
 * How far it is comes through the socket; the maps are fetched when something new is in. A lost message is mended by
 * the next one, or by the tail that the server repeats.
 *
 * @import {Cell, Detail} from '../sweep/types'
 */

import { ask, submit } from '../shared/api.js';
import { banner, choose, h, part, press } from '../shared/dom.js';
import { listen as listenKeys } from '../shared/keys.js';
import { counted, grouped } from '../shared/numbers.js';
import { loadPlotly } from '../shared/plotly.js';
import { LaboratorySharing } from '../sharing/laboratory.js';
import { Socket, seldom, socketUrl } from '../shared/socket.js';
import { CellPanel } from '../sweep/cell.js';
import { Maps } from '../sweep/maps.js';
import { rampOf } from '../sweep/plots.js';
import { isWithin, onTextSize, onWithin } from '../shared/text-size.js';
import { orToast, toast } from '../shared/toast.js';
import { copy } from '../shared/url.js';
import { messageOf } from '../shared/errors.js';
import { duration } from '../frame/words.js';

/** Maps are fetched at most this often while they fill. */
const FETCH_EVERY_MS = 1000;
/** While the pointer or the arrows travel, nothing is fetched for the cells on the way. */
const PAUSE_MS = 70;
const ACROSS = 3;
const ENDED = new Set(['complete', 'interrupted', 'failed', 'cancelled']);
const STEPS = 9;

/** @type {Detail} */
let detail = JSON.parse(part('sweep-data').textContent ?? 'null');
const url = `/api/sweeps/${encodeURIComponent(detail.id)}`;
/** Below this the maps stand below each other. */
const NARROW_PX = 860;
const began = { at: Date.now(), done: detail.done };
/** @type {Map<string, Cell>} */
const cells = new Map();
let shown = { measure: detail.measure, aggregate: detail.aggregate };
let announced = '';
let pause = /** @type {any} */ (null);

const ended = () => ENDED.has(detail.status);
const query = () => new URLSearchParams(shown).toString();

const maps = new Maps(part('maps'), () => {
  clearTimeout(pause);
  pause = setTimeout(showCell, PAUSE_MS);
  address();
});
const sharing = new LaboratorySharing();
const panel = new CellPanel(part('cell'), url, (cell, seed) =>
  sharing.open(
    { cell: { sweep: detail.id, cell: cell.cell, seed, measure: shown.measure } },
    `${cell.assignor}, ${cell.shape}, ${cell.event.toLowerCase()}, seed ${seed}`,
  ),
);

function draw() {
  head();
  banners();
  progress();
  facts();
}

function since() {
  const tag = part('since');
  if (!ended()) {
    tag.replaceChildren(
      detail.status === 'waiting' ? 'Waiting for ' : 'Running for ',
      h('b.num', duration(Date.now() - Date.parse(detail.created))),
    );
  } else {
    tag.replaceChildren(
      h('b.num', grouped(detail.done)),
      ' cases, seeds ',
      h('b.num', String(detail.axes.first_seed)),
      ' to ',
      h('b.num', String(detail.axes.first_seed + detail.axes.seeds - 1)),
    );
  }
}

function head() {
  const running = !ended();
  since();
  part('delete').hidden = running;
  const sentence = detail.says.map(({ text, cell, measure }) =>
    cell === undefined
      ? text
      : h(
          'a',
          {
            class: 'clause',
            href: '#maps',
            onclick: (/** @type {Event} */ event) => {
              event.preventDefault();
              lead(cell, measure ?? shown.measure);
            },
          },
          text,
        ),
  );
  const nothing = ended() ? detail.problem || 'Nothing was answered.' : `${detail.stage || 'No results yet'}…`;
  part('says').replaceChildren(...(sentence.length ? [running ? 'So far: ' : '', ...sentence] : [nothing]));
  part('basis').textContent = running
    ? `${Math.floor((100 * detail.done) / detail.cases)} % done`
    : detail.done
      ? `Medians of ${detail.status === 'complete' ? '' : 'up to '}${counted(detail.axes.seeds, 'seed')}`
      : '';
}

function banners() {
  const shownNow = /** @type {HTMLElement[]} */ ([]);
  const add = (/** @type {Parameters<typeof banner>} */ ...known) => shownNow.push(banner(...known));
  const kept = `${grouped(detail.done)} of ${grouped(detail.cases)} cases are kept.`;
  const goOn = () =>
    detail.same_engine
      ? h('button.btn.sm', { 'data-needs': 'change', onclick: resume }, 'Go on with the rest')
      : h('span', 'The assignors have changed since, so that it cannot go on.');
  if (detail.status === 'failed') {
    add('bad', 'The sweep failed.', h('span', detail.problem), detail.done ? h('span', kept) : null, goOn());
  } else if (detail.status === 'interrupted') {
    add('warn', 'Cut short.', h('span', `${detail.problem} ${kept}`), goOn());
  } else if (detail.status === 'cancelled') {
    add('', 'Stopped.', h('span', kept), goOn());
  } else if (detail.waits) {
    shownNow.push(h('div.banner.warn', { role: 'status' }, h('b', 'Waiting. '), detail.waits));
  } else if (detail.spark && !detail.spark.ready) {
    add(
      '',
      'Getting Spark ready.',
      'Its packages are being fetched, once; this sweep begins as soon as they are there.',
    );
  }
  part('banners').replaceChildren(...shownNow);
}

function progress() {
  const running = !ended();
  part('run').hidden = !running;
  const share = (100 * detail.done) / detail.cases;
  part('count').replaceChildren(h('b', grouped(detail.done)), ' of ', h('b', grouped(detail.cases)), ' cases');
  part('bar').setAttribute('aria-valuenow', String(Math.round(share)));
  /** @type {HTMLElement} */ (part('bar').firstElementChild).style.width = `${share}%`;
  part('left').textContent = detail.done
    ? [left(), 'what is there can be opened'].filter(Boolean).join('; ')
    : detail.stage;
  // Each fifth, not each count: a screen reader is not a counter.
  const text = ended()
    ? `The sweep is ${detail.status}.`
    : detail.done
      ? `${Math.floor(share / 20) * 20} % done`
      : detail.stage;
  if (text !== announced) {
    announced = text;
    part('progress-says').textContent = text;
  }
}

/** How long it may last from here, by what came since this page was opened. */
function left() {
  // Until the first answer Spark starts, and that time predicts nothing about the rest.
  if (!began.done && detail.done) Object.assign(began, { at: Date.now(), done: detail.done });
  const came = detail.done - began.done;
  const took = Date.now() - began.at;
  if (came < 50 || took < 3000) return '';
  return `about ${duration(Math.max(1000, Math.round((took * (detail.cases - detail.done)) / came / 1000) * 1000))} left`;
}

function facts() {
  const { status, took_ms, cores, master, same_engine } = detail;
  const ran = cores
    ? [counted(cores, 'core'), status === 'complete' ? duration(took_ms) : ''].filter(Boolean).join(', ')
    : 'not begun';
  const rows = /** @type {[string, (Node | string)[]][]} */ ([
    ['Ran on', ['Spark, ', h('code', master), `, ${ran}`]],
    ['Seeds', ['draw who came and went before, who comes or goes, and which topic grows']],
    ['Before', ['each assignor starts from the assignment that it made itself, after four random joins and leaves']],
    [
      'Replay',
      [
        same_engine
          ? 'a cell opened again gives the same numbers, but for time'
          : 'the assignors have changed since: a cell opened again may give other numbers',
      ],
    ],
  ]);
  part('facts').replaceChildren(...rows.flatMap(([term, known]) => [h('dt', term), h('dd', known)]));
}

function controls() {
  part('measure').replaceChildren(
    ...detail.measures.map(({ key, label }) =>
      h('button', { 'data-value': key, 'aria-pressed': String(key === shown.measure) }, label),
    ),
  );
  press(part('aggregate'), shown.aggregate);
  scale();
}

function scale() {
  const measure = detail.measures.find(({ key }) => key === detail.measure);
  part('what').textContent = measure?.title ?? '';
  const swatches = Array.from({ length: STEPS }, (_, step) => h('i', { class: `h${step}` }));
  part('legend').replaceChildren('0', h('span.sc', swatches), detail.most);
}

/** @param {number} cell @param {string} measure */
function lead(cell, measure) {
  maps.choose(cell, true);
  if (measure !== shown.measure) change({ measure });
}

/** @param {{measure?: string, aggregate?: string}} wanted */
function change(wanted) {
  shown = { ...shown, ...wanted };
  controls();
  address();
  refresh(true);
}

async function showCell() {
  const cell = maps.chosen;
  const key = `${cell} ${query()} ${detail.done}`;
  let found = cells.get(key);
  if (!found) {
    try {
      found = /** @type {Cell} */ (await ask(`${url}/cells/${cell}?${query()}`));
    } catch (error) {
      toast(messageOf(error, 'The cell could not be read.'));
      return;
    }
    cells.set(key, found);
  }
  if (cell !== maps.chosen) return;
  const label = detail.measures.find(({ key: each }) => each === shown.measure)?.label ?? '';
  panel.show(found, shown.measure === 'spread' ? '' : label.toLowerCase());
  const value = shown.aggregate === 'worst' ? found.most : found.median;
  part('to-cell').replaceChildren(
    h('span', `${found.assignor}, ${found.shape}, ${found.event.toLowerCase()}`),
    h('b', value === null ? 'seeds ↓' : `${value}${found.unit} ↓`),
  );
}

const refresh = seldom(async () => {
  await orToast('The sweep could not be read.', async () => {
    const asked = query();
    const found = /** @type {Detail} */ (await ask(`${url}?${asked}`));
    if (asked === query()) {
      detail = found;
      scale();
      draw();
      maps.update(detail);
      await showCell();
    }
  });
}, FETCH_EVERY_MS);

function listen() {
  const socket = new Socket({
    url: socketUrl(`/ws/sweeps/${encodeURIComponent(detail.id)}`),
    hear(message) {
      const waits = message.type === 'tail' ? (message.waits ?? '') : detail.waits;
      const fresh = message.done !== detail.done || message.status !== detail.status || waits !== detail.waits;
      if (message.type === 'progress') {
        Object.assign(detail, { done: message.done, stage: message.stage });
        if (message.status === detail.status) progress();
      }
      if (fresh) refresh();
      if (ENDED.has(message.status)) socket.close();
    },
    goesOn: () => !ended(),
    before: () => refresh(true),
  });
  socket.open();
}

/** The address keeps measure and cell, so that a link opens them again. */
function address() {
  const here = new URL(location.href);
  here.search = query();
  here.searchParams.set('cell', String(maps.chosen));
  history.replaceState(history.state, '', here);
}

async function resume() {
  await orToast('It could not go on.', async () => {
    await submit(`${url}/resume`, 'POST', {});
    await refresh(true);
    began.at = Date.now();
    began.done = detail.done;
    listen();
  });
}

async function copyLink() {
  address();
  toast(
    (await copy(location.href))
      ? 'The link is in the clipboard'
      : 'The browser did not allow it; the address holds the link',
  );
}

async function paint() {
  try {
    const plotly = await loadPlotly(part('sweep').dataset.plotly ?? '');
    maps.draw(plotly, rampOf(part('legend').querySelectorAll('.sc i')));
    panel.draw(plotly);
    part('maps').setAttribute('data-ready', 'true');
  } catch (error) {
    // The buttons have the numbers and the colours; only the dots of the seeds are missing.
    toast(messageOf(error, 'The figures could not be drawn.'));
  }
}

/** Where the page begins: what the link contains, else what the sentence leads to, else the first cell with an answer. */
function first() {
  const known = new URLSearchParams(location.search).get('cell');
  const total = detail.maps.length * detail.axes.shapes.length * detail.axes.events.length;
  if (known !== null && /^\d{1,6}$/.test(known) && Number(known) < total) return Number(known);
  const clauses = detail.says.filter(({ cell }) => cell !== undefined);
  return (clauses[1] ?? clauses[0])?.cell ?? 0;
}

choose('measure', (measure) => change({ measure }));
choose('aggregate', (aggregate) => change({ aggregate }));
part('copy-link').addEventListener('click', copyLink);
part('stop').addEventListener('click', async () => {
  await orToast('It could not be stopped.', () => submit(`${url}/cancel`, 'POST', {}));
  refresh(true);
});
part('delete').addEventListener('click', async () => {
  if (!confirm('Delete this sweep and its answers? Links to it end.')) return;
  await orToast('It could not be deleted.', async () => {
    await submit(url, 'DELETE');
    location.href = '/sweeps';
  });
});
listenKeys({ c: copyLink });

const wish = new URLSearchParams();
for (const [key, names] of Object.entries({
  assignors: detail.axes.assignors,
  shapes: detail.axes.shapes,
  events: detail.axes.events,
})) {
  for (const { name } of names) wish.append(key, name);
}
wish.set('seeds', String(detail.axes.seeds));
/** @type {HTMLAnchorElement} */ (part('new')).href = `/sweeps?${wish}`;

controls();
maps.build(detail, isWithin(NARROW_PX) ? 1 : ACROSS);
maps.choose(first());
draw();
showCell();
onWithin(NARROW_PX, (is) => {
  maps.build(detail, is ? 1 : ACROSS);
  paint();
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', paint);
onTextSize(paint);
if (!ended()) listen();
setInterval(() => {
  if (!ended()) {
    since();
    progress();
  }
}, 1000);
document.documentElement.dataset.alive = 'true';
const idle =
  /** @type {any} */ (window).requestIdleCallback ?? ((/** @type {() => void} */ run) => setTimeout(run, 300));
idle(paint, { timeout: 1500 });
