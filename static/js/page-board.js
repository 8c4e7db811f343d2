/**
 * The page of a timeline: wires the parts together. Every part is told what to show; only this file knows all.
 *
 * @typedef {import('./types').Meta} Meta
 * @typedef {import('./types').Chunk} Chunk
 * @typedef {import('./timeline.js').Rest} Rest
 */

import { addresses } from './api.js';
import { Banners } from './banners.js';
import { Board } from './board/board.js';
import { Cast } from './cast.js';
import { Causes } from './causes.js';
import { calm, choose, h, part } from './dom.js';
import { Events } from './events.js';
import { Figure } from './figure.js';
import { GroupHead } from './group-head.js';
import { violationsOf } from './hardships.js';
import { Inspector } from './inspector.js';
import { listen } from './keys.js';
import { BoardMap } from './map/map.js';
import { beyondRows } from './map/mount.js';
import { Ownership } from './ownership.js';
import { WindowSource } from './source/source.js';
import { Labels } from './labels.js';
import { MetricsPanel } from './metrics-panel.js';
import { showPartition } from './partition-card.js';
import { Player, SPEEDS } from './player.js';
import { Spans } from './spans.js';
import { connect, fetchBehind } from './still-to-come.js';
import { Timeline } from './timeline.js';
import { TimelineView } from './timeline-view/view.js';
import { toast } from './toast.js';
import { showTopicNames } from './topic-names.js';
import { Address, copy, momentOf, withMoment } from './url.js';
import { followLinks, showVerdict } from './verdict.js';
import { when } from './words.js';

/** Spans of a timeline that grows are drawn anew at most this often. */
const GROW_MS = 250;
/** More commits than this, and more than all else: they are left out of the steps until asked for. */
const COMMITS_MOST = 20;

/** @param {string} id @returns {any} */
const inlined = (id) => JSON.parse(part(id).textContent ?? 'null');

/** @type {Meta} */
const meta = inlined('timeline-data');
/** @type {Chunk | null} */
const inlinedChunk = inlined('chunk-data');
const api = addresses(meta);
// Asked before anything moves: the address loses the wish with the first moment that it follows.
const wantsPlay = new URLSearchParams(location.search).get('play') === '1';

const cast = new Cast(meta.summary.cast ?? []);
const labels = new Labels();
labels.remember(meta.summary.topics);
const timeline = new Timeline({ chunks: meta.chunks, load: api.chunk });
const source = new WindowSource({ timeline, cast, fetchDigest: api.digest });
/** @type {BoardMap | null} */
let map = null;
const spans = new Spans(cast);
const causes = new Causes();
let picked = /** @type {string | null} */ (null);
let commits = true;
let following = false;

const board = new Board(part('board'), {
  cast, labels, onPick: (key) => pick(key === picked ? null : key),
  violationAt: ({ first, sequence }) => violationsOf(meta.summary).find((one) => one.sequence >= first && one.sequence <= sequence) ?? null,
});
const numberOf = (/** @type {number} */ sequence) => timeline.steps.findIndex((step) => step.sequence >= sequence) + 1;
const head = new GroupHead({
  state: part('state'), epochs: part('epochs'), now: part('now'), gap: part('gap'), coordinator: part('coordinator'), cast, labels, numberOf,
});
const view = new TimelineView(part('tracks'), { spans, cast, labels, onSeek: (sequence) => go(sequence) });
const events = new Events({
  root: part('log'), chain: part('chain'), filter: /** @type {HTMLSelectElement} */ (part('who-filter')), cast,
  causeOf: (moment) => causes.of(moment), onSeek: (sequence) => go(sequence),
});
const inspector = new Inspector({
  root: part('details'), range: part('range'), cast, timeline: meta.id, fetchEntries: api.entries, fetchBytes: api.bytes,
  momentAt: (sequence) => timeline.momentAt(sequence), causeOf: (moment) => causes.of(moment),
  numberOf: (moment) => numberOf(moment.sequence),
});
const figure = new Figure({
  panel: part('figure-panel'), plot: part('figure'), table: part('figure-table'), legend: part('figure-legend'), cast,
  script: part('figure-panel').dataset.script ?? '', fetchFigure: api.epochs, onSeek: (sequence) => go(sequence),
});
const metrics = new MetricsPanel({
  panel: /** @type {HTMLDetailsElement} */ (part('metrics-panel')), table: part('metrics'), cast, fetchMetrics: api.metrics,
});
const banners = new Banners(part('banners'));
const address = new Address();
const player = new Player({ next: async () => (await step(1)) !== null || live(), onState: showPlaying });

/** Whether more may come at the end. */
const live = () => meta.status === 'running';
const start_ms = () => meta.summary.first_ms ?? timeline.moments[0]?.at_ms ?? 0;

/** @param {Rest | null} rest @param {{animate: boolean, before: number}} how */
function show(rest, { animate, before }) {
  if (!rest) return;
  const position = timeline.position;
  following = timeline.atEnd;
  const since = (/** @type {string} */ key) => sinceOf(key, rest.sequence);
  if (map) {
    const ownership = new Ownership();
    ownership.start(rest.frame);
    cast.meetFrame(rest.frame);
    map.render({ frame: rest.frame, moment: rest.moment, sequence: rest.sequence, ownership, violation: null });
    part('step').textContent = String(position);
    part('board').dataset.sequence = String(rest.sequence);
    return;
  }
  const scene = board.render(rest, { animate, forward: position - before === 1, since });
  head.render(rest, scene.views, scene.violation);
  view.move({ steps: timeline.steps, position, frame: rest.frame, end_ms: meta.summary.last_ms ?? rest.frame.at_ms });
  events.move(position);
  inspector.render(rest);
  figure.move(rest.sequence, rest.moment?.at_ms ?? rest.frame.at_ms);
  metrics.move(rest.sequence);
  part('step').textContent = String(position);
  part('steps').textContent = timeline.whole ? String(timeline.steps.length) : `${timeline.steps.length}+`;
  part('time').textContent = when(rest.moment?.at_ms ?? rest.frame.at_ms, start_ms());
  part('board').dataset.sequence = String(rest.sequence);
  const laboratory = document.getElementById('laboratory');
  if (laboratory instanceof HTMLAnchorElement) laboratory.href = `/laboratory?timeline=${encodeURIComponent(meta.id)}&at=${rest.sequence}`;
  address.follow(rest.sequence);
}

/** When a partition lost its owner, as of a moment; null before it ever had one. @param {string} key @param {number} sequence */
function sinceOf(key, sequence) {
  const stretch = spans.bare.find((bare) => bare.key === key && bare.from <= sequence && (bare.to === null || bare.to > sequence));
  if (!stretch) return null;
  const owned = spans.spans.some((span) => span.key === key && span.mode !== 'want' && span.from < stretch.from);
  return owned ? stretch.from_ms : null;
}

/** Anywhere: the frame changes at once. @param {number} sequence */
async function go(sequence) {
  const before = timeline.position;
  const rest = timeline.seekLoaded(sequence) ?? await waiting(timeline.seek(sequence));
  show(rest, { animate: Math.abs(timeline.position - before) === 1, before });
  return rest;
}

/** @param {1 | -1} direction */
async function step(direction) {
  const before = timeline.position;
  const rest = await waiting(timeline.step(direction));
  show(rest, { animate: true, before });
  return rest;
}

/** @param {1 | -1} direction */
async function stepEpoch(direction) {
  const before = timeline.position;
  const epochs = meta.summary.epochs?.length ? meta.summary.epochs : spans.epochs;
  const rest = await waiting(timeline.stepEpoch(direction, epochs));
  show(rest, { animate: Math.abs(timeline.position - before) === 1, before });
}

/**
 * Something may have to be fetched: say so if it takes long, and say why if it fails.
 *
 * @template T
 * @param {Promise<T>} promise
 * @returns {Promise<T | null>}
 */
async function waiting(promise) {
  const slow = setTimeout(() => banners.show('loading', '', 'Loading this part of the timeline…'), 400);
  try {
    const result = await promise;
    banners.hide('loading');
    return result;
  } catch (error) {
    const why = error instanceof Error ? error.message : '';
    banners.show('loading', 'bad', h('b', {}, 'This part could not be loaded.'), why);
    return null;
  } finally {
    clearTimeout(slow);
  }
}

/** @param {boolean} playing @param {number} speed */
function showPlaying(playing, speed) {
  part('play-word').textContent = playing ? 'Pause' : 'Play';
  part('play-shape').setAttribute('d', playing ? 'M2 1h3v10H2zM7 1h3v10H7z' : 'M2 1l9 5-9 5z');
  part('play').title = playing ? 'Pause (Space)' : 'Play (Space)';
  for (const button of part('speeds').querySelectorAll('button')) {
    button.setAttribute('aria-pressed', String(Number(button.dataset.speed) === speed));
  }
}

async function togglePlay() {
  if (!player.playing && timeline.atEnd && !live()) await go(timeline.origin);
  player.toggle();
}

/** @param {string | null} key */
function pick(key) {
  picked = key;
  if (key) player.pause();
  board.pick(key);
  view.pick(key);
  showPartition(part('partition'), { spans, key, cast, labels, onClose: () => pick(null) });
}

const walkOn = timeline.walk((moment, frame) => {
  spans.add(moment, frame);
  causes.add(moment, frame);
}, (frame) => {
  spans.start(frame);
  causes.start(frame);
});

/** Everything that is made of many moments: after a chunk has come, or entries were added. */
function digest() {
  walkOn();
  settle();
}

function settle() {
  const many = timeline.moments.filter((moment) => moment.shape === 'commit').length;
  const button = part('commits');
  button.hidden = many === 0;
  if (many > COMMITS_MOST && many > timeline.moments.length / 2 && button.dataset.chosen !== 'yes') commits = false;
  button.setAttribute('aria-pressed', String(commits));
  timeline.restOn((moment) => commits || moment.shape !== 'commit');
  board.room(spans);
  labels.meet(spans.counts.keys());
  events.load(timeline.steps, start_ms());
  view.redraw();
}

let growing = /** @type {any} */ (null);

/** The tail has moved. */
function grow() {
  if (growing) return;
  growing = setTimeout(async () => {
    growing = null;
    const follow = following;
    digest();
    const rest = timeline.rest;
    if (!rest) {
      // The first chunk may only have come with this step: all that is made of its moments is made now.
      await go(wantedAtStart());
      redraw();
    }
    else if (follow && !player.playing && !timeline.atEnd) await go(timeline.last);
    else show(rest, { animate: false, before: timeline.position });
    showStatus();
  }, GROW_MS);
}

function showStatus() {
  banners.status(meta, timeline.last, async () => {
    try {
      await api.cancel();
      toast('Cancelled. What was computed stays.');
    } catch (error) {
      toast(error instanceof Error ? error.message : 'This could not be cancelled.');
    }
  });
  banners.gaps(meta);
  banners.violations(violationsOf(meta.summary));
  banners.differences(meta.summary);
  part('basis').textContent = `Computed from ${timeline.last.toLocaleString('en')} entries`;
  part('empty').hidden = !timeline.empty;
  part('stage').hidden = timeline.empty;
}

/** @param {any} message */
function hearStatus(message) {
  if (message.status) meta.status = message.status;
  if (message.problem !== undefined) meta.problem = message.problem;
  if (message.summary) {
    meta.summary = message.summary;
    cast.meet(meta.summary.cast ?? []);
    labels.follow(meta.summary.protocol);
    labels.remember(meta.summary.topics);
    if (meta.summary.protocol) part('protocol').textContent = meta.summary.protocol;
    showVerdict(part('verdict'), meta.summary);
    showTopicNames(part('topic-names'), meta, saveNames);
  }
  showStatus();
  if (message.status && message.status !== 'running') figure.refresh();
}

/** @param {{[id: string]: string | null}} names */
async function saveNames(names) {
  await api.name(names);
  location.reload();
}

async function copyLink() {
  const href = withMoment(location.href, timeline.rest?.sequence ?? 0);
  toast(await copy(href) ? `Link to step ${timeline.position} copied` : href);
}

function wantedAtStart() {
  const asked = momentOf(location.search);
  if (asked !== null) return asked;
  return meta.source === 'import' || meta.status === 'running' ? timeline.last : timeline.origin;
}

function wire() {
  part('epoch-back').addEventListener('click', () => stepEpoch(-1));
  part('event-back').addEventListener('click', () => step(-1));
  part('play').addEventListener('click', togglePlay);
  part('event-on').addEventListener('click', () => step(1));
  part('epoch-on').addEventListener('click', () => stepEpoch(1));
  part('speeds').replaceChildren(...SPEEDS.map((speed) => h(
    'button', { type: 'button', 'data-speed': speed, 'aria-pressed': speed === 1 ? 'true' : 'false', onclick: () => player.setSpeed(speed) },
    speed === 0.5 ? '½×' : `${speed}×`,
  )));
  choose('axis', (value) => { view.axis = /** @type {'events' | 'time'} */ (value); view.redraw(); });
  choose('hue', (value) => { view.hue = /** @type {'member' | 'partition'} */ (value); view.redraw(); });
  choose('detail', (value) => inspector.show(/** @type {'exchange' | 'records'} */ (value)));
  part('commits').addEventListener('click', async () => {
    commits = !commits;
    part('commits').dataset.chosen = 'yes';
    settle();
    await go(timeline.rest?.sequence ?? timeline.origin);
  });
  part('copy').addEventListener('click', copyLink);
  part('help-open').addEventListener('click', () => help.showModal());
  followLinks(document.body, (sequence) => go(sequence));
  const help = /** @type {HTMLDialogElement} */ (part('help'));
  listen({
    Space: togglePlay,
    ArrowRight: () => step(1),
    ArrowLeft: () => step(-1),
    'Shift+ArrowRight': () => stepEpoch(1),
    'Shift+ArrowLeft': () => stepEpoch(-1),
    Home: () => go(timeline.origin),
    End: () => go(timeline.last),
    '[': () => player.shift(-1),
    ']': () => player.shift(1),
    c: copyLink,
    '?': () => help.showModal(),
    '/': () => map?.find(),
    Escape: () => pick(null),
  });
}

/** What has come is counted and drawn, where the reader stands. */
function redraw() {
  digest();
  if (timeline.rest) show(timeline.rest, { animate: false, before: timeline.position });
}

/** What is still being computed or read comes through a socket. */
function follow() {
  connect({
    url: api.socket, timeline, fetchAfter: api.after, onTail: grow,
    onHello: (hello) => {
      if (hello.fold_version !== meta.fold_version) location.reload();
      else if (hello.status && hello.status !== meta.status) hearStatus({ status: hello.status });
    },
    onStatus: hearStatus,
    onLink: (link, hurry) => {
      part('board').dataset.link = link;
      banners.link(link, hurry);
    },
  });
}

async function begin() {
  wire();
  if (await beyondRows(source, cast.lanes.length)) {
    map = new BoardMap(part('board'), {
      source, cast, labels, verdict: () => part('verdict').textContent ?? '', start_ms, onSeek: (sequence) => go(sequence), onPick: (key) => pick(key === picked ? null : key),
    });
  }
  if (inlinedChunk) timeline.give(inlinedChunk);
  if (meta.source === 'import' || meta.source === 'live') {
    view.axis = 'time';
    for (const button of part('axis').querySelectorAll('button')) {
      button.setAttribute('aria-pressed', String(button.dataset.value === 'time'));
    }
  }
  showTopicNames(part('topic-names'), meta, saveNames);
  part('coordinator').hidden = !meta.summary.findings?.some(({ kind }) => kind === 'failed_over');
  digest();
  showStatus();
  if (!timeline.empty) {
    await go(wantedAtStart());
    redraw();
  }
  // What a test, or a reader with a console, compares with the frame that the server computes.
  Object.assign(window, { rebalanceExplorer: { timeline, frame: () => timeline.rest?.frame ?? null } });
  document.documentElement.dataset.alive = 'true';
  if (wantsPlay) {
    if (calm()) await step(1);
    else player.play();
  }
  if (meta.status === 'running' || meta.status === 'interrupted') follow();
  figure.watch();
  await fetchBehind(timeline, redraw);
}

begin();
