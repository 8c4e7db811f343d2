/**
 * The first page: the board that plays by itself, the sample log, and files that are dropped.
 */

import { tell } from '../shared/api.js';
import { Cast } from '../frame/cast.js';
import { calm, h, part } from '../shared/dom.js';
import { Labels } from '../frame/labels.js';
import { all } from '../lesson/progress.js';
import { Lanes } from '../board/lanes.js';
import { isMereCommit } from '../shared/key-steps.js';
import { Spans } from '../frame/spans.js';
import { explain } from '../shared/terms.js';
import { Timeline } from '../timeline/timeline.js';
import { columnsOf, partitionsOf, unowned } from '../frame/view.js';

const STEP_MS = 1500;
/** Where the picture stands still: the last step at which somebody waits, so that it tells something. */
const STILL_FROM_END = 2;

function play() {
  const data = document.getElementById('timeline-data');
  const chunkData = document.getElementById('chunk-data');
  if (!data || !chunkData) return;
  const meta = JSON.parse(data.textContent ?? 'null');
  const chunk = JSON.parse(chunkData.textContent ?? 'null');
  if (!meta || !chunk) return;
  const cast = new Cast(meta.summary.cast);
  const timeline = new Timeline({
    chunks: [{ first: chunk.first, last: chunk.last }],
    load: () => Promise.resolve(chunk),
    rests: (moment) => !isMereCommit(moment),
  });
  timeline.give(chunk);
  const spans = new Spans(cast);
  timeline.walk(
    (moment, frame) => spans.add(moment, frame),
    (frame) => spans.start(frame),
  )();
  const columns = columnsOf(spans.counts);
  const labels = new Labels();
  labels.meet(spans.counts.keys());
  const always = cast.lanes.map((lane) => lane.key);
  const lanes = new Lanes(part('mini'), { columns, cast, labels, compact: true, always });

  const draw = (/** @type {import('../timeline/timeline.js').Rest | null} */ rest, /** @type {boolean} */ animate) => {
    if (!rest) return;
    const views = partitionsOf(rest.frame);
    const since = (/** @type {string} */ key) =>
      spans.bare.find(
        (bare) => bare.key === key && bare.from <= rest.sequence && (bare.to === null || bare.to > rest.sequence),
      )?.from_ms ?? null;
    lanes.render(
      {
        frame: rest.frame,
        moment: rest.moment,
        views,
        free: unowned(rest.frame, columns, views),
        since,
        forward: animate,
      },
      animate,
    );
    part('caption').replaceChildren(h('b.num', `step ${timeline.number}`), `\u2002${rest.moment?.says ?? ''}`);
  };
  const { steps } = timeline;
  const still = steps[Math.max(0, steps.length - 1 - STILL_FROM_END)];
  draw(timeline.seekLoaded(still?.sequence ?? 0), false);
  if (calm()) return;
  setInterval(async () => {
    if (document.visibilityState !== 'visible') return;
    if (timeline.atEnd) draw(timeline.seekLoaded(steps[0].sequence), false);
    else draw(await timeline.step(1), true);
  }, STEP_MS);
}

function sample() {
  const button = /** @type {HTMLButtonElement | null} */ (document.getElementById('sample'));
  button?.addEventListener('click', async () => {
    button.disabled = true;
    part('sample-says').textContent = 'Starting…';
    try {
      const { url } = await tell('/api/imports', 'POST', { sample: true });
      location.href = url;
    } catch (error) {
      button.disabled = false;
      part('sample-says').textContent = error instanceof Error ? error.message : 'It could not be started.';
    }
  });
}

/** Files dropped on the card are sent as an import of their own. */
function drop() {
  const card = document.getElementById('drop');
  if (!card) return;
  card.addEventListener('dragover', (event) => {
    event.preventDefault();
    card.classList.add('over');
  });
  card.addEventListener('dragleave', () => card.classList.remove('over'));
  card.addEventListener('drop', async (event) => {
    event.preventDefault();
    card.classList.remove('over');
    const files = event.dataTransfer?.files;
    if (!files?.length) return;
    const form = new FormData();
    for (const file of files) form.append('files', file);
    const token = document.querySelector('meta[name="csrf-token"]')?.getAttribute('content') ?? '';
    const answer = await fetch('/api/imports', { method: 'POST', body: form, headers: { 'X-CSRFToken': token } });
    const body = await answer.json().catch(() => null);
    if (answer.ok) location.href = body.url;
    else part('sample-says').textContent = body?.error?.message ?? 'These files could not be sent.';
  });
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
play();
sample();
drop();
document.documentElement.dataset.alive = 'true';
