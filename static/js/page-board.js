/**
 * The page of a timeline: wires the parts together. Every part is told what to show; only this file knows all.
 *
 * @typedef {import('./types').Meta} Meta
 * @typedef {import('./types').Chunk} Chunk
 * @typedef {import('./timeline.js').Rest} Rest
 */

import { addresses } from './api.js';
import { Banners } from './banners.js';
import { walk } from './board/grid-keys.js';
import { Cast } from './cast.js';
import { calm, choose, h, part } from './dom.js';
import { Figure } from './figure.js';
import { GroupHead } from './group-head.js';
import { violationsOf } from './hardships.js';
import { Inspector } from './inspector.js';
import { listen } from './keys.js';
import { Labels } from './labels.js';
import { MetricsPanel } from './metrics-panel.js';
import { leadIn, openingOf, opensAtWorst } from './opening.js';
import { Ownership } from './ownership.js';
import { Player, SPEEDS } from './player.js';
import { Reading, withView } from './reading.js';
import { sizeOf } from './stage/size.js';
import { TrackStage } from './stage/tracks.js';
import { connect } from './still-to-come.js';
import { explain } from './terms.js';
import { Timeline } from './timeline.js';
import { CLOCK_FROM_MS, onZone, showSwitch } from './times.js';
import { toast } from './toast.js';
import { showTopicNames } from './topic-names.js';
import { Address, copy, withMoment } from './url.js';
import { followLinks, showVerdict } from './verdict.js';
import { when } from './words.js';

/** What is made of a timeline's moments is made anew at most this often while it grows. */
const GROW_MS = 250;
/** Chunks of a crowd that stay in memory: the one that is shown, its neighbours, and where one was before. */
const CROWD_CHUNKS = 5;
/** Whoever scrubs over chunks that are not here fetches the one at which the pointer rests for so long. */
const REST_MS = 60;

/** @param {string} id @returns {any} */
const inlined = (id) => JSON.parse(part(id).textContent ?? 'null');

/** @type {Meta} */
const meta = inlined('timeline-data');
/** @type {Chunk | null} */
const inlinedChunk = inlined('chunk-data');
const api = addresses(meta);
// Asked before anything moves: the address loses the wish with the first moment that it follows.
const openedAt = location.search;
const wantsPlay = new URLSearchParams(location.search).get('play') === '1';

const size = sizeOf(meta);
const cast = new Cast(meta.summary.cast ?? []);
const labels = new Labels();
labels.remember(meta.summary.topics);
const ownership = size === 'crowd' ? new Ownership() : null;
const timeline = new Timeline({
  chunks: meta.chunks,
  load: api.chunk,
  follower: ownership,
  keep: size === 'whole' ? Infinity : CROWD_CHUNKS,
});
let picked = /** @type {string | null} */ (null);
let following = false;
/** Whether the board still stands where an import opened: then Space shows how it came to that. */
let standsAtWorst = false;

const violationAt = (/** @type {import('./types').Moment} */ { first, sequence }) =>
  violationsOf(meta.summary).find((one) => one.sequence >= first && one.sequence <= sequence) ?? null;
const places = {
  board: part('board'),
  tracks: part('tracks'),
  log: part('log'),
  chain: part('chain'),
  filter: part('who-filter'),
  commits: part('commits'),
  partition: part('partition'),
};
const shared = {
  timeline,
  meta,
  cast,
  labels,
  places,
  violationAt,
  onSeek: (/** @type {number} */ sequence) => scrub(sequence),
  onPick: (/** @type {string | null} */ key) => pick(key),
  onSettled: () => {
    if (timeline.rest) show(timeline.rest, { animate: false, before: timeline.position });
  },
};
const stage = ownership ? await crowdStage(ownership) : new TrackStage({ ...shared, whole: size === 'whole' });
const head = new GroupHead({
  state: part('state'),
  epochs: part('epochs'),
  now: part('now'),
  gap: part('gap'),
  coordinator: part('coordinator'),
  cast,
  labels,
  numberOf: (sequence) => timeline.numberOf(sequence),
});
const inspector = new Inspector({
  root: part('details'),
  range: part('range'),
  cast,
  timeline: meta.id,
  fetchEntries: api.entries,
  fetchBytes: api.bytes,
  momentAt: (sequence) => timeline.momentAt(sequence),
  causeOf: (moment) => stage.causeOf(moment),
  numberOf: (moment) => timeline.numberOf(moment.sequence),
});
const figure = new Figure({
  panel: part('figure-panel'),
  plot: part('figure'),
  table: part('figure-table'),
  legend: part('figure-legend'),
  cast,
  script: part('figure-panel').dataset.script ?? '',
  fetchFigure: api.epochs,
  onSeek: (sequence) => go(sequence),
  isIdle: () => !player.playing,
});
const metrics = new MetricsPanel({
  panel: /** @type {HTMLDetailsElement} */ (part('metrics-panel')),
  table: part('metrics'),
  cast,
  fetchMetrics: api.metrics,
});
const banners = new Banners(part('banners'));
const address = new Address();
const reading = new Reading(meta.source);
const player = new Player({ next: async () => (await step(1)) !== null || live(), onState: showPlaying });

/** Whether more may come at the end. */
const live = () => meta.status === 'running';
const start_ms = () => meta.summary.first_ms ?? timeline.moments[0]?.at_ms ?? 0;

/**
 * What draws a crowd comes only for a crowd: the page of a small group stays light.
 *
 * @param {Ownership} following
 */
async function crowdStage(following) {
  const [{ CrowdStage }, { BoardMap }] = await Promise.all([import('./stage/crowd.js'), import('./map/map.js')]);
  return new CrowdStage({
    ...shared,
    ownership: following,
    fetchDigest: api.digest,
    draws: ({ root, source }) =>
      new BoardMap(root, {
        source,
        cast,
        labels,
        verdict: () => part('verdict').textContent ?? '',
        start_ms: () => start_ms(),
        onSeek: scrub,
        onPick: (key) => pick(key === picked ? null : key),
      }),
  });
}

/** @param {Rest | null} rest @param {{animate: boolean, before: number}} how */
function show(rest, { animate, before }) {
  if (!rest) return;
  const position = timeline.position;
  following = timeline.atEnd;
  const { views, violation } = stage.show(rest, { animate, forward: position - before === 1 });
  head.render(rest, views, violation);
  reading.tell(part('now').textContent ?? '', { begins: position === 0, ends: timeline.whole && timeline.atEnd });
  inspector.render(rest);
  figure.move(rest.sequence, rest.moment?.at_ms ?? rest.frame.at_ms);
  metrics.move(rest.sequence);
  const count = timeline.count;
  part('step').textContent = position.toLocaleString('en');
  part('steps').textContent = `${count.steps.toLocaleString('en')}${count.known ? '' : '+'}`;
  part('time').textContent = when(rest.moment?.at_ms ?? rest.frame.at_ms, start_ms());
  part('board').dataset.sequence = String(rest.sequence);
  const laboratory = document.getElementById('laboratory');
  if (laboratory instanceof HTMLAnchorElement)
    laboratory.href = `/laboratory?timeline=${encodeURIComponent(meta.id)}&at=${rest.sequence}`;
  address.follow(rest.sequence);
}

let wanted = 0;
let scrubbed = /** @type {number | null} */ (null);

/** Anywhere: the frame changes at once. @param {number} sequence */
async function go(sequence) {
  standsAtWorst = false;
  wanted += 1;
  const mine = wanted;
  const before = timeline.position;
  let rest = timeline.seekLoaded(sequence);
  if (!rest) {
    if (scrubbed !== null)
      await new Promise((resolve) => {
        setTimeout(resolve, REST_MS);
      });
    if (mine !== wanted) return null;
    rest = await waiting(timeline.seek(sequence));
  }
  show(rest, { animate: Math.abs(timeline.position - before) === 1, before });
  return rest;
}

/** A pointer that moves asks more often than a screen draws: the last place before each drawing counts. @param {number} sequence */
function scrub(sequence) {
  const asked = scrubbed !== null;
  scrubbed = sequence;
  if (asked) return;
  requestAnimationFrame(async () => {
    const to = /** @type {number} */ (scrubbed);
    const going = go(to);
    scrubbed = null;
    await going;
  });
}

/** @param {1 | -1} direction */
async function step(direction) {
  standsAtWorst = false;
  const before = timeline.position;
  const rest = await waiting(timeline.step(direction));
  show(rest, { animate: true, before });
  return rest;
}

/** @param {1 | -1} direction */
async function stepEpoch(direction) {
  standsAtWorst = false;
  const before = timeline.position;
  const rest = await waiting(timeline.stepEpoch(direction, stage.epochs));
  show(rest, { animate: Math.abs(timeline.position - before) === 1, before });
}

/** @param {1 | -1} direction */
async function stepProblem(direction) {
  player.pause();
  const problems = meta.troubles?.length ? meta.troubles : await stage.problems();
  if (!problems.length) return toast('No problem was found in this timeline');
  const at = timeline.rest?.moment?.first ?? timeline.rest?.sequence ?? timeline.origin;
  const end = timeline.rest?.sequence ?? timeline.origin;
  const target =
    direction > 0 ? problems.find((sequence) => sequence > end) : problems.findLast((sequence) => sequence < at);
  if (target === undefined)
    return toast(direction > 0 ? 'No problem after this moment' : 'No problem before this moment');
  await go(target);
  toast(`Problem ${problems.indexOf(target) + 1} of ${problems.length}`);
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
  if (standsAtWorst) await go(leadIn(timeline));
  if (!player.playing && timeline.atEnd && !live()) await go(timeline.origin);
  player.toggle();
}

/** @param {string | null} key */
function pick(key) {
  picked = key;
  if (key) player.pause();
  stage.pick(key);
}

let growing = /** @type {any} */ (null);

/** The tail has moved. */
function grow() {
  if (growing) return;
  growing = setTimeout(async () => {
    growing = null;
    const follow = following;
    await stage.grow();
    const rest = timeline.rest;
    if (!rest) {
      // The first chunk may only have come with this step: all that is made of its moments is made now.
      await go(wantedAtStart());
      await stage.grow();
    } else if (follow && !player.playing && !timeline.atEnd) await go(timeline.last);
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
    if (sizeOf(meta, Object.keys(timeline.rest?.frame.members ?? {}).length) === 'crowd' && !ownership) {
      // The group has outgrown its lanes. Who followed its end goes on following.
      location.replace(following ? location.pathname : location.href);
      return;
    }
    labels.follow(meta.summary.protocol);
    labels.remember(meta.summary.topics);
    if (meta.summary.protocol) part('protocol').textContent = meta.summary.protocol;
    showVerdict(part('verdict'), meta.summary);
    if ('map' in stage) stage.map.refresh();
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
  const href = withMoment(withView(location.href, reading.view), timeline.rest?.sequence ?? 0);
  toast((await copy(href)) ? `Link to step ${timeline.position} copied` : href);
}

const wantedAtStart = () => openingOf(meta, openedAt, timeline);

function wire() {
  explain();
  if (stage instanceof TrackStage) {
    const { events } = stage;
    walk(part('board'), (lane) => events.only(lane));
  }
  part('epoch-back').addEventListener('click', () => stepEpoch(-1));
  part('event-back').addEventListener('click', () => step(-1));
  part('play').addEventListener('click', togglePlay);
  part('event-on').addEventListener('click', () => step(1));
  part('epoch-on').addEventListener('click', () => stepEpoch(1));
  part('speeds').replaceChildren(
    ...SPEEDS.map((speed) =>
      h(
        'button',
        {
          type: 'button',
          'data-speed': speed,
          'aria-pressed': speed === 1 ? 'true' : 'false',
          onclick: () => player.setSpeed(speed),
        },
        speed === 0.5 ? '½×' : `${speed}×`,
      ),
    ),
  );
  choose('axis', (value) => {
    stage.axis = /** @type {'events' | 'time'} */ (value);
  });
  choose('hue', (value) => {
    stage.hue = /** @type {'member' | 'partition'} */ (value);
  });
  choose('detail', (value) => inspector.show(/** @type {'exchange' | 'records'} */ (value)));
  part('copy').addEventListener('click', copyLink);
  part('help-open').addEventListener('click', () => help.showModal());
  followLinks(document.body, (sequence) => go(sequence));
  // Seconds of a simulation have no zone.
  if (start_ms() >= CLOCK_FROM_MS) {
    showSwitch(part('zone'), meta.summary.last_ms ?? start_ms());
    onZone(() => stage.grow());
  }
  const help = /** @type {HTMLDialogElement} */ (part('help'));
  listen({
    Space: togglePlay,
    ArrowRight: () => step(1),
    ArrowLeft: () => step(-1),
    'Shift+ArrowRight': () => stepEpoch(1),
    'Shift+ArrowLeft': () => stepEpoch(-1),
    n: () => stepProblem(1),
    p: () => stepProblem(-1),
    Home: () => go(timeline.origin),
    End: () => go(timeline.last),
    '[': () => player.shift(-1),
    ']': () => player.shift(1),
    c: copyLink,
    '/': () => {
      if ('map' in stage) stage.map.find();
    },
    '?': () => help.showModal(),
    Escape: () => pick(null),
  });
}

/** What is still being computed or read comes through a socket. */
function follow() {
  connect({
    url: api.socket,
    timeline,
    fetchAfter: api.after,
    onTail: grow,
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
  if (inlinedChunk) timeline.give(inlinedChunk);
  if (meta.source === 'import' || meta.source === 'live') {
    stage.axis = 'time';
    for (const button of part('axis').querySelectorAll('button')) {
      button.setAttribute('aria-pressed', String(button.dataset.value === 'time'));
    }
  }
  showTopicNames(part('topic-names'), meta, saveNames);
  part('coordinator').hidden = !meta.summary.findings?.some(({ kind }) => kind === 'failed_over');
  showStatus();
  if (!timeline.empty) {
    await go(wantedAtStart());
    standsAtWorst = opensAtWorst(meta, openedAt);
  }
  const grown = stage.grow();
  if (!ownership) await grown;
  // What a test, or a reader with a console, compares with the frame that the server computes.
  Object.assign(window, { rebalanceExplorer: { timeline, stage, go, frame: () => timeline.rest?.frame ?? null } });
  document.documentElement.dataset.alive = 'true';
  performance.mark('alive');
  if (wantsPlay) {
    if (calm()) await step(1);
    else player.play();
  }
  if (meta.status === 'running' || meta.status === 'interrupted') follow();
  figure.watch();
  await stage.fetchBehind();
}

begin();
